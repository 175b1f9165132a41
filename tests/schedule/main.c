/*
 * main.c -- `schedules [SCENARIO]...`: each scenario under many schedules
 * (tests/schedule/schedule.h) in a process of its own. PETAL_SEED is that of the first schedule,
 * PETAL_SCHEDULES how many there are; else SCHEDULE_SECONDS (20) of processor time are shared out.
 * With one scenario and one schedule a failure is had again by its seed.
 */
#include "tests/schedule/scenario.h"

#include "tests/support/test_support.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t
number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

/* Threads take turns, so one processor does, and passing the turn on is quicker there. */
static void
stay_on_one_processor(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

static volatile uint64_t seed_at_hand;

/* An assertion of the library says nothing of the schedule. */
static void
tell_seed(int signal_number)
{
    char text[80];
    int length = snprintf(text, sizeof text, "  the schedule has seed %" PRIu64 "\n", seed_at_hand);

    (void)signal_number;
    if (write(2, text, (size_t)length) < 0)
        _exit(2);
}

static void
run_scenario(const struct scenario *scenario, uint64_t seed, uint64_t most, double seconds)
{
    struct schedule_counts sum = {0, 0, 0, 0};
    uint64_t schedules = 0;

    stay_on_one_processor();
    signal(SIGABRT, tell_seed);
    while (schedules < most && (seconds == 0 || test_seconds_used() < seconds)) {
        struct schedule_counts counts;

        seed_at_hand = seed + schedules;
        schedule_run(seed_at_hand, scenario->body, NULL, &counts);
        schedules++;
        sum.points += counts.points;
        sum.switches += counts.switches;
        sum.stale_loads += counts.stale_loads;
        sum.deadlines += counts.deadlines;
    }
    printf("counted: schedules, seed %" PRIu64 ": %s, %" PRIu64 ", %.0f a second: each %" PRIu64
           " points, %.1f switches, %.1f stale loads\n",
           seed, scenario->name, schedules, (double)schedules / test_seconds_used(),
           sum.points / schedules, (double)sum.switches / (double)schedules,
           (double)sum.stale_loads / (double)schedules);
}

static bool
run_in_child(const struct scenario *scenario, uint64_t seed, uint64_t most, double seconds)
{
    pid_t child;
    int status = 0;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        run_scenario(scenario, seed, most, seconds);
        fflush(stdout);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    printf("FAIL %s: status %d\n", scenario->name, status);
    return false;
}

static bool
is_wanted(const struct scenario *scenario, int count, char **names)
{
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], scenario->name) == 0)
            return true;
    return count == 1;
}

int
main(int count, char **names)
{
    const struct scenario *lists[] = {part_scenarios, log_scenarios, database_scenarios,
                                      row_scenarios, crash_scenarios};
    uint64_t most = number_from("PETAL_SCHEDULES", 0), seed = number_from("PETAL_SEED", 1);
    double seconds = (double)number_from("SCHEDULE_SECONDS", 20);
    unsigned shares = 0, failed = 0;

    /* Addresses choose slots of the epoch, so they are the same in each run. */
    if ((personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0 &&
        personality(ADDR_NO_RANDOMIZE) != -1 && (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0)
        execv("/proc/self/exe", names);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct scenario *s = lists[i]; s->name != NULL; s++)
            shares += is_wanted(s, count, names) ? s->share : 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct scenario *s = lists[i]; s->name != NULL; s++)
            if (is_wanted(s, count, names))
                failed += !run_in_child(s, seed, most > 0 ? most : UINT64_MAX,
                                        most > 0 ? 0 : seconds * s->share / shares);
    if (shares == 0 || failed > 0)
        printf("schedules: %u scenarios failed\n", failed);
    return shares == 0 || failed > 0;
}
