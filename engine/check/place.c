/* place.c -- see place.h. */
#include "engine/check/place.h"

#include "base/mem.h"
#include "base/options.h"
#include "engine/db/lock.h"

#include <errno.h>
#include <stdlib.h>

#define MOST_OPEN_FILES 128

/* ---- telling ---- */

/* Lack of permission, memory or descriptors: says nothing about the bytes. */
static bool
is_no_word_of_bytes(const petal_error *error)
{
    return error_passes(error) ||
           (error->status == PETAL_IO && (error->os_error == EACCES || error->os_error == EPERM));
}

static void
note_unread(struct place *place, const petal_error *error)
{
    if (place->unread.status == PETAL_OK)
        place->unread = *error;
}

void
check_place_tell(struct place *place, const petal_fault *fault)
{
    petal_fault told = *fault;

    told.unread = is_no_word_of_bytes(fault->error);
    if (told.unread)
        note_unread(place, fault->error);
    else if (fault->harmless)
        place->counts->harmless++;
    else if (place->counts->faults++ == 0)
        place->first = *fault->error;
    if (place->options.fault != NULL)
        place->options.fault(place->options.argument, &told);
}

void
check_place_tell_error(struct place *place, const petal_error *error, uint64_t bytes, bool harmless)
{
    check_place_tell(place, &(petal_fault){.error = error, .bytes = bytes, .harmless = harmless});
}

petal_fault
check_place_fault_of(petal_slice table, const struct manifest_snapshot *snapshot,
                     petal_slice family, const petal_error *error)
{
    bool of_snapshot = snapshot->name.size > 0;

    return (petal_fault){.error = error,
                         .of_snapshot = of_snapshot,
                         .table = of_snapshot ? snapshot->name : table,
                         .family = family};
}

void
check_place_add_rows(petal_fault *fault, const struct sst_rows *rows)
{
    if (rows == NULL)
        return;
    fault->has_row_from = rows->has_from;
    fault->has_row_to = rows->has_to;
    fault->row_from = rows->has_from ? rows->from : slice_make(NULL, 0);
    fault->row_to = rows->has_to ? rows->to : slice_make(NULL, 0);
}

bool
check_place_wants(const petal_error *cause, petal_error *error)
{
    if (!error_passes(cause))
        return false;
    error_copy(error, cause);
    return true;
}

bool
check_place_go_on(struct place *place, uint64_t bytes)
{
    place->done = place->total - place->done > bytes ? place->done + bytes : place->total;
    place->counts->bytes += bytes;
    return place->options.watch == NULL ||
           place->options.watch(place->options.argument, place->done, place->total);
}

enum petal_status
check_place_given_up(petal_error *error)
{
    return error_set(error, PETAL_BUSY, "the check was given up");
}

/* ---- the directory ---- */

static void
note_file(void *argument, const char *name)
{
    struct place *place = argument;
    uint64_t number;
    enum filename_kind kind = filename_parse(name, &number);

    if (kind == FILENAME_MANIFEST)
        place->has_manifest = true;
    if (kind == FILENAME_LOCK)
        place->has_lock = true;
    if (kind == FILENAME_OTHER || kind == FILENAME_MANIFEST || kind == FILENAME_LOCK ||
        kind == FILENAME_READERS || place->failed)
        return;
    place->failed = !mem_grow_array(place->env.allocator, &place->files, &place->file_capacity,
                                    place->file_count, place->file_count + 1, sizeof *place->files);
    if (!place->failed)
        place->files[place->file_count++] = (struct place_file){.number = number, .kind = kind};
}

static int
compare_files(const void *a, const void *b)
{
    const struct place_file *first = a, *second = b;

    if (first->kind != second->kind)
        return first->kind < second->kind ? -1 : 1;
    return first->number < second->number ? -1 : first->number > second->number;
}

struct place_file *
check_place_find(const struct place *place, enum filename_kind kind, uint64_t number)
{
    struct place_file key = {.number = number, .kind = kind};

    if (place->file_count == 0)
        return NULL;
    return bsearch(&key, place->files, place->file_count, sizeof key, compare_files);
}

/* The size of the file, if it can be learned. */
static void
measure(struct place *place, struct place_file *file, const char *path)
{
    const petal_vfs *vfs = place->env.vfs;
    petal_error error;
    petal_file *opened;

    file->failed = directory_open_file(&place->directory, path, PETAL_FILE_READ, &opened);
    if (file->failed == 0) {
        file->failed = vfs->size(vfs->context, opened, &file->bytes);
        vfs->close(vfs->context, opened);
    }
    if (file->failed == 0) {
        place->total += file->bytes;
        return;
    }
    file->bytes = 0;
    error_io(&error, path, file->failed, "open");
    if (is_no_word_of_bytes(&error))
        note_unread(place, &error);
}

