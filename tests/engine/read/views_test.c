/*
 * views_test.c -- what readers see while things change beneath them: snapshots over writes, flushes
 * and compactions, tables that are altered and dropped; and what raw scans show of all that is
 * stored.
 */

#include "engine/state/read_point.h"
#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* ---- snapshots ---- */

struct answers {
    char *texts[6];
};

/* All kinds of reads, by one snapshot. */
static void
ask_all(const struct read_fixture *fixture, const petal_snapshot *snapshot, struct answers *answers)
{
    petal_scan_options scan = {.read = {.snapshot = snapshot, .versions = PETAL_ALL_VERSIONS}};
    petal_column column = {.family = reads_family(fixture, "f"), .qualifier = text("q")};
    petal_slice rows[] = {text("c"), text("a")};
    petal_result *results[] = {reads_result(fixture), reads_result(fixture)};
    petal_filter *filter = reads_filter(fixture, "ValueFilter(>, 'binary:2')");

    answers->texts[0] = test_strdup(reads_scan(fixture, &scan));
    scan.reversed = true;
    answers->texts[1] = test_strdup(reads_scan(fixture, &scan));
    answers->texts[2] = test_strdup(reads_get(fixture, text("a"), &scan.read));
    MUST(petal_multi_get(fixture->table, rows, 2, &scan.read, results, WHY));
    answers->texts[3] = test_strdup(reads_result_text(results[1]));
    scan.read.columns = &column;
    scan.read.column_count = 1;
    answers->texts[4] = test_strdup(reads_scan(fixture, &scan));
    scan.read.filter = filter;
    answers->texts[5] = test_strdup(reads_scan(fixture, &scan));
    petal_filter_free(filter);
    petal_result_free(results[0]);
    petal_result_free(results[1]);
}

static void
forget(struct answers *answers)
{
    for (size_t i = 0; i < 6; i++)
        free(answers->texts[i]);
}

static void
check_same(const struct read_fixture *fixture, const petal_snapshot *snapshot,
           const struct answers *expected)
{
    struct answers answers;

    ask_all(fixture, snapshot, &answers);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(answers.texts[i], expected->texts[i]);
    forget(&answers);
}

static void
write_first(const struct read_fixture *fixture)
{
    reads_put(fixture, "f", text("a"), text("q"), 10, text("1"));
    reads_put(fixture, "f", text("a"), text("q"), 20, text("2"));
    reads_put(fixture, "g", text("a"), text("r"), 20, text("3"));
    reads_flush(fixture);
    reads_put(fixture, "f", text("b"), text("q"), 20, text("4"));
    reads_delete(fixture, "f", text("a"), text("q"), 10, PETAL_DELETE);
    reads_put(fixture, "f", text("c"), text("q"), 20, text("5"));
}

/* Supersedes, deletes, pushes out and covers what a snapshot sees. */
static void
write_later(const struct read_fixture *fixture, int turn)
{
    int64_t at = 30 + turn;

    reads_put(fixture, "f", text("a"), text("q"), 20, text("x"));
    for (int i = 0; i < 3; i++)
        reads_put(fixture, "f", text("b"), text("q"), at + i, text("y"));
    reads_delete(fixture, "f", text("c"), text(""), at, PETAL_DELETE_FAMILY);
    reads_delete(fixture, "g", text("a"), text("r"), at, PETAL_DELETE_COLUMN);
    reads_put(fixture, "g", text("d"), text("r"), at, text("z"));
}

static bool
add_cells(void *argument, const petal_file_info *file)
{
    *(uint64_t *)argument += file->cells;
    return true;
}

static uint64_t
stored_cells(const struct read_fixture *fixture)
{
    uint64_t cells = 0;

    MUST(petal_table_files(fixture->table, add_cells, &cells, WHY));
    return cells;
}

