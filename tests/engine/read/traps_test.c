/*
 * traps_test.c -- what has made stores with filters, markers and versions answer wrongly, each as a
 * test of its own: first the traps of leaving files out, then places where HBase itself is wrong.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/model/run.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* ---- one table of one family ---- */

struct trap {
    struct fixture fixture;
    petal_table *table;
    petal_family *family;
    petal_result *result;
};

static const enum petal_bloom_type blooms[] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                               PETAL_BLOOM_ROWCOL, PETAL_BLOOM_ROW_ROWCOL,
                                               PETAL_BLOOM_ROW_PREFIX};
#define BLOOMS (sizeof blooms / sizeof *blooms)

static void
attach(struct trap *trap)
{
    fixture_must_open(&trap->fixture);
    MUST(petal_table_open(trap->fixture.db, slice_from_text("t"), &trap->table, WHY));
    trap->family = petal_table_family_at(trap->table, 0);
    MUST(petal_result_new(trap->fixture.db, &trap->result, WHY));
}

/* Without a cache, so that each read shows what is in the files. */
static void
begin(struct trap *trap, petal_family_options family, enum petal_bloom_type bloom)
{
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};

    family.name = slice_from_text("f");
    family.bloom = bloom;
    family.bloom_prefix_bytes = bloom == PETAL_BLOOM_ROW_PREFIX ? 1 : 0;
    fixture_init(&trap->fixture, 1);
    trap->fixture.options.cache_bytes = PETAL_NO_CACHE;
    test_clock_set(&trap->fixture.clock, 1000000);
    fixture_must_open(&trap->fixture);
    MUST(petal_table_create(trap->fixture.db, &options, &trap->table, WHY));
    fixture_must_close(&trap->fixture);
    attach(trap);
}

static void
end(struct trap *trap)
{
    MUST(petal_table_verify(trap->table, WHY));
    petal_result_free(trap->result);
    fixture_fini(&trap->fixture);
}

static void
put_value(struct trap *trap, const char *row, const char *qualifier, int64_t timestamp,
          petal_slice value)
{
    MUST(petal_put(trap->family, slice_from_text(row), slice_from_text(qualifier), timestamp, value,
                   NULL, WHY));
}

static void
put(struct trap *trap, const char *row, const char *qualifier, int64_t timestamp)
{
    put_value(trap, row, qualifier, timestamp, slice_from_text("value"));
}

static void
put_delete(struct trap *trap, const char *row, const char *qualifier, int64_t timestamp,
           enum petal_cell_type type)
{
    MUST(petal_delete(trap->family, slice_from_text(row), slice_from_text(qualifier), timestamp,
                      type, NULL, WHY));
}

static void
flush(struct trap *trap)
{
    MUST(petal_flush(trap->fixture.db, trap->table, WHY));
}

/* Cells of a get of all versions of one column, or of the row if NULL. */
static size_t
count_in_range(struct trap *trap, const char *row, const char *qualifier, int64_t time_limit)
{
    petal_column column = {.family = trap->family,
                           .qualifier = slice_from_text(qualifier == NULL ? "" : qualifier)};
    petal_read_options options = {.columns = &column,
                                  .column_count = qualifier != NULL,
                                  .has_time_range = true,
                                  .time_limit = time_limit,
                                  .versions = PETAL_ALL_VERSIONS};

    MUST(petal_get(trap->table, slice_from_text(row), &options, trap->result, WHY));
    return petal_result_count(trap->result);
}

static size_t
count_cells(struct trap *trap, const char *row, const char *qualifier)
{
    return count_in_range(trap, row, qualifier, INT64_MAX);
}

