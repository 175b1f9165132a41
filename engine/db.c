/* db.c -- a database: opening, closing, the failed state, and what all parts share. */
#include "engine/db.h"

#include "engine/compact.h"
#include "engine/flush.h"
#include "engine/log.h"
#include "engine/options.h"
#include "engine/recovery.h"

#include <errno.h>

/* ---- texts ---- */

const char *
petal_status_text(enum petal_status status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text)                                                             \
    case PETAL_##name:                                                                             \
        return text;
        PETAL_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

const char *
petal_skip_text(enum petal_skip skip)
{
    static const char *const texts[PETAL_SKIP_COUNT] = {
        [PETAL_SKIP_NONE] = "read",           [PETAL_SKIP_FOUND_NEWER] = "found newer",
        [PETAL_SKIP_ROW_RANGE] = "row range", [PETAL_SKIP_TIME_RANGE] = "time range",
        [PETAL_SKIP_EXPIRED] = "expired",     [PETAL_SKIP_COLUMNS] = "columns",
        [PETAL_SKIP_BLOOM] = "Bloom filter",
    };

    return (unsigned)skip < PETAL_SKIP_COUNT ? texts[skip] : "unknown reason";
}

/* ---- failure ---- */

void
db_fail(petal_db *db, const petal_error *cause)
{
    bool first;

    pthread_mutex_lock(&db->failure_mutex);
    first = !atomic_load_explicit(&db->failed, memory_order_relaxed);
    if (first) {
        db->failure = *cause;
        atomic_store_explicit(&db->failed, true, memory_order_release);
    }
    pthread_mutex_unlock(&db->failure_mutex);
    if (!first)
        return;
    env_log(&db->env, PETAL_LOG_ERROR, "the database is read-only from now on: %s", cause->text);
    pthread_mutex_lock(&db->flush_mutex);
    pthread_cond_broadcast(&db->flush_done);
    pthread_mutex_unlock(&db->flush_mutex);
}

enum petal_status
db_check_writable(petal_db *db, petal_error *error)
{
    if (!atomic_load_explicit(&db->failed, memory_order_acquire))
        return PETAL_OK;
    /* `failure` does not change once `failed` is seen. */
    error_file(error, PETAL_READ_ONLY, db->failure.file,
               "the database is read-only since a write failed: %s", db->failure.text);
    if (error != NULL) {
        error->os_error = db->failure.os_error;
        error->offset = db->failure.offset;
    }
    return PETAL_READ_ONLY;
}

enum petal_status
db_sync_directory(petal_db *db, petal_error *error)
{
    int failed = db->env.vfs->sync_directory(db->env.vfs->context, db->directory);
    petal_error cause;

    if (failed == 0)
        return PETAL_OK;
    error_io(&cause, db->directory, failed, "sync directory");
    db_fail(db, &cause);
    if (error != NULL)
        *error = cause;
    return cause.status;
}

/* ---- views, files, counters ---- */

void
db_publish_view(petal_db *db, struct view *view)
{
    struct view *before = atomic_load_explicit(&db->view, memory_order_relaxed);

    atomic_store_explicit(&db->view, view, memory_order_release);
    if (before != NULL)
        epoch_retire(db->epoch, &before->retire);
}

enum petal_status
db_open_file(petal_db *db, const petal_family *family, const struct manifest_file *described,
             struct store_file **file, petal_error *error)
{
    struct sst_open_options options = {
        .file_number = described->number,
        .file_identity = described->identity,
        .cache = db->cache,
        .epoch = db->epoch,
        .in_memory = family_options(family)->in_memory,
        .no_block_cache = family_options(family)->no_block_cache,
    };
    char path[PETAL_PATH_BYTES];
    struct sst_reader *reader;
    const struct file_facts *facts;
    enum petal_status status;

