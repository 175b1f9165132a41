/*
 * bloom.h -- one chunk of an HBase Bloom filter: how large, for how many keys, its bits.
 *
 * A chunk is a bare array of bits, least significant first in each byte. A key sets (h1 + i * h2)
 * for i from 0 to hash_count - 1, where h1 is the key's hash and h2 its hash with h1 as the seed:
 * 32 bits, wrapping around, taken as a signed number; its remainder by the number of bits, without
 * its sign, is the bit.
 */
#ifndef PETAL_HFILE_FORMAT_BLOOM_H
#define PETAL_HFILE_FORMAT_BLOOM_H

#include "tools/hfile/format/hash.h"

#include <assert.h>

/* HBase's defaults, and the greatest size whose bits are counted by a signed 32 bit number. */
#define HFILE_BLOOM_CHUNK_BYTES      131072u
#define HFILE_BLOOM_ERROR_RATE       0.01
#define HFILE_BLOOM_MOST_CHUNK_BYTES ((1u << 28) - 1)

/* Of a chunk that is being filled. */
struct hfile_bloom_shape {
    uint32_t bytes;
    int hash_count;
    uint32_t max_keys; /* for the error rate */
};

/*
 * HBase's choice for chunks of about `chunk_bytes` (rounded up to a multiple of 128) and an error
 * rate of the file, of which a ROWCOL filter takes its share, since a get asks it twice. False:
 * there is no such chunk.
 */
bool hfile_bloom_shape_of(uint32_t chunk_bytes, double error_rate, bool is_rowcol,
                          struct hfile_bloom_shape *shape);

/* Both hashes of a key. */
struct hfile_bloom_hashes {
    uint32_t first, second;
};

static inline struct hfile_bloom_hashes
hfile_bloom_hash(int type, const void *key, size_t size)
{
    struct hfile_bloom_hashes hashes;

    hashes.first = hfile_hash(type, key, size, 0);
    hashes.second = hfile_hash(type, key, size, hashes.first);
    return hashes;
}

/* The bit of a chunk of so many bits. REQUIRES: bits > 0 */
static inline uint32_t
hfile_bloom_bit(uint32_t position, uint32_t bits)
{
    /* -2^31 has no positive twin in 32 bits, but the same remainder without them. */
    uint32_t magnitude = position > INT32_MAX ? 0u - position : position;

    assert(bits > 0);
    return (bits & (bits - 1)) == 0 ? magnitude & (bits - 1) : magnitude % bits;
}

/* REQUIRES: 0 < bytes <= HFILE_BLOOM_MOST_CHUNK_BYTES */
void hfile_bloom_add(uint8_t *chunk, uint32_t bytes, int hash_count,
                     struct hfile_bloom_hashes hashes);
bool hfile_bloom_contains(const uint8_t *chunk, uint32_t bytes, int hash_count,
                          struct hfile_bloom_hashes hashes);

/*
 * A chunk that got fewer keys than it was made for is halved as long as those fill at most a half:
 * bits of the upper half go to where a remainder by half the size finds them. `shape` becomes that
 * of what is left at the chunk's begin.
 */
void hfile_bloom_fold(uint8_t *chunk, struct hfile_bloom_shape *shape, uint64_t keys);

#endif
