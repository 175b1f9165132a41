/*
 * workload.h -- db_bench's workloads as data: which operation, on which keys; run by the driver
 * (tools/bench/harness/driver.h) on a store, each answer checked.
 *
 * Operations are shared by the threads (in db_bench each thread does them all), but for readseq and
 * readreverse, in which each thread goes over everything. Keys of reads are made outside of the
 * clock, those of writes while it runs.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_WORKLOAD_H
#define PETAL_TOOLS_BENCH_WORKLOADS_WORKLOAD_H

#include "tools/bench/keys/distribution.h"
#include "tools/bench/keys/keyset.h"
#include "tools/bench/keys/pairs.h"
#include "tools/bench/workloads/job.h"

#define BENCH_MOST_BATCH 1024

/* How much of it, and how. */
struct bench_load {
    uint64_t keys;          /* numbers 0 .. keys - 1 */
    uint64_t writes, reads; /* operations of all threads together */
    unsigned threads;
    enum bench_distribution_kind distribution;
    uint64_t batch;      /* keys of a get_many */
    uint64_t nexts;      /* steps behind a seek */
    bool keeps_iterator; /* one for all seeks of a thread; else each makes one and ends it */
    unsigned sample;     /* latencies are taken of one operation in so many */
    double duration;     /* seconds of a workload; 0: until its operations are done */
    uint64_t seed;
};

/* An open store and what is in it. */
struct bench_bed {
    const struct bench_store *store;
    void *opened;
    const struct bench_pairs *pairs;
    struct bench_keyset *keys;
    struct bench_load load;
};

struct bench_workload;

/* NULL: there is none. */
const struct bench_workload *bench_workload_named(const char *name, size_t size);

/* Name and meaning of each, a line each, on stderr. */
void bench_workload_list(void);

/* Does it read what must have been written before? */
bool bench_workload_reads(const struct bench_workload *workload);

/* Does it begin with an empty store; with one that was opened to sync? */
bool bench_workload_is_fresh(const struct bench_workload *workload);
bool bench_workload_syncs(const struct bench_workload *workload);

/*
 * Run it in the job's process and add its outcome under that name, NULL: its own; the outcome.
 * `stream`: its place among the workloads of the run, for random numbers of its own.
 */
struct bench_outcome *bench_workload_run(const struct bench_workload *workload,
                                         const struct bench_bed *bed, struct bench_job *job,
                                         const char *operation, uint64_t stream);

/* Bytes of all pairs that are there. */
uint64_t bench_bed_live_bytes(const struct bench_bed *bed);

#endif