    *file = NULL;
    filename_store_file(path, db->directory, described->number);
    status = sst_reader_open(&reader, &db->env, path, &options, error);
    if (status != PETAL_OK)
        return status;
    facts = sst_reader_facts(reader);
    if ((facts->bloom != PETAL_BLOOM_NONE && facts->salt != db->salt) ||
        facts->cells != described->cells || facts->sequence_max != described->sequence_max) {
        sst_reader_close(reader);
        return error_corrupt(error, path, 0, "%s is not the store file that the manifest describes",
                             path);
    }
    status = store_file_new(file, &db->env, db->cache, reader, described->number, described->run);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

void
db_edit_counters(petal_db *db, struct manifest_edit *edit)
{
    struct wal_promise promise = log_promise(db);

    /* Want of memory in an edit comes back from its commit. */
    manifest_edit_counters(edit, db_next_file_number(db),
                           atomic_load_explicit(&db->published_sequence, memory_order_acquire),
                           atomic_load_explicit(&db->published_timestamp, memory_order_acquire));
    if (promise.log_number != 0)
        manifest_edit_wal_promise(edit, promise);
}

enum petal_status
db_commit(petal_db *db, const struct manifest_edit *edit, petal_error *error)
{
    petal_error local;
    enum petal_status status = manifest_commit(db->manifest, edit, error != NULL ? error : &local);

    /* A refused edit changed nothing, nor did one for which there was no space. */
    if (status != PETAL_OK && status != PETAL_INVALID && status != PETAL_NO_MEMORY &&
        (status != PETAL_NO_SPACE || manifest_is_dead(db->manifest)))
        db_fail(db, error != NULL ? error : &local);
    return status;
}

/* ---- opening ---- */

static bool
init_locks(petal_db *db)
{
    pthread_mutex_t *const mutexes[] = {
        &db->log_mutex,   &db->ddl_mutex,     &db->manifest_mutex,  &db->view_mutex,
        &db->flush_mutex, &db->failure_mutex, &db->snapshots.mutex, &db->compact_mutex};

    for (size_t i = 0; i < sizeof mutexes / sizeof *mutexes; i++) {
        if (pthread_mutex_init(mutexes[i], NULL) != 0)
            return false;
    }
    return pthread_cond_init(&db->flush_wanted, NULL) == 0 &&
           pthread_cond_init(&db->flush_done, NULL) == 0 &&
           pthread_cond_init(&db->sync_wanted, NULL) == 0 && write_queue_init(&db->queue) &&
           row_locks_init(&db->row_locks);
}

static void
fini_locks(petal_db *db)
{
    pthread_mutex_t *const mutexes[] = {
        &db->log_mutex,   &db->ddl_mutex,     &db->manifest_mutex,  &db->view_mutex,
        &db->flush_mutex, &db->failure_mutex, &db->snapshots.mutex, &db->compact_mutex};

    for (size_t i = 0; i < sizeof mutexes / sizeof *mutexes; i++)
        pthread_mutex_destroy(mutexes[i]);
    pthread_cond_destroy(&db->flush_wanted);
    pthread_cond_destroy(&db->flush_done);
    pthread_cond_destroy(&db->sync_wanted);
    write_queue_fini(&db->queue);
    row_locks_fini(&db->row_locks);
}

/* The struct with everything that needs no file. */
static enum petal_status
db_new(petal_db **db, const char *directory, const petal_options *options, petal_error *error)
{
    struct env env;
    petal_db *made;
    enum petal_status status;

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
    memcpy(made->directory, directory, strlen(directory) + 1);
    made->memtable_bytes = options->memtable_bytes;
    made->log_sync_interval_ms = options->log_sync_interval_ms;
    made->durability = options->durability;
    made->compact_file_bytes = COMPACT_FILE_BYTES;
    made->epoch = mem_alloc_aligned(env.allocator, CACHE_LINE_BYTES, sizeof *made->epoch);
    made->stats =
        mem_alloc_aligned(env.allocator, CACHE_LINE_BYTES, STATS_SHARDS * sizeof *made->stats);
    if (made->epoch == NULL || made->stats == NULL || !init_locks(made) ||
        epoch_init(made->epoch) != PETAL_OK) {
        mem_free(env.allocator, made->stats, STATS_SHARDS * sizeof *made->stats);
        mem_free(env.allocator, made->epoch, sizeof *made->epoch);
        mem_free(env.allocator, made, sizeof *made);
        return error_no_memory(error);
    }
    memset(made->stats, 0, STATS_SHARDS * sizeof *made->stats);
    *db = made;
    status = cache_open(&made->cache, made->env.allocator, made->epoch, options->cache_bytes, 0);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

/* One opener at a time: the lock lies on a file of its own, which is never removed. */
static enum petal_status
take_lock(petal_db *db, petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    char path[PETAL_PATH_BYTES];
    int failed;

    filename_lock(path, db->directory);
    failed = vfs->open(vfs->context, path, PETAL_FILE_WRITE | PETAL_FILE_CREATE, &db->lock_file);
    if (failed != 0)
        return error_io(error, path, failed, "open");
    failed = vfs->lock(vfs->context, db->lock_file);
    if (failed == EAGAIN)
        return error_file(error, PETAL_BUSY, path, "%s is locked: the database is open elsewhere",
                          path);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "lock");
}

/* The directory's own name must outlive a power cut, also when an opening that was cut short had made it. */
static enum petal_status
sync_parent(petal_db *db, petal_error *error)
{
    char path[PETAL_PATH_BYTES];
    int failed;

    filename_parent(path, db->directory);
    failed = db->env.vfs->sync_directory(db->env.vfs->context, path);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "sync directory");
}

