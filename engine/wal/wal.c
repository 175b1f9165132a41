/* wal.c -- see engine/wal/wal.h. */
#include "engine/wal/wal.h"

#include "base/clock.h"

#include <assert.h>

#define COPY_BYTES ((size_t)64 << 10)

/* ---- the current log and the spare ---- */

/* A number for a new log, noted in the same breath: a flush that looks now must not take the log for one that is gone. */
static uint64_t
begin_log(petal_db *db)
{
    uint64_t number;

    mutex_lock(&db->log_mutex);
    number = db_take_file_number(db);
    db->log_in_making = number;
    mutex_unlock(&db->log_mutex);
    return number;
}

/* An empty log with its name on the medium; NULL after a failure. */
static enum petal_status
make_log(petal_db *db, uint64_t number, struct wal_file **wal, petal_error *error)
{
    char path[PETAL_PATH_BYTES];
    enum petal_status status;

    filename_log(path, db->directory.path, number);
    status = wal_file_create(wal, &db->directory, path, number, db->no_log_mapping, error);
    if (status != PETAL_OK)
        return status;
    status = db_sync_directory(db, error);
    if (status != PETAL_OK) {
        wal_file_close(*wal);
        *wal = NULL;
    }
    return status;
}

/* Close a log in which there is nothing, and remove its file. */
static void
discard_log(petal_db *db, struct wal_file *wal)
{
    char path[PETAL_PATH_BYTES];
    int failed;

    filename_log(path, db->directory.path, wal_file_number(wal));
    wal_file_close(wal);
    failed = directory_remove(&db->directory, path);
    if (failed != 0)
        env_log(&db->env, PETAL_LOG_WARNING, "cannot remove unused log %s: error %d", path, failed);
}

static bool
take_spare(petal_db *db)
{
    mutex_lock(&db->log_mutex);
    db->wal = db->spare_log;
    db->spare_log = NULL;
    if (db->wal != NULL)
        db->newest_log = wal_file_number(db->wal);
    mutex_unlock(&db->log_mutex);
    return db->wal != NULL;
}

static enum petal_status
create_log(petal_db *db, petal_error *error)
{
    uint64_t number = begin_log(db);
    struct wal_file *wal = NULL;
    enum petal_status status = make_log(db, number, &wal, error);

    mutex_lock(&db->log_mutex);
    db->wal = wal;
    db->log_in_making = 0;
    if (wal != NULL)
        db->newest_log = number;
    mutex_unlock(&db->log_mutex);
    return status;
}

/* How far the predecessor of the next log is synced; one that is gone needs no promise. */
static uint64_t
predecessor_synced(petal_db *db)
{
    uint64_t synced = 0;

    mutex_lock(&db->log_mutex);
    for (size_t i = 0; i < db->closed_log_count; i++) {
        const struct closed_log *closed = &db->closed_logs[i];

        if (closed->number == db->predecessor_number)
            synced = closed->wal != NULL ? wal_file_synced_length(closed->wal) : closed->length;
    }
    mutex_unlock(&db->log_mutex);
    return synced;
}

enum petal_status
wal_current(petal_db *db, struct wal_file **wal, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert_leads(db);
    if (db->wal == NULL) {
        if (!take_spare(db))
            status = create_log(db, error);
        if (status == PETAL_OK) {
            struct wal_identity identity = {
                .database_identity = db->identity,
                .number = wal_file_number(db->wal),
                .predecessor_number = db->predecessor_number,
                .predecessor_length = db->predecessor_length,
                .predecessor_synced = predecessor_synced(db),
                .predecessor_last_sequence = db->predecessor_last_sequence,
            };

            wal_file_identify(db->wal, &identity);
            db->spare_asked = false;
        }
    }
    *wal = db->wal;
    return status;
}

/* The number of a spare to make; 0: none is wanted. */
static uint64_t
begin_spare(petal_db *db)
{
    uint64_t number = 0;

    mutex_lock(&db->log_mutex);
    if (db->wal != NULL && db->spare_log == NULL && db->spare_in_making == 0 &&
        !atomic_load_explicit(&db->failed, memory_order_relaxed))
        number = db->spare_in_making = db_take_file_number(db);
    mutex_unlock(&db->log_mutex);
    return number;
}

