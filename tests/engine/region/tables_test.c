/*
 * tables_test.c -- what else is done with tables that have regions: they are altered, emptied,
 * dropped, cloned, restored, copied, loaded, followed by readers, verified and salvaged.
 */
#include "tests/engine/region/fixture.h"

#include "engine/state/db.h"
#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A file that two regions share: rows 0 .. 99 of it were replaced and 100 .. 149 deleted by the
 * first, which has rewritten its half; the second has not. */
#define ROWS   300
#define BORDER 150

/* One file, which two regions have. */
static void
begin_split(struct region_fixture *fixture)
{
    regions_begin(fixture);
    regions_put(fixture->table, 0, ROWS, 1);
    regions_flush(fixture);
    regions_must_split_before(fixture->table, BORDER);
}

static void
make_shared(struct region_fixture *fixture)
{
    begin_split(fixture);
    regions_delete(fixture->table, 0, BORDER);
    regions_flush(fixture);
    regions_compact(fixture->table, text(""));
    assert_int_equal(regions_files(fixture), 1);
}

static void
expect_shared(petal_table *table)
{
    regions_expect_rows(table, BORDER, ROWS, 1, NULL);
}

/* ---- the table as a whole ---- */

TEST(test_drop_and_truncate)
{
    struct region_fixture fixture;
    petal_table *truncated;
    char line[4096];

    make_shared(&fixture);
    regions_put_text(fixture.table, "a", "in memory");
    MUST(petal_table_truncate(fixture.table, &truncated, WHY));
    assert_string_equal(regions_text(truncated, line), "");
    regions_expect(truncated, "row 00150");
    assert_int_equal(regions_files(&fixture), 0);
    regions_put_text(truncated, "a", "1");
    regions_put_text(truncated, "z", "2");
    fixture.table = truncated;
    regions_reopen(&fixture);
    regions_expect(fixture.table, "row 00150");
    assert_string_equal(regions_text(fixture.table, line), "a:1 z:2 ");
    MUST(petal_table_drop(fixture.table, WHY));
    MUST(petal_flush(fixture.base.db, NULL, WHY));
    assert_int_equal(regions_files(&fixture), 0);
    MUST(regions_create(&fixture.base, "t", "m", &fixture.table, WHY));
    regions_expect(fixture.table, "m");
    assert_string_equal(regions_text(fixture.table, line), "");
    regions_end(&fixture);
}

/* A family that is added has a store in each region, and one that goes leaves none. */
TEST(test_alter_adds_and_removes_families)
{
    petal_family_options families[] = {{.name = text("f"), .versions = 2, .block_bytes = 1024},
                                       {.name = text("g")}};
    petal_table_options options = {.families = families, .family_count = 2};
    struct region_fixture fixture;
    petal_family *second;
    petal_table_options one = {.families = families + 1, .family_count = 1};
    char line[4096], row[16];

    make_shared(&fixture);
    MUST(petal_table_alter(fixture.table, &options, WHY));
    MUST(petal_table_family(fixture.table, text("g"), &second, WHY));
    for (unsigned i = 100; i < 200; i += 50)
        MUST(petal_put(second, regions_row(row, i), text("q"), PETAL_LATEST, text("g"), NULL, WHY));
    regions_must_split_before(fixture.table, 200);
    regions_flush(&fixture);
    regions_must_merge(fixture.table, 0);
    MUST(petal_table_alter(fixture.table, &one, WHY));
    assert_string_equal(regions_text(fixture.table, line), "row 00100:g row 00150:g ");
    regions_expect(fixture.table, "row 00200");
    fixture_die(&fixture.base);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    assert_string_equal(regions_text(fixture.table, line), "row 00100:g row 00150:g ");
    regions_must_merge(fixture.table, 0);
    assert_string_equal(regions_text(fixture.table, line), "row 00100:g row 00150:g ");
    regions_end(&fixture);
}

/* ---- table snapshots ---- */

