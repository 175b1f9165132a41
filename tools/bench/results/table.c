/* table.c -- see tools/bench/results/table.h. */
#include "tools/bench/results/table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define WORDS_WIDTH 40
#define VALUE_WIDTH 8 /* "1.14 M/s" */
#define RATIO_WIDTH 4 /* "0.31" */
#define MARK_WIDTH  3 /* "off" */

struct printer {
    const struct bench_table *table;
    const struct bench_column *subject;
    FILE *to;
    bool behind, undecided; /* is such a mark on the screen? */
    char line[1024];        /* at hand, so that it ends where its text does */
    size_t used;
};

/* ---- lines ---- */

__attribute__((format(printf, 2, 3))) static void
add(struct printer *printer, const char *format, ...)
{
    size_t room = sizeof printer->line - printer->used;
    va_list arguments;
    int added;

    va_start(arguments, format);
    added = vsnprintf(printer->line + printer->used, room, format, arguments);
    va_end(arguments);
    if (added > 0)
        printer->used += (size_t)added < room ? (size_t)added : room - 1;
}

static void
end_line(struct printer *printer)
{
    while (printer->used > 0 && printer->line[printer->used - 1] == ' ')
        printer->used--;
    fprintf(printer->to, "%.*s\n", (int)printer->used, printer->line);
    printer->used = 0;
}

/* ---- headings ---- */

/* On a screen the name stands in two lines where it has two parts. */
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

static void
print_screen_heading(struct printer *printer, bool second)
{
    const struct bench_table *table = printer->table;
    bool more = false;

    add(printer, "%*s%*s", WORDS_WIDTH + 1 + VALUE_WIDTH, second ? "" : printer->subject->store,
        1 + MARK_WIDTH, "");
    for (const struct bench_column *c = table->columns; c < table->columns + table->column_count;
         c++) {
        size_t first = first_part(c->store);

        if (c == printer->subject)
            continue;
        add(printer, "%*.*s", column_width(c->store),
            second ? (int)(strlen(c->store) - first) : (int)first,
            second ? c->store + first : c->store);
        more = more || c->store[first] != '\0';
    }
    end_line(printer);
    if (more && !second)
        print_screen_heading(printer, true);
}

static void
print_heading(struct printer *printer, unsigned threads, bool named)
{
    const struct bench_table *table = printer->table;

    if (!table->markdown)
        fputc('\n', printer->to);
    if (named)
        fprintf(printer->to, "%u thread%s\n%s", threads, threads == 1 ? "" : "s",
                table->markdown ? "\n" : "");
    if (!table->markdown) {
        print_screen_heading(printer, false);
        return;
    }
    add(printer, "| | %s |", printer->subject->title);
    for (size_t i = 0; i < table->column_count; i++) {
        if (&table->columns[i] != printer->subject)
            add(printer, " %s |", table->columns[i].title);
    }
    add(printer, " others |");
    end_line(printer);
    add(printer, "|---|---|");
    for (size_t i = 0; i < table->column_count; i++)
        add(printer, "---|");
    end_line(printer);
}

/* ---- figures ---- */

static void
add_ratio(struct printer *printer, const struct bench_series *subject,
          const struct bench_column *column)
{
    bool markdown = printer->table->markdown;
    char median[BENCH_FIGURE_BYTES], least[BENCH_FIGURE_BYTES], greatest[BENCH_FIGURE_BYTES];
    struct bench_name name = subject->name;
    const struct bench_series *line;
    enum bench_verdict verdict;
    struct bench_spread ratio;

    snprintf(name.store, sizeof name.store, "%s", column->store);
    line = bench_result_find(printer->table->result, &name);
    if (line == NULL || isnan(bench_series_median(line, bench_series_measure(subject)))) {
        if (markdown)
            add(printer, " - |");
        else
            add(printer, "%*s", column_width(column->store), "-   ");
        return;
    }
    ratio = bench_series_ratio(subject, line);
    verdict = bench_verdict_of(&ratio);
    printer->behind = printer->behind || verdict == BENCH_BEHIND;
    printer->undecided = printer->undecided || verdict == BENCH_UNDECIDED;
    bench_number_text(median, ratio.median, "");
    bench_number_text(least, ratio.least, "");
    bench_number_text(greatest, ratio.greatest, "");
    if (markdown)
        add(printer, verdict == BENCH_BEHIND ? " **%s**%s (%s–%s) |" : " %s%s (%s–%s) |", median,
            verdict == BENCH_UNDECIDED ? " ~" : "", least, greatest);
    else
        add(printer, "%*s%c%-*s", column_width(column->store) - 1 - MARK_WIDTH, median,
            verdict == BENCH_BEHIND      ? '*'
            : verdict == BENCH_UNDECIDED ? '~'
                                         : ' ',
            MARK_WIDTH, column->assertions);
}