/* Cells of a scan, of the named columns if there are any; it must end after at most `most`. */
static size_t
count_scan(struct trap *trap, const petal_scan_options *options, size_t most)
{
    const petal_cell *cell;
    petal_cursor *cursor;
    size_t count = 0;

    MUST(petal_cursor_open(trap->table, options, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        assert_true(++count <= most);
    }
    petal_cursor_close(cursor);
    return count;
}

static size_t
count_scan_of(struct trap *trap, const char *first, const char *second, bool reversed)
{
    petal_column columns[2] = {{.family = trap->family, .qualifier = slice_from_text(first)},
                               {.family = trap->family, .qualifier = slice_from_text(second)}};
    petal_scan_options options = {.read.columns = columns,
                                  .read.column_count = 2,
                                  .read.versions = PETAL_ALL_VERSIONS,
                                  .reversed = reversed};

    return count_scan(trap, &options, 100);
}

/* ---- leaving files out ---- */

/* A read below the markers' timestamps must not leave out the file that holds them. */
TEST(test_markers_widen_time_ranges)
{
    for (size_t i = 0; i < BLOOMS; i++) {
        struct trap trap;

        begin(&trap, (petal_family_options){0}, blooms[i]);
        put(&trap, "a", "q", 50);
        put(&trap, "b", "q", 50);
        flush(&trap);
        put_delete(&trap, "a", "", 100, PETAL_DELETE_FAMILY);
        put_delete(&trap, "b", "q", 100, PETAL_DELETE_COLUMN);
        flush(&trap);
        assert_int_equal(count_in_range(&trap, "a", "q", 60), 0);
        assert_int_equal(count_in_range(&trap, "a", NULL, 60), 0);
        assert_int_equal(count_in_range(&trap, "b", "q", 60), 0);
        assert_int_equal(count_scan_of(&trap, "q", "r", false), 0);
        end(&trap);
    }
}

/* The filter of columns has no column of the row, but the row's family marker. */
TEST(test_family_marker_alone_in_a_file)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE_FAMILY, PETAL_DELETE_FAMILY_VERSION};

    for (size_t i = 0; i < 2 * BLOOMS; i++) {
        struct trap trap;

        begin(&trap, (petal_family_options){0}, blooms[i / 2]);
        put(&trap, "row", "q", 50);
        flush(&trap);
        put(&trap, "another", "x", 60);
        put_delete(&trap, "row", "", 50, types[i % 2]);
        put(&trap, "zebra", "x", 60);
        flush(&trap);
        assert_int_equal(count_cells(&trap, "row", "q"), 0);
        assert_int_equal(count_cells(&trap, "row", NULL), 0);
        assert_int_equal(count_scan_of(&trap, "q", "r", false), 0);
        assert_int_equal(count_scan_of(&trap, "q", "r", true), 0);
        end(&trap);
    }
}

/* A row whose only cells in a file are markers of columns. */
TEST(test_rows_of_markers_are_in_filters)
{
    static const enum petal_cell_type types[] = {PETAL_DELETE, PETAL_DELETE_COLUMN};

    for (size_t i = 0; i < 2 * BLOOMS; i++) {
        struct trap trap;

        begin(&trap, (petal_family_options){0}, blooms[i / 2]);
        put(&trap, "row", "q", 50);
        flush(&trap);
        put(&trap, "another", "x", 60);
        put_delete(&trap, "row", "q", 50, types[i % 2]);
        put(&trap, "zebra", "x", 60);
        flush(&trap);
        assert_int_equal(count_cells(&trap, "row", "q"), 0);
        assert_int_equal(count_cells(&trap, "row", NULL), 0);
        end(&trap);
    }
}

/* All of a file is past the TTL, but MIN_VERSIONS keeps it. */
TEST(test_min_versions_forbid_skips_by_ttl)
{
    for (size_t i = 0; i < BLOOMS; i++) {
        petal_family_options family = {.versions = 3, .min_versions = 1, .ttl_seconds = 10};
        petal_scan_options scan = {.stop_row = {NULL, 0}};
        struct trap trap;

        begin(&trap, family, blooms[i]);
        put(&trap, "row", "q", 999000);
        flush(&trap);
        test_clock_advance(&trap.fixture.clock, 60000);
        assert_int_equal(count_cells(&trap, "row", "q"), 1);
        assert_int_equal(count_cells(&trap, "row", NULL), 1);
        assert_int_equal(count_scan(&trap, &scan, 10), 1);
        end(&trap);
    }
}

