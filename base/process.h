/*
 * process.h -- whether this is still the process that it was: fork() makes another one of it, with
 * a copy of its memory, without its threads, and with its mutexes as they were in that moment.
 *
 * Who must not be used by such a copy keeps process_now() from its beginning, and compares.
 * Children that fork() makes are told apart, not those of calls below it (clone, _Fork), which run
 * no handlers. The handler goes when the library is unloaded.
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
