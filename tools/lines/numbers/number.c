/* number.c -- see number.h. */
#include "tools/lines/numbers/number.h"

#include <assert.h>
#include <string.h>

/* A signed number is its key when the sign is turned over: -1 stands before 0 then. */
static const uint64_t SIGN = UINT64_C(1) << 63;

static uint64_t
key_of(const struct number_form *form, uint64_t bits)
{
    return form->is_unsigned ? bits : bits ^ SIGN;
}

uint64_t
number_least(const struct number_form *form)
{
    return form->bytes == 4 && !form->is_unsigned ? key_of(form, (uint64_t)INT32_MIN) : 0;
}

uint64_t
number_greatest(const struct number_form *form)
{
    if (form->bytes != 4)
        return UINT64_MAX;
    return form->is_unsigned ? UINT32_MAX : key_of(form, INT32_MAX);
}

static bool
is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

/* Digits to a number: at least one, and no more than 64 bits hold. */
static bool
read_digits(const char *text, size_t size, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';

        if (digit > 9)
            return false;
        /* Nineteen digits always fit. */
        if (i >= 19 && (value > UINT64_MAX / 10 || value * 10 > UINT64_MAX - digit))
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return size > 0;
}

bool
number_read_text(const struct number_form *form, const char *text, size_t size, uint64_t *key)
{
    bool is_negative;
    uint64_t value;

    while (size > 0 && is_blank(text[size - 1]))
        size--;
    while (size > 0 && is_blank(*text))
        text++, size--;
    is_negative = size > 0 && *text == '-';
    if (size > 0 && (is_negative || *text == '+'))
        text++, size--;
    if (!read_digits(text, size, &value))
        return false;
    if (form->is_unsigned ? is_negative && value != 0 : value > SIGN - !is_negative)
        return false;
    *key = key_of(form, is_negative ? 0 - value : value);
    return form->bytes != 4 || (*key >= number_least(form) && *key <= number_greatest(form));
}

uint64_t
number_read_bytes(const struct number_form *form, const uint8_t *bytes)
{
    uint64_t bits = 0;

    assert(form->bytes == 4 || form->bytes == 8);
    for (unsigned i = form->bytes; i-- > 0;)
        bits = bits << 8 | bytes[i];
    if (form->bytes == 4 && !form->is_unsigned)
        bits = (uint64_t)(int32_t)(uint32_t)bits;
    return key_of(form, bits);
}

size_t
number_write_text(const struct number_form *form, uint64_t key, char text[NUMBER_TEXT_BYTES])
{
    uint64_t bits = key_of(form, key);
    bool is_negative = !form->is_unsigned && bits >= SIGN;
    char digits[NUMBER_TEXT_BYTES];
    size_t at = sizeof digits;

    if (is_negative)
        bits = 0 - bits;
    do {
        digits[--at] = (char)('0' + bits % 10);
        bits /= 10;
    } while (bits != 0);
    if (is_negative)
        digits[--at] = '-';
    memcpy(text, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

size_t
number_write_bytes(const struct number_form *form, uint64_t key, uint8_t bytes[8])
{
    uint64_t bits = key_of(form, key);

    assert(form->bytes == 4 || form->bytes == 8);
    assert(key >= number_least(form) && key <= number_greatest(form));
    for (unsigned i = 0; i < form->bytes; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
    return form->bytes;
}
