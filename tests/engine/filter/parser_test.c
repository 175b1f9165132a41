/* parser_test.c -- HBase's filter language: what a text means, which texts are refused, where, and
 * in which words. */
#include "base/slice.h"
#include "engine/filter/node.h"
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

/* A filter as text: combinations as and(..), others as the letter of their first string, or #. */
static void
dump(const petal_filter *filter, char *text)
{
    if (filter->kind->signature != NULL) {
        const char *string =
            filter->string_count > 0 && filter->strings[0].size > 0 ? filter->strings[0].data : "#";

        sprintf(text + strlen(text), "%c", *string);
        return;
    }
    text += strlen(text);
    for (const char *letter = filter->kind->name; *letter != '\0'; letter++)
        *text++ = (char)(*letter | 0x20);
    strcpy(text, "(");
    for (size_t i = 0; i < filter->member_count; i++)
        dump(filter->members[i], text);
    strcat(text, ")");
}

static void
check(const char *text, const char *wanted)
{
    char got[1000] = "";
    petal_filter *filter;
    petal_error error;

    if (petal_filter_parse(filter_fake_db(&memory.table), slice_from_text(text), &filter, &error) !=
        PETAL_OK)
        fail_msg("%s: %s", text, error.text);
    dump(filter, got);
    assert_string_equal(got, wanted);
    petal_filter_free(filter);
}

#define A "PrefixFilter ('a')"
#define B "PrefixFilter ('b')"
#define C "PrefixFilter ('c')"
#define D "PrefixFilter ('d')"

TEST_WITH(test_precedence, begin, end)
{
    check(A, "a");
    check("  " A "\t ", "a");
    check("(" A ")", "a");
    check("((" A "))", "a");
    check(A " AND " B, "and(ab)");
    check(A " AND " B " AND " C, "and(abc)");
    check("(" A " AND " B ") AND " C, "and(and(ab)c)");
    check(A " AND (" B " AND " C ")", "and(aand(bc))");
    check(A " OR " B " OR " C, "or(abc)");
    check(A " OR " B " AND " C " OR " D, "or(aand(bc)d)");
    check(A " AND " B " OR " C " AND " D, "or(and(ab)and(cd))");
    check("SKIP " A " AND " B, "and(skip(a)b)");
    check("SKIP (" A " AND " B ")", "skip(and(ab))");
    check("WHILE SKIP " A " OR " B, "or(while(skip(a))b)");
    check(A " AND SKIP " B " AND " C, "and(askip(b)c)");
    check("SKIP(" A ")", "skip(a)");
    check("(SKIP " A ")OR(" B ")", "or(skip(a)b)");
}

/* HBase's parser fails on these. */
TEST_WITH(test_or_then_and_in_a_parenthesis_behind_an_operator, begin, end)
{
    check(A " AND (" B " OR " C " AND " D ")", "and(aor(band(cd)))");
    check(A " OR (" B " OR " C " AND " D ")", "or(aor(band(cd)))");
}

TEST_WITH(test_a_parenthesis_never_closed_is_accepted, begin, end)
{
    check("(" A, "a");
    check("((" A, "a");
    check(A " AND (" B " OR " C, "and(aor(bc))");
    check("SKIP (" A " OR " B, "skip(or(ab))");
}

static petal_filter *
parse(const char *text, size_t size)
{
    petal_filter *filter;
    petal_error error;

    if (petal_filter_parse(filter_fake_db(&memory.table), slice_make(text, size), &filter,
                           &error) != PETAL_OK)
        fail_msg("%s: %s", text, error.text);
    return filter;
}

