/*
 * in_engine_test.c -- filters through the whole engine: what a filter is shown of rows and
 * families, where HBase's answers are wrong and these are not, and regular expressions that are
 * given up. That no answer depends on where the cells lie: tests/model/random_test.c.
 */

#include "tests/engine/read/fixture.h"
#include "tests/engine/script.h"

#include <string.h>

#define WHILE_AND_ROW "filter={WHILE ValueFilter (=, 'binary:v') AND RowFilter (!=, 'binary:b')}"
#define WHILE_ROW     "show t column=f:q filter={WHILE RowFilter (!=, 'binary:b')} : a/f:q=v\n"
#define PREFIX_Q      "show t filter={ColumnPrefixFilter ('q')} :\n"

static const struct script_case cases[] = {
    {"a row that its key excludes is read all the same, so that WHILE sees its cells; not in "
     "reverse",
     "table t f; put t a/f:q=v b/f:q=other c/f:q=v; show t " WHILE_AND_ROW " : a/f:q=v\n"
     "show t reversed " WHILE_AND_ROW " : c/f:q=v a/f:q=v"},
    {"WHILE is asked about rows that have none of the named columns",
     "table t f; put t a/f:q=v b/f:p=v c/f:q=v\n" WHILE_ROW "flush\n" WHILE_ROW},
    {"a family that is looked at when the filter is done gives nothing more, even if it is hidden",
     "table t f g; put t a/f:p@1=v a/f:q@1=v a/g:q@1=v a/g:q@2!12 b/g:q@1=v\n"
     "show t filter={ColumnCountGetFilter (1)} : a/f:p=v\n"
     "show t filter={ColumnCountGetFilter (2)} : a/f:p=v a/f:q=v b/g:q=v"},
    {"a raw scan goes where the filter says: what lies between is not shown to it",
     "table t f; put t a/f:a@1=v a/f:b@1=v a/f:c@1=v a/f:d@1=v a/f:d@2!8\n"
     "show t raw versions=1 filter={ColumnCountGetFilter (3) AND ColumnPrefixFilter ('d')} : "
     "a/f:d@2!8"},
    {"a hint does not leap over the family marker that hides what is after it, as in HBase",
     "table t f; put t a/f@20=v a/f:q@3=v a/f@10!14\n" PREFIX_Q "flush\n" PREFIX_Q},
};

TEST_EACH(filters_are_shown_this, cases)
{
    script_run(*state);
}

/* ---- in both directions ---- */

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
        reads_put(&fixture, "f", text(rows[i]), text("q"), 1, text("v"));
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
        reads_put(&fixture, "f", text(rows[i]), text("q"), 1, text("v"));
    assert_string_equal(scan(&fixture, make(&fixture, "FuzzyRowFilter", arguments, 4), NULL),
                        "ab/f:q@1=v abc/f:q@1=v cb/f:q@1=v ddd/f:q@1=v ddde/f:q@1=v ");
    assert_string_equal(scan(&fixture, make(&fixture, "FuzzyRowFilter", arguments, 4), &reversed),
                        "ddde/f:q@1=v ddd/f:q@1=v cb/f:q@1=v abc/f:q@1=v ab/f:q@1=v ");
    fixture_fini(&fixture.base);
}

/* ---- what is given up ---- */

/* A regular expression that is given up ends the read at its row, whatever stands around it; the
 * rows before are right, and the cursor goes on elsewhere. Filters that would be done, or would
 * skip the row, do not hide it. */
TEST(test_regex_given_up)
{
    /* Each with what it gives before the row in question, and from the row after. */
    static const char *const given_up[][3] = {
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
    reads_put(&fixture, "f", text("aa"), text("q"), 1, text("aa"));
    reads_put(&fixture, "f", text(hostile), text(hostile), 1, text(hostile));
    reads_put(&fixture, "f", text(hostile), text("q"), 1, text(hostile));
    reads_put(&fixture, "f", text("b"), text("q"), 1, text("aa"));
    for (size_t i = 0; i < sizeof given_up / sizeof given_up[0]; i++) {
        petal_filter *filter = reads_filter(&fixture, given_up[i][0]);
        petal_scan_options options = {.read = {.filter = filter}};
        petal_cursor *cursor = reads_cursor(&fixture, &options);
        const petal_cell *cell;
        petal_error error;

        if (*given_up[i][1] != '\0')
            assert_string_equal(reads_next(cursor), given_up[i][1]);
        assert_int_equal(petal_cursor_next(cursor, &cell, &error), PETAL_INVALID);
        assert_null(cell);
        assert_string_equal(error.text, "the regular expression ^(a+)+$ is given up on 41 bytes of "
                                        "text: match limit exceeded");
        reads_seek(cursor, text("b"), NULL, text(""));
        assert_string_equal(reads_rest(cursor), given_up[i][2]);
        petal_cursor_close(cursor);
        petal_filter_free(filter);
    }
    fixture_fini(&fixture.base);
}
