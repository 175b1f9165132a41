/*
 * screen.h -- Petal next to its rivals on one screen: a line an operation, a column a store, of
 * each rival the ratio alone, with a mark that says whether it carries assertions.
 */
#ifndef PETAL_TOOLS_BENCH_RESULTS_SCREEN_H
#define PETAL_TOOLS_BENCH_RESULTS_SCREEN_H

#include "tools/bench/results/print.h"

/*
 * A table for each block size and number of threads, and what its marks mean. Petal's own figures
 * are medians, rates or where they are below 1000 a second the time of one; ratios are Petal's
 * time, or count, divided by the other's. Series that Petal has none to are left out. `stores` are
 * names, in the order of the columns.
 */
void bench_screen_print(const struct bench_result *result, const char *const *stores,
                        size_t store_count, const struct bench_legend *legend);

#endif
