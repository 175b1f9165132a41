/*
 * latency.h -- how long operations took: histograms that all threads add to, without a lock. Quick,
 * frequent operations are sampled, so that most do not pay for two looks at the clock; the sampling
 * count is kept where no other thread changes it. Slow ones are always timed.
 */
#ifndef PETAL_ENGINE_STATE_LATENCY_H
#define PETAL_ENGINE_STATE_LATENCY_H

#include "base/clock.h"
#include "base/inline.h"
#include "engine/petal.h"

#include <stdatomic.h>

/* Bucket i counts operations of up to 2^(LATENCY_LEAST_BITS + i) nanoseconds that are not in the
 * one before; the last one all longer ones. */
#define LATENCY_LEAST_BITS 8
#define LATENCY_BUCKETS    29

/* Gets are the quickest: two looks at the clock cost a fifth of one. */
#define LATENCY_ONE_OF_GETS 256
#define LATENCY_ONE_OF      64

struct latency {
    _Atomic(uint64_t) buckets[LATENCY_BUCKETS];
    _Atomic(uint64_t) nanoseconds; /* of all that is in the buckets */
};

struct latencies {
    struct latency of[PETAL_LATENCY_KINDS];
    _Atomic(uint64_t)
        cursors; /* that were opened: by this it is decided which openings are timed */
};

/* Any thread. */
void latency_add(struct latencies *latencies, enum petal_latency_kind kind, uint64_t nanoseconds);

/* What began at that time by clock_ns has ended. */
static inline void
latency_end(struct latencies *latencies, enum petal_latency_kind kind, uint64_t began_ns)
{
    latency_add(latencies, kind, clock_ns() - began_ns);
}

/* Is this operation to be timed? *turn, of one thread, counts down: begun with 1, the first is
 * timed. */
static inline bool
latency_is_due(uint32_t *turn)
{
    return --*turn == 0;
}

/* It was due: each `one_of`-th is. Who times by calling itself takes no turn by that. */
static inline void
latency_begin(uint32_t *turn, uint32_t one_of)
{
    *turn = one_of + 1;
}

/* The limit of the bucket up to which there are `percent` of 100 of all that was timed; 0: nothing
 * was. *timed: how much. */
uint64_t latency_percentile(const struct latency *latency, double percent, uint64_t *timed);

/* The longest that the bucket holds, in nanoseconds; UINT64_MAX: the last one. */
uint64_t latency_limit(unsigned bucket);

#endif
