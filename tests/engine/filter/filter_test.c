/*
 * filter_test.c -- filters at work, over rows in memory. The answers are HBase's; where it is wrong
 * the test's name says so.
 */
#include "base/slice.h"
#include "tests/engine/filter/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_allocator memory;

static int
begin(void **state)
{
    (void)state;
    test_allocator_init(&memory);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    return test_allocator_live_blocks(&memory) == 0 ? 0 : -1;
}

static petal_filter *
parse(const char *text)
{
    petal_filter *filter;
    petal_error error;

    if (petal_filter_parse(filter_fake_db(&memory.table), slice_from_text(text), &filter, &error) !=
        PETAL_OK)
        fail_msg("%s: %s", text, error.text);
    return filter;
}

/* MultiRowRangeFilter and FuzzyRowFilter: strings with blanks between them, + and - for true and
 * false. */
static petal_filter *
make(const char *name, const char *words)
{
    petal_filter_argument arguments[16] = {{.kind = PETAL_FILTER_BYTES}};
    size_t count = 0;
    petal_filter *filter;
    petal_error error;

    while (*words != '\0') {
        size_t size = strcspn(words, " ");
        bool flag = size == 1 && (*words == '+' || *words == '-');

        arguments[count].kind = flag ? PETAL_FILTER_BOOLEAN : PETAL_FILTER_BYTES;
        arguments[count].number = *words == '+';
        arguments[count++].bytes = slice_make(words, size);
        words += size + (words[size] == ' ');
    }
    if (petal_filter_make(filter_fake_db(&memory.table), name, arguments, count, &filter, &error) !=
        PETAL_OK)
        fail_msg("%s: %s", name, error.text);
    return filter;
}

/* A new filter around others, whose references it takes. */
static petal_filter *
combine(enum petal_filter_operation operation, petal_filter *first, petal_filter *second)
{
    petal_filter *members[2] = {first, second}, *filter;
    petal_error error;

    if (petal_filter_combine(filter_fake_db(&memory.table), operation, members,
                             second != NULL ? 2 : 1, &filter, &error) != PETAL_OK)
        fail_msg("%s", error.text);
    petal_filter_free(first);
    petal_filter_free(second);
    return filter;
}

/* Read forward or reversed; with bounds followed the answer is the same. */
static void
check_filter(const char *cells, petal_filter *filter, bool reversed, const char *wanted)
{
    struct filter_table table;
    struct filter_read read = {.reversed = reversed};

    filter_table_init(&table, cells);
    assert_string_equal(filter_read(&table, &memory.table, filter, &read), wanted);
    read.follows_bounds = read.follows_ahead = true;
    assert_string_equal(filter_read(&table, &memory.table, filter, &read), wanted);
    petal_filter_free(filter);
}

static void
check(const char *cells, const char *filter, const char *wanted)
{
    check_filter(cells, parse(filter), false, wanted);
}

/* ValueFilter with a comparator that the language lacks. */
static void
check_value(const char *cells, enum petal_compare compare, const char *comparator,
            const char *wanted)
{
    petal_filter_argument arguments[] = {
        {.kind = PETAL_FILTER_COMPARE, .number = compare},
        {.kind = PETAL_FILTER_BYTES, .bytes = slice_from_text(comparator)},
    };
    petal_filter *filter;
    petal_error error;

    if (petal_filter_make(filter_fake_db(&memory.table), "ValueFilter", arguments, 2, &filter,
                          &error) != PETAL_OK)
        fail_msg("%s: %s", comparator, error.text);
    check_filter(cells, filter, false, wanted);
}

static void
check_reversed(const char *cells, const char *filter, const char *wanted)
{
    check_filter(cells, parse(filter), true, wanted);
}

#define ROWS "a/f:x@1=1 ab/f:x@1=2 b/f:x@1=3 bc/f:x@1=4 c/f:x@1=5"
#define WIDE                                                                                       \
    "r/f:a@3=1 r/f:a@2=2 r/f:ab@2=3 r/f:b@1=4 r/g:a@2=5 r/g:b@5=6 "                                \
    "s/f:a@1=7 s/f:c@1=8 s/g:b@1=9"

