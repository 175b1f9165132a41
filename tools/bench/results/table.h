/*
 * table.h -- a store next to its rivals: a line an operation, a column a store, of each rival the
 * ratio. On a screen with a mark that says whether the rival carries assertions; as a table of
 * Markdown, for documents to take as it is, with the range of the ratios.
 */
#ifndef PETAL_TOOLS_BENCH_RESULTS_TABLE_H
#define PETAL_TOOLS_BENCH_RESULTS_TABLE_H

#include "tools/bench/results/print.h"

#include <stdio.h>

struct bench_column {
    const char *store, *title; /* as results have it; for people */
    const char *assertions;    /* "on", "off" or "?" */
};

struct bench_table {
    const struct bench_result *result;
    const struct bench_column *columns; /* which are shown after the subject's */
    size_t column_count;
    /* Sets the row of an operation and what people call it; NULL: it is called by its name. */
    void (*name_row)(const char *operation, const char **row, const char **words);
    bool markdown; /* or on a screen */
};

/*
 * The subject is Petal or, where it is not among the stores, the first. Its own figures are medians,
 * as bench_figure_text has them; ratios are its time (or count) divided by the other's, marked
 * where it is behind and where neither is ahead (bench_verdict_of). Series that the subject has
 * none to are left out. Each number of threads is a table of its own. The last column of Markdown is
 * the share of processor time that others took.
 */
void bench_table_print(FILE *to, const struct bench_table *table);

#endif
