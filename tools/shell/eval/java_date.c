/* java_date.c -- see tools/shell/eval/java_date.h. */
#include "tools/shell/eval/java_date.h"

#include <string.h>
#include <time.h>

enum { MOST_DIGITS = 9 }; /* of a number that an int holds */

/* The digits at the place, `most` of them at most. */
static bool
take_number(petal_slice text, size_t *at, size_t most, int *number)
{
    const char *letters = text.data;
    size_t begin = *at;

    *number = 0;
    while (*at < text.size && *at - begin < most && letters[*at] >= '0' && letters[*at] <= '9')
        *number = 10 * *number + (letters[(*at)++] - '0');
    return *at > begin;
}

/* Two digits of a year are of the century that ends 20 years from now, as in Java. */
static int
full_year(int year)
{
    time_t now = time(NULL);
    struct tm parts;
    int greatest = 2045;

    if (localtime_r(&now, &parts) != NULL)
        greatest = parts.tm_year + 1900 + 20;
    year += greatest / 100 * 100;
    return year > greatest ? year - 100 : year;
}

static bool
set_part(struct tm *parts, int *milliseconds, char letter, size_t letters, int number)
{
    switch (letter) {
    case 'y':
        parts->tm_year = (letters <= 2 && number < 100 ? full_year(number) : number) - 1900;
        return true;
    case 'M':
        parts->tm_mon = number - 1;
        return true;
    case 'd':
        parts->tm_mday = number;
        return true;
    case 'H':
        parts->tm_hour = number;
        return true;
    case 'm':
        parts->tm_min = number;
        return true;
    case 's':
        parts->tm_sec = number;
        return true;
    case 'S':
        *milliseconds = number;
        return true;
    default:
        return false;
    }
}

static bool
is_part(char letter)
{
    return letter != '\0' && strchr("yMdHmsS", letter) != NULL;
}

bool
java_date_parse(petal_slice pattern, petal_slice text, int64_t *milliseconds)
{
    const char *letters = pattern.data;
    struct tm parts = {.tm_year = 70, .tm_mday = 1, .tm_isdst = -1};
    int fraction = 0, number;
    size_t at = 0;

    for (size_t i = 0, end; i < pattern.size; i = end) {
        char letter = letters[i];
        size_t most = MOST_DIGITS;

        end = i + 1;
        if (!is_part(letter)) {
            if (letter != '\'' && (at == text.size || ((const char *)text.data)[at++] != letter))
                return false;
            continue;
        }
        while (end < pattern.size && letters[end] == letter)
            end++;
        /* Where digits follow digits the pattern tells whose they are. */
        if (end < pattern.size && is_part(letters[end]) && end - i < MOST_DIGITS)
            most = end - i;
        if (!take_number(text, &at, most, &number) ||
            !set_part(&parts, &fraction, letter, end - i, number))
            return false;
    }
    return !__builtin_mul_overflow((int64_t)mktime(&parts), 1000, milliseconds) &&
           !__builtin_add_overflow(*milliseconds, fraction, milliseconds);
}
