/* distribution_test.c -- the distributions of kv-bench against theory and against YCSB's published
 * constants. */
#include "tools/bench/keys/distribution.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 400000
#define GROWS 4000 /* of a growing number of items */

/* Within five standard errors of what DRAWS draws of that share give. */
static void
check_share(uint64_t count, double share)
{
    double wanted = share * DRAWS, error = sqrt(wanted * (1 - share));

    if (fabs((double)count - wanted) > 5 * error + 1)
        fail_msg("%llu draws, wanted %.0f", (unsigned long long)count, wanted);
}

static uint64_t *
draw(enum bench_distribution_kind kind, uint64_t items)
{
    uint64_t *counts = test_allocate(items * sizeof *counts);
    struct bench_distribution distribution;
    struct bench_random random = {bench_scramble(4711)};

    memset(counts, 0, items * sizeof *counts);
    bench_distribution_init(&distribution, kind);
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t item = bench_distribution_next(&distribution, &random, items);

        assert_true(item < items);
        counts[item]++;
    }
    return counts;
}

static double
zeta_by_adding(uint64_t items)
{
    double sum = 0;

    for (uint64_t i = items; i > 0; i--)
        sum += pow((double)i, -BENCH_ZIPF_THETA);
    return sum;
}

TEST(test_zeta)
{
    static const uint64_t items[] = {1, 2, 10, 999, 1000, 1001, 1002, 5000, 1000000};

    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        assert_true(fabs(bench_zeta(items[i]) - zeta_by_adding(items[i])) < 1e-10);
    /* ZETAN in YCSB's ScrambledZipfianGenerator. */
    assert_true(fabs(bench_zeta(BENCH_SCRAMBLED_RANKS) - 26.46902820178302) < 1e-8);
}

/* How many of all Gray's method puts below `rank`, 2 or more. */
static double
gray_below(uint64_t rank, uint64_t items, double zeta)
{
    double power = 1 - BENCH_ZIPF_THETA, n = (double)items;
    double eta = (1 - pow(2 / n, power)) / (1 - zeta_by_adding(2) / zeta);

    return 1 - (1 - pow((double)rank / n, power)) / eta;
}

/* The first two ranks, the latest items, are exact, the others near. */
TEST(test_zipf)
{
    static const uint64_t items[] = {1000, 100000};

    for (size_t i = 0; i < 2; i++) {
        uint64_t *counts = draw(BENCH_LATEST, items[i]), sum = 0;
        double zeta = zeta_by_adding(items[i]);

        check_share(counts[items[i] - 1], 1 / zeta);
        check_share(counts[items[i] - 2], pow(2, -BENCH_ZIPF_THETA) / zeta);
        for (uint64_t rank = 0; rank < items[i]; rank++) {
            if (rank == 10 || rank == 100 || rank == 500) {
                check_share(sum, gray_below(rank, items[i], zeta));
                assert_true(fabs((double)sum / DRAWS - zeta_by_adding(rank) / zeta) < 0.02);
            }
            sum += counts[items[i] - 1 - rank];
        }
        assert_true(sum == DRAWS);
        free(counts);
    }
}

TEST(test_few_items)
{
    for (int kind = BENCH_SCRAMBLED; kind <= BENCH_LATEST; kind++) {
        for (uint64_t items = 1; items <= 3; items++)
            free(draw((enum bench_distribution_kind)kind, items));
    }
}

static int
compare_down(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x > y ? -1 : x < y;
}

/* The hottest items have the shares of the first ranks, wherever they lie; both halves of the range
 * have their part. */
TEST(test_scrambled)
{
    const uint64_t items = 100000;
    uint64_t *counts = draw(BENCH_SCRAMBLED, items);
    double zeta = bench_zeta(BENCH_SCRAMBLED_RANKS);
    uint64_t first_half = 0;

    check_share(counts[bench_fnv(0) % items], 1 / zeta);
    for (uint64_t i = 0; i < items / 2; i++)
        first_half += counts[i];
    assert_true(first_half > DRAWS / 4 && first_half < DRAWS / 4 * 3);
    qsort(counts, items, sizeof *counts, compare_down);
    check_share(counts[0], 1 / zeta);
    check_share(counts[1], pow(2, -BENCH_ZIPF_THETA) / zeta);
    free(counts);
}

/* What YCSB's Utils.fnvhash64 gives. */
TEST(test_hash)
{
    assert_true(bench_fnv(0) == UINT64_C(6284781860667377211));
    assert_true(bench_fnv(1) == UINT64_C(8517097267634966620));
}

/* The newest are hot, also when there are more of them each time. */
TEST(test_latest)
{
    uint64_t *counts = draw(BENCH_LATEST, 1000), newest = 0;
    struct bench_distribution distribution;
    struct bench_random random = {bench_scramble(1)};
    double share = 0;

    check_share(counts[999], 1 / zeta_by_adding(1000));
    check_share(counts[998], pow(2, -BENCH_ZIPF_THETA) / zeta_by_adding(1000));
    free(counts);
    bench_distribution_init(&distribution, BENCH_LATEST);
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t items = i / (DRAWS / GROWS) + 1;

        newest += bench_distribution_next(&distribution, &random, items) == items - 1;
        if (i % (DRAWS / GROWS) == 0)
            share += 1 / bench_zeta(items) / GROWS;
    }
    check_share(newest, share);
}
