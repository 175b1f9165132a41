/* open.c -- a database is opened and closed. */
#include "engine/state/db.h"

#include "base/argument.h"
#include "base/clock.h"
#include "base/vfs_posix.h"
#include "engine/compact/compactor.h"
#include "engine/compact/plan.h"
#include "engine/db/lock.h"
#include "engine/db/recovery.h"
#include "engine/db/refresh.h"
#include "engine/flush/flush.h"
#include "engine/options.h"
#include "engine/region/keeper.h"
#include "engine/table/snapshot.h"
#include "engine/wal/wal.h"
#include "engine/write/pace.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* ---- opening ---- */

static bool
init_locks(petal_db *db)
{
    struct mutex *const mutexes[] = {&db->schema.mutex,   &db->manifest_mutex, &db->views.mutex,
                                     &db->progress.mutex, &db->failure.mutex,  &db->snapshots.mutex,
                                     &db->capture_mutex,  &db->readers.mutex};

    for (size_t i = 0; i < sizeof mutexes / sizeof *mutexes; i++) {
        if (!mutex_init(mutexes[i]))
            return false;
    }
    return clock_condition_init(&db->progress.moved) && clock_condition_init(&db->progress.grown) &&
           write_queue_init(&db->writers.queue) && row_locks_init(&db->writers.row_locks) &&
           view_bin_init(&db->views.bin, wal_wake, db);
}

static void
fini_locks(petal_db *db)
{
    struct mutex *const mutexes[] = {&db->schema.mutex,   &db->manifest_mutex, &db->views.mutex,
                                     &db->progress.mutex, &db->failure.mutex,  &db->snapshots.mutex,
                                     &db->capture_mutex,  &db->readers.mutex};

    for (size_t i = 0; i < sizeof mutexes / sizeof *mutexes; i++)
        mutex_fini(mutexes[i]);
    pthread_cond_destroy(&db->progress.moved);
    pthread_cond_destroy(&db->progress.grown);
    write_queue_fini(&db->writers.queue);
    row_locks_fini(&db->writers.row_locks);
    view_bin_fini(&db->views.bin);
}

/* How many store files may be open. On the operating system's files no more than half of what the
 * process may open: logs, the manifest and what flushes and compactions write need some, too, and
 * the program that we are part of. */
static uint32_t
open_files_limit(const struct env *env, const petal_options *options)
{
    uint32_t most = env->vfs == &vfs_posix ? vfs_posix_most_open_files() / 2 : UINT32_MAX;

    if (options->open_files <= most)
        return options->open_files;
    return most > LEAST_OPEN_FILES ? most : LEAST_OPEN_FILES;
}

/* How large store files may be for blocks to bring along what lies around them: on the operating
 * system's files half of its memory, since the page cache is to hold them beside all else. */
static uint64_t
around_limit(const struct env *env)
{
    return env->vfs == &vfs_posix ? vfs_posix_memory_bytes() / 2 : UINT64_MAX;
}

/* Of the memory limit, which windows of large reads take beside it at most. */
#define READAHEAD_SHARE 64

static enum petal_status
open_cache(petal_db *db, const petal_options *options, petal_error *error)
{
    size_t most = options->cache_bytes == PETAL_NO_CACHE ? 0 : options->cache_bytes;

    if (most > options->memory_bytes)
        most = options->memory_bytes;
    if (cache_open(&db->cache, db->env.allocator, db->epoch, most, 0) != PETAL_OK)
        return error_no_memory(error);
    memory_budget_init(&db->memory, db->cache, options->memory_bytes, most);
    readahead_limit_init(&db->readahead, options->memory_bytes / READAHEAD_SHARE,
                         around_limit(&db->env));
    readahead_limit_init(&db->index_ahead, most, 0);
    return PETAL_OK;
}

