/*
 * tables_test.c -- filters of kind STANDARD are the textbook's: the rates of Pei Cao's table
 * ("Bloom Filters - the math", 1998: bits a key and probes against the rate), by theory and as
 * measured; and the bits and probes that Guava's BloomFilter takes for a number of keys and a rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bloom/petal_bloom.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define KEYS 100000

/* Rates of 1, 2, ... 8 probes; where the table has none, 0. */
static const struct {
    unsigned bits_per_key;
    double rates[8];
} cao[] = {
    {2, {0.393, 0.400}},
    {3, {0.283, 0.237, 0.253}},
    {4, {0.221, 0.155, 0.147, 0.160}},
    {5, {0.181, 0.109, 0.092, 0.092, 0.101}},
    {6, {0.154, 0.0804, 0.0609, 0.0561, 0.0578, 0.0638}},
    {7, {0.133, 0.0618, 0.0423, 0.0359, 0.0347, 0.0364}},
    {8, {0.118, 0.0489, 0.0306, 0.024, 0.0217, 0.0216, 0.0229}},
    {9, {0.105, 0.0397, 0.0228, 0.0166, 0.0141, 0.0133, 0.0135, 0.0145}},
    {10, {0.0952, 0.0329, 0.0174, 0.0118, 0.00943, 0.00844, 0.00819, 0.00846}},
    {11, {0.0869, 0.0276, 0.0136, 0.00864, 0.0065, 0.00552, 0.00513, 0.00509}},
    {12, {0.08, 0.0236, 0.0108, 0.00646, 0.00459, 0.00371, 0.00329, 0.00314}},
    {13, {0.074, 0.0203, 0.00875, 0.00492, 0.00332, 0.00255, 0.00217, 0.00199}},
    {14, {0.0689, 0.0177, 0.00718, 0.00381, 0.00244, 0.00179, 0.00146, 0.00129}},
    {15, {0.0645, 0.0156, 0.00596, 0.003, 0.00183, 0.00128, 0.001, 0.000852}},
    {16, {0.0606, 0.0138, 0.005, 0.00239, 0.00139, 0.000935, 0.000702, 0.000574}},
    {17, {0.0571, 0.0123, 0.00423, 0.00193, 0.00107, 0.000692, 0.000499, 0.000394}},
    {18, {0.054, 0.0111, 0.00362, 0.00158, 0.000839, 0.000519, 0.00036, 0.000275}},
    {19, {0.0513, 0.00998, 0.00312, 0.0013, 0.000663, 0.000394, 0.000264, 0.000194}},
    {20, {0.0488, 0.00906, 0.0027, 0.00108, 0.00053, 0.000303, 0.000196, 0.00014}},
    {21, {0.0465, 0.00825, 0.00236, 0.000905, 0.000427, 0.000236, 0.000147, 0.000101}},
    {22, {0.0444, 0.00755, 0.00207, 0.000764, 0.000347, 0.000185, 0.000112, 7.46e-05}},
    {23, {0.0425, 0.00694, 0.00183, 0.000649, 0.000285, 0.000147, 8.56e-05, 5.55e-05}},
    {24, {0.0408, 0.00639, 0.00162, 0.000555, 0.000235, 0.000117, 6.63e-05, 4.17e-05}},
    {25, {0.0392, 0.00591, 0.00145, 0.000478, 0.000196, 9.44e-05, 5.18e-05, 3.16e-05}},
    {26, {0.0377, 0.00548, 0.00129, 0.000413, 0.000164, 7.66e-05, 4.08e-05, 2.42e-05}},
    {27, {0.0364, 0.0051, 0.00116, 0.000359, 0.000138, 6.26e-05, 3.24e-05, 1.87e-05}},
    {28, {0.0351, 0.00475, 0.00105, 0.000314, 0.000117, 5.15e-05, 2.59e-05, 1.46e-05}},
    {29, {0.0339, 0.00444, 0.000949, 0.000276, 9.96e-05, 4.26e-05, 2.09e-05, 1.14e-05}},
    {30, {0.0328, 0.00416, 0.000862, 0.000243, 8.53e-05, 3.55e-05, 1.69e-05, 9.01e-06}},
    {31, {0.0317, 0.0039, 0.000785, 0.000215, 7.33e-05, 2.97e-05, 1.38e-05, 7.16e-06}},
    {32, {0.0308, 0.00367, 0.000717, 0.000191, 6.33e-05, 2.5e-05, 1.13e-05, 5.73e-06}},
};

static petal_bloom *
new_filter(uint64_t bits, unsigned probes)
{
    const petal_bloom_options options = {
        .kind = PETAL_BLOOM_KIND_STANDARD, .bits = bits, .probes = probes, .salt = 17};
    petal_bloom *bloom;

    assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
    return bloom;
}

