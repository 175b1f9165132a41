/*
 * work.h -- one piece of work of the compactor: finding the store that wants it most, and what a
 * job holds while it runs.
 *
 * Threads: as each function says; a struct work belongs to the thread that does it.
 */
#ifndef PETAL_ENGINE_COMPACT_WORK_H
#define PETAL_ENGINE_COMPACT_WORK_H

#include "engine/compact/claims.h"
#include "engine/compact/job.h"
#include "engine/compact/runs.h"

struct work {
    struct claim claim;
    struct compact_job job;
    size_t input_bytes;
    bool any; /* it is that of the thread that takes any job */
};

/* A look at all stores: what it goes by, and what it finds. */
struct look {
    const struct claims *claims;
    struct store_runs *runs; /* memory for the runs of a store */
    struct view *view;       /* the current one; the epoch keeps it */
    uint64_t max_bytes, small_bytes;
    bool all_files_first;
    int64_t now_ms;
    uint64_t time;           /* grows when something may be due that only time brings about */
    uint64_t oldest, newest; /* of the snapshots */
    struct policy_pick pick; /* that of the store with most runs */
    struct store *store;     /* whose it is */
    size_t run_count;        /* that it has */
};

/* REQUIRES: schema.mutex and the compactor's mutex held, inside the epoch. */
void look_at_all(petal_db *db, struct look *look);

/* The work that was found. PETAL_NO_MEMORY: nothing. REQUIRES: the same, and a pick. */
enum petal_status work_begin(struct work *work, const struct look *look);

/*
 * Inputs for work: the runs from `first` on. `fewer_first`: all files, unless the store is to have
 * fewer runs before, then those that are merged for it. `runs` is memory. REQUIRES: the compactor's
 * mutex held.
 */
enum petal_status work_take_runs(struct work *work, petal_db *db, struct store_runs *runs,
                                 const struct store_view *store, size_t first, size_t count,
                                 bool fewer_first);

/* Release what the work holds, but for its claim. */
void work_release(struct work *work, petal_db *db);

#endif
