/* scenario.h -- what threads do under the schedules of tests/schedule/main.c. */
#ifndef PETAL_TESTS_SCHEDULE_SCENARIO_H
#define PETAL_TESTS_SCHEDULE_SCENARIO_H

#include "tests/schedule/schedule.h"

struct scenario {
    const char *name;
    void (*body)(void *unused); /* of one schedule; ends the program where something is wrong */
    unsigned share;             /* of the time, against the others */
};

extern const struct scenario part_scenarios[], log_scenarios[], database_scenarios[],
    row_scenarios[], crash_scenarios[]; /* the last has no name */

#endif
