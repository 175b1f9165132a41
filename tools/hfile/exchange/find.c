/* find.c -- see find.h. */
#include "tools/hfile/exchange/find.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/format.h"
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

/* No description of a table, region, reference or snapshot is larger. */
#define FIND_MOST_DESCRIPTOR_BYTES (64u << 20)

/* Of SnapshotDataManifest, SnapshotRegionManifest and its FamilyFiles. StoreFile is a pair of name
 * and reference. */
enum {
    MANIFEST_SCHEMA = 1,
    MANIFEST_REGIONS = 2,
    REGION_INFO = 2,
    REGION_FAMILIES = 3,
    FAMILY_FILES_NAME = 1,
    FAMILY_FILES_FILES = 2
};

void
found_init(struct found_files *found)
{
    *found = (struct found_files){.region = FOUND_NO_REGION};
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

/* The message after the magic; false: there is none. */
static bool
take_message(petal_slice file, petal_slice *message)
{
    struct hfile_bytes left = hfile_bytes_of(file);
    bool taken = hfile_take_protobuf_magic(&left);

    *message = hfile_slice(left.at, hfile_bytes_left(&left));
    return taken;
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
        status = hfile_error_corrupt(error, path, 0, "this is no small file");
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
add_found(struct found_files *found, const struct found_file *file, petal_error *error)
{
    struct found_file *files = arena_room(&found->arena, found->files, found->count,
                                          &found->capacity, sizeof *found->files);

    if (files == NULL)
        return hfile_error_no_memory(error);
    found->files = files;
    files[found->count] = *file;
    files[found->count++].region = found->region;
    return PETAL_OK;
}

static enum petal_status
refuse_mob(const char *path, petal_error *error)
{
    return hfile_error_unsupported(error, path, "this is a MOB file, which Petal cannot read");
}

/*
 * The file that a name in `place` stands for, if it is a link or a reference: then file->path
 * becomes that of it. `message`: what a snapshot's manifest says of a reference; NULL: that stands
 * in the file itself.
 */
static enum petal_status
follow(struct found_files *found, const struct target_place *place, const char *path,
       const petal_slice *message, struct found_file *file, petal_error *error)
{
    struct hfile_name name;
    petal_slice bytes;
    enum petal_status status = PETAL_OK;

    hfile_name_parse(path, &name);
    if (name.parent.size > 0) {
        if (message != NULL)
            bytes = *message;
        else
            status = read_whole(found, path, &bytes, error);
        if (status == PETAL_OK && message == NULL && !take_message(bytes, &bytes))
            return hfile_error_corrupt(error, path, 0, "this is not a reference to half of a file");
        if (status == PETAL_OK)
            status =
                reference_parse(bytes, &found->arena, path, &file->half, &file->split_row, error);
    }
    if (status == PETAL_OK)
        status = target_find(place, &found->arena, &name, path, &file->path, error);
    if (status != PETAL_OK)
        return status;
    file->of_region = arena_copy(&found->arena, name.parent.size > 0 ? name.parent : name.region);
    if (file->of_region == NULL)
        return hfile_error_no_memory(error);
    return petal_hfile_name_kind_of(file->path) == PETAL_HFILE_NAME_MOB ? refuse_mob(path, error)
                                                                        : PETAL_OK;
}

static enum petal_status
add_file(struct found_files *found, const char *path, petal_error *error)
{
    struct found_file file = {.half = HALF_WHOLE};
    enum petal_hfile_name_kind kind = petal_hfile_name_kind_of(path);
    struct target_place place;
    enum petal_status status = PETAL_OK;

    if (kind == PETAL_HFILE_NAME_MOB)
        return refuse_mob(path, error);
    file.path = file.entry = arena_copy(&found->arena, hfile_text_slice(path));
    if (file.path == NULL)
        return hfile_error_no_memory(error);
    if (kind != PETAL_HFILE_NAME_STORE_FILE) {
        status = target_place_of(&place, &found->arena, path, error);
        if (status == PETAL_OK)
            status = follow(found, &place, path, NULL, &file, error);
    }
    return status == PETAL_OK ? add_found(found, &file, error) : status;
}

/* ---- What else is in folders ----------------------------------------------------------------- */

static bool
knows_edits(const struct found_files *found, const struct stat *what)
{
    for (size_t i = 0; i < found->edits_count; i++)
        if (found->edits[i].device == what->st_dev && found->edits[i].inode == what->st_ino)
            return true;
    return false;
}

/* Files but N.seqid, which say only how far a region's numbers have come. */
static enum petal_status
add_edits(struct found_files *found, const char *folder, petal_error *error)
{
    const char **names;
    enum petal_status status = list_folder(found, folder, &names, error);

    for (; status == PETAL_OK && *names != NULL; names++) {
        size_t size = strlen(*names);
        const char *path = join(found, folder, *names);
        struct found_edits *edits;
        struct stat what;

        if (path == NULL)
            return hfile_error_no_memory(error);
        if (**names == '.' || (size >= 5 && strcmp(*names + size - 5, "seqid") == 0))
            continue;
        if (stat(path, &what) != 0)
            return hfile_error_io(error, path, errno, "look at");
        if (what.st_size == 0 || knows_edits(found, &what))
            continue;
        edits = arena_room(&found->arena, found->edits, found->edits_count, &found->edits_capacity,
                           sizeof *found->edits);
        if (edits == NULL)
            return hfile_error_no_memory(error);
        found->edits = edits;
        edits[found->edits_count++] = (struct found_edits){
            .path = path, .region = found->region, .device = what.st_dev, .inode = what.st_ino};
    }
    return status;
}

static enum petal_status
add_region(struct found_files *found, const struct region *region, petal_error *error)
{
    struct region *regions = arena_room(&found->arena, found->regions, found->region_count,
                                        &found->region_capacity, sizeof *found->regions);

    if (regions == NULL)
        return hfile_error_no_memory(error);
    found->regions = regions;
    found->region = found->region_count;
    regions[found->region_count++] = *region;
    return PETAL_OK;
}

/* The region whose folder this is, by its .regioninfo; once, however often its folder is given. */
static enum petal_status
add_region_of_folder(struct found_files *found, const char *folder, const char *region_info,
                     petal_error *error)
{
    struct region region = {.name = folder};
    const char *slash;
    char *real;
    struct stat what;
    petal_slice bytes;
    enum petal_status status;

    if (stat(folder, &what) != 0)
        return hfile_error_io(error, folder, errno, "look at");
    for (size_t i = 0; i < found->region_count; i++) {
        if (found->regions[i].device == what.st_dev && found->regions[i].inode == what.st_ino) {
            found->region = i;
            return PETAL_OK;
        }
    }
    region.device = what.st_dev;
    region.inode = what.st_ino;
    real = realpath(folder, NULL);
    if (real == NULL)
        return hfile_error_io(error, folder, errno, "look at");
    slash = strrchr(real, '/');
    region.encoded = arena_copy(&found->arena, hfile_text_slice(slash == NULL ? real : slash + 1));
    free(real);
    if (region.encoded == NULL)
        return hfile_error_no_memory(error);
    status = read_whole(found, region_info, &bytes, error);
    if (status == PETAL_OK)
        status = region_parse_file(&region, &found->arena, bytes, region_info, error);
    return status == PETAL_OK ? add_region(found, &region, error) : status;
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
    /* Their numbers have ten digits; HBase adds the size after a dot. */
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
    if (!take_message(bytes, &bytes))
        return hfile_error_corrupt(error, path, 0, "this is not a description of a table");
    found->has_descriptor = true;
    return descriptor_parse_schema(&found->descriptor, bytes, path, error);
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

    if (*name == '.' || *name == '_')
        return PETAL_OK;
    path = join(found, folder, name);
    if (path == NULL)
        return hfile_error_no_memory(error);
    if (stat(path, &what) != 0)
        return hfile_error_io(error, path, errno, "look at");
    if (!S_ISDIR(what.st_mode))
        return add_file(found, path, error);
    if (strcmp(name, "recovered.edits") == 0)
        return add_edits(found, path, error);
    return add_folder(found, path, depth + 1, error);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* A snapshot, while its manifest is read. */
struct snapshot {
    const char *manifest, *root;
    struct target_place place;
    const char **regions[2]; /* folders of regions that may have its files; NULL ends each */
    const char *folders[2];  /* which these are in */
};

static enum petal_status
not_a_manifest(const char *path, petal_error *error)
{
    return hfile_error_corrupt(error, path, 0, "this is not a manifest of a snapshot");
}

/* The table's schema is known: where its files are. */
static enum petal_status
find_folders(struct found_files *found, struct snapshot *snapshot, petal_error *error)
{
    static const char *const places[] = {"archive/data", "data"};
    petal_slice table = found->descriptor.table.name;
    const char *colon = memchr(table.data, ':', table.size);
    size_t space_size = colon == NULL ? 0 : (size_t)(colon - (const char *)table.data);
    const char *space =
        colon == NULL ? "default" : arena_copy(&found->arena, hfile_slice(table.data, space_size));
    const char *name = arena_copy(
        &found->arena, colon == NULL ? table : hfile_slice(colon + 1, table.size - space_size - 1));
    enum petal_status status = PETAL_OK;

    if (space == NULL || name == NULL)
        return hfile_error_no_memory(error);
    /* Names that are no names of folders would lead elsewhere. */
    if (*name == '\0' || *name == '.' || *space == '\0' || *space == '.' ||
        strchr(name, '/') != NULL || strchr(space, '/') != NULL)
        return not_a_manifest(snapshot->manifest, error);
    snapshot->place = (struct target_place){
        .roots = {snapshot->root}, .space = space, .table = name, .family = ""};
    for (size_t i = 0; status == PETAL_OK && i < 2; i++) {
        const char *below = join(found, snapshot->root, places[i]);
        const char *spaces = below == NULL ? NULL : join(found, below, space);
        const char *folder = spaces == NULL ? NULL : join(found, spaces, name);

        if (folder == NULL)
            return hfile_error_no_memory(error);
        if (!is_there(folder))
            continue;
        snapshot->folders[i] = folder;
        status = list_folder(found, folder, &snapshot->regions[i], error);
    }
    return status;
}

/*
 * FAMILY/NAME in some region of the table: the manifest names files, and regions only by what
 * their folders' names are made of.
 */
static enum petal_status
find_store_file(struct found_files *found, const struct snapshot *snapshot,
                const char *family_and_name, const char **file, petal_error *error)
{
    for (size_t i = 0; i < 2; i++) {
        const char **regions = snapshot->regions[i];

        for (; regions != NULL && *regions != NULL; regions++) {
            char path[4096];
            int size = snprintf(path, sizeof path, "%s/%s/%s", snapshot->folders[i], *regions,
                                family_and_name);

            if (size < 0 || (size_t)size >= sizeof path)
                return hfile_error_set(error, PETAL_INVALID, "",
                                       "the path of the snapshot is too long");
            if (**regions == '.' || !is_there(path))
                continue;
            *file = arena_copy(&found->arena, hfile_slice(path, (size_t)size));
            return *file == NULL ? hfile_error_no_memory(error) : PETAL_OK;
        }
    }
    return hfile_error_set(error, PETAL_NOT_FOUND, snapshot->manifest,
                           "the snapshot's file '%s' is neither in archive/data nor in data "
                           "beside it",
                           family_and_name);
}

/* `reference`: what the manifest says of one; NULL: the file is none. */
static enum petal_status
add_snapshot_file(struct found_files *found, struct snapshot *snapshot, const char *family,
                  const char *name, const petal_slice *reference, petal_error *error)
{
    struct found_file file = {.half = HALF_WHOLE};
    enum petal_hfile_name_kind kind = petal_hfile_name_kind_of(name);
    const char *path = join(found, family, name);
    enum petal_status status;

    if (path == NULL)
        return hfile_error_no_memory(error);
    if (kind == PETAL_HFILE_NAME_MOB)
        return hfile_error_unsupported(error, snapshot->manifest,
                                       "'%s' is a MOB file, which Petal cannot read", path);
    if ((kind == PETAL_HFILE_NAME_REFERENCE || kind == PETAL_HFILE_NAME_LINK_REFERENCE) !=
        (reference != NULL))
        return not_a_manifest(snapshot->manifest, error);
    snapshot->place.family = family;
    status = kind == PETAL_HFILE_NAME_STORE_FILE
                 ? find_store_file(found, snapshot, path, &file.path, error)
                 : follow(found, &snapshot->place, path, reference, &file, error);
    return status == PETAL_OK ? add_found(found, &file, error) : status;
}

static enum petal_status
add_family_files(struct found_files *found, struct snapshot *snapshot, petal_slice message,
                 petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(message);
    struct hfile_field field;
    const char *family = NULL;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && hfile_field_take(&left, &field)) {
        petal_slice stored, reference;
        const char *name;

        if (field.is_bytes && field.number == FAMILY_FILES_NAME)
            family = arena_copy(&found->arena, field.bytes);
        if (!field.is_bytes || field.number != FAMILY_FILES_FILES)
            continue;
        if (!hfile_pair_take(field.bytes, &stored, &reference))
            return not_a_manifest(snapshot->manifest, error);
        name = arena_copy(&found->arena, stored);
        /* Names that are no names of files would lead elsewhere. */
        if (family == NULL || name == NULL || *name == '\0' || *name == '.' || *family == '\0' ||
            *family == '.' || strchr(name, '/') != NULL || strchr(family, '/') != NULL)
            return not_a_manifest(snapshot->manifest, error);
        status = add_snapshot_file(found, snapshot, family, name,
                                   reference.data != NULL ? &reference : NULL, error);
    }
    return status;
}

/* What the manifest says of the region first, wherever it stands. */
static enum petal_status
add_snapshot_region(struct found_files *found, struct snapshot *snapshot, petal_slice message,
                    petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(message);
    struct region region = {.encoded = ""};
    struct hfile_field field;
    char name[4096], start[200];
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && hfile_field_take(&left, &field))
        if (field.is_bytes && field.number == REGION_INFO)
            status = region_parse(&region, &found->arena, field.bytes, snapshot->manifest, error);
    if (status != PETAL_OK)
        return status;
    if (hfile_bytes_left(&left) > 0)
        return not_a_manifest(snapshot->manifest, error);
    snprintf(name, sizeof name, "%.3000s: the region that begins at '%s'", snapshot->manifest,
             hfile_error_quote(region.start, start, sizeof start));
    region.name = arena_copy(&found->arena, hfile_text_slice(name));
    if (region.name == NULL)
        return hfile_error_no_memory(error);
    status = add_region(found, &region, error);
    /* The files of a replica are those of its region, which is in the manifest. */
    for (left = hfile_bytes_of(message);
         status == PETAL_OK && !region.is_replica && hfile_field_take(&left, &field);)
        if (field.is_bytes && field.number == REGION_FAMILIES)
            status = add_family_files(found, snapshot, field.bytes, error);
    found->region = FOUND_NO_REGION;
    return status;
}

static enum petal_status
add_snapshot(struct found_files *found, const char *folder, const char *manifest,
             petal_error *error)
{
    struct snapshot snapshot = {.manifest = manifest, .root = join(found, folder, "../..")};
    petal_slice bytes;
    struct hfile_bytes left;
    struct hfile_field field;
    bool has_folders = false;
    enum petal_status status;

    if (snapshot.root == NULL)
        return hfile_error_no_memory(error);
    status = read_whole(found, manifest, &bytes, error);
    left = hfile_bytes_of(bytes);
    while (status == PETAL_OK && hfile_field_take(&left, &field)) {
        if (field.is_bytes && field.number == MANIFEST_SCHEMA) {
            found->has_descriptor = true;
            status = descriptor_parse_schema(&found->descriptor, field.bytes, manifest, error);
            if (status == PETAL_OK)
                status = find_folders(found, &snapshot, error);
            has_folders = true;
        } else if (field.is_bytes && field.number == MANIFEST_REGIONS) {
            if (!has_folders)
                return not_a_manifest(manifest, error);
            status = add_snapshot_region(found, &snapshot, field.bytes, error);
        }
    }
    if (status == PETAL_OK && (hfile_bytes_left(&left) > 0 || !has_folders))
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
                                   "there are several snapshots: name one, such as "
                                   ".hbase-snapshot/%s",
                                   only);
        only = *names;
    }
    if (status == PETAL_OK && only == NULL)
        return hfile_error_set(error, PETAL_NOT_FOUND, folder, "there is no snapshot");
    return status == PETAL_OK ? add_folder(found, join(found, folder, only), 0, error) : status;
}

