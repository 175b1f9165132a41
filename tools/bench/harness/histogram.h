/*
 * histogram.h -- times of operations in fixed memory: buckets whose width grows with the value
 * (HdrHistogram's idea), so that every value is known to about 1.6 %, from one nanosecond to
 * centuries.
 *
 * Values below BENCH_HISTOGRAM_STEPS have a bucket each; then each power of two is cut into half as
 * many steps.
 *
 * Threads: a histogram belongs to one.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_HISTOGRAM_H
#define PETAL_TOOLS_BENCH_HARNESS_HISTOGRAM_H

#include <stdint.h>

#define BENCH_HISTOGRAM_STEPS   128u
#define BENCH_HISTOGRAM_BUCKETS ((64u - 5u) * (BENCH_HISTOGRAM_STEPS / 2))

/* All zero: empty. */
struct bench_histogram {
    uint64_t counts[BENCH_HISTOGRAM_BUCKETS];
    uint64_t total, greatest; /* exact */
};

void bench_histogram_add(struct bench_histogram *histogram, uint64_t value);
void bench_histogram_add_times(struct bench_histogram *histogram, uint64_t value, uint64_t times);

/* Add what `from` holds to `to`. */
void bench_histogram_merge(struct bench_histogram *to, const struct bench_histogram *from);

/* A value that at least `share` (0..1) of all do not exceed: the upper end of a bucket, but never
 * more than the greatest value; 0 when there are none. */
uint64_t bench_histogram_share(const struct bench_histogram *histogram, double share);

#endif
