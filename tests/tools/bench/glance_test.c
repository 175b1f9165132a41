/* glance_test.c -- the one screen of `kv-bench readamp`: it fits, whatever the figures; its
 * sentence and its marks follow from them. */
#include "tests/support/test.h"
#include "tools/bench/readamp/glance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES   24
#define COLUMNS 80

/* Six files: ROW tells 2 lookups from NONE, ROWCOL all but one, ROW_ROWCOL all. */
static struct glance
usual(void)
{
    static const char *const filters[GLANCE_FILTERS] = {"NONE", "ROW", "ROWCOL", "ROW_ROWCOL"};
    struct glance glance = {.files = 6, .rate = 0.01, .least_block = 1024, .most_block = 4096};

    for (size_t i = 0; i < GLANCE_FILTERS; i++)
        glance.filters[i] = filters[i];
    for (size_t lookup = 0; lookup < GLANCE_LOOKUPS; lookup++) {
        glance.lookups[lookup] = (struct glance_lookup){"a column that all files have",
                                                        lookup == 0   ? READAMP_NOWHERE
                                                        : lookup == 1 ? READAMP_IN_ONE_FILE
                                                                      : READAMP_IN_MORE_FILES};
        for (size_t i = 0; i < GLANCE_FILTERS; i++) {
            struct glance_cell *cell = &glance.cells[lookup][i];
            bool tells = (i == 1 && lookup < 2) || (i == 2 && lookup > 0) || i == 3;

            *cell = (struct glance_cell){.measured = tells ? 0.3 : 6,
                                         .expected = tells ? 0.31 : 6,
                                         .hbase = i == 3  ? NAN
                                                  : tells ? 0.315
                                                          : 6};
        }
    }
    return glance;
}

struct screen {
    char *text;
    size_t lines, columns; /* of the longest line; a character of UTF-8 is one */
};

static struct screen
print(const struct glance *glance, struct glance_style style)
{
    struct screen screen = {0};
    size_t size, columns = 0;
    FILE *file = open_memstream(&screen.text, &size);

    assert_non_null(file);
    glance_print(glance, style, file);
    assert_int_equal(fclose(file), 0);
    for (const char *at = screen.text; *at != '\0'; at++) {
        columns += ((unsigned char)*at & 0xc0) != 0x80;
        if (*at != '\n')
            continue;
        screen.lines++;
        screen.columns = columns - 1 > screen.columns ? columns - 1 : screen.columns;
        columns = 0;
    }
    assert_true(columns == 0); /* it ends with a line's end */
    return screen;
}

static void
expect(const struct glance *glance, const char *wanted)
{
    struct screen screen = print(glance, (struct glance_style){0});

    for (char *at = screen.text; (at = strchr(at, '\n')) != NULL;)
        *at = ' ';
    if (strstr(screen.text, wanted) == NULL)
        fail_msg("\"%s\" is not in: %s", wanted, screen.text);
    free(screen.text);
}

TEST(it_fits_on_a_screen)
{
    static const double counts[] = {0, 0.0001, 0.99999, 9.999, 70.5, 99.999, 99999};

    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        struct glance glance = usual();
        struct screen screen;

        for (size_t cell = 0; cell < GLANCE_LOOKUPS * GLANCE_FILTERS; cell++) {
            size_t lookup = cell % GLANCE_LOOKUPS, filter = cell / GLANCE_LOOKUPS;

            glance.cells[lookup][filter].outside = i % 2 == 1;
            glance.cells[lookup][filter].measured = counts[i / 2];
            glance.cells[lookup][filter].expected = counts[(i / 2 + cell) % 7];
            glance.cells[lookup][filter].hbase = counts[(i / 2 + 3 * cell) % 7];
        }
        screen = print(&glance, (struct glance_style){.blocks = i % 3 == 0});
        assert_in_range(screen.lines, 20, LINES);
        assert_in_range(screen.columns, 70, COLUMNS);
        free(screen.text);
    }
}

TEST(the_sentence_follows_from_the_figures)
{
    struct glance glance = usual();

    expect(&glance, "What is not there costs 0.3 blocks instead of 6 (20 times fewer), what one "
                    "file has 0.3 (20 times fewer), where the filter can tell: all 32 "
                    "counts are as expected. ");
    glance.cells[0][1].measured = 5.9; /* within 2 % of NONE's 6 */
    glance.cells[1][1].measured = 5.9;
    expect(&glance, "costs 0.3 blocks instead of 6 (20 times fewer), what one file has 0.3 (20 "
                    "times fewer), where"); /* by others */
    glance.cells[0][3].measured = 2;
    expect(&glance, "costs 2 blocks instead of 6 (3.0 times fewer), what one file has 0.3 (20 ");
    glance.lookups[4].answer = READAMP_IN_ONE_FILE;
    for (size_t i = 0; i < GLANCE_FILTERS; i++)
        glance.cells[4][i].measured = i == 0 ? 18 : 1.504;
    expect(&glance, "costs 2 blocks instead of 6 (3.0 times fewer), what one file has 1.5 instead "
                    "of 18 (12 times fewer), where");
    glance = usual();
    for (size_t i = 0; i < GLANCE_FILTERS; i++)
        glance.cells[0][i].measured = i == 0 ? 6 : 0.0002;
    expect(&glance, "costs less than 0.001 blocks instead of 6, what");
    for (size_t i = 1; i < GLANCE_FILTERS; i++)
        glance.cells[0][i].measured = 0;
    expect(&glance, "costs 0 blocks instead of 6, what");
    glance = usual();
    glance.cells[3][0].outside = glance.cells[4][2].outside = true;
    expect(&glance, ": 2 of 32 counts (!) are not as expected. ");
}

TEST(cells_show_what_was_counted)
{
    struct glance glance = usual();
    struct screen screen;

    glance.cells[0][1].outside = glance.cells[0][3].outside = true;
    glance.cells[0][1].measured = 3.25;
    screen = print(&glance, (struct glance_style){0});
    assert_non_null(strstr(screen.text, " A block: 4 KiB of cells read at once (scan: 1 KiB).\n"));
    assert_non_null(strstr(screen.text, " ###### 6.00 ###|   3.25!###### 6.00 |     0.300!\n"));
    assert_non_null(strstr(
        screen.text,
        "\n   expected / HBase 2.6 counted   6.00/6.00 0.310/0.315   6.00/6.00     0.310/-\n"));
    free(screen.text);
    screen = print(&glance, (struct glance_style){.blocks = true, .faint = true});
    assert_non_null(
        strstr(screen.text, " ██████ 6.00 ███▎   3.25!██████ 6.00 ▎     0.300!\n\033[2m"));
    assert_non_null(strstr(screen.text, "0.310/-\033[0m\n"));
    free(screen.text);
}