/* ---- Folders --------------------------------------------------------------------------------- */

/* A path leads to one table or snapshot: `folder` is one. */
static enum petal_status
take_table(struct found_files *found, const char *folder, const char *several, petal_error *error)
{
    const char *inner;

    if (found->table == NULL) {
        found->table = folder;
        return PETAL_OK;
    }
    inner = found->table + strlen(found->path);
    return hfile_error_set(error, PETAL_INVALID, found->path,
                           "this holds several %s: name one, such as '%s'", several,
                           inner + strspn(inner, "/"));
}

static enum petal_status
add_folder(struct found_files *found, const char *path, unsigned depth, petal_error *error)
{
    const char *manifest, *snapshots, *table_info, *region_info, *list, *data, *archive, **names;
    const size_t region_before = found->region;
    enum petal_status status = PETAL_OK;

    if (depth > FIND_MOST_DEPTH)
        return hfile_error_set(error, PETAL_INVALID, path, "folders are too deep for a table's");
    if (path == NULL || (manifest = join(found, path, "data.manifest")) == NULL ||
        (snapshots = join(found, path, ".hbase-snapshot")) == NULL ||
        (table_info = join(found, path, ".tabledesc")) == NULL ||
        (region_info = join(found, path, ".regioninfo")) == NULL ||
        (list = join(found, path, ".filelist")) == NULL ||
        (data = join(found, path, "data")) == NULL ||
        (archive = join(found, path, "archive/data")) == NULL)
        return hfile_error_no_memory(error);
    if (is_there(manifest)) {
        status = take_table(found, path, "snapshots", error);
        return status == PETAL_OK ? add_snapshot(found, path, manifest, error) : status;
    }
    if (is_there(snapshots))
        return add_only_snapshot(found, snapshots, error);
    if (is_there(data) && is_there(archive))
        return hfile_error_set(error, PETAL_INVALID, path,
                               "archive/ holds what tables have no more: name the table's folder, "
                               "data/NAMESPACE/TABLE");
    if (is_there(list))
        return hfile_error_unsupported(error, path,
                                       "which of its files count stands in .filelist, which is not "
                                       "read: import a snapshot of the table");
    if (is_there(table_info))
        status = take_table(found, path, "tables", error);
    if (status == PETAL_OK && is_there(table_info))
        status = read_table_info(found, table_info, error);
    if (status == PETAL_OK && is_there(region_info))
        status = add_region_of_folder(found, path, region_info, error);
    if (status == PETAL_OK)
        status = list_folder(found, path, &names, error);
    for (; status == PETAL_OK && *names != NULL; names++)
        status = add_entry(found, path, *names, depth, error);
    found->region = region_before;
    return status;
}

