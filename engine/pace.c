/* pace.c -- see pace.h. */
#include "engine/pace.h"

#include "engine/compaction_policy.h"
#include "engine/flush.h"

#include <math.h>
#include <time.h>

/* ---- arithmetic ---- */

/* How far `value` is on the way from `from` to `to`. */
static double
share_of(double value, double from, double to)
{
    if (value <= from)
        return 0;
    return value < to ? (value - from) / (to - from) : 1;
}

double
pace_share(uint64_t memory, uint64_t memory_limit, size_t runs)
{
    double pressure = share_of((double)memory, (double)memory_limit / 2, (double)memory_limit);
    double share = pressure > 0 ? 2 * (1 - pressure) : INFINITY;
    double of_runs = 1;

    if (runs <= POLICY_SLOW_RUNS)
        return share;
    for (size_t i = POLICY_SLOW_RUNS; i < runs; i++)
        of_runs *= PACE_RUN_FACTOR;
    return of_runs < share ? of_runs : share;
}

uint64_t
pace_time(uint64_t bytes, double share, uint64_t rate)
{
    double allowed = share * (double)(rate != 0 ? rate : PACE_FIRST_RATE);

    if (allowed < (double)PACE_LEAST_RATE)
        allowed = (double)PACE_LEAST_RATE;
    return (uint64_t)((double)bytes * 1e6 / allowed); /* 0 for an infinite share */
}

void
pace_flushed(petal_db *db, uint64_t bytes, uint64_t microseconds)
{
    uint64_t before = atomic_load_explicit(&db->flush_rate, memory_order_relaxed);
    uint64_t rate = (uint64_t)((double)bytes * 1e6 / (double)(microseconds + 1));

    /* Small ones tell more of the cost of making a file than of the rate. */
    if (bytes < db->memtable_bytes / 4)
        return;
    if (rate == 0)
        rate = 1;
    atomic_store_explicit(&db->flush_rate, before == 0 ? rate : before - before / 4 + rate / 4,
                          memory_order_relaxed);
}

uint64_t
pace_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- runs ---- */

static size_t
runs_of_store(const struct store_view *store)
{
    uint64_t runs[POLICY_MOST_RUNS];
    size_t count = 0, frozen = store->memtable_count > 0 ? store->memtable_count - 1 : 0;
    uint64_t damaged = damage_sequence(store); /* waiting would not make these fewer */

    for (uint32_t i = 0; i < store->file_count && count < POLICY_MOST_RUNS; i++) {
        size_t k = 0;

        if (store->files[i].sequence_max <= damaged)
            continue;
        while (k < count && runs[k] != store->files[i].file->run)
            k++;
        if (k == count)
            runs[count++] = store->files[i].file->run;
    }
    return count + frozen < POLICY_MOST_RUNS ? count + frozen : POLICY_MOST_RUNS;
}

size_t
pace_runs(petal_db *db)
{
    /* Before the view: one that comes meanwhile raises it again. */
    uint64_t view_count = atomic_load_explicit(&db->view_count, memory_order_acquire);
    struct read_point point;

    if (view_count == db->pace_view)
        return db->pace_view_runs;
    db->pace_view = view_count;
    db->pace_view_runs = 0;
    read_begin(db, &point);
    for (size_t i = 0; i < point.view->store_count; i++) {
        const struct store_view *store = point.view->stores[i];
        size_t runs = store != NULL ? runs_of_store(store) : 0;

        if (runs > db->pace_view_runs)
            db->pace_view_runs = runs;
    }
    read_end(db, &point);
    return db->pace_view_runs;
}

static size_t
runs_that_count(petal_db *db)
{
    return db->no_compaction ? 0 : pace_runs(db);
}

void
pace_compacted(petal_db *db)
{
    pthread_mutex_lock(&db->flush_mutex);
    pthread_cond_broadcast(&db->flush_done);
    pthread_mutex_unlock(&db->flush_mutex);
}

/* ---- waiting ---- */

static uint64_t
memtable_memory(const petal_db *db)
{
    return atomic_load_explicit(&db->memory.memtables, memory_order_relaxed);
}

static void
sleep_us(uint64_t microseconds)
{
    struct timespec left = {.tv_sec = (time_t)(microseconds / 1000000),
                            .tv_nsec = (long)(microseconds % 1000000) * 1000};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) != 0)
        ;
}

/* Both caps; a write that is larger than all that memtables may take waits for all of them to be flushed. */
static bool
at_cap(petal_db *db, uint64_t bytes, bool *of_runs)
{
    *of_runs = runs_that_count(db) >= POLICY_MOST_RUNS;
    return *of_runs || memtable_memory(db) + bytes > memory_budget_memtable_limit(&db->memory);
}