/* ---- rows ---- */

TEST_WITH(test_rows, begin, end)
{
    check(ROWS, "PrefixFilter ('b')", "b/f:x=3 bc/f:x=4");
    check_reversed(ROWS, "PrefixFilter ('b')", "bc/f:x=4 b/f:x=3");
    check(ROWS, "PrefixFilter ('')", "a/f:x=1 ab/f:x=2 b/f:x=3 bc/f:x=4 c/f:x=5");
    check(ROWS, "InclusiveStopFilter ('b')", "a/f:x=1 ab/f:x=2 b/f:x=3");
    check_reversed(ROWS, "InclusiveStopFilter ('b')", "c/f:x=5 bc/f:x=4 b/f:x=3");
    check(ROWS, "PageFilter (2)", "a/f:x=1 ab/f:x=2");
    check(ROWS, "PageFilter (0)", "");
    check(ROWS, "RowFilter (=, 'binary:b')", "b/f:x=3");
    check(ROWS, "RowFilter (>, 'binary:b')", "bc/f:x=4 c/f:x=5");
    check(ROWS, "RowFilter (<=, 'binary:b')", "a/f:x=1 ab/f:x=2 b/f:x=3");
    check_reversed(ROWS, "RowFilter (<, 'binary:b')", "ab/f:x=2 a/f:x=1");
    check(ROWS, "RowFilter (=, 'binaryprefix:b')", "b/f:x=3 bc/f:x=4");
    check(ROWS, "RowFilter (!=, 'substring:B')", "a/f:x=1 c/f:x=5");
    check(ROWS, "RowFilter (=, 'regexstring:^.$')", "a/f:x=1 b/f:x=3 c/f:x=5");
}

TEST_WITH(test_combined_rows, begin, end)
{
    check(ROWS, "PrefixFilter ('b') AND PageFilter (1)", "b/f:x=3");
    check(ROWS, "PageFilter (1) AND PrefixFilter ('b')", "b/f:x=3");
    check(ROWS, "PrefixFilter ('ab') OR RowFilter (>=, 'binary:c')", "ab/f:x=2 c/f:x=5");
    check_reversed(ROWS, "PrefixFilter ('ab') OR RowFilter (>=, 'binary:c')", "c/f:x=5 ab/f:x=2");
    check(ROWS, "RowFilter (>=, 'binary:ab') AND RowFilter (<, 'binary:bc')", "ab/f:x=2 b/f:x=3");
    check(ROWS, "RowFilter (=, 'binary:z')", "");
}

/* A scan with bounds is shown few rows. */
TEST_WITH(test_bounds_save_rows, begin, end)
{
    static const struct {
        const char *filter;
        bool reversed;
        size_t most;
    } cases[] = {
        {"RowFilter (=, 'binary:bc')", false, 2},
        {"RowFilter (>=, 'binary:bc')", false, 2},
        {"PrefixFilter ('c') AND PageFilter (5)", false, 1},
        {"PrefixFilter ('c') OR RowFilter (=, 'binary:bc')", false, 2},
        {"RowFilter (<, 'binary:ab')", true, 2},
        {"RowFilter (<, 'binary:ab')", false, 2},
        {"PrefixFilter ('a') AND PrefixFilter ('b')", false, 3},
    };
    struct filter_table table;

    filter_table_init(&table, ROWS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct filter_read read = {.reversed = cases[i].reversed, .follows_bounds = true};
        petal_filter *filter = parse(cases[i].filter);

        filter_read(&table, &memory.table, filter, &read);
        if (read.rows_shown > cases[i].most)
            fail_msg("%s: %zu rows", cases[i].filter, read.rows_shown);
        petal_filter_free(filter);
    }
}

/* ---- places ahead in a row ---- */

