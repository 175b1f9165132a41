/* format_page.c -- see format_page.h. */
#include "tests/damage/format_page.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1000

static FILE *
open_page(const char *page)
{
    FILE *file = fopen(page, "r");

    if (file == NULL)
        fail_msg("no page %s: is this the root of the sources?", page);
    return file;
}

/* Read on until a line begins so. */
static void
find_line(FILE *file, const char *page, const char *beginning, char line[LINE_BYTES])
{
    do {
        if (fgets(line, LINE_BYTES, file) == NULL)
            fail_msg("%s: nothing begins with \"%s\"", page, beginning);
    } while (strncmp(line, beginning, strlen(beginning)) != 0);
}

static bool
take_field(struct page_field *field, const char *line)
{
    unsigned long at, bytes;
    char rest[LINE_BYTES] = "";
    bool from_end = sscanf(line, "| end - %lu | %lu | %999[^|]", &at, &bytes, rest) == 3;

    if (!from_end && sscanf(line, "| %lu | %lu | %999[^|]", &at, &bytes, rest) != 3)
        return false;
    *field = (struct page_field){.at = at, .from_end = from_end, .bytes = (unsigned)bytes};
    snprintf(field->meaning, sizeof field->meaning, "%.*s", (int)sizeof field->meaning - 1, rest);
    return true;
}

size_t
page_fields(const char *page, const char *heading, struct page_field *fields)
{
    FILE *file = open_page(page);
    char line[LINE_BYTES];
    size_t count = 0;

    find_line(file, page, heading, line);
    find_line(file, page, "| offset | size |", line);
    while (fgets(line, LINE_BYTES, file) != NULL && line[0] == '|') {
        assert_true(count < PAGE_MOST_FIELDS);
        count += take_field(&fields[count], line);
    }
    fclose(file);
    assert_true(count > 0);
    return count;
}

size_t
page_numbers(const char *page, const char *table, unsigned *numbers, size_t most)
{
    FILE *file = open_page(page);
    char line[LINE_BYTES];
    size_t count = 0;

    find_line(file, page, table, line);
    while (fgets(line, LINE_BYTES, file) != NULL && line[0] == '|') {
        assert_true(count < most);
        count += sscanf(line, "| %u |", &numbers[count]) == 1;
    }
    fclose(file);
    return count;
}