static enum petal_status
refuse(enum petal_status status, const petal_error *cause, petal_error *error)
{
    if (error != NULL)
        *error = *cause;
    return status;
}

/*
 * One wait for a flush or a compaction; *go is set when nobody is to be waited for. REQUIRES: flush_mutex held; given up meanwhile.
 * `waits`: how many came before.
 */
static enum petal_status
wait_once(petal_db *db, bool of_runs, unsigned waits, bool *go, petal_error *error)
{
    const struct flush_job *oldest = db->flush_oldest;
    petal_error failure;
    enum petal_status status = db_check_writable(db, error);

    if (status != PETAL_OK)
        return status;
    if (oldest != NULL && oldest->status != PETAL_OK)
        return refuse(oldest->status, &oldest->error, error);
    if (of_runs && background_failure_of(db, BACKGROUND_COMPACTION, &failure) != PETAL_OK) {
        /* It is tried again some time. Writers that try again meanwhile are not to spin. */
        if (waits > 0)
            return refuse(failure.status, &failure, error);
        STATS_ADD_SHARED(db, stopped_writes, 1);
        pthread_mutex_unlock(&db->flush_mutex);
        sleep_us(PACE_LONGEST_SLEEP_US);
        pthread_mutex_lock(&db->flush_mutex);
        return PETAL_OK;
    }
    *go = oldest == NULL && !of_runs;
    if (*go)
        return PETAL_OK;
    if (waits == 0)
        STATS_ADD_SHARED(db, stopped_writes, 1);
    pthread_cond_wait(&db->flush_done, &db->flush_mutex);
    return PETAL_OK;
}

static void
warn_of_cursors(petal_db *db)
{
    if (db->pace_warned)
        return;
    db->pace_warned = true;
    env_log(&db->env, PETAL_LOG_WARNING,
            "memtables take %llu bytes of the %llu that they may, and no flush is on its way: open "
            "cursors keep them",
            (unsigned long long)memtable_memory(db),
            (unsigned long long)memory_budget_memtable_limit(&db->memory));
}

/*
 * Wait while a cap is reached. What ends the wait is looked at under flush_mutex, where its end is told: so none is missed. What a
 * retired view still keeps may go when its last reader has left, which nobody tells.
 */
static enum petal_status
wait_at_cap(petal_db *db, uint64_t bytes, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    uint64_t began = pace_clock_us();
    bool of_runs, go = false;
    unsigned waits = 0;

    db_collect(db);
    pthread_mutex_lock(&db->flush_mutex);
    while (status == PETAL_OK && !go && at_cap(db, bytes, &of_runs)) {
        status = wait_once(db, of_runs, waits, &go, error);
        waits += !go && status == PETAL_OK;
        pthread_mutex_unlock(&db->flush_mutex);
        db_collect(db);
        pthread_mutex_lock(&db->flush_mutex);
    }
    pthread_mutex_unlock(&db->flush_mutex);
    if (go && memtable_memory(db) > memory_budget_memtable_limit(&db->memory))
        warn_of_cursors(db);
    if (waits > 0)
        STATS_ADD_SHARED(db, stop_us, pace_clock_us() - began);
    return status;
}

/* Owe the time for these bytes, and sleep it off if that is worth it. */
static void
slow_down(petal_db *db, uint64_t bytes, double share)
{
    uint64_t rate = atomic_load_explicit(&db->flush_rate, memory_order_relaxed);
    uint64_t now = pace_clock_us(), owed;

    if (db->pace_due_us < now)
        db->pace_due_us = now;
    db->pace_due_us += pace_time(bytes, share, rate);
    if (db->pace_due_us > now + PACE_MOST_DEBT_US)
        db->pace_due_us = now + PACE_MOST_DEBT_US;
    owed = db->pace_due_us - now;
    if (owed < PACE_LEAST_SLEEP_US)
        return;
    /* What readers gave up since frees memory without anybody's asking. */
    epoch_collect(db->epoch);
    sleep_us(owed < PACE_LONGEST_SLEEP_US ? owed : PACE_LONGEST_SLEEP_US);
    STATS_ADD_SHARED(db, delayed_writes, 1);
    STATS_ADD_SHARED(db, delay_us, pace_clock_us() - now);
}

enum petal_status
pace_write(petal_db *db, uint64_t bytes, petal_error *error)
{
    uint64_t limit = memory_budget_memtable_limit(&db->memory);
    double share = pace_share(memtable_memory(db), limit, runs_that_count(db));
    bool of_runs;

    if (at_cap(db, bytes, &of_runs)) {
        enum petal_status status = wait_at_cap(db, bytes, error);

        if (status != PETAL_OK)
            return status;
        share = pace_share(memtable_memory(db), limit, runs_that_count(db));
    }
    if (share < INFINITY)
        slow_down(db, bytes, share);
    return PETAL_OK;
}
