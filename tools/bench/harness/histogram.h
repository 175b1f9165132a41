/*
 * histogram.h -- times of operations in fixed memory: buckets whose width grows with the value
 * (HdrHistogram's idea), so that every value is known to about 1.6 %, from one nanosecond to
 * centuries.
 *
 * Values below BENCH_HISTOGRAM_STEPS have a bucket each; then each power of two is cut into half as
 * many steps.
 *
 * Threads: one thread adds; others may merge the histogram into one of their own meanwhile, and see
 * most of it.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_HISTOGRAM_H
#define PETAL_TOOLS_BENCH_HARNESS_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define BENCH_HISTOGRAM_STEPS   128u
#define BENCH_HISTOGRAM_BUCKETS ((64u - 5u) * (BENCH_HISTOGRAM_STEPS / 2))

/* All zero: empty. */
struct bench_histogram {
    _Atomic(uint64_t) counts[BENCH_HISTOGRAM_BUCKETS];
    _Atomic(uint64_t) total, greatest;
};

void bench_histogram_add(struct bench_histogram *histogram, uint64_t value);

/* Add what `from` holds to `to`. */
void bench_histogram_merge(struct bench_histogram *to, const struct bench_histogram *from);

/* Take `earlier`, an older state of the same histogram, out of it. The greatest value is then known
 * to its bucket only. */
void bench_histogram_subtract(struct bench_histogram *histogram,
                              const struct bench_histogram *earlier);

uint64_t bench_histogram_total(const struct bench_histogram *histogram);

/* The greatest value added; exact. */
uint64_t bench_histogram_greatest(const struct bench_histogram *histogram);

/* A value that at least `share` (0..1) of all do not exceed: the upper end of a bucket, but never
 * more than the greatest value; 0 when there are none. */
uint64_t bench_histogram_share(const struct bench_histogram *histogram, double share);

/* How many are certainly above `value`: those in buckets behind its own. */
uint64_t bench_histogram_above(const struct bench_histogram *histogram, uint64_t value);

#endif
