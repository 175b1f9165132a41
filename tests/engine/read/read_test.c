/* read_test.c -- gets of several rows, cursors, seeks, snapshots and raw scans, through the public
 * calls. */

#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

static const petal_family_options three_versions = {.versions = 3};

/* ---- several rows ---- */

static void
multi_get(const struct read_fixture *fixture, const petal_slice *rows, size_t count,
          const petal_read_options *options, petal_result **results)
{
    MUST(petal_multi_get(fixture->table, rows, count, options, results, WHY));
}

TEST(test_multi_get)
{
    petal_slice rows[] = {text("c"), text("a"),   text("missing"), text("b"),
                          text("a"), BYTES("\0"), text("zz")};
    static uint8_t long_row[PETAL_MAX_ROW_BYTES + 1];
    petal_result *results[7];
    struct read_fixture fixture;
    petal_error error;

    reads_open(&fixture, "fg", NULL);
    reads_put(&fixture, "f", text("a"), text("q"), 1, text("1"));
    reads_put(&fixture, "g", text("a"), text("q"), 2, text("2"));
    reads_flush(&fixture);
    reads_put(&fixture, "f", text("b"), text("q"), 3, text("3"));
    reads_put(&fixture, "f", BYTES("\0"), text("q"), 4, text("4"));
    for (size_t i = 0; i < 7; i++)
        results[i] = reads_result(&fixture);
    multi_get(&fixture, rows, 7, NULL, results);
    assert_string_equal(reads_result_text(results[0]), "");
    assert_string_equal(reads_result_text(results[1]), "a/f:q@1=1 a/g:q@2=2 ");
    assert_string_equal(reads_result_text(results[2]), "");
    assert_string_equal(reads_result_text(results[3]), "b/f:q@3=3 ");
    assert_string_equal(reads_result_text(results[4]), "a/f:q@1=1 a/g:q@2=2 ");
    assert_string_equal(reads_result_text(results[5]), "\\00/f:q@4=4 ");
    multi_get(&fixture, NULL, 0, NULL, NULL);
    /* One row that no table can have: refused, and nothing is given, also of those before it. */
    memset(long_row, 0xff, sizeof long_row);
    rows[2] = slice_make(long_row, sizeof long_row);
    assert_int_equal(petal_multi_get(fixture.table, rows, 7, NULL, results, &error), PETAL_INVALID);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(petal_result_count(results[i]), 0);
        petal_result_free(results[i]);
    }
    fixture_fini(&fixture.base);
}

/* Rows of one block cost one fetch of it, in whatever order they are asked and however small the
 * cache is. */
TEST(test_multi_get_reads_blocks_once)
{
    enum { ROWS = 400 };
    petal_family_options family = {.block_bytes = 4096, .compression = PETAL_COMPRESSION_NONE};
    petal_slice rows[ROWS];
    petal_result *results[ROWS];
    char names[ROWS][8], value[400];
    struct read_fixture fixture;
    petal_stats before, after;

    reads_open(&fixture, "f", &family);
    memset(value, 'v', sizeof value);
    for (unsigned i = 0; i < ROWS; i++) {
        rows[i] = slice_make(names[i], (size_t)snprintf(names[i], 8, "r%03u", i * 7 % ROWS));
        reads_put(&fixture, "f", rows[i], text("q"), 1, slice_make(value, sizeof value));
    }
    fixture_must_close(&fixture.base);
    fixture_must_open(&fixture.base);
    MUST(petal_table_open(fixture.base.db, text("t"), &fixture.table, WHY));
    for (unsigned i = 0; i < ROWS; i++)
        results[i] = reads_result(&fixture);
    petal_stats_get(fixture.base.db, &before);
    multi_get(&fixture, rows, ROWS, NULL, results);
    petal_stats_get(fixture.base.db, &after);
    for (unsigned i = 0; i < ROWS; i++) {
        assert_int_equal(petal_result_count(results[i]), 1);
        petal_result_free(results[i]);
    }
    assert_in_range(after.data_fetched - before.data_fetched, ROWS * sizeof value / 4096, 50);
    fixture_fini(&fixture.base);
}

/* ---- what is asked ---- */

