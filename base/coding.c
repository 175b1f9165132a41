/* coding.c -- varints; see coding.h. */
#include "base/coding.h"

uint8_t *
put_varint64_slow(uint8_t *to, uint64_t v)
{
    while (v >= 0x80) {
        *to++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *to++ = (uint8_t)v;
    return to;
}

size_t
varint64_size_slow(uint64_t v)
{
    size_t size = 1;

    while (v >= 0x80) {
        v >>= 7;
        size++;
    }
    return size;
}

const uint8_t *
get_varint64(const uint8_t *from, const uint8_t *limit, uint64_t *v)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && from < limit; shift += 7) {
        uint64_t byte = *from++;

        if (shift == 63 && byte > 1)
            return NULL;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v = value;
            return from;
        }
    }
    return NULL;
}

const uint8_t *
get_varint32_slow(const uint8_t *from, const uint8_t *limit, uint32_t *v)
{
    uint64_t value;

    from = get_varint64(from, limit, &value);
    if (from == NULL || value > UINT32_MAX)
        return NULL;
    *v = (uint32_t)value;
    return from;
}
