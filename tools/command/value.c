/* value.c -- see value.h. */
#include "tools/command/value.h"

#include "tools/shell/text/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The number that the value begins with; NULL, or what stands after it. */
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
    uint64_t bytes;

    if (!text_read_size(slice_of_string(value), &bytes) || bytes == 0 || bytes > SIZE_MAX)
        return false;
    *(size_t *)argument = (size_t)bytes;
    return true;
}

/* Is *number still one when it has been multiplied so often by ten? */
static bool
add_zeros(uint64_t *number, uint64_t zeros)
{
    for (; zeros > 0; zeros--) {
        if (*number > UINT64_MAX / 10)
            return false;
        *number *= 10;
    }
    return true;
}

/* What stands after the digits of a count: nothing, a power of ten, or a letter for one. */
static bool
take_power(const char *text, uint64_t *zeros)
{
    static const char letters[] = "KMGT";
    const char *letter;

    *zeros = 0;
    if (*text == '\0')
        return true;
    if (*text == 'e' || *text == 'E') {
        text = take_digits(text + 1, zeros);
        return text != NULL && *text == '\0' && *zeros <= 19;
    }
    letter = strchr(letters, *text >= 'a' ? *text - 'a' + 'A' : *text);
    if (letter != NULL)
        *zeros = 3 * (uint64_t)(letter - letters + 1);
    return letter != NULL && text[1] == '\0';
}

bool
value_take_count(void *argument, char *value)
{
    char digits[32];
    size_t size = 0, whole = SIZE_MAX; /* of the digits: before the point */
    uint64_t number, zeros, parts;

    /* Digits in groups, 1_000_000, or with a point, which a power of ten takes away: 1.5e6 */
    for (; (*value >= '0' && *value <= '9') || (size > 0 && (*value == '_' || *value == '.'));
         value++) {
        if (*value == '_')
            continue;
        if (*value == '.') {
            if (whole != SIZE_MAX)
                return false;
            whole = size;
            continue;
        }
        if (size == sizeof digits - 1)
            return false;
        digits[size++] = *value;
    }
    digits[size] = '\0';
    parts = whole == SIZE_MAX ? 0 : size - whole;
    if (take_digits(digits, &number) == NULL || number == 0 || !take_power(value, &zeros) ||
        parts > zeros || !add_zeros(&number, zeros - parts))
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
