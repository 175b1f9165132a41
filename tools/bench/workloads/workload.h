/*
 * workload.h -- db_bench's workloads as data: which operation, on which keys; run by the driver
 * (tools/bench/harness/driver.h) on a store, each answer checked.
 *
 * The room workloads: commands that run operations on stores and time them.
 *
 * The threads share the operations (in db_bench each thread does them all), except for readseq, in
 * which each thread goes over everything. Keys of reads are made outside of the clock, those of
 * writes while it runs.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_WORKLOAD_H
#define PETAL_TOOLS_BENCH_WORKLOADS_WORKLOAD_H

#include "tools/bench/keys/pairs.h"
#include "tools/bench/workloads/job.h"

#define BENCH_MOST_BATCH 1024

/* How much of it, and how. */
struct bench_load {
    uint64_t keys;          /* numbers 0 .. keys - 1 */
    uint64_t writes, reads; /* operations of all threads together */
    unsigned threads;
    uint64_t batch;      /* keys of a get_many */
    uint64_t nexts;      /* steps after a seek */
    bool keeps_iterator; /* one for all seeks of a thread; else each makes one and ends it */
    unsigned sample;     /* latencies are taken of one operation in so many */
    double rate;         /* writes a second, on a schedule; 0: as many as possible */
    uint64_t seed;
};

/* An open store and what is in it. */
struct bench_bed {
    const struct bench_store *store;
    void *opened;
    const struct bench_pairs *pairs;
    uint64_t there; /* the numbers 0 .. there - 1 have a pair */
    struct bench_load load;
};

struct bench_hand; /* what a thread holds */

struct bench_workload {
    const char *name, *meaning;
    uint64_t (*choose)(struct bench_hand *hand, uint64_t position); /* the number of the next key */
    bench_operation *operate; /* NULL: what a store does as a whole */
    size_t act;               /* offset of that in struct bench_store */
    bool writes;              /* load.writes operations into an empty store, else load.reads */
    bool absent;              /* asks for keys that were never written, between those that were */
    bool many;                /* load.batch keys an operation */
    bool sweeps;              /* each thread goes over all that there is */
};

/* NULL: there is none. */
const struct bench_workload *bench_workload_named(const char *name, size_t size);

/* The name of each, by its place from 0 on; NULL: there are no more. */
const char *bench_workload_at(size_t place);

/* Name and meaning of each, a line each, on stderr. */
void bench_workload_list(void);

/*
 * Run it in the job's process and add its outcome under that name, NULL: its own; the outcome.
 * `stream`: its place among the workloads of the run, for random numbers of its own.
 */
struct bench_outcome *bench_workload_run(const struct bench_workload *workload,
                                         struct bench_bed *bed, struct bench_job *job,
                                         const char *operation, uint64_t stream);

/* Bytes of all pairs that are there. */
uint64_t bench_bed_live_bytes(const struct bench_bed *bed);

#endif
