/*
 * markdown.h -- Petal next to its rivals as a table of Markdown, for documents to take as it is: a
 * line an operation, a column a store, and of each rival the median of the ratios with their range.
 */
#ifndef PETAL_TOOLS_BENCH_RESULTS_MARKDOWN_H
#define PETAL_TOOLS_BENCH_RESULTS_MARKDOWN_H

#include "tools/bench/results/print.h"

/*
 * Petal's own figures are medians, as bench_figure_text has them; ratios are Petal's time (or
 * count) divided by the other's, bold where Petal is after, with a ~ where neither is ahead
 * (bench_verdict_of). The last column is the share of processor time that others took. Series that
 * Petal has none to are left out. `stores` are names, in the order of the columns.
 */
void bench_markdown_print(FILE *to, const struct bench_result *result, const char *const *stores,
                          size_t store_count, const struct bench_legend *legend);

#endif
