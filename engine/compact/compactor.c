/* compactor.c -- see compactor.h. */
#include "engine/compact/compactor.h"

#include "base/argument.h"
#include "base/clock.h"
#include "engine/compact/room.h"
#include "engine/compact/work.h"
#include "engine/state/progress.h"
#include "engine/state/read_point.h"

#include <errno.h>
#include <sys/resource.h>

#define FIRST_WAIT_MS   1000
#define LONGEST_WAIT_MS 600000
#define THREAD_NICENESS 10
/* Jobs on one thread, each interrupted by the next: each has at most the POLICY_PART_BESIDE-th part
 * of the bytes of the one before, and its place on the stack. */
#define MOST_INTERRUPTED 6
#define GIVE_UP_LOOK_US  100000
#define ROOM_LOOK_US     1000000
#define IDLE_LOOK_US                                                                               \
    1000000 /* petal_wait_idle looks again after it, for what nobody says: a drop, a failed log */

struct compactor {
    petal_db *db;
    struct mutex mutex;   /* guards what follows, but for the atomics */
    pthread_cond_t work;  /* the threads: something changed */
    pthread_cond_t ended; /* others: a job ended */
    struct claims claims;
    struct store_runs runs;    /* of the store that is looked at */
    uint64_t time, time_us;    /* look.time, and when it grew last */
    _Atomic(uint64_t) changes; /* grows, with the mutex held, when a flush or a job has ended */
    uint64_t failures;         /* of jobs in the background */
    petal_error failure;       /* the latest */
    uint64_t wait_ms; /* how long after the latest failure jobs are tried again; 0: they may be */
    uint64_t try_again_us; /* when, by clock_us */
    uint64_t wait_bytes;   /* those with so much input or more */
    uint64_t room_wanted;  /* so many bytes were not free for one of them; 0: that was not why */
    bool any_at_work;      /* the thread that takes any job has one */
    _Atomic(bool) stopping;
    size_t thread_count;
    pthread_t threads[COMPACTOR_THREADS];
};

/* REQUIRES: the mutex held. */
static void
tell_change(struct compactor *compactor)
{
    assert_held(&compactor->mutex);
    atomic_fetch_add_explicit(&compactor->changes, 1, memory_order_relaxed);
    pthread_cond_broadcast(&compactor->work);
    pthread_cond_broadcast(&compactor->ended);
}

/* Large jobs wait for the disk or memory. REQUIRES: the mutex held. */
static bool
is_waiting(const struct compactor *compactor)
{
    assert_held(&compactor->mutex);
    return compactor->wait_ms > 0 && clock_us() < compactor->try_again_us;
}

static uint64_t
small_bytes(const petal_db *db)
{
    return (uint64_t)POLICY_SMALL_FLUSHES * db->memtable_bytes;
}

/* For whom one looks for work. */
enum taker {
    TAKES_ANY,   /* the first thread */
    TAKES_SMALL, /* the second: what is small, or small beside what others are at */
    INTERRUPTS   /* the second, at a job: what is small beside that */
};

/* REQUIRES: the mutex held. */
static uint64_t
most_bytes(const struct compactor *compactor, enum taker taker, uint64_t within)
{
    assert_held(&compactor->mutex);
    if (taker == TAKES_SMALL)
        return policy_bytes_beside(claims_most_bytes(&compactor->claims, NULL),
                                   small_bytes(compactor->db));
    return taker == INTERRUPTS ? within : UINT64_MAX;
}

/* What failed will be tried again after a while, and what is as large: each time after twice as
 * long. What fails while others wait, as what is smaller may be tried, prolongs nothing. REQUIRES:
 * the mutex held. */
