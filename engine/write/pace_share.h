/*
 * pace_share.h -- how fast writers may be, as a pure function of memory and runs; why so, and who
 * is slowed, is told in engine/write/pace.h.
 *
 * Threads: pure.
 */
#ifndef PETAL_ENGINE_WRITE_PACE_SHARE_H
#define PETAL_ENGINE_WRITE_PACE_SHARE_H

#include <stddef.h>
#include <stdint.h>

#define PACE_LEAST_RATE     ((uint64_t)1 << 20)  /* bytes a second */
#define PACE_FIRST_RATE     ((uint64_t)64 << 20) /* of flushes, while none has ended */
#define PACE_RUN_FACTOR     0.6
#define PACE_LEAST_SLEEP_US 1000 /* less stays a debt */

/* The share, INFINITY: no limit. `runs` 0: they do not count. */
double pace_share(uint64_t memory, uint64_t memory_limit, size_t runs);

/* Microseconds that writing so many bytes should take at this share; `rate` of flushes, 0:
 * unknown. */
uint64_t pace_time(uint64_t bytes, double share, uint64_t rate);

#endif
