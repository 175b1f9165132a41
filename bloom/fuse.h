/*
 * fuse.h -- binary fuse filters over 64-bit hashes, in bytes and work memory that the caller holds.
 * Built once, from all keys; asked by three looks that do not wait for each other (Graf and Lemire
 * 2022: 3-wise binary fuse, fingerprints of 8 or 16 bits).  Knows nothing of the rest of the tree.
 *
 * A filter is an array of fingerprints, cut into SEGMENTS whose length is a power of two.  A hash
 * names a place in each of three segments that follow each other, and a fingerprint.  Building
 * fills the array so that the fingerprints of a key's three places, added modulo 2, are the key's;
 * of a key that is not in the filter they are by chance, one time in 2^8 or 2^16.
 *
 * In 64-bit arithmetic that wraps, for the hash h, with the filter's seed:
 *     x            h ^ (seed + 1) * 9E3779B97F4A7C15;  x ^= x >> 32;  x *= D6E8FEB86659FD93;
 *                  x ^= x >> 32
 *     places       a = x * starts / 2^64, where starts is segments * length;
 *                  a + length, its lowest bits changed where x >> 18 has them set;
 *                  a + 2 * length, the same by x
 *     fingerprint  the lowest bits of x ^ x >> 32
 * A length is at most 2^18.
 *
 * Bytes of a filter: (segments + 2) * length fingerprints, those of 16 bits little endian; then a
 * footer of 16 bytes (little endian):
 *     0  u32  keys      number of keys it was built for
 *     4  u8   layout    4
 *     5  u8   width     bytes of a fingerprint, 1 or 2
 *     6  u8   seed
 *     7  u8   length    its logarithm to the base of 2, 2..18
 *     8  u32  segments  in which a key's first place can lie, from 1
 *    12  u32  0
 *
 * SIZE at a width of 1, footer included, in bits a key (tests/bloom/fuse_test prints it with
 * PETAL_TABLES=1); a width of 2 takes twice as much:
 *
 *       keys     10    100   1,000   10,000   100,000   1,000,000   10,000,000
 *       bits  51.20  16.64   11.39    10.25      9.50        9.04         9.02
 *
 * Threads: all functions are pure but for what they write through their arguments.
 */
#ifndef PETAL_BLOOM_FUSE_H
#define PETAL_BLOOM_FUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOOM_FUSE_LAYOUT       4 /* stored */
#define BLOOM_FUSE_FOOTER_BYTES 16

/* Places are numbers of 32 bits. */
#define BLOOM_FUSE_MAX_KEYS (UINT32_C(1) << 31)

/* How a filter is laid out. */
struct bloom_fuse {
    uint32_t keys;
    uint32_t segments;
    uint8_t length_bits; /* of a segment's length */
    uint8_t width;
    uint8_t seed;
};

/* The shape for `keys` keys, at most BLOOM_FUSE_MAX_KEYS, with fingerprints of 1 or 2 bytes. */
struct bloom_fuse bloom_fuse_shape(uint64_t keys, unsigned width);

/* The probability that a filter of this shape lets an absent key pass. */
double bloom_fuse_expected_rate(const struct bloom_fuse *fuse);

/* Bytes of a filter of this shape, footer included. */
size_t bloom_fuse_bytes(const struct bloom_fuse *fuse);

/* Bytes of work memory that building takes: about 24 a key. */
size_t bloom_fuse_work_bytes(const struct bloom_fuse *fuse);

/*
 * Build the filter of `fuse` over its keys, hashes[0..fuse->keys), of which no two are equal, in
 * `bytes` (bloom_fuse_bytes of them, overwritten) with `work` (bloom_fuse_work_bytes, on a border
 * of 8; what it holds is no matter).  Up to 100 seeds are tried; fuse->seed is that which fits.
 * False: none does, as when two hashes are equal; the bytes are none of a filter.  Of other hashes
 * less than one seed in ten fails.
 */
bool bloom_fuse_build(struct bloom_fuse *fuse, const uint64_t *hashes, void *work, uint8_t *bytes);

/* Read a footer that is kept apart: bloom_fuse_bytes says how many bytes belong to it.  False when
 * it is none of such a filter: then that is not to be asked. */
bool bloom_fuse_read_footer(struct bloom_fuse *fuse, const uint8_t *footer);

/* The same of a filter in one piece; the footer is the last of the `size` bytes. */
bool bloom_fuse_open(struct bloom_fuse *fuse, const uint8_t *bytes, size_t size);

/* ---- questions ---- */

/* Where a hash is looked for, and what is expected there. */
struct bloom_fuse_places {
    uint32_t at[3];
    uint32_t fingerprint; /* its lowest bits, as many as the filter's have */
};

static inline uint64_t
bloom_fuse_mix(uint64_t hash, unsigned seed)
{
    uint64_t x = hash ^ (seed + 1) * 0x9E3779B97F4A7C15u;

    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

static inline struct bloom_fuse_places
bloom_fuse_places(const struct bloom_fuse *fuse, uint64_t mixed)
{
    uint64_t starts = (uint64_t)fuse->segments << fuse->length_bits;
    uint32_t length = UINT32_C(1) << fuse->length_bits, mask = length - 1;
    uint32_t first = (uint32_t)(((unsigned __int128)mixed * starts) >> 64);

    return (struct bloom_fuse_places){{first, (first + length) ^ ((uint32_t)(mixed >> 18) & mask),
                                       (first + 2 * length) ^ ((uint32_t)mixed & mask)},
                                      (uint32_t)(mixed ^ mixed >> 32)};
}

/* The fingerprints of the places and the expected one, added modulo 2: 0 if the key may be
 * there. */
static inline uint32_t
bloom_fuse_difference(const struct bloom_fuse *fuse, const uint8_t *bytes,
                      const struct bloom_fuse_places *places)
{
    uint32_t difference = places->fingerprint, high = 0;

    if (fuse->width == 1) {
        for (unsigned i = 0; i < 3; i++)
            difference ^= bytes[places->at[i]];
        return difference & 0xFF;
    }
    for (unsigned i = 0; i < 3; i++) {
        const uint8_t *fingerprint = bytes + (size_t)2 * places->at[i];

        difference ^= fingerprint[0];
        high ^= fingerprint[1];
    }
    return (difference ^ high << 8) & 0xFFFF;
}

/* False only if no key with this hash was built in. */
static inline bool
bloom_fuse_may_contain(const struct bloom_fuse *fuse, const uint8_t *bytes, uint64_t hash)
{
    struct bloom_fuse_places places = bloom_fuse_places(fuse, bloom_fuse_mix(hash, fuse->seed));

    return bloom_fuse_difference(fuse, bytes, &places) == 0;
}

#endif
