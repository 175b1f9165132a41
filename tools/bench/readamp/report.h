/*
 * report.h -- what `kv-bench readamp` prints: one screen or a table for people, CSV or a file of
 * results (tools/bench/results/result.h) for programs. In the file "per_unit" is data blocks
 * wanted, and each result has the line's columns besides. What is not known, or makes no sense for
 * a line, is null; in CSV it is empty.
 */
#ifndef PETAL_TOOLS_BENCH_READAMP_REPORT_H
#define PETAL_TOOLS_BENCH_READAMP_REPORT_H

#include "tools/bench/readamp/glance.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum readamp_format { READAMP_GLANCE, READAMP_TEXT, READAMP_JSON, READAMP_CSV };

/*
 * The columns of a line. Numbers are NAN when they are not known; all counts are per get, and a
 * scan is one. rate and bits_per_key are wanted of each filter, and taken; store_rate: what the
 * files come from where the rate is that of the whole store, "" where it is each file's;
 * filter_unasked: questions not asked, since loading the chunk would not pay; false_positive_rate:
 * what of the absent passes, false / (false + negatives); false_share: what of the passed is
 * absent, false / positives; raw_data_bytes: not compressed; bytes_without_filter: with NONE;
 * more_bytes: than NONE and what finding out that a filter does not pay may cost; outside: some
 * count is not what was expected; words: the lookup, for people.
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
    NUMBER(files_considered)                                                                       \
    NUMBER(skipped_found_newer)                                                                    \
    NUMBER(skipped_row_range)                                                                      \
    NUMBER(skipped_time_range)                                                                     \
    NUMBER(skipped_columns)                                                                        \
    NUMBER(skipped_bloom)                                                                          \
    NUMBER(filter_unasked)                                                                         \
    NUMBER(data_wanted)                                                                            \
    NUMBER(index_wanted)                                                                           \
    NUMBER(filter_wanted)                                                                          \
    NUMBER(data_fetched)                                                                           \
    NUMBER(index_fetched)                                                                          \
    NUMBER(filter_fetched)                                                                         \
    NUMBER(bytes_read_per_get)                                                                     \
    NUMBER(bytes_returned_per_get)                                                                 \
    NUMBER(bytes_per_useful_byte)                                                                  \
    NUMBER(expected_data)                                                                          \
    NUMBER(standard_error)                                                                         \
    NUMBER(hbase)                                                                                  \
    NUMBER(expected_data_fetched)                                                                  \
    NUMBER(expected_index_fetched)                                                                 \
    NUMBER(expected_filter_fetched)                                                                \
    NUMBER(expected_found_newer)                                                                   \
    NUMBER(expected_bloom)                                                                         \
    NUMBER(false_positive_rate)                                                                    \
    NUMBER(false_positive_rate_expected)                                                           \
    NUMBER(false_share)                                                                            \
    NUMBER(false_share_expected)                                                                   \
    NUMBER(filter_bytes)                                                                           \
    NUMBER(index_bytes)                                                                            \
    NUMBER(data_bytes)                                                                             \
    NUMBER(raw_data_bytes)                                                                         \
    NUMBER(bytes_without_filter)                                                                   \
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

struct readamp_report {
    enum readamp_format format;
    json_t *results;      /* of the file */
    struct glance glance; /* the screen, and how many lines are in it */
    size_t glanced;
};

/* `settings`: for people. With READAMP_GLANCE the lines are those of the screen's first filter,
 * lookup by lookup, then of the next. The end prints the screen. */
void readamp_report_begin(struct readamp_report *report, const char *settings);
void readamp_report_line(struct readamp_report *report, const struct readamp_line *line);
void readamp_report_end(const struct readamp_report *report);

#endif
