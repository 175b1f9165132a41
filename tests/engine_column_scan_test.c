/*
 * engine_column_scan_test.c -- what scans that name columns read of files that have none of them: nothing behind the scan's
 * bounds, and nothing of rows that no other file has come to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/read_bed.h"

#include <stdio.h>

#define ROWS 400 /* each with a column of its own, more than a file records */

static petal_slice
number_text(char bytes[16], const char *prefix, unsigned number)
{
    return slice_make(bytes, (size_t)snprintf(bytes, 16, "%s%05u", prefix, number));
}

/* Rows of three columns of a block each in every file; half of the rows have a column more, "named", in the oldest. */
static void
fill(struct read_bed *bed, unsigned files)
{
    petal_family_options family = {
        .bloom = PETAL_BLOOM_NONE, .block_bytes = 1024, .compression = PETAL_COMPRESSION_NONE};
    char row[16], column[16], value[1025];

    memset(value, 'v', sizeof value);
    reads_open(bed, "f", &family);
    for (unsigned file = 0; file < files; file++) {
        for (unsigned i = 0; i < ROWS; i++) {
            petal_slice key = number_text(row, "row", i);

            for (const char *prefix = "ayz"; *prefix != '\0'; prefix++)
                reads_put(bed, "f", key, number_text(column, (char[]){*prefix, '\0'}, i),
                          (int)file + 1, slice_make(value, sizeof value));
            if (file == 0)
                reads_put(bed, "f", key, text(i < ROWS / 2 ? "named" : "other"), 1, text("v"));
        }
        reads_flush(bed);
    }
}

/* Data blocks of all files that a scan for the column takes; it gives ten rows. */
static uint64_t
blocks_of_scan(const struct read_bed *bed, petal_scan_options scan)
{
    petal_column column = {.family = reads_family(bed, "f"), .qualifier = text("named")};
    petal_stats before, after;
    petal_cursor *cursor;
    unsigned cells = 0;

    scan.read.columns = &column;
    scan.read.column_count = 1;
    petal_stats_get(bed->fixture.db, &before);
    cursor = reads_cursor(bed, &scan);
    while (*reads_next(cursor) != '\0')
        cells++;
    petal_cursor_close(cursor);
    petal_stats_get(bed->fixture.db, &after);
    assert_int_equal(cells, 10);
    return after.data_cached + after.data_fetched - before.data_cached - before.data_fetched;
}

/* Two blocks for each row and file: the column's place, and the row's end. */
static void
nothing_is_read_behind_the_bounds(void **state)
{
    petal_scan_options scan = {.start_row = text("row00190"), .stop_row = text("row00200")};
    struct read_bed bed;

    (void)state;
    for (unsigned files = 1; files <= 3; files++) {
        fill(&bed, files);
        assert_int_equal(blocks_of_scan(&bed, scan), 2 * 10 * files);
        fixture_fini(&bed.fixture);
    }
}

/* Behind the last row every file is asked for the next one, as far as one has it. */
static void
files_do_not_run_ahead(void **state)
{
    petal_scan_options scan = {.start_row = text("row00100"), .row_limit = 10};
    struct read_bed bed;

    (void)state;
    fill(&bed, 3);
    assert_in_range(blocks_of_scan(&bed, scan), 2 * 10 * 3, 2 * 11 * 3);
    fixture_fini(&bed.fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_read_behind_the_bounds),
        cmocka_unit_test(files_do_not_run_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
