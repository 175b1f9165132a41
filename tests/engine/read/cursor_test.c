/*
 * cursor_test.c -- cursors: places inside a row, of raw scans, of filters that decide on rows, the
 * cursor's own, and in rows that some families lack; reads that are late. Random moves of all
 * kinds: tests/model/random_test.c.
 */

#include "engine/state/db.h"
#include "tests/engine/read/fixture.h"
#include "tests/engine/script.h"

#include <stdio.h>
#include <stdlib.h>

#define MARKED "table t a b; put t r/a:a@1=1 r/a:m@1=2 r/a:z@1=3 r/b:m@1=4 r/a@5!14 r/b@6!10\n"
#define SEEK_MARKERS                                                                               \
    "seek c r/a:m; rest c : r/a:m@1=2 r/a:z@1=3 r/b@6!10 r/b:m@1=4; seek c r/a; step c : "         \
    "r/a@5!14\n"                                                                                   \
    "step c : r/a:a@1=1; seek c r/b; rest c : r/b@6!10 r/b:m@1=4; seek c r/b:\\00\n"               \
    "rest c : r/b:m@1=4; close c\n"
#define GAPS "table t a b c; put t r1/a=v r2/a=v r3/a=v r1/b=v r3/b=v r2/c=v r3/c=v\n"

static const struct script_case cases[] = {
    {"raw seeks find markers",
     MARKED "open c t raw\n" SEEK_MARKERS "open c t raw reversed\n" SEEK_MARKERS},
    {"a filter that decides on rows sees what lies before the place, too",
     "table t a b; put t r1/a=bad r1/b:a=2 r1/b:m=3 r2/a=1 r2/b:a=2 r2/b:m=3\n"
     "open c t filter={SKIP ValueFilter(!=, 'binary:bad')}; seek c r2/b:b; rest c : r2/b:m=3\n"
     "seek c r2/b:n; rest c :; seek c r1/b:b; rest c : r2/a=1 r2/b:a=2 r2/b:m=3"},
    {"a place in a family that has no cell in the row: its next row stays whole",
     GAPS "open c t; step c : r1/a=v; step c : r1/b=v; seek c r2/b\n"
          "rest c : r2/c=v r3/a=v r3/b=v r3/c=v; seek c r1/c; step c : r2/a=v"},
    {"the same by a seek to the row alone, and after the end of a family",
     "table t a b; put t r1/a=v r1/b=v r2/b=v; open c t; step c : r1/a=v; seek c r2\n"
     "rest c : r2/b=v; put t r3/a=v; close c; open c t; step c : r1/a=v; seek c r2\n"
     "rest c : r2/b=v r3/a=v"},
};

TEST_EACH(cursors_show_this, cases)
{
    script_run(*state);
}

/* Walk to each of the table's cells, seek where the cursor is, and get the same cell again. */
static void
seek_own_cells(struct read_fixture *fixture, const petal_scan_options *scan)
{
    petal_cursor *cursor = reads_cursor(fixture, scan);
    const petal_cell *cell;
    char before[200];
    int cells = 0;

    MUST(petal_cursor_next(cursor, &cell, WHY));
    for (; cell != NULL; cells++) {
        petal_family *family;

        snprintf(before, sizeof before, "%.190s", reads_cell_text(cell));
        MUST(petal_table_family(fixture->table, cell->family, &family, WHY));
        MUST(petal_cursor_seek(cursor, cell->row, family, cell->qualifier, WHY));
        MUST(petal_cursor_next(cursor, &cell, WHY));
        assert_non_null(cell);
        assert_string_equal(reads_cell_text(cell), before);
        MUST(petal_cursor_next(cursor, &cell, WHY));
    }
    assert_int_equal(cells, 12 * 8);
    petal_cursor_close(cursor);
}