/* A filter of the language, of up to `depth` lists in one another. */
static void
add_random_filter(struct test_random *random, unsigned depth, char *to)
{
    static const char *const leaves[] = {
        "QualifierFilter (%s, 'binary:%s')",
        "QualifierFilter (%s, 'binaryprefix:%s')",
        "QualifierFilter (%s, 'binary:%s')",
        "QualifierFilter (=, 'substring:a')",
        "FamilyFilter (%s, 'binary:f')",
        "ColumnPrefixFilter ('b')",
        "MultipleColumnPrefixFilter ('ab', 'b')",
        "ColumnRangeFilter ('ab', false, 'ba', true)",
        "ColumnRangeFilter ('b', true, '', false)",
        "TimestampsFilter (2)",
        "TimestampsFilter (3, 1)",
        "ValueFilter (=, 'binary:v')",
        "KeyOnlyFilter ()",
        "RowFilter (=, 'binary:a')",
        "PageFilter (1)",
        "ColumnPaginationFilter (1, 1)",
        "ColumnCountGetFilter (2)",
        "FirstKeyOnlyFilter ()",
        "SingleColumnValueFilter ('f', 'b', =, 'binary:v', true, false)",
        "DependentColumnFilter ('f', 'b', false)",
    };
    static const char *const compares[] = {"<", "<=", "=", "!=", ">=", ">"};
    static const char *const qualifiers[] = {"a", "ab", "b", "ba", "c"};
    unsigned kind = depth > 0 ? (unsigned)test_random_below(random, 12) : 0;

    to += strlen(to);
    if (kind < 4) {
        sprintf(to, leaves[test_random_below(random, sizeof leaves / sizeof *leaves)],
                compares[test_random_below(random, 6)], qualifiers[test_random_below(random, 5)]);
        return;
    }
    if (kind < 6) {
        sprintf(to, "%s (", kind == 4 ? "SKIP" : "WHILE");
        add_random_filter(random, depth - 1, to);
        strcat(to, ")");
        return;
    }
    strcpy(to, "(");
    add_random_filter(random, depth - 1, to);
    strcat(to, kind < 9 ? ") AND (" : ") OR (");
    add_random_filter(random, depth - 1, to);
    strcat(to, ")");
}

static void
make_random_cells(struct test_random *random, char *to)
{
    static const char *const qualifiers[] = {"a", "ab", "b", "ba", "c"};

    const char *from = to;

    *to = '\0';
    for (unsigned place = 0; place < 60; place++) {
        if (test_random_below(random, 3) == 0)
            continue;
        to += sprintf(to, "%s%c/%c:%s@%u=%c", to == from ? "" : " ", 'a' + place / 30,
                      'f' + place / 15 % 2, qualifiers[place / 3 % 5], 3 - place % 3,
                      'v' + (int)test_random_below(random, 2));
    }
}

/* What filter_run_ahead passes over changes no answer, and is much. */
TEST_WITH(test_cells_ahead, begin, end)
{
    struct test_random random;
    size_t all = 0, shown = 0;

    test_random_init(&random, 20240229);
    for (unsigned turn = 0; turn < 20000; turn++) {
        char cells[2000], text[2000] = "", wanted[4000];
        struct filter_table table;
        struct filter_read read = {.reversed = turn % 3 == 0};
        petal_filter *filter;

        make_random_cells(&random, cells);
        add_random_filter(&random, 3, text);
        if (cells[0] == '\0')
            continue;
        filter_table_init(&table, cells);
        filter = parse(text);
        snprintf(wanted, sizeof wanted, "%s", filter_read(&table, &memory.table, filter, &read));
        all += read.cells_shown;
        read.follows_ahead = true;
        if (strcmp(filter_read(&table, &memory.table, filter, &read), wanted) != 0)
            fail_msg("%s%s over %s is %s, not %s", read.reversed ? "reversed " : "", text, cells,
                     filter_read(&table, &memory.table, filter, &read), wanted);
        shown += read.cells_shown;
        petal_filter_free(filter);
    }
    assert_true(shown + all / 50 < all);
}

TEST_WITH(test_random_rows, begin, end)
{
    petal_filter *filter = make("RandomRowFilter", "-0.5");

    check_filter(ROWS, filter, false, "");
    check_filter(ROWS, make("RandomRowFilter", "1.5"), false,
                 "a/f:x=1 ab/f:x=2 b/f:x=3 bc/f:x=4 c/f:x=5");
}