/* Without MIN_VERSIONS the file may be left out, and its cells are not seen. */
TEST(test_expired_files_are_not_seen)
{
    for (size_t i = 0; i < BLOOMS; i++) {
        petal_family_options family = {.versions = 3, .ttl_seconds = 10};
        struct trap trap;

        begin(&trap, family, blooms[i]);
        put(&trap, "row", "q", 999000);
        flush(&trap);
        assert_int_equal(count_cells(&trap, "row", "q"), 1);
        test_clock_advance(&trap.fixture.clock, 9000); /* exactly as old as the TTL */
        assert_int_equal(count_cells(&trap, "row", "q"), 1);
        test_clock_advance(&trap.fixture.clock, 1);
        assert_int_equal(count_cells(&trap, "row", "q"), 0);
        end(&trap);
    }
}

TEST(test_bytes_are_unsigned)
{
    static const char *const names[] = {"\x01", "\x7f", "\x80",    "\x80\x80",
                                        "\xfe", "\xff", "\xff\xff"};
    size_t count = sizeof names / sizeof *names;

    for (size_t i = 0; i < BLOOMS; i++) {
        petal_scan_options scan = {.start_row = {"\x7f\xff", 2}, .stop_row = {"\xff", 1}};
        struct trap trap;

        begin(&trap, (petal_family_options){.block_bytes = 1024}, blooms[i]);
        for (size_t row = 0; row < count; row++) {
            for (size_t column = 0; column < count; column++)
                put(&trap, names[row], names[column], 10);
        }
        flush(&trap);
        for (size_t row = 0; row < count; row++) {
            assert_int_equal(count_cells(&trap, names[row], NULL), count);
            for (size_t column = 0; column < count; column++) {
                assert_int_equal(count_cells(&trap, names[row], names[column]), 1);
                assert_true(slice_equal(petal_result_cell(trap.result, 0)->qualifier,
                                        slice_from_text(names[column])));
            }
        }
        assert_int_equal(count_scan(&trap, &scan, 100), 3 * count); /* 80, 80 80, fe */
        scan.prefix = slice_from_text("\xff");
        assert_int_equal(count_scan(&trap, &scan, 100), 2 * count);
        end(&trap);
    }
}

/* The filter's bytes: the only ones that are read when the filter says no. */
static struct memory_vfs_call
find_filter(struct trap *trap)
{
    struct memory_vfs_call found = {.size = 0};

    memory_vfs_trace(trap->fixture.vfs, true);
    for (int i = 0; i < 100 && found.size == 0; i++) {
        char row[16];
        size_t before = memory_vfs_trace_count(trap->fixture.vfs);

        snprintf(row, sizeof row, "m%dx", i);
        assert_int_equal(count_cells(trap, row, "q"), 0);
        if (memory_vfs_trace_count(trap->fixture.vfs) == before + 1)
            found = memory_vfs_trace_at(trap->fixture.vfs, before);
    }
    assert_true(found.size > 0);
    return found;
}

TEST(test_damaged_filters_say_maybe)
{
    for (size_t i = 1; i < BLOOMS - 1; i++) {
        struct memory_vfs_call filter;
        struct trap trap;
        uint8_t *bytes;
        size_t size;
        char *path, row[16];

        begin(&trap, (petal_family_options){0}, blooms[i]);
        for (int n = 0; n < 100; n++) {
            snprintf(row, sizeof row, "m%d", n);
            put(&trap, row, "q", 10);
        }
        put(&trap, "z", "q", 10);
        flush(&trap);
        filter = find_filter(&trap);
        path = test_strdup(filter.path);
        memory_vfs_trace(trap.fixture.vfs, false);
        assert_int_equal(memory_vfs_read_file(trap.fixture.vfs, path, &bytes, &size), 0);
        memset(bytes + filter.offset + filter.size / 2, 0, 8); /* as if nothing were in it */
        petal_result_free(trap.result);
        fixture_must_close(&trap.fixture);
        assert_int_equal(memory_vfs_write_file(trap.fixture.vfs, path, bytes, size), 0);
        attach(&trap);
        for (int n = 0; n < 100; n++) {
            snprintf(row, sizeof row, "m%d", n);
            assert_int_equal(count_cells(&trap, row, "q"), 1);
        }
        assert_int_equal(count_cells(&trap, "m1x", "q"), 0);
        petal_result_free(trap.result);
        fixture_fini(&trap.fixture);
        free(bytes);
        free(path);
    }
}

