/* glance.c -- see tools/bench/readamp/glance.h. */
#include "tools/bench/readamp/glance.h"

#include <assert.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS      79
#define NAME_COLUMNS 31
#define CELL_COLUMNS 11
#define BAR_COLUMNS  6
#define LIKE         0.02 /* counts that are no further apart are alike */
#define FAR_OFF      4    /* standard errors */

_Static_assert(NAME_COLUMNS + GLANCE_FILTERS * (CELL_COLUMNS + 1) == COLUMNS, "a line is full");

struct glance_style
glance_style_of(FILE *file)
{
    const char *terminal = getenv("TERM");
    bool is_terminal = isatty(fileno(file)) == 1;

    setlocale(LC_CTYPE, "");
    return (struct glance_style){.blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                                 .faint = is_terminal && getenv("NO_COLOR") == NULL &&
                                          terminal != NULL && strcmp(terminal, "dumb") != 0};
}

/* ---- the table ---- */

/* At most five characters. */
static const char *
number_text(char *text, double number)
{
    int digits = number < 0.9995 ? 3 : number < 9.995 ? 2 : number < 99.95 ? 1 : 0;

    snprintf(text, 16, isnan(number) ? "-" : "%.*f", digits, number);
    return text;
}

/* The full length stands for `whole`; what is above zero shows. */
static void
print_bar(FILE *file, bool blocks, double part, double whole)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double length = whole > 0 ? fmin(BAR_COLUMNS * part / whole, BAR_COLUMNS) : 0;
    unsigned units = (unsigned)(length * 8 + 0.5);
    unsigned printed = 0;

    if (units == 0 && part > 0)
        units = 1;
    for (; printed < units / 8; printed++)
        fputs(blocks ? "█" : "#", file);
    if (units % 8 > 0) {
        fputs(blocks ? eighths[units % 8] : units % 8 > 3 ? "#" : "|", file);
        printed++;
    }
    fprintf(file, "%*s", (int)(BAR_COLUMNS - printed), "");
}

static void
print_measured(const struct glance *glance, size_t lookup, struct glance_style style, FILE *file)
{
    assert(strlen(glance->lookups[lookup].name) <= NAME_COLUMNS);
    fprintf(file, "%-*s", NAME_COLUMNS, glance->lookups[lookup].name);
    for (size_t i = 0; i < GLANCE_FILTERS; i++) {
        const struct glance_cell *cell = &glance->cells[lookup][i];
        char text[16];

        fputc(i > 0 && cell[-1].outside ? '!' : ' ', file);
        print_bar(file, style.blocks, cell->measured, glance->cells[lookup][0].measured);
        fprintf(file, "%*s", CELL_COLUMNS - BAR_COLUMNS, number_text(text, cell->measured));
    }
    fputs(glance->cells[lookup][GLANCE_FILTERS - 1].outside ? "!\n" : "\n", file);
}

static void
print_expected(const struct glance *glance, size_t lookup, struct glance_style style, FILE *file)
{
    fprintf(file, "%s%-*s", style.faint ? "\033[2m" : "", NAME_COLUMNS,
            lookup == 0 ? "   expected / HBase 2.6 counted" : "");
    for (size_t i = 0; i < GLANCE_FILTERS; i++) {
        const struct glance_cell *cell = &glance->cells[lookup][i];
        char expected[16], hbase[16], both[34];

        snprintf(both, sizeof both, "%s/%s", number_text(expected, cell->expected),
                 number_text(hbase, cell->hbase));
        fprintf(file, " %*s", CELL_COLUMNS, both);
    }
    fputs(style.faint ? "\033[0m\n" : "\n", file);
}

/* ---- the sentence ---- */

/* Beyond what chance moves, and beyond what anybody cares for. */
static bool
is_less(double a, double b, double standard_error)
{
    return a < b * (1 - LIKE) && b - a > FAR_OFF * standard_error;
}

/* Of the lookups with one answer that costs most under the filter that suits it best: blocks with
 * NONE, and with that filter. */
struct gain {
    double none, best;
};

struct findings {
    struct gain gains[READAMP_IN_MORE_FILES]; /* by answer */
    unsigned fewer[GLANCE_FILTERS];           /* lookups that read fewer blocks than with NONE */
    unsigned counts, outside;
    unsigned hbase_known, hbase_more, hbase_fewer;
    unsigned hbase_passes_fewer; /* of those it reads fewer in: where a filter can tell */
};

static void
find_gain(struct gain *gain, const struct glance_cell cells[GLANCE_FILTERS])
{
    double best = INFINITY;

    for (size_t i = 1; i < GLANCE_FILTERS; i++)
        best = fmin(best, cells[i].measured);
    if (best > gain->best || gain->none == 0)
        *gain = (struct gain){cells[0].measured, best};
}

/* By what was to be expected, which chance does not move, as long as the count agrees with it. */
static double
steady_count(const struct glance_cell *cell)
{
    return cell->outside ? cell->measured : cell->expected;
}

static void
find_in_cell(struct findings *findings, const struct glance_cell *cell, bool can_tell)
{
    double count = steady_count(cell);

    findings->counts++;
    findings->outside += cell->outside;
    if (isnan(cell->hbase))
        return;
    findings->hbase_known++;
    findings->hbase_more += is_less(count, cell->hbase, 0);
    findings->hbase_fewer += is_less(cell->hbase, count, 0);
    findings->hbase_passes_fewer += can_tell && is_less(cell->hbase, count, 0);
}