static void
put_off(struct compactor *compactor, uint64_t bytes, bool lacked_room)
{
    bool waiting = is_waiting(compactor);

    assert_held(&compactor->mutex);
    if (!waiting || bytes < compactor->wait_bytes) {
        compactor->wait_bytes = bytes > 0 ? bytes : 1;
        compactor->room_wanted = lacked_room ? bytes : 0;
    }
    if (waiting)
        return;
    compactor->wait_ms = compactor->wait_ms == 0 ? FIRST_WAIT_MS : 2 * compactor->wait_ms;
    if (compactor->wait_ms > LONGEST_WAIT_MS)
        compactor->wait_ms = LONGEST_WAIT_MS;
    compactor->try_again_us = clock_us() + compactor->wait_ms * 1000;
}

/* What waits for room need not wait longer once it is there: someone has made some. */
static void
look_for_room(struct compactor *compactor)
{
    uint64_t wanted;

    mutex_lock(&compactor->mutex);
    wanted = is_waiting(compactor) ? compactor->room_wanted : 0;
    mutex_unlock(&compactor->mutex);
    if (wanted == 0 || !room_is_there(compactor->db, wanted))
        return;
    mutex_lock(&compactor->mutex);
    if (compactor->room_wanted == wanted)
        compactor->wait_ms = 0;
    mutex_unlock(&compactor->mutex);
}

/* What time has made due is looked for from now on. REQUIRES: the mutex held. */
static void
pass_time(struct compactor *compactor)
{
    assert_held(&compactor->mutex);
    compactor->time++;
    compactor->time_us = clock_us();
}

/* look.time, of a look that begins: what it finds out later is at least as new. */
static uint64_t
time_of_look(struct compactor *compactor)
{
    uint64_t time;

    mutex_lock(&compactor->mutex);
    if (clock_us() - compactor->time_us > (uint64_t)COMPACTOR_TICK_SECONDS * 1000000)
        pass_time(compactor);
    time = compactor->time;
    mutex_unlock(&compactor->mutex);
    return time;
}

/* There was no memory to begin a job: it failed, as one that had begun. REQUIRES: the mutex is
 * held. */
static void
note_not_begun(struct compactor *compactor)
{
    assert_held(&compactor->mutex);
    error_no_memory(&compactor->failure);
    compactor->failures++;
    put_off(compactor, 0, false);
    db_background_failed(compactor->db, BACKGROUND_COMPACTION, &compactor->failure);
    pthread_cond_broadcast(&compactor->ended);
}

/*
 * Take on the job that is most wanted, by who INTERRUPTS of at most `within` bytes; `work` NULL:
 * only tell whether there is one, be it put off, or one at work.
 *
 * The view is taken under the mutex, so that what it shows of the files is true: jobs that ended
 * have changed the view before they gave up their claims, and those that run keep theirs. Only
 * flushes add to it meanwhile.
 */
static bool
take_work(struct compactor *compactor, enum taker taker, uint64_t within, struct work *work)
{
    petal_db *db = compactor->db;
    struct look look = {
        .claims = &compactor->claims, .runs = &compactor->runs, .small_bytes = small_bytes(db)};
    struct read_point point;
    bool taken, waiting;

    look.time = time_of_look(compactor);
    look.now_ms = env_clock_ms(&db->env);
    look.oldest = read_point_oldest(db);
    look.newest = read_point_newest(db);
    mutex_lock(&db->schema.mutex);
    mutex_lock(&compactor->mutex);
    read_begin(db, &point);
    look.view = point.view;
    look.max_bytes = most_bytes(compactor, taker, within);
    waiting = work != NULL && is_waiting(compactor);
    /* Who waits for all files waits for the job that is interrupted: what comes meanwhile is
     * merged. */
    look.all_files_first = taker != INTERRUPTS && !compactor->any_at_work && !waiting;
    if (waiting && look.max_bytes >= compactor->wait_bytes)
        look.max_bytes = compactor->wait_bytes - 1;
    look_at_all(db, &look);
    taken = look.pick.reason != POLICY_NOTHING;
    if (taken && work != NULL) {
        taken = work_begin(work, &look) == PETAL_OK;
        if (!taken) {
            note_not_begun(compactor);
        } else {
            work->job.give_up = &compactor->stopping;
            claims_add(&compactor->claims, &work->claim);
            /* What the other thread left to this one may be its own again. */
            work->any = taker == TAKES_ANY;
            if (work->any) {
                compactor->any_at_work = true;
                tell_change(compactor);
            }
        }
    } else if (work == NULL) {
        taken = taken || compactor->claims.first != NULL;
    }
    read_end(db, &point);
    mutex_unlock(&compactor->mutex);
    mutex_unlock(&db->schema.mutex);
    return taken;
}

