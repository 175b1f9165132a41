/*
 * growing_test.c -- a filter that grows holds its rate through all segments that it gets, tells
 * exactly what is new, and goes on in a file where it was.
 */

#include "bloom/petal_bloom.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096

static uint64_t
key(uint64_t number)
{
    uint64_t x = number * 0x9E3779B97F4A7C15u;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static petal_bloom *
new_filter(double rate, uint64_t keys, const petal_env *env)
{
    const petal_bloom_options options = {
        .kind = PETAL_BLOOM_KIND_GROWING, .rate = rate, .keys = keys, .env = env};
    petal_bloom *bloom;

    assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
    return bloom;
}

/* Enter the numbers from..to-1; returns how many were new. */
static uint64_t
add_range(petal_bloom *bloom, uint64_t from, uint64_t to)
{
    uint64_t hashes[1000], added = 0;
    bool were_new[1000];

    while (from < to) {
        size_t count = 0;

        for (; count < 1000 && from < to; from++)
            hashes[count++] = key(from);
        assert_int_equal(petal_bloom_add_hashes(bloom, hashes, count, were_new, NULL), PETAL_OK);
        for (size_t i = 0; i < count; i++)
            added += were_new[i];
    }
    return added;
}

static unsigned
segments_of(const petal_bloom *bloom)
{
    petal_bloom_info info = {.size = sizeof info};

    petal_bloom_get_info(bloom, &info);
    return info.segments;
}

/* The part of absent keys that pass. */
static double
measure(const petal_bloom *bloom, unsigned asked)
{
    uint64_t hashes[1000], passed = 0;
    bool answers[1000];

    for (unsigned i = 0; i < asked; i += 1000) {
        for (unsigned j = 0; j < 1000; j++)
            hashes[j] = key((UINT64_C(1) << 40) + i + j);
        passed += petal_bloom_may_contain_hashes(bloom, hashes, 1000, answers);
    }
    return (double)passed / asked;
}

/* At the moment when all segments are full, which is the worst: of 1, 2, ... 10 of them. */
TEST(rates_of_the_chain_sum_to_less)
{
    static const double rates[] = {0.1, 0.01, 0.001};
    unsigned most = test_short() ? 5 : 10;

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        petal_bloom *bloom = new_filter(rates[i], 0, NULL);
        uint64_t keys = 0, added = 0;

        for (unsigned segments = 1; segments <= most; segments++) {
            uint64_t full = (UINT64_C(1) << segments) - 1;
            unsigned asked = 400000;
            double expected, measured, present, slack;

            /* What passes by chance is not entered and takes no room. */
            added += add_range(bloom, keys, full * FIRST_CAPACITY);
            keys = full * FIRST_CAPACITY;
            assert_int_equal(segments_of(bloom), segments);
            expected = petal_bloom_expected_rate(bloom, keys);
            present = petal_bloom_present_rate(bloom);
            measured = measure(bloom, asked);
            slack = 4 * sqrt(expected / asked);
            assert_true(expected < rates[i] && expected > rates[i] / 2);
            assert_true(measured < rates[i]);
            /* The first segment has few lines: some are fuller than others. */
            assert_true(fabs(present - expected) < (0.05 + 0.1 / segments) * expected);
            assert_true(fabs(measured - present) < 0.03 * expected + slack);
            assert_true((double)(keys - added) < rates[i] * (double)keys);
            assert_true(fabs((double)petal_bloom_count(bloom) - (double)keys) <
                        0.02 * (double)keys);
        }
        petal_bloom_free(bloom);
    }
}

/* It is full when a few more keys have come than it takes; the second one then adds nothing yet. */
TEST(the_first_segment_has_its_part_of_the_rate)
{
    static const double rates[] = {0.3, 0.1, 0.03};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        petal_bloom *bloom = new_filter(rates[i], 1000000, NULL);

        assert_true(petal_bloom_expected_rate(bloom, 1080000) <= rates[i] * 6 / (M_PI * M_PI));
        petal_bloom_free(bloom);
    }
}