/* A family's folder lies in its region's, which says what rows that has, and has its edits. */
static enum petal_status
add_region_above(struct found_files *found, const char *folder, petal_error *error)
{
    char *real = realpath(folder, NULL);
    const char *region, *region_info, *edits;
    enum petal_status status = PETAL_OK;

    if (real == NULL)
        return hfile_error_io(error, folder, errno, "look at");
    region = arena_copy(&found->arena, hfile_slice(real, (size_t)(strrchr(real, '/') - real)));
    free(real);
    if (region == NULL || (region_info = join(found, region, ".regioninfo")) == NULL ||
        (edits = join(found, region, "recovered.edits")) == NULL)
        return hfile_error_no_memory(error);
    if (is_there(region_info))
        status = add_region_of_folder(found, region, region_info, error);
    if (status == PETAL_OK && is_there(edits))
        status = add_edits(found, edits, error);
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
    found->is_settled = false;
    found->region = FOUND_NO_REGION;
    path = arena_copy(&found->arena, hfile_text_slice(path));
    if (path == NULL)
        return hfile_error_no_memory(error);
    found->path = path;
    found->table = NULL;
    if (S_ISDIR(what.st_mode)) {
        status = add_region_above(found, path, error);
        if (status == PETAL_OK)
            status = add_folder(found, path, 0, error);
    } else {
        status = add_file(found, path, error);
    }
    if (status == PETAL_OK && found->count == before)
        status = hfile_error_set(error, PETAL_NOT_FOUND, path, "there is no HFile in the folder");
    return status;
}

