/*
 * claims.h -- which jobs work on which runs, and which wait: a list in the order of arrival.
 *
 * A job claims single runs. A requested job (petal_compact) starts when no other runs on the store
 * and none was requested before it. While one waits or runs, background jobs begin on the store
 * only while a long job runs, and only if they are small compared with it. So flushed files are
 * merged meanwhile, and the requested job starts when the long and the small ones have ended.
 *
 * Threads: under the compactor's mutex.
 */
#ifndef PETAL_ENGINE_COMPACT_CLAIMS_H
#define PETAL_ENGINE_COMPACT_CLAIMS_H

#include "engine/petal.h"

/* Memory of whoever works or waits. */
struct claim {
    struct claim *next;
    const struct store *store;
    bool asked;
    bool running;   /* else it waits, and has no runs */
    bool large;     /* may take long */
    uint64_t bytes; /* of the runs */
    bool all_files;
    uint64_t *runs; /* their numbers */
    size_t run_count;
};

struct claims {
    struct claim *first;
};

/* Room for `count` runs; false: no memory. */
bool claim_runs(struct claim *claim, const petal_allocator *allocator, size_t count);
void claim_fini(struct claim *claim, const petal_allocator *allocator);

void claims_add(struct claims *claims, struct claim *claim); /* at the end */
void claims_remove(struct claims *claims, struct claim *claim);

/* Someone asked for the store, and runs or waits. */
bool claims_asked(const struct claims *claims, const struct store *store);

/* Someone at work on the store may take long. */
bool claims_large(const struct claims *claims, const struct store *store);

/* The most bytes that someone is at work on, of the store or (NULL) of all. */
uint64_t claims_most_bytes(const struct claims *claims, const struct store *store);

/* A job works on the run. */
bool claims_busy(const struct claims *claims, const struct store *store, uint64_t run);

/* Nobody else runs on the store, and nobody asked for it before. */
bool claims_may_run(const struct claims *claims, const struct claim *claim);

size_t claims_running(const struct claims *claims);

#endif
