/* print.c -- see tools/bench/results/print.h. */
#include "tools/bench/results/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB 1048576.0

/* A number after a space, as wide as that, or a dash: it was not measured. */
static void
print_number(int width, int digits, double value)
{
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, value);
}

/* ---- outcomes ---- */

void
bench_outcome_heading(void)
{
    printf("p50, p99, p99.9, max: latencies in microseconds; cpu: seconds\n"
           "written, read: MiB by calls or at the device, what is more (of mapped files: at it)\n"
           "w.amp, r.amp: bytes written and read per byte of keys and values given and answered\n"
           "s.amp: bytes on the disk, preallocated logs included, per byte that is there\n"
           "peak: MiB of resident memory, pages of mapped files included\n"
           "%-16s %3s %10s %10s %9s %9s %9s %9s %10s %6s %10s %6s %6s %7s %7s  %s\n",
           "workload", "thr", "operations", "per second", "p50", "p99", "p99.9", "max", "written",
           "w.amp", "read", "r.amp", "s.amp", "peak", "cpu", "found");
}

static void
print_usage(const double *values)
{
    print_number(10, 1, fmax(values[BENCH_WRITTEN], values[BENCH_DEVICE_WRITTEN]) / MIB);
    print_number(6, 2, values[BENCH_WRITE_AMPLIFICATION]);
    print_number(10, 1, fmax(values[BENCH_READ], values[BENCH_DEVICE_READ]) / MIB);
    print_number(6, 2, values[BENCH_READ_AMPLIFICATION]);
    print_number(6, 2, values[BENCH_SPACE_AMPLIFICATION]);
    print_number(7, 1, values[BENCH_PEAK] / MIB);
    print_number(7, 2, values[BENCH_CPU]);
}

void
bench_outcome_print(const struct bench_outcome *outcome)
{
    const double *values = outcome->values;
    const char *part = strchr(outcome->name.operation, ' '); /* of the line before */

    if (isnan(values[BENCH_OPERATIONS])) {
        printf("%-16s %3s there is no such thing in this store\n", outcome->name.operation, "-");
        return;
    }
    if (part != NULL)
        printf("%-20s", part);
    else
        printf("%-16s %3u", outcome->name.operation, outcome->name.threads);
    print_number(10, 0, values[BENCH_OPERATIONS]);
    print_number(10, 0, values[BENCH_PER_SECOND]);
    print_number(9, 2, values[BENCH_P50]);
    print_number(9, 2, values[BENCH_P99]);
    print_number(9, 2, values[BENCH_P999]);
    print_number(9, 0, values[BENCH_MAX]);
    if (part == NULL)
        print_usage(values);
    if (values[BENCH_ANSWERED] > 0 || values[BENCH_FOUND] > 0)
        printf("  %.0f", values[BENCH_FOUND]);
    if (values[BENCH_WRONG] > 0)
        printf("  WRONG: %.0f", values[BENCH_WRONG]);
    putchar('\n');
    fflush(stdout);
}

void
bench_outcome_print_whole(const struct bench_outcome *outcome)
{
    printf("%-82s", "from opening to closing");
    print_usage(outcome->values);
    printf("\n\n");
    fflush(stdout);
}

/* ---- stores side by side ---- */

void
bench_number_text(char text[BENCH_FIGURE_BYTES], double value, const char *unit)
{
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(text, BENCH_FIGURE_BYTES, "%.*f%s", digits, value, unit);
}

void
bench_figure_text(char text[BENCH_FIGURE_BYTES], double value, enum bench_metric measure)
{
    if (measure == BENCH_PER_UNIT)
        bench_number_text(text, value, "");
    else if (value >= 999500)
        bench_number_text(text, value / 1e6, " M/s");
    else if (value >= 1000)
        bench_number_text(text, value / 1e3, " k/s");
    else
        bench_number_text(text, 1e3 / value, " ms");
}