/* ---- the end of a job ---- */

/* Could the job not read an input? Then that is noted, and *error names the family. */
static bool
note_bad_inputs(petal_db *db, const struct compact_job *job, petal_error *error)
{
    if (!damage_note_bad(job->store->family, job->inputs, job->input_count, error))
        return false;
    mutex_lock(&db->views.mutex);
    progress_count_runs(&db->progress, &db->views, job->store);
    mutex_unlock(&db->views.mutex);
    return true;
}

/* A job of the background has failed, unless the family is gone, or the database is being closed or
 * had failed before. */
static void
note_failure(struct compactor *compactor, const struct work *work, enum petal_status status,
             petal_error *error)
{
    petal_db *db = compactor->db;
    bool lacked_room;

    if (status == PETAL_NOT_FOUND || status == PETAL_BUSY || status == PETAL_READ_ONLY)
        return;
    if (note_bad_inputs(db, &work->job, error)) {
        STATS_ADD_SHARED(db, background_failures, 1);
        return;
    }
    env_log(&db->env, PETAL_LOG_ERROR, "compaction failed, its files stay as they were: %s",
            error->text);
    db_background_failed(db, BACKGROUND_COMPACTION, error);
    lacked_room = status == PETAL_NO_SPACE && !room_is_there(db, work->claim.bytes);
    mutex_lock(&compactor->mutex);
    compactor->failures++;
    compactor->failure = *error;
    put_off(compactor, work->claim.bytes, lacked_room);
    mutex_unlock(&compactor->mutex);
}

static void
note_success(struct compactor *compactor, uint64_t bytes)
{
    failure_made_good(&compactor->db->failure, BACKGROUND_COMPACTION);
    mutex_lock(&compactor->mutex);
    if (bytes >= compactor->wait_bytes)
        compactor->wait_ms = 0;
    mutex_unlock(&compactor->mutex);
}

/* Give up what it held, then the claim: who waits for the end of the job finds its inputs gone, but
 * for their readers. */
static void
end_work(struct compactor *compactor, struct work *work)
{
    work_release(work, compactor->db);
    db_collect(compactor->db);
    mutex_lock(&compactor->mutex);
    claims_remove(&compactor->claims, &work->claim);
    compactor->any_at_work = compactor->any_at_work && !work->any;
    tell_change(compactor);
    mutex_unlock(&compactor->mutex);
    progress_tell(&compactor->db->progress);
    claim_fini(&work->claim, compactor->db->env.allocator);
}

/* ---- the threads ---- */

static void do_work(struct compactor *compactor, struct work *work, unsigned depth);

/* A job of the second thread, while it runs. */
struct interruptible {
    struct compactor *compactor;
    struct work *work;
    unsigned depth;       /* jobs that it has interrupted itself */
    uint64_t interrupted; /* bytes of jobs that have interrupted it */
    uint64_t looked_at;   /* bytes that were done, and changes that there were, when one was looked
                             for last */
    uint64_t changes;
};

/* Called again and again by the job. A look costs something: it is worth it when there may be
 * something else, or another memtable's worth is done. A job of less than that is soon over. */
