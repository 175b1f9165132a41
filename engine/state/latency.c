/* latency.c -- see latency.h. */
#include "engine/state/latency.h"

#include <assert.h>

static unsigned
bucket_of(uint64_t nanoseconds)
{
    unsigned bucket = 0;

    while (bucket < LATENCY_BUCKETS - 1 && nanoseconds > latency_limit(bucket))
        bucket++;
    return bucket;
}

void
latency_add(struct latencies *latencies, enum petal_latency_kind kind, uint64_t nanoseconds)
{
    struct latency *latency = &latencies->of[kind];

    assert(kind < PETAL_LATENCY_KINDS);
    atomic_fetch_add_explicit(&latency->nanoseconds, nanoseconds, memory_order_relaxed);
    atomic_fetch_add_explicit(&latency->buckets[bucket_of(nanoseconds)], 1, memory_order_relaxed);
}

uint64_t
latency_percentile(const struct latency *latency, double percent, uint64_t *timed)
{
    uint64_t counts[LATENCY_BUCKETS], passed = 0;
    unsigned bucket = 0;

    *timed = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        counts[i] = atomic_load_explicit(&latency->buckets[i], memory_order_relaxed);
        *timed += counts[i];
    }
    if (*timed == 0)
        return 0;
    /* The first bucket that has one, for 0 percent; the last one, for 100. */
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        if (counts[i] == 0)
            continue;
        bucket = i;
        passed += counts[i];
        if ((double)passed * 100 >= percent * (double)*timed)
            break;
    }
    return latency_limit(bucket);
}

uint64_t
latency_limit(unsigned bucket)
{
    assert(bucket < LATENCY_BUCKETS);
    return bucket == LATENCY_BUCKETS - 1 ? UINT64_MAX
                                         : UINT64_C(1) << (LATENCY_LEAST_BITS + bucket);
}