TEST(test_time_ranges_by_family)
{
    struct read_fixture fixture;
    petal_read_options options = {.versions = PETAL_ALL_VERSIONS};
    petal_family_time_range ranges[2];

    reads_open(&fixture, "fgh", &three_versions);
    for (int64_t t = 10; t <= 50; t += 10) {
        reads_put(&fixture, "f", text("a"), text("q"), t, text("f"));
        reads_put(&fixture, "g", text("a"), text("q"), t, text("g"));
        reads_put(&fixture, "h", text("a"), text("q"), t, text("h"));
        reads_flush(&fixture);
    }
    options.has_time_range = true;
    options.time_min = 20;
    options.time_limit = 41;
    ranges[0] = (petal_family_time_range){reads_family(&fixture, "g"), 10, 11};
    ranges[1] = (petal_family_time_range){reads_family(&fixture, "h"), 50, INT64_MAX};
    options.family_time_ranges = ranges;
    options.family_time_range_count = 2;
    assert_string_equal(reads_get(&fixture, text("a"), &options),
                        "a/f:q@40=f a/f:q@30=f a/f:q@20=f a/g:q@10=g a/h:q@50=h ");
    assert_string_equal(reads_scan(&fixture, &(petal_scan_options){.read = options}),
                        reads_get(&fixture, text("a"), &options));
    options.versions = 2;
    assert_string_equal(reads_scan(&fixture, &(petal_scan_options){.read = options}),
                        "a/f:q@40=f a/f:q@30=f a/g:q@10=g a/h:q@50=h ");
    fixture_fini(&fixture.base);
}

TEST(test_family_cell_limits)
{
    struct read_fixture fixture;
    petal_read_options options = {.family_cell_limit = 2, .family_cell_offset = 1};
    petal_scan_options scan;

    reads_open(&fixture, "fg", NULL);
    for (int i = 0; i < 5; i++) {
        char qualifier[2] = {(char)('a' + i), 0};

        reads_put(&fixture, i % 2 == 0 ? "f" : "g", text("r"), text(qualifier), 1, text("x"));
        reads_put(&fixture, "f", text("s"), text(qualifier), 1, text("y"));
        if (i == 2)
            reads_flush(&fixture);
    }
    assert_string_equal(reads_get(&fixture, text("r"), &options), "r/f:c@1=x r/f:e@1=x r/g:d@1=x ");
    assert_string_equal(reads_get(&fixture, text("s"), &options), "s/f:b@1=y s/f:c@1=y ");
    scan = (petal_scan_options){.read = options};
    assert_string_equal(reads_scan(&fixture, &scan),
                        "r/f:c@1=x r/f:e@1=x r/g:d@1=x s/f:b@1=y s/f:c@1=y ");
    scan.reversed = true;
    assert_string_equal(reads_scan(&fixture, &scan),
                        "s/f:b@1=y s/f:c@1=y r/f:c@1=x r/f:e@1=x r/g:d@1=x ");
    options = (petal_read_options){.family_cell_offset = 4};
    assert_string_equal(reads_get(&fixture, text("s"), &options), "s/f:e@1=y ");
    options.family_cell_offset = 5;
    assert_string_equal(reads_get(&fixture, text("s"), &options), "");
    options = (petal_read_options){.family_cell_limit = UINT64_MAX, .family_cell_offset = 3};
    assert_string_equal(reads_get(&fixture, text("s"), &options), "s/f:d@1=y s/f:e@1=y ");
    fixture_fini(&fixture.base);
}

/* Under NEW_VERSION_BEHAVIOR a later put above the time range still made what is in it surplus; no
 * file may be left out for that. */
TEST(test_time_ranges_in_the_order_of_writes)
{
    petal_family_options family = {.new_version_behavior = true};
    petal_read_options options = {.has_time_range = true, .time_min = 0, .time_limit = 20};
    struct read_fixture fixture;
    const char *with;

    reads_open(&fixture, "f", &family);
    reads_put(&fixture, "f", text("a"), text("q"), 10, text("old"));
    reads_flush(&fixture);
    reads_put(&fixture, "f", text("a"), text("q"), 30, text("new"));
    reads_flush(&fixture);
    with = reads_get(&fixture, text("a"), &options);
    options.without = PETAL_WITHOUT(PETAL_SKIP_TIME_RANGE);
    assert_string_equal(reads_get(&fixture, text("a"), &options), with);
    options.without = 0;
    reads_compact(&fixture);
    assert_string_equal(reads_get(&fixture, text("a"), &options), with);
    fixture_fini(&fixture.base);
}

/* ---- bounds ---- */

