/* java_date.c -- see tools/shell/eval/java_date.h. */
#include "tools/shell/eval/java_date.h"

#include <string.h>
#include <time.h>

/* The digits at the place: as many as there are, or where digits follow in the pattern so many. */
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

bool
java_date_parse(petal_slice pattern, petal_slice text, int64_t *milliseconds)
{
    const char *letters = pattern.data;
    struct tm parts = {.tm_year = 70, .tm_mday = 1, .tm_isdst = -1};
    int fraction = 0, number;
    size_t at = 0;
    time_t seconds;

    for (size_t i = 0; i < pattern.size;) {
        char letter = letters[i];
        size_t end = i;
        bool followed;

        if (strchr("yMdHmsS", letter) == NULL || letter == '\0') {
            if (letter != '\'' && (at == text.size || ((const char *)text.data)[at++] != letter))
                return false;
            i++;
            continue;
        }
        while (end < pattern.size && letters[end] == letter)
            end++;
        followed =
            end < pattern.size && letters[end] != '\0' && strchr("yMdHmsS", letters[end]) != NULL;
        if (!take_number(text, &at, followed ? end - i : 9, &number) ||
            !set_part(&parts, &fraction, letter, end - i, number))
            return false;
        i = end;
    }
    seconds = mktime(&parts);
    *milliseconds = (int64_t)seconds * 1000 + fraction;
    return true;
}