void
bench_share_text(char text[BENCH_FIGURE_BYTES], double share)
{
    if (isnan(share))
        snprintf(text, BENCH_FIGURE_BYTES, "?");
    else
        snprintf(text, BENCH_FIGURE_BYTES, "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
}

void
bench_print_bytes(const char *name, uint64_t bytes)
{
    bool large = bytes >= (uint64_t)1 << 20;

    printf("%s %.4g %s", name, (double)bytes / (large ? MIB : 1024), large ? "MiB" : "KiB");
}

/* The numbers of a line; counts have neither latencies nor times. */
static void
print_values(const struct bench_series *line, enum bench_metric measure)
{
    struct bench_spread spread = bench_spread_of(line->values[measure], line->count);
    char range[64];

    snprintf(range, sizeof range, "(%.4g .. %.4g)", spread.least, spread.greatest);
    printf("  %-13s %11.*f %-24s", line->name.store, measure == BENCH_PER_UNIT ? 3 : 0,
           spread.median, range);
    print_number(9, 2, bench_series_median(line, BENCH_P50));
    print_number(9, 2, bench_series_median(line, BENCH_P99));
    print_number(9, 2, bench_series_median(line, BENCH_CPU_EACH));
}

/* Petal's time, or count, through this line's. `asserting`: whose assertions are on. */
static void
print_ratio(const struct bench_series *line, const struct bench_series *subject,
            const char *asserting)
{
    struct bench_spread ratio = bench_series_ratio(subject, line);
    enum bench_verdict verdict = bench_verdict_of(&ratio);

    printf("   %.2f (%.2f .. %.2f)%s%s", ratio.median, ratio.least, ratio.greatest,
           verdict == BENCH_BEHIND      ? " BEHIND"
           : verdict == BENCH_UNDECIDED ? " ~"
                                        : "",
           asserting);
}

/* What the store's other threads bring. */
static void
print_gain(const struct bench_result *result, const struct bench_series *line)
{
    struct bench_name name = line->name;
    const struct bench_series *alone;
    double ratios[BENCH_MOST_REPEATS];

    name.threads = 1;
    alone = bench_result_find(result, &name);
    if (alone == NULL || alone == line)
        return;
    printf(
        "   %.2f x one thread",
        bench_spread_of(ratios, bench_ratios(line->values[BENCH_PER_SECOND], line->count,
                                             alone->values[BENCH_PER_SECOND], alone->count, ratios))
            .median);
}

/* Whose assertions are on, so that a ratio says it wherever it is quoted. */
static const char *
asserting(const struct bench_legend *legend, const char *store)
{
    const char *petal = legend->assertions(legend->argument, BENCH_SUBJECT);
    const char *other = legend->assertions(legend->argument, store);
    bool petal_on = strcmp(petal, "on") == 0, other_on = strcmp(other, "on") == 0;

    if (petal_on && other_on)
        return " (assertions on, in both)";
    if (petal_on || other_on)
        return petal_on ? " (Petal's assertions on)" : " (its assertions on)";
    return strcmp(other, "off") == 0 ? " (assertions off)" : " (its assertions: not known)";
}

void
bench_result_print(const struct bench_result *result, const struct bench_legend *legend)
{
    const struct bench_series *all = result->series;
    uint64_t block_bytes = UINT64_MAX;

    for (size_t i = 0; i < result->count; i++) {
        struct bench_name name = all[i].name;
        const struct bench_series *subject;
        const char *words;
        char others[BENCH_FIGURE_BYTES];
        size_t first = 0;

        while (!bench_is_same_operation(&all[first].name, &name))
            first++;
        if (first < i)
            continue; /* its operation was printed with another store's line */
        if (name.block_bytes != block_bytes) {
            block_bytes = name.block_bytes;
            bench_print_bytes("\nblocks of", block_bytes);
            printf("\n  %-13s %11s %-24s %9s %9s %9s   %s\n", "store", "per second", "", "p50 us",
                   "p99 us", "cpu us", "petal's time (or count) / this one's; below 1: ahead");
        }
        words = legend->words(legend->argument, name.operation);
        printf("%s, %u thread%s", name.operation, name.threads, name.threads == 1 ? "" : "s");
        if (strcmp(words, name.operation) != 0)
            printf(": %s", words);
        bench_share_text(others, bench_result_others(result, &name));
        printf(" [others %s]\n", others);
        snprintf(name.store, sizeof name.store, BENCH_SUBJECT);
        subject = bench_result_find(result, &name);
        for (size_t at = i; at < result->count; at++) {
            const struct bench_series *line = &all[at];
            enum bench_metric measure = bench_series_measure(line);

            if (!bench_is_same_operation(&line->name, &name) ||
                isnan(bench_series_median(line, measure)))
                continue;
            print_values(line, measure);
            if (subject != NULL && subject != line)
                print_ratio(line, subject, asserting(legend, line->name.store));
            print_gain(result, line);
            printf("\n");
        }
    }
}