static void
theory_has_the_rates_of_the_table(void **state)
{
    unsigned compared = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cao / sizeof *cao; i++)
        for (unsigned probes = 1; probes <= 8 && cao[i].rates[probes - 1] > 0; probes++) {
            petal_bloom *bloom = new_filter((uint64_t)KEYS * cao[i].bits_per_key, probes);
            double rate = cao[i].rates[probes - 1];

            /* The table has three digits. */
            assert_true(fabs(petal_bloom_expected_rate(bloom, KEYS) - rate) < 0.005 * rate);
            petal_bloom_free(bloom);
            compared++;
        }
    test_counted("%u rates of the table", compared);
}

static uint64_t
count_passing(const petal_bloom *bloom, uint64_t asked, struct test_random *random)
{
    uint64_t hashes[1000], passed = 0;
    bool answers[1000];

    for (uint64_t i = 0; i < asked; i += 1000) {
        for (unsigned j = 0; j < 1000; j++)
            hashes[j] = test_random_next(random);
        passed += petal_bloom_may_contain_hashes(bloom, hashes, 1000, answers);
    }
    return passed;
}

/* Enough questions for 3,000 that pass: a deviation of 2 %. */
static void
measured_rates_are_those_of_the_table(void **state)
{
    static const struct {
        unsigned bits_per_key, probes;
        double rate;
    } entries[] = {
        {2, 1, 0.393},      {3, 2, 0.237},    {4, 3, 0.147},    {6, 4, 0.0561},   {8, 6, 0.0216},
        {10, 7, 0.00819},   {12, 8, 0.00314}, {13, 9, 0.00194}, {14, 4, 0.00381}, {15, 3, 0.00596},
        {16, 11, 0.000458}, {20, 5, 0.00053}, {24, 2, 0.00639}, {32, 1, 0.0308},
    };
    struct test_random random;

    (void)state;
    test_random_init(&random, 4);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        petal_bloom *bloom =
            new_filter((uint64_t)KEYS * entries[i].bits_per_key, entries[i].probes);
        uint64_t hashes[1000], asked = (uint64_t)(3000 / entries[i].rate / 1000 + 1) * 1000;
        double measured;

        for (unsigned key = 0; key < KEYS; key += 1000) {
            for (unsigned j = 0; j < 1000; j++)
                hashes[j] = test_random_next(&random);
            assert_int_equal(petal_bloom_add_hashes(bloom, hashes, 1000, NULL, NULL), PETAL_OK);
        }
        measured = (double)count_passing(bloom, asked, &random) / (double)asked;
        if (fabs(measured - entries[i].rate) > 0.05 * entries[i].rate)
            fail_msg("%u bits a key, %u probes: %g, measured %g", entries[i].bits_per_key,
                     entries[i].probes, entries[i].rate, measured);
        petal_bloom_free(bloom);
    }
}

/* Of Guava: m = -n ln p / (ln 2)^2, k = m / n ln 2, rounded. A whole number of probes wants a few
 * more bits than m; Guava's filters have a rate that is higher by so much. */
static void
shapes_are_near_those_of_guava(void **state)
{
    static const struct {
        uint64_t keys;
        double rate;
        uint64_t bits;
        unsigned probes;
    } guava[] = {
        {500, 0.01, 4792, 7},
        {1000, 0.03, 7298, 5},
        {1000000, 0.03, 7298440, 5},
        {1000000, 0.01, 9585058, 7},
        {1000000, 0.001, 14377587, 10},
        {1000000, 0.0001, 19170116, 13},
        {1000000, 1e-06, 28755175, 20},
        {1000000000, 0.01, 9585058377, 7},
        {2147483647, 0.03, 15673282347, 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof guava / sizeof *guava; i++) {
        petal_bloom_options options = {
            .kind = PETAL_BLOOM_KIND_STANDARD, .keys = guava[i].keys, .rate = guava[i].rate};
        double ln2 = log(2), keys = (double)guava[i].keys;
        double bits = -keys * log(guava[i].rate) / (ln2 * ln2);
        petal_bloom_plan plan = {.size = sizeof plan};

        assert_int_equal((uint64_t)bits, guava[i].bits);
        assert_int_equal(lround(bits / keys * ln2), guava[i].probes);
        assert_int_equal(petal_bloom_plan_for(&options, &plan, NULL), PETAL_OK);
        assert_int_equal(plan.probes, guava[i].probes);
        assert_true((double)plan.bits > bits && (double)plan.bits < bits * 1.01 + 16);
        assert_true(plan.rate <= guava[i].rate * 1.000001);
        options.bits = guava[i].bits;
        options.probes = guava[i].probes;
        assert_int_equal(petal_bloom_plan_for(&options, &plan, NULL), PETAL_OK);
        assert_int_equal(plan.bits, guava[i].bits);
        assert_true(plan.rate > guava[i].rate && plan.rate < guava[i].rate * 1.05);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theory_has_the_rates_of_the_table),
        cmocka_unit_test(measured_rates_are_those_of_the_table),
        cmocka_unit_test(shapes_are_near_those_of_guava),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