static void
fill_rows(const struct read_fixture *fixture)
{
    /* Over two families, files and memory, rows interleaved. */
    reads_put(fixture, "f", text("b"), text("q"), 1, text("1"));
    reads_put(fixture, "g", text("a"), text("q"), 1, text("2"));
    reads_put(fixture, "f", BYTES("\xff\xff"), text("q"), 1, text("3"));
    reads_flush(fixture);
    reads_put(fixture, "g", text("b"), text("q"), 1, text("4"));
    reads_put(fixture, "f", text("ba"), text("q"), 1, text("5"));
    reads_put(fixture, "g", BYTES("\xff"), text("q"), 1, text("6"));
    reads_flush(fixture);
    reads_put(fixture, "f", BYTES("b\0"), text("q"), 1, text("7"));
    reads_put(fixture, "g", text("c"), text("q"), 1, text("8"));
    reads_put(fixture, "f", BYTES("\xff\xfe\xff"), text("q"), 1, text("9"));
}

TEST(test_bounds)
{
    struct read_fixture fixture;
    petal_scan_options scan = {.start_row = text("b"), .stop_row = text("ba")};

    reads_open(&fixture, "fg", NULL);
    fill_rows(&fixture);
    assert_string_equal(reads_scan(&fixture, NULL),
                        "a/g:q@1=2 b/f:q@1=1 b/g:q@1=4 b\\00/f:q@1=7 ba/f:q@1=5 c/g:q@1=8 "
                        "\\ff/g:q@1=6 \\ff\\fe\\ff/f:q@1=9 \\ff\\ff/f:q@1=3 ");
    assert_string_equal(reads_scan(&fixture, &scan), "b/f:q@1=1 b/g:q@1=4 b\\00/f:q@1=7 ");
    scan.start_exclusive = true;
    assert_string_equal(reads_scan(&fixture, &scan), "b\\00/f:q@1=7 ");
    scan.stop_inclusive = true;
    assert_string_equal(reads_scan(&fixture, &scan), "b\\00/f:q@1=7 ba/f:q@1=5 ");
    scan.start_row = scan.stop_row = text("b");
    scan.start_exclusive = false;
    assert_string_equal(reads_scan(&fixture, &scan), "b/f:q@1=1 b/g:q@1=4 ");
    scan.start_exclusive = true;
    assert_string_equal(reads_scan(&fixture, &scan), "");
    scan = (petal_scan_options){.start_row = text("c"), .stop_row = text("b")};
    assert_string_equal(reads_scan(&fixture, &scan), "");
    scan = (petal_scan_options){.start_exclusive = true, .stop_inclusive = true, .row_limit = 1};
    assert_string_equal(reads_scan(&fixture, &scan), "a/g:q@1=2 ");
    fixture_fini(&fixture.base);
}

TEST(test_bounds_of_reversed_scans)
{
    struct read_fixture fixture;
    petal_scan_options scan = {.reversed = true};

    reads_open(&fixture, "fg", NULL);
    fill_rows(&fixture);
    assert_string_equal(reads_scan(&fixture, &scan),
                        "\\ff\\ff/f:q@1=3 \\ff\\fe\\ff/f:q@1=9 \\ff/g:q@1=6 c/g:q@1=8 ba/f:q@1=5 "
                        "b\\00/f:q@1=7 b/f:q@1=1 b/g:q@1=4 a/g:q@1=2 ");
    scan.start_row = text("ba");
    scan.stop_row = text("b");
    assert_string_equal(reads_scan(&fixture, &scan), "ba/f:q@1=5 b\\00/f:q@1=7 ");
    scan.start_exclusive = true;
    assert_string_equal(reads_scan(&fixture, &scan), "b\\00/f:q@1=7 ");
    scan.stop_inclusive = true;
    assert_string_equal(reads_scan(&fixture, &scan), "b\\00/f:q@1=7 b/f:q@1=1 b/g:q@1=4 ");
    /* Bounds between rows, and two rows only. */
    scan = (petal_scan_options){
        .reversed = true, .start_row = text("bzz"), .stop_row = text("aa"), .row_limit = 2};
    assert_string_equal(reads_scan(&fixture, &scan), "ba/f:q@1=5 b\\00/f:q@1=7 ");
    fixture_fini(&fixture.base);
}

