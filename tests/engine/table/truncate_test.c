/*
 * truncate_test.c -- a table is emptied in one step: it stays there, with its families and
 * attributes, and nothing that it held comes back. Failures and power cuts:
 * tests/crash/sequence_test.c, tests/engine/table/memory_test.c.
 */

#include "base/slice.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#define NAME(text) slice_from_text(text)
#define FULL       "a/f=1 a/g=2 b/f=3 "

/* Some of it in a store file, some in memory. */
static void
fill(petal_db *db, petal_table *table)
{
    copy_fixture_must_put(table, "f", "a", "1");
    copy_fixture_must_put(table, "g", "a", "2");
    MUST(petal_flush(db, NULL, WHY));
    copy_fixture_must_put(table, "f", "b", "3");
}

static petal_table *
begin(struct fixture *fixture)
{
    petal_table *table;

    fixture_init(fixture, 1);
    fixture_must_open(fixture);
    MUST(copy_fixture_create(fixture->db, "t", &table, WHY));
    fill(fixture->db, table);
    return table;
}

/* The families and attributes that copy_fixture_create gives. */
static void
check_options(petal_table *table)
{
    petal_table_options options = {.size = sizeof(options)};

    petal_table_describe(table, &options);
    assert_true(slice_equal(petal_table_name(table), NAME("t")));
    assert_true(slice_equal(options.name, NAME("t")));
    assert_int_equal(options.durability, PETAL_SYNC_WAL);
    assert_int_equal(options.attribute_count, 1);
    assert_true(slice_equal(options.attributes[0].value, NAME("me")));
    assert_int_equal(options.family_count, 2);
    assert_true(slice_equal(options.families[0].name, NAME("f")));
    assert_int_equal(options.families[0].versions, 3);
    assert_int_equal(options.families[0].bloom, PETAL_BLOOM_ROWCOL);
    assert_int_equal(options.families[0].block_bytes, 1024);
    assert_true(slice_equal(options.families[1].name, NAME("g")));
    assert_int_equal(options.families[1].attribute_count, 1);
}

static void
reopen(struct fixture *fixture)
{
    fixture_must_close(fixture);
    fixture_must_open(fixture);
}

/* ---- what it does ---- */

TEST(it_is_empty_and_the_same_otherwise)
{
    struct fixture fixture;
    petal_table *table = begin(&fixture), *truncated, *other;

    MUST(copy_fixture_create(fixture.db, "other", &other, WHY));
    copy_fixture_must_put(other, "f", "o", "1");
    MUST(petal_table_truncate(table, &truncated, WHY));
    assert_ptr_equal(copy_fixture_open(fixture.db, "t"), truncated);
    check_options(truncated);
    copy_fixture_expect(truncated, "");
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 0);
    copy_fixture_expect(other, "o/f=1 ");
    fixture_die(&fixture);
    fixture_must_open(&fixture);
    table = copy_fixture_open(fixture.db, "t");
    check_options(table);
    copy_fixture_expect(table, "");
    copy_fixture_must_put(table, "g", "c", "4");
    MUST(petal_table_truncate(table, &truncated, WHY));
    copy_fixture_must_put(truncated, "g", "d", "5");
    reopen(&fixture);
    copy_fixture_expect(copy_fixture_open(fixture.db, "t"), "d/g=5 ");
    copy_fixture_expect(copy_fixture_open(fixture.db, "other"), "o/f=1 ");
    assert_true(fixture_directory_is_clean(&fixture));
    fixture_fini(&fixture);
}

/* What a deletion hid or will hide is gone with all else: cells of old timestamps show. */
TEST(markers_go_too)
{
    struct fixture fixture;
    petal_table *table = begin(&fixture);
    petal_family *family;

    MUST(petal_table_family(table, NAME("f"), &family, WHY));
    MUST(petal_delete(family, NAME("a"), NAME(""), INT64_MAX - 1, PETAL_DELETE_FAMILY, NULL, WHY));
    MUST(petal_table_truncate(table, &table, WHY));
    MUST(petal_table_family(table, NAME("f"), &family, WHY));
    MUST(petal_put(family, NAME("a"), NAME(""), 5, NAME("old"), NULL, WHY));
    copy_fixture_expect(table, "a/f=old ");
    fixture_fini(&fixture);
}

