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
latency_add(struct latencies *latencies, enum latency_kind kind, uint64_t nanoseconds)
{
    struct latency *latency = &latencies->of[kind];

    assert(kind < LATENCY_KIND_COUNT);
    atomic_fetch_add_explicit(&latency->nanoseconds, nanoseconds, memory_order_relaxed);
    atomic_fetch_add_explicit(&latency->buckets[bucket_of(nanoseconds)], 1, memory_order_relaxed);
}

uint64_t
latency_limit(unsigned bucket)
{
    assert(bucket < LATENCY_BUCKETS);
    return bucket == LATENCY_BUCKETS - 1 ? UINT64_MAX
                                         : UINT64_C(1) << (LATENCY_LEAST_BITS + bucket);
}
