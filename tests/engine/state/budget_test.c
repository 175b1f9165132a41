/* budget_test.c -- the one limit: what the cache gets beside memtables and files, options, and that
 * all is given back. */
#include "engine/options.h"
#include "engine/state/db.h"
#include "tests/cache/fixture.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

TEST(the_cache_gets_what_is_left)
{
    struct cache_fixture *f = cache_fixture_new(1024 * KIB, 1);
    struct memory_budget budget;

    memory_budget_init(&budget, f->cache, 1024 * KIB, 900 * KIB);
    memory_budget_memtables(&budget, 100 * KIB); /* that is left over anyway */
    assert_int_equal(atomic_load(&budget.cache_now), 900 * KIB);
    memory_budget_files(&budget, 124 * KIB);
    assert_int_equal(fixture_usage(f->cache).capacity, 800 * KIB);
    memory_budget_memtables(&budget, 15 * KIB); /* not worth telling */
    assert_int_equal(fixture_usage(f->cache).capacity, 800 * KIB);
    memory_budget_memtables(&budget, KIB);
    assert_int_equal(fixture_usage(f->cache).capacity, 784 * KIB);
    memory_budget_memtables(&budget, 2000 * KIB);
    assert_int_equal(fixture_usage(f->cache).capacity, 128 * KIB);
    memory_budget_memtables(&budget, -2000 * (int64_t)KIB);
    assert_int_equal(fixture_usage(f->cache).capacity, 784 * KIB);
    memory_budget_memtables(&budget, -116 * (int64_t)KIB);
    memory_budget_files(&budget, -124 * (int64_t)KIB);
    assert_int_equal(fixture_usage(f->cache).capacity, 900 * KIB);
    assert_int_equal(memory_budget_memtable_limit(&budget), 512 * KIB);
    cache_fixture_free(f);
}

TEST(a_cache_that_is_off_is_told_nothing)
{
    struct memory_budget budget;

    memory_budget_init(&budget, NULL, 1024 * KIB, 0);
    memory_budget_memtables(&budget, 4096 * (int64_t)KIB);
    assert_int_equal(atomic_load(&budget.memtables), 4096 * KIB);
}

static void
resolved(size_t memory, size_t cache, size_t memtable, const size_t expected[3])
{
    petal_options given = {.size = sizeof given,
                           .memory_bytes = memory,
                           .cache_bytes = cache,
                           .memtable_bytes = memtable};
    petal_options options;

    assert_int_equal(options_resolve(&options, &given, NULL), PETAL_OK);
    assert_int_equal(options.memory_bytes, expected[0]);
    assert_int_equal(options.cache_bytes, expected[1]);
    assert_int_equal(options.memtable_bytes, expected[2]);
}

TEST(defaults_follow_from_what_is_given)
{
    const size_t mib = 1024 * KIB;

    resolved(0, 0, 0, (size_t[]){64 * mib, 64 * mib, 8 * mib});
    resolved(0, 1024 * mib, 0, (size_t[]){1056 * mib, 1024 * mib, 8 * mib});
    resolved(0, 0, 64 * mib, (size_t[]){288 * mib, 32 * mib, 64 * mib});
    resolved(0, 8 * mib, mib, (size_t[]){12 * mib, 8 * mib, mib});
    resolved(0, PETAL_NO_CACHE, mib, (size_t[]){4 * mib, PETAL_NO_CACHE, mib});
    resolved(0, 64 * KIB, 64 * KIB, (size_t[]){mib, 64 * KIB, 64 * KIB});
    resolved(64 * mib, 0, 0, (size_t[]){64 * mib, 64 * mib, 8 * mib});
    resolved(8192 * mib, 0, 0, (size_t[]){8192 * mib, 8192 * mib, 64 * mib});
    resolved(64 * mib, mib, 16 * mib, (size_t[]){64 * mib, mib, 16 * mib});
}

TEST(limits_are_checked)
{
    petal_options options, given = {.size = sizeof given, .memory_bytes = 1024 * KIB - 1};
    petal_error error;

    assert_int_equal(options_resolve(&options, &given, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "memory_bytes is 1048575"));
    given.memory_bytes = 1024 * KIB;
    given.memtable_bytes = 256 * KIB + 1;
    assert_int_equal(options_resolve(&options, &given, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "memtable_bytes is 262145"));
}

static void
put(petal_family *family, unsigned number)
{
    char row[16];
    uint8_t value[1000] = {0};
    int length = snprintf(row, sizeof row, "row%06u", number);

    MUST(petal_put(family, (petal_slice){row, (size_t)length}, (petal_slice){"q", 1}, PETAL_LATEST,
                   (petal_slice){value, sizeof value}, NULL, WHY));
}

TEST(what_is_charged_is_given_back)
{
    struct fixture fixture;
    petal_table *table;
    petal_family *family;
    petal_family_options f = {.size = sizeof f, .name = {"f", 1}};
    petal_table_options t = {.size = sizeof t, .name = {"t", 1}, .families = &f, .family_count = 1};
    petal_stats stats;

    fixture_init(&fixture, 1);
    fixture.options.no_compaction = true;
    fixture_must_open(&fixture);
    MUST(petal_table_create(fixture.db, &t, &table, WHY));
    MUST(petal_table_family(table, (petal_slice){"f", 1}, &family, WHY));
    for (unsigned i = 0; i < 100; i++)
        put(family, i);
    petal_stats_get(fixture.db, &stats);
    assert_in_range(stats.memtable_memory, 100000, 400000);
    assert_in_range(stats.memtable_memory, petal_table_memtable_bytes(table), 400000);
    assert_int_equal(stats.memtable_memory, fixture.db->writers.active_memory);
    assert_int_equal(stats.file_memory, 0);
    MUST(petal_flush(fixture.db, NULL, WHY));
    epoch_collect(fixture.db->epoch);
    petal_stats_get(fixture.db, &stats);
    assert_int_equal(stats.memtable_memory, 0);
    assert_int_equal(fixture.db->writers.active_memory, 0);
    assert_int_equal(stats.flushes_waiting, 0);
    assert_in_range(stats.file_memory, 200, 100000);
    put(family, 7);
    MUST(petal_table_drop(table, WHY));
    epoch_collect(fixture.db->epoch);
    petal_stats_get(fixture.db, &stats);
    assert_int_equal(stats.memtable_memory, 0);
    assert_int_equal(fixture.db->writers.active_memory, 0);
    assert_int_equal(stats.file_memory, 0);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}