static void
find(const struct glance *glance, struct findings *findings)
{
    *findings = (struct findings){0};
    for (size_t lookup = 0; lookup < GLANCE_LOOKUPS; lookup++) {
        const struct glance_cell *cells = glance->cells[lookup];
        enum readamp_answer answer = glance->lookups[lookup].answer;

        if (answer != READAMP_IN_MORE_FILES)
            find_gain(&findings->gains[answer], cells);
        for (size_t i = 0; i < GLANCE_FILTERS; i++) {
            bool can_tell = is_less(cells[i].measured, cells[0].measured, cells[i].standard_error);

            find_in_cell(findings, &cells[i], can_tell);
            findings->fewer[i] += can_tell;
        }
    }
}

struct sentence {
    char text[512];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void
add(struct sentence *sentence, const char *format, ...)
{
    size_t room = sizeof sentence->text - sentence->length;
    va_list arguments;

    va_start(arguments, format);
    sentence->length +=
        (size_t)vsnprintf(sentence->text + sentence->length, room, format, arguments);
    va_end(arguments);
    assert(sentence->length < sizeof sentence->text);
}

/* Without the zeros that only make columns. */
static const char *
short_text(char text[32], double number)
{
    size_t length;

    if (number > 0 && number < 0.0005)
        return strcpy(text, "less than 0.001");
    length = strlen(number_text(text, number));
    if (strchr(text, '.') == NULL)
        return text;
    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    text[length] = '\0';
    return text;
}

static void
add_times_fewer(struct sentence *sentence, const struct gain *gain)
{
    double times = gain->none / gain->best; /* infinite where nothing is read */

    if (times >= 1.05 && times < 1000)
        add(sentence, " (%.*f times fewer)", times < 9.95 ? 1 : 0, times);
}

static void
add_gains(struct sentence *sentence, const struct gain gains[READAMP_IN_MORE_FILES])
{
    const struct gain *nowhere = &gains[READAMP_NOWHERE], *one = &gains[READAMP_IN_ONE_FILE];
    char best[32], none[32];

    add(sentence, "What is not there costs %s blocks instead of %s",
        short_text(best, nowhere->best), short_text(none, nowhere->none));
    add_times_fewer(sentence, nowhere);
    add(sentence, ", what one file has %s", short_text(best, one->best));
    if (nowhere->none != one->none)
        add(sentence, " instead of %s", short_text(none, one->none));
    add_times_fewer(sentence, one);
    add(sentence, ", where the filter can tell: ");
}

/* What one gains; whether that was to be expected; whether HBase has it, too. */
static void
compose(const struct glance *glance, struct sentence *sentence)
{
    struct findings found;

    find(glance, &found);
    add_gains(sentence, found.gains);
    for (size_t i = 1; i < GLANCE_FILTERS; i++)
        add(sentence, i == 1 ? "%s in %u of %d lookups" : ", %s in %u", glance->filters[i],
            found.fewer[i], GLANCE_LOOKUPS);
    if (found.outside == 0)
        add(sentence, "; all %u counts are as expected", found.counts);
    else
        add(sentence, "; %u of %u counts (!) are not as expected", found.outside, found.counts);
    if (found.hbase_known > 0)
        add(sentence, "; HBase reads as many in %u of %u",
            found.hbase_known - found.hbase_more - found.hbase_fewer, found.hbase_known);
    if (found.hbase_more > 0)
        add(sentence, ", more in %u", found.hbase_more);
    if (found.hbase_fewer > 0)
        add(sentence, ", fewer in %u", found.hbase_fewer);
    if (found.outside == 0 && found.hbase_fewer > 0 &&
        found.hbase_fewer == found.hbase_passes_fewer)
        add(sentence, " (it rounds its filters up)");
    add(sentence, ".");
}

/* Broken at words. */
static void
print_text(const char *text, FILE *file)
{
    while (strlen(text) > COLUMNS) {
        int columns = COLUMNS;

        while (text[columns] != ' ')
            columns--;
        fprintf(file, "%.*s\n", columns, text);
        text += columns + 1;
    }
    fprintf(file, "%s\n", text);
}

/* ---- the screen ---- */

void
glance_print(const struct glance *glance, struct glance_style style, FILE *file)
{
    struct sentence sentence = {.length = 0};

    fprintf(
        file,
        "Data blocks that a lookup reads, of %.0f store files; Bloom filters of %.3g %% error\n",
        glance->files, 100 * glance->rate);
    fprintf(file, "A full bar: without filter. A block: %.3g KiB of cells read at once",
            glance->most_block / 1024);
    if (glance->least_block < glance->most_block)
        fprintf(file, " (scan: %.3g KiB)", glance->least_block / 1024);
    fputs(".\n", file);
    fprintf(file, "%-*s", NAME_COLUMNS, "measured with BLOOMFILTER =>");
    for (size_t i = 0; i < GLANCE_FILTERS; i++)
        fprintf(file, i + 1 < GLANCE_FILTERS ? " %-*s" : " %.*s\n", CELL_COLUMNS,
                glance->filters[i]);
    for (size_t lookup = 0; lookup < GLANCE_LOOKUPS; lookup++) {
        print_measured(glance, lookup, style, file);
        print_expected(glance, lookup, style, file);
    }
    compose(glance, &sentence);
    print_text(sentence.text, file);
    fputs("More lookups, files, error rates, caches: kv-bench readamp --grid (see --help)\n", file);
}
