/*
 * schedule.h -- threads that take turns as a seed says, so that a race that chance seldom meets is
 * met, and met again.
 *
 * The library is compiled with -fsanitize=thread, but linked without its runtime: what that would
 * be told of every atomic operation is told to tests/schedule/atomics.c, and calls to pthread_*,
 * sleeps and the clock are linked to tests/schedule/calls.c (--wrap). At each of these POINTS
 * another thread may go on. One thread runs at a time, so a schedule is a list of points at which
 * the turn was passed on, and follows from its seed.
 *
 * ORDER. Each thread has a random priority, and the highest that can run runs; at some points the
 * runner falls behind all others (Burckhardt et al., A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs, 2010). Other seeds pass the turn on at random. Who waits for a time
 * gets it when nobody else can run, or by chance before; who waits for a condition is now and then
 * woken in vain, as POSIX allows.
 *
 * WEAK MEMORY. Where a schedule is weak, a load may give any older value that C11 allows: none that
 * a later store overwrote which happened before the load, or before one that this thread has seen.
 * So an order that is too weak shows its effect on any processor. Not made: stores that become
 * visible in another order than that of the run, and loads of what is stored later.
 *
 * Threads: one schedule at a time in a process.
 */
#ifndef PETAL_TESTS_SCHEDULE_SCHEDULE_H
#define PETAL_TESTS_SCHEDULE_SCHEDULE_H

#include "engine/petal.h"

struct schedule_counts {
    uint64_t points, switches, stale_loads, deadlines;
};

/* Run `body` and the threads that it makes, which end before it does. */
void schedule_run(uint64_t seed, void (*body)(void *argument), void *argument,
                  struct schedule_counts *counts);

/* A random number that belongs to the schedule; below `limit`. */
uint64_t schedule_random(uint64_t limit);

/* The number of the point at hand: a clock that all threads agree on. */
uint64_t schedule_now(void);

/* Ends the program with the seed and where it was. */
#define schedule_check(condition)                                                                  \
    ((condition) ? (void)0 : schedule_fail(__FILE__, __LINE__, #condition))
_Noreturn void schedule_fail(const char *file, int line, const char *what);

/* Memory that is filled with other bytes when it is given back, and not given out again soon. */
extern const petal_allocator schedule_allocator;

#endif
