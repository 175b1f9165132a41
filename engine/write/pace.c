/* pace.c -- see pace.h. */
#include "engine/write/pace.h"

#include "base/clock.h"
#include "engine/flush/flush.h"
#include "engine/state/progress.h"
#include "engine/state/read_point.h"
#include "engine/wal/record.h"

#include <assert.h>
#include <math.h>

/* ---- runs ---- */

/* The store with most runs so far, and how many it has. */
struct most_runs {
    struct store *store;
    size_t runs;
};

static void
count_store(struct most_runs *most, struct store *store)
{
    size_t runs = atomic_load_explicit(&store->runs, memory_order_relaxed);

    assert(runs <= STORE_MOST_RUNS);
    if (most->store == NULL || runs > most->runs)
        *most = (struct most_runs){store, runs};
}

/* Of the stores that the write concerns, those of all regions where no row is known, the one with
 * most runs; NULL, 0: they do not count. */
static struct most_runs
runs_of_write(const struct pace_write *write)
{
    struct most_runs most = {NULL, 0};
    struct read_point point;

    if (write->db->no_compaction)
        return most;
    read_begin(write->db, &point);
    for (size_t i = 0; i < write->count; i++) {
        petal_slice row = write->cells[i].cell.row;
        const struct region_list *list = view_regions(point.view, write->cells[i].family);

        if (list != NULL && row.size > 0)
            count_store(&most, region_of_row(list, slice_head(row, 0), row)->store);
        for (uint32_t k = 0; list != NULL && row.size == 0 && k < list->count; k++)
            count_store(&most, region_at(list, k)->store);
    }
    read_end(write->db, &point);
    return most;
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

/* The share that holds for the write, and whose debt grows by it. */
static double
share_of_write(const struct pace_write *write, _Atomic(uint64_t) **debtor)
{
    petal_db *db = write->db;
    uint64_t limit = memory_budget_memtable_limit(&db->memory), memory = memtable_memory(db);
    struct most_runs most = runs_of_write(write);
    double by_memory = pace_share(memory, limit, 0), share = pace_share(memory, limit, most.runs);

    *debtor = share < by_memory ? &most.store->pace_due_us : &db->pace->due_us;
    return share;
}

/* Owe the time for these bytes; *begin: when what is owed before is made up for. False: that is too
 * late. */
static bool
owe(_Atomic(uint64_t) *due, uint64_t time, uint64_t now, uint64_t deadline_us, uint64_t *begin)
{
    uint64_t before = atomic_load_explicit(due, memory_order_relaxed), after;

    assert(now > 0);
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
    uint64_t rate = atomic_load_explicit(&db->progress.flush_rate, memory_order_relaxed);
    uint64_t began = clock_us(), now = began, turn;
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
        clock_sleep(turn - now < PACE_LONGEST_SLEEP_US ? turn - now : PACE_LONGEST_SLEEP_US);
        now = clock_us();
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
    assert((db->pace->first == NULL) == (db->pace->last == NULL));
    if (db->pace->last != NULL)
        db->pace->last->next = place;
    else
        db->pace->first = place;
    db->pace->last = place;
    atomic_fetch_add_explicit(&db->progress.pressed, 1, memory_order_relaxed);
}

static void
leave_line(petal_db *db, struct pace_place *place)
{
    struct pace_place *before = NULL;

    if (!place->in_line)
        return;
    for (struct pace_place *at = db->pace->first; at != place; at = at->next) {
        assert(at != NULL);
        before = at;
    }
    if (before != NULL)
        before->next = place->next;
    else
        db->pace->first = place->next;
    if (db->pace->last == place)
        db->pace->last = before;
    atomic_fetch_sub_explicit(&db->progress.pressed, 1, memory_order_relaxed);
    pthread_cond_broadcast(&db->progress.moved); /* the next one may go on, too */
}

static bool
lacks_memory(const struct pace_write *write, const struct pace_place *place)
{
    const petal_db *db = write->db;
    uint64_t wanted = memtable_memory(db) + db->pace->admitted + write->bytes;
    bool others = db->pace->first != NULL && db->pace->first != place;

    return others || wanted > memory_budget_memtable_limit(&db->memory);
}

static void
warn_of_cursors(petal_db *db)
{
    if (db->pace->warned)
        return;
    db->pace->warned = true;
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
    if (db->flusher->oldest != NULL || db->pace->admitted > 0)
        return true;
    if (memtable_memory(db) > memory_budget_memtable_limit(&db->memory))
        warn_of_cursors(db);
    return false;
}

static bool
waits_for_runs(const struct pace_write *write)
{
    return runs_of_write(write).runs >= STORE_MOST_RUNS;
}

/* Work of the background that failed is tried again some time: who waits for a compaction gives up
 * at the second look. */
static bool
compaction_failed(petal_db *db, petal_error *failure)
{
    return failure_of(&db->failure, BACKGROUND_COMPACTION, failure) != PETAL_OK;
}

/* Why it is in vain to wait on. */
static enum petal_status
check_wait(const struct pace_write *write, bool for_runs, unsigned waits, petal_error *error)
{
    petal_db *db = write->db;
    const struct flush_job *oldest = db->flusher->oldest;
    petal_error failure;
    enum petal_status status = db_check_writable(db, error);

    if (status != PETAL_OK)
        return status;
    if (db->pace->closing)
        return error_set(error, PETAL_BUSY, "nothing was written: the database is being closed");
    if (oldest != NULL && oldest->status != PETAL_OK)
        return error_copy(error, &oldest->error);
    if (for_runs && waits > 0 && compaction_failed(db, &failure))
        return error_copy(error, &failure);
    if (write->deadline_us <= clock_us())
        return time_out(write, for_runs ? "compactions are behind" : "flushes are behind", error);
    return PETAL_OK;
}

/*
 * Wait while a cap is reached. What ends the wait is looked at under progress.mutex, where its end
 * is told: so none is missed. What a retired view still keeps may go when its last reader has left,
 * which nobody tells. REQUIRES: progress.mutex held; given up meanwhile.
 */
static enum petal_status
wait_at_caps(const struct pace_write *write, struct pace_place *place, petal_error *error)
{
    petal_db *db = write->db;
    uint64_t began = clock_us();
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
            mutex_unlock(&db->progress.mutex);
            clock_sleep(PACE_LONGEST_SLEEP_US);
        } else {
            mutex_wait(&db->progress.mutex, &db->progress.moved, write->deadline_us);
            mutex_unlock(&db->progress.mutex);
        }
        db_collect(db);
        mutex_lock(&db->progress.mutex);
    }
    if (waits > 0) {
        uint64_t stopped_us = clock_us() - began;

        STATS_ADD_SHARED(db, stop_us, stopped_us);
        latency_add(&db->latencies, PETAL_LATENCY_WRITE_STOP, stopped_us * 1000);
    }
    return status;
}

