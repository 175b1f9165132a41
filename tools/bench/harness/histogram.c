/* histogram.c -- see tools/bench/harness/histogram.h. */
#include "tools/bench/harness/histogram.h"

#include <math.h>

#define HALF      (BENCH_HISTOGRAM_STEPS / 2)
#define STEP_BITS 7 /* BENCH_HISTOGRAM_STEPS is 1 << STEP_BITS */

static unsigned
bucket_of(uint64_t value)
{
    unsigned shift;

    if (value < BENCH_HISTOGRAM_STEPS)
        return (unsigned)value;
    shift = 64 - STEP_BITS - (unsigned)__builtin_clzll(value);
    return shift * HALF + (unsigned)(value >> shift);
}

/* The greatest value of a bucket. */
static uint64_t
bucket_end(unsigned bucket)
{
    unsigned shift;

    if (bucket < BENCH_HISTOGRAM_STEPS)
        return bucket;
    shift = bucket / HALF - 1;
    return (((uint64_t)(bucket - shift * HALF) + 1) << shift) - 1;
}

void
bench_histogram_add(struct bench_histogram *histogram, uint64_t value)
{
    bench_histogram_add_times(histogram, value, 1);
}

void
bench_histogram_add_times(struct bench_histogram *histogram, uint64_t value, uint64_t times)
{
    if (times == 0)
        return;
    histogram->counts[bucket_of(value)] += times;
    histogram->total += times;
    if (value > histogram->greatest)
        histogram->greatest = value;
}

void
bench_histogram_merge(struct bench_histogram *to, const struct bench_histogram *from)
{
    for (unsigned i = 0; i < BENCH_HISTOGRAM_BUCKETS; i++)
        to->counts[i] += from->counts[i];
    to->total += from->total;
    if (from->greatest > to->greatest)
        to->greatest = from->greatest;
}

uint64_t
bench_histogram_share(const struct bench_histogram *histogram, double share)
{
    uint64_t wanted = (uint64_t)ceil(share * (double)histogram->total), seen = 0;

    if (histogram->total == 0)
        return 0;
    for (unsigned i = 0; i < BENCH_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (seen >= wanted && seen > 0)
            return bucket_end(i) < histogram->greatest ? bucket_end(i) : histogram->greatest;
    }
    return histogram->greatest;
}