/* ---- columns ---- */

TEST_WITH(test_columns, begin, end)
{
    check(WIDE, "ColumnPrefixFilter ('a')", "r/f:a=1 f:a=2 f:ab=3 g:a=5 s/f:a=7");
    check(WIDE, "MultipleColumnPrefixFilter ('ab', 'c')", "r/f:ab=3 s/f:c=8");
    check(WIDE, "ColumnRangeFilter ('ab', true, 'b', false)", "r/f:ab=3");
    check(WIDE, "ColumnRangeFilter ('a', false, '', false)", "r/f:ab=3 f:b=4 g:b=6 s/f:c=8 g:b=9");
    check(WIDE, "QualifierFilter (=, 'binary:b')", "r/f:b=4 g:b=6 s/g:b=9");
    check(WIDE, "FamilyFilter (=, 'binary:g')", "r/g:a=5 g:b=6 s/g:b=9");
    check(WIDE, "FirstKeyOnlyFilter ()", "r/f:a=1 s/f:a=7");
    check(WIDE, "ColumnPaginationFilter (2, 1)", "r/f:ab=3 f:b=4 s/f:c=8 g:b=9");
    check(WIDE, "KeyOnlyFilter ()", "r/f:a= f:a= f:ab= f:b= g:a= g:b= s/f:a= f:c= g:b=");
    check("r/f:a@1=abc", "KeyOnlyFilter (true)", "r/f:a=<0><0><0><3>");
    check("r/f:a@1=abc", "KeyOnlyFilter (true) AND KeyOnlyFilter (true)", "r/f:a=<0><0><0><4>");
}

/* As in HBase: only the greatest prefix that is not above the qualifier is tried. */
TEST_WITH(test_prefixes_hide_each_other, begin, end)
{
    check("r/f:a@1=1 r/f:ab@1=2 r/f:ac@1=3", "MultipleColumnPrefixFilter ('a', 'ab')",
          "r/f:a=1 f:ab=2");
}

/* A family's scan ends in HBase once the filter is done in the midst of a row; it begins anew for
 * another family. */
TEST_WITH(test_column_count_get_filter_ends_families, begin, end)
{
    check("r/f:a@1=1 r/f:b@1=2 s/f:a@1=3 s/g:a@1=4", "ColumnCountGetFilter (1)", "r/f:a=1 s/g:a=4");
    check("r/f:a@1=1 s/f:a@1=3 s/g:a@1=4 t/g:a@1=5", "ColumnCountGetFilter (1)", "r/f:a=1 s/f:a=3");
}

/* ---- values and timestamps ---- */

TEST_WITH(test_values, begin, end)
{
    check(WIDE, "ValueFilter (>=, 'binary:8')", "s/f:c=8 g:b=9");
    check(WIDE, "TimestampsFilter (1, 5)", "r/f:b=4 g:b=6 s/f:a=7 f:c=8 g:b=9");
    check(WIDE, "TimestampsFilter ()", "");
    check(WIDE, "ColumnValueFilter ('f', 'a', <, 'binary:9')", "r/f:a=1 f:a=2 s/f:a=7");
    check(WIDE, "ColumnValueFilter ('f', 'a', =, 'binary:2')", "r/f:a=2");
    check(WIDE, "SingleColumnValueFilter ('f', 'c', =, 'binary:8')",
          "r/f:a=1 f:a=2 f:ab=3 f:b=4 g:a=5 g:b=6 s/f:a=7 f:c=8 g:b=9");
    check(WIDE, "SingleColumnValueFilter ('f', 'c', =, 'binary:8', true, true)",
          "s/f:a=7 f:c=8 g:b=9");
    check(WIDE, "SingleColumnValueFilter ('f', 'a', =, 'binary:2')", "");
    check(WIDE, "SingleColumnValueFilter ('f', 'a', =, 'binary:2', true, false)",
          "r/f:a=1 f:a=2 f:ab=3 f:b=4 g:a=5 g:b=6");
    check(WIDE, "SingleColumnValueExcludeFilter ('f', 'c', =, 'binary:8', true, true)",
          "s/f:a=7 g:b=9");
    check(WIDE, "DependentColumnFilter ('f', 'ab')", "r/f:a=2 f:ab=3 g:a=5");
    check(WIDE, "DependentColumnFilter ('f', 'a', true)", "r/f:ab=3 g:a=5 s/f:c=8 g:b=9");
    check(WIDE, "DependentColumnFilter ('f', 'a', false, =, 'binary:1')", "r/f:a=1");
}

