/* print.h -- results for people: a line for each outcome as it comes, and stores side by side with
 * ratios. */
#ifndef PETAL_TOOLS_BENCH_RESULTS_PRINT_H
#define PETAL_TOOLS_BENCH_RESULTS_PRINT_H

#include "tools/bench/results/result.h"

/* The heading and what it means. */
void bench_outcome_heading(void);
void bench_outcome_print(const struct bench_outcome *outcome);

/* A store's use from opening to closing. */
void bench_outcome_print_whole(const struct bench_outcome *outcome);

/* "name 4 KiB" */
void bench_print_bytes(const char *name, uint64_t bytes);

#define BENCH_FIGURE_BYTES 32

/* Three digits of a number that is not negative, and its unit. */
void bench_number_text(char text[BENCH_FIGURE_BYTES], double value, const char *unit);

/* A median: a rate, below 1000 a second the time of one, or a count. */
void bench_figure_text(char text[BENCH_FIGURE_BYTES], double value, enum bench_metric measure);

/* "4.2 %", or "?": not known. */
void bench_share_text(char text[BENCH_FIGURE_BYTES], double share);

/* What readers are to know of a store and of an operation besides. */
struct bench_legend {
    const char *(*assertions)(const void *argument, const char *store); /* "on", "off" or "?" */
    const char *(*words)(const void *argument, const char *operation);  /* what people call it */
    const char *(*title)(const void *argument, const char *store);      /* and a store */
    const void *argument;
};

/*
 * All series, by block size and operation, with the share of processor time that others took;
 * medians, and Petal's time (or count) divided by each store's, repeat by repeat: BEHIND where all
 * are above 1, ~ where that is not decided (bench_verdict_of).
 */
void bench_result_print(const struct bench_result *result, const struct bench_legend *legend);

#endif