TEST(test_seeks_to_the_own_cell)
{
    static const petal_family_options family = {.block_bytes = 1024,
                                                .compression = PETAL_COMPRESSION_NONE};
    uint8_t value[150] = {0};
    struct read_fixture fixture;
    petal_filter *filter;

    memset(value, 'v', sizeof value - 1);
    reads_open(&fixture, "ab", &family);
    fixture_must_close(&fixture.base);
    fixture.base.options.cache_bytes = PETAL_NO_CACHE;
    fixture_must_open(&fixture.base);
    must(petal_table_open(fixture.base.db, text("t"), &fixture.table, NULL), NULL);
    filter = reads_filter(&fixture, "SKIP ValueFilter(!=, 'binary:bad')");
    for (int i = 0; i < 12 * 8; i++) {
        char row[16], qualifier[16];

        snprintf(row, sizeof row, "r%03d", i / 8);
        snprintf(qualifier, sizeof qualifier, "q%03d", i % 4);
        reads_put(&fixture, i / 4 % 2 == 0 ? "a" : "b", text(row), text(qualifier), 1,
                  slice_make(value, sizeof value));
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int kind = 0; kind < 6; kind++) {
            petal_scan_options scan = {.reversed = kind % 2 == 1,
                                       .raw = kind / 2 == 1,
                                       .read.filter = kind / 2 == 2 ? filter : NULL};

            seek_own_cells(&fixture, &scan);
        }
        reads_flush(&fixture);
    }
    petal_filter_free(filter);
    fixture_fini(&fixture.base);
}

/* Steps by cells and by rows in turn; rows get longer, so that the memory for the row at hand
 * moves. */
TEST(test_cells_and_rows_in_turn)
{
    char row[64];
    struct read_fixture fixture;
    petal_cursor *cursor;
    petal_result *result;

    reads_open(&fixture, "abc", NULL);
    for (int i = 1; i <= 40; i++) {
        memset(row, 'r', sizeof row);
        reads_put(&fixture,
                  i % 4 == 1   ? "a"
                  : i % 4 == 2 ? "b"
                               : "c",
                  slice_make(row, (size_t)i), text("q"), 1, text("v"));
    }
    cursor = reads_cursor(&fixture, NULL);
    result = reads_result(&fixture);
    for (size_t i = 1; i <= 40; i++) {
        const petal_cell *cell = NULL;

        if (i % 3 == 0) {
            MUST(petal_cursor_next_row(cursor, result, WHY));
            assert_int_equal(petal_result_count(result), 1);
            cell = petal_result_cell(result, 0);
        } else {
            MUST(petal_cursor_next(cursor, &cell, WHY));
            assert_non_null(cell);
        }
        assert_int_equal(cell->row.size, i);
    }
    assert_string_equal(reads_rest(cursor), "");
    petal_cursor_close(cursor);
    petal_result_free(result);
    fixture_fini(&fixture.base);
}

/* ---- deadlines ---- */

/* A get that is late gives nothing, of several rows as well; cursors go on, in the row and by any
 * step, and a column that no row has is looked for in steps, too. */