static void
interrupt(void *argument, uint64_t cells_done, uint64_t cells)
{
    struct interruptible *job = argument;
    struct compactor *compactor = job->compactor;
    uint64_t bytes = job->work->claim.bytes;
    uint64_t done = (uint64_t)((double)bytes * (double)cells_done / (double)(cells + 1));
    uint64_t within = policy_bytes_within(bytes, done, job->interrupted);
    uint64_t changes = atomic_load_explicit(&compactor->changes, memory_order_relaxed);
    struct work work;

    if (within == 0 || bytes < compactor->db->memtable_bytes || job->depth == MOST_INTERRUPTED ||
        (changes == job->changes && done - job->looked_at < compactor->db->memtable_bytes) ||
        atomic_load_explicit(&compactor->stopping, memory_order_relaxed) ||
        atomic_load_explicit(&compactor->db->failure.failed, memory_order_relaxed))
        return;
    job->changes = changes;
    job->looked_at = done;
    if (!take_work(compactor, INTERRUPTS, within, &work))
        return;
    job->interrupted += work.claim.bytes;
    do_work(compactor, &work, job->depth + 1);
}

static void
do_work(struct compactor *compactor, struct work *work, unsigned depth)
{
    struct interruptible interruptible = {.compactor = compactor, .work = work, .depth = depth};
    petal_error error;
    enum petal_status status;

    error_clear(&error);
    if (!work->any) {
        work->job.meanwhile = interrupt;
        work->job.meanwhile_argument = &interruptible;
    }
    status = work->job.reason == POLICY_EXPIRED ? compact_drop_expired(&work->job, &error)
                                                : compact_run(&work->job, &error);
    if (status == PETAL_OK)
        note_success(compactor, work->claim.bytes);
    else
        note_failure(compactor, work, status, &error);
    end_work(compactor, work);
}

/* False: the database is being closed. *seen: the changes so far. */
static bool
is_open(struct compactor *compactor, uint64_t *seen)
{
    mutex_lock(&compactor->mutex);
    *seen = compactor->changes;
    mutex_unlock(&compactor->mutex);
    return !atomic_load_explicit(&compactor->stopping, memory_order_relaxed);
}

/* Or until what only time makes due, or what failed, is to be looked at. */
static void
wait_for_change(struct compactor *compactor, uint64_t seen)
{
    uint64_t now = clock_us(), until = now + (uint64_t)COMPACTOR_TICK_SECONDS * 1000000;

    mutex_lock(&compactor->mutex);
    if (compactor->wait_ms > 0 && compactor->try_again_us > now && compactor->try_again_us < until)
        until = compactor->try_again_us;
    if (is_waiting(compactor) && compactor->room_wanted > 0 && now + ROOM_LOOK_US < until)
        until = now + ROOM_LOOK_US;
    if (compactor->changes == seen &&
        !atomic_load_explicit(&compactor->stopping, memory_order_relaxed))
        mutex_wait(&compactor->mutex, &compactor->work, until);
    mutex_unlock(&compactor->mutex);
    look_for_room(compactor);
}

static void
work_until_stopped(struct compactor *compactor, enum taker taker)
{
    struct work work;
    uint64_t seen;

#ifdef __linux__
    /* Of this thread only, there. It is no matter when it may not be. */
    (void)setpriority(PRIO_PROCESS, 0, THREAD_NICENESS);
#endif
    while (is_open(compactor, &seen)) {
        if (!atomic_load_explicit(&compactor->db->failure.failed, memory_order_acquire) &&
            take_work(compactor, taker, 0, &work))
            do_work(compactor, &work, 0);
        else
            wait_for_change(compactor, seen);
    }
}

static void *
any_thread(void *compactor)
{
    work_until_stopped(compactor, TAKES_ANY);
    return NULL;
}

static void *
small_thread(void *compactor)
{
    work_until_stopped(compactor, TAKES_SMALL);
    return NULL;
}