/* The struct with everything that needs no file. */
static enum petal_status
db_new(petal_db **db, const char *directory, const petal_options *options, petal_error *error)
{
    struct env env;
    petal_db *made;

    env_init(&env, options->env);
    if (directory[0] == '\0' || !filename_directory_fits(directory))
        return error_set(error, PETAL_INVALID,
                         "the directory's path has %zu bytes; it may have 1 to about %d",
                         strlen(directory), PETAL_PATH_BYTES - 64);
    made = mem_alloc_aligned(env.allocator, CACHE_LINE_BYTES, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    memset(made, 0, sizeof *made);
    made->env = env;
    made->schema.db = made;
    made->schema.env = &made->env;
    made->schema.directory = &made->directory;
    made->readers.directory = &made->directory;
    made->process = process_now();
    made->read_only = options->read_only;
    made->memtable_bytes = options->memtable_bytes;
    made->durability = options->durability;
    made->max_region_bytes = options->max_region_bytes;
    made->compact_file_bytes = PLAN_FILE_BYTES;
    made->linked_file_bytes = made->memtable_bytes / PLAN_SMALL_FILES;
    made->no_compaction = options->no_compaction;
    made->map_files = options->map_files;
    made->epoch = mem_alloc_aligned(env.allocator, CACHE_LINE_BYTES, sizeof *made->epoch);
    made->stats =
        mem_alloc_aligned(env.allocator, CACHE_LINE_BYTES, STATS_SHARDS * sizeof *made->stats);
    if (made->read_only)
        made->reading = reading_new(made, options);
    if (made->epoch == NULL || made->stats == NULL || !process_watch_forks() ||
        (made->read_only && made->reading == NULL) || !wal_init(made, options) ||
        !flusher_init(made) || !pace_init(made) || !init_locks(made) ||
        !file_pool_init(&made->open_files, &made->env, open_files_limit(&env, options)) ||
        epoch_init(made->epoch) != PETAL_OK) {
        reading_free(made);
        pace_fini(made);
        flusher_fini(made);
        wal_fini(made);
        mem_free(env.allocator, made->stats, STATS_SHARDS * sizeof *made->stats);
        mem_free(env.allocator, made->epoch, sizeof *made->epoch);
        mem_free(env.allocator, made, sizeof *made);
        return error_no_memory(error);
    }
    memset(made->stats, 0, STATS_SHARDS * sizeof *made->stats);
    *db = made;
    return open_cache(made, options, error);
}

/* The directory's own name must outlive a power cut, also when an opening that was cut short had
 * made it. */
static enum petal_status
sync_parent(petal_db *db, petal_error *error)
{
    int failed = directory_sync_parent(&db->directory);

    return failed == 0
               ? PETAL_OK
               : error_unknown(error, db->directory.path, failed, "sync the directory that holds");
}

static void
note_data_file(void *argument, const char *name)
{
    uint64_t number, *found = argument;
    enum filename_kind kind = filename_parse(name, &number);

    if (kind == FILENAME_WAL || kind == FILENAME_STORE_FILE)
        (*found)++;
}

/* A directory with logs or store files has lost its manifest: they must not be taken for left-overs
 * of nothing. */
static enum petal_status
refuse_lost_manifest(petal_db *db, petal_error *error)
{
    char path[PETAL_PATH_BYTES];
    uint64_t found = 0;
    int failed = directory_list(&db->directory, note_data_file, &found);

    if (failed != 0)
        return error_io(error, db->directory.path, failed, "list directory");
    if (found == 0)
        return PETAL_OK;
    filename_manifest(path, db->directory.path);
    return error_corrupt(error, path, 0,
                         "%s is missing, but there are %llu logs and store files of a database; "
                         "kv-check salvage takes what there is",
                         path, (unsigned long long)found);
}

static enum petal_status
create_manifest(petal_db *db, petal_error *error)
{
    struct manifest_edit edit;
    enum petal_status status = refuse_lost_manifest(db, error);

    if (status == PETAL_OK)
        status = sync_parent(db, error);
    if (status == PETAL_OK)
        status = manifest_new(&db->manifest, &db->directory, env_random(&db->env),
                              env_random(&db->env), error);
    if (status != PETAL_OK)
        return status;
    manifest_edit_init(&edit, db->env.allocator);
    /* An edit that lacks it for want of memory is refused. */
    manifest_edit_counters(&edit, 0, CELL_SEQUENCE_FIRST - 1, 0);
    status = manifest_commit(db->manifest, &edit, error);
    manifest_edit_fini(&edit);
    return status;
}

static enum petal_status
load_manifest(petal_db *db, const petal_options *options, petal_error *error)
{
    enum petal_status status = db->read_only
                                   ? manifest_load_live(&db->manifest, &db->directory, error)
                                   : manifest_load(&db->manifest, &db->directory, error);

    if (status == PETAL_OK && options->error_if_exists)
        return error_file(error, PETAL_EXISTS, db->directory.path, "%s holds a database already",
                          db->directory.path);
    return status == PETAL_NOT_FOUND && options->create ? create_manifest(db, error) : status;
}

static enum petal_status
start_threads(petal_db *db, petal_error *error)
{
    int failed = flusher_start(db);
    enum petal_status status;

    if (failed == 0)
        failed = wal_start(db);
    if (failed != 0)
        return error_io(error, db->directory.path, failed, "start a thread for");
    status = compactor_start(db, error);
    /* It may ask for compactions at once. */
    return status == PETAL_OK && !db->no_compaction ? region_keeper_start(db, error) : status;
}

/* What a full disk does not let go now goes later. */
static enum petal_status
expire_snapshots(petal_db *db, petal_error *error)
{
    enum petal_status status;

    mutex_lock(&db->capture_mutex);
    status = table_snapshot_expire(db, error);
    mutex_unlock(&db->capture_mutex);
    if (status != PETAL_NO_SPACE && status != PETAL_NO_MEMORY)
        return status;
    error_clear(error);
    return PETAL_OK;
}

static enum petal_status
refuse_nothing(const char *path, const petal_options *options, petal_error *error)
{
    return error_file(error, PETAL_NOT_FOUND, path, "there is no database in %s%s", path,
                      options->read_only ? "" : "; options.create makes one");
}

static enum petal_status
open_directory(petal_db *db, const char *path, const petal_options *options, petal_error *error)
{
    int failed = directory_open(&db->directory, &db->env, path, options->create);

    if (failed == ENOENT && !options->create)
        return refuse_nothing(path, options, error);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "open directory");
}

