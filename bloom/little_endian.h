/* little_endian.h -- numbers in the bytes of filters, at any address. */
#ifndef PETAL_BLOOM_LITTLE_ENDIAN_H
#define PETAL_BLOOM_LITTLE_ENDIAN_H

#include <stdint.h>
#include <string.h>

/* Between a number and a word whose eight bytes lie in memory with the lowest first: one in place
 * of the other. */
static inline uint64_t
little_endian_word(uint64_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/* Spelled out, compilers make one load of it, which they do not of a loop; every question opens
 * its chunk. */
static inline uint32_t
load_le32(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static inline uint64_t
load_le64(const uint8_t *from)
{
    return load_le32(from) | (uint64_t)load_le32(from + 4) << 32;
}

/* The same, for loops over words: one load whatever the compiler makes of the address. */
static inline uint64_t
load_word(const uint8_t *from)
{
    uint64_t word;

    memcpy(&word, from, sizeof word);
    return little_endian_word(word);
}

static inline void
store_little_endian(uint8_t *to, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++, value >>= 8)
        to[i] = (uint8_t)value;
}

#endif