TEST_WITH(test_arguments, begin, end)
{
    petal_filter *filter = parse("PrefixFilter('it''s ) OR''')", 28);

    assert_true(slice_equal(filter->strings[0], slice_from_text("it's ) OR'")));
    petal_filter_free(filter);
    filter = parse("PrefixFilter ('a\0b')", 20);
    assert_true(slice_equal(filter->strings[0], slice_make("a\0b", 3)));
    petal_filter_free(filter);
    filter = parse("SingleColumnValueFilter('f','q',>=,'binary:x:y',TRUE, False)", 60);
    assert_int_equal(filter->compare, PETAL_GREATER_OR_EQUAL);
    assert_true(slice_equal(filter->comparator.bytes, slice_from_text("x:y")));
    assert_true(filter->if_missing);
    assert_false(filter->latest_only);
    petal_filter_free(filter);
    filter = parse("TimestampsFilter (5 , 1,9223372036854775807)", 44);
    assert_int_equal(filter->timestamp_count, 3);
    assert_int_equal(filter->timestamps[0], 1);
    assert_int_equal(filter->timestamps[2], INT64_MAX);
    petal_filter_free(filter);
    filter = parse("ColumnRangeFilter ('', true, 'b', false)", 40);
    assert_false(filter->has_min);
    assert_true(filter->has_max);
    petal_filter_free(filter);
    petal_filter_free(parse("TimestampsFilter ()", 19));
    petal_filter_free(parse("MultipleColumnPrefixFilter ()", 29));
    petal_filter_free(parse("PrefixFilter ('')", 17));
}

TEST(test_names)
{
    size_t count = 0;

    for (; petal_filter_name(count) != NULL; count++)
        assert_true(count == 0 ||
                    strcmp(petal_filter_name(count - 1), petal_filter_name(count)) < 0);
    assert_int_equal(count, 19);
}

static void
check_refused(const char *text, size_t offset, const char *message)
{
    petal_filter *filter = (petal_filter *)&memory;
    char place[40];
    petal_error error;

    if (petal_filter_parse(filter_fake_db(&memory.table), slice_from_text(text), &filter, &error) !=
        PETAL_INVALID)
        fail_msg("accepted: %s", text);
    assert_null(filter);
    snprintf(place, sizeof place, " at byte %zu", offset);
    if (strncmp(error.text, message, strlen(message)) != 0 || error.offset != offset ||
        strstr(error.text, place) == NULL)
        fail_msg("%s: '%s' at %zu", text, error.text, (size_t)error.offset);
}

TEST_WITH(test_refused, begin, end)
{
    check_refused("", 0, "Incorrect Filter String");
    check_refused("   ", 3, "Incorrect Filter String");
    check_refused("ValueFilter (=, 'long:5')", 0,
                  "Incorrect filter string ValueFilter (=, 'long:5')");
    check_refused("RowFilter (!=, 'null:')", 0, "Incorrect filter string RowFilter (!=, 'null:')");
    check_refused("PrefixFilter", 0, "Incorrect Filter String");
    check_refused("PrefixFilter ('a", 0, "Incorrect Filter String");
    check_refused("PrefixFilter ('a)", 0, "Incorrect Filter String");
    check_refused(A " AND", 19, "Incorrect Filter String");
    check_refused(A " AND ", 19, "Incorrect input string - an AND needs two filters");
    check_refused(A " OR )", 19, "Incorrect input string - an OR needs two filters");
    check_refused("SKIP ", 0, "Incorrect input string - a SKIP wraps a filter");
    check_refused(A " " B, 19, "Incorrect Filter String");
    check_refused(A ")", 18, "Mismatched parenthesis");
    check_refused(")", 0, "Mismatched parenthesis");
    check_refused("()", 1, "Incorrect Filter String");
    check_refused("NoSuchFilter ('a')", 0, "Filter Name NoSuchFilter not supported");
    check_refused("prefixfilter ('a')", 0, "Filter Name prefixfilter not supported");
    check_refused(A " and " B, 19, "Filter Name and not supported");
    check_refused("FuzzyRowFilter ('a', 'b')", 0, "Filter Name FuzzyRowFilter not supported");
    check_refused("TimeStampsFilter (1)", 0, "Filter Name TimeStampsFilter not supported");
    check_refused("PrefixFilter(a)", 13, "Incorrect filter string PrefixFilter(a)");
    check_refused("PrefixFilter(1)", 13, "Incorrect filter string PrefixFilter(1)");
    check_refused(A " AND PrefixFilter('a', 'b')", 41,
                  "Incorrect filter string PrefixFilter('a', 'b')");
    check_refused("PrefixFilter ()", 0, "Incorrect filter string PrefixFilter ()");
    check_refused("PageFilter (-1)", 12, "Incorrect filter string PageFilter (-1)");
    check_refused("ColumnCountGetFilter (2147483648)", 22, "Incorrect filter string");
    check_refused("PageFilter (9223372036854775808)", 12, "Incorrect filter string");
    check_refused("ValueFilter (==, 'binary:a')", 13, "Incorrect filter string");
    check_refused("ValueFilter (=, 'a')", 16, "Incorrect filter string");
    check_refused("ValueFilter (=, 'none:a')", 16, "Incorrect filter string");
    check_refused("ValueFilter (=, 'regexstring:a(')", 16, "Incorrect filter string");
    check_refused("ValueFilter (<, 'substring:a')", 13, "Incorrect filter string");
    check_refused("SKIP ValueFilter (0)", 18, "Incorrect filter string ValueFilter (0)");
    check_refused("MultipleColumnPrefixFilter ('a', 'a')", 0, "Incorrect filter string");
    check_refused("KeyOnlyFilter (maybe)", 15, "Incorrect filter string");
}