/* ---- where HBase is wrong ---- */

/* A family marker is met, also after a newer put with the empty qualifier that fills a block of
 * its own. */
TEST(test_family_marker_behind_a_put_without_qualifier)
{
    static const char filler[1024] = {'x'};

    for (size_t i = 0; i < BLOOMS; i++) {
        struct trap trap;

        begin(&trap, (petal_family_options){.block_bytes = 1024}, blooms[i]);
        put_value(&trap, "row", "", 1000249, slice_make(filler, sizeof filler));
        put_delete(&trap, "row", "", 36, PETAL_DELETE_FAMILY);
        put(&trap, "row", "col-24", 1);
        put(&trap, "row", "col-25", 40);
        flush(&trap);
        assert_int_equal(count_cells(&trap, "row", "col-24"), 0);
        assert_int_equal(count_cells(&trap, "row", "col-25"), 1);
        assert_int_equal(count_cells(&trap, "row", ""), 1);
        assert_int_equal(count_cells(&trap, "row", NULL), 2);
        assert_int_equal(count_scan_of(&trap, "", "col-24", false), 1);
        assert_int_equal(count_scan_of(&trap, "", "col-24", true), 1);
        end(&trap);
    }
}

/* MIN_VERSIONS keeps as many expired versions of a column that is named as of one that is not. */
TEST(test_min_versions_of_named_columns)
{
    petal_family_options family = {.versions = 3, .min_versions = 1, .ttl_seconds = 10};

    for (size_t i = 0; i < 2 * BLOOMS; i++) {
        struct trap trap;

        begin(&trap, family, blooms[i / 2]);
        put(&trap, "row", "q", 1000000 - 20000);
        put(&trap, "row", "q", 1000000);
        if (i % 2 == 1)
            flush(&trap);
        assert_int_equal(count_cells(&trap, "row", NULL), 1);
        assert_int_equal(count_cells(&trap, "row", "q"), 1);
        assert_int_equal(count_scan_of(&trap, "q", "r", false), 1);
        test_clock_advance(&trap.fixture.clock,
                           20000); /* now the newer one is kept in spite of its age */
        assert_int_equal(count_cells(&trap, "row", NULL), 1);
        assert_int_equal(count_cells(&trap, "row", "q"), 1);
        end(&trap);
    }
}

/* NEW_VERSION_BEHAVIOR with named columns, a file and something beside it: reads end. */
TEST(test_order_of_writes_reads_end)
{
    petal_family_options family = {.keep_deleted_cells = PETAL_KEEP_DELETED_TRUE,
                                   .new_version_behavior = true};

    for (size_t i = 0; i < BLOOMS; i++) {
        struct trap trap;

        begin(&trap, family, blooms[i]);
        put_delete(&trap, "a", "", 10, PETAL_DELETE_FAMILY);
        flush(&trap);
        put(&trap, "b", "zz", 8);
        assert_int_equal(count_scan_of(&trap, "a", "ab", false), 0);
        assert_int_equal(count_scan_of(&trap, "a", "ab", true), 0);
        assert_int_equal(count_scan_of(&trap, "a", "zz", false), 1);
        end(&trap);
    }
}

