/*
 * budget.h -- one limit for memtables, block cache, indexes and filters of open store files, and
 * bulks.
 *
 * Memtables, files and bulks take what they need and report it; the cache gets the rest, between an
 * eighth of the limit and the most that the options allow it. Writers keep memtables below half
 * (engine/write/pace.h); bulks write out when they pass a quarter together (engine/table/bulk.c).
 *
 * Threads: all functions from any thread, without locks but the cache's.
 */
#ifndef PETAL_ENGINE_STATE_BUDGET_H
#define PETAL_ENGINE_STATE_BUDGET_H

#include "cache/cache.h"

struct memory_budget {
    struct cache *cache;
    uint64_t limit, cache_most;
    _Atomic(uint64_t) memtables; /* bytes that are charged */
    _Atomic(uint64_t) files;
    _Atomic(uint64_t) bulks;
    _Atomic(uint64_t) cache_now; /* what the cache was told last */
};

/* `cache_most` 0: the cache is off, and is told nothing. */
void memory_budget_init(struct memory_budget *budget, struct cache *cache, uint64_t limit,
                        uint64_t cache_most);

/* Memory was taken or given back. The cache is resized if the difference is worth its locks. */
void memory_budget_memtables(struct memory_budget *budget, int64_t change);
void memory_budget_files(struct memory_budget *budget, int64_t change);
void memory_budget_bulks(struct memory_budget *budget, int64_t change);

/* What memtables may take in all. */
static inline uint64_t
memory_budget_memtable_limit(const struct memory_budget *budget)
{
    return budget->limit / 2;
}

/* Have all bulks together more buffered than they may? */
static inline bool
memory_budget_bulks_are_over(const struct memory_budget *budget)
{
    return atomic_load_explicit(&budget->bulks, memory_order_relaxed) > budget->limit / 4;
}

#endif