static enum petal_status
list_files(struct place *place, petal_error *error)
{
    char path[PETAL_PATH_BYTES];
    int failed = directory_list(&place->directory, note_file, place);

    if (failed != 0)
        return error_io(error, place->directory.path, failed, "list directory");
    if (place->failed)
        return error_no_memory(error);
    if (place->file_count > 0)
        qsort(place->files, place->file_count, sizeof *place->files, compare_files);
    for (size_t i = 0; i < place->file_count; i++) {
        struct place_file *file = &place->files[i];

        if (file->kind == FILENAME_WAL)
            filename_wal(path, place->directory.path, file->number);
        else if (file->kind == FILENAME_STORE_FILE)
            filename_store_file(path, place->directory.path, file->number);
        else
            continue;
        measure(place, file, path);
    }
    if (!place->has_manifest && place->file_count == 0)
        return error_file(error, PETAL_NOT_FOUND, place->directory.path,
                          "there is no database in %s", place->directory.path);
    return PETAL_OK;
}

bool
check_place_number_possible(const struct place *place, uint64_t number)
{
    return !place->manifest_whole || manifest_number_possible(place->manifest, number);
}

/* ---- the manifest ---- */

static void
tell_manifest_fault(void *argument, const petal_error *error, uint64_t bytes, bool harmless)
{
    check_place_tell_error(argument, error, bytes, harmless);
}

static void
mark_named(const struct place *place, const struct manifest_table *table)
{
    for (size_t i = 0; i < table->family_count * table->region_count; i++) {
        const struct manifest_store *store = manifest_store_at(table, i);

        for (size_t k = 0; k < store->file_count; k++) {
            struct place_file *file =
                check_place_find(place, FILENAME_STORE_FILE, store->files[k].number);

            if (file == NULL)
                continue;
            file->named = &store->files[k];
            file->identity = file->named->identity;
        }
    }
}

static enum petal_status
load_manifest(struct place *place, petal_error *error)
{
    const struct manifest_visitor visitor = {.argument = place, .fault = tell_manifest_fault};
    char path[PETAL_PATH_BYTES];
    petal_error cause;
    enum petal_status status;

    filename_manifest(path, place->directory.path);
    status = manifest_load_parts(&place->manifest, &place->directory, path, &visitor,
                                 &place->manifest_whole, &cause);
    if (status == PETAL_NO_MEMORY)
        return error_no_memory(error);
    if (status != PETAL_OK && is_no_word_of_bytes(&cause))
        return error_copy(error, &cause);
    if (status != PETAL_OK) {
        if (status == PETAL_NOT_FOUND)
            cause.status = PETAL_CORRUPT; /* there are files of a database */
        check_place_tell_error(place, &cause, 0, false);
    }
    for (size_t i = 0; place->manifest != NULL && i < place->manifest->table_count; i++)
        mark_named(place, place->manifest->tables[i]);
    return PETAL_OK;
}

/* ---- opening ---- */

/* There is a lock file, but it may not be opened. */
static void
tell_no_lock(struct place *place)
{
    char path[PETAL_PATH_BYTES];
    petal_error error;

    filename_lock(path, place->directory.path);
    error_file(&error, PETAL_BUSY, path,
               "%s may not be opened: the database is checked without its lock, so nobody may "
               "write to it meanwhile",
               path);
    check_place_tell_error(place, &error, 0, true);
}

enum petal_status
check_place_open(struct place *place, const char *path, const petal_check_options *options,
                 petal_check_counts *counts, petal_error *error)
{
    enum petal_status status;
    int failed;

    *place = (struct place){.counts = counts != NULL ? counts : &place->own_counts};
    *place->counts = (petal_check_counts){0};
    env_init(&place->env, NULL);
    status =
        options_copy(&place->options, sizeof place->options, options, "petal_check_options", error);
    if (status != PETAL_OK)
        return status;
    env_init(&place->env, place->options.env);
    place->has_pool = file_pool_init(&place->pool, &place->env, MOST_OPEN_FILES);
    if (!place->has_pool)
        return error_no_memory(error);
    if (!filename_directory_fits(path))
        return error_set(error, PETAL_INVALID, "the path of the directory is empty or too long");
    failed = directory_open(&place->directory, &place->env, path, false);
    if (failed == ENOENT)
        return error_file(error, PETAL_NOT_FOUND, path, "there is no database in %s", path);
    if (failed != 0)
        return error_io(error, path, failed, "open directory");
    status = opener_lock_take(&place->directory, true, &place->lock, error);
    if (status == PETAL_OK)
        status = list_files(place, error);
    if (status == PETAL_OK && place->has_lock && place->lock == NULL)
        tell_no_lock(place);
    return status == PETAL_OK ? load_manifest(place, error) : status;
}

void
check_place_close(struct place *place)
{
    if (place->lock != NULL)
        place->env.vfs->close(place->env.vfs->context, place->lock);
    manifest_free(place->manifest);
    mem_free(place->env.allocator, place->files, place->file_capacity * sizeof *place->files);
    directory_close(&place->directory);
    if (place->has_pool)
        file_pool_fini(&place->pool);
}

enum petal_status
check_place_confirm(const struct place *place, petal_error *error)
{
    return opener_lock_confirm(&place->directory, place->lock, error);
}
