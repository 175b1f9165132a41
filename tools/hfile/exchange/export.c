/*
 * export.c -- petal_hfile_export: a table's families as files that HBase loads, one or more for
 * each region, several regions at the same time.
 */
#include "tools/hfile/exchange/export_part.h"
#include "tools/hfile/exchange/out_file.h"
#include "tools/hfile/format/argument.h"
#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/options.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_THREADS = 8 };

struct export
{
    struct export_plan plan;
    struct export_work work;
    petal_snapshot *own_snapshot;
    bool made_directory;
    struct hfile_buffer regions; /* the rows at which they begin, one after the other .. */
    struct hfile_buffer borders; /* .. and as split keys, petal_slice */
    bool no_memory;              /* for them */
    uint64_t total_bytes;        /* an estimate */
};

/* ---- What is to be exported ------------------------------------------------------------------ */

/* A file that two regions share is visited for both. */
static bool
add_raw_bytes(void *argument, const petal_file_info *file)
{
    *(uint64_t *)argument += file->shared ? file->raw_data_bytes / 2 : file->raw_data_bytes;
    return true;
}

/* The rows move while they become more, so the slices have no places yet. */
static bool
add_border(void *argument, const petal_region_info *region)
{
    struct export *export = argument;
    petal_slice border = {NULL, region->start.size};

    if (border.size == 0)
        return true;
    export->no_memory = !hfile_buffer_append(&export->regions, region->start.data, border.size) ||
                        !hfile_buffer_append(&export->borders, &border, sizeof border);
    return !export->no_memory;
}

/* The table's own regions are the split keys. */
static enum petal_status
split_by_regions(struct export *export, petal_error *error)
{
    petal_hfile_export_options *options = &export->plan.options;
    enum petal_status status = petal_table_regions(export->plan.table, add_border, export, error);
    const uint8_t *row = export->regions.bytes;
    petal_slice *borders = (void *)export->borders.bytes;

    if (status == PETAL_OK && export->no_memory)
        status = hfile_error_no_memory(error);
    options->split_keys = borders;
    options->split_key_count = export->borders.size / sizeof *borders;
    for (size_t i = 0; i < options->split_key_count; i++) {
        borders[i].data = row;
        row += borders[i].size;
    }
    return status;
}

/* Each key is greater than the one before it. */
static enum petal_status
check_split_keys(const petal_hfile_export_options *options, petal_error *error)
{
    char quoted[2][160];

    for (size_t i = 1; i < options->split_key_count; i++) {
        const petal_slice *key = &options->split_keys[i];

        if (hfile_slice_compare(key[-1], key[0]) >= 0)
            return hfile_error_set(error, PETAL_INVALID, "",
                                   "split key %zu, '%s', is not greater than the one before it, "
                                   "'%s'",
                                   i + 1, hfile_error_quote(key[0], quoted[0], sizeof quoted[0]),
                                   hfile_error_quote(key[-1], quoted[1], sizeof quoted[1]));
    }
    return PETAL_OK;
}

static enum petal_status
take_options(struct export *export, const petal_hfile_export_options *given, petal_error *error)
{
    petal_hfile_export_options *options = &export->plan.options;
    enum petal_status status =
        hfile_options_take(given, options, sizeof *options, "petal_hfile_export_options", error);

    if (status == PETAL_OK)
        status = hfile_options_take(options->file, &export->plan.file, sizeof export->plan.file,
                                    "petal_hfile_write_options", error);
    export->plan.file.size = sizeof export->plan.file;
    return status == PETAL_OK ? check_split_keys(options, error) : status;
}

/* The directory is made, or is there and holds nothing. */
static enum petal_status
make_directory(struct export *export, petal_error *error)
{
    enum petal_status status =
        out_folder_make(export->plan.directory, &export->made_directory, error);
    DIR *entries;
    struct dirent *entry;

    if (status != PETAL_OK || export->made_directory)
        return status;
    entries = opendir(export->plan.directory);
    if (entries == NULL)
        return hfile_error_io(error, export->plan.directory, errno, "read");
    errno = 0;
    while ((entry = readdir(entries)) != NULL &&
           (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0))
        ;
    if (entry == NULL && errno != 0)
        status = hfile_error_io(error, export->plan.directory, errno, "read");
    else if (entry != NULL)
        status = hfile_error_set(error, PETAL_EXISTS, export->plan.directory,
                                 "the folder is not empty: it holds '%s'", entry->d_name);
    closedir(entries);
    return status;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *
export_parts(void *argument)
{
    struct export *export = argument;
    size_t part;

    while (export_work_take(&export->work, &part))
        export_part_write(&export->plan, part, &export->work);
    export_work_end_thread(&export->work);
    return NULL;
}

/* As many as can work at the same time; a thread writes one region. */
static size_t
thread_count(const struct export *export)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t regions = export->plan.options.split_key_count + 1;
    size_t most = processors > MOST_THREADS ? MOST_THREADS
                  : processors > 1          ? (size_t)processors
                                            : 1;

    return regions < most ? regions : most;
}