TEST(test_a_snapshot_stays)
{
    petal_family_options family = {.versions = 2};
    petal_snapshot *snapshot, *later;
    struct answers first, second;
    struct read_fixture fixture;
    uint64_t held;

    reads_open(&fixture, "fg", &family);
    write_first(&fixture);
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    ask_all(&fixture, snapshot, &first);
    assert_string_equal(first.texts[0], "a/f:q@20=2 a/g:r@20=3 b/f:q@20=4 c/f:q@20=5 ");
    assert_string_equal(first.texts[3], "a/f:q@20=2 a/g:r@20=3 ");
    assert_string_equal(first.texts[5], "c/f:q@20=5 b/f:q@20=4 ");
    for (int turn = 0; turn < 3; turn++) {
        write_later(&fixture, turn);
        check_same(&fixture, snapshot, &first);
        reads_flush(&fixture);
        check_same(&fixture, snapshot, &first);
        reads_compact(&fixture);
        check_same(&fixture, snapshot, &first);
    }
    MUST(petal_snapshot_new(fixture.base.db, &later, WHY));
    ask_all(&fixture, later, &second);
    assert_string_equal(second.texts[0], "a/f:q@20=x b/f:q@34=y b/f:q@33=y d/g:r@32=z d/g:r@31=z ");
    held = stored_cells(&fixture);
    petal_snapshot_free(snapshot);
    reads_compact(&fixture);
    check_same(&fixture, later, &second);
    assert_int_equal(stored_cells(&fixture), 5); /* what it sees, and nothing else */
    assert_true(held > 5);
    petal_snapshot_free(later);
    forget(&first);
    forget(&second);
    fixture_fini(&fixture.base);
}

/* ---- tables that change ---- */

static void
alter(const struct read_fixture *fixture, const char *letters, uint32_t versions)
{
    petal_family_options families[8];
    petal_table_options options = {.families = families, .family_count = strlen(letters)};

    for (size_t i = 0; i < options.family_count; i++)
        families[i] =
            (petal_family_options){.name = slice_make(letters + i, 1), .versions = versions};
    MUST(petal_table_alter(fixture->table, &options, WHY));
}

TEST(test_tables_that_change)
{
    petal_family_options family = {.versions = 2};
    petal_column column;
    petal_scan_options scan = {.read.versions = PETAL_ALL_VERSIONS}, named;
    struct read_fixture fixture;
    petal_cursor *cursor, *other;
    petal_snapshot *snapshot;
    petal_result *result;
    petal_error error;

    reads_open(&fixture, "fg", &family);
    reads_put(&fixture, "f", text("a"), text("q"), 1, text("1"));
    reads_put(&fixture, "f", text("a"), text("q"), 2, text("2"));
    reads_put(&fixture, "g", text("a"), text("q"), 1, text("3"));
    reads_put(&fixture, "g", text("b"), text("q"), 1, text("4"));
    reads_flush(&fixture);
    reads_put(&fixture, "g", text("c"), text("q"), 1, text("5"));
    column = (petal_column){.family = reads_family(&fixture, "g"), .whole_family = true};
    named = (petal_scan_options){.read = {.columns = &column, .column_count = 1}};
    must(petal_snapshot_new(fixture.base.db, &snapshot, &error), &error);
    cursor = reads_cursor(&fixture, &scan);
    assert_string_equal(reads_next(cursor), "a/f:q@2=2 ");
    alter(&fixture, "fh", 1);
    reads_put(&fixture, "h", text("a"), text("q"), 1, text("6"));
    /* The cursor goes on with the families that it began with; it can go back, too. */
    assert_string_equal(reads_rest(cursor), "a/f:q@1=1 a/g:q@1=3 b/g:q@1=4 c/g:q@1=5 ");
    reads_seek(cursor, text("a"), column.family, text(""));
    assert_string_equal(reads_next(cursor), "a/g:q@1=3 ");
    /* Reads that begin now have the new families, attributes and nothing of the old ones, by
     * whatever snapshot. */
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@2=2 a/h:q@1=6 ");
    scan.read.snapshot = snapshot;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:q@2=2 ");
    assert_string_equal(reads_get(&fixture, text("a"), &scan.read), "a/f:q@2=2 ");
    result = reads_result(&fixture);
    assert_int_equal(petal_cursor_open(fixture.table, &named, &other, &error), PETAL_NOT_FOUND);
    assert_null(other);
    assert_int_equal(petal_get(fixture.table, text("a"), &named.read, result, &error),
                     PETAL_NOT_FOUND);
    must(petal_table_drop(fixture.table, &error), &error);
    reads_seek(cursor, text("a"), column.family, text("r"));
    assert_string_equal(reads_rest(cursor), "b/g:q@1=4 c/g:q@1=5 ");
    assert_int_equal(
        petal_multi_get(fixture.table, &(petal_slice){"a", 1}, 1, NULL, &result, &error),
        PETAL_NOT_FOUND);
    petal_cursor_close(cursor);
    petal_result_free(result);
    petal_snapshot_free(snapshot);
    fixture_fini(&fixture.base);
}

/* ---- raw scans ---- */