enum petal_status
compactor_start(petal_db *db, petal_error *error)
{
    static void *(*const threads[COMPACTOR_THREADS])(void *) = {any_thread, small_thread};
    struct compactor *compactor = mem_zalloc(db->env.allocator, sizeof *compactor);

    if (compactor == NULL)
        return error_no_memory(error);
    compactor->db = db;
    if (!mutex_init(&compactor->mutex) || !clock_condition_init(&compactor->work) ||
        !clock_condition_init(&compactor->ended)) {
        mem_free(db->env.allocator, compactor, sizeof *compactor);
        return error_no_memory(error);
    }
    db->compactor = compactor;
    for (size_t i = 0; !db->no_compaction && i < COMPACTOR_THREADS; i++) {
        int failed = pthread_create(&compactor->threads[i], NULL, threads[i], compactor);

        if (failed != 0)
            return error_io(error, db->directory.path, failed, "start a thread for");
        compactor->thread_count++;
    }
    return PETAL_OK;
}

void
compactor_stop(petal_db *db)
{
    struct compactor *compactor = db->compactor;

    if (compactor == NULL)
        return;
    mutex_lock(&compactor->mutex);
    atomic_store_explicit(&compactor->stopping, true, memory_order_relaxed);
    tell_change(compactor);
    mutex_unlock(&compactor->mutex);
    for (size_t i = 0; i < compactor->thread_count; i++)
        pthread_join(compactor->threads[i], NULL);
    compactor->thread_count = 0;
}

void
compactor_free(petal_db *db)
{
    struct compactor *compactor = db->compactor;

    if (compactor == NULL)
        return;
    store_runs_fini(&compactor->runs, db->env.allocator);
    pthread_cond_destroy(&compactor->work);
    pthread_cond_destroy(&compactor->ended);
    mutex_fini(&compactor->mutex);
    mem_free(db->env.allocator, compactor, sizeof *compactor);
    db->compactor = NULL;
}

void
compactor_wake(petal_db *db)
{
    struct compactor *compactor = db->compactor;

    if (compactor == NULL)
        return;
    mutex_lock(&compactor->mutex);
    if (compactor->wait_bytes <= small_bytes(db))
        compactor->wait_bytes = small_bytes(db) + 1;
    tell_change(compactor);
    mutex_unlock(&compactor->mutex);
}

/* ---- what is asked for ---- */

static bool
is_given_up(const _Atomic(bool) *give_up)
{
    return give_up != NULL && atomic_load_explicit(give_up, memory_order_relaxed);
}

/* Until the work may run; false: it was given up before. REQUIRES: the mutex held. */
static bool
wait_for_turn(struct compactor *compactor, const struct work *work)
{
    assert_held(&compactor->mutex);
    while (!claims_may_run(&compactor->claims, &work->claim)) {
        if (is_given_up(work->job.give_up))
            return false;
        /* Nobody tells of what is given up. */
        mutex_wait(&compactor->mutex, &compactor->ended,
                   work->job.give_up != NULL ? clock_us() + GIVE_UP_LOOK_US : CLOCK_NEVER);
    }
    return true;
}

/* Wait for the store's turn, then take the runs. Again: what was held before is given up, but the
 * place in the order of those who ask is kept. PETAL_BUSY: the work was given up. */
static enum petal_status
begin_asked(struct compactor *compactor, struct work *work, size_t first, size_t count,
            bool fewer_first)
{
    petal_db *db = compactor->db;
    const struct store_view *store;
    struct read_point point;
    enum petal_status status = PETAL_OK;

    work_release(work, db);
    mutex_lock(&compactor->mutex);
    claim_fini(&work->claim, db->env.allocator);
    work->claim.running = false;
    if (!wait_for_turn(compactor, work)) {
        mutex_unlock(&compactor->mutex);
        return PETAL_BUSY;
    }
    work->claim.running = true;
    read_begin(db, &point);
    store = view_store(point.view, work->claim.store);
    if (store != NULL)
        work->job.end = view_end(point.view, work->claim.store);
    if (store != NULL && store->file_count > 0)
        status = work_take_runs(work, db, &compactor->runs, store, first, count, fewer_first);
    read_end(db, &point);
    mutex_unlock(&compactor->mutex);
    return status;
}

