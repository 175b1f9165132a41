/*
 * workload.h -- db_bench's workloads by name, each run by some threads on a store.
 *
 * Operations are shared by the threads (in db_bench each thread does them all), but for readseq and readreverse, in which each thread
 * goes over everything. A latency is the time from the end of one operation to the end of the next, with one look at the clock:
 * the making of a key and of a value is in it, the same for all stores.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_WORKLOAD_H
#define PETAL_TOOLS_BENCH_WORKLOADS_WORKLOAD_H

#include "tools/bench/results/outcome.h"
#include "tools/bench/workloads/operation.h"

struct bench_workload {
    const char *name, *meaning;
    bench_operation *operate; /* NULL: one of those below */
    bool
        writes; /* does load.writes operations, else load.reads; behind it there may be something to read */
    bool fresh;         /* begins with an empty store */
    bool sync;          /* on a store that was opened to sync; a thousandth of the operations */
    bool beside_writer; /* one more thread overwrites meanwhile */
    enum { BENCH_EACH, BENCH_SWEEP, BENCH_SWEEP_BACK, BENCH_COMPACT, BENCH_FLUSH, BENCH_WAIT } way;
};

/* NULL: there is none. */
const struct bench_workload *bench_workload_named(const char *name, size_t size);

/* Name and meaning of each, a line each, on stderr. */
void bench_workload_list(void);

/* Run it; sets what operations came to, not what they used. `stream`: its place among the workloads of the run. */
void bench_workload_run(const struct bench_workload *workload, const struct bench_bed *bed,
                        uint64_t stream, struct bench_outcome *outcome);

#endif
