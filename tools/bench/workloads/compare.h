/*
 * compare.h -- the parts of `kv-bench compare`: what is asked for, the work on one store, the report.
 *
 * The work on one store, with blocks of one size, in one repeat, happens in a process of its own (tools/bench/harness/child.h), so that memory,
 * processor time and what an engine leaves behind are its own.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_COMPARE_H
#define PETAL_TOOLS_BENCH_WORKLOADS_COMPARE_H

#include "tools/bench/harness/options.h"
#include "tools/bench/results/result.h"
#include "tools/bench/stores/store.h"

#define BENCH_COMPARE_LINES 64
#define BENCH_VALUE_BYTES   100

struct bench_compare {
    uint64_t rows, gets;
    uint64_t synced_puts; /* fsync'd */
    uint64_t repeats;
    bool as_written; /* read what the engine's background left, not what its full compaction did */
    struct bench_config config;
    const struct bench_store *stores[BENCH_MOST_STORES];
    size_t store_count;
    struct bench_list block_sizes, threads;
};

/* What one store did in one repeat. */
struct bench_compare_outcome {
    size_t count;
    struct bench_compare_line {
        char operation[BENCH_NAME_BYTES];
        unsigned threads;
        struct bench_measurement measured;
    } lines[BENCH_COMPARE_LINES];
    uint64_t answers;       /* a hash of what the check of agreement was answered */
    uint64_t resident_peak; /* bytes; pages of files that are mapped included */
    uint64_t disk_bytes;    /* when all was written, and settled or compacted */
};

/* Do the work in a new process and wait for it; ends the program when it failed. `outcome` is shared memory (tools/bench/harness/child.h). */
void bench_compare_in_child(const struct bench_compare *compare, const struct bench_store *store,
                            const struct bench_config *config,
                            struct bench_compare_outcome *outcome);

/* The settings with blocks of one of the sizes. */
struct bench_config bench_compare_config(const struct bench_compare *compare, size_t block);

/* Cache of the phases with a small cache: a tenth of keys and values. */
size_t bench_compare_small_cache(const struct bench_compare *compare);

void bench_compare_print(const struct bench_compare *compare, const struct bench_result *result);

/* Does this store say of itself that it was built with assertions on? */
bool bench_compare_asserts(const struct bench_store *store, const struct bench_config *config);

#endif