TEST(test_clone_and_restore_have_the_regions)
{
    struct region_fixture fixture;
    petal_table *clone;

    make_shared(&fixture);
    MUST(petal_table_snapshot_create(fixture.table, text("s"), NULL, WHY));
    /* Since then all is otherwise. */
    regions_must_merge(fixture.table, 0);
    regions_must_split(fixture.table, "a");
    regions_must_split(fixture.table, "z");
    regions_put(fixture.table, 0, ROWS, 2);
    MUST(petal_table_snapshot_clone(fixture.base.db, text("s"), text("c"), &clone, WHY));
    regions_expect(clone, "row 00150");
    expect_shared(clone);
    regions_expect_rows(fixture.table, 0, ROWS, 2, NULL);
    MUST(petal_table_snapshot_restore(fixture.base.db, text("s"), &fixture.table, WHY));
    regions_expect(fixture.table, "row 00150");
    expect_shared(fixture.table);
    regions_must_merge(clone, 0);
    expect_shared(clone);
    regions_put(clone, 0, ROWS, 3);
    regions_reopen(&fixture);
    regions_expect(fixture.table, "row 00150");
    expect_shared(fixture.table);
    MUST(petal_table_open(fixture.base.db, text("c"), &clone, WHY));
    regions_expect(clone, "");
    regions_expect_rows(clone, 0, ROWS, 3, NULL);
    MUST(petal_table_snapshot_delete(fixture.base.db, text("s"), WHY));
    expect_shared(fixture.table);
    regions_end(&fixture);
}

TEST(test_restore_of_a_dropped_table)
{
    struct region_fixture fixture;

    make_shared(&fixture);
    MUST(petal_table_snapshot_create(fixture.table, text("s"), NULL, WHY));
    MUST(petal_table_drop(fixture.table, WHY));
    MUST(petal_table_snapshot_restore(fixture.base.db, text("s"), &fixture.table, WHY));
    regions_expect(fixture.table, "row 00150");
    expect_shared(fixture.table);
    regions_reopen(&fixture);
    expect_shared(fixture.table);
    regions_end(&fixture);
}

/* ---- copies ---- */

static void
expect_copy(struct region_fixture *fixture, const char *directory)
{
    petal_db *copy = fixture_open_reader(&fixture->base, directory);
    petal_table *table;

    MUST(petal_table_open(copy, text("t"), &table, WHY));
    regions_expect(table, "row 00150");
    expect_shared(table);
    MUST(petal_close(copy, WHY));
}

TEST(test_checkpoint_backup_and_restore)
{
    struct region_fixture fixture;
    petal_restore_options options = {0};

    make_shared(&fixture);
    MUST(petal_checkpoint(fixture.base.db, "/checkpoint", WHY));
    expect_copy(&fixture, "/checkpoint");
    MUST(petal_backup(fixture.base.db, "/backup", NULL, NULL, WHY));
    expect_copy(&fixture, "/backup");
    regions_must_split_before(fixture.table, 200);
    regions_must_merge(fixture.table, 1);
    regions_compact(fixture.table, text("z"));
    MUST(petal_backup(fixture.base.db, "/backup", NULL, NULL, WHY));
    options.env = &fixture.base.env;
    MUST(petal_restore("/backup", "/restored", &options, NULL, WHY));
    expect_copy(&fixture, "/restored");
    regions_end(&fixture);
}

/* A snapshot's link of a file that the earlier backup has in two regions is a file of its own. */
TEST(test_a_later_backup_of_shared_files_and_their_snapshot)
{
    struct region_fixture fixture;
    petal_restore_options options = {0};
    petal_db *copy;
    petal_table *table;

    begin_split(&fixture);
    MUST(petal_backup(fixture.base.db, "/backup", NULL, NULL, WHY));
    MUST(petal_table_snapshot_create(fixture.table, text("s"), NULL, WHY));
    for (unsigned i = 0; i < 2; i++)
        MUST(petal_backup(fixture.base.db, "/backup", NULL, NULL, WHY));
    options.env = &fixture.base.env;
    MUST(petal_restore("/backup", "/restored", &options, NULL, WHY));
    copy = fixture_open_reader(&fixture.base, "/restored");
    MUST(petal_table_open(copy, text("t"), &table, WHY));
    regions_expect_rows(table, 0, ROWS, 1, NULL);
    MUST(petal_close(copy, WHY));
    regions_end(&fixture);
}

/* Of one opened to read, with what its logs hold. */
TEST(test_backup_of_a_reader)
{
    struct region_fixture fixture;
    petal_table *table;
    petal_db *reader, *copy;

    make_shared(&fixture);
    regions_put(fixture.table, 0, ROWS, 2);
    reader = fixture_open_reader(&fixture.base, FIXTURE_DIRECTORY);
    MUST(petal_backup(reader, "/backup", NULL, NULL, WHY));
    MUST(petal_close(reader, WHY));
    copy = fixture_open_reader(&fixture.base, "/backup");
    MUST(petal_table_open(copy, text("t"), &table, WHY));
    regions_expect(table, "row 00150");
    regions_expect_rows(table, 0, ROWS, 2, NULL);
    MUST(petal_close(copy, WHY));
    regions_end(&fixture);
}

