/*
 * gcc.h -- included in front of all that gcc compiles for the schedules: its atomic_init is an
 * atomic store, of which the scheduler would keep a place for each slot of each table that is made.
 */
#ifndef PETAL_TESTS_SCHEDULE_GCC_H
#define PETAL_TESTS_SCHEDULE_GCC_H

#include <stdatomic.h>

#undef atomic_init
#define atomic_init(place, value)                                                                  \
    ((void)(*(__typeof__((void)0, *(place)) *)(void *)(place) = (value)))

#endif
