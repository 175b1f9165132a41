/*
 * report.h -- what `kv-bench readamp` prints: one screen or a table for people, CSV for programs;
 * and the results for a file (tools/bench/results/file.h), whose "per_unit" is data blocks wanted.
 * In CSV what is not known, or makes no sense for a line, is empty.
 */
#ifndef PETAL_TOOLS_BENCH_READAMP_REPORT_H
#define PETAL_TOOLS_BENCH_READAMP_REPORT_H

#include "tools/bench/readamp/glance.h"
#include "tools/bench/readamp/line.h"
#include "tools/bench/results/result.h"

enum readamp_format { READAMP_GLANCE, READAMP_TEXT, READAMP_CSV };

struct readamp_report {
    enum readamp_format format;
    struct bench_result result;
    struct glance glance; /* the screen, and how many lines are in it */
    size_t glanced;
};

/* `settings`: for people. With READAMP_GLANCE the lines are those of the screen's first filter,
 * lookup by lookup, then of the next. The end prints the screen. */
void readamp_report_begin(struct readamp_report *report, const char *settings);
void readamp_report_line(struct readamp_report *report, const struct readamp_line *line);
void readamp_report_end(const struct readamp_report *report);

#endif
