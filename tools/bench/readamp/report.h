/*
 * report.h -- what `kv-bench readamp` prints: a table for people, JSON or CSV for programs.
 *
 * JSON: {"kind": "readamp", "settings": {…}, "lines": [{…}, …]}, one line of text for each line.  What is not known, or
 * makes no sense for a line, is null; in CSV it is empty.
 */
#ifndef PETAL_TOOLS_BENCH_READAMP_REPORT_H
#define PETAL_TOOLS_BENCH_READAMP_REPORT_H

#include "tools/bench/readamp/rate.h"

#include <stdio.h>

/* Numbers are NAN when they are not known. All counts are per get; a scan is one. */
struct readamp_line {
    const char *filter, *lookup, *cache;
    const char *lookup_text; /* for people */
    double files;
    double rate, bits_per_key; /* wanted of each filter; taken */
    double cache_bytes;
    double block_bytes;
    double gets;
    double files_considered;
    double skipped_found_newer, skipped_row_range, skipped_time_range, skipped_columns,
        skipped_bloom;
    double filter_unasked; /* questions not asked, since loading the chunk would not pay */
    double data_wanted, index_wanted, filter_wanted;
    double data_fetched, index_fetched, filter_fetched;
    double bytes_read_per_get, bytes_returned_per_get, bytes_per_useful_byte;
    double expected_data, standard_error, hbase;
    double expected_data_fetched, expected_index_fetched, expected_filter_fetched;
    double expected_found_newer, expected_bloom; /* files skipped */
    double false_positive_rate; /* false / (false + negatives): what of the absent passes */
    double false_positive_rate_expected;
    double false_share; /* false / positives: what of the passed is absent */
    double false_share_expected;
    double filter_bytes, index_bytes, data_bytes, raw_data_bytes; /* raw: not compressed */
    double us_per_get;
    double bytes_without_filter; /* read per get with NONE */
    bool more_bytes; /* than NONE and what finding out that a filter does not pay may cost */
    bool outside;    /* some count is not what was expected */
};

struct readamp_report {
    FILE *file;
    enum readamp_format format;
    bool times;     /* print them in the table, too */
    uint64_t lines; /* so far */
};

/* `settings`: names and values as they stand in a JSON object, and as text for people. */
void readamp_report_begin(struct readamp_report *report, const char *settings);
void readamp_report_line(struct readamp_report *report, const struct readamp_line *line);
void readamp_report_end(struct readamp_report *report); /* of the lines; JSON is still open */

#endif
