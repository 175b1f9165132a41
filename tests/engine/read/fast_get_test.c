/*
 * fast_get_test.c -- the fast get (engine/read/fast_get.h) and the general one give the
 * same answers and count the same: over files and memtables of many kinds, rows of every shape,
 * timestamps of the client's, read points. And where it is to be taken, it is.
 */

#include "engine/read/fast_get.h"
#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>

static struct read_fixture fixture;

/* ---- both ways ---- */

/* What gets decide. */
#define COMPARED(X)                                                                                \
    X(gets)                                                                                        \
    X(memtables_considered)                                                                        \
    X(memtables_skipped)                                                                           \
    X(files_considered)                                                                            \
    X(skipped_found_newer)                                                                         \
    X(skipped_row_range)                                                                           \
    X(skipped_time_range)                                                                          \
    X(skipped_expired)                                                                             \
    X(skipped_columns)                                                                             \
    X(skipped_bloom)                                                                               \
    X(files_read)                                                                                  \
    X(filter_probes)                                                                               \
    X(filter_negatives)                                                                            \
    X(filter_unasked)                                                                              \
    X(filter_false_positives)

enum {
#define COMPARED_INDEX(name) COMPARED_##name,
    COMPARED(COMPARED_INDEX)
#undef COMPARED_INDEX
        COMPARED_COUNT
};

static void
take_counts(uint64_t counts[COMPARED_COUNT])
{
    petal_stats stats;

    petal_stats_get(fixture.base.db, &stats);
#define TAKE(name) counts[COMPARED_##name] = stats.name;
    COMPARED(TAKE)
#undef TAKE
}

/* Get one column in one of the ways, and what that counted. */
static const char *
get_one_way(bool general, petal_slice row, const petal_read_options *options,
            uint64_t counted[COMPARED_COUNT])
{
    uint64_t before[COMPARED_COUNT];
    const char *answer;

    atomic_store(&fixture.base.db->general_reads, general);
    take_counts(before);
    answer = reads_get(&fixture, row, options);
    take_counts(counted);
    for (size_t i = 0; i < COMPARED_COUNT; i++)
        counted[i] -= before[i];
    atomic_store(&fixture.base.db->general_reads, false);
    return answer;
}

/* The answer, which both ways give. */
static const char *
get_both_ways(petal_slice row, petal_slice qualifier, const petal_snapshot *snapshot)
{
    petal_column column = {reads_family(&fixture, "f"), qualifier, false};
    petal_read_options options = {.columns = &column, .column_count = 1, .snapshot = snapshot};
    uint64_t general[COMPARED_COUNT], fast[COMPARED_COUNT];
    const char *expected = get_one_way(true, row, &options, general);
    const char *answer = get_one_way(false, row, &options, fast);

    assert_string_equal(answer, expected);
    assert_memory_equal(fast, general, sizeof general);
    return answer;
}

static void
get_row_both_ways(petal_slice row)
{
    uint64_t general[COMPARED_COUNT], fast[COMPARED_COUNT];
    const char *expected = get_one_way(true, row, NULL, general);
    const char *answer = get_one_way(false, row, NULL, fast);

    assert_string_equal(answer, expected);
    assert_memory_equal(fast, general, sizeof general);
}

/* ---- rows ---- */

static const petal_slice qualifiers[] = {{"", 0}, {"q", 1}, {"r", 1}};

/* ---- the tests ---- */

/* Whether the fast get answers: the general one leaves a trace in the result. */
static bool
answers_fast(const char *row, const petal_read_options *options)
{
    petal_result *result = reads_result(&fixture);
    petal_error error;
    bool fast;

    assert_int_equal(petal_get(fixture.table, text(row), options, result, &error), PETAL_OK);
    fast = result->collect.stay == NULL;
    petal_result_free(result);
    return fast;
}

static bool
is_fast(const char *row)
{
    petal_column column = {.family = reads_family(&fixture, "f"), .qualifier = qualifiers[0]};
    petal_read_options options = {.columns = &column, .column_count = 1};

    return answers_fast(row, &options);
}