/* ---- Files that count ------------------------------------------------------------------------ */

static int
compare_entries(const void *a, const void *b)
{
    const struct found_file *first = a, *second = b;

    if (first->entry == NULL || second->entry == NULL)
        return (first->entry != NULL) - (second->entry != NULL);
    return strcmp(first->entry, second->entry);
}

static int
compare_files(const void *a, const void *b)
{
    const struct found_file *first = a, *second = b;
    int order = strcmp(first->path, second->path);

    if (order == 0)
        order = (first->half > second->half) - (first->half < second->half);
    return order != 0 ? order : hfile_slice_compare(first->split_row, second->split_row);
}

static void
sort_files(struct found_files *found, int (*compare)(const void *, const void *))
{
    if (found->count > 1)
        qsort(found->files, found->count, sizeof *found->files, compare);
}

/* A region's files that another region of the table refers to are there because it was split or
 * merged, also where its own .regioninfo does not say so. */
static void
mark_split_regions(struct found_files *found)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct found_file *file = &found->files[i];

        for (size_t k = 0; file->of_region != NULL && k < found->region_count; k++)
            if (k != file->region && strcmp(found->regions[k].encoded, file->of_region) == 0)
                found->regions[k].is_split = true;
    }
}

static void
leave_split_regions(struct found_files *found)
{
    size_t kept = 0;

    found->split_regions = 0;
    for (size_t i = 0; i < found->region_count; i++)
        found->split_regions += found->regions[i].is_split;
    for (size_t i = 0; i < found->count; i++) {
        size_t region = found->files[i].region;

        if (region == FOUND_NO_REGION || !found->regions[region].is_split)
            found->files[kept++] = found->files[i];
    }
    found->count = kept;
    kept = 0;
    for (size_t i = 0; i < found->edits_count; i++) {
        size_t region = found->edits[i].region;

        if (region == FOUND_NO_REGION || !found->regions[region].is_split)
            found->edits[kept++] = found->edits[i];
    }
    found->edits_count = kept;
}

