/*
 * column_scan_test.c -- what scans that name columns read of files that have none of them:
 * nothing behind the scan's bounds, and nothing of rows that no other file has come to; in both
 * directions, and however many columns are named.
 */

#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>

#define ROWS 400 /* each with a column of its own, more than a file records */

static petal_slice
number_text(char bytes[16], const char *prefix, unsigned number)
{
    return slice_make(bytes, (size_t)snprintf(bytes, 16, "%s%05u", prefix, number));
}

/* Rows of three columns of a block each in every file; half of the rows have a column more,
 * "named", in the oldest. */
static void
fill(struct read_fixture *fixture, unsigned files)
{
    petal_family_options family = {
        .bloom = PETAL_BLOOM_NONE, .block_bytes = 1024, .compression = PETAL_COMPRESSION_NONE};
    char row[16], column[16], value[1025];

    memset(value, 'v', sizeof value);
    reads_open(fixture, "f", &family);
    for (unsigned file = 0; file < files; file++) {
        for (unsigned i = 0; i < ROWS; i++) {
            petal_slice key = number_text(row, "row", i);

            for (const char *prefix = "ayz"; *prefix != '\0'; prefix++)
                reads_put(fixture, "f", key, number_text(column, (char[]){*prefix, '\0'}, i),
                          (int)file + 1, slice_make(value, sizeof value));
            if (file == 0)
                reads_put(fixture, "f", key, text(i < ROWS / 2 ? "named" : "other"), 1, text("v"));
        }
        reads_flush(fixture);
    }
}

/* Data blocks of all files that a scan for the column takes; it gives ten rows. */
static uint64_t
blocks_of_scan(const struct read_fixture *fixture, petal_scan_options scan)
{
    petal_column column = {.family = reads_family(fixture, "f"), .qualifier = text("named")};
    petal_stats before, after;
    petal_cursor *cursor;
    unsigned cells = 0;

    scan.read.columns = &column;
    scan.read.column_count = 1;
    petal_stats_get(fixture->base.db, &before);
    cursor = reads_cursor(fixture, &scan);
    while (*reads_next(cursor) != '\0')
        cells++;
    petal_cursor_close(cursor);
    petal_stats_get(fixture->base.db, &after);
    assert_int_equal(cells, 10);
    return after.data_cached + after.data_fetched - before.data_cached - before.data_fetched;
}

/* Two blocks for each row and file: the column's place, and the row's end. */
TEST(nothing_is_read_behind_the_bounds)
{
    petal_scan_options scan = {.start_row = text("row00190"), .stop_row = text("row00200")};
    struct read_fixture fixture;

    for (unsigned files = 1; files <= 3; files++) {
        fill(&fixture, files);
        assert_int_equal(blocks_of_scan(&fixture, scan), 2 * 10 * files);
        fixture_fini(&fixture.base);
    }
}

/* After the last row every file is asked for the next one, as far as one has it. */
TEST(files_do_not_run_ahead)
{
    petal_scan_options scan = {.start_row = text("row00100"), .row_limit = 10};
    struct read_fixture fixture;

    fill(&fixture, 3);
    assert_in_range(blocks_of_scan(&fixture, scan), 2 * 10 * 3, 2 * 11 * 3);
    fixture_fini(&fixture.base);
}

/* ---- both directions ---- */

/* What a scan did in store files. */
struct work {
    uint64_t blocks, seeks, cells_read, questions;
    unsigned cells; /* given */
};

