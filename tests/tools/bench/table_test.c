/* table_test.c -- what repeats let one claim, and the table for documents: a claim only where
 * the range of the repeats does not hold 1. */
#include "tools/bench/results/table.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum bench_verdict
verdict(const double *ratios, size_t count)
{
    struct bench_spread spread = bench_spread_of(ratios, count);

    return bench_verdict_of(&spread);
}

TEST(test_verdicts)
{
    static const double below[] = {0.9, 0.5, 0.999}, above[] = {1.001, 7, 1.2};
    static const double around[] = {0.3, 0.2, 1.01}, touching[] = {0.5, 1, 0.7}, from[] = {1, 2, 3};
    static const double many[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.5};

    assert_int_equal(verdict(below, 3), BENCH_AHEAD);
    assert_int_equal(verdict(above, 3), BENCH_BEHIND);
    assert_int_equal(verdict(around, 3), BENCH_UNDECIDED);
    assert_int_equal(verdict(touching, 3), BENCH_UNDECIDED);
    assert_int_equal(verdict(from, 3), BENCH_UNDECIDED);
    assert_int_equal(verdict(many, 7), BENCH_UNDECIDED); /* however many are on one side */
    assert_int_equal(verdict(below, 2), BENCH_UNDECIDED);
    assert_int_equal(verdict(above, 1), BENCH_UNDECIDED);
    assert_int_equal(verdict(below, 0), BENCH_UNDECIDED);
}

/* ---- the table ---- */

static void
name_row(const char *operation, const char **row, const char **words)
{
    *row = operation;
    *words = strcmp(operation, "get") == 0 ? "look it up" : operation;
}

static void
add(struct bench_result *result, const char *operation, const char *store,
    enum bench_metric measure, const double values[3], double others)
{
    for (int i = 0; i < 3; i++) {
        struct bench_outcome outcome;

        bench_outcome_init(&outcome, operation, store, 1);
        outcome.values[measure] = values[i];
        outcome.values[BENCH_BUSY] = 1 + others;
        outcome.values[BENCH_CPU] = 1;
        outcome.values[BENCH_MACHINE] = 2;
        assert_true(bench_result_add(result, &outcome));
    }
}

static void
expect(const struct bench_table *table, const char *wanted)
{
    size_t size;
    char *text;
    FILE *file = open_memstream(&text, &size);

    assert_non_null(file);
    bench_table_print(file, table);
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text + (text[0] == '\n'), wanted);
    free(text);
}

#define LIST(...) ((const double[3]){__VA_ARGS__})

TEST(test_table)
{
    static const struct bench_column stores[] = {{"slow", "slow", "on"},
                                                 {"petal", "Petal", "off"},
                                                 {"quick-one", "quick", "?"},
                                                 {"like", "like", "on"}};
    static const char wanted[] = "| | Petal | slow | quick | like | others |\n"
                                 "|---|---|---|---|---|---|\n"
                                 "| look it up | 2.00 M/s | 0.50 (0.40–0.60) | **2.00** "
                                 "(1.50–2.50) | 1.00 ~ (0.90–1.10) | 10 % |\n"
                                 "| open | 4.00 ms | - | - | 0.25 (0.20–0.50) | ? |\n"
                                 "| bytes | 0.58 | - | 0.50 ~ (0.29–1.16) | - | - |\n";
    static const char screen[] =
        "                                            petal         slow   quick-     like\n"
        "                                                                    one\n"
        "look it up                               2.00 M/s off 0.50 on  2.00*?   1.00~on\n"
        "open                                      4.00 ms off     -        -    0.25 on\n"
        "bytes                                        0.58 off     -    0.50~?       -\n"
        "\non, off: the assertions of the store that the number is of, which slow it; asked of the "
        "library\nthat is linked, by a mistake that only they notice. *: Petal is behind in each "
        "repeat.\n~: neither is ahead: " BENCH_VERDICT_RULE ".\n";
    struct bench_result result = {0};
    struct bench_table table = {
        .result = &result, .columns = stores, .column_count = 4, .name_row = name_row};

    add(&result, "get", "slow", BENCH_PER_SECOND, LIST(1e6, 0.8e6, 1.2e6), 0.1);
    add(&result, "get", "petal", BENCH_PER_SECOND, LIST(2e6, 2e6, 2e6), 0.2);
    add(&result, "get", "quick-one", BENCH_PER_SECOND, LIST(4e6, 3e6, 5e6), 0.4);
    add(&result, "get", "like", BENCH_PER_SECOND, LIST(2e6, 1.8e6, 2.2e6), 0.1);
    add(&result, "open", "petal", BENCH_PER_SECOND, LIST(250, 250, 250), NAN);
    add(&result, "open", "like", BENCH_PER_SECOND, LIST(62.5, 50, 125), NAN);
    add(&result, "bytes", "petal", BENCH_PER_UNIT, LIST(0.58, 0.58, 0.58), NAN);
    add(&result, "bytes", "quick-one", BENCH_PER_UNIT, LIST(1.16, 0.5, 2), NAN);
    add(&result, "not Petal's", "slow", BENCH_PER_SECOND, LIST(1, 1, 1), 0);
    expect(&table, screen);
    table.markdown = true;
    expect(&table, wanted);
    bench_result_free(&result);
}