/* Is there another entry in the same folder? Entries are in order. */
static bool
is_alone(const struct found_files *found, size_t number)
{
    const char *entry = found->files[number].entry;
    const char *slash = strrchr(entry, '/');
    size_t size = slash == NULL ? 0 : (size_t)(slash - entry) + 1;

    return (number == 0 || found->files[number - 1].entry == NULL ||
            strncmp(found->files[number - 1].entry, entry, size) != 0) &&
           (number + 1 == found->count ||
            strncmp(found->files[number + 1].entry, entry, size) != 0);
}

/* COMPACTION_EVENT_KEY: "PBUF", and a message with names of files of the folder as field 1. */
static enum petal_status
leave_named_files(struct found_files *found, const struct found_file *file, petal_slice event,
                  bool *is_left, petal_error *error)
{
    const char *slash = strrchr(file->entry, '/');
    petal_slice folder =
        hfile_slice(file->entry, slash == NULL ? 0 : (size_t)(slash - file->entry) + 1);
    struct hfile_bytes left = hfile_bytes_of(event);
    struct hfile_field field;

    if (!hfile_take_protobuf_magic(&left))
        return PETAL_OK;
    while (hfile_field_take(&left, &field)) {
        struct found_file key = {.half = HALF_WHOLE};
        const struct found_file *named;
        char *entry;

        if (!field.is_bytes || field.number != 1)
            continue;
        entry = arena_allocate(&found->arena, folder.size + field.bytes.size + 1);
        if (entry == NULL)
            return hfile_error_no_memory(error);
        memcpy(entry, folder.data, folder.size);
        if (field.bytes.size > 0)
            memcpy(entry + folder.size, field.bytes.data, field.bytes.size);
        key.entry = entry;
        named = bsearch(&key, found->files, found->count, sizeof *found->files, compare_entries);
        if (named != NULL && named != file)
            is_left[named - found->files] = true;
    }
    return PETAL_OK;
}

