/* compactor.c -- see tools/bench/simulate/compactor.h. */
#include "tools/bench/simulate/compactor.h"

#include "tools/bench/harness/util.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9 /* seconds */

void
simulate_compactor_init(struct simulate_compactor *compactor,
                        const struct simulate_settings *settings, struct simulate_disk *disk)
{
    *compactor = (struct simulate_compactor){
        .settings = settings, .disk = disk, .small.interruptible = true};
}

void
simulate_compactor_fini(struct simulate_compactor *compactor)
{
    free(compactor->due);
}

static uint64_t
small_bytes(const struct simulate_compactor *compactor)
{
    return (uint64_t)POLICY_SMALL_FLUSHES * compactor->settings->memtable_bytes;
}

/* ---- what a thread owes ---- */

static size_t
size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : (size_t)(64 - __builtin_clzll(bytes)) / 2;
}

/* The smallest class of which the thread owes something; SIMULATE_SIZES: none. */
static size_t
owed_class(const struct simulate_thread *thread)
{
    return thread->owes != 0 ? (size_t)__builtin_ctzll(thread->owes) : SIMULATE_SIZES;
}

static void
set_owed(struct simulate_thread *thread, size_t class, double seconds)
{
    uint64_t bit = (uint64_t)1 << class;

    thread->owed[class] = seconds;
    thread->owes = seconds > 0 ? thread->owes | bit : thread->owes & ~bit;
}

/* Is the thread at its job? Else it is at the smallest of what it owes, or idle. */
static bool
is_at_job(const struct simulate_thread *thread)
{
    return thread->depth > 0 &&
           (!thread->interruptible ||
            owed_class(thread) >= size_class(thread->jobs[thread->depth - 1].bytes));
}

/* Seconds left of what the thread is at; INFINITY: it is idle. */
static double
seconds_left(const struct simulate_thread *thread)
{
    size_t class = owed_class(thread);

    if (is_at_job(thread))
        return thread->jobs[thread->depth - 1].left;
    return class < SIMULATE_SIZES ? thread->owed[class] : INFINITY;
}

/* May a job of so many bytes begin before what is owed? */
static bool
may_begin(const struct simulate_thread *thread, const struct simulate_store *store, uint64_t bytes)
{
    uint64_t owed = thread->owes & (((uint64_t)2 << size_class(bytes)) - 1);

    for (; owed != 0; owed &= owed - 1) {
        if (store->count <= thread->owed_runs[__builtin_ctzll(owed)])
            return false;
    }
    return true;
}

/* Bytes of the job that the thread is at, or owes and is at. */
static uint64_t
bytes_at_work(const struct simulate_thread *thread)
{
    if (is_at_job(thread))
        return thread->jobs[0].bytes;
    return thread->owes != 0 ? thread->owed_bytes[owed_class(thread)] : 0;
}

/* ---- what is due ---- */

static void
ask_policy(const struct simulate_compactor *compactor, const struct simulate_store *store,
           uint64_t most, bool all_files_first, struct policy_pick *picked)
{
    const struct policy_limits limits = {.min_bytes = compactor->settings->memtable_bytes,
                                         .max_bytes = most,
                                         .all_files_first = all_files_first};

    policy_pick(store->runs, store->count, &limits, picked);
}

static bool
is_busy(const struct simulate_store *store)
{
    for (size_t i = 0; i < store->count; i++) {
        if (store->runs[i].busy)
            return true;
    }
    return false;
}

/* What is picked within limits: a pick without them of runs that are alike, if it keeps to them.
 * All-files picks depend on more. */
static void
pick_within(const struct simulate_compactor *compactor, const struct simulate_due *due,
            uint64_t most, bool all_files_first, struct policy_pick *picked)
{
    enum policy_reason reason = due->picked.reason;

    if (due->is_due && due->picked.bytes <= most &&
        (reason == POLICY_LEVEL || reason == POLICY_EXPLORING) &&
        !(all_files_first && is_busy(due->store)))
        *picked = due->picked;
    else
        ask_policy(compactor, due->store, most, all_files_first, picked);
}

