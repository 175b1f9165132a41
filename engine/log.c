/* log.c -- see log.h. */
#include "engine/log.h"

#include <time.h>

#include "engine/write.h"

/* A number for a new log, noted in the same breath: a flush that looks now must not take the log for one that is gone. */
static uint64_t
begin_log(petal_db *db)
{
    uint64_t number;

    pthread_mutex_lock(&db->log_mutex);
    number = db_take_file_number(db);
    db->log_in_making = number;
    pthread_mutex_unlock(&db->log_mutex);
    return number;
}

static enum petal_status
create_log(petal_db *db, petal_error *error)
{
    uint64_t number = begin_log(db);
    struct wal_identity identity = {
        .database_identity = db->identity,
        .number = number,
        .predecessor_number = db->predecessor_number,
        .predecessor_length = db->predecessor_length,
        .predecessor_last_sequence = db->predecessor_last_sequence,
    };
    char path[PETAL_PATH_BYTES];
    struct wal *wal;
    enum petal_status status;

    filename_log(path, db->directory, number);
    status = wal_create(&wal, &db->env, path, &identity, error);
    if (status == PETAL_OK) {
        status = db_sync_directory(db, error);
        if (status != PETAL_OK) {
            wal_close(wal);
            wal = NULL;
        }
    }
    pthread_mutex_lock(&db->log_mutex);
    db->wal = wal;
    db->log_in_making = 0;
    pthread_mutex_unlock(&db->log_mutex);
    return status;
}

enum petal_status
log_current(petal_db *db, struct wal **wal, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (db->wal == NULL)
        status = create_log(db, error);
    *wal = db->wal;
    return status;
}

static enum petal_status
sync_counted(petal_db *db, struct wal *wal, petal_error *error)
{
    STATS_ADD_SHARED(db, log_syncs, 1);
    return wal_sync(wal, error);
}

/* The last completed sync is older than two intervals, or one that runs takes longer than an interval. */
static bool
sync_is_overdue(petal_db *db, int64_t now_ms)
{
    int64_t interval = db->log_sync_interval_ms;
    int64_t since = atomic_load_explicit(&db->unsynced_since_ms, memory_order_relaxed);
    int64_t started = atomic_load_explicit(&db->sync_started_ms, memory_order_relaxed);

    if (db->log_sync_interval_ms == PETAL_NEVER)
        return false;
    return (since != 0 && now_ms - since > 2 * interval) ||
           (started != 0 && now_ms - started > interval);
}

enum petal_status
log_commit(petal_db *db, enum petal_durability durability, int64_t now_ms, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    uint64_t stored;

    if (durability == PETAL_SKIP_WAL)
        return PETAL_OK;
    if (atomic_load_explicit(&db->unsynced_since_ms, memory_order_relaxed) == 0)
        atomic_store_explicit(&db->unsynced_since_ms, now_ms, memory_order_relaxed);
    if (durability == PETAL_ASYNC_WAL && wal_buffered_bytes(db->wal) < LOG_ASYNC_BUFFER_BYTES)
        return PETAL_OK;
    stored = wal_length(db->wal);
    status = wal_store(db->wal, error);
    STATS_ADD_SHARED(db, log_bytes, wal_length(db->wal) - stored);
    if (status != PETAL_OK)
        return status;
    if (durability == PETAL_FSYNC_WAL || sync_is_overdue(db, now_ms)) {
        status = sync_counted(db, db->wal, error);
        if (status == PETAL_OK)
            atomic_store_explicit(&db->unsynced_since_ms, 0, memory_order_relaxed);
    }
    return status;
}

enum petal_status
log_add_closed(petal_db *db, uint64_t number, uint64_t last_sequence, uint64_t length)
{
    void *array;
    bool grown;

    pthread_mutex_lock(&db->log_mutex);
    array = db->closed_logs;
    grown = mem_grow(db->env.allocator, &array, &db->closed_log_capacity, db->closed_log_count,
                     db->closed_log_count + 1, sizeof *db->closed_logs);
    db->closed_logs = array;
    if (grown)
        db->closed_logs[db->closed_log_count++] =
            (struct closed_log){number, last_sequence, length};
    pthread_mutex_unlock(&db->log_mutex);
    return grown ? PETAL_OK : PETAL_NO_MEMORY;
}

/* Store and sync all of a log; one that dies of it turns the database read-only. */
static enum petal_status
finish_log(petal_db *db, struct wal *wal, petal_error *error)
{
    petal_error cause;
    enum petal_status status;

    error_clear(&cause);
    status = wal_store(wal, &cause);
    if (status == PETAL_OK)
        status = sync_counted(db, wal, &cause);
    if (status == PETAL_OK)
        return PETAL_OK;
    if (wal_is_dead(wal))
        db_fail(db, &cause);
    if (error != NULL)
        *error = cause;
    return status;
}

