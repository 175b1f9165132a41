/*
 * progress.h -- how far flushes and compactions are, as writers must know it (engine/write/pace.h):
 * the runs of each store, and the word that something has moved.
 */
#ifndef PETAL_ENGINE_STATE_PROGRESS_H
#define PETAL_ENGINE_STATE_PROGRESS_H

#include "base/mutex.h"
#include "engine/state/handle.h"

/* Runs of a store at which its writers are slowed, and at which they wait. The last is the greatest
 * number of runs there are while compactions work, and so the divisor of the error rate
 * (engine/store/bloom_share.h). */
#define STORE_SLOW_RUNS 13
#define STORE_MOST_RUNS 24

/* Cells of the jobs that run, in all and those that are done; about, for people who wait. */
struct rewrite_progress {
    _Atomic(uint64_t) cells, done;
};

/* What writers wait for. */
struct progress {
    struct mutex
        mutex; /* guards the flusher's jobs, too, and the line of writers (engine/write/pace.h) */
    pthread_cond_t moved;
    _Atomic(uint64_t) flush_rate;       /* bytes a second, of late; 0: none yet */
    _Atomic(uint32_t) pressed;          /* stores whose writers are slowed, and writers in line */
    struct rewrite_progress compacting; /* of all compactions that run */
};

/* The family's store has changed in the current view, or one of its files has turned out to be
 * damaged: count its runs, frozen memtables included, but no further than STORE_MOST_RUNS.
 * REQUIRES: views->mutex held. */
void progress_count_runs(struct progress *progress, const struct views *views,
                         petal_family *family);

/* Something has moved: writers that wait look again. Any thread that holds no lock of the database
 * but views.mutex. */
void progress_tell(struct progress *progress);

#endif
