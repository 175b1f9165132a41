/*
 * repeats.h -- what the repeats of a measurement say: medians, spreads, ratios within repeats, and
 * whether two sets of repeats differ by more than their noise.
 *
 * Threads: pure functions.
 */
#ifndef PETAL_TOOLS_BENCH_RESULTS_REPEATS_H
#define PETAL_TOOLS_BENCH_RESULTS_REPEATS_H

#include "tools/bench/harness/options.h"

/* Below this share of a median nothing counts as moved. */
#define BENCH_LEAST_CHANGE 0.03

struct bench_spread {
    double median, least, greatest;
    size_t count; /* of the values */
};

/* Of 1 to BENCH_MOST_REPEATS values; all zero of none. */
struct bench_spread bench_spread_of(const double *values, size_t count);

/* What ratios of Petal's time (or count) to another store's let one claim. */
enum bench_verdict {
    BENCH_UNDECIDED, /* their range holds 1, or they are fewer than three: nothing */
    BENCH_AHEAD,
    BENCH_BEHIND,
};

enum bench_verdict bench_verdict_of(const struct bench_spread *ratio);

#define BENCH_VERDICT_RULE "the range of the repeats holds 1, or there are fewer than three"

/* ratios[i] = over[i] / under[i] for each repeat that both have; how many, at most
 * BENCH_MOST_REPEATS. */
size_t bench_ratios(const double *over, size_t over_count, const double *under, size_t under_count,
                    double ratios[BENCH_MOST_REPEATS]);

/*
 * The two-sided p of the rank test of Mann and Whitney, from the exact distribution of its U
 * (values that are equal count half, which makes p larger): how likely values of one source are to
 * be apart as these are.
 */
double bench_rank_test(const double *a, size_t a_count, const double *b, size_t b_count);

/*
 * Do they differ by more than the noise?  Always: the medians by more than 3 %.  And
 *   - where 1 % can be reached (from 5 values on each side): the rank test's p is at most 1 %;
 *   - else, from 3 values on each side: the two ranges lie apart by more than the wider of them;
 *   - else the noise is not known: the medians differ by more than a quarter.
 */
bool bench_differ(const double *a, size_t a_count, const double *b, size_t b_count);

#define BENCH_NOISE_RULE                                                                           \
    "medians more than 3 % apart, and the rank test of Mann and Whitney has p <= 1 %;\n"           \
    "with repeats too few for that (less than 5): ranges apart by more than the wider\n"           \
    "of them; with less than 3: medians more than 25 % apart.\n"

#endif
