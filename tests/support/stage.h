/*
 * stage.h -- threads of a test that stop each other at fixed places, so that a race goes one way
 * only: a number, the step that they have come to, which they wait for.
 *
 * A test gives its steps names, ascending in the order in which they are reached; 0 is the step
 * before all. There is one stage in a process. Any thread may call.
 */
#ifndef PETAL_TESTS_SUPPORT_STAGE_H
#define PETAL_TESTS_SUPPORT_STAGE_H

#include <stdbool.h>

void stage_reach(int step);

/* Until the step at hand is this one or a later one. */
void stage_wait_for(int step);

bool stage_is_at(int step);

/* Is the step at hand `before`? Then it is `after` from here on: of many threads one passes. */
bool stage_pass(int before, int after);

#endif
