/* report.c -- see tools/bench/readamp/report.h. */
#include "tools/bench/readamp/report.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void
print_csv(const struct readamp_line *line)
{
    const char *comma = "";

#define TEXT(name) printf("%s%s", comma, line->name), comma = ",";
#define NUMBER(name)                                                                               \
    isnan(line->name) ? fputs(comma, stdout) : printf("%s%.9g", comma, line->name);                \
    comma = ",";
#define TRUTH(name) printf("%s%s", comma, line->name ? "true" : "false");
    READAMP_LINE(TEXT, NUMBER, TRUTH)
#undef TEXT
#undef NUMBER
#undef TRUTH
    putchar('\n');
}

static void
add_result(struct bench_result *result, const struct readamp_line *line)
{
    char setting[BENCH_NAME_BYTES], size[32];
    struct bench_outcome outcome;

    snprintf(size, sizeof size, "%.0f", line->cache_bytes);
    snprintf(setting, sizeof setting, "%s, %.0f files, %.4g, %.20s", line->filter, line->files,
             isnan(line->rate) ? 0 : line->rate,
             line->store_rate[0] != '\0'        ? line->store_rate
             : strcmp(line->cache, "size") == 0 ? size
                                                : line->cache);
    outcome = bench_outcome_of_count(line->lookup, setting, line->data_wanted);
    outcome.name.block_bytes = (uint64_t)line->block_bytes;
    bench_result_add(result, &outcome);
}

/* ---- for people ---- */

static void
print_number(const char *format, int width, double value)
{
    char text[32] = "-";

    if (!isnan(value))
        snprintf(text, sizeof text, format, value);
    printf(" %*s", width, text);
}

static void
print_text(const struct readamp_line *line)
{
    const char *blocks = line->store_rate[0] != '\0' ? "%.6f" : "%.4f"; /* few are needless */

    printf("%-34s %-10s", line->words, line->filter);
    print_number("%.0f", 5, line->files);
    print_number("%.5g", 7, line->rate);
    printf(" %-14s", line->cache);
    print_number(blocks, 9, line->data_wanted);
    print_number(blocks, 9, line->expected_data);
    print_number(blocks, 8, line->standard_error);
    print_number("%.5g", 7, line->hbase);
    print_number("%.3f", 8, line->data_fetched);
    print_number("%.3f", 7, line->index_fetched);
    print_number("%.3f", 7, line->filter_fetched);
    print_number("%.0f", 9, line->bytes_read_per_get);
    print_number("%.5f", 8, line->false_positive_rate);
    print_number("%.5f", 8, line->false_positive_rate_expected);
    printf("%s%s\n", line->outside ? "  <- not as expected" : "",
           line->more_bytes ? "  <- more bytes than a filter may cost" : "");
}

static void
keep(struct readamp_report *report, const struct readamp_line *line)
{
    struct glance *glance = &report->glance;
    size_t lookup = report->glanced % GLANCE_LOOKUPS, filter = report->glanced / GLANCE_LOOKUPS;

    assert(filter < GLANCE_FILTERS);
    glance->files = line->files;
    glance->most_block = fmax(glance->most_block, line->block_bytes);
    if (report->glanced == 0 || line->block_bytes < glance->least_block)
        glance->least_block = line->block_bytes;
    if (!isnan(line->rate))
        glance->rate = line->rate;
    glance->lookups[lookup] = (struct glance_lookup){line->words, line->answer};
    glance->filters[filter] = line->filter;
    glance->cells[lookup][filter] =
        (struct glance_cell){.measured = line->data_wanted,
                             .expected = line->expected_data,
                             .hbase = line->hbase,
                             .outside = line->outside || line->more_bytes};
    report->glanced++;
}

/* ---- the report ---- */

void
readamp_report_begin(struct readamp_report *report, const char *settings)
{
    const char *comma = "";

    if (report->format == READAMP_CSV) {
#define NAME(name) printf("%s%s", comma, #name), comma = ",";
        READAMP_LINE(NAME, NAME, NAME)
#undef NAME
        putchar('\n');
    } else if (report->format == READAMP_TEXT) {
        printf("Blocks per get; a scan is one get. data: data blocks wanted, from cache or file; "
               "fetched: from files;\nfpr: share of absent keys that filters let pass; +-: one "
               "standard error. %s\n\n",
               settings);
        printf("%-34s %-10s %5s %7s %-14s %9s %9s %8s %7s %8s %7s %7s %9s %8s %8s\n", "lookup",
               "filter", "files", "rate", "cache", "data", "expected", "+-", "HBase", "fetched",
               "index", "filter", "bytes/get", "fpr", "expected");
    }
}

void
readamp_report_line(struct readamp_report *report, const struct readamp_line *line)
{
    add_result(&report->result, line);
    if (report->format == READAMP_GLANCE)
        keep(report, line);
    else if (report->format == READAMP_CSV)
        print_csv(line);
    else
        print_text(line);
    fflush(stdout);
}

void
readamp_report_end(const struct readamp_report *report)
{
    if (report->format == READAMP_GLANCE)
        glance_print(&report->glance, glance_style_of(stdout), stdout);
}
