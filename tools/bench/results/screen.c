/* screen.c -- see tools/bench/results/screen.h. */
#include "tools/bench/results/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS_WIDTH 40
#define VALUE_WIDTH 8 /* "1.14 M/s" */
#define RATIO_WIDTH 4 /* "0.31" */
#define MARK_WIDTH  3 /* "off" */

struct screen {
    const struct bench_result *result;
    const char *const *stores; /* Petal among them, which is shown in front */
    size_t store_count;
    const struct bench_legend *legend;
    bool behind, undecided; /* is such a mark on it? */
    char line[512];         /* at hand, so that it ends where its text does */
    size_t used;
};

/* ---- lines ---- */

__attribute__((format(printf, 2, 3))) static void
add(struct screen *screen, const char *format, ...)
{
    size_t room = sizeof screen->line - screen->used;
    va_list arguments;
    int added;

    va_start(arguments, format);
    added = vsnprintf(screen->line + screen->used, room, format, arguments);
    va_end(arguments);
    if (added > 0)
        screen->used += (size_t)added < room ? (size_t)added : room - 1;
}

static void
end_line(struct screen *screen)
{
    while (screen->used > 0 && screen->line[screen->used - 1] == ' ')
        screen->used--;
    printf("%.*s\n", (int)screen->used, screen->line);
    screen->used = 0;
}

static void
add_value(struct screen *screen, double value, enum bench_metric measure)
{
    char text[BENCH_FIGURE_BYTES];

    bench_figure_text(text, value, measure);
    add(screen, " %*s", VALUE_WIDTH, text);
}

static const char *
mark(const struct screen *screen, const char *store)
{
    return screen->legend->assertions(screen->legend->argument, store);
}

/* ---- columns ---- */

/* The name in two lines where it has two parts. */
static size_t
first_part(const char *store)
{
    const char *dash = strchr(store, '-');

    return dash != NULL ? (size_t)(dash - store) + 1 : strlen(store);
}

static int
column_width(const char *store)
{
    size_t first = first_part(store), second = strlen(store) - first;
    size_t name = 1 + (first > second ? first : second);
    size_t ratio = 1 + RATIO_WIDTH + 1 + MARK_WIDTH;

    return (int)(name > ratio ? name : ratio);
}

/* The first or the second part of each rival's name. */
static void
add_rivals(struct screen *screen, bool second)
{
    for (size_t i = 0; i < screen->store_count; i++) {
        const char *store = screen->stores[i];
        size_t first = first_part(store);

        if (strcmp(store, BENCH_SUBJECT) != 0)
            add(screen, "%*.*s", column_width(store),
                second ? (int)(strlen(store) - first) : (int)first, second ? store + first : store);
    }
    end_line(screen);
}

static void
print_heading(struct screen *screen, const struct bench_name *name, bool named)
{
    bool second = false;

    putchar('\n');
    if (named) {
        printf("%u thread%s\n", name->threads, name->threads == 1 ? "" : "s");
    }
    for (size_t i = 0; i < screen->store_count; i++)
        second = second || screen->stores[i][first_part(screen->stores[i])] != '\0';
    add(screen, "%*s%*s", WORDS_WIDTH + 1 + VALUE_WIDTH, BENCH_SUBJECT, 1 + MARK_WIDTH, "");
    add_rivals(screen, false);
    if (second) {
        add(screen, "%*s", WORDS_WIDTH + 1 + VALUE_WIDTH + 1 + MARK_WIDTH, "");
        add_rivals(screen, true);
    }
}

/* ---- ratios ---- */

static void
add_ratio(struct screen *screen, const struct bench_series *subject, const char *store)
{
    struct bench_name name = subject->name;
    const struct bench_series *line;
    struct bench_spread ratio;
    enum bench_verdict verdict;
    char text[BENCH_FIGURE_BYTES], flag;

    snprintf(name.store, sizeof name.store, "%s", store);
    line = bench_result_find(screen->result, &name);
    if (line == NULL || isnan(bench_series_median(line, bench_series_measure(subject)))) {
        add(screen, "%*s", column_width(store), "-   ");
        return;
    }
    ratio = bench_series_ratio(subject, line);
    verdict = bench_verdict_of(&ratio);
    flag = verdict == BENCH_BEHIND ? '*' : verdict == BENCH_UNDECIDED ? '~' : ' ';
    screen->behind = screen->behind || verdict == BENCH_BEHIND;
    screen->undecided = screen->undecided || verdict == BENCH_UNDECIDED;
    bench_number_text(text, ratio.median, "");
    add(screen, "%*s%c%-*s", column_width(store) - 1 - MARK_WIDTH, text, flag, MARK_WIDTH,
        mark(screen, store));
}

static void
print_line(struct screen *screen, const struct bench_series *subject)
{
    enum bench_metric measure = bench_series_measure(subject);
    const struct bench_legend *legend = screen->legend;

    add(screen, "%-*s", WORDS_WIDTH, legend->words(legend->argument, subject->name.operation));
    add_value(screen, bench_series_median(subject, measure), measure);
    add(screen, " %-*s", MARK_WIDTH, mark(screen, BENCH_SUBJECT));
    for (size_t i = 0; i < screen->store_count; i++) {
        if (strcmp(screen->stores[i], BENCH_SUBJECT) != 0)
            add_ratio(screen, subject, screen->stores[i]);
    }
    end_line(screen);
}

static bool
is_shown(const struct bench_series *series)
{
    return strcmp(series->name.store, BENCH_SUBJECT) == 0 &&
           !isnan(bench_series_median(series, bench_series_measure(series)));
}

static bool
is_same_table(const struct bench_name *a, const struct bench_name *b)
{
    return a->threads == b->threads;
}

/* The first of those shown that has its block size and number of threads. */
static size_t
first_of_table(const struct bench_result *result, const struct bench_name *name)
{
    size_t i = 0;

    while (!is_shown(&result->series[i]) || !is_same_table(&result->series[i].name, name))
        i++;
    return i;
}

static size_t
count_tables(const struct bench_result *result)
{
    size_t tables = 0;

    for (size_t i = 0; i < result->count; i++)
        tables +=
            is_shown(&result->series[i]) && first_of_table(result, &result->series[i].name) == i;
    return tables;
}

static void
print_marks(const struct screen *screen)
{
    printf("\non, off: the assertions of the store that the number is of, which slow it; asked of "
           "the library\nthat is linked, by a mistake that only they notice.");
    if (screen->behind)
        printf(" *: Petal is behind in each repeat.");
    putchar('\n');
    if (screen->undecided)
        printf("~: neither is ahead: " BENCH_VERDICT_RULE ".\n");
}

void
bench_screen_print(const struct bench_result *result, const char *const *stores, size_t store_count,
                   const struct bench_legend *legend)
{
    struct screen screen = {
        .result = result, .stores = stores, .store_count = store_count, .legend = legend};
    bool named = count_tables(result) > 1;

    for (size_t i = 0; i < result->count; i++) {
        const struct bench_name *name = &result->series[i].name;

        if (!is_shown(&result->series[i]) || first_of_table(result, name) < i)
            continue;
        print_heading(&screen, name, named);
        for (size_t at = i; at < result->count; at++) {
            if (is_shown(&result->series[at]) && is_same_table(&result->series[at].name, name))
                print_line(&screen, &result->series[at]);
        }
    }
    print_marks(&screen);
}