TEST(old_handles_are_those_of_a_dropped_table)
{
    struct fixture fixture;
    petal_table *table = begin(&fixture), *truncated, *none = table;
    petal_family *family;
    petal_cursor *cursor;
    petal_error error;

    must(petal_table_family(table, NAME("f"), &family, &error), &error);
    must(petal_table_truncate(table, &truncated, &error), &error);
    assert_int_equal(petal_put(family, NAME("a"), NAME(""), 5, NAME("x"), NULL, &error),
                     PETAL_NOT_FOUND);
    assert_int_equal(petal_cursor_open(table, NULL, &cursor, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_table_drop(table, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_table_truncate(table, &none, &error), PETAL_NOT_FOUND);
    assert_string_equal(error.text, "table t was dropped");
    assert_null(none);
    copy_fixture_expect(truncated, "");
    fixture_fini(&fixture);
}

static size_t
count_to_end(petal_cursor *cursor)
{
    const petal_cell *cell;
    size_t count = 0;

    for (;; count++) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            return count;
    }
}

/* Cursors go on with what they saw, and its files stay that long; a read point sees nothing of the
 * table that came later. */
TEST(readers_that_are_open)
{
    char seen[COPY_BED_TEXT_BYTES];
    struct fixture fixture;
    petal_table *table = begin(&fixture), *truncated;
    petal_snapshot *snapshot;
    petal_cursor *begun, *fresh;
    const petal_cell *cell;

    MUST(petal_snapshot_new(fixture.db, &snapshot, WHY));
    MUST(petal_cursor_open(table, NULL, &begun, WHY));
    MUST(petal_cursor_next(begun, &cell, WHY));
    MUST(petal_cursor_open(table, NULL, &fresh, WHY));
    MUST(petal_table_truncate(table, &truncated, WHY));
    copy_fixture_must_put(truncated, "f", "z", "9");
    MUST(petal_flush(fixture.db, NULL, WHY));
    assert_int_equal(count_to_end(begun), 2);
    assert_int_equal(count_to_end(fresh), 3);
    assert_string_equal(copy_fixture_text(truncated, snapshot, seen), "");
    copy_fixture_expect(truncated, "z/f=9 ");
    petal_cursor_close(begun);
    petal_cursor_close(fresh);
    petal_snapshot_free(snapshot);
    copy_fixture_expect_no_stray(&fixture);
    fixture_fini(&fixture);
}

TEST(table_snapshots_stay)
{
    struct fixture fixture;
    petal_table *table = begin(&fixture), *made;

    MUST(petal_table_snapshot_create(table, NAME("s"), NULL, WHY));
    MUST(petal_table_truncate(table, &table, WHY));
    MUST(petal_table_snapshot_clone(fixture.db, NAME("s"), NAME("c"), &made, WHY));
    copy_fixture_expect(made, FULL);
    copy_fixture_expect(table, "");
    MUST(petal_table_snapshot_restore(fixture.db, NAME("s"), &made, WHY));
    copy_fixture_expect(made, FULL);
    copy_fixture_expect_no_stray(&fixture);
    fixture_fini(&fixture);
}

/* A table that was altered is emptied as it is; so is one that takes no writes. */
TEST(altered_tables)
{
    petal_family_options families[] = {{.name = {"h", 1}}, {.name = {"f", 1}, .versions = 7}};
    petal_table_options options = {.families = families, .family_count = 2, .read_only = true};
    struct fixture fixture;
    petal_table *table = begin(&fixture);

    MUST(petal_table_alter(table, &options, WHY));
    MUST(petal_table_truncate(table, &table, WHY));
    options = (petal_table_options){.size = sizeof(options)};
    petal_table_describe(table, &options);
    assert_true(options.read_only);
    assert_int_equal(options.family_count, 2);
    assert_true(slice_equal(options.families[0].name, NAME("f")));
    assert_int_equal(options.families[0].versions, 7);
    copy_fixture_expect(table, "");
    options.read_only = false;
    MUST(petal_table_alter(table, &options, WHY));
    copy_fixture_must_put(table, "h", "a", "1");
    reopen(&fixture);
    copy_fixture_expect(copy_fixture_open(fixture.db, "t"), "a/h=1 ");
    fixture_fini(&fixture);
}

TEST(any_number_of_times)
{
    struct fixture fixture;
    petal_table *table = begin(&fixture);

    for (unsigned i = 0; i < 50; i++) {
        MUST(petal_table_truncate(table, &table, WHY));
        copy_fixture_expect(table, "");
        fill(fixture.db, table);
        copy_fixture_expect_no_stray(&fixture);
    }
    assert_int_equal(fixture_count_files(&fixture, ".sst"), 2);
    fixture_fini(&fixture);
}
