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

/* Of the lookups with one answer that costs most under the filter that suits it best: blocks with
 * NONE, and with that filter. */
struct gain {
    double none, best;
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

/* What one gains, and whether that was to be expected. */
static void
compose(const struct glance *glance, struct sentence *sentence)
{
    struct gain gains[READAMP_IN_MORE_FILES] = {0}; /* by answer */
    unsigned outside = 0;

    for (size_t lookup = 0; lookup < GLANCE_LOOKUPS; lookup++) {
        const struct glance_cell *cells = glance->cells[lookup];
        enum readamp_answer answer = glance->lookups[lookup].answer;

        if (answer != READAMP_IN_MORE_FILES)
            find_gain(&gains[answer], cells);
        for (size_t i = 0; i < GLANCE_FILTERS; i++)
            outside += cells[i].outside;
    }
    add_gains(sentence, gains);
    if (outside == 0)
        add(sentence, "all %d counts are as expected.", GLANCE_LOOKUPS * GLANCE_FILTERS);
    else
        add(sentence, "%u of %d counts (!) are not as expected.", outside,
            GLANCE_LOOKUPS * GLANCE_FILTERS);
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
