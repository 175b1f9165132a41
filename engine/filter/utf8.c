/* utf8.c -- see utf8.h. */
#include "engine/filter/utf8.h"

#include <assert.h>
#include <stdbool.h>

static bool
continues(const uint8_t *at, const uint8_t *limit)
{
    return at < limit && (*at & 0xC0) == 0x80;
}

/* Does the first byte of a character allow this second one? Rules out overlong forms and characters
 * above U+10FFFF. */
static bool
second_fits(uint8_t first, uint8_t second)
{
    switch (first) {
    case 0xE0:
        return second >= 0xA0;
    case 0xF0:
        return second >= 0x90;
    case 0xF4:
        return second < 0x90;
    default:
        return true;
    }
}

uint32_t
utf8_next(const uint8_t **at, const uint8_t *limit)
{
    const uint8_t *from = *at;
    uint8_t first = *from++;
    unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    uint32_t character;

    assert(from <= limit);
    *at = from;
    if (first < 0x80)
        return first;
    if (first < 0xC2 || first > 0xF4 || !continues(from, limit) || !second_fits(first, *from))
        return UTF8_REPLACEMENT;
    character = first & (0x3Fu >> more);
    for (; more > 0 && continues(from, limit); more--)
        character = character << 6 | (*from++ & 0x3F);
    *at = from;
    if (more > 0 || (character >= 0xD800 && character < 0xE000))
        return UTF8_REPLACEMENT;
    return character;
}

/* Latin Extended-A has pairs, upper case first, at even numbers or, in two stretches, at odd
 * ones. */
static uint32_t
lower_latin_extended(uint32_t c)
{
    bool odd = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);

    if (c == 0x138 || c == 0x149 || c == 0x17F || c == 0x131)
        return c;
    if (c == 0x130)
        return 'i';
    if (c == 0x178)
        return 0xFF;
    return (c & 1) == (odd ? 1u : 0u) ? c + 1 : c;
}

uint32_t
utf8_lower(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    if (c >= 0xC0 && c <= 0xDE && c != 0xD7)
        return c + 32;
    if (c >= 0x100 && c <= 0x17F)
        return lower_latin_extended(c);
    if (c >= 0x391 && c <= 0x3AB && c != 0x3A2)
        return c + 32;
    if (c >= 0x400 && c <= 0x40F)
        return c + 80;
    if (c >= 0x410 && c <= 0x42F)
        return c + 32;
    return c;
}