enum petal_status
pace_begin(struct pace_write *write, const struct write_cell *cells, size_t count, size_t bytes,
           uint32_t deadline_ms, petal_error *error)
{
    petal_db *db = cells->family->table->db;
    uint64_t limit = memory_budget_memtable_limit(&db->memory);
    struct pace_place place = {.in_line = false};
    enum petal_status status;

    assert(count > 0);
    write->admitted = 0;
    write->bytes = bytes + count * MEMTABLE_CELL_OVERHEAD_BYTES;
    if (pace_is_free(db, write->bytes))
        return PETAL_OK;
    write->db = db;
    write->cells = cells;
    write->count = count;
    write->deadline_us = CLOCK_NEVER;
    if (deadline_ms != 0)
        write->deadline_us =
            deadline_ms == PETAL_NO_WAIT ? 0 : clock_us() + (uint64_t)deadline_ms * 1000;
    status = slow_down(write, error);
    if (status != PETAL_OK)
        return status;
    if (memtable_memory(db) > limit / 2)
        db_collect(db);
    mutex_lock(&db->progress.mutex);
    db->pace->waiting++;
    status = wait_at_caps(write, &place, error);
    leave_line(db, &place);
    if (status == PETAL_OK) {
        write->admitted = write->bytes;
        db->pace->admitted += write->admitted;
    }
    assert(db->pace->waiting > 0);
    db->pace->waiting--;
    if (db->pace->closing)
        pthread_cond_broadcast(&db->progress.moved);
    mutex_unlock(&db->progress.mutex);
    return status;
}

void
pace_end(struct pace_write *write)
{
    petal_db *db = write->db;

    assert(write->admitted > 0);
    mutex_lock(&db->progress.mutex);
    assert(db->pace->admitted >= write->admitted);
    db->pace->admitted -= write->admitted;
    if (db->pace->first != NULL)
        pthread_cond_broadcast(&db->progress.moved);
    mutex_unlock(&db->progress.mutex);
    write->admitted = 0;
}

void
pace_close(petal_db *db)
{
    mutex_lock(&db->progress.mutex);
    db->pace->closing = true;
    pthread_cond_broadcast(&db->progress.moved);
    while (db->pace->waiting > 0)
        mutex_wait(&db->progress.mutex, &db->progress.moved, CLOCK_NEVER);
    mutex_unlock(&db->progress.mutex);
}

bool
pace_init(petal_db *db)
{
    db->pace = mem_zalloc(db->env.allocator, sizeof *db->pace);
    return db->pace != NULL;
}

void
pace_fini(petal_db *db)
{
    if (db->pace == NULL)
        return;
    assert(db->pace->waiting == 0 && db->pace->admitted == 0);
    mem_free(db->env.allocator, db->pace, sizeof *db->pace);
    db->pace = NULL;
}