void
wal_make_spare(petal_db *db)
{
    uint64_t number = begin_spare(db);
    struct wal_file *wal = NULL;
    petal_error error;

    if (number == 0)
        return;
    if (make_log(db, number, &wal, &error) != PETAL_OK)
        env_log(&db->env, PETAL_LOG_INFO, "no log was made ahead: %s", error.text);
    mutex_lock(&db->log_mutex);
    db->spare_in_making = 0;
    /* While it was made the leader may have needed one and made a newer one: logs are in order of their numbers. */
    if (wal != NULL && db->log_in_making == 0 && number > db->newest_log) {
        db->spare_log = wal;
        wal = NULL;
    }
    mutex_unlock(&db->log_mutex);
    if (wal != NULL)
        discard_log(db, wal);
}

void
wal_ask_for_spare(petal_db *db)
{
    assert_leads(db);
    if (db->wal == NULL || db->spare_asked)
        return;
    db->spare_asked = true;
    mutex_lock(&db->flush_mutex);
    db->spare_wanted = true;
    pthread_cond_signal(&db->sync_wanted);
    mutex_unlock(&db->flush_mutex);
}

void
wal_close(petal_db *db)
{
    if (db->spare_log != NULL)
        discard_log(db, db->spare_log);
    if (db->wal != NULL && wal_file_is_empty(db->wal))
        discard_log(db, db->wal);
    else
        wal_file_close(db->wal);
    for (size_t i = 0; i < db->closed_log_count; i++)
        wal_file_close(db->closed_logs[i].wal);
    mem_free(db->env.allocator, db->closed_logs, db->closed_log_capacity * sizeof *db->closed_logs);
}

/* ---- store and sync ---- */

static enum petal_status
sync_counted(petal_db *db, struct wal_file *wal, petal_error *error)
{
    if (wal_file_synced_length(wal) < wal_file_length(wal))
        STATS_ADD_SHARED(db, log_syncs, 1);
    return wal_file_sync(wal, error);
}

/* The oldest log below `below` that is closed and not known to be synced; NULL: there is none. */
static struct wal_file *
oldest_unsynced(petal_db *db, uint64_t below)
{
    struct wal_file *wal = NULL;

    mutex_lock(&db->log_mutex);
    for (size_t i = 0; wal == NULL && i < db->closed_log_count; i++) {
        if (db->closed_logs[i].number < below)
            wal = db->closed_logs[i].wal;
    }
    mutex_unlock(&db->log_mutex);
    return wal;
}

static void
note_synced(petal_db *db, struct wal_file *wal)
{
    mutex_lock(&db->log_mutex);
    for (size_t i = 0; i < db->closed_log_count; i++) {
        if (db->closed_logs[i].wal == wal)
            db->closed_logs[i].wal = NULL;
    }
    mutex_unlock(&db->log_mutex);
    wal_file_close(wal);
}

/* REQUIRES: log_sync_mutex held, so that no one else closes what is synced here. */
static enum petal_status
sync_closed_below(petal_db *db, uint64_t below, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK) {
        struct wal_file *wal = oldest_unsynced(db, below);

        if (wal == NULL)
            break;
        status = sync_counted(db, wal, error);
        if (status == PETAL_OK)
            note_synced(db, wal);
    }
    return status;
}

/* All closed logs are below. REQUIRES: log_mutex held. */
static uint64_t
closed_end(const petal_db *db)
{
    return db->closed_log_count == 0 ? 0 : db->closed_logs[db->closed_log_count - 1].number + 1;
}

enum petal_status
wal_sync_closed(petal_db *db, petal_error *error)
{
    petal_error cause;
    enum petal_status status;
    uint64_t end;

    mutex_lock(&db->log_mutex);
    end = closed_end(db);
    mutex_unlock(&db->log_mutex);
    mutex_lock(&db->log_sync_mutex);
    status = sync_closed_below(db, end, &cause);
    mutex_unlock(&db->log_sync_mutex);
    if (status == PETAL_OK)
        return PETAL_OK;
    db_fail(db, &cause);
    if (error != NULL)
        *error = cause;
    return status;
}

/*
 * Sync all that is stored: the current log, after those closed before it. It stays open meanwhile, for when the leader closes it, it
 * is one of the closed logs, and those are freed under log_sync_mutex only.
 */