TEST(test_prefixes)
{
    struct read_fixture fixture;

    reads_open(&fixture, "fg", NULL);
    fill_rows(&fixture);
    for (int reversed = 0; reversed < 2; reversed++) {
        /* The bounds beside a prefix are not used. */
        petal_scan_options scan = {.reversed = reversed,
                                   .prefix = text("b"),
                                   .start_row = text("x"),
                                   .stop_row = text("y"),
                                   .start_exclusive = true};

        assert_string_equal(reads_scan(&fixture, &scan),
                            reversed ? "ba/f:q@1=5 b\\00/f:q@1=7 b/f:q@1=1 b/g:q@1=4 "
                                     : "b/f:q@1=1 b/g:q@1=4 b\\00/f:q@1=7 ba/f:q@1=5 ");
        scan.prefix = BYTES("\xff");
        assert_string_equal(reads_scan(&fixture, &scan),
                            reversed ? "\\ff\\ff/f:q@1=3 \\ff\\fe\\ff/f:q@1=9 \\ff/g:q@1=6 "
                                     : "\\ff/g:q@1=6 \\ff\\fe\\ff/f:q@1=9 \\ff\\ff/f:q@1=3 ");
        scan.prefix = BYTES("\xff\xff");
        assert_string_equal(reads_scan(&fixture, &scan), "\\ff\\ff/f:q@1=3 ");
        scan.prefix = BYTES("\xff\xff\xff");
        assert_string_equal(reads_scan(&fixture, &scan), "");
        scan.prefix = BYTES("\xff\xfe");
        assert_string_equal(reads_scan(&fixture, &scan), "\\ff\\fe\\ff/f:q@1=9 ");
        scan.prefix = BYTES("b\0");
        assert_string_equal(reads_scan(&fixture, &scan), "b\\00/f:q@1=7 ");
    }
    fixture_fini(&fixture.base);
}

/* ---- seeks ---- */

TEST(test_seeks)
{
    struct read_fixture fixture;
    petal_scan_options scan = {.start_row = text("b"), .stop_row = text("d")};
    petal_cursor *cursor;

    reads_open(&fixture, "fg", NULL);
    fill_rows(&fixture);
    reads_put(&fixture, "f", text("b"), text("r"), 1, text("w"));
    cursor = reads_cursor(&fixture, &scan);
    reads_seek(cursor, text("b"), reads_family(&fixture, "f"), text("qq"));
    assert_string_equal(reads_next(cursor), "b/f:r@1=w ");
    assert_string_equal(reads_next(cursor), "b/g:q@1=4 ");
    reads_seek(cursor, text("b"), reads_family(&fixture, "g"), text(""));
    assert_string_equal(reads_next(cursor), "b/g:q@1=4 ");
    reads_seek(cursor, text("b"), reads_family(&fixture, "g"), text("z"));
    assert_string_equal(reads_next(cursor), "b\\00/f:q@1=7 ");
    reads_seek(cursor, text("b"), NULL, text("ignored"));
    assert_string_equal(reads_next(cursor), "b/f:q@1=1 ");
    /* Outside of the bounds, and after the end. */
    reads_seek(cursor, text("a"), reads_family(&fixture, "g"), text(""));
    assert_string_equal(reads_next(cursor), "b/f:q@1=1 ");
    reads_seek(cursor, text("x"), NULL, text(""));
    assert_string_equal(reads_next(cursor), "");
    reads_seek(cursor, text("bb"), NULL, text(""));
    assert_string_equal(reads_rest(cursor), "c/g:q@1=8 ");
    reads_seek(cursor, text("ba"), NULL, text(""));
    assert_string_equal(reads_rest_by_pieces(&fixture, cursor), "ba/f:q@1=5 | c/g:q@1=8 | ");
    petal_cursor_close(cursor);
    fixture_fini(&fixture.base);
}

TEST(test_seeks_of_reversed_scans)
{
    struct read_fixture fixture;
    petal_scan_options scan = {.start_row = text("c"), .stop_row = text("a"), .reversed = true};
    petal_cursor *cursor;

    reads_open(&fixture, "fg", NULL);
    fill_rows(&fixture);
    reads_put(&fixture, "f", text("b"), text("r"), 1, text("w"));
    cursor = reads_cursor(&fixture, &scan);
    reads_seek(cursor, text("b"), reads_family(&fixture, "f"), text("qq"));
    assert_string_equal(reads_rest(cursor), "b/f:r@1=w b/g:q@1=4 ");
    reads_seek(cursor, text("bz"), reads_family(&fixture, "g"), text(""));
    assert_string_equal(reads_next(cursor), "ba/f:q@1=5 ");
    /* The row has nothing there: the one below it comes. */
    reads_seek(cursor, text("ba"), reads_family(&fixture, "g"), text(""));
    assert_string_equal(reads_next(cursor), "b\\00/f:q@1=7 ");
    reads_seek(cursor, text("z"), NULL, text(""));
    assert_string_equal(reads_next(cursor), "c/g:q@1=8 ");
    reads_seek(cursor, text("a"), NULL, text(""));
    assert_string_equal(reads_next(cursor), "");
    petal_cursor_close(cursor);
    fixture_fini(&fixture.base);
}