TEST(test_reads_that_are_late)
{
    petal_family_options family = {.versions = 3};
    petal_read_options late = {.deadline_ms = 1, .versions = 3};
    petal_scan_options scan = {.read = late};
    petal_slice rows[2] = {text("none"), text("r")};
    struct read_fixture fixture;
    petal_result *results[2];
    petal_cursor *cursor;
    petal_column column;
    petal_error error;
    const petal_cell *cell;
    enum petal_status status;
    unsigned calls = 0, cells = 0;
    char name[8];

    reads_open(&fixture, "f", &family);
    for (unsigned i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "q%03u", i);
        reads_put(&fixture, "f", text("r"), text(name), 1, text("v"));
        reads_put(&fixture, "f", text(name), text("q"), 1, text("v"));
    }
    results[0] = reads_result(&fixture);
    results[1] = reads_result(&fixture);
    /* In time. */
    late.deadline_ms = 60000;
    MUST(petal_get(fixture.table, text("r"), &late, results[1], WHY));
    assert_int_equal(petal_result_count(results[1]), 50);
    MUST(petal_multi_get(fixture.table, rows, 2, &late, results, WHY));
    assert_int_equal(petal_result_count(results[1]), 50);
    late.deadline_ms = PETAL_NO_WAIT;
    MUST(petal_get(fixture.table, text("r"), &late, results[1], WHY));
    assert_int_equal(petal_result_count(results[1]), 50);
    late.deadline_ms = 1;
    atomic_store(&fixture.base.db->hasty_reads, 5);
    assert_int_equal(petal_get(fixture.table, text("r"), &late, results[1], &error), PETAL_TIMEOUT);
    assert_int_equal(error.status, PETAL_TIMEOUT);
    assert_string_equal(error.text, "the read's 1 milliseconds are over");
    assert_int_equal(petal_result_count(results[1]), 0);
    assert_int_equal(petal_multi_get(fixture.table, rows, 2, &late, results, &error),
                     PETAL_TIMEOUT);
    assert_int_equal(petal_result_count(results[1]), 0);
    /* A row in pieces of a call, the last of which gives it. */
    scan.start_row = text("r");
    MUST(petal_cursor_open(fixture.table, &scan, &cursor, WHY));
    while ((status = petal_cursor_next_row(cursor, results[0], &error)) == PETAL_TIMEOUT)
        assert_int_equal(petal_result_count(results[calls++ % 2]), 0);
    must(status, &error);
    assert_true(calls > 0);
    assert_int_equal(petal_result_count(results[0]), 50);
    petal_cursor_close(cursor);
    /* Begun as a row, read on by cells. */
    MUST(petal_cursor_open(fixture.table, &scan, &cursor, WHY));
    assert_int_equal(petal_cursor_next_row(cursor, results[0], &error), PETAL_TIMEOUT);
    while ((status = petal_cursor_next(cursor, &cell, &error)) == PETAL_TIMEOUT || cell != NULL)
        cells += cell != NULL;
    must(status, &error);
    assert_int_equal(cells, 50);
    petal_cursor_close(cursor);
    /* A column that none has. */
    column = (petal_column){.family = reads_family(&fixture, "f"), .qualifier = text("a")};
    scan = (petal_scan_options){.read = {.columns = &column, .column_count = 1, .deadline_ms = 1}};
    MUST(petal_cursor_open(fixture.table, &scan, &cursor, WHY));
    for (calls = 0; (status = petal_cursor_next(cursor, &cell, &error)) == PETAL_TIMEOUT;)
        calls++;
    must(status, &error);
    assert_null(cell);
    assert_in_range(calls, 2, 50);
    petal_cursor_close(cursor);
    petal_result_free(results[0]);
    petal_result_free(results[1]);
    fixture_fini(&fixture.base);
}

/* A filter may take long for a single cell, so the clock is looked at every few of them: here each
 * takes 2^18 steps of a regular expression, and a value of a few bytes. */
TEST(test_costly_filters_are_stopped)
{
    petal_family_options family = {.versions = 1};
    petal_scan_options scan = {.read.deadline_ms = 1};
    struct read_fixture fixture;
    petal_receipt *receipt;
    petal_filter *filter;
    petal_cursor *cursor;
    petal_error error;
    const petal_cell *cell;
    char name[8];

    reads_open(&fixture, "f", &family);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "r%03u", i);
        reads_put(&fixture, "f", text(name), text("q"), 1, text("aaaaaaaaaaaaaaaaaaX"));
    }
    MUST(petal_flush(fixture.base.db, NULL, WHY));
    MUST(petal_filter_parse(fixture.base.db, text("ValueFilter(=,'regexstring:^(a|a)*[Y-Z]$')"),
                            &filter, WHY));
    MUST(petal_receipt_new(fixture.base.db, &receipt, WHY));
    scan.read.filter = filter;
    scan.read.receipt = receipt;
    MUST(petal_cursor_open(fixture.table, &scan, &cursor, WHY));
    assert_int_equal(petal_cursor_next(cursor, &cell, &error), PETAL_TIMEOUT);
    petal_cursor_close(cursor);
    assert_in_range(petal_receipt_at(receipt, 0)->cells_read, 2, 100);
    petal_receipt_free(receipt);
    petal_filter_free(filter);
    fixture_fini(&fixture.base);
}