static void
note_data_file(void *argument, const char *name)
{
    uint64_t number, *found = argument;
    enum filename_kind kind = filename_parse(name, &number);

    if (kind == FILENAME_LOG || kind == FILENAME_STORE_FILE)
        (*found)++;
}

/* A directory with logs or store files has lost its manifest: they must not be taken for left-overs of nothing. */
static enum petal_status
refuse_lost_manifest(petal_db *db, petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    char path[PETAL_PATH_BYTES];
    uint64_t found = 0;
    int failed = vfs->list_directory(vfs->context, db->directory, note_data_file, &found);

    if (failed != 0 && failed != ENOENT)
        return error_io(error, db->directory, failed, "list directory");
    if (found == 0)
        return PETAL_OK;
    filename_manifest(path, db->directory);
    return error_corrupt(error, path, 0,
                         "%s is missing, but there are %llu logs and store files of a database",
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
        status = manifest_new(&db->manifest, &db->env, db->directory, env_random(&db->env),
                              env_random(&db->env), error);
    if (status != PETAL_OK)
        return status;
    manifest_edit_init(&edit, db->env.allocator);
    status = manifest_commit(db->manifest, &edit, error);
    manifest_edit_fini(&edit);
    return status;
}

static enum petal_status
load_manifest(petal_db *db, const petal_options *options, petal_error *error)
{
    enum petal_status status = manifest_load(&db->manifest, &db->env, db->directory, error);

    if (status == PETAL_OK && options->error_if_exists)
        return error_file(error, PETAL_EXISTS, db->directory, "%s holds a database already",
                          db->directory);
    return status == PETAL_NOT_FOUND && options->create ? create_manifest(db, error) : status;
}

static enum petal_status
start_threads(petal_db *db, petal_error *error)
{
    int failed = pthread_create(&db->flush_thread, NULL, flush_thread, db);

    db->flush_thread_started = failed == 0;
    if (failed == 0 && db->log_sync_interval_ms != PETAL_NEVER) {
        failed = pthread_create(&db->sync_thread, NULL, log_sync_thread, db);
        db->sync_thread_started = failed == 0;
    }
    return failed == 0 ? PETAL_OK : error_io(error, db->directory, failed, "start a thread for");
}

static enum petal_status
open_files(petal_db *db, const petal_options *options, petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    enum petal_status status;

    if (options->create) {
        int failed = vfs->make_directory(vfs->context, db->directory);

        if (failed != 0 && failed != EEXIST)
            return error_io(error, db->directory, failed, "make directory");
    }
    if (!options->create) {
        /* Before the lock file is made: a directory without a database stays as it is. */
        status = manifest_check_exists(&db->env, db->directory, error);
        if (status == PETAL_NOT_FOUND && refuse_lost_manifest(db, NULL) == PETAL_CORRUPT)
            return refuse_lost_manifest(db, error);
        if (status != PETAL_OK)
            return status;
    }
    status = take_lock(db, error);
    if (status == PETAL_OK)
        status = load_manifest(db, options, error);
    if (status != PETAL_OK)
        return status;
    db->identity = db->manifest->database_identity;
    db->salt = db->manifest->salt;
    status = recovery_run(db, error);
    if (status == PETAL_OK)
        status = start_threads(db, error);
    return status;
}

static void
stop_threads(petal_db *db)
{
    pthread_mutex_lock(&db->flush_mutex);
    db->stopping = true;
    pthread_cond_broadcast(&db->flush_wanted);
    pthread_cond_broadcast(&db->sync_wanted);
    pthread_mutex_unlock(&db->flush_mutex);
    if (db->flush_thread_started)
        pthread_join(db->flush_thread, NULL);
    if (db->sync_thread_started)
        pthread_join(db->sync_thread, NULL);
}

/* Release everything; works from any point that opening reached. */
static void
db_free(petal_db *db)
{
    const petal_allocator *allocator;

    if (db == NULL)
        return;
    allocator = db->env.allocator;
    stop_threads(db);
    while (db->flush_oldest != NULL) {
        struct flush_job *job = db->flush_oldest;

        db->flush_oldest = job->next;
        flush_job_free(db, job);
    }
    wal_close(db->wal);
    mem_free(allocator, db->closed_logs, db->closed_log_capacity * sizeof *db->closed_logs);
    view_unref(atomic_load_explicit(&db->view, memory_order_relaxed));
    epoch_fini(db->epoch);
    cache_close(db->cache);
    while (db->tables != NULL) {
        petal_table *table = db->tables;

        db->tables = table->next;
        table_free(table);
    }
    while (db->key_values != NULL) {
        petal_kv *kv = db->key_values;

        db->key_values = kv->next;
        mem_free(allocator, kv, sizeof *kv);
    }
    manifest_free(db->manifest);
    if (db->lock_file != NULL)
        db->env.vfs->close(db->env.vfs->context, db->lock_file);
    fini_locks(db);
    mem_free(allocator, db->stats, STATS_SHARDS * sizeof *db->stats);
    mem_free(allocator, db->epoch, sizeof *db->epoch);
    mem_free(allocator, db, sizeof *db);
}

enum petal_status
petal_open(const char *directory, const petal_options *given, petal_db **db, petal_error *error)
{
    petal_options options;
    petal_db *made = NULL;
    enum petal_status status;

    *db = NULL;
    error_clear(error);
    status = options_resolve(&options, given, error);
    if (status == PETAL_OK)
        status = db_new(&made, directory, &options, error);
    if (status == PETAL_OK)
        status = open_files(made, &options, error);
    if (status != PETAL_OK) {
        db_free(made);
        return status;
    }
    *db = made;
    return PETAL_OK;
}

enum petal_status
petal_close(petal_db *db, petal_error *error)
{
    enum petal_status status;

    error_clear(error);
    if (db == NULL)
        return PETAL_OK;
    status = flush_and_wait(db, NULL, error);
    db_free(db);
    return status;
}

enum petal_status
petal_flush(petal_db *db, petal_table *table, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    error_clear(error);
    if (table != NULL)
        status = table_check_alive(table, error);
    return status == PETAL_OK ? flush_and_wait(db, table, error) : status;
}

/* ---- statistics ---- */

void
petal_stats_get(petal_db *db, petal_stats *stats)
{
    struct cache_usage usage;

    memset(stats, 0, sizeof *stats);
    for (size_t i = 0; i < STATS_SHARDS; i++) {
#define STATS_SUM(name, meaning)                                                                   \
    stats->name += atomic_load_explicit(&db->stats[i].name, memory_order_relaxed);
        PETAL_STATS_MAP(STATS_SUM)
#undef STATS_SUM
    }
    cache_usage_get(db->cache, &usage);
    stats->cache_capacity = usage.capacity;
    for (int kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        stats->cache_bytes[kind] = usage.bytes[kind];
        stats->cache_blocks[kind] = usage.blocks[kind];
        stats->cache_inserted[kind] = usage.inserted[kind];
        stats->cache_evicted[kind] = usage.evicted[kind];
    }
}
