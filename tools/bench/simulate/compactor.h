/*
 * compactor.h -- the two compaction threads of engine/compact/compactor.h in simulated time: which
 * store each takes up next, how long its job takes, and what interrupts it.
 *
 * WEIGHT.  A job of a store that stands for several regions is done for that one in its own time.
 * Then the thread owes the same work for the others. Before it has done that, it begins smaller
 * jobs only, and those of stores with more runs than that one had; and a job that may be interrupted
 * goes on once nothing smaller is owed. So the threads have as much to do as with all regions.
 */
#ifndef PETAL_TOOLS_BENCH_SIMULATE_COMPACTOR_H
#define PETAL_TOOLS_BENCH_SIMULATE_COMPACTOR_H

#include "tools/bench/simulate/store.h"

#define SIMULATE_MOST_NESTED 7  /* the engine's */
#define SIMULATE_SIZES       33 /* of jobs: powers of four */
#define SIMULATE_REASONS     (POLICY_ASKED + 1)

struct simulate_job {
    struct simulate_store *store;
    unsigned number;
    uint64_t last; /* row of the store, which may split meanwhile */
    uint64_t bytes;
    size_t runs; /* of the store, when it began */
    enum policy_reason reason;
    bool all_files;
    struct simulate_work work; /* as it was planned */
    double seconds, left;
    uint64_t interrupted; /* bytes of jobs that have interrupted it, of all regions */
    /* As of the last look for one that may interrupt it. */
    uint64_t looked_changes;
    double looked_left;
};

struct simulate_thread {
    bool interruptible;
    struct simulate_job jobs[SIMULATE_MOST_NESTED]; /* each interrupts the one before */
    size_t depth;
    uint64_t owes;               /* a bit for each size of job of which it owes something */
    double owed[SIMULATE_SIZES]; /* seconds */
    uint64_t owed_bytes[SIMULATE_SIZES];
    size_t owed_runs[SIMULATE_SIZES]; /* of the store, when its job began */
};

/* A store that has changed and may have something to do, and what the policy said of it when it was
 * last asked. */
struct simulate_due {
    struct simulate_store *store;
    bool is_due;               /* else it was not asked yet */
    struct policy_pick picked; /* without limits */
    bool any_known, small_known;
    struct policy_pick any, small;
    uint64_t small_bytes; /* the limits of `small` */
    bool small_all_first;
    uint64_t nothing_within; /* no job of at most so many bytes may interrupt another */
};

struct simulate_compactor {
    const struct simulate_settings *settings;
    struct simulate_disk *disk;
    struct simulate_thread any, small;
    struct simulate_due *due;
    size_t due_count, due_capacity;
    uint64_t changes;
    unsigned numbers;
    /* What came of it. */
    double merged[SIMULATE_REASONS]; /* bytes written, by reason */
    uint64_t jobs;
    double longest_bytes, longest_seconds; /* of a job, up to a commit */
    double most_taken;                     /* bytes of files and unfinished outputs, less `live` */
};

/* Called when a store has changed by a job. */
typedef void simulate_changed(void *argument, struct simulate_store *store);

void simulate_compactor_init(struct simulate_compactor *compactor,
                             const struct simulate_settings *settings, struct simulate_disk *disk);
void simulate_compactor_fini(struct simulate_compactor *compactor);

/* A store has changed, or time may have made something due there. */
void simulate_compactor_note(struct simulate_compactor *compactor, struct simulate_store *store);

/* Begin what idle threads may begin, and what may interrupt. */
void simulate_compactor_begin(struct simulate_compactor *compactor);

/* Seconds until something has to be looked at; INFINITY: nothing runs. */
double simulate_compactor_next(const struct simulate_compactor *compactor);

/* Let so many seconds pass, no more than there are until the next thing, and end the jobs that
 * have ended. `live`: bytes that all stores need. */
void simulate_compactor_pass(struct simulate_compactor *compactor, double seconds, double live,
                             simulate_changed *changed, void *argument);

#endif