static void
write_all_kinds(const struct read_fixture *fixture)
{
    petal_slice row = text("a"), q = text("q"), none = text("");

    reads_put(fixture, "f", row, none, 20, text("e"));
    reads_put(fixture, "f", row, q, 20, text("1"));
    reads_delete(fixture, "f", row, q, 20, PETAL_DELETE_COLUMN);
    reads_flush(fixture);
    reads_put(fixture, "f", row, q, 20, text("2"));
    reads_delete(fixture, "f", row, q, 20, PETAL_DELETE);
    reads_delete(fixture, "f", row, none, 30, PETAL_DELETE_FAMILY_VERSION);
    reads_delete(fixture, "f", row, none, 20, PETAL_DELETE_FAMILY_VERSION);
    reads_delete(fixture, "f", row, none, 20, PETAL_DELETE_FAMILY);
    reads_delete(fixture, "f", row, none, 20, PETAL_DELETE_COLUMN);
    reads_put(fixture, "f", row, none, 10, text("h"));
    reads_put(fixture, "f", row, none, 40, text("t"));
    reads_put(fixture, "g", row, q, 5, text("g"));
    reads_put(fixture, "f", text("b"), q, 5, text("b"));
}

#define RAW_ROW                                                                                    \
    "a/f:@40=t a/f:@30!10 a/f:@20!14 a/f:@20!12 a/f:@20!10 a/f:@20=e a/f:@10=h "                   \
    "a/f:q@20!12 a/f:q@20!8 a/f:q@20=2 a/g:q@5=g "

TEST(test_raw_order)
{
    petal_family_options family = {.versions = 3, .keep_deleted_cells = PETAL_KEEP_DELETED_TRUE};
    petal_scan_options scan = {.raw = true, .read.versions = PETAL_ALL_VERSIONS};
    struct read_fixture fixture;

    reads_open(&fixture, "fg", &family);
    write_all_kinds(&fixture);
    assert_string_equal(reads_scan(&fixture, &scan), RAW_ROW "b/f:q@5=b ");
    reads_flush(&fixture);
    assert_string_equal(reads_scan(&fixture, &scan), RAW_ROW "b/f:q@5=b ");
    scan.reversed = true;
    assert_string_equal(reads_scan(&fixture, &scan), "b/f:q@5=b " RAW_ROW);
    scan.row_limit = 1;
    scan.start_row = text("ab");
    assert_string_equal(reads_scan(&fixture, &scan), RAW_ROW);
    scan.read.family_cell_offset = 4;
    scan.read.family_cell_limit = 3;
    assert_string_equal(reads_scan(&fixture, &scan), "a/f:@20!10 a/f:@20=e a/f:@10=h ");
    scan = (petal_scan_options){.raw = true, .read.versions = 1};
    assert_string_equal(reads_scan(&fixture, &scan),
                        "a/f:@40=t a/f:@30!10 a/f:@20!14 a/f:@20!12 a/f:@20!10 "
                        "a/f:q@20!12 a/f:q@20!8 a/f:q@20=2 a/g:q@5=g b/f:q@5=b ");
    fixture_fini(&fixture.base);
}

TEST(test_raw_seeks)
{
    petal_scan_options scan = {.raw = true, .read.versions = PETAL_ALL_VERSIONS};
    struct read_fixture fixture;
    petal_cursor *cursor;

    reads_open(&fixture, "fg", NULL);
    write_all_kinds(&fixture);
    for (int reversed = 0; reversed < 2; reversed++) {
        scan.reversed = reversed;
        cursor = reads_cursor(&fixture, &scan);
        reads_seek(cursor, text("a"), reads_family(&fixture, "f"), text(""));
        assert_string_equal(reads_rest(cursor), reversed ? RAW_ROW : RAW_ROW "b/f:q@5=b ");
        reads_seek(cursor, text("a"), reads_family(&fixture, "f"), text("p"));
        assert_string_equal(reads_next(cursor), "a/f:q@20!12 ");
        reads_seek(cursor, text("a"), reads_family(&fixture, "f"), text("r"));
        assert_string_equal(reads_next(cursor), "a/g:q@5=g ");
        reads_seek(cursor, text("a"), reads_family(&fixture, "g"), text("r"));
        assert_string_equal(reads_next(cursor), reversed ? "" : "b/f:q@5=b ");
        petal_cursor_close(cursor);
    }
    fixture_fini(&fixture.base);
}

/* ---- odd bytes, great values ---- */