/* ---- bulks ---- */

static void
load(petal_table *table, enum petal_bulk_place place, unsigned first, unsigned end,
     const char *value, int64_t timestamp)
{
    petal_bulk_options options = {.place = place, .file_bytes = 100000};
    petal_bulk *bulk;

    MUST(petal_bulk_begin(table, &options, &bulk, WHY));
    for (unsigned i = first; i < end; i++) {
        char row[16];
        petal_cell cell = {.row = regions_row(row, i),
                           .qualifier = text("q"),
                           .value = text(value),
                           .timestamp = timestamp,
                           .type = PETAL_PUT};

        MUST(petal_bulk_add(bulk, petal_table_family_at(table, 0), &cell, WHY));
    }
    MUST(petal_bulk_commit(bulk, WHY));
    petal_bulk_free(bulk);
}

static unsigned
count_values(petal_table *table, const char *value)
{
    const petal_cell *cell;
    petal_cursor *cursor;
    unsigned count = 0;

    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        count += slice_equal(cell->value, text(value));
    }
    petal_cursor_close(cursor);
    return count;
}

/* One file of a bulk has rows of three regions. */
TEST(test_bulks_over_borders)
{
    static const enum petal_bulk_place places[] = {PETAL_BULK_ABOVE, PETAL_BULK_BELOW};

    for (size_t i = 0; i < 2; i++) {
        bool above = places[i] == PETAL_BULK_ABOVE;
        struct region_fixture fixture;
        petal_family *family;
        char row[16];

        regions_begin(&fixture);
        regions_must_split_before(fixture.table, 100);
        regions_must_split_before(fixture.table, 200);
        family = petal_table_family_at(fixture.table, 0);
        for (unsigned k = 50; k < 250; k++) /* at the bulk's timestamp: the order decides */
            MUST(petal_put(family, regions_row(row, k), text("q"), 5, text("old"), NULL, WHY));
        regions_flush(&fixture);
        for (unsigned k = 150; k < 250; k++)
            MUST(petal_put(family, regions_row(row, k), text("q"), 5, text("new"), NULL, WHY));
        load(fixture.table, places[i], 0, 300, "bulk", 5);
        for (unsigned turn = 0; turn < 5; turn++) {
            assert_int_equal(count_values(fixture.table, "bulk"), above ? 300 : 100);
            assert_int_equal(count_values(fixture.table, "old"), above ? 0 : 100);
            assert_int_equal(count_values(fixture.table, "new"), above ? 0 : 100);
            switch (turn) {
            case 0:
                fixture_die(&fixture.base);
                fixture_must_open(&fixture.base);
                MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
                break;
            case 1:
                regions_compact(fixture.table, regions_row(row, 150));
                break;
            case 2:
                regions_must_merge(fixture.table, 1);
                break;
            default:
                regions_must_merge(fixture.table, 0);
                regions_must_split_before(fixture.table, 10);
                regions_reopen(&fixture);
            }
        }
        regions_end(&fixture);
    }
}

/* Regions name no file without rows of theirs: of a bulk, and of what was in memory at a split. */
TEST(test_regions_name_what_they_have)
{
    struct region_fixture fixture;
    struct region_seen seen[REGION_MOST];

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 50, 1);
    regions_must_split_before(fixture.table, 100);
    regions_flush(&fixture);
    assert_int_equal(regions_list(fixture.table, seen), 2);
    assert_true(seen[0].files == 1 && seen[1].files == 0);
    load(fixture.table, PETAL_BULK_ABOVE, 150, 160, "bulk", 5);
    assert_int_equal(regions_list(fixture.table, seen), 2);
    assert_true(seen[0].files == 1 && seen[1].files == 1);
    load(fixture.table, PETAL_BULK_BELOW, 90, 110, "bulk", 5);
    assert_int_equal(regions_list(fixture.table, seen), 2);
    assert_true(seen[0].files == 2 && seen[1].files == 2);
    assert_int_equal(regions_files(&fixture), 3);
    regions_end(&fixture);
}