static void
print_line(struct printer *printer, const struct bench_series *subject)
{
    const struct bench_table *table = printer->table;
    enum bench_metric measure = bench_series_measure(subject);
    const char *operation = subject->name.operation;
    const char *row, *words = operation;
    char figure[BENCH_FIGURE_BYTES];

    if (table->name_row != NULL)
        table->name_row(operation, &row, &words);
    bench_figure_text(figure, bench_series_median(subject, measure), measure);
    if (table->markdown)
        add(printer, "| %s | %s |", words, figure);
    else
        add(printer, "%-*s %*s %-*s", WORDS_WIDTH, words, VALUE_WIDTH, figure, MARK_WIDTH,
            printer->subject->assertions);
    for (size_t i = 0; i < table->column_count; i++) {
        if (&table->columns[i] != printer->subject)
            add_ratio(printer, subject, &table->columns[i]);
    }
    if (table->markdown) {
        bench_share_text(figure, bench_result_others(table->result, &subject->name));
        add(printer, " %s |", measure == BENCH_PER_UNIT ? "-" : figure);
    }
    end_line(printer);
}

/* ---- tables ---- */

static bool
is_shown(const struct printer *printer, const struct bench_series *series)
{
    return strcmp(series->name.store, printer->subject->store) == 0 &&
           !isnan(bench_series_median(series, bench_series_measure(series)));
}

/* The first of those shown that has that number of threads, or more if `more`. */
static const struct bench_series *
first_shown(const struct printer *printer, unsigned threads, bool more)
{
    const struct bench_result *result = printer->table->result;

    for (const struct bench_series *s = result->series; s < result->series + result->count; s++) {
        if (is_shown(printer, s) && (s->name.threads == threads) != more)
            return s;
    }
    return NULL;
}

static void
print_marks(const struct printer *printer)
{
    fprintf(printer->to,
            "\non, off: the assertions of the store that the number is of, which slow it; asked of "
            "the library\nthat is linked, by a mistake that only they notice.");
    if (printer->behind)
        fprintf(printer->to, " *: %s is behind in each repeat.", printer->subject->title);
    fputc('\n', printer->to);
    if (printer->undecided)
        fputs("~: neither is ahead: " BENCH_VERDICT_RULE ".\n", printer->to);
}

void
bench_table_print(FILE *to, const struct bench_table *table)
{
    const struct bench_result *result = table->result;
    struct printer printer = {.table = table, .subject = table->columns, .to = to};

    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].store, BENCH_SUBJECT) == 0)
            printer.subject = &table->columns[i];
    }
    for (const struct bench_series *s = result->series; s < result->series + result->count; s++) {
        unsigned threads = s->name.threads;

        if (!is_shown(&printer, s) || first_shown(&printer, threads, false) != s)
            continue;
        print_heading(&printer, threads, first_shown(&printer, threads, true) != NULL);
        for (const struct bench_series *at = s; at < result->series + result->count; at++) {
            if (is_shown(&printer, at) && at->name.threads == threads)
                print_line(&printer, at);
        }
    }
    if (!table->markdown)
        print_marks(&printer);
}