TEST_WITH(test_nesting_is_bounded, begin, end)
{
    char text[5 * 2000 + 100] = "";

    for (int i = 0; i < 2000; i++)
        strcat(text, "SKIP ");
    strcat(text, A);
    check_refused(text, 5 * FILTER_MOST_DEPTH, "The filter is nested too deeply");
    memset(text, '(', 2000);
    strcpy(text + 2000, A);
    check_refused(text, FILTER_MOST_DEPTH, "The filter is nested too deeply");
}

/* ---- petal_filter_make and petal_filter_combine ---- */

TEST_WITH(test_make, begin, end)
{
    petal_filter_argument arguments[] = {
        {.kind = PETAL_FILTER_BYTES, .bytes = {"m", 1}},
        {.kind = PETAL_FILTER_BOOLEAN, .number = 1},
        {.kind = PETAL_FILTER_BYTES, .bytes = {"k", 1}},
        {.kind = PETAL_FILTER_BOOLEAN, .number = 0},
    };
    petal_db *db = filter_fake_db(&memory.table);
    petal_filter *filter;
    petal_error error;

    assert_int_equal(petal_filter_make(db, "MultiRowRangeFilter", arguments, 4, &filter, &error),
                     PETAL_INVALID);
    assert_string_equal(error.text,
                        "MultiRowRangeFilter, argument 1: the range ends before it begins");
    assert_int_equal(petal_filter_make(db, "MultiRowRangeFilter", arguments, 0, &filter, &error),
                     PETAL_INVALID);
    assert_int_equal(petal_filter_make(db, "Nothing", NULL, 0, &filter, &error), PETAL_INVALID);
    assert_string_equal(error.text, "Filter Name Nothing not supported");
    assert_int_equal(petal_filter_make(db, "FuzzyRowFilter", arguments, 1, &filter, &error),
                     PETAL_INVALID);
    arguments[2].bytes = slice_from_text("p");
    assert_int_equal(petal_filter_make(db, "MultiRowRangeFilter", arguments, 4, &filter, &error),
                     PETAL_OK);
    petal_filter_free(filter);
}

/* The filter is given a comparison, unless it takes none, and a text. */
static void
check_make_refused(const char *name, int64_t compare, const char *text, const char *message)
{
    petal_filter_argument arguments[] = {
        {.kind = PETAL_FILTER_COMPARE, .number = compare},
        {.kind = PETAL_FILTER_BYTES, .bytes = slice_from_text(text)},
    };
    bool compares = strcmp(name, "RandomRowFilter") != 0;
    petal_filter *filter = (petal_filter *)&memory;
    petal_error error;

    if (petal_filter_make(filter_fake_db(&memory.table), name, compares ? arguments : arguments + 1,
                          compares ? 2 : 1, &filter, &error) != PETAL_INVALID)
        fail_msg("accepted: %s %s", name, text);
    assert_null(filter);
    if (strstr(error.text, message) == NULL)
        fail_msg("%s %s: %s", name, text, error.text);
}