static struct simulate_due *
find_due(struct simulate_compactor *compactor, const struct simulate_store *store)
{
    for (size_t i = 0; i < compactor->due_count; i++) {
        if (compactor->due[i].store == store)
            return &compactor->due[i];
    }
    return NULL;
}

static struct simulate_due *
add_due(struct simulate_compactor *compactor)
{
    if (compactor->due_count == compactor->due_capacity) {
        size_t capacity = 2 * compactor->due_capacity + 16;
        struct simulate_due *grown = bench_alloc(capacity * sizeof *grown);

        if (compactor->due_count > 0)
            memcpy(grown, compactor->due, compactor->due_count * sizeof *grown);
        free(compactor->due);
        compactor->due = grown;
        compactor->due_capacity = capacity;
    }
    return &compactor->due[compactor->due_count++];
}

/* No job of fewer bytes is picked: that merges two runs, unless all files are one. */
static uint64_t
least_bytes(const struct simulate_store *store)
{
    uint64_t least = store->count == 1 ? store->runs[0].bytes : UINT64_MAX;

    for (size_t i = 1; i < store->count; i++) {
        uint64_t bytes = store->runs[i - 1].bytes + store->runs[i].bytes;

        if (bytes < least)
            least = bytes;
    }
    return least;
}

void
simulate_compactor_note(struct simulate_compactor *compactor, struct simulate_store *store)
{
    struct simulate_due *due = find_due(compactor, store);
    uint64_t least = least_bytes(store);

    if (due == NULL)
        due = add_due(compactor);
    *due = (struct simulate_due){.store = store, .nothing_within = least > 0 ? least - 1 : 0};
    compactor->changes++;
}

/* Keep those of which a job of any size may begin: limits only keep jobs from it. */
static void
keep_due(struct simulate_compactor *compactor)
{
    for (size_t i = 0; i < compactor->due_count;) {
        struct simulate_due *due = &compactor->due[i];

        if (!due->is_due)
            ask_policy(compactor, due->store, UINT64_MAX, false, &due->picked);
        due->is_due = due->picked.reason != POLICY_NOTHING;
        if (due->is_due)
            i++;
        else
            *due = compactor->due[--compactor->due_count];
    }
}

/* ---- jobs ---- */

static double
seconds_of(const struct simulate_settings *settings, const struct simulate_work *work)
{
    return fmax(work->read, work->written) / settings->merge_rate +
           (work->files + 1) * settings->file_seconds; /* the manifest is one */
}

static void
begin_job(struct simulate_compactor *compactor, struct simulate_thread *thread,
          struct simulate_store *store, const struct policy_pick *picked)
{
    struct simulate_job *job = &thread->jobs[thread->depth++];
    struct simulate_work work = simulate_store_plan(store, picked->first, picked->count);
    double seconds = seconds_of(compactor->settings, &work);

    assert(thread->depth <= SIMULATE_MOST_NESTED);
    *job = (struct simulate_job){.store = store,
                                 .number = ++compactor->numbers,
                                 .last = store->last,
                                 .bytes = picked->bytes,
                                 .runs = store->count,
                                 .reason = picked->reason,
                                 .all_files = picked->all_files,
                                 .work = work,
                                 .seconds = seconds,
                                 .left = seconds,
                                 .looked_left = seconds};
    for (size_t i = picked->first; i < picked->first + picked->count; i++) {
        assert(store->owners[i] == 0);
        store->owners[i] = job->number;
        store->runs[i].busy = true;
    }
    simulate_compactor_note(compactor, store);
}

