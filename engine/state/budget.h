/*
 * budget.h -- one limit for memtables, block cache and what is kept of open store files.
 *
 * Memtables and files take what they need and say so; the cache gets the rest, between an eighth of
 * the limit and the most that the options allow it. Writers see to it that memtables stay below
 * half (engine/write/pace.h).
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
    _Atomic(uint64_t) cache_now; /* what the cache was told last */
};

/* `cache_most` 0: the cache is off, and is told nothing. */
void memory_budget_init(struct memory_budget *budget, struct cache *cache, uint64_t limit,
                        uint64_t cache_most);

/* Memory was taken or given back. The cache is told when that makes a difference worth a look at
 * its shards. */
void memory_budget_memtables(struct memory_budget *budget, int64_t change);
void memory_budget_files(struct memory_budget *budget, int64_t change);

/* What memtables may take in all. */
static inline uint64_t
memory_budget_memtable_limit(const struct memory_budget *budget)
{
    return budget->limit / 2;
}

#endif
