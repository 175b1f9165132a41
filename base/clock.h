/*
 * clock.h -- the clock that only goes forward, and waits that end by it. The time of day is the
 * environment's (base/env.h).
 */
#ifndef PETAL_BASE_CLOCK_H
#define PETAL_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CLOCK_NEVER UINT64_MAX

/* Since some moment before the process began. */
uint64_t clock_us(void);
uint64_t clock_ns(void);

/* A condition for clock_wait. False: the system has no room for it. */
bool clock_condition_init(pthread_cond_t *condition);

/* Wait until the condition is told, clock_us reaches `until_us`, or for no reason at all.
 * REQUIRES: `mutex` held. */
void clock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us);

void clock_sleep(uint64_t microseconds);

#endif
