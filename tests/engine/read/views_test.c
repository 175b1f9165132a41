/*
 * views_test.c -- what readers see while things change beneath them: snapshots over writes, flushes
 * and compactions, tables that are altered and dropped; and what raw scans show of all that is
 * stored.
 */

#include "engine/state/read_point.h"
#include "tests/engine/read/fixture.h"
#include "tests/engine/script.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* Supersedes, deletes, pushes out and covers what a moment sees. */
#define LATER(at)                                                                                  \
    "put t a/f:q@20=x b/f:q@3" at "=y b/f:q@4" at "=y b/f:q@5" at "=y c/f@3" at "!14 a/g:r@3" at   \
    "!12 d/g:r@3" at "=z\n"
/* All kinds of reads of one moment. */
#define AS_OF_M                                                                                    \
    "show t all at=m : a/f:q@20=2 a/g:r@20=3 b/f:q@20=4 c/f:q@20=5\n"                              \
    "show t all at=m reversed : c/f:q@20=5 b/f:q@20=4 a/f:q@20=2 a/g:r@20=3\n"                     \
    "show t all at=m row=a : a/f:q@20=2 a/g:r@20=3; show t all at=m row=c column=f:q : "           \
    "c/f:q@20=5\n"                                                                                 \
    "show t all at=m column=f:q : a/f:q@20=2 b/f:q@20=4 c/f:q@20=5\n"                              \
    "show t all at=m column=f:q filter={ValueFilter(>, 'binary:2')} reversed : c/f:q@20=5 "        \
    "b/f:q@20=4\n"
#define AS_OF_N       "show t all at=n : a/f:q@20=x b/f:q@52=y b/f:q@51=y d/g:r@32=z d/g:r@31=z\n"
#define THROUGH_FILES AS_OF_M "flush\n" AS_OF_M "compact t\n" AS_OF_M

/* Markers of all kinds among puts. */
#define ALL_KINDS                                                                                  \
    "put t a/f@20=e a/f:q@20=1 a/f:q@20!12; flush\n"                                               \
    "put t a/f:q@20=2 a/f:q@20!8 a/f@30!10 a/f@20!10 a/f@20!14 a/f@20!12 a/f@10=h a/f@40=t\n"      \
    "put t a/g:q@5=g b/f:q@5=b\n"
#define RAW_ROW                                                                                    \
    "a/f@40=t a/f@30!10 a/f@20!14 a/f@20!12 a/f@20!10 a/f@20=e a/f@10=h a/f:q@20!12 a/f:q@20!8 "   \
    "a/f:q@20=2 a/g:q@5=g "

static const struct script_case cases[] = {
    {"a moment stays, and what only it sees goes with it",
     "table t f,versions=2 g,versions=2; put t a/f:q@10=1 a/f:q@20=2 a/g:r@20=3; flush\n"
     "put t b/f:q@20=4 a/f:q@10!8 c/f:q@20=5; moment m\n" AS_OF_M LATER("0")
         THROUGH_FILES LATER("1") THROUGH_FILES LATER("2") THROUGH_FILES
     "moment n\n" AS_OF_N "forget m; compact t\n" AS_OF_N "stored t 5"},
    {"cursors go on with the families that they began with; reads that begin have the new ones",
     "table t f,versions=2 g,versions=2; put t a/f:q@1=1 a/f:q@2=2 a/g:q@1=3 b/g:q@1=4; flush\n"
     "put t c/g:q@1=5; moment m; open c t all; step c : a/f:q@2=2; alter t f,versions=1 h\n"
     "put t a/h:q@1=6; rest c : a/f:q@1=1 a/g:q@1=3 b/g:q@1=4 c/g:q@1=5; seek c a; rest c : "
     "a/f:q@2=2 a/f:q@1=1 a/g:q@1=3 b/g:q@1=4 c/g:q@1=5\n"
     "show t all : a/f:q@2=2 a/h:q@1=6; show t all at=m : a/f:q@2=2\n"
     "show t all row=a at=m : a/f:q@2=2; drop t; seek c b; rest c : b/g:q@1=4 c/g:q@1=5"},
    {"raw scans show all that is stored, in HBase's order",
     "table t f,versions=3,keep=true g,versions=3,keep=true\n" ALL_KINDS "show t raw : " RAW_ROW
     "b/f:q@5=b; flush; show t raw : " RAW_ROW "b/f:q@5=b\n"
     "show t raw reversed : b/f:q@5=b " RAW_ROW "; show t raw reversed limit=1 from=ab : " RAW_ROW
     "\n"
     "show t raw from=a limit=1 skip=4 cells=3 : a/f@20!10 a/f@20=e a/f@10=h\n"
     "show t raw versions=1 : a/f@40=t a/f@30!10 a/f@20!14 a/f@20!12 a/f@20!10 a/f:q@20!12 "
     "a/f:q@20!8 a/f:q@20=2 a/g:q@5=g b/f:q@5=b"},
    {"raw cursors go to places among them",
     "table t f g\n" ALL_KINDS "open c t raw; seek c a/f; rest c : " RAW_ROW "b/f:q@5=b\n"
     "seek c a/f:p; step c : a/f:q@20!12; seek c a/f:r; step c : a/g:q@5=g; seek c a/g:r\n"
     "step c : b/f:q@5=b; close c; open c t raw reversed; seek c a/f; rest c : " RAW_ROW "\n"
     "seek c a/f:p; step c : a/f:q@20!12; seek c a/f:r; step c : a/g:q@5=g; seek c a/g:r; step c "
     ":"},
};

TEST_EACH(readers_see_this, cases)
{
    script_run(*state);
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
