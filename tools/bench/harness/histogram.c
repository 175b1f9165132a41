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

static uint64_t
get(const _Atomic(uint64_t) *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* One thread writes: no need to lock the line. */
static void
set(_Atomic(uint64_t) *number, uint64_t value)
{
    atomic_store_explicit(number, value, memory_order_relaxed);
}

void
bench_histogram_add(struct bench_histogram *histogram, uint64_t value)
{
    _Atomic(uint64_t) *count = &histogram->counts[bucket_of(value)];

    set(count, get(count) + 1);
    set(&histogram->total, get(&histogram->total) + 1);
    if (value > get(&histogram->greatest))
        set(&histogram->greatest, value);
}

/* Totals are counted anew: those of a histogram that grows meanwhile need not fit its buckets. */
void
bench_histogram_merge(struct bench_histogram *to, const struct bench_histogram *from)
{
    uint64_t added = 0;

    for (unsigned i = 0; i < BENCH_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = get(&from->counts[i]);

        if (count > 0)
            set(&to->counts[i], get(&to->counts[i]) + count);
        added += count;
    }
    set(&to->total, get(&to->total) + added);
    if (get(&from->greatest) > get(&to->greatest))
        set(&to->greatest, get(&from->greatest));
}

void
bench_histogram_subtract(struct bench_histogram *histogram, const struct bench_histogram *earlier)
{
    uint64_t total = 0, greatest = 0;

    for (unsigned i = 0; i < BENCH_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = get(&histogram->counts[i]) - get(&earlier->counts[i]);

        set(&histogram->counts[i], count);
        total += count;
        if (count > 0)
            greatest = bucket_end(i);
    }
    set(&histogram->total, total);
    if (greatest < get(&histogram->greatest))
        set(&histogram->greatest, greatest);
}

uint64_t
bench_histogram_total(const struct bench_histogram *histogram)
{
    return get(&histogram->total);
}

uint64_t
bench_histogram_greatest(const struct bench_histogram *histogram)
{
    return get(&histogram->greatest);
}

uint64_t
bench_histogram_share(const struct bench_histogram *histogram, double share)
{
    uint64_t total = get(&histogram->total), greatest = get(&histogram->greatest), seen = 0;
    uint64_t wanted = (uint64_t)ceil(share * (double)total);

    if (total == 0)
        return 0;
    for (unsigned i = 0; i < BENCH_HISTOGRAM_BUCKETS; i++) {
        seen += get(&histogram->counts[i]);
        if (seen >= wanted && seen > 0)
            return bucket_end(i) < greatest ? bucket_end(i) : greatest;
    }
    return greatest;
}

uint64_t
bench_histogram_above(const struct bench_histogram *histogram, uint64_t value)
{
    uint64_t above = 0;

    for (unsigned i = bucket_of(value) + 1; i < BENCH_HISTOGRAM_BUCKETS; i++)
        above += get(&histogram->counts[i]);
    return above;
}