TEST_WITH(test_comparators, begin, end)
{
    check(ROWS, "ValueFilter (=, 'substring:')", "a/f:x=1 ab/f:x=2 b/f:x=3 bc/f:x=4 c/f:x=5");
    check("r/f:a@1=Hello r/f:b@1=x", "ValueFilter (=, 'substring:ELL')", "r/f:a=Hello");
    check("r/f:a@1=\xC3\x84h r/f:b@1=\xC3\xA4h", "ValueFilter (=, 'substring:\xC3\x84')",
          "r/f:a=<-61><-124>h f:b=<-61><-92>h");
    check("r/f:a@1=ababac r/f:b@1=abab", "ValueFilter (=, 'substring:abac')", "r/f:a=ababac");
    check("r/f:a@1=Hello", "ValueFilter (=, 'regexstringnocase:^h.*O$')", "r/f:a=Hello");
    check_value("r/f:a@1=123456789 r/f:b@1=12345678", PETAL_GREATER, "long:0", "r/f:b=12345678");
    check_value("r/f:a@1=1 r/f:b@1=", PETAL_EQUAL, "null:", "");
    check_value("r/f:a@1=1 r/f:b@1=", PETAL_NOT_EQUAL, "null:", "r/f:a=1 f:b=");
    check_value("r/f:a@1=1 r/f:b@1=2 r/f:c@1=11", PETAL_EQUAL, "bitxor:1", "r/f:b=2");
    check_value("r/f:a@1=A r/f:b@1=\"", PETAL_EQUAL, "bitand:a", "r/f:a=A f:b=\"");
}

/* ---- lists and their memory ---- */

TEST_WITH(test_and, begin, end)
{
    check(WIDE, "FamilyFilter (=, 'binary:g') AND QualifierFilter (=, 'binary:b')",
          "r/g:b=6 s/g:b=9");
    /* A member after one that turns a cell away is not shown it: it counts columns named a
     * only. */
    check(WIDE, "ColumnPrefixFilter ('b') AND ColumnPaginationFilter (1, 1)", "r/g:b=6");
    check(WIDE, "ColumnPaginationFilter (1, 1) AND ColumnPrefixFilter ('b')", "");
}

/* Each member goes on from where it wanted to, though others had it shown what lies before. */
TEST_WITH(test_or_remembers_what_members_said, begin, end)
{
    check("r/f:a@3=1 r/f:a@2=2 r/f:b@2=3 r/f:c@1=4",
          "ColumnPaginationFilter (1, 1) OR ValueFilter (=, 'binary:2')", "r/f:a=2 f:b=3");
    check("r/f:a@1=1 r/f:b@1=2 r/g:a@1=3",
          "FirstKeyOnlyFilter () OR ColumnPrefixFilter ('b') OR FamilyFilter (=, 'binary:g')",
          "r/f:a=1 f:b=2 g:a=3");
    /* One has done with the row, the other seeks a place in it. */
    check("r/f:a@1=1 r/f:b@1=2 r/f:c@1=3", "ColumnPrefixFilter ('a') OR ColumnPrefixFilter ('c')",
          "r/f:a=1 f:c=3");
    check("r/f:a@1=1 r/f:c@1=2 r/f:e@1=3", "ColumnPrefixFilter ('c') OR ColumnPrefixFilter ('e')",
          "r/f:c=2 f:e=3");
    check(WIDE, "KeyOnlyFilter () OR ValueFilter (=, 'binary:1')",
          "r/f:a= f:a= f:ab= f:b= g:a= g:b= s/f:a= f:c= g:b=");
}

