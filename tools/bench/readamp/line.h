/*
 * line.h -- one line of `kv-bench readamp`: what was counted, a lookup, and what was to be expected
 * of it.
 */
#ifndef PETAL_TOOLS_BENCH_READAMP_LINE_H
#define PETAL_TOOLS_BENCH_READAMP_LINE_H

#include "tools/bench/readamp/bed.h"
#include "tools/bench/readamp/lookup.h"
#include "tools/bench/readamp/model.h"

/* All but data blocks; everything; from CACHES on: the sizes given. */
enum readamp_cache { CACHE_FILTERS_INDEX, CACHE_ALL, CACHES };

/*
 * The columns. Numbers are NAN when they are not known; all counts are per get, and a scan is one.
 * rate and bits_per_key are wanted of each filter, and taken; store_rate: what the files come from
 * where the rate is that of the whole store, "" where it is each file's; false_positive_rate: what
 * of the absent passes, false / (false + negatives); raw_data_bytes: not compressed; more_bytes:
 * than NONE and what finding out that a filter does not pay may cost; outside: some count is not
 * what was expected; words: the lookup, for people.
 */
#define READAMP_LINE(TEXT, NUMBER, TRUTH)                                                          \
    TEXT(filter)                                                                                   \
    NUMBER(files)                                                                                  \
    NUMBER(rate)                                                                                   \
    NUMBER(bits_per_key)                                                                           \
    NUMBER(block_bytes)                                                                            \
    TEXT(lookup)                                                                                   \
    TEXT(cache)                                                                                    \
    TEXT(store_rate)                                                                               \
    NUMBER(cache_bytes)                                                                            \
    NUMBER(gets)                                                                                   \
    NUMBER(data_wanted)                                                                            \
    NUMBER(data_fetched)                                                                           \
    NUMBER(index_fetched)                                                                          \
    NUMBER(filter_fetched)                                                                         \
    NUMBER(bytes_read_per_get)                                                                     \
    NUMBER(bytes_returned_per_get)                                                                 \
    NUMBER(bytes_per_useful_byte)                                                                  \
    NUMBER(expected_data)                                                                          \
    NUMBER(standard_error)                                                                         \
    NUMBER(hbase)                                                                                  \
    NUMBER(false_positive_rate)                                                                    \
    NUMBER(false_positive_rate_expected)                                                           \
    NUMBER(filter_bytes)                                                                           \
    NUMBER(data_bytes)                                                                             \
    NUMBER(raw_data_bytes)                                                                         \
    TRUTH(more_bytes)                                                                              \
    TRUTH(outside)                                                                                 \
    TEXT(words)

struct readamp_line {
    enum readamp_answer answer;
#define READAMP_TEXT_FIELD(name)   const char *name;
#define READAMP_NUMBER_FIELD(name) double name;
#define READAMP_TRUTH_FIELD(name)  bool name;
    READAMP_LINE(READAMP_TEXT_FIELD, READAMP_NUMBER_FIELD, READAMP_TRUTH_FIELD)
#undef READAMP_TEXT_FIELD
#undef READAMP_NUMBER_FIELD
#undef READAMP_TRUTH_FIELD
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
