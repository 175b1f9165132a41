/*
 * short_bytes.h -- compares short byte strings as numbers, eight bytes at a time and without a
 * call: shared and differing parts of keys are mostly short.  The last number may overlap the one
 * before.
 */
#ifndef PETAL_BASE_SHORT_BYTES_H
#define PETAL_BASE_SHORT_BYTES_H

#include "base/coding.h"
#include "base/inline.h"
#include "base/slice.h"

/* <0, 0, >0: the order of two numbers. */
static inline int
short_bytes_order(uint64_t left, uint64_t right)
{
    return left < right ? -1 : left > right;
}

/* memcmp. */
static ALWAYS_INLINE int
short_bytes_compare(const uint8_t *a, const uint8_t *b, size_t size)
{
    size_t at = 0;

    if (size >= 8) {
        for (; size - at > 8; at += 8)
            if (get_le64(a + at) != get_le64(b + at))
                return short_bytes_order(get_be64(a + at), get_be64(b + at));
        return short_bytes_order(get_be64(a + size - 8), get_be64(b + size - 8));
    }
    if (size >= 4) {
        uint64_t left = get_be32(a), right = get_be32(b);

        return short_bytes_order(left << 32 | get_be32(a + size - 4),
                                 right << 32 | get_be32(b + size - 4));
    }
    while (at < size && a[at] == b[at])
        at++;
    return at == size ? 0 : a[at] < b[at] ? -1 : 1;
}

/* memcmp == 0: the order of the bytes does not matter. */
static ALWAYS_INLINE bool
short_bytes_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
    if (size >= 8) {
        for (size_t at = 0; size - at > 8; at += 8)
            if (get_le64(a + at) != get_le64(b + at))
                return false;
        return get_le64(a + size - 8) == get_le64(b + size - 8);
    }
    if (size >= 4)
        return ((get_le32(a) ^ get_le32(b)) | (get_le32(a + size - 4) ^ get_le32(b + size - 4))) ==
               0;
    return size == 0 ||
           ((a[0] ^ b[0]) | (a[size / 2] ^ b[size / 2]) | (a[size - 1] ^ b[size - 1])) == 0;
}

#endif