enum petal_status
log_rotate(petal_db *db, petal_error *error)
{
    struct wal *wal = db->wal;
    enum petal_status status;

    if (wal == NULL)
        return PETAL_OK;
    status = finish_log(db, wal, error);
    if (status == PETAL_OK &&
        log_add_closed(db, wal_number(wal), wal_stored_sequence(wal), wal_length(wal)) != PETAL_OK)
        return error_no_memory(error);
    if (status != PETAL_OK)
        return status;
    atomic_store_explicit(&db->unsynced_since_ms, 0, memory_order_relaxed);
    db->predecessor_number = wal_number(wal);
    db->predecessor_length = wal_length(wal);
    db->predecessor_last_sequence = wal_stored_sequence(wal);
    pthread_mutex_lock(&db->log_mutex);
    db->wal = NULL;
    pthread_mutex_unlock(&db->log_mutex);
    wal_close(wal);
    return PETAL_OK;
}

uint64_t
log_oldest_open(petal_db *db)
{
    uint64_t oldest;

    pthread_mutex_lock(&db->log_mutex);
    if (db->wal != NULL)
        oldest = wal_number(db->wal);
    else if (db->log_in_making != 0)
        oldest = db->log_in_making;
    else
        oldest = db_next_file_number(db);
    pthread_mutex_unlock(&db->log_mutex);
    return oldest;
}

uint64_t
log_oldest_needed(petal_db *db, uint64_t oldest_open, uint64_t oldest_unflushed)
{
    uint64_t oldest = oldest_open;

    if (db->recovering)
        return db->manifest->oldest_log;
    pthread_mutex_lock(&db->log_mutex);
    for (size_t i = 0; i < db->closed_log_count && db->closed_logs[i].number < oldest; i++) {
        if (db->closed_logs[i].last_sequence >= oldest_unflushed)
            oldest = db->closed_logs[i].number;
    }
    pthread_mutex_unlock(&db->log_mutex);
    return oldest;
}

struct wal_promise
log_promise(petal_db *db)
{
    struct wal_promise promise = {0, 0};

    pthread_mutex_lock(&db->log_mutex);
    if (db->closed_log_count > 0) {
        const struct closed_log *newest = &db->closed_logs[db->closed_log_count - 1];

        promise = (struct wal_promise){newest->number, newest->length};
    }
    pthread_mutex_unlock(&db->log_mutex);
    return promise;
}

void
log_remove_below(petal_db *db, uint64_t oldest)
{
    size_t gone = 0;

    pthread_mutex_lock(&db->log_mutex);
    while (gone < db->closed_log_count && db->closed_logs[gone].number < oldest) {
        char path[PETAL_PATH_BYTES];
        int failed;

        filename_log(path, db->directory, db->closed_logs[gone].number);
        failed = db->env.vfs->remove(db->env.vfs->context, path);
        if (failed != 0)
            env_log(&db->env, PETAL_LOG_WARNING, "cannot remove flushed log %s: error %d", path,
                    failed);
        gone++;
    }
    db->closed_log_count -= gone;
    if (gone > 0)
        memmove(db->closed_logs, db->closed_logs + gone,
                db->closed_log_count * sizeof *db->closed_logs);
    pthread_mutex_unlock(&db->log_mutex);
}

uint64_t
log_kept_bytes(petal_db *db)
{
    uint64_t bytes = db->wal != NULL ? wal_length(db->wal) : 0;

    pthread_mutex_lock(&db->log_mutex);
    for (size_t i = 0; i < db->closed_log_count; i++)
        bytes += db->closed_logs[i].length;
    pthread_mutex_unlock(&db->log_mutex);
    return bytes;
}

/* Store what ASYNC_WAL writes left in the buffer, then sync. */
static void
sync_in_background(petal_db *db)
{
    petal_error error;
    enum petal_status status = PETAL_OK;
    struct write_place place;
    bool full = false;

    write_lead_alone(db, &place);
    if (db->wal != NULL) {
        status = wal_store(db->wal, &error);
        full = status != PETAL_OK && !wal_is_dead(db->wal);
    }
    /* Cleared before the sync: what is stored from here on is not covered by it. Kept when the disk is full, for another try. */
    if (full)
        status = PETAL_OK;
    else
        atomic_store_explicit(&db->unsynced_since_ms, 0, memory_order_relaxed);
    write_lead_end(db, &place);

    atomic_store_explicit(&db->sync_started_ms, env_clock_ms(&db->env), memory_order_relaxed);
    pthread_mutex_lock(&db->log_mutex);
    if (status == PETAL_OK && db->wal != NULL)
        status = sync_counted(db, db->wal, &error);
    pthread_mutex_unlock(&db->log_mutex);
    atomic_store_explicit(&db->sync_started_ms, 0, memory_order_relaxed);
    if (status != PETAL_OK)
        db_fail(db, &error);
}

void *
log_sync_thread(void *argument)
{
    petal_db *db = argument;

    pthread_mutex_lock(&db->flush_mutex);
    while (!db->stopping) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += db->log_sync_interval_ms / 1000;
        until.tv_nsec += (long)(db->log_sync_interval_ms % 1000) * 1000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&db->sync_wanted, &db->flush_mutex, &until);
        if (db->stopping ||
            atomic_load_explicit(&db->unsynced_since_ms, memory_order_relaxed) == 0 ||
            atomic_load_explicit(&db->failed, memory_order_relaxed))
            continue;
        pthread_mutex_unlock(&db->flush_mutex);
        sync_in_background(db);
        pthread_mutex_lock(&db->flush_mutex);
    }
    pthread_mutex_unlock(&db->flush_mutex);
    return NULL;
}
