/*
 * writers.h -- threads that write one pass of a data set (tools/bench/keys/dataset.h), as fast as they can or to a schedule.
 *
 * With a rate each operation has its time on a schedule that does not wait for anybody, and its latency counts from that time: an
 * operation that stands behind a stalled one is late, too, and is counted as such (else a stall would cost one sample: "coordinated
 * omission"). All that is due within a millisecond is due at its begin: to sleep before each operation would cost more than the operation.
 *
 * Threads: the writers take chunks of the pass from a common counter; begin, progress and end belong to one other thread.
 */
#ifndef PETAL_TOOLS_BENCH_WORKLOADS_WRITERS_H
#define PETAL_TOOLS_BENCH_WORKLOADS_WRITERS_H

#include "tools/bench/harness/histogram.h"
#include "tools/bench/keys/dataset.h"

#include <pthread.h>

#define BENCH_TICK_SECONDS 1e-3

struct bench_writers {
    const struct bench_dataset *dataset;
    const struct bench_pass *pass;
    unsigned thread_count;
    double rate;  /* operations a second of all threads; 0: as fast as they can */
    double began; /* of the schedule */
    struct bench_writer *writers;
    _Atomic(uint64_t) next_chunk;
    _Atomic(unsigned) running;
};

/* Threads and their histograms; `rate` counts from the first pass on. */
void bench_writers_init(struct bench_writers *writers, const struct bench_dataset *dataset,
                        unsigned thread_count, double rate);
void bench_writers_free(struct bench_writers *writers);

void bench_writers_begin(struct bench_writers *writers, const struct bench_pass *pass);
bool bench_writers_running(const struct bench_writers *writers);
void bench_writers_join(struct bench_writers *writers);

/* Latencies in nanoseconds of all operations of all passes so far, added to `histogram`. */
void bench_writers_latencies(const struct bench_writers *writers,
                             struct bench_histogram *histogram);

/* Bytes of keys and values so far; of deletions the key. */
uint64_t bench_writers_bytes(const struct bench_writers *writers);

#endif
