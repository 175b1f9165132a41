/*
 * operation.h -- single operations of db_bench's workloads, as one thread of a workload does them, each answer checked.
 *
 * Threads: a worker belongs to one; what it points to is shared.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_OPERATION_H
#define PETAL_TOOLS_BENCH_WORKLOADS_OPERATION_H

#include "tools/bench/harness/histogram.h"
#include "tools/bench/keys/distribution.h"
#include "tools/bench/keys/keyset.h"
#include "tools/bench/keys/pairs.h"
#include "tools/bench/stores/store.h"

#define BENCH_MOST_BATCH 1024

/* How much of it, and how. */
struct bench_load {
    uint64_t keys;          /* numbers 0 .. keys - 1 */
    uint64_t writes, reads; /* operations of all threads together */
    unsigned threads;
    enum bench_distribution_kind distribution;
    uint64_t batch;  /* keys of a get_many */
    uint64_t nexts;  /* steps behind a seek */
    double duration; /* seconds of a workload; 0: until its operations are done */
    uint64_t seed;
};

/* An open store and what is in it. */
struct bench_bed {
    const struct bench_store *store;
    void *opened;
    const struct bench_pairs *pairs;
    struct bench_keyset *keys;
    const struct bench_load *load;
};

struct bench_worker {
    const struct bench_bed *bed;
    void *session;
    struct bench_random random;
    struct bench_distribution distribution;
    uint64_t order_seed; /* of a permutation: the same for all threads of the workload */
    bool beside_writer;  /* a key that was not there may be there now */
    uint64_t operations, found, wrong, given, answered;
    uint8_t sink; /* a byte of each value: so that it is read */
    char *keys;   /* room for BENCH_MOST_BATCH of them */
    struct bench_histogram *latencies;
};

/* Attach a session. `stream`: of its random numbers; another for each thread of each workload. */
void bench_worker_init(struct bench_worker *worker, const struct bench_bed *bed, uint64_t stream);
void bench_worker_free(struct bench_worker *worker);

/* The operation at a position of the workload; how many it counts for. */
typedef uint64_t bench_operation(struct bench_worker *worker, uint64_t position);

bench_operation bench_put_in_order;
bench_operation bench_put_any;    /* uniform, some twice, some never: db_bench's random order */
bench_operation bench_put_unique; /* each once, in random order */
bench_operation bench_overwrite;  /* of the distribution */
bench_operation bench_delete;     /* the same */
bench_operation bench_get;
bench_operation bench_get_missing; /* a key that was never written, between those that were */
bench_operation bench_get_hot;     /* of the first hundredth of the keys */
bench_operation bench_get_many;    /* load.batch keys */
bench_operation bench_seek;        /* an iterator made, a seek, load.nexts steps, and ended */

/* Go over all that there is, forward or back, up to load.reads pairs or to `until` (0: no such time). */
void bench_sweep(struct bench_worker *worker, bool back, double until);

#endif
