/* successor.c -- see tools/shell/eval/successor.h. */
#include "tools/shell/eval/successor.h"

#include <string.h>

/* The first and the last of the letters that the byte is one of; 0 of none. */
static char
first_of(char letter)
{
    if (letter >= '0' && letter <= '9')
        return '0';
    return letter >= 'a' && letter <= 'z' ? 'a' : letter >= 'A' && letter <= 'Z' ? 'A' : '\0';
}

static char
last_of(char letter)
{
    return first_of(letter) == '0' ? '9' : first_of(letter) == 'a' ? 'z' : 'Z';
}

/* Without letters and digits the bytes count as digits of base 256. */
static void
succeed_bytes(struct text *text)
{
    for (size_t i = text->size; i > 0; i--) {
        text->bytes[i - 1] = (char)((unsigned char)text->bytes[i - 1] + 1);
        if (text->bytes[i - 1] != '\0')
            return;
    }
}

/* A letter or digit that runs over carries to the next one before it; where there is none left,
 * one more stands before the last that ran over. */
void
text_succeed(struct text *text)
{
    size_t over = text->size; /* place of the last that ran over */
    size_t leading = 0;       /* bytes before the first letter or digit */

    while (leading < text->size && first_of(text->bytes[leading]) == '\0')
        leading++;
    for (size_t i = text->size; i > 0; i--) {
        char *letter = &text->bytes[i - 1];

        if (first_of(*letter) == '\0') {
            /* What is no letter parts numbers: 1.9 goes on as 2.0; but -9 as -10. */
            if (over < text->size && i <= leading)
                break;
            continue;
        }
        if (*letter != last_of(*letter)) {
            (*letter)++;
            return;
        }
        *letter = first_of(*letter);
        over = i - 1;
    }
    if (over == text->size) {
        succeed_bytes(text);
        return;
    }
    text_reserve(text, 1);
    memmove(text->bytes + over + 1, text->bytes + over, text->size - over + 1);
    if (text->bytes[over + 1] == '0')
        text->bytes[over] = '1';
    else
        text->bytes[over] = text->bytes[over + 1];
    text->size++;
}
