/* bits.h -- the bits of a word: how many are set, which is the lowest. */
#ifndef PETAL_BLOOM_BITS_H
#define PETAL_BLOOM_BITS_H

#include <stdint.h>

/* Set bits. */
static inline unsigned
count_bits(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (unsigned)(word * 0x0101010101010101u >> 56);
}

/* The number of the lowest set bit.  REQUIRES: there is one. */
static inline unsigned
lowest_bit(uint64_t word)
{
    return (unsigned)__builtin_ctzll(word);
}

#endif
