/* find.c -- see find.h. */
#include "tools/hfile/exchange/find.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/protobuf.h"
#include "tools/hfile/petal_hfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* archive/data/NAMESPACE/TABLE/REGION/FAMILY is the deepest that leads to files. */
#define FIND_MOST_DEPTH 7

/* No description of a table is larger. */
#define FIND_MOST_DESCRIPTOR_BYTES (64u << 20)

/* Of SnapshotDataManifest, SnapshotRegionManifest, its FamilyFiles and StoreFile. */
enum {
    MANIFEST_SCHEMA = 1,
    MANIFEST_REGIONS = 2,
    REGION_FAMILIES = 3,
    FAMILY_FILES_NAME = 1,
    FAMILY_FILES_FILES = 2,
    STORE_FILE_NAME = 1,
    STORE_FILE_REFERENCE = 2
};

void
found_init(struct found_files *found)
{
    *found = (struct found_files){.count = 0};
    descriptor_init(&found->descriptor, &found->arena);
}

void
found_free(struct found_files *found)
{
    arena_free(&found->arena);
}

/* ---- Paths and folders ----------------------------------------------------------------------- */

/* "FOLDER/NAME" in the arena; NULL: no memory. */
static char *
join(struct found_files *found, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = arena_allocate(&found->arena, size);

    if (path != NULL)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static bool
is_there(const char *path)
{
    struct stat what;

    return stat(path, &what) == 0;
}

/* The names in a folder as a list that ends with NULL. */
static enum petal_status
list_folder(struct found_files *found, const char *path, const char ***names, petal_error *error)
{
    DIR *entries = opendir(path);
    struct dirent *entry;
    size_t count = 0, capacity = 0;
    enum petal_status status = PETAL_OK;

    *names = NULL;
    if (entries == NULL)
        return hfile_error_io(error, path, errno, "read");
    do {
        const char *name = NULL;

        errno = 0;
        entry = readdir(entries);
        if (entry == NULL && errno != 0)
            status = hfile_error_io(error, path, errno, "read");
        else if (entry != NULL &&
                 (name = arena_copy(&found->arena, hfile_text_slice(entry->d_name))) == NULL)
            status = hfile_error_no_memory(error);
        if (status == PETAL_OK) {
            *names = arena_room(&found->arena, *names, count, &capacity, sizeof **names);
            if (*names == NULL)
                status = hfile_error_no_memory(error);
            else
                (*names)[count++] = name;
        }
    } while (status == PETAL_OK && entry != NULL);
    closedir(entries);
    return status;
}

static enum petal_status
read_whole(struct found_files *found, const char *path, petal_slice *bytes, petal_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat what;
    char *memory = NULL;
    size_t done = 0;
    enum petal_status status = PETAL_OK;

    if (descriptor < 0)
        return hfile_error_io(error, path, errno, "open");
    if (fstat(descriptor, &what) != 0)
        status = hfile_error_io(error, path, errno, "look at");
    else if (!S_ISREG(what.st_mode) || what.st_size > FIND_MOST_DESCRIPTOR_BYTES)
        status = hfile_error_corrupt(error, path, 0, "this is not a description of a table");
    else if ((memory = arena_allocate(&found->arena, (size_t)what.st_size + 1)) == NULL)
        status = hfile_error_no_memory(error);
    while (status == PETAL_OK && done < (size_t)what.st_size) {
        ssize_t taken = read(descriptor, memory + done, (size_t)what.st_size - done);

        if (taken < 0 && errno != EINTR)
            status = hfile_error_io(error, path, errno, "read");
        else if (taken == 0)
            break;
        else if (taken > 0)
            done += (size_t)taken;
    }
    close(descriptor);
    *bytes = hfile_slice(memory, done);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static enum petal_status
add_file(struct found_files *found, const char *path, petal_error *error)
{
    const char *copy;

    switch (petal_hfile_name_kind_of(path)) {
    case PETAL_HFILE_NAME_REFERENCE:
        return hfile_error_unsupported(error, path,
                                       "this is a reference to a file of a region that was split; "
                                       "compact the table in HBase first");
    case PETAL_HFILE_NAME_LINK:
    case PETAL_HFILE_NAME_LINK_REFERENCE:
        return hfile_error_unsupported(error, path,
                                       "this is a link to a file of another table; compact the "
                                       "table in HBase first");
    case PETAL_HFILE_NAME_MOB:
        return hfile_error_unsupported(error, path, "this is a MOB file, which Petal cannot read");
    case PETAL_HFILE_NAME_STORE_FILE:
        break;
    }
    found->paths = arena_room(&found->arena, found->paths, found->count, &found->capacity,
                              sizeof *found->paths);
    copy = arena_copy(&found->arena, hfile_text_slice(path));
    if (found->paths == NULL || copy == NULL)
        return hfile_error_no_memory(error);
    found->paths[found->count++] = copy;
    return PETAL_OK;
}

/* The latest of the descriptions in a table's folder .tabledesc. */
static enum petal_status
read_table_info(struct found_files *found, const char *folder, petal_error *error)
{
    const char **names, *path;
    const char *latest = NULL;
    petal_slice bytes;
    enum petal_status status = list_folder(found, folder, &names, error);

    if (status != PETAL_OK)
        return status;
    /* Their numbers have ten digits; HBase adds the size behind a dot. */
    for (; *names != NULL; names++)
        if (strncmp(*names, ".tableinfo.", 11) == 0 &&
            (latest == NULL || strcmp(*names, latest) > 0))
            latest = *names;
    if (latest == NULL)
        return PETAL_OK;
    path = join(found, folder, latest);
    if (path == NULL)
        return hfile_error_no_memory(error);
    status = read_whole(found, path, &bytes, error);
    if (status != PETAL_OK)
        return status;
    if (bytes.size < 4 || memcmp(bytes.data, "PBUF", 4) != 0)
        return hfile_error_corrupt(error, path, 0, "this is not a description of a table");
    found->has_descriptor = true;
    return descriptor_parse_schema(
        &found->descriptor, hfile_slice(hfile_slice_bytes(bytes) + 4, bytes.size - 4), path, error);
}

static enum petal_status add_folder(struct found_files *found, const char *path, unsigned depth,
                                    petal_error *error);

/* A file, or a folder in a folder; what HBase passes over is. */
static enum petal_status
add_entry(struct found_files *found, const char *folder, const char *name, unsigned depth,
          petal_error *error)
{
    const char *path;
    struct stat what;

    if (*name == '.' || *name == '_' || strcmp(name, "recovered.edits") == 0)
        return PETAL_OK;
    path = join(found, folder, name);
    if (path == NULL)
        return hfile_error_no_memory(error);
    if (stat(path, &what) != 0)
        return hfile_error_io(error, path, errno, "look at");
    if (!S_ISDIR(what.st_mode))
        return add_file(found, path, error);
    return add_folder(found, path, depth + 1, error);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

/*
 * FAMILY/NAME in some region of the table, under `root`: the manifest names files, and regions
 * only by what their folders' names are made of.
 */
static enum petal_status
find_store_file(struct found_files *found, const char *root, const char *family_and_name,
                bool *is_found, petal_error *error)
{
    static const char *const places[] = {"archive/data", "data", NULL};
    petal_slice table = found->descriptor.table.name;
    const char *colon = memchr(table.data, ':', table.size);
    int space_size = colon == NULL ? 7 : (int)(colon - (const char *)table.data);
    const char *space = colon == NULL ? "default" : table.data;
    const char *name = colon == NULL ? table.data : colon + 1;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && !*is_found && places[i] != NULL; i++) {
        char folder[4096];
        const char **regions;
        int length = snprintf(folder, sizeof folder, "%s/%s/%.*s/%s", root, places[i], space_size,
                              space, name);

        if (length < 0 || (size_t)length >= sizeof folder)
            return hfile_error_set(error, PETAL_INVALID, "",
                                   "the path of the snapshot is too long");
        if (!is_there(folder))
            continue;
        status = list_folder(found, folder, &regions, error);
        for (; status == PETAL_OK && !*is_found && *regions != NULL; regions++) {
            const char *region = join(found, folder, *regions);
            const char *path = region == NULL ? NULL : join(found, region, family_and_name);

            if (path == NULL)
                return hfile_error_no_memory(error);
            if (**regions != '.' && is_there(path)) {
                *is_found = true;
                status = add_file(found, path, error);
            }
        }
    }
    return status;
}

static enum petal_status
not_a_manifest(const char *path, petal_error *error)
{
    return hfile_error_corrupt(error, path, 0, "this is not a manifest of a snapshot");
}

static enum petal_status
add_family_files(struct found_files *found, const char *root, petal_slice message,
                 const char *manifest, petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(message), inner;
    struct hfile_field field, part;
    const char *family = NULL;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && hfile_field_take(&left, &field)) {
        const char *name = NULL, *path;
        bool is_reference = false, is_found = false;

        if (field.is_bytes && field.number == FAMILY_FILES_NAME)
            family = arena_copy(&found->arena, field.bytes);
        if (!field.is_bytes || field.number != FAMILY_FILES_FILES)
            continue;
        inner = hfile_bytes_of(field.bytes);
        while (hfile_field_take(&inner, &part)) {
            if (part.is_bytes && part.number == STORE_FILE_NAME)
                name = arena_copy(&found->arena, part.bytes);
            is_reference |= part.is_bytes && part.number == STORE_FILE_REFERENCE;
        }
        /* Names that are no names of files would lead elsewhere. */
        if (family == NULL || name == NULL || *name == '\0' || *name == '.' ||
            strchr(name, '/') != NULL || strchr(family, '/') != NULL)
            return not_a_manifest(manifest, error);
        if (is_reference)
            return hfile_error_unsupported(error, manifest,
                                           "'%s' is a reference to a file of a region that was "
                                           "split; compact the table in HBase first",
                                           name);
        path = join(found, family, name);
        if (path == NULL)
            return hfile_error_no_memory(error);
        status = find_store_file(found, root, path, &is_found, error);
        if (status == PETAL_OK && !is_found)
            status = hfile_error_set(error, PETAL_NOT_FOUND, manifest,
                                     "the snapshot's file '%s' is neither in archive/data nor in "
                                     "data beside it",
                                     path);
    }
    return status;
}

static enum petal_status
add_snapshot(struct found_files *found, const char *folder, const char *manifest,
             petal_error *error)
{
    const char *root = join(found, folder, "../..");
    petal_slice bytes;
    struct hfile_bytes left;
    struct hfile_field field, part;
    enum petal_status status;

    if (root == NULL)
        return hfile_error_no_memory(error);
    status = read_whole(found, manifest, &bytes, error);
    left = hfile_bytes_of(bytes);
    while (status == PETAL_OK && hfile_field_take(&left, &field)) {
        struct hfile_bytes region = hfile_bytes_of(field.bytes);

        if (field.is_bytes && field.number == MANIFEST_SCHEMA) {
            found->has_descriptor = true;
            status = descriptor_parse_schema(&found->descriptor, field.bytes, manifest, error);
        } else if (field.is_bytes && field.number == MANIFEST_REGIONS) {
            if (!found->has_descriptor)
                return not_a_manifest(manifest, error);
            while (status == PETAL_OK && hfile_field_take(&region, &part))
                if (part.is_bytes && part.number == REGION_FAMILIES)
                    status = add_family_files(found, root, part.bytes, manifest, error);
        }
    }
    if (status == PETAL_OK && (hfile_bytes_left(&left) > 0 || !found->has_descriptor))
        return not_a_manifest(manifest, error);
    return status;
}

/* The one snapshot in a folder .hbase-snapshot. */
static enum petal_status
add_only_snapshot(struct found_files *found, const char *folder, petal_error *error)
{
    const char **names, *only = NULL;
    enum petal_status status = list_folder(found, folder, &names, error);

    for (; status == PETAL_OK && *names != NULL; names++) {
        if (**names == '.')
            continue;
        if (only != NULL)
            return hfile_error_set(error, PETAL_INVALID, folder,
                                   "there are several snapshots ('%s' and '%s'): name one, as "
                                   ".hbase-snapshot/%s",
                                   only, *names, only);
        only = *names;
    }
    if (status == PETAL_OK && only == NULL)
        return hfile_error_set(error, PETAL_NOT_FOUND, folder, "there is no snapshot");
    return status == PETAL_OK ? add_folder(found, join(found, folder, only), 0, error) : status;
}

/* ---- Folders --------------------------------------------------------------------------------- */

static enum petal_status
add_folder(struct found_files *found, const char *path, unsigned depth, petal_error *error)
{
    const char *manifest, *snapshots, *table_info, **names;
    enum petal_status status = PETAL_OK;

    if (depth > FIND_MOST_DEPTH)
        return hfile_error_set(error, PETAL_INVALID, path, "folders are too deep for a table's");
    if (path == NULL || (manifest = join(found, path, "data.manifest")) == NULL ||
        (snapshots = join(found, path, ".hbase-snapshot")) == NULL ||
        (table_info = join(found, path, ".tabledesc")) == NULL)
        return hfile_error_no_memory(error);
    if (is_there(manifest))
        return add_snapshot(found, path, manifest, error);
    if (is_there(snapshots))
        return add_only_snapshot(found, snapshots, error);
    if (is_there(table_info))
        status = read_table_info(found, table_info, error);
    if (status == PETAL_OK)
        status = list_folder(found, path, &names, error);
    for (; status == PETAL_OK && *names != NULL; names++)
        status = add_entry(found, path, *names, depth, error);
    return status;
}

enum petal_status
found_add(struct found_files *found, const char *path, petal_error *error)
{
    size_t before = found->count;
    struct stat what;
    enum petal_status status;

    if (stat(path, &what) != 0)
        return hfile_error_io(error, path, errno, "look at");
    status =
        S_ISDIR(what.st_mode) ? add_folder(found, path, 0, error) : add_file(found, path, error);
    if (status == PETAL_OK && found->count == before)
        status = hfile_error_set(error, PETAL_NOT_FOUND, path, "there is no HFile in the folder");
    return status;
}

static int
compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void
found_sort(struct found_files *found)
{
    size_t kept = 0;

    if (found->count == 0)
        return;
    qsort(found->paths, found->count, sizeof *found->paths, compare_paths);
    for (size_t i = 1; i < found->count; i++)
        if (strcmp(found->paths[i], found->paths[kept]) != 0)
            found->paths[++kept] = found->paths[i];
    found->count = kept + 1;
}