static bool
is_fast_row(const char *row)
{
    return answers_fast(row, NULL);
}

TEST(test_where_it_is_taken)
{
    reads_open(&fixture, "f", NULL);
    reads_put(&fixture, "f", text("a"), text(""), PETAL_LATEST, text("1"));
    reads_put(&fixture, "f", text("c"), text(""), PETAL_LATEST, text("1"));
    reads_flush(&fixture);
    reads_put(&fixture, "f", text("b"), text(""), PETAL_LATEST, text("2"));
    assert_true(is_fast("a"));
    assert_true(is_fast("b"));
    assert_true(is_fast("bb"));
    assert_true(is_fast("z"));
    assert_true(is_fast_row("a"));
    assert_true(is_fast_row("b")); /* in the memtable */
    assert_true(is_fast_row("z"));
    /* A marker is in the way of the rows that its source may have, of no other. */
    reads_delete(&fixture, "f", text("b"), text(""), PETAL_LATEST, PETAL_DELETE_COLUMN);
    assert_true(is_fast("a"));
    assert_false(is_fast("b"));
    assert_false(is_fast_row("b"));
    reads_flush(&fixture);
    assert_true(is_fast("a"));
    assert_false(is_fast("b"));
    assert_true(is_fast("z"));
    atomic_store(&fixture.base.db->general_reads, true);
    assert_false(is_fast("a"));
    fixture_fini(&fixture.base);
}

/* Every `step`th column of rows that stand side by side. */
static void
put_columns(unsigned step, int64_t timestamp)
{
    static const char *const rows[] = {"v", "w", "x"};
    char qualifier[8], value[16];

    for (size_t row = 0; row < 3; row++) {
        for (unsigned column = 0; column < 200; column += step) {
            snprintf(qualifier, sizeof qualifier, "c%03u", column);
            snprintf(value, sizeof value, "%u at %d", column, (int)timestamp);
            reads_put(&fixture, "f", text(rows[row]), text(qualifier), timestamp, text(value));
        }
    }
}

/* Rows over several blocks of several files, and of memtables: what is newest of each column is
 * found by merging, also when blocks have to be read meanwhile. */
TEST(test_wide_rows)
{
    petal_family_options options = {.block_bytes = 1024, .versions = 3};

    reads_open(&fixture, "f", &options);
    put_columns(1, 10);
    reads_flush(&fixture);
    assert_true(is_fast_row("w")); /* its blocks are not in the cache */
    get_row_both_ways(text("w"));
    put_columns(3, 20);
    reads_flush(&fixture);
    assert_true(is_fast_row("v"));
    put_columns(7, 5); /* older than what is there */
    reads_flush(&fixture);
    put_columns(2, 29);
    put_columns(2, 30);
    for (const char *row = "u\0v\0w\0x\0y\0"; row[0] != '\0'; row += 2) {
        assert_true(is_fast_row(row));
        get_row_both_ways(text(row));
    }
    /* Of equal timestamps the later write counts, which a merge does not know. */
    put_columns(10, 20);
    assert_true(is_fast_row("w")); /* hidden in the memtable */
    reads_flush(&fixture);
    get_row_both_ways(text("w"));
    put_columns(5, 30);
    assert_false(is_fast_row("w"));
    get_row_both_ways(text("w"));
    reads_put(&fixture, "f", text("z"), text("q"), 7, text("1"));
    reads_flush(&fixture);
    reads_put(&fixture, "f", text("z"), text("q"), 7, text("2"));
    assert_false(is_fast_row("z"));
    assert_string_equal(reads_get(&fixture, text("z"), NULL), "z/f:q@7=2 ");
    fixture_fini(&fixture.base);
}