/* The bulk was begun before the split, and ends after it. */
TEST(test_a_bulk_over_a_split)
{
    struct region_fixture fixture;
    petal_bulk *bulk;

    regions_begin(&fixture);
    regions_put(fixture.table, 100, 200, 1);
    MUST(petal_bulk_begin(fixture.table, NULL, &bulk, WHY));
    for (unsigned i = 0; i < 300; i++) {
        char row[16];
        petal_cell cell = {.row = regions_row(row, i),
                           .qualifier = text("q"),
                           .value = text("bulk"),
                           .timestamp = INT64_MAX - 5,
                           .type = PETAL_PUT};

        if (i == 120)
            regions_must_split_before(fixture.table, 200);
        if (i == 220)
            regions_must_split_before(fixture.table, 100);
        MUST(petal_bulk_add(bulk, petal_table_family_at(fixture.table, 0), &cell, WHY));
    }
    MUST(petal_bulk_commit(bulk, WHY));
    petal_bulk_free(bulk);
    assert_int_equal(count_values(fixture.table, "bulk"), 300);
    regions_reopen(&fixture);
    assert_int_equal(count_values(fixture.table, "bulk"), 300);
    regions_must_merge(fixture.table, 0);
    assert_int_equal(count_values(fixture.table, "bulk"), 300);
    regions_end(&fixture);
}

/* ---- other openings ---- */

TEST(test_a_reader_follows_splits_and_merges)
{
    struct region_fixture fixture;
    petal_snapshot *snapshot;
    petal_cursor *cursor;
    const petal_cell *cell;
    petal_table *table;
    petal_db *reader;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, ROWS, 1);
    regions_flush(&fixture);
    reader = fixture_open_reader(&fixture.base, FIXTURE_DIRECTORY);
    MUST(petal_table_open(reader, text("t"), &table, WHY));
    MUST(petal_snapshot_new(reader, &snapshot, WHY));
    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    MUST(petal_cursor_next(cursor, &cell, WHY));
    for (unsigned turn = 2; turn < 8; turn++) {
        regions_must_split_before(fixture.table, 30 * turn);
        regions_put(fixture.table, 0, ROWS, turn);
        if (turn % 2 == 0)
            regions_flush(&fixture);
        if (turn % 3 == 0)
            regions_compact(fixture.table, text(""));
        regions_expect_rows(table, 0, ROWS, turn - 1, NULL);
        MUST(petal_refresh(reader, WHY));
        regions_expect_rows(table, 0, ROWS, turn, NULL);
        regions_expect_rows(table, 0, ROWS, 1, snapshot);
        if (turn % 2 == 1) {
            regions_must_merge(fixture.table, 0);
            regions_expect_rows(table, 0, ROWS, turn, NULL);
            MUST(petal_refresh(reader, WHY));
            regions_expect_rows(table, 0, ROWS, turn, NULL);
        }
    }
    regions_expect(table, "row 00150 row 00180 row 00210");
    /* The cursor is where it was. */
    for (unsigned i = 1; i < ROWS; i++)
        MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_non_null(cell);
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_null(cell);
    petal_cursor_close(cursor);
    petal_snapshot_free(snapshot);
    MUST(petal_close(reader, WHY));
    regions_reopen(&fixture); /* what the reader needed goes with it */
    regions_end(&fixture);
}

/* It comes when halves are rewritten, and all was split and merged while it did not look. */
TEST(test_a_reader_that_looks_late)
{
    struct region_fixture fixture;
    petal_table *table;
    petal_db *reader;

    make_shared(&fixture);
    reader = fixture_open_reader(&fixture.base, FIXTURE_DIRECTORY);
    MUST(petal_table_open(reader, text("t"), &table, WHY));
    regions_expect(table, "row 00150");
    expect_shared(table);
    regions_must_merge(fixture.table, 0);
    regions_must_split_before(fixture.table, 10);
    regions_must_split_before(fixture.table, 290);
    regions_compact(fixture.table, text("row 00100"));
    regions_must_split_before(fixture.table, 100);
    regions_must_merge(fixture.table, 0);
    expect_shared(table);
    MUST(petal_refresh(reader, WHY));
    regions_expect(table, "row 00100 row 00290");
    expect_shared(table);
    MUST(petal_table_drop(fixture.table, WHY));
    MUST(petal_refresh(reader, WHY));
    MUST(petal_close(reader, WHY));
    fixture_must_close(&fixture.base); /* what the reader needed goes with the next opening */
    fixture_must_open(&fixture.base);
    regions_end(&fixture);
}

