/*
 * in_engine_test.c -- filters through the whole engine: what a filter is shown of rows and
 * families, where HBase's answers are wrong and these are not, and that no answer depends on where
 * the cells lie.
 */

#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static petal_filter_argument
bytes(petal_slice slice)
{
    return (petal_filter_argument){.kind = PETAL_FILTER_BYTES, .bytes = slice};
}

static petal_filter_argument
boolean(bool value)
{
    return (petal_filter_argument){.kind = PETAL_FILTER_BOOLEAN, .number = value};
}

static petal_filter *
make(const struct read_fixture *fixture, const char *name, const petal_filter_argument *arguments,
     size_t count)
{
    petal_filter *filter;

    MUST(petal_filter_make(fixture->base.db, name, arguments, count, &filter, WHY));
    return filter;
}

/* Releases the member. */
static petal_filter *
make_skip(const struct read_fixture *fixture, petal_filter *member)
{
    petal_filter *filter;

    MUST(petal_filter_combine(fixture->base.db, PETAL_FILTER_SKIP, &member, 1, &filter, WHY));
    petal_filter_free(member);
    return filter;
}

/* What the scan finds with the filter, which is released. */
static const char *
scan(const struct read_fixture *fixture, petal_filter *filter, const petal_scan_options *given)
{
    petal_scan_options options = {0};
    const char *answer;

    if (given != NULL)
        options = *given;
    options.read.filter = filter;
    answer = reads_scan(fixture, &options);
    petal_filter_free(filter);
    return answer;
}

static const petal_scan_options reversed = {.reversed = true};

static void
put(const struct read_fixture *fixture, const char *family, const char *row, const char *qualifier,
    int64_t timestamp, const char *value)
{
    reads_put(fixture, family, text(row), text(qualifier), timestamp, text(value));
}

/* ---- what a filter is shown ---- */

/* A row that its key excludes is read all the same, so that WHILE sees its cells; but not in a
 * reversed scan. */
TEST(test_excluded_rows)
{
    static const char while_and_row[] =
        "WHILE ValueFilter (=, 'binary:v') AND RowFilter (!=, 'binary:b')";
    struct read_fixture fixture;

    reads_open(&fixture, "f", NULL);
    put(&fixture, "f", "a", "q", 1, "v");
    put(&fixture, "f", "b", "q", 1, "other");
    put(&fixture, "f", "c", "q", 1, "v");
    assert_string_equal(scan(&fixture, reads_filter(&fixture, while_and_row), NULL), "a/f:q@1=v ");
    assert_string_equal(scan(&fixture, reads_filter(&fixture, while_and_row), &reversed),
                        "c/f:q@1=v a/f:q@1=v ");
    fixture_fini(&fixture.base);
}

/* WHILE is asked about rows that have none of the named columns. */
TEST(test_rows_without_the_columns)
{
    struct read_fixture fixture;
    petal_column column;
    petal_scan_options options = {.read = {.columns = &column, .column_count = 1}};

    reads_open(&fixture, "f", NULL);
    put(&fixture, "f", "a", "q", 1, "v");
    put(&fixture, "f", "b", "p", 1, "v");
    put(&fixture, "f", "c", "q", 1, "v");
    column = (petal_column){.family = reads_family(&fixture, "f"), .qualifier = text("q")};
    for (int layout = 0; layout < 2; layout++) {
        assert_string_equal(
            scan(&fixture, reads_filter(&fixture, "WHILE RowFilter (!=, 'binary:b')"), &options),
            "a/f:q@1=v ");
        reads_flush(&fixture);
    }
    fixture_fini(&fixture.base);
}

/* A family that is looked at when the filter is done gives nothing more, even if what it has there
 * is hidden. */