/* The key of a row that several sources have is made in memory that long rows do not fit in. */
TEST(test_long_rows)
{
    petal_family_options options = {.block_bytes = 1024};
    uint8_t bytes[700];

    reads_open(&fixture, "f", &options);
    for (unsigned zeros = 0; zeros < 2; zeros++) {
        memset(bytes, zeros ? 0 : 'r', sizeof bytes);
        for (unsigned source = 0; source < 2; source++) {
            for (size_t size = 230; size <= sizeof bytes; size += 10)
                reads_put(&fixture, "f", slice_make(bytes, size), text(source ? "new" : "old"), 5,
                          text("value"));
            if (source == 0)
                reads_flush(&fixture);
        }
        for (size_t size = 230; size <= sizeof bytes; size += 10)
            get_row_both_ways(slice_make(bytes, size));
        reads_flush(&fixture);
        for (size_t size = 230; size <= sizeof bytes; size += 10)
            get_row_both_ways(slice_make(bytes, size));
    }
    fixture_fini(&fixture.base);
}

/* Of rows that are there others differ in their last byte alone; no filter rules them out. */
TEST(test_rows_that_differ_in_their_end)
{
    for (size_t size = 1; size < 24; size++) {
        petal_family_options options = {.bloom = PETAL_BLOOM_NONE, .block_bytes = 1024};
        char row[] = "abcdefghijklmnopqrstuvwxyz";

        reads_open(&fixture, "f", &options);
        for (char first = 'A'; first <= 'Z'; first += 2) {
            row[0] = first;
            reads_put(&fixture, "f", slice_make(row, size), text("q"), 5, text("value"));
        }
        reads_flush(&fixture);
        for (char first = 'A'; first <= 'Z'; first++) {
            bool is_there = (first - 'A') % 2 == 0;

            row[0] = first;
            assert_int_equal(*reads_get(&fixture, slice_make(row, size), NULL) != 0, is_there);
            assert_int_equal(*get_both_ways(slice_make(row, size), text("q"), NULL) != 0, is_there);
            for (size_t at = 1; is_there && at < size; at++) {
                row[at]++;
                assert_string_equal(reads_get(&fixture, slice_make(row, size), NULL), "");
                assert_string_equal(get_both_ways(slice_make(row, size), text("q"), NULL), "");
                row[at]--;
            }
        }
        fixture_fini(&fixture.base);
    }
}

/* Old versions of a column, or those that a snapshot does not see, are passed over as long as they
 * are few; many are sought past. */
TEST(test_columns_of_many_versions)
{
    petal_family_options options = {.versions = 100000};
    char value[16];

    reads_open(&fixture, "f", &options);
    for (int version = 1; version <= 2000; version++) {
        snprintf(value, sizeof value, "%d", version);
        if (version <= 40)
            reads_put(&fixture, "f", text("few"), text("q"), version, text(value));
        reads_put(&fixture, "f", text("many"), text("q"), version, text(value));
    }
    reads_flush(&fixture);
    get_row_both_ways(text("few"));
    get_row_both_ways(text("many"));
    assert_true(is_fast_row("few"));
    assert_false(is_fast_row("many"));
    fixture_fini(&fixture.base);
}

/* Many chunks: each row finds its own, by buckets of one head and of many. Rows that are absent
 * come first, so that all chunks are in the cache when one is asked. */
TEST(test_many_chunks)
{
    petal_family_options options = {.block_bytes = 1024};
    char row[64];

    reads_open(&fixture, "f", &options);
    for (int i = 0; i < 3000; i++) {
        snprintf(row, sizeof row, "common%s%08d", i % 2 == 0 ? "" : " and in one bucket", i);
        reads_put(&fixture, "f", text(row), text(""), 1, text("v"));
    }
    reads_flush(&fixture);
    for (int i = 0; i < 9000; i++) {
        int number = i < 3000 ? i + 3000 : i - 3000;

        snprintf(row, sizeof row, "common%s%08d%s", i % 2 == 0 ? "" : " and in one bucket",
                 number % 3000, number < 3000 ? "" : "x");
        if (i < 3000)
            reads_get(&fixture, text(row), NULL);
        else
            assert_int_equal(get_both_ways(text(row), text(""), NULL)[0] == '\0', number >= 3000);
    }
    fixture_fini(&fixture.base);
}