/* At some file call of a refresh the writer commits once more. */
struct meanwhile {
    struct region_fixture *fixture;
    unsigned calls, act_at;
    _Atomic(bool) acts;
};

static void
act_meanwhile(void *argument, enum memory_vfs_operation operation)
{
    struct meanwhile *meanwhile = argument;

    (void)operation;
    if (meanwhile->acts || ++meanwhile->calls != meanwhile->act_at)
        return;
    meanwhile->acts = true; /* its own calls do not count */
    regions_put(meanwhile->fixture->table, 40, 50, 2);
    regions_flush(meanwhile->fixture);
    meanwhile->acts = false;
}

/* The state that a refresh has read has one region less, or more, than is shown; then it reads
 * another one. */
TEST(test_a_writer_that_commits_during_a_refresh)
{
    unsigned calls = 1;

    for (unsigned act_at = 1; act_at <= calls; act_at++) {
        for (unsigned merges = 0; merges < 2; merges++) {
            struct region_fixture fixture;
            struct meanwhile meanwhile = {.fixture = &fixture, .act_at = act_at};
            petal_table *table;
            petal_db *reader;

            regions_begin(&fixture);
            regions_must_split_before(fixture.table, 20);
            regions_put(fixture.table, 0, 50, 1);
            regions_flush(&fixture);
            reader = fixture_open_reader(&fixture.base, FIXTURE_DIRECTORY);
            MUST(petal_table_open(reader, text("t"), &table, WHY));
            regions_put(fixture.table, 0, 50, 2);
            if (merges)
                regions_must_merge(fixture.table, 0);
            else
                regions_must_split_before(fixture.table, 30);
            regions_flush(&fixture);
            memory_vfs_pause(fixture.base.vfs, act_meanwhile, &meanwhile);
            MUST(petal_refresh(reader, WHY));
            calls = meanwhile.calls > calls ? meanwhile.calls : calls;
            memory_vfs_pause(fixture.base.vfs, NULL, NULL);
            regions_expect(table, merges ? "" : "row 00020 row 00030");
            regions_expect_rows(table, 0, 50, 2, NULL);
            MUST(petal_close(reader, WHY));
            regions_reopen(&fixture);
            regions_end(&fixture);
        }
    }
    assert_true(calls > 5);
}

/* ---- snapshots and cursors ---- */

static void
expect_next(petal_cursor *cursor, unsigned number)
{
    const petal_cell *cell;
    char row[16];

    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_non_null(cell);
    assert_true(slice_equal(cell->row, regions_row(row, number)));
}

static void
seek_to(petal_cursor *cursor, unsigned number)
{
    char row[16];

    MUST(petal_cursor_seek(cursor, regions_row(row, number), NULL, slice_make(NULL, 0), WHY));
}

/* Opened before regions are split and merged, and read after it. */
TEST(test_snapshots_and_cursors_over_a_split)
{
    struct region_fixture fixture;
    petal_snapshot *snapshot;
    petal_cursor *up, *down;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 200, 1);
    regions_flush(&fixture);
    regions_put(fixture.table, 100, ROWS, 1);
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    MUST(petal_cursor_open(fixture.table, NULL, &up, WHY));
    MUST(petal_cursor_open(fixture.table, &(petal_scan_options){.reversed = true}, &down, WHY));
    expect_next(up, 0);
    expect_next(down, ROWS - 1);
    regions_must_split_before(fixture.table, 100);
    regions_must_split_before(fixture.table, 200);
    regions_delete(fixture.table, 0, 150);
    regions_put(fixture.table, 150, ROWS, 2);
    regions_flush(&fixture);
    MUST(petal_compact(fixture.table, NULL, WHY));
    regions_must_merge(fixture.table, 0);
    for (unsigned i = 1; i < ROWS; i++) {
        expect_next(up, i);
        expect_next(down, ROWS - 1 - i);
    }
    regions_expect_rows(fixture.table, 0, ROWS, 1, snapshot);
    regions_expect_rows(fixture.table, 150, ROWS, 2, NULL);
    seek_to(up, 99);
    expect_next(up, 99);
    expect_next(up, 100);
    seek_to(down, 100);
    expect_next(down, 100);
    expect_next(down, 99);
    petal_cursor_close(up);
    petal_cursor_close(down);
    petal_snapshot_free(snapshot);
    regions_end(&fixture);
}

