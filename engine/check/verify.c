/*
 * verify.c -- checks all files of a database that nobody has open: petal_verify.
 *
 * First the manifest, then each store file that it names, then the logs; at the end the files in
 * the directory that nothing names.
 */
#include "base/argument.h"
#include "engine/check/judge.h"
#include "engine/check/logs.h"
#include "engine/store/open.h"
#include "sstable/sst_walk.h"

#include <inttypes.h>

/* ---- store files ---- */

/* A store file that is being verified. */
struct file_check {
    struct place *place;
    const struct manifest *manifest;
    const struct manifest_table *table;   /* NULL: no manifest names it */
    const struct manifest_family *family; /* likewise */
    const struct manifest_file *described;
    const char *path;
};

static void
tell_file(const struct file_check *check, const petal_error *error, uint64_t bytes,
          const struct sst_rows *rows)
{
    petal_fault fault = {.error = error};

    if (check->table != NULL)
        fault = check_place_fault_of(check->table->name, &check->table->snapshot,
                                     check->family->options.name, error);
    fault.bytes = bytes;
    check_place_add_rows(&fault, rows);
    check_place_tell(check->place, &fault);
}

static void
tell_sst_fault(void *argument, const struct sst_fault *fault)
{
    tell_file(argument, fault->error, fault->bytes, &fault->rows);
}

static bool
go_on(void *argument, uint64_t bytes)
{
    const struct file_check *check = argument;

    return check_place_go_on(check->place, bytes);
}

/* Is this the file that the manifest describes? */
static void
compare_description(void *argument, const struct file_facts *facts)
{
    const struct file_check *check = argument;
    const struct manifest_file *described = check->described;
    petal_error error;

    check->place->counts->cells += facts->cells;
    check->place->counts->data_blocks += facts->data_blocks;
    if (described == NULL || store_file_is_described(facts, described, check->manifest->salt))
        return;
    error_corrupt(&error, check->path, 0, "%s is not the store file that the manifest describes",
                  check->path);
    tell_file(check, &error, 0, NULL);
}

static enum petal_status
check_file(struct file_check *check, const struct place_file *file, petal_error *error)
{
    const struct manifest_file *described = check->described;
    const struct sst_walk_options options = {.file_identity =
                                                 described != NULL ? described->identity : 0};
    const struct sst_watch watch = {
        .go_on = go_on, .fault = tell_sst_fault, .opened = compare_description, .argument = check};
    petal_error cause;

    check->place->counts->store_files++;
    if (file == NULL) {
        error_corrupt(&cause, check->path, 0,
                      "%s is missing; it had %" PRIu64 " bytes and %" PRIu64 " cells", check->path,
                      described->file_bytes, described->cells);
        tell_file(check, &cause, 0, NULL);
        return PETAL_OK;
    }
    if (described != NULL && file->failed == 0 && file->bytes != described->file_bytes) {
        error_corrupt(&cause, check->path, 0,
                      "%s has %" PRIu64 " bytes; the manifest says %" PRIu64, check->path,
                      file->bytes, described->file_bytes);
        tell_file(check, &cause, 0, NULL);
    }
    return sst_verify(&check->place->directory, check->path, &options, &watch, error);
}

/* The files of the region's store, but for those that an earlier one has, too. */
static enum petal_status
check_store(struct file_check *check, size_t region, petal_error *error)
{
    struct place *place = check->place;
    const struct manifest_store *store = &check->family->stores[region];
    char path[PETAL_PATH_BYTES];
    enum petal_status status = PETAL_OK;

    check->path = path;
    for (size_t i = 0; status == PETAL_OK && i < store->file_count; i++) {
        check->described = &store->files[i];
        if (manifest_earlier_has_file(check->manifest, check->family, region,
                                      check->described->number))
            continue;
        filename_store_file(path, place->directory.path, check->described->number);
        status = check_file(
            check, check_place_find(place, FILENAME_STORE_FILE, check->described->number), error);
    }
    return status;
}

static enum petal_status
check_family(struct file_check *check, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    check->place->counts->families++;
    for (size_t i = 0; status == PETAL_OK && i < check->table->region_count; i++)
        status = check_store(check, i, error);
    return status;
}

static enum petal_status
check_tables(struct place *place, petal_error *error)
{
    const struct manifest *manifest = place->manifest;
    enum petal_status status = PETAL_OK;

    for (size_t t = 0; manifest != NULL && t < manifest->table_count; t++) {
        struct file_check check = {
            .place = place, .manifest = manifest, .table = manifest->tables[t]};

        if (manifest_is_snapshot(check.table))
            place->counts->snapshots++;
        else
            place->counts->tables++;
        for (size_t f = 0; status == PETAL_OK && f < check.table->family_count; f++) {
            check.family = &check.table->families[f];
            status = check_family(&check, error);
        }
    }
    return status;
}

/* ---- unnamed files ---- */

static void
tell_orphan(struct place *place, const char *path, const char *why)
{
    petal_error error;

    error_corrupt(&error, path, 0, "%s %s", path, why);
    check_place_tell_error(place, &error, 0, true);
}

/* If the manifest is not whole, an unnamed file may be one that it has lost. */
static enum petal_status
check_unnamed(struct place *place, const struct place_file *file, petal_error *error)
{
    char path[PETAL_PATH_BYTES];
    struct file_check check = {.place = place, .manifest = place->manifest, .path = path};

    filename_store_file(path, place->directory.path, file->number);
    if (place->manifest_whole) {
        tell_orphan(place, path, "is a store file that belongs to no table");
        return check_place_go_on(place, file->bytes) ? PETAL_OK : check_place_given_up(error);
    }
    return check_file(&check, file, error);
}

static enum petal_status
check_orphans(struct place *place, petal_error *error)
{
    char path[PETAL_PATH_BYTES];
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < place->file_count; i++) {
        const struct place_file *file = &place->files[i];

        if (file->kind == FILENAME_MANIFEST_TEMPORARY) {
            filename_manifest_temporary(path, place->directory.path);
            tell_orphan(place, path, "is a manifest that was not completed");
        } else if (file->kind == FILENAME_STORE_FILE && file->named == NULL) {
            status = check_unnamed(place, file, error);
        } else if (file->kind == FILENAME_WAL && place->manifest_whole &&
                   (file->number < place->manifest->oldest_log ||
                    !check_place_number_possible(place, file->number))) {
            filename_wal(path, place->directory.path, file->number);
            tell_orphan(place, path, "is a log that is not needed");
        }
    }
    return status;
}

/* ---- all ---- */

enum petal_status
petal_verify(const char *directory, const petal_check_options *options, petal_check_counts *counts,
             petal_error *error)
{
    RETURN_IF_NULL(directory, error);

    struct place place;
    enum petal_status status;

    error_clear(error);
    status = check_place_open(&place, directory, options, counts, error);
    if (status == PETAL_OK)
        status = judge_manifest(&place, error);
    if (status == PETAL_OK)
        status = check_tables(&place, error);
    if (status == PETAL_OK)
        status = check_logs(&place, NULL, NULL, error);
    if (status == PETAL_OK)
        status = check_orphans(&place, error);
    if (status == PETAL_OK)
        status = check_place_confirm(&place, error);
    if (status == PETAL_OK && place.counts->faults > 0) {
        error_copy(error, &place.first);
        status = PETAL_CORRUPT;
    } else if (status == PETAL_OK && place.unread.status != PETAL_OK) {
        status = error_copy(error, &place.unread);
    }
    check_place_close(&place);
    return status;
}
