/* row.c -- see row.h. */
#include "tools/command/row.h"

#include "tools/shell/text/text.h"

bool
row_read(char *text, petal_slice *row)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; at++) {
        int high, low;

        if (*at != '\\') {
            *to++ = *at;
            continue;
        }
        if (at[1] == '\\') {
            *to++ = *++at;
            continue;
        }
        if (at[1] != 'x' || (high = text_hex_digit(at[2])) < 0 || (low = text_hex_digit(at[3])) < 0)
            return false;
        *to++ = (char)(high << 4 | low);
        at += 3;
    }
    *row = (petal_slice){text, (size_t)(to - text)};
    return true;
}

bool
row_take(void *argument, char *value)
{
    petal_slice *row = argument;

    return row_read(value, row) && row->size > 0;
}