/* From any region to any other, both ways. */
TEST(test_seeks_over_borders)
{
    struct region_fixture fixture;
    struct test_random random;
    petal_cursor *up, *down;

    test_random_init(&random, test_seed());
    regions_begin(&fixture);
    regions_put(fixture.table, 0, ROWS, 1);
    regions_flush(&fixture);
    for (unsigned i = 50; i < ROWS; i += 50)
        regions_must_split_before(fixture.table, i);
    regions_compact(fixture.table, text("row 00100"));
    MUST(petal_cursor_open(fixture.table, NULL, &up, WHY));
    MUST(petal_cursor_open(fixture.table, &(petal_scan_options){.reversed = true}, &down, WHY));
    for (unsigned i = 0; i < 200; i++) {
        unsigned number = 1 + (unsigned)test_random_below(&random, ROWS - 2);

        if (i % 3 == 0)
            number = 50 * (1 + (unsigned)test_random_below(&random, ROWS / 50 - 1));
        seek_to(up, number);
        expect_next(up, number);
        expect_next(up, number + 1);
        seek_to(down, number);
        expect_next(down, number);
        expect_next(down, number - 1);
    }
    petal_cursor_close(up);
    petal_cursor_close(down);
    regions_end(&fixture);
}

/* Bounds of scans at borders, with all kinds of ends. */
TEST(test_bounds_at_borders)
{
    struct region_fixture fixture;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, 100, 1);
    regions_flush(&fixture);
    regions_must_split_before(fixture.table, 30);
    regions_must_split_before(fixture.table, 60);
    for (unsigned ends = 0; ends < 64; ends++) {
        bool reversed = ends & 1;
        unsigned first = (ends & 2) ? 30 : 29, last = (ends & 4) ? 60 : 59;
        char low[16], high[16];
        petal_scan_options options = {
            .start_row = regions_row(reversed ? high : low, reversed ? last : first),
            .stop_row = regions_row(reversed ? low : high, reversed ? first : last),
            .start_exclusive = (ends & 8) != 0,
            .stop_inclusive = (ends & 16) != 0,
            .row_limit = (ends & 32) ? 31 : 0,
            .reversed = reversed};
        bool has_low = reversed ? options.stop_inclusive : !options.start_exclusive;
        bool has_high = reversed ? !options.start_exclusive : options.stop_inclusive;
        unsigned from = first + !has_low, to = last + has_high, count = to - from;
        const petal_cell *cell;
        petal_cursor *cursor;

        if (options.row_limit != 0 && count > options.row_limit)
            count = (unsigned)options.row_limit;
        MUST(petal_cursor_open(fixture.table, &options, &cursor, WHY));
        for (unsigned i = 0; i < count; i++)
            expect_next(cursor, reversed ? to - 1 - i : from + i);
        MUST(petal_cursor_next(cursor, &cell, WHY));
        assert_null(cell);
        petal_cursor_close(cursor);
    }
    regions_end(&fixture);
}

/* ---- a database as files ---- */

static petal_check_options
check_options(struct region_fixture *fixture)
{
    return (petal_check_options){.env = &fixture->base.env};
}

static void
expect_salvaged(struct region_fixture *fixture, const char *directory)
{
    petal_db *copy = fixture_open_reader(&fixture->base, directory);
    petal_table *table;

    MUST(petal_table_open(copy, text("t"), &table, WHY));
    expect_shared(table);
    MUST(petal_close(copy, WHY));
}

/* What one half has deleted and compacted away is in the shared file still, as that of the other:
 * it must not come back. */
TEST(test_verify_and_salvage_of_shared_files)
{
    struct region_fixture fixture;
    petal_check_options options;
    petal_check_counts counts;

    make_shared(&fixture);
    regions_must_split_before(fixture.table, 200);
    fixture_must_close(&fixture.base);
    options = check_options(&fixture);
    MUST(petal_verify(FIXTURE_DIRECTORY, &options, &counts, WHY));
    assert_int_equal(counts.faults, 0);
    assert_int_equal(counts.store_files, 1);
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/salvaged", &options, &counts, WHY));
    assert_int_equal(counts.faults, 0);
    assert_int_equal(counts.cells, ROWS - BORDER);
    expect_salvaged(&fixture, "/salvaged");
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    regions_end(&fixture);
}