/* Among the readers; or alone, with an eye on them. A reader that finds no registry excludes
 * writers as the one lock lets it. */
static enum petal_status
take_place(petal_db *db, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (db->read_only)
        status = readers_join(&db->readers, &db->reading->joined, error);
    if (status == PETAL_OK && (!db->read_only || !db->reading->joined))
        status = opener_lock_take(&db->directory, db->read_only, &db->lock_file, error);
    if (status == PETAL_OK && !db->read_only)
        status = readers_watch(&db->readers, error);
    return status;
}

static enum petal_status
open_files(petal_db *db, const char *path, const petal_options *options, petal_error *error)
{
    enum petal_status status = open_directory(db, path, options, error);

    if (status != PETAL_OK)
        return status;
    if (!options->create) {
        /* Before the lock file is made: a directory without a database stays as it is. */
        status = manifest_check_exists(&db->directory, error);
        if (status == PETAL_NOT_FOUND && refuse_lost_manifest(db, NULL) == PETAL_CORRUPT)
            return refuse_lost_manifest(db, error);
        if (status == PETAL_NOT_FOUND)
            return refuse_nothing(path, options, error);
        if (status != PETAL_OK)
            return status;
    }
    status = take_place(db, error);
    if (status == PETAL_OK)
        status = load_manifest(db, options, error);
    if (status != PETAL_OK)
        return status;
    readers_note_state(&db->readers, db->manifest->number);
    db->identity = db->manifest->database_identity;
    db->salt = db->manifest->salt;
    db->schema.salt = db->salt;
    status = recovery_run(db, error);
    if (status == PETAL_OK && !options->read_only)
        status = expire_snapshots(db, error);
    if (status == PETAL_OK)
        status = db->read_only ? reading_begin(db, error) : start_threads(db, error);
    if (status == PETAL_OK && db->read_only && !db->reading->joined)
        status = opener_lock_confirm(&db->directory, db->lock_file, error);
    return status;
}

static void
free_tables(petal_table *table)
{
    while (table != NULL) {
        petal_table *next = table->next;

        table_free(table);
        table = next;
    }
}