TEST(test_ended_family)
{
    struct read_fixture fixture;

    reads_open(&fixture, "fg", NULL);
    put(&fixture, "f", "a", "p", 1, "v");
    put(&fixture, "f", "a", "q", 1, "v");
    put(&fixture, "g", "a", "q", 1, "v");
    reads_delete(&fixture, "g", text("a"), text("q"), 2, PETAL_DELETE_COLUMN);
    put(&fixture, "g", "b", "q", 1, "v");
    assert_string_equal(scan(&fixture, reads_filter(&fixture, "ColumnCountGetFilter (1)"), NULL),
                        "a/f:p@1=v ");
    assert_string_equal(scan(&fixture, reads_filter(&fixture, "ColumnCountGetFilter (2)"), NULL),
                        "a/f:p@1=v a/f:q@1=v b/g:q@1=v ");
    fixture_fini(&fixture.base);
}

/* A raw scan goes where the filter says as well: what lies between is not shown to it. */
TEST(test_raw_hints)
{
    petal_scan_options raw = {.raw = true};
    struct read_fixture fixture;

    reads_open(&fixture, "f", NULL);
    for (const char *qualifier = "abcd"; *qualifier != '\0'; qualifier++)
        reads_put(&fixture, "f", text("a"), slice_make(qualifier, 1), 1, text("v"));
    reads_delete(&fixture, "f", text("a"), text("d"), 2, PETAL_DELETE);
    assert_string_equal(
        scan(&fixture,
             reads_filter(&fixture, "ColumnCountGetFilter (3) AND ColumnPrefixFilter ('d')"), &raw),
        "a/f:d@2!8 ");
    fixture_fini(&fixture.base);
}

/* ---- where HBase is wrong ---- */

/* A hint does not leap over the family marker that hides what is after it. */
TEST(test_hint_over_family_marker)
{
    struct read_fixture fixture;

    reads_open(&fixture, "f", NULL);
    put(&fixture, "f", "a", "", 20, "v");
    put(&fixture, "f", "a", "q", 3, "v");
    reads_delete(&fixture, "f", text("a"), text(""), 10, PETAL_DELETE_FAMILY);
    for (int layout = 0; layout < 2; layout++) {
        assert_string_equal(
            scan(&fixture, reads_filter(&fixture, "ColumnPrefixFilter ('q')"), NULL), "");
        reads_flush(&fixture);
    }
    fixture_fini(&fixture.base);
}

static petal_filter *
make_ranges(const struct read_fixture *fixture)
{
    petal_filter_argument arguments[] = {
        bytes(text("b")), boolean(false), bytes(text("c")), boolean(false),
        bytes(text("b")), boolean(true),  bytes(text("b")), boolean(true),
        bytes(text("d")), boolean(false), bytes(text("")),  boolean(true),
    };

    return make(fixture, "MultiRowRangeFilter", arguments, sizeof arguments / sizeof *arguments);
}

