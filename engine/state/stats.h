/*
 * stats.h -- counters of a database, in shards, so that counting touches no shared line. A reader
 * owns the shard of its epoch slot while it is inside, and adds with plain stores; so does the
 * leader of the writers. All others share one shard with atomic additions.
 */
#ifndef PETAL_ENGINE_STATE_STATS_H
#define PETAL_ENGINE_STATE_STATS_H

#include "base/epoch.h"
#include "engine/petal.h"

struct stats_shard {
    /* Files that gets left out for what a filter chunk in the cache said: each counts as one of
     * skipped_bloom, filter_probes, filter_negatives and filter_cached, beside what those have. */
    _Alignas(CACHE_LINE_BYTES) _Atomic(uint64_t) filters_denied;
#define STATS_FIELD(name, meaning) _Atomic(uint64_t) name;
    PETAL_STATS_MAP(STATS_FIELD)
#undef STATS_FIELD
};

#define STATS_SHARED EPOCH_SLOTS
#define STATS_LEADER (EPOCH_SLOTS + 1)
#define STATS_SHARDS (EPOCH_SLOTS + 2)

/* Add to a counter of the reader's own shard: only one thread writes to it at a time. */
#define STATS_ADD(shard, name, n)                                                                  \
    atomic_store_explicit(&(shard)->name,                                                          \
                          atomic_load_explicit(&(shard)->name, memory_order_relaxed) + (n),        \
                          memory_order_relaxed)

/* Add to a counter of the leader's shard. LEADER. */
#define STATS_ADD_LEADER(db, name, n) STATS_ADD(&(db)->stats[STATS_LEADER], name, n)

/* Add to a counter of the shared shard. */
#define STATS_ADD_SHARED(db, name, n)                                                              \
    atomic_fetch_add_explicit(&(db)->stats[STATS_SHARED].name, (n), memory_order_relaxed)

#endif
