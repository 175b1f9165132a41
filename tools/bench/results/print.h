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

/* What readers are to know of a store and of an operation besides. */
struct bench_legend {
    const char *(*assertions)(const void *argument, const char *store); /* "on", "off" or "?" */
    const char *(*words)(const void *argument, const char *operation);  /* what people call it */
    const void *argument;
};

/*
 * All series, by block size and operation; medians, and Petal's time through each store's, or its
 * count, repeat by repeat: below 1 Petal is ahead, BEHIND where it is not in any repeat.
 */
void bench_result_print(const struct bench_result *result, const struct bench_legend *legend);

#endif
