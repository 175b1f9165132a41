/* repeats.c -- see tools/bench/results/repeats.h. */
#include "tools/bench/results/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_CHANGE 0.25
#define GREATEST_P     0.01
#define FEWEST_REPEATS 3

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

struct bench_spread
bench_spread_of(const double *values, size_t count)
{
    double sorted[BENCH_MOST_REPEATS];

    if (count > BENCH_MOST_REPEATS)
        count = BENCH_MOST_REPEATS;
    if (count == 0)
        return (struct bench_spread){0};
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    return (struct bench_spread){.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2,
                                 .least = sorted[0],
                                 .greatest = sorted[count - 1],
                                 .count = count};
}

enum bench_verdict
bench_verdict_of(const struct bench_spread *ratio)
{
    if (ratio->count < FEWEST_REPEATS || (ratio->least <= 1 && ratio->greatest >= 1))
        return BENCH_UNDECIDED;
    return ratio->least > 1 ? BENCH_BEHIND : BENCH_AHEAD;
}

size_t
bench_ratios(const double *over, size_t over_count, const double *under, size_t under_count,
             double ratios[BENCH_MOST_REPEATS])
{
    size_t count = over_count < under_count ? over_count : under_count;

    if (count > BENCH_MOST_REPEATS)
        count = BENCH_MOST_REPEATS;
    for (size_t i = 0; i < count; i++)
        ratios[i] = over[i] / under[i];
    return count;
}

/*
 * The share of all orders of m and n values in which U, the number of pairs (a, b) with a > b, is
 * at most `limit`. Orders are counted by who is the greatest: a value of a stands above all values
 * of b, one of b adds nothing. With j values of b, ways[i * width + u] counts the orders of i
 * values of a that give u.
 */
static double
share_up_to(size_t m, size_t n, size_t limit)
{
    size_t width = m * n + 1;
    double *ways = calloc((m + 1) * width, sizeof *ways);
    double below = 0, all = 0;

    if (ways == NULL)
        return 1; /* as if nothing were known */
    for (size_t i = 0; i <= m; i++)
        ways[i * width] = 1;
    for (size_t j = 1; j <= n; j++) {
        for (size_t i = 1; i <= m; i++) {
            for (size_t u = j; u < width; u++)
                ways[i * width + u] += ways[(i - 1) * width + u - j];
        }
    }
    for (size_t u = 0; u < width; u++) {
        all += ways[m * width + u];
        if (u <= limit)
            below += ways[m * width + u];
    }
    free(ways);
    return below / all;
}

double
bench_rank_test(const double *a, size_t a_count, const double *b, size_t b_count)
{
    double above = 0, most = (double)(a_count * b_count), p;

    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = 0; j < b_count; j++)
            above += a[i] > b[j] ? 1 : a[i] < b[j] ? 0 : 0.5;
    }
    if (above > most - above)
        above = most - above;
    p = 2 * share_up_to(a_count, b_count, (size_t)ceil(above));
    return p < 1 ? p : 1;
}

/* Apart by more than the wider of both ranges. */
static bool
ranges_are_apart(const struct bench_spread *a, const struct bench_spread *b)
{
    double gap = a->least > b->greatest ? a->least - b->greatest : b->least - a->greatest;
    double wider = fmax(a->greatest - a->least, b->greatest - b->least);

    return gap > wider;
}

bool
bench_differ(const double *a, size_t a_count, const double *b, size_t b_count)
{
    struct bench_spread before = bench_spread_of(a, a_count), after = bench_spread_of(b, b_count);
    double change = fabs(after.median - before.median), size = fabs(before.median);

    if (a_count == 0 || b_count == 0 || change <= BENCH_LEAST_CHANGE * size)
        return false;
    if (a_count < FEWEST_REPEATS || b_count < FEWEST_REPEATS)
        return change > UNKNOWN_CHANGE * size;
    if (2 * share_up_to(a_count, b_count, 0) > GREATEST_P)
        return ranges_are_apart(&before, &after);
    return bench_rank_test(a, a_count, b, b_count) <= GREATEST_P;
}