/* Of the picks that the thread may begin that of the store with most runs. */
static struct simulate_due *
most_wanted(struct simulate_compactor *compactor, const struct simulate_thread *thread,
            const struct policy_pick *(*pick_of)(struct simulate_compactor *compactor,
                                                 struct simulate_due *due),
            struct policy_pick *picked)
{
    struct simulate_due *best = NULL;

    for (size_t i = 0; i < compactor->due_count; i++) {
        struct simulate_due *due = &compactor->due[i];
        const struct policy_pick *own;

        if (best != NULL && due->store->count <= best->store->count)
            continue;
        own = pick_of(compactor, due);
        if (own->reason == POLICY_NOTHING || !may_begin(thread, due->store, own->bytes))
            continue;
        best = due;
        *picked = *own;
    }
    return best;
}

static const struct policy_pick *
pick_any(struct simulate_compactor *compactor, struct simulate_due *due)
{
    if (!due->any_known)
        pick_within(compactor, due, UINT64_MAX, true, &due->any);
    due->any_known = true;
    return &due->any;
}

static const struct policy_pick *
pick_small(struct simulate_compactor *compactor, struct simulate_due *due)
{
    uint64_t at_work = bytes_at_work(&compactor->any);
    uint64_t most = policy_bytes_beside(at_work, small_bytes(compactor));
    bool all_first = at_work == 0;

    if (!due->small_known || due->small_bytes != most || due->small_all_first != all_first)
        pick_within(compactor, due, most, all_first, &due->small);
    due->small_known = true;
    due->small_bytes = most;
    due->small_all_first = all_first;
    return &due->small;
}

/* The bytes of a job that are done. */
static uint64_t
bytes_done(const struct simulate_job *job)
{
    return job->seconds > 0 ? (uint64_t)((double)job->bytes * (1 - job->left / job->seconds)) : 0;
}

/* Seconds of work on a job after which one is looked for that may interrupt it. */
static double
seconds_of_look(const struct simulate_compactor *compactor)
{
    return (double)compactor->settings->memtable_bytes / compactor->settings->merge_rate;
}

/* One that interrupts the second thread's job. */
static bool
interrupt(struct simulate_compactor *compactor)
{
    struct simulate_thread *thread = &compactor->small;
    struct simulate_job *job = &thread->jobs[thread->depth - 1];
    uint64_t within = policy_bytes_within(job->bytes, bytes_done(job), job->interrupted);
    struct simulate_due *best = NULL;
    struct policy_pick best_pick = {0};

    if (within == 0 || thread->depth == SIMULATE_MOST_NESTED ||
        (job->looked_changes == compactor->changes &&
         job->looked_left - job->left < seconds_of_look(compactor)))
        return false;
    job->looked_changes = compactor->changes;
    job->looked_left = job->left;
    for (size_t i = 0; i < compactor->due_count; i++) {
        struct simulate_due *due = &compactor->due[i];
        struct policy_pick picked;

        if (within <= due->nothing_within ||
            (best != NULL && due->store->count <= best->store->count))
            continue;
        pick_within(compactor, due, within, false, &picked);
        if (picked.reason == POLICY_NOTHING) {
            due->nothing_within = within;
        } else if (may_begin(thread, due->store, picked.bytes)) {
            best = due;
            best_pick = picked;
        }
    }
    if (best == NULL)
        return false;
    job->interrupted += (uint64_t)best->store->weight * best_pick.bytes;
    begin_job(compactor, thread, best->store, &best_pick);
    return true;
}

void
simulate_compactor_begin(struct simulate_compactor *compactor)
{
    struct simulate_due *due;
    struct policy_pick picked;

    if (compactor->any.depth == 0 || compactor->small.depth == 0)
        keep_due(compactor);
    if (compactor->any.depth == 0) {
        due = most_wanted(compactor, &compactor->any, pick_any, &picked);
        if (due != NULL)
            begin_job(compactor, &compactor->any, due->store, &picked);
    }
    if (compactor->small.depth == 0) {
        due = most_wanted(compactor, &compactor->small, pick_small, &picked);
        if (due != NULL)
            begin_job(compactor, &compactor->small, due->store, &picked);
    }
    while (compactor->small.depth > 0 && interrupt(compactor))
        continue;
}