/* The union of ranges, each with its own bounds; in both directions; under SKIP the same. */
TEST(test_ranges)
{
    static const char upward[] = "b/f:q@1=v ba/f:q@1=v e/f:q@1=v f/f:q@1=v ";
    static const char downward[] = "f/f:q@1=v e/f:q@1=v ba/f:q@1=v b/f:q@1=v ";
    static const char *const rows[] = {"a", "b", "ba", "c", "d", "e", "f"};
    struct read_fixture fixture;

    reads_open(&fixture, "f", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put(&fixture, "f", rows[i], "q", 1, "v");
    assert_string_equal(scan(&fixture, make_ranges(&fixture), NULL), upward);
    assert_string_equal(scan(&fixture, make_ranges(&fixture), &reversed), downward);
    assert_string_equal(scan(&fixture, make_skip(&fixture, make_ranges(&fixture)), NULL), upward);
    assert_string_equal(scan(&fixture, make_skip(&fixture, make_ranges(&fixture)), &reversed),
                        downward);
    fixture_fini(&fixture.base);
}

/* A row shorter than the pattern does not match, longer ones do, in both directions. */
TEST(test_fuzzy_rows)
{
    petal_filter_argument arguments[] = {bytes(BYTES("ab")), bytes(BYTES("\1\0")),
                                         bytes(BYTES("ddd")), bytes(BYTES("\0\1\0"))};
    static const char *const rows[] = {"a", "ab", "abc", "b", "cb", "d", "dd", "ddd", "ddde"};
    struct read_fixture fixture;

    reads_open(&fixture, "f", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put(&fixture, "f", rows[i], "q", 1, "v");
    assert_string_equal(scan(&fixture, make(&fixture, "FuzzyRowFilter", arguments, 4), NULL),
                        "ab/f:q@1=v abc/f:q@1=v cb/f:q@1=v ddd/f:q@1=v ddde/f:q@1=v ");
    assert_string_equal(scan(&fixture, make(&fixture, "FuzzyRowFilter", arguments, 4), &reversed),
                        "ddde/f:q@1=v ddd/f:q@1=v cb/f:q@1=v abc/f:q@1=v ab/f:q@1=v ");
    fixture_fini(&fixture.base);
}

/* ---- where the cells lie ---- */

static const char *const expressions[] = {
    "ColumnPrefixFilter ('b')",
    "MultipleColumnPrefixFilter ('a', 'c')",
    "ColumnRangeFilter ('b', true, 'c', false)",
    "ColumnPaginationFilter (2, 1)",
    "ColumnCountGetFilter (3)",
    "ColumnCountGetFilter (2) AND ColumnRangeFilter ('b', true, '', false)",
    "ColumnCountGetFilter (2) OR QualifierFilter (=, 'binary:c')",
    "WHILE ValueFilter (!=, 'binary:v3')",
    "SKIP ValueFilter (!=, 'binary:v3')",
    "PageFilter (2) AND ValueFilter (>, 'binary:v1')",
    "SingleColumnValueFilter ('f', 'b', >=, 'binary:v2', true, false)",
    "SingleColumnValueExcludeFilter ('g', 'a', <, 'binary:v3', true, true)",
    "DependentColumnFilter ('f', 'a', true)",
    "TimestampsFilter (2, 5) OR FirstKeyOnlyFilter ()",
    "WHILE RowFilter (<, 'binary:r4') AND KeyOnlyFilter (true)",
    "InclusiveStopFilter ('r3') AND FamilyFilter (=, 'binary:g')",
};

#define EXPRESSIONS (sizeof expressions / sizeof *expressions)
#define LAYOUTS     3 /* in memory; a file for every few cells; one file */
#define WRITES      160

static void
write_some(const struct read_fixture *fixture, struct test_random *random, bool flushes)
{
    static const char *const qualifiers[] = {"", "a", "b", "bb", "c"};

    for (int i = 0; i < WRITES; i++) {
        char row[3] = {'r', (char)('0' + test_random_below(random, 6)), '\0'};
        char value[3] = {'v', (char)('0' + test_random_below(random, 5)), '\0'};
        const char *family = test_random_below(random, 2) == 0 ? "f" : "g";
        petal_slice qualifier = text(qualifiers[test_random_below(random, 5)]);
        int64_t timestamp = (int64_t)test_random_below(random, 9);

        switch (test_random_below(random, 12)) {
        case 0:
            reads_delete(fixture, family, text(row), text(""), timestamp, PETAL_DELETE_FAMILY);
            break;
        case 1:
            reads_delete(fixture, family, text(row), qualifier, timestamp, PETAL_DELETE_COLUMN);
            break;
        default:
            reads_put(fixture, family, text(row), qualifier, timestamp, text(value));
        }
        if (flushes && i % 8 == 7)
            reads_flush(fixture);
    }
}

/* What the expression finds in scans both ways, of all and of two columns, and in a get; to be
 * released with free. */
static char *
answer_all(const struct read_fixture *fixture, const char *expression)
{
    petal_filter *filter = reads_filter(fixture, expression);
    petal_column columns[] = {{.family = reads_family(fixture, "f"), .qualifier = text("b")},
                              {.family = reads_family(fixture, "g"), .qualifier = text("c")}};
    petal_read_options read = {.size = sizeof read, .filter = filter, .versions = 2};
    char *all = test_allocate(20000);
    size_t used = 0;

    for (int i = 0; i < 4; i++) {
        petal_scan_options options = {.read = read, .reversed = i % 2 == 1};

        options.read.columns = i < 2 ? NULL : columns;
        options.read.column_count = i < 2 ? 0 : 2;
        used += (size_t)snprintf(all + used, 20000 - used, "%s\n", reads_scan(fixture, &options));
        assert_true(used < 20000);
    }
    snprintf(all + used, 20000 - used, "%s\n", reads_get(fixture, text("r2"), &read));
    petal_filter_free(filter);
    return all;
}

TEST(test_layouts)
{
    static const enum petal_bloom_type blooms[] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                                   PETAL_BLOOM_ROWCOL};
    char *expected[EXPRESSIONS] = {NULL};

    for (int i = 0; i < LAYOUTS * 3; i++) {
        petal_family_options family = {.bloom = blooms[i / LAYOUTS],
                                       .versions = WRITES}; /* a flush drops none that could show */
        struct test_random random;
        struct read_fixture fixture;

        reads_open(&fixture, "fg", &family);
        test_random_init(&random, 77);
        write_some(&fixture, &random, i % LAYOUTS == 1);
        if (i % LAYOUTS == 2) {
            reads_flush(&fixture);
            reads_compact(&fixture);
        }
        for (size_t k = 0; k < EXPRESSIONS; k++) {
            char *answer = answer_all(&fixture, expressions[k]);

            if (expected[k] == NULL) {
                expected[k] = answer;
                continue;
            }
            assert_string_equal(answer, expected[k]);
            free(answer);
        }
        fixture_fini(&fixture.base);
    }
    for (size_t k = 0; k < EXPRESSIONS; k++)
        free(expected[k]);
}

/* A regular expression that is given up ends the read at its row, whatever stands around it; the
 * rows before are right, and the cursor goes on elsewhere. Filters that would be done, or would
 * skip the row, do not hide it. */
TEST(test_regex_given_up)
{
    /* Each with what it gives before the row in question, and from the row after. */
    static const char *const cases[][3] = {
        {"RowFilter (=, 'regexstring:^(a+)+$')", "aa/f:q@1=aa ", ""},
        {"WHILE RowFilter (=, 'regexstring:^(a+)+$')", "aa/f:q@1=aa ", ""},
        {"SKIP ValueFilter (!=, 'regexstring:^(a+)+$')", "", ""},
        {"FamilyFilter (=, 'binary:f') AND ValueFilter (=, 'regexstring:^(a+)+$')", "aa/f:q@1=aa ",
         "b/f:q@1=aa "},
        {"WHILE QualifierFilter (!=, 'regexstring:^(a+)+$')", "aa/f:q@1=aa ", "b/f:q@1=aa "},
        {"SingleColumnValueFilter ('f', 'q', =, 'regexstring:^(a+)+$') OR PrefixFilter ('aa')",
         "aa/f:q@1=aa ", "b/f:q@1=aa "},
    };
    char hostile[42] = "";
    struct read_fixture fixture;

    memset(hostile, 'a', 40);
    hostile[40] = 'b';
    reads_open(&fixture, "f", NULL);
    put(&fixture, "f", "aa", "q", 1, "aa");
    put(&fixture, "f", hostile, hostile, 1, hostile);
    put(&fixture, "f", hostile, "q", 1, hostile);
    put(&fixture, "f", "b", "q", 1, "aa");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        petal_filter *filter = reads_filter(&fixture, cases[i][0]);
        petal_scan_options options = {.read = {.filter = filter}};
        petal_cursor *cursor = reads_cursor(&fixture, &options);
        const petal_cell *cell;
        petal_error error;

        if (*cases[i][1] != '\0')
            assert_string_equal(reads_next(cursor), cases[i][1]);
        assert_int_equal(petal_cursor_next(cursor, &cell, &error), PETAL_INVALID);
        assert_null(cell);
        assert_string_equal(error.text, "the regular expression ^(a+)+$ is given up on 41 bytes of "
                                        "text: match limit exceeded");
        reads_seek(cursor, text("b"), NULL, text(""));
        assert_string_equal(reads_rest(cursor), cases[i][2]);
        petal_cursor_close(cursor);
        petal_filter_free(filter);
    }
    fixture_fini(&fixture.base);
}
