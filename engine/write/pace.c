/* pace.c -- see pace.h. */
#include "engine/write/pace.h"

#include "engine/compact/policy.h"
#include "engine/flush/flush.h"
#include "engine/store/damage.h"
#include "engine/wal/record.h"

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

void
pace_count_runs(petal_family *family)
{
    petal_db *db = family->table->db;
    const struct view *view = atomic_load_explicit(&db->view, memory_order_relaxed);
    const struct store_view *store = view_store(view, family);
    uint32_t runs = store != NULL ? (uint32_t)runs_of_store(store) : 0;
    uint32_t before = atomic_exchange_explicit(&family->runs, runs, memory_order_relaxed);

    if (before <= POLICY_SLOW_RUNS && runs > POLICY_SLOW_RUNS)
        atomic_fetch_add_explicit(&db->pace_pressed, 1, memory_order_relaxed);
    if (before > POLICY_SLOW_RUNS && runs <= POLICY_SLOW_RUNS)
        atomic_fetch_sub_explicit(&db->pace_pressed, 1, memory_order_relaxed);
    if (before == POLICY_MOST_RUNS && runs < before)
        pace_compacted(db);
}

void
pace_compacted(petal_db *db)
{
    pthread_mutex_lock(&db->flush_mutex);
    pthread_cond_broadcast(&db->flush_done);
    pthread_mutex_unlock(&db->flush_mutex);
}

/* Of the stores that the write concerns the one with most runs, and how many it has: 0: they do not
 * count. */
static size_t
runs_of_write(const struct pace_write *write, petal_family **family)
{
    size_t most = 0;

    *family = write->cells[0].family;
    if (write->db->no_compaction)
        return 0;
    for (size_t i = 0; i < write->count; i++) {
        petal_family *own = write->cells[i].family;
        size_t runs = atomic_load_explicit(&own->runs, memory_order_relaxed);

        if (runs > most) {
            most = runs;
            *family = own;
        }
    }
    return most;
}

/* ---- deadlines ---- */

uint64_t
pace_deadline_us(uint32_t deadline_ms)
{
    if (deadline_ms == 0)
        return PACE_NO_DEADLINE;
    return deadline_ms == PETAL_NO_WAIT ? 0 : pace_clock_us() + (uint64_t)deadline_ms * 1000;
}

static enum petal_status
time_out(const struct pace_write *write, const char *what, petal_error *error)
{
    char table[160], name[160];
    const petal_family *family = write->cells[0].family;

    return error_set(error, PETAL_TIMEOUT,
                     "nothing was written to %s:%s: the deadline has passed while %s",
                     error_quote(family->table->name, table, sizeof table),
                     error_quote(family->name, name, sizeof name), what);
}

/* ---- slower ---- */

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

/* The share that holds for the write, and whose debt grows by it. */
static double
share_of_write(const struct pace_write *write, _Atomic(uint64_t) **debtor)
{
    petal_db *db = write->db;
    uint64_t limit = memory_budget_memtable_limit(&db->memory), memory = memtable_memory(db);
    petal_family *family;
    size_t runs = runs_of_write(write, &family);
    double by_memory = pace_share(memory, limit, 0), share = pace_share(memory, limit, runs);

    *debtor = share < by_memory ? &family->pace_due_us : &db->pace_due_us;
    return share;
}

/* Owe the time for these bytes; *begin: when what is owed before is made up for. False: that is too
 * late. */
