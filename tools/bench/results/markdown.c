/* markdown.c -- see tools/bench/results/markdown.h. */
#include "tools/bench/results/markdown.h"

#include <math.h>
#include <string.h>

static void
print_ratio(FILE *to, const struct bench_series *subject, const struct bench_series *other)
{
    char median[BENCH_FIGURE_BYTES], least[BENCH_FIGURE_BYTES], greatest[BENCH_FIGURE_BYTES];
    enum bench_verdict verdict;
    struct bench_spread ratio;

    if (other == NULL || isnan(bench_series_median(other, bench_series_measure(subject)))) {
        fputs(" - |", to);
        return;
    }
    ratio = bench_series_ratio(subject, other);
    verdict = bench_verdict_of(&ratio);
    bench_number_text(median, ratio.median, verdict == BENCH_BEHIND ? "**" : "");
    bench_number_text(least, ratio.least, "");
    bench_number_text(greatest, ratio.greatest, "");
    fprintf(to, " %s%s%s (%s–%s) |", verdict == BENCH_BEHIND ? "**" : "", median,
            verdict == BENCH_UNDECIDED ? " ~" : "", least, greatest);
}

static void
print_line(FILE *to, const struct bench_result *result, const struct bench_series *subject,
           const char *const *stores, size_t store_count, const struct bench_legend *legend)
{
    enum bench_metric measure = bench_series_measure(subject);
    struct bench_name name = subject->name;
    char figure[BENCH_FIGURE_BYTES];

    bench_figure_text(figure, bench_series_median(subject, measure), measure);
    fprintf(to, "| %s | %s |", legend->words(legend->argument, name.operation), figure);
    for (size_t i = 0; i < store_count; i++) {
        if (strcmp(stores[i], BENCH_SUBJECT) == 0)
            continue;
        snprintf(name.store, sizeof name.store, "%s", stores[i]);
        print_ratio(to, subject, bench_result_find(result, &name));
    }
    bench_share_text(figure, bench_result_others(result, &subject->name));
    fprintf(to, " %s |\n", measure == BENCH_PER_UNIT ? "-" : figure);
}

void
bench_markdown_print(FILE *to, const struct bench_result *result, const char *const *stores,
                     size_t store_count, const struct bench_legend *legend)
{
    fprintf(to, "| | %s |", legend->title(legend->argument, BENCH_SUBJECT));
    for (size_t i = 0; i < store_count; i++) {
        if (strcmp(stores[i], BENCH_SUBJECT) != 0)
            fprintf(to, " %s |", legend->title(legend->argument, stores[i]));
    }
    fputs(" others |\n|---|---|", to);
    for (size_t i = 0; i < store_count; i++)
        fputs("---|", to);
    fputc('\n', to);
    for (size_t i = 0; i < result->count; i++) {
        const struct bench_series *series = &result->series[i];

        if (strcmp(series->name.store, BENCH_SUBJECT) == 0 &&
            !isnan(bench_series_median(series, bench_series_measure(series))))
            print_line(to, result, series, stores, store_count, legend);
    }
}