static enum petal_status
sync_all(petal_db *db, petal_error *error)
{
    struct wal_file *wal;
    enum petal_status status;
    uint64_t end;

    mutex_lock(&db->log_sync_mutex);
    mutex_lock(&db->log_mutex);
    wal = db->wal;
    end = closed_end(db);
    mutex_unlock(&db->log_mutex);
    status = sync_closed_below(db, end, error);
    if (wal != NULL && status == PETAL_OK)
        status = sync_counted(db, wal, error);
    else if (wal != NULL)
        wal_file_condemn(wal, error); /* it may never be synced */
    mutex_unlock(&db->log_sync_mutex);
    if (status != PETAL_OK)
        db_fail(db, error);
    return status;
}

/* Between two readings of the wall clock, which may have been set back: then it counts as much as if it had been set forward. */
static int64_t
time_between(int64_t since_ms, int64_t now_ms)
{
    return now_ms > since_ms ? now_ms - since_ms : since_ms - now_ms;
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
    return (since != 0 && time_between(since, now_ms) > 2 * interval) ||
           (started != 0 && time_between(started, now_ms) > interval);
}

enum petal_status
wal_commit(petal_db *db, enum petal_durability durability, int64_t now_ms, petal_error *error)
{
    uint64_t stored;
    enum petal_status status;

    assert_leads(db);
    if (durability == PETAL_SKIP_WAL)
        return PETAL_OK;
    stored = wal_file_length(db->wal);
    status = wal_file_store(db->wal, error);
    STATS_ADD_LEADER(db, log_bytes, wal_file_length(db->wal) - stored);
    if (status != PETAL_OK)
        return status;
    /*
     * Something is stored that may not be synced yet. The WAL thread clears the time, then looks how much is stored. Nothing is
     * added to the time, but both have changed one word: so that thread looks behind the store, or the time is seen cleared here.
     */
    if (atomic_fetch_add_explicit(&db->unsynced_since_ms, 0, memory_order_acq_rel) == 0)
        atomic_store_explicit(&db->unsynced_since_ms, now_ms, memory_order_relaxed);
    if (durability != PETAL_FSYNC_WAL && !sync_is_overdue(db, now_ms))
        return PETAL_OK;
    status = sync_all(db, error);
    if (status == PETAL_OK)
        atomic_store_explicit(&db->unsynced_since_ms, 0, memory_order_relaxed);
    return status;
}

enum petal_status
wal_sync_before(petal_db *db, petal_error *error)
{
    bool waiting;

    assert_leads(db);
    mutex_lock(&db->log_mutex);
    waiting = db->closed_log_count > 0 && db->closed_logs[db->closed_log_count - 1].wal != NULL;
    mutex_unlock(&db->log_mutex);
    return waiting ? sync_all(db, error) : PETAL_OK;
}

/* Room for one more closed log. */
static bool
reserve_closed(petal_db *db)
{
    void *array;
    bool grown;

    mutex_lock(&db->log_mutex);
    array = db->closed_logs;
    grown = mem_grow(db->env.allocator, &array, &db->closed_log_capacity, db->closed_log_count,
                     db->closed_log_count + 1, sizeof *db->closed_logs);
    db->closed_logs = array;
    mutex_unlock(&db->log_mutex);
    return grown;
}

enum petal_status
wal_rotate(petal_db *db, petal_error *error)
{
    struct wal_file *wal = db->wal;

    if (wal == NULL || wal_file_is_empty(wal))
        return PETAL_OK;
    if (!reserve_closed(db))
        return error_no_memory(error);
    db->predecessor_number = wal_file_number(wal);
    db->predecessor_length = wal_file_length(wal);
    db->predecessor_last_sequence = wal_file_stored_sequence(wal);
    mutex_lock(&db->log_mutex);
    db->closed_logs[db->closed_log_count++] = (struct closed_log){
        wal_file_number(wal), wal_file_stored_sequence(wal), wal_file_length(wal), wal};
    db->wal = NULL;
    mutex_unlock(&db->log_mutex);
    return PETAL_OK;
}

/* ---- logs that an opening keeps ---- */