/* The same of the half above the border. */
TEST(test_salvage_of_the_other_half)
{
    struct region_fixture fixture;
    petal_check_options options;
    petal_db *copy;
    petal_table *table;

    begin_split(&fixture);
    regions_delete(fixture.table, BORDER, ROWS);
    regions_flush(&fixture);
    regions_compact(fixture.table, text("z"));
    fixture_must_close(&fixture.base);
    options = check_options(&fixture);
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/salvaged", &options, NULL, WHY));
    copy = fixture_open_reader(&fixture.base, "/salvaged");
    MUST(petal_table_open(copy, text("t"), &table, WHY));
    regions_expect_rows(table, 0, BORDER, 1, NULL);
    MUST(petal_close(copy, WHY));
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    regions_end(&fixture);
}

/* The first and the last of three have the file, the middle one has rewritten its part. */
static void
make_shared_by_outer(struct region_fixture *fixture)
{
    regions_begin(fixture);
    regions_put(fixture->table, 0, ROWS, 1);
    regions_flush(fixture);
    regions_must_split_before(fixture->table, 200);
    regions_must_split_before(fixture->table, 100);
    regions_compact(fixture->table, text("row 00150"));
    assert_int_equal(regions_files(fixture), 2);
}

/* What lies between: the file has its rows still. */
static void
delete_middle(struct region_fixture *fixture)
{
    regions_delete(fixture->table, 100, 200);
    regions_flush(fixture);
    regions_compact(fixture->table, text("row 00150"));
}

/* What a check is told. */
struct checked {
    unsigned calls, faults;
    uint64_t total;
};

static bool
note_progress(void *argument, uint64_t done, uint64_t total)
{
    struct checked *checked = argument;

    assert_true(done <= total);
    checked->calls++;
    checked->total = total;
    return true;
}

static void
note_fault(void *argument, const petal_fault *fault)
{
    struct checked *checked = argument;

    checked->faults += !fault->harmless;
}

static bool
note_largest(void *argument, const petal_file_info *file)
{
    petal_file_info *largest = argument;

    if (file->file_bytes > largest->file_bytes)
        *largest = *file;
    return true;
}

static void
path_of_largest_file(struct region_fixture *fixture, char path[64])
{
    petal_file_info largest = {.file_bytes = 0};

    MUST(petal_table_files(fixture->table, note_largest, &largest, WHY));
    (void)snprintf(path, 64, FIXTURE_DIRECTORY "/%06" PRIu64 ".sst", largest.number);
}

/* A bit in its first block. */
static void
damage_largest_file(struct region_fixture *fixture)
{
    char path[64];
    uint8_t *bytes;
    size_t size;

    path_of_largest_file(fixture, path);
    assert_int_equal(memory_vfs_read_file(fixture->base.vfs, path, &bytes, &size), 0);
    bytes[40] ^= 1;
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, path, bytes, size), 0);
    free(bytes);
}

TEST(test_an_open_table_is_verified_reading_a_file_once)
{
    struct region_fixture fixture;
    struct checked whole = {0}, shared = {0}, damaged = {0};
    petal_check_options options = {.argument = &whole, .watch = note_progress};
    petal_error error;

    regions_begin(&fixture);
    regions_put(fixture.table, 0, ROWS, 1);
    regions_flush(&fixture);
    MUST(petal_table_verify_watched(fixture.table, &options, WHY));
    regions_must_split_before(fixture.table, 200);
    regions_must_split_before(fixture.table, 100);
    options.argument = &shared;
    MUST(petal_table_verify_watched(fixture.table, &options, WHY));
    assert_int_equal(shared.total, whole.total);
    assert_int_equal(shared.calls, whole.calls);
    damage_largest_file(&fixture);
    options.argument = &damaged;
    options.fault = note_fault;
    assert_int_equal(petal_table_verify_watched(fixture.table, &options, &error), PETAL_CORRUPT);
    assert_int_equal(damaged.faults, 1);
    fixture_fini(&fixture.base);
}

/* Also where a region between them does not have it. */
TEST(test_an_open_table_is_verified_past_the_region_between)
{
    struct region_fixture fixture;
    struct checked checked = {0};
    petal_check_options options = {
        .argument = &checked, .watch = note_progress, .fault = note_fault};
    petal_error error;

    make_shared_by_outer(&fixture);
    damage_largest_file(&fixture);
    assert_int_equal(petal_table_verify_watched(fixture.table, &options, &error), PETAL_CORRUPT);
    assert_int_equal(checked.faults, 1);
    fixture_fini(&fixture.base);
}