/* ---- time ---- */

double
simulate_compactor_next(const struct simulate_compactor *compactor)
{
    double next = fmin(seconds_left(&compactor->any), seconds_left(&compactor->small));

    if (compactor->small.depth > 0 && compactor->due_count > 0)
        next = fmin(next, seconds_of_look(compactor));
    return next;
}

/* Bytes that a job has written so far. */
static double
written_so_far(const struct simulate_job *job)
{
    return job->seconds > 0 ? job->work.written * (1 - job->left / job->seconds) : 0;
}

/* The room that is taken now, unfinished outputs included. */
static double
room_taken(const struct simulate_compactor *compactor)
{
    double bytes = compactor->disk->bytes;

    for (size_t i = 0; i < compactor->any.depth; i++)
        bytes += written_so_far(&compactor->any.jobs[i]);
    for (size_t i = 0; i < compactor->small.depth; i++)
        bytes += written_so_far(&compactor->small.jobs[i]);
    return bytes;
}

/* The runs of the store that the job has become one; 0: it has none there. */
static void
end_in_store(struct simulate_compactor *compactor, const struct simulate_job *job,
             struct simulate_store *store)
{
    size_t first = 0, count = 0;
    struct simulate_work work;

    while (first < store->count && store->owners[first] != job->number)
        first++;
    while (first + count < store->count && store->owners[first + count] == job->number)
        count++;
    if (count == 0)
        return;
    work = simulate_store_replace(store, first, count, job->all_files);
    compactor->merged[job->reason] += store->weight * work.written;
}

static void
end_job(struct simulate_compactor *compactor, struct simulate_thread *thread, double live,
        simulate_changed *changed, void *argument)
{
    struct simulate_job job = thread->jobs[thread->depth - 1];
    size_t class = size_class(job.bytes);
    double commits = fmax(1, job.work.files);

    compactor->most_taken = fmax(compactor->most_taken, room_taken(compactor) - live);
    compactor->longest_bytes = fmax(compactor->longest_bytes, job.work.written / commits);
    compactor->longest_seconds = fmax(compactor->longest_seconds, job.seconds / commits);
    compactor->jobs++;
    thread->depth--;
    if (job.store->weight > 1) {
        set_owed(thread, class, thread->owed[class] + (job.store->weight - 1) * job.seconds);
        thread->owed_bytes[class] = job.bytes;
        thread->owed_runs[class] = job.runs;
    }
    /* The store, and what has split from it. */
    for (struct simulate_store *store = job.store; store != NULL && store->first <= job.last;
         store = store->next) {
        end_in_store(compactor, &job, store);
        simulate_compactor_note(compactor, store);
        changed(argument, store);
        if (store->last >= job.last)
            break;
    }
}

static void
pass_in_thread(struct simulate_compactor *compactor, struct simulate_thread *thread, double seconds,
               double live, simulate_changed *changed, void *argument)
{
    bool at_job = is_at_job(thread);
    double left = seconds_left(thread) - seconds;

    if (left == INFINITY)
        return;
    if (left <= ROUNDING)
        left = 0;
    if (at_job)
        thread->jobs[thread->depth - 1].left = left;
    else
        set_owed(thread, owed_class(thread), left);
    if (left == 0 && at_job)
        end_job(compactor, thread, live, changed, argument);
    compactor->changes += left == 0;
}

void
simulate_compactor_pass(struct simulate_compactor *compactor, double seconds, double live,
                        simulate_changed *changed, void *argument)
{
    pass_in_thread(compactor, &compactor->any, seconds, live, changed, argument);
    pass_in_thread(compactor, &compactor->small, seconds, live, changed, argument);
}