/* As HBase does when it opens a region. */
static enum petal_status
leave_compacted_files(struct found_files *found, petal_error *error)
{
    const petal_hfile_read_options options = {.size = sizeof options, .facts_only = true};
    bool *is_left = arena_allocate(&found->arena, found->count);
    size_t kept = 0;
    enum petal_status status = is_left == NULL ? hfile_error_no_memory(error) : PETAL_OK;

    sort_files(found, compare_entries);
    for (size_t i = 0; status == PETAL_OK && i < found->count; i++) {
        const struct found_file *file = &found->files[i];
        petal_hfile *opened;
        petal_slice event;

        if (file->entry == NULL || file->of_region != NULL || is_alone(found, i))
            continue;
        status = petal_hfile_open(file->path, &options, &opened, error);
        if (status != PETAL_OK)
            break;
        if (petal_hfile_info_find(opened, HFILE_INFO_COMPACTION_EVENT, &event))
            status = leave_named_files(found, file, event, is_left, error);
        petal_hfile_close(opened);
    }
    if (status != PETAL_OK)
        return status;
    for (size_t i = 0; i < found->count; i++)
        if (!is_left[i])
            found->files[kept++] = found->files[i];
    found->compacted_files += found->count - kept;
    found->count = kept;
    return PETAL_OK;
}

/* In order, each once. */
static void
sort_by_path(struct found_files *found)
{
    size_t kept = 0;

    sort_files(found, compare_files);
    for (size_t i = 1; i < found->count; i++)
        if (compare_files(&found->files[i], &found->files[kept]) != 0)
            found->files[++kept] = found->files[i];
    found->count = found->count == 0 ? 0 : kept + 1;
}

enum petal_status
found_settle(struct found_files *found, petal_error *error)
{
    enum petal_status status;

    if (found->is_settled)
        return PETAL_OK;
    mark_split_regions(found);
    status = regions_check(found->regions, found->region_count, &found->arena, error);
    /* First, since a region may have a link to a file of the one that was split. */
    if (status == PETAL_OK)
        leave_split_regions(found);
    sort_by_path(found);
    if (status == PETAL_OK) {
        status = leave_compacted_files(found, error);
        sort_by_path(found);
    }
    found->is_settled = status == PETAL_OK;
    return status;
}
