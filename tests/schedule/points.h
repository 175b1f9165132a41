/* points.h -- what the parts of the scheduler know of each other.  Threads: whose turn it is. */
#ifndef PETAL_TESTS_SCHEDULE_POINTS_H
#define PETAL_TESTS_SCHEDULE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_TASKS 24

/* What a thread knows to have happened: of each thread the steps up to one. */
struct vector_clock {
    uint32_t steps[MOST_TASKS];
};

static inline void
vector_clock_join(struct vector_clock *clock, const struct vector_clock *other)
{
    for (unsigned i = 0; i < MOST_TASKS; i++)
        clock->steps[i] = clock->steps[i] > other->steps[i] ? clock->steps[i] : other->steps[i];
}

/* ---- tests/schedule/schedule.c ---- */

/* Whether the caller is a thread of a schedule. */
bool point_is_ours(void);
/* Another thread may go on. */
void point(void);
/* Another thread goes on, if one can. */
void point_yield(void);
/* Wait for what `object` stands for, at most until `until_ns`; false: the time has come. */
#define POINT_NEVER UINT64_MAX
bool point_wait(const void *object, uint64_t until_ns);
/* Who waits for it can go on: all, or one. */
void point_wake(const void *object, bool all);
/* No switch until the next call of it with false. */
void point_hold(bool hold);
uint64_t point_time_ns(void); /* goes on with each look */

unsigned point_task(void);
struct vector_clock *point_clock(void);
bool point_is_weak(void);
void point_count_stale(void);

/* A thread that is about to be made, and its end. */
void *point_new_task(void);
void point_begin_task(void *task);
void point_end_task(void *task);
bool point_task_has_ended(const void *task);
struct vector_clock *point_clock_of(void *task);

/* ---- tests/schedule/calls.c ---- */

void calls_begin(void);

/* ---- tests/schedule/atomics.c ---- */

void atomics_begin(void);
/* The memory is another object's from now on. */
void atomics_forget(const void *memory, size_t size);

#endif
