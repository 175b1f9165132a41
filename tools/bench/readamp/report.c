/* report.c -- see tools/bench/readamp/report.h. */
#include "tools/bench/readamp/report.h"

#include "tools/bench/harness/json.h"
#include "tools/bench/results/result.h"

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
add_json(json_t *results, const struct readamp_line *line)
{
    char setting[128], cache[32];
    json_t *object;

    snprintf(cache, sizeof cache, "%.0f", line->cache_bytes);
    snprintf(setting, sizeof setting, "%s, %.0f files, %.4g, %s%s%s", line->filter, line->files,
             isnan(line->rate) ? 0 : line->rate,
             strcmp(line->cache, "size") == 0 ? cache : line->cache,
             line->store_rate[0] != '\0' ? ", " : "", line->store_rate);
    object =
        bench_count_to_json(line->lookup, setting, (uint64_t)line->block_bytes, line->data_wanted);
#define TEXT(name) bench_json_set(object, #name, json_string(line->name));
#define NUMBER(name)                                                                               \
    bench_json_set(object, #name, isnan(line->name) ? json_null() : json_real(line->name));
#define TRUTH(name) bench_json_set(object, #name, json_boolean(line->name));
    READAMP_LINE(TEXT, NUMBER, TRUTH)
#undef TEXT
#undef NUMBER
#undef TRUTH
    bench_json_set_count(object, "block_bytes", (uint64_t)line->block_bytes); /* a whole number */
    bench_json_append(results, object);
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
                             .standard_error = line->standard_error,
                             .hbase = line->hbase,
                             .outside = line->outside || line->more_bytes};
    report->glanced++;
}

/* ---- the report ---- */

void
readamp_report_begin(struct readamp_report *report, const char *settings)
{
    const char *comma = "";

    switch (report->format) {
    case READAMP_GLANCE:
        break;
    case READAMP_JSON:
        report->results = bench_json_list();
        break;
    case READAMP_CSV:
#define NAME(name) printf("%s%s", comma, #name), comma = ",";
        READAMP_LINE(NAME, NAME, NAME)
#undef NAME
        putchar('\n');
        break;
    case READAMP_TEXT:
        printf("Blocks per get; a scan is one get. data: data blocks wanted, from cache or file; "
               "fetched: from files;\nfpr: share of absent keys that filters let pass; +-: one "
               "standard error. %s\n\n",
               settings);
        printf("%-34s %-10s %5s %7s %-14s %9s %9s %8s %7s %8s %7s %7s %9s %8s %8s\n", "lookup",
               "filter", "files", "rate", "cache", "data", "expected", "+-", "HBase", "fetched",
               "index", "filter", "bytes/get", "fpr", "expected");
        break;
    }
}

void
readamp_report_line(struct readamp_report *report, const struct readamp_line *line)
{
    if (report->format == READAMP_GLANCE)
        keep(report, line);
    else if (report->format == READAMP_JSON)
        add_json(report->results, line);
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
