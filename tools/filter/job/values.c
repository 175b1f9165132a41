/* values.c -- see values.h. */
#include "tools/filter/job/values.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number that the value begins with; NULL, or what stands behind it. */
static const char *
take_digits(const char *value, uint64_t *number)
{
    char *end;

    if (*value < '0' || *value > '9')
        return NULL;
    errno = 0;
    *number = strtoull(value, &end, 10);
    return errno == 0 ? end : NULL;
}

bool
value_take_size(void *argument, char *value)
{
    static const char letters[] = "KMGT";
    uint64_t number;
    const char *end = take_digits(value, &number);
    unsigned shift = 0;

    if (end == NULL)
        return false;
    if (*end != '\0') {
        const char *letter = strchr(letters, *end >= 'a' ? *end - 'a' + 'A' : *end);

        if (letter == NULL)
            return false;
        shift = 10 * (unsigned)(letter - letters + 1);
        end++;
        if (*end == 'i')
            end++;
        if (*end == 'B')
            end++;
    }
    if (*end != '\0' || number == 0 || number > SIZE_MAX >> shift)
        return false;
    *(size_t *)argument = (size_t)number << shift;
    return true;
}

bool
value_take_count(void *argument, char *value)
{
    uint64_t number, zeros;
    const char *end = take_digits(value, &number);

    if (end == NULL)
        return false;
    if (*end == 'e') {
        end = take_digits(end + 1, &zeros);
        if (end == NULL || zeros > 19)
            return false;
        for (; zeros > 0; zeros--) {
            if (number > UINT64_MAX / 10)
                return false;
            number *= 10;
        }
    }
    if (*end != '\0' || number == 0)
        return false;
    *(uint64_t *)argument = number;
    return true;
}

bool
value_take_rate(void *argument, char *value)
{
    char *end;
    double rate = strtod(value, &end);

    if (end == value)
        return false;
    if (*end == '%') {
        rate /= 100;
        end++;
    }
    *(double *)argument = rate;
    return *end == '\0' && rate > 0 && rate < 1;
}