/* One job of what is asked for. */
static enum petal_status
do_asked(struct compactor *compactor, struct work *work, size_t first, size_t count,
         bool fewer_first, petal_error *error)
{
    enum petal_status status = begin_asked(compactor, work, first, count, fewer_first);
    petal_error cause;

    if (status == PETAL_BUSY)
        return error_set(error, PETAL_BUSY, "the compaction was given up");
    if (status != PETAL_OK)
        return error_no_memory(error);
    if (work->job.input_count == 0)
        return store_check_alive(work->claim.store, error);
    status = compact_run(&work->job, &cause);
    if (status == PETAL_OK) {
        note_success(compactor, work->claim.bytes);
        return PETAL_OK;
    }
    if (note_bad_inputs(compactor->db, &work->job, &cause))
        status = cause.status;
    error_copy(error, &cause);
    return status;
}

static enum petal_status
compact_store(struct store *store, size_t first, size_t count, const _Atomic(bool) *give_up,
              petal_error *error)
{
    petal_db *db = store->family->table->db;
    struct compactor *compactor = db->compactor;
    bool all = count == SIZE_MAX;
    struct work work = {.claim = {.store = store, .asked = true, .large = true, .all_files = all},
                        .job = {.store = store,
                                .reason = all ? POLICY_ASKED : POLICY_EXPLORING,
                                .give_up = give_up,
                                .now_ms = all ? 0 : env_clock_ms(&db->env)}};
    enum petal_status status = store_check_alive(store, error);

    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = family_check_usable(store->family, error);
    if (status != PETAL_OK)
        return status;
    mutex_lock(&compactor->mutex);
    claims_add(&compactor->claims, &work.claim);
    mutex_unlock(&compactor->mutex);
    status = do_asked(compactor, &work, first, count, all && !db->no_compaction, error);
    if (status == PETAL_OK && all && work.claim.run_count > 0 && !work.job.all_files)
        status = do_asked(compactor, &work, first, count, false, error);
    end_work(compactor, &work);
    return status;
}

/* The store of the row, which *at is. One that was merged meanwhile, or had another merged into it,
 * is begun anew as what it is by now. */
static enum petal_status
compact_at(petal_family *family, petal_slice row, size_t first, size_t count, struct store **at,
           const _Atomic(bool) *give_up, petal_error *error)
{
    enum petal_status status;

    do {
        *at = db_store_at(family, row);
        status = *at != NULL ? compact_store(*at, first, count, give_up, error)
                             : family_check_alive(family, error);
    } while (status == PETAL_BUSY && !is_given_up(give_up));
    return status;
}

enum petal_status
compactor_compact_at(petal_family *family, petal_slice row, const _Atomic(bool) *give_up,
                     petal_error *error)
{
    struct store *store;

    return compact_at(family, row, 0, SIZE_MAX, &store, give_up, error);
}

enum petal_status
compactor_compact_runs(petal_family *family, size_t first, size_t count, petal_error *error)
{
    enum petal_status status = family_check_alive(family, error);
    struct store *store = db_next_store(family, NULL);

    while (status == PETAL_OK && store != NULL) {
        status = compact_at(family, store->start, first, count, &store, NULL, error);
        if (store != NULL)
            store = db_next_store(family, store);
    }
    return status;
}

enum petal_status
compactor_compact(petal_family *family, petal_error *error)
{
    return compactor_compact_runs(family, 0, SIZE_MAX, error);
}