TEST(test_seeks_under_filters)
{
    struct read_fixture fixture;
    petal_filter *rows, *page;
    petal_scan_options scan = {.row_limit = 2};
    petal_cursor *cursor;

    reads_open(&fixture, "fg", NULL);
    fill_rows(&fixture);
    reads_put(&fixture, "f", text("ba"), text("r"), 1, text("w"));
    rows = reads_filter(&fixture, "RowFilter(!=, 'binary:b')");
    page = reads_filter(&fixture, "PageFilter(1)");
    scan.read.filter = rows;
    for (int reversed = 0; reversed < 2; reversed++) {
        scan.reversed = reversed;
        cursor = reads_cursor(&fixture, &scan);
        reads_seek(cursor, text("ba"), reads_family(&fixture, "f"), text("r"));
        assert_string_equal(reads_rest(cursor),
                            reversed ? "ba/f:r@1=w b\\00/f:q@1=7 " : "ba/f:r@1=w c/g:q@1=8 ");
        /* Into the row that the filter excludes. The row limit starts anew. */
        reads_seek(cursor, text("b"), reads_family(&fixture, "f"), text("q"));
        assert_string_equal(reads_rest(cursor),
                            reversed ? "a/g:q@1=2 " : "b\\00/f:q@1=7 ba/f:q@1=5 ba/f:r@1=w ");
        petal_cursor_close(cursor);
    }
    scan = (petal_scan_options){.read.filter = page};
    cursor = reads_cursor(&fixture, &scan);
    petal_filter_free(page); /* the cursor keeps what it uses */
    assert_string_equal(reads_rest(cursor), "a/g:q@1=2 ");
    reads_seek(cursor, text("b"), reads_family(&fixture, "g"), text(""));
    assert_string_equal(reads_rest(cursor), "b/g:q@1=4 ");
    petal_cursor_close(cursor);
    petal_filter_free(rows);
    fixture_fini(&fixture.base);
}

/* ---- pieces ---- */

TEST(test_batches)
{
    struct read_fixture fixture;
    petal_scan_options scan = {.batch = 2};
    petal_cursor *cursor;

    reads_open(&fixture, "fg", NULL);
    for (int i = 0; i < 3; i++) {
        char qualifier[2] = {(char)('a' + i), 0};

        reads_put(&fixture, "f", text("r"), text(qualifier), 1, text("1"));
        reads_put(&fixture, "g", text("r"), text(qualifier), 1, text("2"));
    }
    reads_put(&fixture, "g", text("s"), text("a"), 1, text("3"));
    cursor = reads_cursor(&fixture, &scan);
    assert_string_equal(
        reads_rest_by_pieces(&fixture, cursor),
        "r/f:a@1=1 r/f:b@1=1 | r/f:c@1=1 r/g:a@1=2 | r/g:b@1=2 r/g:c@1=2 | s/g:a@1=3 | ");
    /* Cell by cell first: the piece is what is left of the row. */
    reads_seek(cursor, text("r"), reads_family(&fixture, "g"), text("b"));
    assert_string_equal(reads_next(cursor), "r/g:b@1=2 ");
    assert_string_equal(reads_rest_by_pieces(&fixture, cursor), "r/g:c@1=2 | s/g:a@1=3 | ");
    petal_cursor_close(cursor);
    scan = (petal_scan_options){.batch = 4, .row_limit = 1};
    cursor = reads_cursor(&fixture, &scan);
    assert_string_equal(reads_rest_by_pieces(&fixture, cursor),
                        "r/f:a@1=1 r/f:b@1=1 r/f:c@1=1 r/g:a@1=2 | r/g:b@1=2 r/g:c@1=2 | ");
    reads_seek(cursor, text("r"), reads_family(&fixture, "g"), text("c"));
    assert_string_equal(reads_rest_by_pieces(&fixture, cursor), "r/g:c@1=2 | ");
    petal_cursor_close(cursor);
    fixture_fini(&fixture.base);
}

