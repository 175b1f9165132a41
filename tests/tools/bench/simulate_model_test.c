/* simulate_model_test.c -- a store in numbers, with values that one can count by hand: the picks
 * are the engine's. */
#include "tests/support/test.h"
#include "tools/bench/simulate/model.h"

/* A memtable of 100 bytes makes a file of 100 cells; the log takes as much. */
static const struct simulate_settings tiny = {.order = SIMULATE_RANDOM,
                                              .memtable_bytes = 100,
                                              .flush_bytes = 100,
                                              .cell_bytes = 1,
                                              .stored = 1,
                                              .logged = 1,
                                              .keys = 100};

static void
flush_times(struct simulate_store *store, unsigned times)
{
    while (times-- > 0)
        simulate_flush(store);
}

TEST(nine_flushes_are_left_alone)
{
    struct simulate_store store;

    simulate_begin(&store, &tiny);
    flush_times(&store, POLICY_MIN_RUNS - 1);
    assert_int_equal(store.count, 9);
    assert_int_equal(store.jobs, 0);
    assert_true(store.user == 900 && store.log == 900 && store.flushed == 900 && store.merged == 0);
    assert_true(store.runs_met == 45); /* 1 + 2 + .. + 9 */
    assert_true(simulate_disk(&store) == 900 && simulate_live(&store) == 900);
}

TEST(the_tenth_makes_all_one)
{
    struct simulate_store store;

    simulate_begin(&store, &tiny);
    flush_times(&store, POLICY_MIN_RUNS);
    assert_int_equal(store.count, 1);
    assert_int_equal(store.most_runs, 10);
    assert_int_equal(store.jobs, 1);
    assert_int_equal(store.all_files, 1);
    assert_true(store.merged == 1000 && store.longest == 1000);
    assert_true(store.most_disk == 2); /* output next to inputs */
    assert_true(store.runs_met == 46);
}

/* What was merged waits until there is much more next to it. */
TEST(what_was_merged_waits)
{
    struct simulate_store store;

    simulate_begin(&store, &tiny);
    flush_times(&store, 14);
    assert_int_equal(store.count, 5); /* 1,000 and four of 100: no half of it, and fewer than ten */
    assert_int_equal(store.runs[0].bytes, 1000);
    assert_int_equal(store.jobs, 1);
}

/* In order no two files share rows: a get meets one. */
TEST(a_get_of_sequential_keys_meets_one_run)
{
    struct simulate_settings settings = tiny;
    struct simulate_store store;

    settings.order = SIMULATE_SEQUENTIAL;
    simulate_begin(&store, &settings);
    assert_int_equal(simulate_runs_met(&store), 0);
    flush_times(&store, 5);
    assert_int_equal(store.count, 5);
    assert_int_equal(simulate_runs_met(&store), 1);
}

/* 100 draws of 100 keys hit 63 of them; ten such files hold all 100, which is what a merge
 * leaves. */
TEST(overwrites_are_merged_away)
{
    struct simulate_settings settings = tiny;
    struct simulate_store store;

    settings.order = SIMULATE_OVERWRITE;
    simulate_begin(&store, &settings);
    flush_times(&store, 9);
    assert_int_equal(store.runs[8].cells, 63);
    assert_true(store.flushed == 9 * 63);
    assert_true(simulate_live(&store) > 99.9 && simulate_live(&store) < 100);
    simulate_flush(&store);
    assert_int_equal(store.count, 1);
    assert_int_equal(store.runs[0].bytes, 100);
    assert_true(store.merged == 100 && store.longest == 630);
    assert_true(store.most_disk > 7.3 && store.most_disk < 7.301);
}
