/* report.c -- see tools/bench/readamp/report.h. */
#include "tools/bench/readamp/report.h"

#include <math.h>
#include <stddef.h>

enum column_kind { COLUMN_TEXT, COLUMN_NUMBER, COLUMN_TRUTH };

#define TEXT(name)                                                                                 \
    {                                                                                              \
#name, COLUMN_TEXT, offsetof(struct readamp_line, name)                                    \
    }
#define NUMBER(name)                                                                               \
    {                                                                                              \
#name, COLUMN_NUMBER, offsetof(struct readamp_line, name)                                  \
    }
#define TRUTH(name)                                                                                \
    {                                                                                              \
#name, COLUMN_TRUTH, offsetof(struct readamp_line, name)                                   \
    }

static const struct {
    const char *name;
    enum column_kind kind;
    size_t offset;
} columns[] = {
    TEXT(filter),
    NUMBER(files),
    NUMBER(rate),
    NUMBER(bits_per_key),
    NUMBER(block_bytes),
    TEXT(lookup),
    TEXT(cache),
    NUMBER(cache_bytes),
    NUMBER(gets),
    NUMBER(files_considered),
    NUMBER(skipped_found_newer),
    NUMBER(skipped_row_range),
    NUMBER(skipped_time_range),
    NUMBER(skipped_columns),
    NUMBER(skipped_bloom),
    NUMBER(filter_unasked),
    NUMBER(data_wanted),
    NUMBER(index_wanted),
    NUMBER(filter_wanted),
    NUMBER(data_fetched),
    NUMBER(index_fetched),
    NUMBER(filter_fetched),
    NUMBER(bytes_read_per_get),
    NUMBER(bytes_returned_per_get),
    NUMBER(bytes_per_useful_byte),
    NUMBER(expected_data),
    NUMBER(standard_error),
    NUMBER(hbase),
    NUMBER(expected_data_fetched),
    NUMBER(expected_index_fetched),
    NUMBER(expected_filter_fetched),
    NUMBER(expected_found_newer),
    NUMBER(expected_bloom),
    NUMBER(false_positive_rate),
    NUMBER(false_positive_rate_expected),
    NUMBER(false_share),
    NUMBER(false_share_expected),
    NUMBER(filter_bytes),
    NUMBER(index_bytes),
    NUMBER(data_bytes),
    NUMBER(raw_data_bytes),
    NUMBER(us_per_get),
    NUMBER(bytes_without_filter),
    TRUTH(more_bytes),
    TRUTH(outside),
};
#define COLUMNS (sizeof columns / sizeof *columns)

static void
print_value(const struct readamp_report *report, const struct readamp_line *line, size_t column)
{
    const void *value = (const char *)line + columns[column].offset;
    bool json = report->format == READAMP_JSON;

    switch (columns[column].kind) {
    case COLUMN_TEXT:
        fprintf(report->file, json ? "\"%s\"" : "%s", *(const char *const *)value);
        break;
    case COLUMN_NUMBER:
        if (isnan(*(const double *)value))
            fputs(json ? "null" : "", report->file);
        else
            fprintf(report->file, "%.9g", *(const double *)value);
        break;
    case COLUMN_TRUTH:
        fputs(*(const bool *)value ? "true" : "false", report->file);
        break;
    }
}

static void
print_row(struct readamp_report *report, const struct readamp_line *line)
{
    bool json = report->format == READAMP_JSON;

    if (json)
        fputs(report->lines > 0 ? ",\n  {" : "\n  {", report->file);
    for (size_t i = 0; i < COLUMNS; i++) {
        if (i > 0)
            fputs(json ? ", " : ",", report->file);
        if (json)
            fprintf(report->file, "\"%s\": ", columns[i].name);
        print_value(report, line, i);
    }
    fputs(json ? "}" : "\n", report->file);
}

/* ---- for people ---- */

static void
print_number(const struct readamp_report *report, const char *format, int width, double value)
{
    char text[32];

    if (isnan(value))
        snprintf(text, sizeof text, "-");
    else
        snprintf(text, sizeof text, format, value);
    fprintf(report->file, " %*s", width, text);
}

static void
print_head(const struct readamp_report *report)
{
    fprintf(report->file, "%-34s %-10s %5s %7s %-14s %9s %9s %8s %7s %8s %7s %7s %9s %8s %8s",
            "lookup", "filter", "files", "rate", "cache", "data", "expected", "+-", "HBase",
            "fetched", "index", "filter", "bytes/get", "fpr", "expected");
    fprintf(report->file, report->times ? " %8s\n" : "\n", "us/get");
}

static void
print_text(const struct readamp_report *report, const struct readamp_line *line)
{
    fprintf(report->file, "%-34s %-10s", line->lookup_text, line->filter);
    print_number(report, "%.0f", 5, line->files);
    print_number(report, "%.5g", 7, line->rate);
    fprintf(report->file, " %-14s", line->cache);
    print_number(report, "%.4f", 9, line->data_wanted);
    print_number(report, "%.4f", 9, line->expected_data);
    print_number(report, "%.4f", 8, line->standard_error);
    print_number(report, "%.5g", 7, line->hbase);
    print_number(report, "%.3f", 8, line->data_fetched);
    print_number(report, "%.3f", 7, line->index_fetched);
    print_number(report, "%.3f", 7, line->filter_fetched);
    print_number(report, "%.0f", 9, line->bytes_read_per_get);
    print_number(report, "%.5f", 8, line->false_positive_rate);
    print_number(report, "%.5f", 8, line->false_positive_rate_expected);
    if (report->times)
        print_number(report, "%.2f", 8, line->us_per_get);
    fprintf(report->file, "%s%s\n", line->outside ? "  <- not as expected" : "",
            line->more_bytes ? "  <- more bytes than a filter may cost" : "");
}

/* ---- the report ---- */

void
readamp_report_begin(struct readamp_report *report, const char *settings)
{
    switch (report->format) {
    case READAMP_JSON:
        fprintf(report->file, "{\"kind\": \"readamp\", \"settings\": {%s}, \"lines\": [", settings);
        break;
    case READAMP_CSV:
        for (size_t i = 0; i < COLUMNS; i++)
            fprintf(report->file, "%s%s", i > 0 ? "," : "", columns[i].name);
        fputc('\n', report->file);
        break;
    case READAMP_TEXT:
        fprintf(report->file,
                "Blocks per get; a scan is one get. data: data blocks wanted, from cache or file; "
                "fetched: from files;\nfpr: share of absent keys that filters let pass; +-: one "
                "standard error. %s\n\n",
                settings);
        print_head(report);
        break;
    }
}

void
readamp_report_line(struct readamp_report *report, const struct readamp_line *line)
{
    if (report->format == READAMP_TEXT)
        print_text(report, line);
    else
        print_row(report, line);
    report->lines++;
    fflush(report->file);
}

void
readamp_report_end(struct readamp_report *report)
{
    if (report->format == READAMP_JSON)
        fputs("\n]", report->file);
}
