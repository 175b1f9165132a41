/* readamp_model_test.c -- what the read-amplification benchmark expects, against hand-made sums;
 * that wrong figures are caught. */
#include "tools/bench/readamp/model.h"

#include "tests/support/test.h"
#include "tools/bench/harness/bits.h"

#include <math.h>

#define FILES 6

/* Files with rates of their own, 0.01 in the mean; newest first. */
static struct readamp_store
store_of(enum petal_bloom_type filter)
{
    struct readamp_store store = {.filter = filter,
                                  .files = FILES,
                                  .common = 0.5,
                                  .blocks_per_row = 0.03,
                                  .blocks_per_cell = 0.02};

    for (unsigned i = 0; i < FILES && filter != PETAL_BLOOM_NONE; i++) {
        store.rate[i] = i % 2 == 0 ? 0.008 : 0.012;
        store.keys[i] = 10000;
    }
    return store;
}

static struct readamp_expected
expect(enum petal_bloom_type filter, enum readamp_lookup lookup)
{
    struct readamp_store store = store_of(filter);
    struct readamp_reads reads = {lookup, 10000, 5000};
    struct readamp_expected expected;

    readamp_expect(&store, &reads, &expected);
    return expected;
}

TEST(blocks_are_those_of_the_table)
{
    /* The five newest files, or all, of rate 0.01: 0.048 and 0.06. */
    static const double sums[READAMP_LOOKUPS][4] = {
        [READAMP_ABSENT_COLUMN] = {6, 0.06, 0.06, 0.06},
        [READAMP_ABSENT_ROW] = {6, 0.06, 6, 0.06},
        [READAMP_COLUMN_IN_NONE] = {6, 6, 0.06, 0.06},
        [READAMP_NEWEST] = {1, 1, 1, 1},
        [READAMP_ROW_IN_OLDEST] = {6, 1.048, 1.048, 1.048},
        [READAMP_COLUMN_IN_OLDEST] = {6, 6, 1.048, 1.048},
        [READAMP_WHOLE_ROW] = {6, 6, 6, 6},
        [READAMP_SCAN_COLUMN] = {120, 120, 70.48, 70.48},
        [READAMP_SCAN_SHORT] = {6.32, 6.32, 6.32, 6.32},
    };
    static const enum petal_bloom_type filters[] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                                    PETAL_BLOOM_ROWCOL, PETAL_BLOOM_ROW_ROWCOL};

    for (int lookup = 0; lookup < READAMP_LOOKUPS; lookup++) {
        for (size_t i = 0; lookup != READAMP_COLUMNS_200 && i < 4; i++) {
            struct readamp_expected expected = expect(filters[i], (enum readamp_lookup)lookup);

            assert_true(fabs(expected.data - sums[lookup][i]) < 1e-9);
        }
    }
}

/* 34, 34, 33, 33, 33, 33 of the columns, newest first: 200, 166, 132, 99, 66, 33 are asked. */
TEST(columns_that_were_found_are_not_asked_again)
{
    struct readamp_expected none = expect(PETAL_BLOOM_NONE, READAMP_COLUMNS_200);
    struct readamp_expected columns = expect(PETAL_BLOOM_ROWCOL, READAMP_COLUMNS_200);

    assert_true(fabs(none.data - 696) < 1e-9);
    assert_true(fabs(columns.data - (200 + 166 * 0.008 + 132 * 0.012 + 99 * 0.008 + 66 * 0.012 +
                                     33 * 0.008)) < 1e-9);
    assert_true(fabs(columns.negatives - 496) < 1e-9);
    assert_true(fabs(columns.true_positives - 200) < 1e-9);
}

TEST(files_older_than_the_answer_are_counted)
{
    assert_true(expect(PETAL_BLOOM_ROWCOL, READAMP_NEWEST).found_newer == FILES - 1);
    assert_true(expect(PETAL_BLOOM_ROWCOL, READAMP_ABSENT_ROW).found_newer == 0);
}

TEST(what_is_certain_has_no_error)
{
    assert_true(expect(PETAL_BLOOM_NONE, READAMP_ABSENT_ROW).standard_error == 0);
    assert_true(expect(PETAL_BLOOM_ROW, READAMP_COLUMN_IN_NONE).standard_error == 0);
    assert_true(expect(PETAL_BLOOM_ROW, READAMP_COLUMN_IN_NONE).false_rate < 0);
    assert_true(expect(PETAL_BLOOM_ROWCOL, READAMP_COLUMN_IN_NONE).false_rate > 0.0099);
}

/* Chance alone gives sqrt(0.06 (1/10000 + 1/5000)) = 0.0042; filters' own rates, common keys and
 * whole lines make it more. */
TEST(wrong_figures_are_caught)
{
    struct readamp_expected expected = expect(PETAL_BLOOM_ROW, READAMP_ABSENT_ROW);

    assert_true(expected.standard_error > 0.0042 && expected.standard_error < 0.0075);
    assert_false(readamp_is_outside(0.062, expected.data, expected.standard_error, expected.grain));
    assert_true(readamp_is_outside(0.12, expected.data, expected.standard_error, expected.grain));
    assert_true(readamp_is_outside(0.01, expected.data, expected.standard_error, expected.grain));
    assert_true(readamp_is_outside(6.001, 6, 0, 0));
    assert_false(readamp_is_outside(6, 6, 0, 0));
}

TEST(more_gets_leave_less_to_chance)
{
    struct readamp_store store = store_of(PETAL_BLOOM_ROW);
    struct readamp_reads few = {READAMP_ABSENT_ROW, 1000, 1e12};
    struct readamp_reads many = {READAMP_ABSENT_ROW, 1e9, 1e12};
    struct readamp_reads again = {READAMP_ABSENT_ROW, 1e9, 1000};
    struct readamp_expected a, b, c;

    readamp_expect(&store, &few, &a);
    readamp_expect(&store, &many, &b);
    readamp_expect(&store, &again, &c);
    assert_true(b.standard_error < a.standard_error / 3 && b.standard_error > 0.0005);
    assert_true(fabs(c.standard_error - a.standard_error) < 1e-6);
}

TEST(bits_and_rates_are_each_others)
{
    assert_true(fabs(bench_bits_of_rate(0.01) - 9.585 * 1.034) < 0.01);
    for (double bits = 4; bits <= 16; bits += 2)
        assert_true(fabs(bench_bits_of_rate(bench_rate_of_bits(bits)) - bits) < 1e-6);
}

TEST(hbase_is_known_for_six_files)
{
    assert_true(readamp_hbase(READAMP_COLUMNS_200, PETAL_BLOOM_ROWCOL, 6, 0.01) == 200.2);
    assert_true(readamp_hbase(READAMP_COLUMNS_200, PETAL_BLOOM_ROWCOL, 6, 0.1) < 0);
    assert_true(readamp_hbase(READAMP_COLUMNS_200, PETAL_BLOOM_NONE, 5, 0.01) < 0);
    assert_true(readamp_hbase(READAMP_NEWEST, PETAL_BLOOM_ROW_ROWCOL, 6, 0.01) < 0);
}
