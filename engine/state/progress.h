/*
 * progress.h -- the progress of flushes and compactions, for writers that wait
 * (engine/write/pace.h): the runs of each store, and the signal that something has moved.
 */
#ifndef PETAL_ENGINE_STATE_PROGRESS_H
#define PETAL_ENGINE_STATE_PROGRESS_H

#include "base/mutex.h"
#include "engine/state/handle.h"

/* Runs of a store at which its writers are slowed, and at which they wait. The latter is the most
 * that a store has while compactions work, so it divides the error rate
 * (engine/store/bloom_share.h). */
#define STORE_SLOW_RUNS 13
#define STORE_MOST_RUNS 24

/* Cells of the running jobs, in all and done, and the bytes that these may write; approximate. */
struct rewrite_progress {
    _Atomic(uint64_t) cells, done, bytes;
};

/* What writers wait for. */
struct progress {
    struct mutex
        mutex; /* guards the flusher's jobs, too, and the line of writers (engine/write/pace.h) */
    pthread_cond_t moved;
    pthread_cond_t grown; /* a region is to be split, or one was looked for (see the next) */
    bool has_grown;       /* one may be above its limit by now; guarded by the mutex */
    _Atomic(uint64_t) flush_rate;       /* bytes a second, of late; 0: none yet */
    _Atomic(uint32_t) pressed;          /* stores whose writers are slowed, and writers in line */
    struct rewrite_progress compacting; /* of all compactions that run */
};

/* Count the runs of the store, frozen memtables included, up to STORE_MOST_RUNS: it has
 * changed in the current view, or a file is damaged. REQUIRES: views->mutex held. */
void progress_count_runs(struct progress *progress, const struct views *views, struct store *store);

/* Something has moved: waiting writers look again. Any thread that holds no lock of the database
 * but views.mutex. */
void progress_tell(struct progress *progress);

/* A region has grown above its limit, or may have another one. The same. */
void progress_tell_grown(struct progress *progress);

#endif