/* Release everything; works from any point that opening reached. */
static void
db_free(petal_db *db)
{
    const petal_allocator *allocator;

    if (db == NULL)
        return;
    allocator = db->env.allocator;
    region_keeper_stop(db);
    compactor_stop(db);
    flusher_stop(db);
    wal_stop(db);
    compactor_free(db);
    flusher_fini(db);
    wal_close(db);
    reading_free(db);
    view_unref(atomic_load_explicit(&db->views.current, memory_order_relaxed));
    /* Nobody reads, so all views come out of the epoch; blocks of their files go back into it. */
    db_collect(db);
    epoch_fini(db->epoch);
    assert(atomic_load_explicit(&db->memory.memtables, memory_order_relaxed) == 0);
    assert(atomic_load_explicit(&db->memory.files, memory_order_relaxed) == 0);
    assert(atomic_load_explicit(&db->memory.bulks, memory_order_relaxed) == 0);
    cache_close(db->cache);
    free_tables(db->schema.tables);
    free_tables(db->schema.dropped);
    damage_free(&db->schema);
    number_map_fini(&db->schema.by_name, allocator);
    number_map_fini(&db->schema.by_id, allocator);
    manifest_free(db->manifest);
    readers_leave(&db->readers);
    if (db->lock_file != NULL)
        db->env.vfs->close(db->env.vfs->context, db->lock_file);
    directory_close(&db->directory);
    file_pool_fini(&db->open_files);
    fini_locks(db);
    pace_fini(db);
    wal_fini(db);
    mem_free(allocator, db->stats, STATS_SHARDS * sizeof *db->stats);
    mem_free(allocator, db->epoch, sizeof *db->epoch);
    mem_free(allocator, db, sizeof *db);
}

enum petal_status
petal_open(const char *directory, const petal_options *given, petal_db **db, petal_error *error)
{
    RETURN_IF_NULL(db, error);
    *db = NULL;
    RETURN_IF_NULL(directory, error);

    petal_options options;
    petal_db *made = NULL;
    enum petal_status status;

    error_clear(error);
    status = options_resolve(&options, given, error);
    if (status == PETAL_OK)
        status = db_new(&made, directory, &options, error);
    if (status == PETAL_OK)
        status = open_files(made, directory, &options, error);
    if (status != PETAL_OK) {
        db_free(made);
        return status;
    }
    error_clear(error); /* of what was tried in vain on the way */
    *db = made;
    return PETAL_OK;
}

/* PETAL_BUSY, with what is open: "1 cursor and 2 receipts". */
static enum petal_status
check_nothing_open(petal_db *db, petal_error *error)
{
    const struct {
        const char *name;
        uint32_t count;
    } kinds[] = {
#define OPEN_KIND(kind) {#kind, atomic_load_explicit(&db->open.kind, memory_order_acquire)},
        DB_OPEN_KINDS(OPEN_KIND)
#undef OPEN_KIND
    };
    size_t named = 0, left = 0, used = 0;
    char list[160];

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        left += kinds[i].count > 0;
    if (left == 0)
        return PETAL_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].count == 0)
            continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%u %s%s",
                                 named == 0  ? ""
                                 : left == 1 ? " and "
                                             : ", ",
                                 kinds[i].count, kinds[i].name, kinds[i].count == 1 ? "" : "s");
        named++;
        left--;
    }
    return error_file(error, PETAL_BUSY, db->directory.path,
                      "the database %s is in use: %s must be closed first", db->directory.path,
                      list);
}

enum petal_status
petal_close(petal_db *db, petal_error *error)
{
    enum petal_status status;

    error_clear(error);
    /* Of another process nothing is released: threads that are not here may have been changing it
     * when that forked. */
    if (db == NULL || db_is_of_another_process(db))
        return PETAL_OK;
    status = check_nothing_open(db, error);
    if (status != PETAL_OK)
        return status;
    if (!db->read_only) {
        region_keeper_stop(db);
        compactor_stop(db);
    }
    pace_close(db);
    status = db->read_only ? PETAL_OK : flush_and_wait(db, NULL, 0, error);
    db_free(db);
    return status;
}