/* NEW_VERSION_BEHAVIOR: any order of writes and timestamps is read and compacted, and gives what
 * the rules give. */
TEST(test_order_of_writes_never_fails)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct run_settings settings = {.bloom = blooms[seed % 4],
                                        .block_bytes = seed % 2 == 0 ? 1024 : 0};
        struct run_difference difference;
        struct operation_list list;
        struct run_answers answers;

        operation_list_make(&list, seed, 150, FEATURE_ALL & ~(unsigned)FEATURE_TTL);
        for (unsigned i = 0; i < MODEL_TABLES * MODEL_FAMILIES; i++)
            list.schemas[i / MODEL_FAMILIES].families[i % MODEL_FAMILIES].new_version_behavior =
                true;
        run_model(&list, &answers);
        assert_true(run_engine(&list, &settings, &answers, &difference));
        run_answers_free(&answers);
        operation_list_free(&list);
    }
}

/* Raw scans of any time range, over families with and without a TTL, end and show the stored cells
 * of the range. */
TEST(test_raw_scans_of_time_ranges_end)
{
    static const enum petal_cell_type types[] = {PETAL_PUT, PETAL_DELETE, PETAL_DELETE_COLUMN,
                                                 PETAL_DELETE_FAMILY, PETAL_DELETE_FAMILY_VERSION};

    for (size_t i = 0; i < 2 * BLOOMS; i++) {
        petal_family_options family = {.keep_deleted_cells = PETAL_KEEP_DELETED_TRUE,
                                       .versions = 100,
                                       .ttl_seconds = i % 2 == 0 ? 0 : 1};
        petal_scan_options scan = {
            .raw = true, .read.has_time_range = true, .read.versions = PETAL_ALL_VERSIONS};
        struct trap trap;

        begin(&trap, family, blooms[i / 2]);
        test_clock_set(&trap.fixture.clock, 1000);
        for (int64_t timestamp = 1; timestamp <= 5;
             timestamp++) { /* one of each kind in each of 3 rows */
            for (unsigned cell = 0; cell < 15; cell++) {
                const char *row = cell < 5 ? "a" : cell < 10 ? "b" : "c";
                enum petal_cell_type type = types[cell % 5];

                if (type == PETAL_PUT)
                    put(&trap, row, "q", timestamp);
                else
                    put_delete(&trap, row, cell % 5 < 3 ? "q" : "", timestamp, type);
            }
            if (timestamp == 2 || timestamp == 4)
                flush(&trap);
        }
        test_clock_set(&trap.fixture.clock, 100000); /* a raw scan does not mind the TTL */
        for (int64_t from = 0; from <= 6; from++) {
            for (int64_t limit = from; limit <= 7; limit++) {
                int64_t first = from < 1 ? 1 : from, last = limit > 5 ? 5 : limit - 1;

                scan.read.time_min = from;
                scan.read.time_limit = limit;
                assert_int_equal(count_scan(&trap, &scan, 75),
                                 first > last ? 0 : 15 * (last - first + 1));
            }
        }
        end(&trap);
    }
}

/* NEW_VERSION_BEHAVIOR: a family marker hides a put with the empty qualifier that was written
 * before it, and no later one. */
TEST(test_order_of_writes_family_marker_and_no_qualifier)
{
    petal_family_options family = {.new_version_behavior = true};

    for (size_t i = 0; i < BLOOMS; i++) {
        struct trap trap;

        begin(&trap, family, blooms[i]);
        put(&trap, "row", "", 40);
        flush(&trap);
        put_delete(&trap, "row", "", PETAL_LATEST, PETAL_DELETE_FAMILY);
        assert_int_equal(count_cells(&trap, "row", NULL), 0);
        assert_int_equal(count_cells(&trap, "row", ""), 0);
        flush(&trap);
        assert_int_equal(count_cells(&trap, "row", ""), 0);
        put(&trap, "row", "", 40);
        assert_int_equal(count_cells(&trap, "row", ""), 1);
        end(&trap);
    }
}