/* ---- options of other headers ---- */

/* The options of a scan as a header has them whose petal_read_options is of `read_bytes`; 0xee
 * where this one has nothing. */
static const petal_scan_options *
scan_options_of(uint64_t memory[64], const petal_scan_options *scan, size_t read_bytes)
{
    const size_t tail = offsetof(petal_scan_options, start_row);
    uint8_t *bytes = (uint8_t *)memory;
    size_t size = offsetof(petal_scan_options, read) + read_bytes + sizeof *scan - tail;

    memset(memory, 0xee, 64 * sizeof *memory);
    memcpy(bytes, &size, sizeof size);
    memcpy(bytes + offsetof(petal_scan_options, read), &scan->read,
           read_bytes < sizeof scan->read ? read_bytes : sizeof scan->read);
    memcpy(bytes + offsetof(petal_scan_options, read), &read_bytes, sizeof read_bytes);
    memcpy(bytes + offsetof(petal_scan_options, read) + read_bytes, &scan->start_row,
           sizeof *scan - tail);
    return (const petal_scan_options *)memory;
}

TEST(test_scan_options_of_other_headers)
{
    petal_scan_options scan = {.start_row = text("b"), .row_limit = 1, .reversed = true};
    petal_snapshot *snapshot;
    struct read_fixture fixture;
    uint64_t memory[64];

    reads_open(&fixture, "f", NULL);
    reads_put(&fixture, "f", text("a"), text("q"), 1, text("1"));
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    reads_put(&fixture, "f", text("b"), text("q"), 1, text("2"));
    scan.read.snapshot = snapshot;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@1=1 ");
    assert_string_equal(reads_scan(&fixture, scan_options_of(memory, &scan, sizeof scan.read + 16)),
                        "a/f:q@1=1 ");
    /* Without a snapshot. */
    assert_string_equal(
        reads_scan(&fixture,
                   scan_options_of(memory, &scan, offsetof(petal_read_options, snapshot))),
        "b/f:q@1=2 ");
    /* Cut after the limit of rows, in the read's options, and after the size. */
    scan.size = offsetof(petal_scan_options, start_exclusive);
    scan.start_row = text("a");
    scan.read.snapshot = NULL;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@1=1 ");
    scan.size = offsetof(petal_scan_options, read.versions);
    scan.read.versions = -1;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@1=1 b/f:q@1=2 ");
    scan.size = sizeof scan.size;
    scan.read.without = ~0u;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@1=1 b/f:q@1=2 ");
    petal_snapshot_free(snapshot);
    fixture_fini(&fixture.base);
}

/* ---- many columns ---- */

#define COLUMNS 600

/* Named downwards, or at random, and twice: the answer is that of columns named in order. */
TEST(test_columns_in_any_order)
{
    petal_read_options read = {.column_count = COLUMNS};
    static char names[COLUMNS][8];
    petal_column columns[COLUMNS];
    const char *expected;
    struct read_fixture fixture;
    struct test_random random;

    test_random_init(&random, test_seed());
    reads_open(&fixture, "f", NULL);
    read.columns = columns;
    for (unsigned i = 0; i < COLUMNS; i++) {
        snprintf(names[i], sizeof names[i], "q%03u", i / 2);
        columns[i] = (petal_column){reads_family(&fixture, "f"), text(names[i]), false};
        if (i % 4 == 0)
            reads_put(&fixture, "f", text("r"), text(names[i]), 1, text("v"));
    }
    expected = reads_get(&fixture, text("r"), &read);
    assert_int_equal(strlen(expected), COLUMNS / 4 * strlen("r/f:q000@1=v "));
    for (unsigned turn = 0; turn < 4; turn++) {
        for (unsigned i = 0; i < COLUMNS; i++) {
            unsigned other =
                turn == 0 ? COLUMNS - 1 - i : (unsigned)test_random_below(&random, COLUMNS);
            petal_slice qualifier = columns[i].qualifier;

            if (turn == 0 && other <= i)
                break;
            columns[i].qualifier = columns[other].qualifier;
            columns[other].qualifier = qualifier;
        }
        assert_string_equal(reads_get(&fixture, text("r"), &read), expected);
        if (turn == 1)
            reads_flush(&fixture);
        expected = reads_get(&fixture, text("r"), &read); /* its text does not live long */
    }
    fixture_fini(&fixture.base);
}
