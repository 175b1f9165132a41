/* histogram_test.c -- the histogram of kv-bench against sorted arrays. */
#include "tools/bench/harness/histogram.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

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

int
main(void)
{
    test_random_init(&source, test_seed());
    return test_run();
}