TEST_WITH(test_make_refuses_what_is_no_number, begin, end)
{
    static const char *const chances[] = {"", "-", ".", "0.5.5", "x", "1e3", "0,5", "- 1", "1/2"};
    static const char *const longs[] = {
        "", "-", "x", "9223372036854775808", "1/", ":", "0x1", "-9223372036854775809", "1 ", "+1"};
    char text[40];

    for (size_t i = 0; i < sizeof chances / sizeof *chances; i++)
        check_make_refused("RandomRowFilter", 0, chances[i], "the chance is not a decimal number");
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++) {
        snprintf(text, sizeof text, "long:%s", longs[i]);
        check_make_refused("ValueFilter", PETAL_EQUAL, text,
                           "the value of long: is not a 64-bit number");
    }
    check_make_refused("ValueFilter", PETAL_LESS - 1, "binary:a", "it must be a comparison");
    check_make_refused("ValueFilter", PETAL_GREATER + 1, "binary:a", "it must be a comparison");
}

TEST_WITH(test_make_refuses_masks, begin, end)
{
    petal_filter_argument arguments[] = {
        {.kind = PETAL_FILTER_BYTES, .bytes = {"ab", 2}},
        {.kind = PETAL_FILTER_BYTES, .bytes = {"\0", 1}},
    };
    petal_db *db = filter_fake_db(&memory.table);
    petal_filter *filter;
    petal_error error;

    assert_int_equal(petal_filter_make(db, "FuzzyRowFilter", arguments, 2, &filter, &error),
                     PETAL_INVALID);
    assert_string_equal(error.text,
                        "FuzzyRowFilter, argument 2: the mask is not as long as its pattern");
    arguments[1].bytes = slice_make("\1\2", 2);
    assert_int_equal(petal_filter_make(db, "FuzzyRowFilter", arguments, 2, &filter, &error),
                     PETAL_INVALID);
    assert_string_equal(error.text,
                        "FuzzyRowFilter, argument 2: a mask may have bytes 0 and 1 only");
}

TEST_WITH(test_combine_refuses, begin, end)
{
    petal_db *db = filter_fake_db(&memory.table);
    petal_filter *member = parse(A, strlen(A)), *filter;
    petal_filter *const members[] = {member, member}, *const holed[] = {member, NULL};
    petal_error error;

    assert_int_equal(
        petal_filter_combine(db, (enum petal_filter_operation)99, members, 2, &filter, &error),
        PETAL_INVALID);
    assert_string_equal(error.text, "no such way to combine filters: 99");
    assert_int_equal(
        petal_filter_combine(db, (enum petal_filter_operation) - 1, members, 2, &filter, &error),
        PETAL_INVALID);
    assert_int_equal(petal_filter_combine(db, PETAL_FILTER_WHILE, members, 2, &filter, &error),
                     PETAL_INVALID);
    assert_string_equal(error.text, "WHILE wraps one filter, not 2");
    assert_int_equal(petal_filter_combine(db, PETAL_FILTER_AND, holed, 2, &filter, &error),
                     PETAL_INVALID);
    assert_string_equal(error.text, "members[1] is NULL");
    assert_null(filter);
    petal_filter_free(member);
}

/* A combination keeps its members; one that holds itself many times over is bounded. */
TEST_WITH(test_combine, begin, end)
{
    petal_db *db = filter_fake_db(&memory.table);
    petal_filter *filter;
    petal_error error;
    int depth = 1;

    assert_int_equal(petal_filter_combine(db, PETAL_FILTER_SKIP, NULL, 0, &filter, &error),
                     PETAL_INVALID);
    filter = parse(A, strlen(A));
    for (;; depth++) {
        petal_filter *twice[2] = {filter, filter}, *made;
        enum petal_status status =
            petal_filter_combine(db, PETAL_FILTER_OR, twice, 2, &made, &error);

        if (status == PETAL_INVALID)
            break;
        assert_int_equal(status, PETAL_OK);
        petal_filter_free(filter);
        filter = made;
    }
    assert_true(depth > 10 && depth < 20);
    petal_filter_free(filter);
}