TEST(what_is_in_is_never_new)
{
    petal_bloom *bloom = new_filter(0.01, 0, NULL);
    petal_bloom_info before = {.size = sizeof before}, after = before;
    uint64_t twice[128];
    bool were_new[128];

    /* Doubles in one call, across the border of each segment. */
    for (uint64_t i = 0; i < 300000; i += 64) {
        for (uint64_t j = 0; j < 64; j++)
            twice[j] = twice[127 - j] = key(i + j);
        assert_int_equal(petal_bloom_add_hashes(bloom, twice, 128, were_new, NULL), PETAL_OK);
        for (unsigned j = 64; j < 128; j++)
            assert_false(were_new[j]);
    }
    assert_int_equal(segments_of(bloom), 7); /* doubles take no room */
    petal_bloom_get_info(bloom, &before);
    assert_int_equal(add_range(bloom, 0, 300000), 0);
    petal_bloom_get_info(bloom, &after);
    assert_memory_equal(&before, &after, sizeof before);
    petal_bloom_free(bloom);
}

/* 4,096 keys of the first segment wait for no further memory; the next one does. */
TEST(a_key_without_memory_is_not_entered)
{
    struct test_allocator allocator;
    petal_env env = {.size = sizeof env};
    petal_error error;
    petal_bloom *bloom;
    uint64_t hash, full = 0;

    test_allocator_init(&allocator);
    env.allocator = &allocator.table;
    bloom = new_filter(0.01, 0, &env);
    for (uint64_t n = 1; n <= 2; n++) {
        hash = key(n);
        test_allocator_fail_at(&allocator, n, true);
        assert_int_equal(petal_bloom_add_hashes(bloom, &hash, 1, NULL, &error), PETAL_NO_MEMORY);
        assert_non_null(strstr(error.text, "out of memory"));
        assert_false(petal_bloom_may_contain_hash(bloom, hash));
        test_allocator_fail_at(&allocator, 0, false);
    }
    while (segments_of(bloom) <= 1) {
        hash = key(full++);
        if (full > FIRST_CAPACITY)
            test_allocator_fail_at(&allocator, 1, true);
        if (petal_bloom_add_hashes(bloom, &hash, 1, NULL, NULL) == PETAL_OK)
            continue;
        assert_false(petal_bloom_may_contain_hash(bloom, hash));
        test_allocator_fail_at(&allocator, 0, false);
        assert_int_equal(petal_bloom_add_hashes(bloom, &hash, 1, NULL, NULL), PETAL_OK);
    }
    assert_true(full > FIRST_CAPACITY && full < FIRST_CAPACITY * 102 / 100);
    assert_int_equal(add_range(bloom, 0, full), 0);
    petal_bloom_free(bloom);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

TEST(it_goes_on_from_a_file)
{
    const petal_bloom_load_options map = {.map = true};
    char *directory = test_directory_new(), *path = test_path(directory, "set");
    petal_bloom *bloom = new_filter(0.01, 1000, NULL), *mapped;

    for (uint64_t keys = 0; keys < 60000;) {
        petal_bloom_info before = {.size = sizeof before}, after = before;

        petal_bloom_get_info(bloom, &before);
        assert_int_equal(petal_bloom_save(bloom, path, NULL), PETAL_OK);
        petal_bloom_free(bloom);
        assert_int_equal(petal_bloom_load(path, &map, &mapped, NULL), PETAL_OK);
        assert_int_equal(petal_bloom_load(path, NULL, &bloom, NULL), PETAL_OK);
        petal_bloom_get_info(bloom, &after);
        assert_memory_equal(&before, &after, sizeof before);
        assert_true(petal_bloom_present_rate(bloom) == petal_bloom_present_rate(mapped));
        assert_int_equal(petal_bloom_add_hashes(mapped, &keys, 1, NULL, NULL), PETAL_READ_ONLY);
        for (uint64_t i = 0; i < keys; i++)
            assert_true(petal_bloom_may_contain_hash(bloom, key(i)) &&
                        petal_bloom_may_contain_hash(mapped, key(i)));
        petal_bloom_free(mapped);
        add_range(bloom, keys, keys + 7000);
        keys += 7000;
    }
    assert_int_equal(segments_of(bloom), 5);
    petal_bloom_free(bloom);
    free(path);
    test_directory_free(directory);
}

TEST(chains_are_not_combined)
{
    petal_bloom *a = new_filter(0.01, 0, NULL), *b = new_filter(0.01, 0, NULL);

    assert_int_equal(petal_bloom_unite(a, b, NULL), PETAL_INVALID);
    petal_bloom_free(a);
    petal_bloom_free(b);
}