/* Each byte as it is, up to `length`; then sync. */
static enum petal_status
write_again(petal_db *db, const char *path, petal_file *file, uint8_t *buffer, uint64_t length,
            petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    const char *action = "read";
    size_t got = 0;
    int failed = 0;

    for (uint64_t at = 0; failed == 0 && at < length; at += got) {
        size_t piece = length - at < COPY_BYTES ? (size_t)(length - at) : COPY_BYTES;

        action = "read";
        failed = vfs->read_at(vfs->context, file, at, buffer, piece, &got);
        if (failed == 0 && got != piece)
            return error_corrupt(error, path, at + got, "%s has become shorter", path);
        if (failed == 0) {
            action = "write to";
            failed = vfs->write_at(vfs->context, file, at, buffer, piece);
        }
    }
    if (failed != 0)
        return error_io(error, path, failed, action);
    failed = vfs->sync(vfs->context, file);
    return failed == 0 ? PETAL_OK : error_unknown(error, path, failed, "sync");
}

enum petal_status
wal_keep(petal_db *db, uint64_t number, uint64_t length, uint64_t last_sequence, petal_error *error)
{
    const petal_vfs *vfs = db->env.vfs;
    char path[PETAL_PATH_BYTES];
    uint8_t *buffer = mem_alloc(db->env.allocator, COPY_BYTES);
    petal_file *file;
    enum petal_status status;
    int failed;

    if (buffer == NULL || !reserve_closed(db)) {
        mem_free(db->env.allocator, buffer, COPY_BYTES);
        return error_no_memory(error);
    }
    filename_log(path, db->directory.path, number);
    failed = directory_open_file(&db->directory, path, PETAL_FILE_READ | PETAL_FILE_WRITE, &file);
    if (failed == 0) {
        status = write_again(db, path, file, buffer, length, error);
        vfs->close(vfs->context, file);
    } else {
        status = error_io(error, path, failed, "open");
    }
    mem_free(db->env.allocator, buffer, COPY_BYTES);
    if (status != PETAL_OK)
        return status;
    db->closed_logs[db->closed_log_count++] =
        (struct closed_log){number, last_sequence, length, NULL};
    db->predecessor_number = db->newest_log = number;
    db->predecessor_length = length;
    db->predecessor_last_sequence = last_sequence;
    return PETAL_OK;
}

/* ---- in the background ---- */

/* No leadership is needed: what was acknowledged comes to the medium while a leader waits for
 * memory. */
static void
sync_in_background(petal_db *db)
{
    petal_error error;

    /* Cleared before the sync: what is stored from here on is not covered by it. */
    atomic_exchange_explicit(&db->unsynced_since_ms, 0, memory_order_acq_rel);
    atomic_store_explicit(&db->sync_started_ms, env_clock_ms(&db->env), memory_order_relaxed);
    (void)sync_all(db, &error); /* what fails there ends writing */
    atomic_store_explicit(&db->sync_started_ms, 0, memory_order_relaxed);
}

/* The end of the interval that begins now. */
static uint64_t
interval_end(const petal_db *db)
{
    if (db->log_sync_interval_ms == PETAL_NEVER)
        return CLOCK_NEVER;
    return clock_us() + (uint64_t)db->log_sync_interval_ms * 1000;
}

void
wal_wake(void *argument)
{
    petal_db *db = argument;

    pthread_cond_signal(&db->sync_wanted);
}

/* Wait until there is something to do or the interval is over, true, which counts also when there
 * is always something to do. REQUIRES: flush_mutex held. */
static bool
wait_for_work(petal_db *db, uint64_t until)
{
    while (!db->spare_wanted && !db->stopping && clock_us() < until &&
           view_bin_is_empty(&db->view_bin))
        mutex_wait(&db->flush_mutex, &db->sync_wanted, until);
    return clock_us() >= until;
}

void *
log_thread(void *argument)
{
    petal_db *db = argument;
    uint64_t until = interval_end(db);

    mutex_lock(&db->flush_mutex);
    while (!db->stopping) {
        bool over = wait_for_work(db, until), spare = db->spare_wanted;

        db->spare_wanted = false;
        if (db->stopping)
            break;
        mutex_unlock(&db->flush_mutex);
        if (over && atomic_load_explicit(&db->unsynced_since_ms, memory_order_relaxed) != 0 &&
            !atomic_load_explicit(&db->failed, memory_order_relaxed))
            sync_in_background(db);
        if (over)
            until = interval_end(db);
        if (spare)
            wal_make_spare(db);
        view_bin_empty(&db->view_bin);
        mutex_lock(&db->flush_mutex);
    }
    mutex_unlock(&db->flush_mutex);
    return NULL;
}
