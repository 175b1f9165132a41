/* print.h -- results for people: a line for each outcome as it comes, and figures as texts. */
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

#endif
