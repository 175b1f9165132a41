/*
 * rates_test.c -- of absent keys so many pass as theory says, in all kinds and at all rates: with
 * the keys a filter was made for, with half of them and with twice as many. And what the filter
 * says of itself, from the bits that are set, is so.
 */

#include "base/coding.h"
#include "bloom/petal_bloom.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <math.h>

#define KEYS UINT64_C(200000)

/* So many absent keys pass in a measurement: a deviation of 2 %, where 5 are allowed. */
#define PASSING 3000

static void
make_hashes(uint64_t salt, uint64_t first, uint64_t *hashes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t key[8];

        put_le64(key, first + i);
        hashes[i] = petal_bloom_hash((petal_slice){key, sizeof key}, salt);
    }
}

static void
add_range(petal_bloom *bloom, uint64_t salt, uint64_t from, uint64_t to)
{
    uint64_t hashes[1000];

    for (; from < to; from += 1000) {
        make_hashes(salt, from, hashes, 1000);
        assert_int_equal(petal_bloom_add_hashes(bloom, hashes, 1000, NULL, NULL), PETAL_OK);
    }
}

static double
measure(const petal_bloom *bloom, uint64_t salt, uint64_t asked)
{
    uint64_t hashes[1000], passed = 0;
    bool answers[1000];

    for (uint64_t i = 0; i < asked; i += 1000) {
        make_hashes(salt, (UINT64_C(1) << 32) + i, hashes, 1000);
        passed += petal_bloom_may_contain_hashes(bloom, hashes, 1000, answers);
    }
    return (double)passed / (double)asked;
}

static void
check(const petal_bloom *bloom, uint64_t salt, uint64_t keys)
{
    double expected = petal_bloom_expected_rate(bloom, keys);
    double present = petal_bloom_present_rate(bloom);
    uint64_t asked = (uint64_t)(PASSING / expected / 1000 + 1) * 1000;
    double measured = measure(bloom, salt, asked), slack = 0.05;
    petal_bloom_info info = {.size = sizeof info};

    petal_bloom_get_info(bloom, &info);
    if (fabs(measured - expected) > slack * expected || fabs(present - expected) > 0.05 * expected)
        fail_msg("kind %d, %" PRIu64 " keys at %g: expected %g, present %g, measured %g",
                 (int)info.kind, keys, info.rate, expected, present, measured);
    if (fabs((double)petal_bloom_count(bloom) - (double)keys) > 0.02 * (double)keys)
        fail_msg("kind %d counts %" PRIu64 " of %" PRIu64 " keys", (int)info.kind,
                 petal_bloom_count(bloom), keys);
}

TEST(rates_are_those_of_theory)
{
    static const double rates[] = {0.1, 0.01, 0.001, 0.0001};
    uint64_t measured = 0;

    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_GROWING; kind++)
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            petal_bloom_options options = {.kind = (enum petal_bloom_kind)kind,
                                           .keys = KEYS,
                                           .rate = rates[i],
                                           .salt = 1000 + i};
            petal_bloom *bloom;

            assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
            assert_int_equal(petal_bloom_count(bloom), 0);
            assert_true(petal_bloom_present_rate(bloom) == 0);
            if (test_long() || rates[i] >= 0.01) {
                add_range(bloom, options.salt, 0, KEYS / 2);
                check(bloom, options.salt, KEYS / 2);
            }
            add_range(bloom, options.salt, 0, KEYS);
            check(bloom, options.salt, KEYS);
            assert_true(petal_bloom_expected_rate(bloom, KEYS) <= rates[i] * 1.0001);
            add_range(bloom, options.salt, KEYS, 2 * KEYS);
            check(bloom, options.salt, 2 * KEYS);
            measured += 2;
            petal_bloom_free(bloom);
        }
    test_counted("%" PRIu64 " rates measured", measured);
}

#define SMALL_FILTERS 300

/* Of filters that are filled anew again and again: what passes of absent keys; and what the
 * filters say of themselves, on average. */
static double
measure_small(const petal_bloom_options *options, double *present)
{
    uint64_t passed = 0, asked = 0, filters = 0, keys = options->keys;
    struct test_random random;
    petal_bloom *bloom;

    test_random_init(&random, keys);
    *present = 0;
    for (; passed < PASSING || filters < SMALL_FILTERS; filters++) {
        assert_int_equal(petal_bloom_create(options, &bloom, NULL), PETAL_OK);
        for (uint64_t i = 0; i < keys; i++) {
            uint64_t hash = test_random_next(&random);

            assert_int_equal(petal_bloom_add_hashes(bloom, &hash, 1, NULL, NULL), PETAL_OK);
        }
        if (filters < SMALL_FILTERS)
            *present += petal_bloom_present_rate(bloom) / SMALL_FILTERS;
        for (uint64_t i = 0; i < 50 + 20 * keys; i++, asked++)
            passed += petal_bloom_may_contain_hash(bloom, test_random_next(&random));
        petal_bloom_free(bloom);
    }
    return (double)passed / (double)asked;
}

static void
check_small(enum petal_bloom_kind kind, uint64_t keys, double rate)
{
    petal_bloom_options options = {.kind = kind, .keys = keys, .rate = rate};
    double expected, present, measured;
    petal_bloom *bloom;

    assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
    expected = petal_bloom_expected_rate(bloom, keys);
    /* What no test has time for: far less than was asked. */
    if (expected > rate / 10) {
        measured = measure_small(&options, &present);
        if (expected > rate * 1.0002 || fabs(measured - expected) > 0.06 * expected)
            fail_msg("kind %d, %" PRIu64 " keys at %g: expected %g, present %g, measured %g",
                     (int)kind, keys, rate, expected, present, measured);
    }
    petal_bloom_free(bloom);
}

/* Of few keys each has a good part of the bits. */
TEST(few_keys_hold_the_rate)
{
    static const uint64_t keys[] = {1, 2, 3, 10, 30, 100, 300};
    size_t count = test_long() ? 7 : 5;

    for (size_t i = 0; i < count; i++) {
        check_small(PETAL_BLOOM_KIND_BLOCKED, keys[i], 0.001);
        check_small(PETAL_BLOOM_KIND_COUNTING, keys[i], 0.001);
    }
}

/* What no key can be told from any more neither divides by 0 nor takes for ever. */
TEST(full_filters_let_all_pass)
{
    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_COUNTING; kind++) {
        petal_bloom_options options = {
            .kind = (enum petal_bloom_kind)kind, .keys = 1, .rate = 0.5, .salt = 5};
        petal_bloom *bloom;

        assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
        add_range(bloom, 5, 0, 10000);
        assert_true(petal_bloom_present_rate(bloom) == 1);
        assert_true(petal_bloom_expected_rate(bloom, 10000) > 0.9999);
        assert_true(petal_bloom_count(bloom) >= 1 && petal_bloom_count(bloom) < 10000);
        assert_true(measure(bloom, 5, 1000) == 1);
        petal_bloom_free(bloom);
    }
}
