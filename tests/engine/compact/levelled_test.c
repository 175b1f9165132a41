/*
 * levelled_test.c -- the one sequence that a compaction of all files gives to what it leaves: when
 * it does, and that nothing which asks for a sequence answers otherwise because of it.
 */

#include "engine/state/db.h"
#include "tests/engine/compact/fixture.h"
#include "tests/support/test.h"

struct range {
    size_t files;
    uint64_t least, greatest;
};

static bool
note_range(void *argument, const petal_file_info *file)
{
    struct range *range = argument;

    if (range->files == 0 || file->sequence_min < range->least)
        range->least = file->sequence_min;
    if (range->files == 0 || file->sequence_max > range->greatest)
        range->greatest = file->sequence_max;
    range->files++;
    return true;
}

static struct range
range_of(petal_table *table)
{
    struct range range = {0};

    MUST(petal_table_files(table, note_range, &range, WHY));
    return range;
}

static void
verify(petal_table *table)
{
    MUST(petal_table_verify(table, WHY));
}

static bool
is_level(petal_table *table)
{
    struct range range = range_of(table);

    return range.least == range.greatest;
}

/* Rows a, b, c with values at timestamp 10, in two files, compacted: all have the greatest
 * sequence. */
static petal_table *
settled_table(struct compact_fixture *fixture, const petal_family_options *options)
{
    petal_table *table = compact_fixture_table(&fixture->base, "t", options);
    struct range before, after;

    compact_fixture_put(table, "a", 10, "a10");
    compact_fixture_put(table, "b", 10, "b10");
    compact_fixture_flush(fixture->base.db);
    compact_fixture_put(table, "c", 10, "c10");
    compact_fixture_flush(fixture->base.db);
    before = range_of(table);
    assert_true(before.files == 2 && before.least > 0);
    compact_fixture_compact(table);
    after = range_of(table);
    assert_int_equal(after.files, 1);
    assert_true(after.least == before.greatest && after.greatest == before.greatest);
    verify(table);
    assert_string_equal(compact_fixture_value(table, "a"), "a10");
    assert_string_equal(compact_fixture_value(table, "c"), "c10");
    return table;
}

/* Flush and compact by turns: what is outside of the levelled file, and then merged with it. */
static void
expect_through_files(struct compact_fixture *fixture, petal_table *table, const char *row,
                     const char *value)
{
    assert_string_equal(compact_fixture_value(table, row), value);
    compact_fixture_flush(fixture->base.db);
    assert_string_equal(compact_fixture_value(table, row), value);
    compact_fixture_compact(table);
    assert_string_equal(compact_fixture_value(table, row), value);
    verify(table);
}

TEST(test_a_later_put_of_the_same_timestamp_takes_the_place)
{
    struct compact_fixture fixture;
    petal_table *table;

    compact_fixture_open(&fixture);
    table = settled_table(&fixture, NULL);
    compact_fixture_put(table, "a", 10, "later");
    compact_fixture_put(table, "b", 9, "older");
    assert_string_equal(compact_fixture_value(table, "b"), "b10");
    expect_through_files(&fixture, table, "a", "later");
    compact_fixture_put(table, "a", 10, "latest");
    expect_through_files(&fixture, table, "a", "latest");
    assert_string_equal(compact_fixture_value(table, "b"), "b10");
    fixture_fini(&fixture.base);
}

TEST(test_a_later_marker_of_the_same_timestamp_hides)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE, PETAL_DELETE_FAMILY_VERSION,
                                                 PETAL_DELETE_COLUMN, PETAL_DELETE_FAMILY};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct compact_fixture fixture;
        petal_table *table;

        compact_fixture_open(&fixture);
        table = settled_table(&fixture, NULL);
        compact_fixture_delete(table, "a", 10, types[i]);
        compact_fixture_delete(table, "b", 9, types[i]);
        assert_string_equal(compact_fixture_value(table, "b"), "b10");
        expect_through_files(&fixture, table, "a", "");
        assert_string_equal(compact_fixture_value(table, "b"), "b10");
        compact_fixture_put(table, "a", 10, "again");
        expect_through_files(&fixture, table, "a", "again");
        fixture_fini(&fixture.base);
    }
}

/* A snapshot that does not see all of the inputs, or sees what lies outside of them: every cell
 * keeps its sequence, and the snapshot its answer. */
TEST(test_not_below_a_snapshot)
{
    struct compact_fixture fixture;
    petal_snapshot *snapshot;
    petal_table *table;

    compact_fixture_open(&fixture);
    table = compact_fixture_table(&fixture.base, "t", NULL);
    compact_fixture_put(table, "a", 10, "first");
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    compact_fixture_flush(fixture.base.db);
    compact_fixture_put(table, "a", 10, "second");
    compact_fixture_put(table, "b", 10, "unseen");
    compact_fixture_flush(fixture.base.db);
    compact_fixture_compact(table);
    assert_false(is_level(table));
    assert_string_equal(compact_fixture_value_at(table, "a", snapshot), "first");
    assert_string_equal(compact_fixture_value_at(table, "b", snapshot), "");
    petal_snapshot_free(snapshot);
    compact_fixture_compact(table);
    assert_true(is_level(table));
    assert_string_equal(compact_fixture_value(table, "a"), "second");

    /* One that is taken of what is settled sees it. */
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    compact_fixture_put(table, "a", 10, "third");
    compact_fixture_flush(fixture.base.db);
    assert_string_equal(compact_fixture_value_at(table, "a", snapshot), "second");
    compact_fixture_compact(table);
    assert_false(is_level(table));
    assert_string_equal(compact_fixture_value_at(table, "a", snapshot), "second");
    assert_string_equal(compact_fixture_value(table, "a"), "third");
    verify(table);
    petal_snapshot_free(snapshot);
    fixture_fini(&fixture.base);
}

