/* stats.c -- what a database counts, and where it stands. */
#include "engine/compact/compactor.h"
#include "engine/flush/flush.h"

void
petal_stats_get(petal_db *db, petal_stats *stats)
{
    struct cache_usage usage;

    if (stats == NULL)
        return;
    memset(stats, 0, sizeof *stats);
    if (db == NULL)
        return;
    if (db_is_of_another_process(db)) {
        stats->read_only = true;
        (void)db_refuse_process(db, &stats->background_error);
        return;
    }
    for (size_t i = 0; i < STATS_SHARDS; i++) {
        uint64_t denied = atomic_load_explicit(&db->stats[i].filters_denied, memory_order_relaxed);

        stats->skipped_bloom += denied;
        stats->filter_probes += denied;
        stats->filter_negatives += denied;
        stats->filter_cached += denied;
#define STATS_SUM(name, meaning)                                                                   \
    stats->name += atomic_load_explicit(&db->stats[i].name, memory_order_relaxed);
        PETAL_STATS_MAP(STATS_SUM)
#undef STATS_SUM
    }
    stats->compactions_running = compactor_running(db);
    stats->compacting_cells =
        atomic_load_explicit(&db->progress.compacting.cells, memory_order_relaxed);
    stats->compacting_done =
        atomic_load_explicit(&db->progress.compacting.done, memory_order_relaxed);
    stats->read_only =
        db->read_only || atomic_load_explicit(&db->failure.failed, memory_order_acquire);
    error_clear(&stats->background_error);
    if (failure_latest(&db->failure, &stats->background_error) == PETAL_OK)
        (void)damage_check(&db->schema, NULL, NULL, &stats->background_error);
    stats->memory_limit = db->memory.limit;
    stats->memtable_memory = atomic_load_explicit(&db->memory.memtables, memory_order_relaxed);
    stats->file_memory = atomic_load_explicit(&db->memory.files, memory_order_relaxed) +
                         atomic_load_explicit(&db->memory.bulks, memory_order_relaxed);
    stats->flushes_waiting = flush_waits(db);
    cache_usage_get(db->cache, &usage);
    stats->cache_capacity = usage.capacity;
    for (int kind = 0; kind < PETAL_BLOCK_KINDS; kind++) {
        stats->cache_bytes[kind] = usage.bytes[kind];
        stats->cache_blocks[kind] = usage.blocks[kind];
        stats->cache_inserted[kind] = usage.inserted[kind];
        stats->cache_evicted[kind] = usage.evicted[kind];
    }
}

uint64_t
petal_stats_latency(petal_db *db, enum petal_latency_kind kind, double percent, uint64_t *timed)
{
    uint64_t limit = 0, count = 0;

    if (db != NULL && !db_is_of_another_process(db) && (unsigned)kind < PETAL_LATENCY_KINDS)
        limit = latency_percentile(&db->latencies.of[kind], percent, &count);
    if (timed != NULL)
        *timed = count;
    return limit;
}
