/* width.c -- see tools/shell/print/width.h. */
#include "tools/shell/print/width.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { LEAST_WIDTH = 16, GREATEST_WIDTH = 10000 };

unsigned
terminal_width(FILE *file)
{
    const char *variable = getenv("COLUMNS");
    struct winsize size;
    unsigned long width = USUAL_WIDTH;

    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (variable != NULL)
        width = strtoul(variable, NULL, 10);
    if (width == 0 || width > GREATEST_WIDTH)
        width = USUAL_WIDTH;
    return width < LEAST_WIDTH ? LEAST_WIDTH : (unsigned)width;
}

unsigned
terminal_width_or_none(FILE *file)
{
    return isatty(fileno(file)) == 1 ? terminal_width(file) : 0;
}

/* The widths of characters are those of UTF-8, whatever the environment says; the program's own
 * locale stays that of C.  0: the system has none, and each character takes a column. */
static locale_t
characters(void)
{
    static locale_t made;
    static bool tried;

    if (!tried)
        made = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    tried = true;
    return made;
}

int
width_take_character(petal_slice *rest, petal_slice *character)
{
    bool valid = utf8_character_bytes(*rest) > 0;
    locale_t before;
    int width;

    *character = text_take_character(rest);
    if (!valid || characters() == (locale_t)0)
        return 1;
    if (character->size == 1)
        return *(const unsigned char *)character->data < 0x20 ||
                       *(const unsigned char *)character->data == 0x7f
                   ? -1
                   : 1;
    before = uselocale(characters());
    width = wcwidth((wchar_t)utf8_code(*character));
    (void)uselocale(before);
    return width;
}

petal_slice
width_cut(petal_slice text, size_t columns, size_t *used)
{
    petal_slice rest = text, before = text, character;

    *used = 0;
    while (rest.size > 0) {
        int width = width_take_character(&rest, &character);

        if (width > 0 && *used + (size_t)width > columns)
            break;
        *used += width > 0 ? (size_t)width : 0;
        before = rest;
    }
    return (petal_slice){text.data, text.size - before.size};
}

size_t
width_of(petal_slice text)
{
    size_t used;

    (void)width_cut(text, SIZE_MAX, &used);
    return used;
}
