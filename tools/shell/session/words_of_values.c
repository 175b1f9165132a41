/* words_of_values.c -- see tools/shell/session/words_of_values.h. */
#include "tools/shell/session/words_of_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool
equals_ignoring_case(petal_slice bytes, const char *word)
{
    return bytes.size == strlen(word) && strncasecmp(bytes.data, word, bytes.size) == 0;
}

bool
value_read_number(const struct value *value, int64_t *number)
{
    char digits[24];
    char *end;

    if (value->kind == VALUE_INTEGER) {
        *number = value->as.integer;
        return true;
    }
    if (value->kind != VALUE_STRING || value->as.bytes.size == 0 ||
        value->as.bytes.size >= sizeof(digits))
        return false;
    memcpy(digits, value->as.bytes.data, value->as.bytes.size);
    digits[value->as.bytes.size] = '\0';
    if (strspn(digits, "-0123456789") < value->as.bytes.size)
        return false;
    errno = 0;
    *number = strtoll(digits, &end, 10);
    return *end == '\0' && errno == 0;
}

bool
value_read_size(const struct value *value, int64_t *number)
{
    uint64_t bytes;

    if (value_read_number(value, number))
        return true;
    if (value->kind != VALUE_STRING || !text_read_size(value->as.bytes, &bytes) ||
        bytes > INT64_MAX)
        return false;
    *number = (int64_t)bytes;
    return true;
}

bool
value_read_boolean(struct session *session, const struct value *value)
{
    return equals_ignoring_case(value_to_bytes(&session->arena, value), "true");
}

enum shell_status
value_fail(struct session *session, petal_slice attribute, const struct value *value,
           const char *wanted)
{
    text_clear(&session->scratch);
    value_inspect(&session->scratch, value);
    return session_fail(session, SHELL_USAGE, "%.*s cannot be %.200s: %s", SLICE(attribute),
                        text_string(&session->scratch), wanted);
}

enum shell_status
value_read_word(struct session *session, petal_slice key, const struct value *value,
                const struct word *words, int *number)
{
    petal_slice text = value_to_bytes(&session->arena, value);
    char wanted[128] = "use one of";

    for (const struct word *word = words; word->name != NULL; word++) {
        if (equals_ignoring_case(text, word->name)) {
            *number = word->value;
            return SHELL_FINE;
        }
        strcat(wanted, " ");
        strcat(wanted, word->name);
    }
    return value_fail(session, key, value, wanted);
}

/* Step over a number, blanks and a unit such as DAY or DAYS, whatever their case; false if
 * something else stands there. */
static bool
take_interval(const char **text, const char *unit, int64_t *count)
{
    char *end;
    size_t length = strlen(unit);
    long number;

    if (**text < '0' || **text > '9')
        return false;
    number = strtol(*text, &end, 10);
    end += strspn(end, " ");
    if (strncasecmp(end, unit, length) != 0 || number > PETAL_FOREVER)
        return false;
    end += length;
    end += *end == 'S' || *end == 's';
    *count = number;
    *text = end + strspn(end, " ");
    return true;
}

int64_t
parse_interval(petal_slice bytes)
{
    static const struct {
        const char *unit;
        int64_t seconds;
    } units[] = {{"DAY", 86400}, {"HOUR", 3600}, {"MINUTE", 60}, {"SECOND", 1}};
    char copy[64];
    const char *text = copy;
    int64_t sum = 0, count;

    if (bytes.size == 0 || bytes.size >= sizeof(copy) || memchr(bytes.data, 0, bytes.size) != NULL)
        return 0;
    memcpy(copy, bytes.data, bytes.size);
    copy[bytes.size] = '\0';
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (take_interval(&text, units[i].unit, &count))
            sum += count * units[i].seconds;
    /* "93600 SECONDS (1 DAY 2 HOURS)", as describe shows it. */
    if (*text == '(' && copy[bytes.size - 1] == ')')
        return sum;
    return *text == '\0' ? sum : 0;
}