static struct work
work_of(const struct read_fixture *fixture, petal_scan_options scan)
{
    struct work work = {0};
    petal_receipt *receipt;
    petal_cursor *cursor;

    MUST(petal_receipt_new(fixture->base.db, &receipt, WHY));
    scan.read.receipt = receipt;
    cursor = reads_cursor(fixture, &scan);
    while (*reads_next(cursor) != '\0')
        work.cells++;
    petal_cursor_close(cursor);
    for (size_t i = 0; i < petal_receipt_count(receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(receipt, i);

        work.blocks +=
            source->blocks_cached[PETAL_BLOCK_DATA] + source->blocks_fetched[PETAL_BLOCK_DATA];
        work.seeks += source->seeks;
        work.cells_read += source->cells_read;
        work.questions += source->filter_probes + source->filter_unasked;
    }
    petal_receipt_free(receipt);
    return work;
}

/* How the rows of two families lie: each family has a file with the named column in every third
 * row, and `others` files without it, the last of which may still be in memory. */
struct layout {
    unsigned others;
    bool in_memory;
    enum petal_bloom_type bloom;
};

static void
lay_out(struct read_fixture *fixture, const struct layout *layout, unsigned rows)
{
    petal_family_options family = {
        .bloom = layout->bloom, .block_bytes = 1024, .compression = PETAL_COMPRESSION_NONE};
    char row[16], column[16], value[101];

    memset(value, 'v', sizeof value);
    reads_open(fixture, "fg", &family);
    for (unsigned file = 0; file <= layout->others; file++) {
        for (unsigned i = 0; i < rows; i++) {
            petal_slice key = number_text(row, "row", i);

            for (const char *name = "fg"; *name != '\0'; name++) {
                char family_name[] = {*name, '\0'};

                for (const char *prefix = "az"; *prefix != '\0'; prefix++)
                    reads_put(fixture, family_name, key,
                              number_text(column, (char[]){*prefix, '\0'}, i), (int)file + 1,
                              slice_make(value, sizeof value));
                if (file == 0 && i % 3 == 0)
                    reads_put(fixture, family_name, key, text("named"), 1, text("v"));
            }
        }
        if (file < layout->others || !layout->in_memory)
            reads_flush(fixture);
    }
}

static void
costs_what_forward_does(const struct read_fixture *fixture, petal_scan_options scan)
{
    petal_slice start = scan.start_row;
    struct work forward = work_of(fixture, scan), back;

    scan.reversed = true;
    if (scan.prefix.size == 0 && scan.row_limit == 0) {
        scan.start_row = scan.stop_row;
        scan.stop_row = start;
        scan.start_exclusive = scan.start_row.size > 0;
        scan.stop_inclusive = true;
    }
    back = work_of(fixture, scan);
    assert_int_equal(back.cells, forward.cells);
    assert_in_range(back.blocks, 0, forward.blocks + 8);
    assert_in_range(back.cells_read, 0, forward.cells_read + forward.cells_read / 2 + 48);
    assert_in_range(back.seeks, 0, 4 * forward.seeks + 32);
}

TEST(reversed_scans_cost_what_forward_ones_do)
{
    static const struct layout layouts[] = {
        {0, false, PETAL_BLOOM_NONE}, {0, true, PETAL_BLOOM_NONE},    {1, false, PETAL_BLOOM_NONE},
        {2, true, PETAL_BLOOM_NONE},  {3, false, PETAL_BLOOM_ROWCOL}, {2, true, PETAL_BLOOM_ROWCOL},
    };

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct read_fixture fixture;

        lay_out(&fixture, &layouts[i], ROWS);
        for (size_t families = 1; families <= 2; families++) {
            petal_column columns[] = {
                {.family = reads_family(&fixture, "f"), .qualifier = text("named")},
                {.family = reads_family(&fixture, "g"), .qualifier = text("named")}};
            petal_scan_options scan = {.read.columns = columns, .read.column_count = families};

            costs_what_forward_does(&fixture, scan);
            scan.row_limit = 5;
            costs_what_forward_does(&fixture, scan);
            scan.row_limit = 0;
            scan.start_row = text("row00190");
            scan.stop_row = text("row00205");
            costs_what_forward_does(&fixture, scan);
            scan.prefix = text("row0020");
            costs_what_forward_does(&fixture, scan);
        }
        fixture_fini(&fixture.base);
    }
}

/* Where only a few rows have cells in the newer files, the others cost what the oldest file costs
 * alone. */