/* As in HBase: within rows, too, a list of a reversed scan takes places the wrong way around, and
 * so misses f:cc. */
TEST_WITH(test_or_of_a_reversed_scan, begin, end)
{
    const char *cells = "r/f:a@1=1 r/f:b@1=2 r/f:cc@1=3 r/f:d@1=4";
    const char *filter = "ColumnPrefixFilter ('c') OR ValueFilter (=, 'binary:1')";

    check(cells, filter, "r/f:a=1 f:cc=3");
    check_reversed(cells, filter, "r/f:a=1");
}

TEST_WITH(test_skip, begin, end)
{
    check("r/f:a@1=1 r/f:b@1=2 s/f:a@1=1", "SKIP ValueFilter (!=, 'binary:2')", "s/f:a=1");
    /* SKIP shows its filter no row. */
    check(ROWS, "SKIP PrefixFilter ('b')", "");
    check("a/f:x@1=1 b/f:x@1=2", "SKIP RowFilter (=, 'binary:b')", "a/f:x=1 b/f:x=2");
}

TEST_WITH(test_while, begin, end)
{
    check("r/f:a@1=1 r/f:b@1=2 r/f:c@1=1 s/f:a@1=1", "WHILE ValueFilter (!=, 'binary:2')",
          "r/f:a=1");
    check(ROWS, "WHILE PrefixFilter ('a')", "a/f:x=1 ab/f:x=2");
    check(ROWS, "WHILE PrefixFilter ('b')", "");
    /* A row that is left out by its key is shown to it all the same. */
    check("a/f:x@1=1 b/f:x@1=2 c/f:x@1=1",
          "WHILE ValueFilter (!=, 'binary:2') AND RowFilter (!=, 'binary:b')", "a/f:x=1");
    /* WHILE does not hand on the cells of the row. */
    check(WIDE, "WHILE DependentColumnFilter ('f', 'z')",
          "r/f:a=1 f:a=2 f:ab=3 f:b=4 g:a=5 g:b=6 s/f:a=7 f:c=8 g:b=9");
}

TEST_WITH(test_restart, begin, end)
{
    petal_filter *filter = parse("PageFilter (1) AND WHILE ValueFilter (=, 'binary:1')");
    petal_cell cell = {.row = {"r", 1}, .family = {"f", 1}, .value = {"2", 1}, .type = PETAL_PUT};
    struct filter_run *run;
    enum filter_code code;

    assert_int_equal(filter_run_new(&run, &memory.table, filter, false), PETAL_OK);
    petal_filter_free(filter); /* the run keeps it */
    for (int i = 0; i < 2; i++) {
        assert_false(filter_run_done(run));
        assert_false(filter_run_skips_row(run, cell.row));
        cell.value.data = "1";
        assert_int_equal(filter_run_cell(run, &cell, &code, NULL), PETAL_OK);
        assert_int_equal(code, FILTER_INCLUDE);
        cell.value.data = "2";
        assert_int_equal(filter_run_cell(run, &cell, &code, NULL), PETAL_OK);
        assert_int_equal(code, FILTER_SKIP);
        assert_true(filter_run_done(run));
        assert_int_equal(filter_run_cell(run, &cell, &code, NULL), PETAL_OK);
        assert_int_equal(code, FILTER_NEXT_ROW);
        filter_run_restart(run);
    }
    filter_run_free(run);
}

/* ---- FuzzyRowFilter and MultiRowRangeFilter ---- */

static petal_filter *
fuzzy(petal_slice pattern, petal_slice mask)
{
    petal_filter_argument arguments[2] = {{.bytes = pattern}, {.bytes = mask}};
    petal_filter *filter;
    petal_error error;

    if (petal_filter_make(filter_fake_db(&memory.table), "FuzzyRowFilter", arguments, 2, &filter,
                          &error) != PETAL_OK)
        fail_msg("%s", error.text);
    return filter;
}

