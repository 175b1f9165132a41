/*
 * line.h -- one line of `kv-bench readamp`: what was counted, a lookup, and what was to be expected
 * of it.
 */
#ifndef PETAL_TOOLS_BENCH_READAMP_LINE_H
#define PETAL_TOOLS_BENCH_READAMP_LINE_H

#include "tools/bench/readamp/bed.h"
#include "tools/bench/readamp/lookup.h"
#include "tools/bench/readamp/model.h"
#include "tools/bench/readamp/report.h"

/* From CACHES on: the sizes given. */
enum readamp_cache {
    CACHE_NONE,
    CACHE_FILTERS,
    CACHE_FILTERS_INDEX,
    CACHE_TENTH,
    CACHE_ALL,
    CACHES
};

/* Counts, what the model expects, and whether they agree. */
void readamp_line_fill(struct readamp_line *line, enum readamp_cache cache,
                       const struct readamp_store *store, const struct readamp_reads *reads,
                       const struct lookup_counts *counts, const struct readamp_expected *expected);

/* Against the bytes that the same lookup read without a filter, *none; NAN: not known. A line
 * without filter sets it. */
void readamp_line_compare_bytes(struct readamp_line *line, const struct bed_facts *facts,
                                const struct lookup_counts *counts, double *none);

#endif
