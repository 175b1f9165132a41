/* kept.c -- which logs are there, which of them may go, and their removal; see engine/wal/wal.h. */
#include "engine/wal/wal.h"

#include <assert.h>

static void
lower(uint64_t *oldest, uint64_t number)
{
    if (number != 0 && number < *oldest)
        *oldest = number;
}

uint64_t
wal_oldest_open(petal_db *db)
{
    uint64_t oldest;

    mutex_lock(&db->log_mutex);
    oldest = db_next_file_number(db);
    lower(&oldest, db->log_in_making);
    lower(&oldest, db->spare_in_making);
    if (db->wal != NULL)
        lower(&oldest, wal_file_number(db->wal));
    if (db->spare_log != NULL)
        lower(&oldest, wal_file_number(db->spare_log));
    mutex_unlock(&db->log_mutex);
    return oldest;
}

uint64_t
wal_oldest_needed(petal_db *db, uint64_t oldest_open, uint64_t oldest_unflushed)
{
    uint64_t oldest = oldest_open;

    if (db->recovering)
        return db->manifest->oldest_log;
    mutex_lock(&db->log_mutex);
    for (size_t i = 0; i < db->closed_log_count && db->closed_logs[i].number < oldest; i++) {
        if (db->closed_logs[i].wal != NULL || db->closed_logs[i].last_sequence >= oldest_unflushed)
            oldest = db->closed_logs[i].number;
    }
    mutex_unlock(&db->log_mutex);
    return oldest;
}

struct wal_promise
log_promise(petal_db *db)
{
    struct wal_promise promise = {0, 0};

    mutex_lock(&db->log_mutex);
    for (size_t i = 0; i < db->closed_log_count && db->closed_logs[i].wal == NULL; i++)
        promise = (struct wal_promise){db->closed_logs[i].number, db->closed_logs[i].length};
    mutex_unlock(&db->log_mutex);
    return promise;
}

/* Forget the oldest closed log, if it is below `below`; returns its number, else 0. */
static uint64_t
forget_closed(petal_db *db, uint64_t below)
{
    uint64_t number = 0;

    mutex_lock(&db->log_mutex);
    if (db->closed_log_count > 0 && db->closed_logs[0].number < below) {
        assert(db->closed_logs[0].wal == NULL); /* or it would be needed */
        number = db->closed_logs[0].number;
        memmove(db->closed_logs, db->closed_logs + 1,
                --db->closed_log_count * sizeof *db->closed_logs);
    }
    mutex_unlock(&db->log_mutex);
    return number;
}

void
wal_remove_below(petal_db *db, uint64_t oldest)
{
    uint64_t number;

    /* Large files take their time to go, and the leader must not wait for the mutex meanwhile. */
    while ((number = forget_closed(db, oldest)) != 0) {
        char path[PETAL_PATH_BYTES];
        int failed;

        filename_log(path, db->directory.path, number);
        failed = directory_remove(&db->directory, path);
        if (failed != 0)
            env_log(&db->env, PETAL_LOG_WARNING, "cannot remove flushed log %s: error %d", path,
                    failed);
    }
}

uint64_t
wal_overdue_sequence(petal_db *db)
{
    uint64_t bytes = db->wal != NULL ? wal_file_length(db->wal) : 0, sequence = 0;
    size_t count;

    mutex_lock(&db->log_mutex);
    count = db->closed_log_count;
    for (size_t i = 0; i < count; i++)
        bytes += db->closed_logs[i].length;
    if (count > LOG_MOST_KEPT ||
        (count > 0 && bytes > (uint64_t)LOG_MOST_MEMTABLES * db->memtable_bytes))
        sequence = db->closed_logs[(count - 1) / 2].last_sequence;
    mutex_unlock(&db->log_mutex);
    return sequence;
}