TEST(files_are_asked_about_rows_that_they_have)
{
    petal_family_options family = {
        .bloom = PETAL_BLOOM_NONE, .block_bytes = 1024, .compression = PETAL_COMPRESSION_NONE};
    char row[16];
    struct read_fixture fixture;
    struct work alone, beside;

    reads_open(&fixture, "f", &family);
    for (unsigned i = 0; i < ROWS; i++)
        reads_put(&fixture, "f", number_text(row, "row", i), text("q"), 1, text("v"));
    reads_flush(&fixture);
    alone = work_of(&fixture, (petal_scan_options){.reversed = true});
    for (unsigned file = 0; file < 4; file++) {
        for (unsigned i = 0; i < 2; i++)
            reads_put(&fixture, "f", number_text(row, "row", 10 + i * 300), text("q"), 1,
                      text("v"));
        reads_flush(&fixture);
    }
    beside = work_of(&fixture, (petal_scan_options){.reversed = true});
    assert_int_equal(beside.cells, alone.cells);
    assert_in_range(beside.seeks, alone.seeks, alone.seeks + 4 * 3 * 3);
    fixture_fini(&fixture.base);
}

/* ---- many named columns ---- */

#define NAMED 1000

/* Rows of one column each: what is asked of the file follows that, not the columns named. */
TEST(rows_cost_what_they_have)
{
    petal_family_options family = {.bloom = PETAL_BLOOM_ROWCOL, .block_bytes = 1024};
    static char names[NAMED][16];
    petal_column columns[NAMED];
    petal_scan_options scan = {.read.columns = columns, .read.column_count = NAMED};
    char row[16], column[16];
    struct read_fixture fixture;

    reads_open(&fixture, "f", &family);
    for (unsigned i = 0; i < ROWS; i++)
        reads_put(&fixture, "f", number_text(row, "row", i), number_text(column, "c", i * 7 % 2000),
                  1, text("v"));
    reads_flush(&fixture);
    for (unsigned i = 0; i < NAMED; i++)
        columns[i] = (petal_column){.family = reads_family(&fixture, "f"),
                                    .qualifier = number_text(names[i], "c", 2 * i)};
    for (int reversed = 0; reversed < 2; reversed++) {
        struct work work;

        scan.reversed = reversed;
        work = work_of(&fixture, scan);
        assert_int_equal(work.cells, ROWS / 2);
        assert_in_range(work.questions, 0, 20 * ROWS);
        assert_in_range(work.seeks, 0, 4 * ROWS);
    }
    fixture_fini(&fixture.base);
}

/* ---- old versions ---- */

#define VERSIONS 2000

/* What is later than the time range is not walked through, unless a marker there may hide what is
 * in it. */
TEST(versions_later_than_the_range_are_sought_past)
{
    petal_family_options family = {.versions = VERSIONS, .block_bytes = 1024};
    petal_scan_options scan = {.read = {.versions = PETAL_ALL_VERSIONS,
                                        .has_time_range = true,
                                        .time_min = 10,
                                        .time_limit = 12}};
    struct read_fixture fixture;

    reads_open(&fixture, "f", &family);
    for (const char *qualifier = "ab"; *qualifier != '\0'; qualifier++) {
        for (int i = 1; i <= VERSIONS; i++)
            reads_put(&fixture, "f", text("r"), slice_make(qualifier, 1), i, text("v"));
    }
    reads_flush(&fixture);
    for (int reversed = 0; reversed < 2; reversed++) {
        struct work work;

        scan.reversed = reversed;
        work = work_of(&fixture, scan);
        assert_int_equal(work.cells, 4);
        assert_in_range(work.cells_read, 4, 30);
        assert_in_range(work.blocks, 1, 10);
        assert_string_equal(reads_scan(&fixture, &scan),
                            "r/f:a@11=v r/f:a@10=v r/f:b@11=v r/f:b@10=v ");
    }
    reads_delete(&fixture, "f", text("r"), text("a"), 50, PETAL_DELETE_COLUMN);
    assert_string_equal(reads_scan(&fixture, &scan), "r/f:b@11=v r/f:b@10=v ");
    reads_flush(&fixture);
    assert_string_equal(reads_scan(&fixture, &scan), "r/f:b@11=v r/f:b@10=v ");
    fixture_fini(&fixture.base);
}
