/* directive.c -- see tools/shell/eval/directive.h. */
#include "tools/shell/eval/directive.h"

#include "tools/shell/eval/operator.h"

#include <math.h>
#include <string.h>

enum { MOST_WIDTH = 10000 };

struct directive {
    char flags[8]; /* as they stand, without repetitions */
    size_t flag_count;
    unsigned width, precision;
    bool has_precision;
    char letter;
};

static bool
take_count(petal_slice pattern, size_t *at, unsigned *count)
{
    const char *letters = pattern.data;

    for (*count = 0; *at < pattern.size && letters[*at] >= '0' && letters[*at] <= '9'; (*at)++)
        if ((*count = 10 * *count + (unsigned)(letters[*at] - '0')) > MOST_WIDTH)
            return false;
    return true;
}

/* Behind the percent sign. */
static bool
read_directive(petal_slice pattern, size_t *at, struct directive *directive)
{
    const char *letters = pattern.data;

    *directive = (struct directive){.flag_count = 0};
    for (; *at < pattern.size && letters[*at] != '\0' && strchr("-+ 0#", letters[*at]); (*at)++)
        if (strchr(directive->flags, letters[*at]) == NULL)
            directive->flags[directive->flag_count++] = letters[*at];
    if (!take_count(pattern, at, &directive->width))
        return false;
    directive->has_precision = *at < pattern.size && letters[*at] == '.';
    if (directive->has_precision) {
        (*at)++;
        if (!take_count(pattern, at, &directive->precision))
            return false;
    }
    if (*at == pattern.size)
        return false;
    directive->letter = letters[(*at)++];
    return true;
}

static bool
has_flag(const struct directive *directive, char flag)
{
    return memchr(directive->flags, flag, directive->flag_count) != NULL;
}

/* The sign, then the rest, with blanks before or behind up to the width, or zeros between the
 * two. */
static void
add_padded(struct text *text, const struct directive *directive, const char *sign, petal_slice rest,
           bool zeros)
{
    size_t characters = strlen(sign) + text_characters(rest);
    size_t missing = directive->width > characters ? directive->width - characters : 0;
    bool left = has_flag(directive, '-');

    for (size_t i = 0; i < missing && !left && !zeros; i++)
        text_add_string(text, " ");
    text_add_string(text, sign);
    for (size_t i = 0; i < missing && !left && zeros; i++)
        text_add_string(text, "0");
    text_add_slice(text, rest);
    for (size_t i = 0; i < missing && left; i++)
        text_add_string(text, " ");
}

static const char *
sign_of(const struct directive *directive, bool negative)
{
    if (negative)
        return "-";
    return has_flag(directive, '+') ? "+" : has_flag(directive, ' ') ? " " : "";
}

static void
add_integer(struct text *text, const struct directive *directive, int64_t number)
{
    static const char small[] = "0123456789abcdef", large[] = "0123456789ABCDEF";
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char letter = directive->letter;
    unsigned base = letter == 'x' || letter == 'X' ? 16
                    : letter == 'o'                ? 8
                    : letter == 'b'                ? 2
                                                   : 10;
    char digits[64];
    size_t begin = sizeof(digits);
    struct text shown = {0};

    do
        digits[--begin] = (letter == 'X' ? large : small)[rest % base];
    while ((rest /= base) != 0);
    for (size_t i = sizeof(digits) - begin; directive->has_precision && i < directive->precision;
         i++)
        text_add_string(&shown, "0");
    text_add(&shown, digits + begin, sizeof(digits) - begin);
    add_padded(text, directive, sign_of(directive, number < 0), text_slice(&shown),
               has_flag(directive, '0') && !directive->has_precision);
    text_free(&shown);
}

static void
add_fraction(struct text *text, const struct directive *directive, double number)
{
    int precision = directive->has_precision ? (int)directive->precision : 6;
    double rest = signbit(number) ? -number : number;
    struct text shown = {0};

    if (directive->letter == 'e')
        text_add_format(&shown, "%.*e", precision, rest);
    else if (directive->letter == 'g')
        text_add_format(&shown, "%.*g", precision, rest);
    else
        text_add_format(&shown, "%.*f", precision, rest);
    add_padded(text, directive, sign_of(directive, signbit(number)), text_slice(&shown),
               has_flag(directive, '0') && isfinite(number));
    text_free(&shown);
}

static void
add_text(struct text *text, const struct directive *directive, const struct value *value)
{
    struct text shown = {0};
    petal_slice bytes;

    if (directive->letter == 'p')
        value_inspect(&shown, value);
    else
        value_to_text(&shown, value);
    bytes = text_slice(&shown);
    if (directive->has_precision)
        bytes = text_take_characters(&bytes, directive->precision);
    add_padded(text, directive, "", bytes, false);
    text_free(&shown);
}

/* What stands in the place of one directive. */
static bool
add_value(struct text *text, const struct directive *directive, const struct value *value,
          struct complaint *complaint)
{
    bool number = value->kind == VALUE_INTEGER || value->kind == VALUE_FLOAT;
    int64_t integer;

    if (directive->letter == 's' || directive->letter == 'p') {
        add_text(text, directive, value);
        return true;
    }
    if (strchr("diuxXobefg", directive->letter) == NULL || directive->letter == '\0')
        return complain(complaint, "ArgumentError", "there is no directive %%%c",
                        directive->letter > ' ' ? directive->letter : '?');
    if (!number)
        return complain(complaint, "TypeError", "%%%c takes a number, not %s", directive->letter,
                        value_class(value));
    if (strchr("efg", directive->letter) != NULL)
        add_fraction(text, directive,
                     value->kind == VALUE_FLOAT ? value->as.number : (double)value->as.integer);
    else if (value_to_integer(value, &integer))
        add_integer(text, directive, integer);
    else
        return complain(complaint, "RangeError", "the number does not fit into 64 bits");
    return true;
}

static bool
fill(struct text *text, petal_slice pattern, const struct value *values, size_t count,
     struct complaint *complaint)
{
    const char *letters = pattern.data;
    size_t used = 0;

    for (size_t at = 0; at < pattern.size;) {
        struct directive directive;

        if (letters[at++] != '%') {
            text_add(text, letters + at - 1, 1);
            continue;
        }
        if (!read_directive(pattern, &at, &directive))
            return complain(complaint, "ArgumentError",
                            "a directive such as %%5d is incomplete, "
                            "or wider than %d",
                            MOST_WIDTH);
        if (directive.letter == '%') {
            text_add_string(text, "%");
            continue;
        }
        if (used == count)
            return complain(complaint, "ArgumentError", "there are fewer values than directives");
        if (!add_value(text, &directive, &values[used++], complaint))
            return false;
        if (text->size > MOST_BYTES)
            return complain(complaint, "ArgumentError", "a text has at most 64 MB");
    }
    return true;
}

bool
directives_fill(struct arena *arena, petal_slice pattern, const struct value *values, size_t count,
                struct value *value, struct complaint *complaint)
{
    struct text text = {0};
    bool good = fill(&text, pattern, values, count, complaint);

    if (good)
        *value = value_string_copy(arena, text_slice(&text));
    text_free(&text);
    return good;
}