/* HBase returns a shorter row when it is the first shown, and loses rows of reversed scans. */
TEST_WITH(test_fuzzy_row_filter_takes_no_short_rows_and_both_directions, begin, end)
{
    const char *cells = "a/f:x@1=1 ab/f:x@1=2 axb/f:x@1=3 axbz/f:x@1=4 ayb/f:x@1=5 ayc/f:x@1=6 "
                        "b/f:x@1=7 bxb/f:x@1=8 z/f:x@1=9";
    petal_slice pattern = slice_make("a?b", 3), mask = slice_make("\0\1\0", 3);

    check_filter(cells, fuzzy(pattern, mask), false, "axb/f:x=3 axbz/f:x=4 ayb/f:x=5");
    check_filter(cells, fuzzy(pattern, mask), true, "ayb/f:x=5 axbz/f:x=4 axb/f:x=3");
    mask = slice_make("\1\1\0", 3);
    check_filter(cells, fuzzy(pattern, mask), false, "axb/f:x=3 axbz/f:x=4 ayb/f:x=5 bxb/f:x=8");
    check_filter(cells, fuzzy(pattern, mask), true, "bxb/f:x=8 ayb/f:x=5 axbz/f:x=4 axb/f:x=3");
}

/* Two filters of the same rows, one that seeks and one that looks at each: they agree, whatever the
 * rows. */
TEST_WITH(test_fuzzy_row_filter_seeks_no_row_away, begin, end)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (int round = 0; round < 3000; round++) {
        char pattern[3], mask[3], cells[400] = "", wanted[400] = "";
        bool reversed = test_random_chance(&random, 50);
        size_t size = test_random_below(&random, 4);

        for (size_t i = 0; i < size; i++) {
            pattern[i] = (char)("ab\x7F"[test_random_below(&random, 3)]);
            mask[i] = (char)test_random_below(&random, 2);
        }
        for (int i = 0; i < 27; i++) {
            int at = reversed ? 26 - i : i;
            char row[4] = {"ab\x7F"[at / 9], "ab\x7F"[at / 3 % 3], "ab\x7F"[at % 3], '\0'};
            size_t length = 3, k = 0;

            /* Some are short; they stay in order, for the last byte is the least. */
            if (at % 3 == 0 && (round & 1))
                row[length = 2] = '\0';
            while (k < size && k < length && (mask[k] != 0 || row[k] == pattern[k]))
                k++;
            if (k == size)
                sprintf(wanted + strlen(wanted), "%s%s/f:x=1", wanted[0] != '\0' ? " " : "", row);
        }
        for (int at = 0; at < 27; at++) {
            char row[4] = {"ab\x7F"[at / 9], "ab\x7F"[at / 3 % 3], "ab\x7F"[at % 3], '\0'};

            if (at % 3 == 0 && (round & 1))
                row[2] = '\0';
            sprintf(cells + strlen(cells), "%s%s/f:x@1=1", cells[0] != '\0' ? " " : "", row);
        }
        check_filter(cells, fuzzy(slice_make(pattern, size), slice_make(mask, size)), reversed,
                     wanted);
    }
}

TEST_WITH(test_multi_row_range_filter, begin, end)
{
    check_filter(ROWS, make("MultiRowRangeFilter", "c + c + ab + bc -"), false,
                 "ab/f:x=2 b/f:x=3 c/f:x=5");
    check_filter(ROWS, make("MultiRowRangeFilter", "c + c + ab + bc -"), true,
                 "c/f:x=5 b/f:x=3 ab/f:x=2");
    check_filter(ROWS, make("MultiRowRangeFilter", "a - b -"), false, "ab/f:x=2");
}

/* HBase forgets the row where two ranges begin if one of them leaves it out, and loses rows of
 * reversed scans to open ends. */