enum petal_status
petal_compact(petal_table *table, petal_family *family, petal_error *error)
{
    RETURN_IF_NULL(table, error);

    const struct table_descriptor *descriptor = table_descriptor(table);
    petal_error cause = {.status = PETAL_OK}, damage = {.status = PETAL_OK};
    enum petal_status status;

    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = table_check_alive(table, error);
    if (status == PETAL_OK && family != NULL && family->table != table)
        status = error_set(error, PETAL_INVALID, "the family belongs to another table");
    if (status != PETAL_OK)
        return status;
    if (family != NULL)
        return compactor_compact(family, error);
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++) {
        status = compactor_compact(descriptor->families[i], &cause);
        /* The damage of one family is no reason to leave the others as they are. */
        if (status == PETAL_CORRUPT && damage.status == PETAL_OK)
            damage = cause;
        /* A family may go while others are at work: there is nothing left to do for it. */
        if (status == PETAL_CORRUPT ||
            (status == PETAL_NOT_FOUND && family_is_dropped(descriptor->families[i]) &&
             !table_is_dropped(table)))
            status = PETAL_OK;
    }
    if (status == PETAL_OK && damage.status != PETAL_OK) {
        cause = damage;
        status = damage.status;
    }
    if (status != PETAL_OK)
        error_copy(error, &cause);
    return status;
}

/* ---- what others ask ---- */

struct compactor_moment
compactor_hurry(petal_db *db)
{
    struct compactor *compactor = db->compactor;
    struct compactor_moment moment;

    assert(compactor != NULL);
    mutex_lock(&compactor->mutex);
    compactor->wait_ms = 0;
    pass_time(compactor);
    tell_change(compactor); /* what waits for room, and what only time made due */
    moment = (struct compactor_moment){compactor->changes, compactor->failures};
    mutex_unlock(&compactor->mutex);
    return moment;
}

bool
compactor_is_idle(petal_db *db, struct compactor_moment *moment)
{
    struct compactor *compactor = db->compactor;
    bool idle;

    mutex_lock(&compactor->mutex);
    moment->changes = compactor->changes;
    idle = compactor->claims.first == NULL;
    mutex_unlock(&compactor->mutex);
    return idle && (compactor->thread_count == 0 || !take_work(compactor, TAKES_ANY, 0, NULL));
}

enum petal_status
compactor_wait(petal_db *db, const struct compactor_moment *moment, petal_error *error)
{
    struct compactor *compactor = db->compactor;
    enum petal_status status = db_check_writable(db, error);

    assert(compactor != NULL);
    mutex_lock(&compactor->mutex);
    if (compactor->failures == moment->failures && compactor->changes == moment->changes &&
        (status == PETAL_OK || compactor->claims.first != NULL))
        mutex_wait(&compactor->mutex, &compactor->ended, clock_us() + IDLE_LOOK_US);
    if (compactor->failures != moment->failures) {
        status = error_copy(error, &compactor->failure);
    } else if (compactor->claims.first != NULL) {
        status = PETAL_OK;
    }
    mutex_unlock(&compactor->mutex);
    return status;
}

enum petal_compaction_state
compactor_state(petal_db *db, const petal_table *table)
{
    struct compactor *compactor = db->compactor;
    unsigned state = PETAL_COMPACTION_NONE;

    if (compactor == NULL)
        return PETAL_COMPACTION_NONE;
    mutex_lock(&compactor->mutex);
    for (const struct claim *claim = compactor->claims.first; claim != NULL; claim = claim->next) {
        if (claim->running && claim->store->family->table == table)
            state |= claim->all_files ? PETAL_COMPACTION_MAJOR : PETAL_COMPACTION_MINOR;
    }
    mutex_unlock(&compactor->mutex);
    return (enum petal_compaction_state)state;
}

enum petal_compaction_state
petal_table_compaction_state(petal_table *table)
{
    if (table == NULL || db_is_of_another_process(table->db))
        return PETAL_COMPACTION_NONE;
    return compactor_state(table->db, table);
}

uint64_t
compactor_running(petal_db *db)
{
    struct compactor *compactor = db->compactor;
    uint64_t running;

    if (compactor == NULL)
        return 0;
    mutex_lock(&compactor->mutex);
    running = claims_running(&compactor->claims);
    mutex_unlock(&compactor->mutex);
    return running;
}