/* Starts as many as it can. Signals are the caller's. */
static enum petal_status
start_threads(struct export *export, pthread_t *threads, size_t *started, petal_error *error)
{
    size_t wanted = thread_count(export);
    sigset_t all, before;
    int failed = 0;

    export->work.threads = wanted;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (*started = 0; *started < wanted; ++*started) {
        failed = pthread_create(&threads[*started], NULL, export_parts, export);
        if (failed != 0)
            break;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (size_t i = *started; i < wanted; i++)
        export_work_end_thread(&export->work);
    return *started > 0
               ? PETAL_OK
               : hfile_error_io(error, export->plan.directory, failed, "start a thread for");
}

static enum petal_status
run_threads(struct export *export, petal_error *error)
{
    const struct watching watching = {export->plan.options.watch, export->plan.options.argument};
    pthread_t threads[MOST_THREADS];
    size_t started;
    enum petal_status status = start_threads(export, threads, &started, error);

    if (status == PETAL_OK)
        status = export_work_wait(&export->work, &watching, export->total_bytes, error);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    return status;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static uint64_t
count_unordered_families(petal_table *table)
{
    petal_table_options described = {.size = sizeof described};
    uint64_t count = 0;

    petal_table_describe(table, &described);
    for (size_t i = 0; i < described.family_count; i++)
        count += described.families[i].new_version_behavior;
    return count;
}

/* Into the directory, which is there and empty. On failure it is empty again. */
static enum petal_status
export_table(struct export *export, petal_hfile_export_counts *counts, petal_error *error)
{
    enum petal_status status;

    export_work_init(&export->work, export->plan.directory, export_part_count(&export->plan));
    status = run_threads(export, error);
    if (status == PETAL_OK)
        status = export_work_sync(&export->work, error);
    if (status == PETAL_OK)
        status = out_folder_sync(export->plan.directory, error);
    if (status != PETAL_OK) {
        export_work_take_back(&export->work);
    } else if (counts != NULL) {
        *counts = export->work.counts;
        counts->unordered_families = count_unordered_families(export->plan.table);
    }
    export_work_free(&export->work);
    return status;
}

enum petal_status
petal_hfile_export(petal_db *db, petal_table *table, const char *directory,
                   const petal_hfile_export_options *options, petal_hfile_export_counts *counts,
                   petal_error *error)
{
    HFILE_RETURN_IF_NULL(db, error);
    HFILE_RETURN_IF_NULL(table, error);
    HFILE_RETURN_IF_NULL(directory, error);

    struct export export = {.plan = {.db = db, .table = table, .directory = directory}};
    enum petal_status status;

    hfile_error_clear(error);
    if (counts != NULL)
        *counts = (petal_hfile_export_counts){0};
    if (*directory == '\0')
        return hfile_error_set(error, PETAL_INVALID, "", "the name of the directory is empty");
    status = take_options(&export, options, error);
    if (status != PETAL_OK)
        return status;
    hfile_buffer_init(&export.regions, &hfile_default_allocator);
    hfile_buffer_init(&export.borders, &hfile_default_allocator);
    export.plan.snapshot = export.plan.options.snapshot;
    if (export.plan.snapshot == NULL) {
        status = petal_snapshot_new(db, &export.own_snapshot, error);
        export.plan.snapshot = export.own_snapshot;
    }
    if (status == PETAL_OK)
        status = petal_table_files(table, add_raw_bytes, &export.total_bytes, error);
    export.total_bytes += petal_table_memtable_bytes(table);
    if (status == PETAL_OK && export.plan.options.split_key_count == 0)
        status = split_by_regions(&export, error);
    if (status == PETAL_OK)
        status = make_directory(&export, error);
    if (status == PETAL_OK)
        status = export_table(&export, counts, error);
    if (status != PETAL_OK && export.made_directory)
        (void)rmdir(directory);
    petal_snapshot_free(export.own_snapshot);
    hfile_buffer_free(&export.regions);
    hfile_buffer_free(&export.borders);
    return status;
}