TEST_WITH(test_multi_row_range_filter_unites_ranges, begin, end)
{
    check_filter(ROWS, make("MultiRowRangeFilter", "b - c - b + bc -"), false, "b/f:x=3 bc/f:x=4");
    check_filter(ROWS, make("MultiRowRangeFilter", "b - c + a + b -"), false,
                 "a/f:x=1 ab/f:x=2 bc/f:x=4 c/f:x=5");
    check_filter(ROWS, make("MultiRowRangeFilter", "b - c + a + b -"), true,
                 "c/f:x=5 bc/f:x=4 ab/f:x=2 a/f:x=1");
    check_filter(ROWS, make("MultiRowRangeFilter", "bc +  - a + ab -"), true,
                 "c/f:x=5 bc/f:x=4 a/f:x=1");
    check_filter(ROWS, make("MultiRowRangeFilter", " + ab + c +  -"), false,
                 "a/f:x=1 ab/f:x=2 c/f:x=5");
}

/* Ranges at random, among them empty, open and touching ones, against each row looked at by itself,
 * in both directions. */
TEST_WITH(test_multi_row_range_filter_takes_what_its_ranges_hold, begin, end)
{
    static const char *const rows[] = {"a", "aa", "ab", "b", "ba", "bb", "c"};
    const size_t row_count = sizeof rows / sizeof *rows;
    struct test_random random;

    test_random_init(&random, test_seed());
    for (int round = 0; round < 3000; round++) {
        const char *bounds[3][2];
        bool takes[3][2], reversed = test_random_chance(&random, 50);
        size_t count = 1 + test_random_below(&random, 3);
        char words[100] = "", cells[100] = "", wanted[100] = "";

        for (size_t i = 0; i < count; i++) {
            do {
                for (size_t end = 0; end < 2; end++) {
                    size_t at = test_random_below(&random, row_count + 1);

                    bounds[i][end] = at == row_count ? "" : rows[at];
                    takes[i][end] = test_random_chance(&random, 50);
                }
            } while (bounds[i][1][0] != '\0' &&
                     (strcmp(bounds[i][0], bounds[i][1]) > 0 ||
                      (strcmp(bounds[i][0], bounds[i][1]) == 0 && !takes[i][1])));
            for (size_t end = 0; end < 2; end++)
                sprintf(words + strlen(words), "%s%s %c", i + end > 0 ? " " : "", bounds[i][end],
                        takes[i][end] ? '+' : '-');
        }
        for (size_t k = 0; k < row_count; k++) {
            const char *row = rows[reversed ? row_count - 1 - k : k];
            bool taken = false;

            for (size_t i = 0; i < count; i++) {
                int low = strcmp(row, bounds[i][0]), high = strcmp(row, bounds[i][1]);

                taken =
                    taken || ((low > 0 || (low == 0 && takes[i][0])) &&
                              (bounds[i][1][0] == '\0' || high < 0 || (high == 0 && takes[i][1])));
            }
            sprintf(cells + strlen(cells), "%s%s/f:x@1=1", k > 0 ? " " : "", rows[k]);
            if (taken)
                sprintf(wanted + strlen(wanted), "%s%s/f:x=1", wanted[0] != '\0' ? " " : "", row);
        }
        check_filter(cells, make("MultiRowRangeFilter", words), reversed, wanted);
    }
}

/* HBase fails with an internal error. */
TEST_WITH(test_skip_around_multi_row_range_filter, begin, end)
{
    check_filter(ROWS, combine(PETAL_FILTER_SKIP, make("MultiRowRangeFilter", "ab + bc -"), NULL),
                 false, "ab/f:x=2 b/f:x=3");
    check_filter(ROWS,
                 combine(PETAL_FILTER_SKIP,
                         combine(PETAL_FILTER_AND, make("MultiRowRangeFilter", "ab + bc -"),
                                 parse("ValueFilter (!=, 'binary:2')")),
                         NULL),
                 true, "b/f:x=3");
}

TEST_WITH(test_needs_family, begin, end)
{
    petal_filter *filter = parse("SKIP (ColumnValueFilter ('g', 'q', =, 'binary:a') AND "
                                 "SingleColumnValueFilter ('f', 'q', =, 'binary:a', true, true))");

    assert_true(filter_needs_family(filter, slice_from_text("f")));
    assert_true(filter_needs_family(filter, slice_from_text("g")));
    assert_false(filter_needs_family(filter, slice_from_text("h")));
    petal_filter_free(filter);
}
