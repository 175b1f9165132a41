/* pairs_test.c -- keys and values of kv-bench's workloads. */
#include "tools/bench/keys/pairs.h"

#include "tests/support/test_support.h"

#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- pairs ---- */

static void
test_keys(void **state)
{
    const struct bench_pairs pairs = {.key_bytes = 5, .value_bytes = 10};
    char key[24], before[24], absent[24];

    (void)state;
    for (uint64_t n = 1; n < 49999; n++) {
        bench_pairs_key(&pairs, n - 1, false, before);
        bench_pairs_key(&pairs, n - 1, true, absent);
        assert_int_equal(bench_pairs_key(&pairs, n, false, key).size, 5);
        assert_true(memcmp(before, absent, 5) < 0 && memcmp(absent, key, 5) < 0);
    }
    assert_true(bench_pairs_fit(5, 50000));
    assert_false(bench_pairs_fit(5, 50001));
    assert_false(bench_pairs_fit(16, 0));
    assert_true(bench_pairs_fit(20, UINT64_MAX / 2));
    assert_false(bench_pairs_fit(20, UINT64_MAX));
    assert_false(bench_pairs_fit(BENCH_MOST_KEY_BYTES + 1, 5));
}

/* Blocks of values compress to half, and a little more for what says so. */
static void
test_values(void **state)
{
    enum { BLOCK = 16384 };
    static const size_t sizes[] = {100, 1000, 4096};
    char *block = test_allocate(BLOCK), *compressed = test_allocate(LZ4_COMPRESSBOUND(BLOCK));

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct bench_pairs pairs = {.key_bytes = 16, .value_bytes = sizes[i]};
        size_t used = 0;
        double share;

        for (uint64_t n = 0; used + sizes[i] <= BLOCK; n++, used += sizes[i]) {
            petal_slice value = bench_pairs_value(&pairs, n, (uint8_t *)block + used);

            assert_int_equal(value.size, sizes[i]);
            assert_true(bench_pairs_is_right(&pairs, n, value));
        }
        share =
            (double)LZ4_compress_default(block, compressed, (int)used, LZ4_COMPRESSBOUND(BLOCK)) /
            (double)used;
        assert_true(share > 0.44 && share < 0.58);
    }
    free(block);
    free(compressed);
}

static void
test_other_values_are_wrong(void **state)
{
    static const size_t sizes[] = {2, 7, 15, 16, 100};
    uint8_t value[100], other[100];

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct bench_pairs pairs = {.key_bytes = 16, .value_bytes = sizes[i]};

        bench_pairs_value(&pairs, 7, value);
        assert_true(bench_pairs_is_right(&pairs, 7, (petal_slice){value, sizes[i]}));
        assert_false(bench_pairs_is_right(&pairs, 7, (petal_slice){value, sizes[i] - 1}));
        assert_false(bench_pairs_is_right(&pairs, 7, bench_pairs_value(&pairs, 8, other)));
        value[0] ^= 1;
        assert_false(bench_pairs_is_right(&pairs, 7, (petal_slice){value, sizes[i]}));
    }
    assert_true(bench_pairs_is_right(&(struct bench_pairs){0}, 7, (petal_slice){value, 0}));
}

/* Spread: keys far apart, in no order; values told apart by their beginnings. */
static void
test_spread_pairs(void **state)
{
    const struct bench_pairs pairs = {
        .key_bytes = BENCH_KEY_BYTES, .value_bytes = 100, .spread = true};
    char key[BENCH_KEY_BYTES + 1], before[BENCH_KEY_BYTES + 1], absent[BENCH_KEY_BYTES + 1];
    uint8_t room[100];
    unsigned rising = 0;

    (void)state;
    for (uint64_t n = 1; n < 1000; n++) {
        petal_slice value = bench_pairs_value(&pairs, n, room);

        assert_int_equal(bench_pairs_key(&pairs, n, false, key).size, BENCH_KEY_BYTES);
        bench_pairs_key(&pairs, n - 1, false, before);
        bench_pairs_key(&pairs, n, true, absent);
        assert_memory_not_equal(key, absent, BENCH_KEY_BYTES);
        rising += memcmp(before, key, BENCH_KEY_BYTES) < 0;
        assert_true(bench_pairs_is_right(&pairs, n, value));
        assert_false(bench_pairs_is_right(&pairs, n - 1, value));
        assert_false(bench_pairs_is_right(&pairs, n, (petal_slice){room, sizeof room - 1}));
    }
    assert_true(rising > 400 && rising < 600);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_other_values_are_wrong),
        cmocka_unit_test(test_spread_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
