/*
 * process.h -- detects a forked child: it has a copy of the memory, but none of the threads, and
 * its mutexes as they were at the fork.
 *
 * An object that must not be used by a child keeps process_now() of its creation, and compares.
 * Children of fork() are detected, not those of clone or _Fork, which run no handlers. The handler
 * goes when the library is unloaded.
 *
 * Threads: all functions from any thread.
 */
#ifndef PETAL_BASE_PROCESS_H
#define PETAL_BASE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic(uint32_t) process_generation; /* changed by process.c alone */

/* From now on forks are noticed. False: there is no memory for that. */
bool process_watch_forks(void);

/* Which process this is, among those that came of one another by forks. */
static inline uint32_t
process_now(void)
{
    return atomic_load_explicit(&process_generation, memory_order_relaxed);
}

#endif