TEST(test_odd_bytes)
{
    static const petal_slice names[] = {{"\0", 1},      {"\0\0", 2},    {"\0\1", 2},  {"\0\xff", 2},
                                        {"\1", 1},      {"a", 1},       {"a\0", 2},   {"a\0\0", 3},
                                        {"a\0\xff", 3}, {"a\1", 2},     {"a\xff", 2}, {"\xff", 1},
                                        {"\xff\0", 2},  {"\xff\xff", 2}};
    enum { NAMES = sizeof names / sizeof *names };
    struct read_fixture fixture;

    reads_open(&fixture, "f", NULL);
    for (unsigned i = 0; i < NAMES * NAMES; i++) {
        unsigned at = i * 31 % (NAMES * NAMES);

        reads_put(&fixture, "f", names[at / NAMES], names[at % NAMES], 1, text("v"));
        if (i % 60 == 59)
            reads_flush(&fixture);
    }
    for (int reversed = 0; reversed < 2; reversed++) {
        petal_scan_options scan = {.reversed = reversed};
        petal_cursor *cursor = reads_cursor(&fixture, &scan);

        for (unsigned i = 0; i < NAMES * NAMES; i++) {
            unsigned row = reversed ? NAMES - 1 - i / NAMES : i / NAMES;
            const petal_cell *cell;

            MUST(petal_cursor_next(cursor, &cell, WHY));
            assert_non_null(cell);
            assert_true(slice_equal(cell->row, names[row]));
            assert_true(slice_equal(cell->qualifier, names[i % NAMES]));
        }
        assert_string_equal(reads_next(cursor), "");
        for (unsigned i = 0; i < NAMES * NAMES; i++) {
            petal_column column = {.family = reads_family(&fixture, "f"),
                                   .qualifier = names[i % NAMES]};
            petal_read_options get = {.columns = &column, .column_count = 1};
            const char *answer = reads_get(&fixture, names[i / NAMES], &get);

            assert_true(strlen(answer) > 0);
            reads_seek(cursor, names[i / NAMES], column.family, column.qualifier);
            assert_string_equal(reads_next(cursor), answer);
        }
        petal_cursor_close(cursor);
    }
    fixture_fini(&fixture.base);
}

static void
check_value(petal_slice value, uint8_t first)
{
    assert_int_equal(value.size, 1 << 20);
    for (size_t i = 0; i < value.size; i += 4093)
        assert_int_equal(slice_bytes(value)[i], (uint8_t)(first + i));
}

TEST(test_great_values)
{
    petal_scan_options scan = {.reversed = true};
    uint8_t *bytes = test_allocate(1 << 20);
    petal_result *result;
    petal_cursor *cursor;
    struct read_fixture fixture;

    reads_open(&fixture, "f", NULL);
    for (uint8_t n = 0; n < 4; n++) {
        for (size_t i = 0; i < 1 << 20; i++)
            bytes[i] = (uint8_t)(n + i);
        reads_put(&fixture, "f", slice_make(&n, 1), text("q"), 1, slice_make(bytes, 1 << 20));
        if (n == 1)
            reads_flush(&fixture);
    }
    result = reads_result(&fixture);
    cursor = reads_cursor(&fixture, &scan);
    for (uint8_t n = 0; n < 4; n++) {
        MUST(petal_get(fixture.table, slice_make(&n, 1), NULL, result, WHY));
        check_value(petal_result_cell(result, 0)->value, n);
        MUST(petal_cursor_next_row(cursor, result, WHY));
        check_value(petal_result_cell(result, 0)->value, (uint8_t)(3 - n));
    }
    petal_cursor_close(cursor);
    petal_result_free(result);
    free(bytes);
    fixture_fini(&fixture.base);
}

/* Commits that drop markers hold the snapshots' mutex while the manifest is synced: reads do not
 * wait for it. */
TEST(test_reads_take_no_snapshot)
{
    struct read_fixture fixture;
    petal_slice rows[] = {text("b"), text("a"), text("none")};
    petal_result *results[3];
    petal_scan_options scan = {0};

    reads_open(&fixture, "f", NULL);
    reads_put(&fixture, "f", text("a"), text("q"), 1, text("one"));
    reads_put(&fixture, "f", text("b"), text("q"), 1, text("two"));
    for (size_t i = 0; i < 3; i++)
        results[i] = reads_result(&fixture);
    read_point_lock(fixture.base.db);
    MUST(petal_multi_get(fixture.table, rows, 3, NULL, results, WHY));
    assert_int_equal(petal_result_count(results[0]), 1);
    assert_int_equal(petal_result_count(results[1]), 1);
    assert_int_equal(petal_result_count(results[2]), 0);
    MUST(petal_get(fixture.table, rows[0], NULL, results[0], WHY));
    petal_cursor_close(reads_cursor(&fixture, &scan));
    read_point_unlock(fixture.base.db);
    for (size_t i = 0; i < 3; i++)
        petal_result_free(results[i]);
    fixture_fini(&fixture.base);
}
