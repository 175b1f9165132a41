/* simulate_table_test.c -- a table that grows in simulated time: the picks and the pace are the
 * engine's, the rates are round numbers. */
#include "tests/support/test.h"
#include "tools/bench/simulate/table.h"

#include <math.h>

#define MEMTABLE 1e6

/* A cell of a byte, which takes one in memory, in files and in the log. Rates are such that nothing
 * hinders a writer of one memtable a second. */
static struct simulate_settings
slow_writer(enum simulate_order order)
{
    return (struct simulate_settings){.order = order,
                                      .memory_bytes = (uint64_t)(8 * MEMTABLE),
                                      .memtable_bytes = (uint64_t)MEMTABLE,
                                      .most_regions = 16,
                                      .cell_bytes = 1,
                                      .stored = 1,
                                      .logged = 1,
                                      .keys = 1e9,
                                      .puts = 1e9,
                                      .offered = MEMTABLE,
                                      .flush_rate = 1000 * MEMTABLE,
                                      .merge_rate = 1000 * MEMTABLE};
}

static double
merged(const struct simulate_table *table)
{
    double bytes = 0;

    for (size_t i = 0; i < SIMULATE_REASONS; i++)
        bytes += table->compactor.merged[i];
    return bytes;
}

/* Nine flushes are left alone, the tenth makes all one, and what was merged waits. */
TEST(one_region_is_merged_by_ten)
{
    struct simulate_settings settings = slow_writer(SIMULATE_RANDOM);
    struct simulate_table *table = simulate_table_new(&settings);

    simulate_table_grow(table, 9.5 * MEMTABLE);
    assert_true(table->first->store.count == 9 && merged(table) == 0);
    assert_true(simulate_table_runs_met(table) == 9);
    simulate_table_grow(table, 10.5 * MEMTABLE);
    assert_int_equal(table->first->store.count, 1);
    assert_true(fabs(merged(table) - 10 * MEMTABLE) < 100);
    assert_true(fabs(table->compactor.longest_bytes - 10 * MEMTABLE) < 100);
    simulate_table_grow(table, 14.5 * MEMTABLE);
    assert_int_equal(table->first->store.count, 5);
    assert_true(table->most_runs == 10 && table->disk.files == 5);
    assert_true(fabs(table->seconds - 14.5) < 0.1);
    assert_true(fabs(table->log - 14.5 * MEMTABLE) < 100);
    assert_true(bench_histogram_share(&table->puts, 0.999) < 10);
    /* Twice the ten: output next to inputs, and a log of what is in memory. */
    assert_true(table->compactor.most_taken > 9.9 * MEMTABLE &&
                table->compactor.most_taken < 12.1 * MEMTABLE);
    simulate_table_free(table);
}

/* Bytes of the files of all regions, each as often as it counts. */
static double
bytes_in_regions(const struct simulate_table *table)
{
    double bytes = 0;

    for (const struct simulate_store *store = &table->first->store; store != NULL;
         store = store->next)
        bytes += store->weight * (double)simulate_store_bytes(store);
    return bytes;
}

/* In any order of keys regions stay below their limit, by more than what a flush adds, and hold
 * together what was written: also where they stand for several. */
TEST(regions_split_as_the_table_grows)
{
    for (int order = SIMULATE_RANDOM; order <= SIMULATE_SEQUENTIAL; order++) {
        struct simulate_settings settings = slow_writer((enum simulate_order)order);
        struct simulate_table *table;

        settings.region_bytes = (uint64_t)(20 * MEMTABLE);
        table = simulate_table_new(&settings);
        simulate_table_grow(table, 1000 * MEMTABLE);
        simulate_table_rest(table);
        assert_true(simulate_table_regions(table) >= 50 && simulate_table_regions(table) < 110);
        assert_true((table->simulated == 16) == (order == SIMULATE_RANDOM));
        assert_true(fabs(bytes_in_regions(table) / table->flushed - 1) < 1e-3);
        assert_true(table->disk.bytes > 0.999 * table->flushed &&
                    table->disk.bytes < 1.2 * table->flushed);
        for (const struct simulate_store *store = &table->first->store; store != NULL;
             store = store->next)
            assert_true(simulate_store_bytes(store) < settings.region_bytes);
        assert_true(table->compactor.longest_bytes <= (double)settings.region_bytes + MEMTABLE);
        simulate_table_free(table);
    }
}

/* Regions that stand for several cost about what all of them do, where jobs keep up. */
TEST(regions_that_grow_alike_stand_for_others)
{
    double written[2];

    for (int i = 0; i < 2; i++) {
        struct simulate_settings settings = slow_writer(SIMULATE_RANDOM);
        struct simulate_table *table;

        settings.region_bytes = (uint64_t)(20 * MEMTABLE);
        settings.most_regions = i == 0 ? 8 : 1024;
        table = simulate_table_new(&settings);
        simulate_table_grow(table, 1000 * MEMTABLE);
        written[i] = merged(table);
        simulate_table_free(table);
    }
    assert_true(fabs(written[0] / written[1] - 1) < 0.05);
}

/* Where keys come in order old regions are left alone: a byte is rewritten as often in a table of
 * four times the size. */
TEST(keys_in_order_cost_the_same_at_any_size)
{
    struct simulate_settings settings = slow_writer(SIMULATE_SEQUENTIAL);
    struct simulate_table *table;
    double before;

    settings.region_bytes = (uint64_t)(200 * MEMTABLE);
    table = simulate_table_new(&settings);
    simulate_table_grow(table, 1000 * MEMTABLE);
    before = merged(table) / table->user;
    simulate_table_grow(table, 4000 * MEMTABLE);
    assert_true(merged(table) / table->user < 1.1 * before);
    assert_true(simulate_table_runs_met(table) < 1.01);
    simulate_table_free(table);
}

/* A writer of twice what flushes can take is slowed to their rate: memory is not passed, and on a
 * schedule what waits grows. */
TEST(a_writer_is_slowed_to_the_rate_of_flushes)
{
    for (int scheduled = 0; scheduled < 2; scheduled++) {
        struct simulate_settings settings = slow_writer(SIMULATE_SEQUENTIAL);
        struct simulate_table *table;

        settings.memory_bytes = (uint64_t)(800 * MEMTABLE);
        settings.memtable_bytes = (uint64_t)(100 * MEMTABLE);
        settings.flush_rate = 10 * MEMTABLE;
        settings.puts = 20 * MEMTABLE;
        settings.offered = scheduled ? 20 * MEMTABLE : 0;
        table = simulate_table_new(&settings);
        simulate_table_grow(table, 10000 * MEMTABLE);
        assert_true(table->seconds > 900 && table->seconds < 1010);
        assert_true(table->active + table->frozen <= 400 * MEMTABLE);
        if (scheduled)
            assert_true((double)table->puts.greatest > 400e9 &&
                        (double)table->puts.greatest < 550e9);
        else
            assert_true(table->puts.greatest < 10000000);
        simulate_table_free(table);
    }
}

/* Compactions that are too slow stop the writer, never the simulation. */
TEST(a_writer_waits_for_slow_compactions)
{
    struct simulate_settings settings = slow_writer(SIMULATE_RANDOM);
    struct simulate_table *table;

    settings.offered = 0;
    settings.merge_rate = MEMTABLE / 100;
    table = simulate_table_new(&settings);
    simulate_table_grow(table, 100 * MEMTABLE);
    assert_int_equal(table->most_runs, STORE_MOST_RUNS);
    assert_true(table->longest_put > 1);
    assert_true(table->seconds > 1000);
    simulate_table_free(table);
}