static bool
owe(_Atomic(uint64_t) *due, uint64_t time, uint64_t now, uint64_t deadline_us, uint64_t *begin)
{
    uint64_t before = atomic_load_explicit(due, memory_order_relaxed), after;

    do {
        *begin = before > now ? before : now;
        if (*begin > now + PACE_LEAST_SLEEP_US && *begin > deadline_us)
            return false;
        after = *begin + time < now + PACE_MOST_DEBT_US ? *begin + time : now + PACE_MOST_DEBT_US;
    } while (!atomic_compare_exchange_weak_explicit(due, &before, after, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static enum petal_status
slow_down(const struct pace_write *write, petal_error *error)
{
    petal_db *db = write->db;
    uint64_t rate = atomic_load_explicit(&db->flush_rate, memory_order_relaxed);
    uint64_t began = pace_clock_us(), now = began, turn;
    _Atomic(uint64_t) *debtor;
    double share = share_of_write(write, &debtor);

    if (share == INFINITY)
        return PETAL_OK;
    if (!owe(debtor, pace_time(write->bytes, share, rate), now, write->deadline_us, &turn))
        return time_out(write, "writers are slowed down", error);
    if (turn < now + PACE_LEAST_SLEEP_US)
        return PETAL_OK;
    /* What readers gave up since frees memory without anybody's asking. */
    epoch_collect(db->epoch);
    while (now < turn && share_of_write(write, &debtor) < INFINITY) {
        sleep_us(turn - now < PACE_LONGEST_SLEEP_US ? turn - now : PACE_LONGEST_SLEEP_US);
        now = pace_clock_us();
    }
    STATS_ADD_SHARED(db, delayed_writes, 1);
    STATS_ADD_SHARED(db, delay_us, now - began);
    return PETAL_OK;
}

/* ---- waiting ---- */

/* One that waits for memory; lies on the stack of its thread. */
struct pace_place {
    struct pace_place *next;
    bool in_line;
};

static void
join_line(petal_db *db, struct pace_place *place)
{
    if (place->in_line)
        return;
    place->next = NULL;
    place->in_line = true;
    if (db->pace_last != NULL)
        db->pace_last->next = place;
    else
        db->pace_first = place;
    db->pace_last = place;
    atomic_fetch_add_explicit(&db->pace_pressed, 1, memory_order_relaxed);
}

static void
leave_line(petal_db *db, struct pace_place *place)
{
    struct pace_place *before = NULL;

    if (!place->in_line)
        return;
    for (struct pace_place *at = db->pace_first; at != place; at = at->next)
        before = at;
    if (before != NULL)
        before->next = place->next;
    else
        db->pace_first = place->next;
    if (db->pace_last == place)
        db->pace_last = before;
    atomic_fetch_sub_explicit(&db->pace_pressed, 1, memory_order_relaxed);
    pthread_cond_broadcast(&db->flush_done); /* the next one may go on, too */
}

static bool
lacks_memory(const struct pace_write *write, const struct pace_place *place)
{
    const petal_db *db = write->db;
    uint64_t wanted = memtable_memory(db) + db->pace_admitted + write->bytes;
    bool others = db->pace_first != NULL && db->pace_first != place;

    return others || wanted > memory_budget_memtable_limit(&db->memory);
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

/* A write that is larger than all that memtables may take waits for all of them to be flushed. */
static bool
waits_for_memory(const struct pace_write *write, const struct pace_place *place)
{
    petal_db *db = write->db;

    if (!lacks_memory(write, place))
        return false;
    if (db->flush_oldest != NULL || db->pace_admitted > 0)
        return true;
    if (memtable_memory(db) > memory_budget_memtable_limit(&db->memory))
        warn_of_cursors(db);
    return false;
}

static bool
waits_for_runs(const struct pace_write *write)
{
    petal_family *family;

    return runs_of_write(write, &family) >= POLICY_MOST_RUNS;
}

static enum petal_status
refuse(enum petal_status status, const petal_error *cause, petal_error *error)
{
    if (error != NULL)
        *error = *cause;
    return status;
}

/* Work of the background that failed is tried again some time: who waits for a compaction gives up
 * at the second look. */
static bool
compaction_failed(petal_db *db, petal_error *failure)
{
    return background_failure_of(db, BACKGROUND_COMPACTION, failure) != PETAL_OK;
}

/* Why it is in vain to wait on. */
static enum petal_status
check_wait(const struct pace_write *write, bool for_runs, unsigned waits, petal_error *error)
{
    petal_db *db = write->db;
    const struct flush_job *oldest = db->flush_oldest;
    petal_error failure;
    enum petal_status status = db_check_writable(db, error);

    if (status != PETAL_OK)
        return status;
    if (db->closing)
        return error_set(error, PETAL_BUSY, "nothing was written: the database is being closed");
    if (oldest != NULL && oldest->status != PETAL_OK)
        return refuse(oldest->status, &oldest->error, error);
    if (for_runs && waits > 0 && compaction_failed(db, &failure))
        return refuse(failure.status, &failure, error);
    if (write->deadline_us <= pace_clock_us())
        return time_out(write, for_runs ? "compactions are behind" : "flushes are behind", error);
    return PETAL_OK;
}

static void
wait_until(petal_db *db, uint64_t deadline_us)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_us / 1000000),
                             .tv_nsec = (long)(deadline_us % 1000000) * 1000};

    if (deadline_us == PACE_NO_DEADLINE)
        pthread_cond_wait(&db->flush_done, &db->flush_mutex);
    else
        pthread_cond_timedwait(&db->flush_done, &db->flush_mutex, &until);
}

/*
 * Wait while a cap is reached. What ends the wait is looked at under flush_mutex, where its end is
 * told: so none is missed. What a retired view still keeps may go when its last reader has left,
 * which nobody tells. REQUIRES: flush_mutex held; given up meanwhile.
 */
static enum petal_status
wait_at_caps(const struct pace_write *write, struct pace_place *place, petal_error *error)
{
    petal_db *db = write->db;
    uint64_t began = pace_clock_us();
    enum petal_status status = PETAL_OK;
    unsigned waits = 0;

    for (;; waits++) {
        bool for_runs = waits_for_runs(write);
        petal_error failure;

        if (!for_runs && !waits_for_memory(write, place))
            break;
        status = check_wait(write, for_runs, waits, error);
        if (status != PETAL_OK)
            break;
        if (waits == 0)
            STATS_ADD_SHARED(db, stopped_writes, 1);
        if (!for_runs)
            join_line(db, place);
        if (for_runs && compaction_failed(db, &failure)) {
            /* Writers that try again meanwhile are not to spin. */
            pthread_mutex_unlock(&db->flush_mutex);
            sleep_us(PACE_LONGEST_SLEEP_US);
        } else {
            wait_until(db, write->deadline_us);
            pthread_mutex_unlock(&db->flush_mutex);
        }
        db_collect(db);
        pthread_mutex_lock(&db->flush_mutex);
    }
    if (waits > 0)
        STATS_ADD_SHARED(db, stop_us, pace_clock_us() - began);
    return status;
}

enum petal_status
pace_begin(struct pace_write *write, petal_error *error)
{
    petal_db *db = write->db;
    uint64_t limit = memory_budget_memtable_limit(&db->memory);
    struct pace_place place = {.in_line = false};
    enum petal_status status;

    write->admitted = 0;
    if (atomic_load_explicit(&db->pace_pressed, memory_order_relaxed) == 0 &&
        memtable_memory(db) <= limit / 2 && write->bytes <= PACE_SMALL_BYTES)
        return PETAL_OK;
    status = slow_down(write, error);
    if (status != PETAL_OK)
        return status;
    if (memtable_memory(db) > limit / 2)
        db_collect(db);
    pthread_mutex_lock(&db->flush_mutex);
    db->pace_waiting++;
    status = wait_at_caps(write, &place, error);
    leave_line(db, &place);
    if (status == PETAL_OK) {
        write->admitted = write->bytes;
        db->pace_admitted += write->admitted;
    }
    db->pace_waiting--;
    if (db->closing)
        pthread_cond_broadcast(&db->flush_done);
    pthread_mutex_unlock(&db->flush_mutex);
    return status;
}

void
pace_end(struct pace_write *write)
{
    petal_db *db = write->db;

    if (write->admitted == 0)
        return;
    pthread_mutex_lock(&db->flush_mutex);
    db->pace_admitted -= write->admitted;
    if (db->pace_first != NULL)
        pthread_cond_broadcast(&db->flush_done);
    pthread_mutex_unlock(&db->flush_mutex);
    write->admitted = 0;
}

void
pace_close(petal_db *db)
{
    pthread_mutex_lock(&db->flush_mutex);
    db->closing = true;
    pthread_cond_broadcast(&db->flush_done);
    while (db->pace_waiting > 0)
        pthread_cond_wait(&db->flush_done, &db->flush_mutex);
    pthread_mutex_unlock(&db->flush_mutex);
}
