/* histogram_test.c -- the histogram of kv-bench against sorted arrays; its permutations against
 * counting. */
#include "tools/bench/harness/histogram.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/bench/harness/permutation.h"

#include <stdlib.h>
#include <string.h>

#define VALUES 20000

static struct test_random source;

static struct bench_histogram *
histogram_new(void)
{
    struct bench_histogram *histogram = test_allocate(sizeof *histogram);

    memset(histogram, 0, sizeof *histogram);
    return histogram;
}

/* Of any size: as likely to have 3 bits as 63. */
static uint64_t
random_value(void)
{
    return test_random_next(&source) >> test_random_below(&source, 64);
}

static int
compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* A share is what a sorted array says, or up to one part in 64 more. */
static void
check_share(const struct bench_histogram *histogram, const uint64_t *sorted, double share)
{
    size_t wanted = (size_t)(share * VALUES);
    uint64_t exact = sorted[wanted == 0 ? 0 : wanted - 1];
    uint64_t found = bench_histogram_share(histogram, (double)wanted / VALUES);

    assert_true(found >= exact);
    assert_true(found - exact <= exact / 64);
}

TEST(test_shares)
{
    struct bench_histogram *histogram = histogram_new();
    uint64_t *values = test_allocate(VALUES * sizeof *values);
    static const double shares[] = {0, 0.1, 0.5, 0.9, 0.99, 0.999, 1};

    assert_int_equal(bench_histogram_share(histogram, 0.5), 0);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = random_value();
        bench_histogram_add(histogram, values[i]);
    }
    qsort(values, VALUES, sizeof *values, compare);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        check_share(histogram, values, shares[i]);
    assert_true(histogram->total == VALUES);
    assert_true(histogram->greatest == values[VALUES - 1]);
    assert_true(bench_histogram_share(histogram, 1) == values[VALUES - 1]);
    free(values);
    free(histogram);
}

TEST(test_ends_of_the_range)
{
    struct bench_histogram *histogram = histogram_new();

    bench_histogram_add(histogram, UINT64_MAX);
    assert_true(bench_histogram_share(histogram, 0.5) == UINT64_MAX);
    for (uint64_t i = 0; i < BENCH_HISTOGRAM_STEPS; i++)
        bench_histogram_add(histogram, i);
    /* Small values are exact. */
    for (uint64_t i = 0; i < BENCH_HISTOGRAM_STEPS; i++) {
        double share = (double)(i + 1) / (BENCH_HISTOGRAM_STEPS + 1);

        assert_true(bench_histogram_share(histogram, share - 1e-9) == i);
    }
    free(histogram);
}

TEST(test_merging)
{
    struct bench_histogram *all = histogram_new(), *parts[2] = {histogram_new(), histogram_new()};
    struct bench_histogram *sum = histogram_new();

    for (size_t i = 0; i < VALUES; i++) {
        uint64_t value = random_value();

        bench_histogram_add(all, value);
        bench_histogram_add(parts[i % 2], value);
    }
    bench_histogram_merge(sum, parts[0]);
    bench_histogram_merge(sum, parts[1]);
    assert_memory_equal(sum, all, sizeof *all);
    free(all);
    free(sum);
    free(parts[0]);
    free(parts[1]);
}

/* Each number once. */
static void
check_permutation(uint64_t range, uint64_t seed)
{
    struct bench_permutation permutation;
    uint8_t *seen = test_allocate(range);
    uint64_t in_place = 0;

    memset(seen, 0, range);
    bench_permutation_init(&permutation, range, seed);
    for (uint64_t i = 0; i < range; i++) {
        uint64_t number = bench_permutation_at(&permutation, i);

        assert_true(number < range);
        assert_int_equal(seen[number], 0);
        seen[number] = 1;
        in_place += number == i;
    }
    if (range >= 1000)
        assert_true(in_place < range / 50);
    free(seen);
}

TEST(test_permutations)
{
    static const uint64_t ranges[] = {63, 64, 65, 1000, 4096, 5000, 65537, 100000};

    for (uint64_t range = 1; range <= 40; range++)
        check_permutation(range, test_random_next(&source));
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        check_permutation(ranges[i], test_random_next(&source));
}

int
main(void)
{
    test_random_init(&source, test_seed());
    return test_run();
}