TEST(test_verify_counts_a_file_once)
{
    struct region_fixture fixture;
    petal_check_options options;
    petal_check_counts counts;

    make_shared_by_outer(&fixture);
    fixture_must_close(&fixture.base);
    options = check_options(&fixture);
    MUST(petal_verify(FIXTURE_DIRECTORY, &options, &counts, WHY));
    assert_int_equal(counts.store_files, 2);
    assert_int_equal(counts.cells, ROWS + 100);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    regions_end(&fixture);
}

static size_t
cells_of_row(petal_table *table, unsigned number)
{
    petal_result *result;
    char row[16];
    size_t count;

    MUST(petal_result_new(table->db, &result, WHY));
    MUST(petal_get(table, regions_row(row, number), NULL, result, WHY));
    count = petal_result_count(result);
    petal_result_free(result);
    return count;
}

/* Each file twice: to choose it and to take its cells, of which a region's are its own alone. */
static void
expect_salvaged_without_middle(struct region_fixture *fixture)
{
    petal_db *copy = fixture_open_reader(&fixture->base, "/salvaged");
    petal_table *table;

    MUST(petal_table_open(copy, text("t"), &table, WHY));
    for (unsigned i = 0; i < ROWS; i++)
        assert_int_equal(cells_of_row(table, i), i < 100 || i >= 200);
    MUST(petal_close(copy, WHY));
}

TEST(test_salvage_counts_a_file_once)
{
    struct region_fixture fixture;
    petal_check_options options;
    petal_check_counts verified, counts;

    make_shared_by_outer(&fixture);
    delete_middle(&fixture);
    fixture_must_close(&fixture.base);
    options = check_options(&fixture);
    MUST(petal_verify(FIXTURE_DIRECTORY, &options, &verified, WHY));
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/salvaged", &options, &counts, WHY));
    assert_int_equal(counts.store_files, verified.store_files);
    assert_int_equal(counts.data_blocks, verified.data_blocks);
    assert_true(counts.bytes <= 2 * verified.bytes);
    assert_int_equal(counts.cells, ROWS - 100);
    expect_salvaged_without_middle(&fixture);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    regions_end(&fixture);
}

/* Of a link in place of a lost file as of that one. */
TEST(test_salvage_of_a_link_of_a_shared_file)
{
    struct region_fixture fixture;
    petal_check_options options;
    petal_check_counts counts;
    char path[64];

    make_shared_by_outer(&fixture);
    delete_middle(&fixture);
    MUST(petal_table_snapshot_create(fixture.table, text("s"), NULL, WHY));
    path_of_largest_file(&fixture, path);
    fixture_must_close(&fixture.base);
    assert_int_equal(vfs_remove(fixture.base.env.vfs, path), 0);
    options = check_options(&fixture);
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/salvaged", &options, &counts, WHY));
    assert_int_equal(counts.cells, 2 * (ROWS - 100));
    expect_salvaged_without_middle(&fixture);
    fixture_fini(&fixture.base);
}

/* Of a damaged file all regions get what is left, and the damage is told once. */
TEST(test_salvage_of_a_damaged_shared_file)
{
    struct region_fixture fixture;
    struct checked checked = {0};
    petal_check_options options;
    petal_check_counts counts;

    make_shared_by_outer(&fixture);
    damage_largest_file(&fixture);
    fixture_must_close(&fixture.base);
    options = check_options(&fixture);
    options.argument = &checked;
    options.fault = note_fault;
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/salvaged", &options, &counts, WHY));
    assert_int_equal(counts.faults, 1);
    assert_int_equal(checked.faults, 1);
    assert_in_range(counts.cells, ROWS - 6, ROWS - 1); /* a block has 1 KiB, a cell 300 bytes */
    fixture_fini(&fixture.base);
}

/* What is in logs, of regions that flushed at different times. */
TEST(test_salvage_of_logs_of_regions)
{
    struct region_fixture fixture;
    petal_check_options options;

    make_shared(&fixture);
    regions_put(fixture.table, 0, BORDER, 2);
    regions_delete(fixture.table, 0, BORDER);
    fixture_die(&fixture.base);
    options = check_options(&fixture);
    MUST(petal_salvage(FIXTURE_DIRECTORY, "/salvaged", &options, NULL, WHY));
    expect_salvaged(&fixture, "/salvaged");
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    expect_shared(fixture.table);
    regions_end(&fixture);
}
