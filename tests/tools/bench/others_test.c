/* others_test.c -- what else the machine does: what /proc/stat says, shares of it, and how long a
 * benchmark waits. */
#include "tools/bench/harness/others.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
check_near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-9 * (1 + fabs(wanted))))
        fail_msg("%.12g instead of %.12g", found, wanted);
}

/* Idle and waiting for disks is not busy; what guests take is among user and nice already. */
TEST(test_line)
{
    double busy = -1;

    assert_true(bench_busy_read("cpu  100 20 30 5000 700 4 6 40 90 9\n", 100, &busy));
    check_near(busy, 2.0);
    assert_true(bench_busy_read("cpu  18446744073709551615 0 0 0 0 0 0 0 0 0\n", 1000, &busy));
    check_near(busy, 18446744073709551615.0 / 1000);
    assert_false(bench_busy_read("cpu0 1 2 3 4 5 6 7 8 9 10\n", 100, &busy));
    assert_false(bench_busy_read("cpu  1 2 3 4 5 6 7\n", 100, &busy)); /* a kernel before steal */
    assert_false(bench_busy_read("", 100, &busy));
    assert_false(bench_busy_read("intr 1 2 3 4 5 6 7 8 9\n", 100, &busy));
}

/* Own time does not count, that of children that have ended as little. */
TEST(test_taken)
{
    const struct bench_machine before = {.busy = 100, .own = 7, .all = 1000};
    const struct bench_machine after = {.busy = 106, .own = 10, .all = 1020};
    const struct bench_machine unknown = {.busy = NAN, .own = 10, .all = 1020};
    double busy, own, all;

    bench_machine_taken(&before, &after, &busy, &own, &all);
    check_near(busy, 6);
    check_near(own, 3);
    check_near(all, 20);
    check_near(bench_others_share(busy, own, all), 0.15);
    bench_machine_taken(&before, &unknown, &busy, &own, &all);
    assert_true(isnan(bench_others_share(busy, own, all)));
    check_near(bench_others_share(1, 1.02, 20), 0); /* ticks and clocks differ a little */
    check_near(bench_others_share(22, 1, 20), 1);
    assert_true(isnan(bench_others_share(0, 0, 0)));
}

/* Where there is a /proc/stat: time passes, and what this process does is its own. */
TEST(test_this_machine)
{
    struct bench_machine before, after;
    volatile double work = 0;
    double busy, own, all;

    bench_machine_get(&before);
    do {
        for (int i = 0; i < 1000000; i++)
            work += i;
        bench_machine_get(&after);
    } while (after.own - before.own < 0.05);
    bench_machine_taken(&before, &after, &busy, &own, &all);
    assert_true(work > 0);
    assert_true(all > 0.04);
    assert_true(own >= 0.05);
    assert_true(isnan(busy) || busy <= all + 0.1);
}

/* ---- waiting ---- */

static const double *shares; /* that the next looks see; the last one stays */
static unsigned looks;

static double
watch(double seconds)
{
    assert_true(seconds > 0 && seconds <= 1);
    looks++;
    return shares[1] < 0 ? shares[0] : *shares++;
}

static unsigned
looks_of(const double *seen, double limit, double *seconds)
{
    struct bench_patience patience = {.limit = limit, .seconds = *seconds, .watch = watch};

    shares = seen;
    looks = 0;
    bench_wait_until_idle(&patience);
    *seconds = patience.seconds;
    return looks;
}

TEST(test_waiting)
{
    static const double idle[] = {0.01, -1}, soon[] = {0.9, 0.3, 0.06, 0.05, -1}, busy[] = {1, -1},
                        unknown[] = {NAN, -1};
    double seconds = 60;

    assert_int_equal(looks_of(idle, 0.05, &seconds), 1);
    check_near(seconds, 60); /* a look at an idle machine is no waiting */
    assert_int_equal(looks_of(soon, 0.05, &seconds), 4);
    check_near(seconds, 57);
    assert_int_equal(looks_of(busy, 0.05, &seconds), 57);
    check_near(seconds, 0);
    assert_int_equal(looks_of(busy, 0.05, &seconds), 0); /* all waits share the bound */
    seconds = 2.5;
    assert_int_equal(looks_of(busy, 0.05, &seconds), 3);
    check_near(seconds, 0);
    seconds = 60;
    assert_int_equal(looks_of(unknown, 0.05, &seconds), 1);
    assert_int_equal(looks_of(busy, 1, &seconds), 1);
    seconds = 0;
    assert_int_equal(looks_of(idle, 0.05, &seconds), 0);
}