/* Families whose markers, or whose order of writes, a compaction leaves. */
TEST(test_not_where_sequences_still_decide)
{
    const petal_family_options kinds[] = {
        {.versions = 3, .keep_deleted_cells = PETAL_KEEP_DELETED_TRUE},
        {.versions = 3, .keep_deleted_cells = PETAL_KEEP_DELETED_TTL},
        {.versions = 3, .new_version_behavior = true}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct compact_fixture fixture;
        petal_table *table;
        struct range before, after;

        compact_fixture_open(&fixture);
        table = compact_fixture_table(&fixture.base, "t", &kinds[i]);
        compact_fixture_put(table, "a", 10, "a10");
        compact_fixture_put(table, "b", 10, "b10");
        compact_fixture_flush(fixture.base.db);
        before = range_of(table);
        compact_fixture_delete(table, "a", 10, PETAL_DELETE_COLUMN);
        compact_fixture_put(table, "a", 10, "again");
        compact_fixture_flush(fixture.base.db);
        compact_fixture_compact(table);
        after = range_of(table);
        assert_true(after.files == 1 && after.least >= before.least);
        assert_string_equal(compact_fixture_value(table, "a"), "again");
        verify(table);
        fixture_fini(&fixture.base);
    }
}

/* Versions of a column keep their order, and a family that comes to the order of writes finds them
 * older than all that follows. */
TEST(test_the_order_of_writes_may_come_later)
{
    const petal_family_options three = {.versions = 3};
    petal_family_options ordered = {
        .name = slice_from_text("f"), .versions = 3, .new_version_behavior = true};
    const petal_table_options altered = {.families = &ordered, .family_count = 1};
    struct compact_fixture fixture;
    petal_table *table;

    compact_fixture_open(&fixture);
    table = compact_fixture_table(&fixture.base, "t", &three);
    compact_fixture_put(table, "a", 30, "a30");
    compact_fixture_put(table, "a", 10, "a10"); /* written later, with a lesser timestamp */
    compact_fixture_put(table, "a", 20, "a20");
    compact_fixture_flush(fixture.base.db);
    compact_fixture_compact(table);
    assert_true(is_level(table));
    assert_string_equal(compact_fixture_value(table, "a"), "a30");
    MUST(petal_table_alter(table, &altered, WHY));
    assert_string_equal(compact_fixture_value(table, "a"), "a30");
    compact_fixture_delete(table, "a", 30, PETAL_DELETE);
    expect_through_files(&fixture, table, "a", "a20");
    compact_fixture_delete(table, "a", 15, PETAL_DELETE_COLUMN);
    expect_through_files(&fixture, table, "a", "a20");
    compact_fixture_delete(table, "a", 20, PETAL_DELETE);
    expect_through_files(&fixture, table, "a", "");
    fixture_fini(&fixture.base);
}

/* After a reopening sequences go on after the greatest that there ever was, and a log that was not
 * flushed is replayed over the levelled file. */
TEST(test_sequences_go_on)
{
    struct compact_fixture fixture;
    petal_table *table;
    uint64_t greatest;

    compact_fixture_open(&fixture);
    table = settled_table(&fixture, NULL);
    greatest = range_of(table).greatest;
    for (unsigned round = 0; round < 3; round++) {
        const char *value = round == 0 ? "first" : round == 1 ? "second" : "third";

        compact_fixture_put(table, "a", 10, value);
        fixture_must_close(&fixture.base);
        fixture_must_open(&fixture.base);
        MUST(petal_table_open(fixture.base.db, slice_from_text("t"), &table, WHY));
        assert_string_equal(compact_fixture_value(table, "a"), value);
        compact_fixture_flush(fixture.base.db);
        assert_true(range_of(table).greatest > greatest);
        greatest = range_of(table).greatest;
        compact_fixture_compact(table);
        assert_true(is_level(table));
        assert_true(range_of(table).greatest == greatest);
        assert_string_equal(compact_fixture_value(table, "a"), value);
    }
    fixture_fini(&fixture.base);
}

/* A table snapshot holds levelled files as others; what is restored from it goes on from there. */
TEST(test_table_snapshots_of_levelled_files)
{
    const petal_slice snapshot = {"kept", 4}, clone = {"clone", 5};
    struct compact_fixture fixture;
    petal_table *table, *cloned;

    compact_fixture_open(&fixture);
    table = settled_table(&fixture, NULL);
    MUST(petal_table_snapshot_create(table, snapshot, NULL, WHY));
    compact_fixture_put(table, "a", 10, "later");
    compact_fixture_flush(fixture.base.db);
    compact_fixture_compact(table);
    MUST(petal_table_snapshot_clone(fixture.base.db, snapshot, clone, &cloned, WHY));
    assert_string_equal(compact_fixture_value(cloned, "a"), "a10");
    compact_fixture_put(cloned, "a", 10, "own");
    expect_through_files(&fixture, cloned, "a", "own");
    assert_string_equal(compact_fixture_value(table, "a"), "later");
    fixture_fini(&fixture.base);
}
