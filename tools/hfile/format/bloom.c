/*
 * bloom.c -- see bloom.h. The arithmetic is HBase's (BloomFilterUtil), rounding included: chunks of
 * one file must be equal bit for bit whoever makes them.
 */
#include "tools/hfile/format/bloom.h"

#include <math.h>

/* A chunk can be halved so often. */
#define MAX_FOLDS 7

static const double LN2 = 0.693147180559945309417;

bool
hfile_bloom_shape_of(uint32_t chunk_bytes, double error_rate, bool is_rowcol,
                     struct hfile_bloom_shape *shape)
{
    uint64_t bytes = ((uint64_t)chunk_bytes + (1u << MAX_FOLDS) - 1) >> MAX_FOLDS << MAX_FOLDS;
    uint64_t bits = bytes * 8;
    uint64_t ideal_keys, keys;
    int hash_count;

    if (bytes == 0 || bytes > HFILE_BLOOM_MOST_CHUNK_BYTES || !(error_rate > 0 && error_rate < 1))
        return false;
    if (is_rowcol)
        error_rate = 1 - sqrt(1 - error_rate);
    ideal_keys = (uint64_t)((double)bits * (LN2 * LN2 / -log(error_rate)));
    if (ideal_keys == 0)
        return false;
    hash_count = (int)ceil(LN2 * (double)(bits / ideal_keys));
    keys = (uint64_t)(-(double)bits / hash_count * log(1 - exp(log(error_rate) / hash_count)));
    if (keys == 0 || keys > INT32_MAX)
        return false;
    *shape = (struct hfile_bloom_shape){(uint32_t)bytes, hash_count, (uint32_t)keys};
    return true;
}

void
hfile_bloom_add(uint8_t *chunk, uint32_t bytes, int hash_count, struct hfile_bloom_hashes hashes)
{
    uint32_t position = hashes.first;

    assert(bytes > 0 && bytes <= HFILE_BLOOM_MOST_CHUNK_BYTES);
    for (int i = 0; i < hash_count; i++, position += hashes.second) {
        uint32_t bit = hfile_bloom_bit(position, bytes * 8);
        chunk[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

bool
hfile_bloom_contains(const uint8_t *chunk, uint32_t bytes, int hash_count,
                     struct hfile_bloom_hashes hashes)
{
    uint32_t position = hashes.first;

    assert(bytes > 0 && bytes <= HFILE_BLOOM_MOST_CHUNK_BYTES);
    for (int i = 0; i < hash_count; i++, position += hashes.second) {
        uint32_t bit = hfile_bloom_bit(position, bytes * 8);
        if ((chunk[bit / 8] >> bit % 8 & 1) == 0)
            return false;
    }
    return true;
}

void
hfile_bloom_fold(uint8_t *chunk, struct hfile_bloom_shape *shape, uint64_t keys)
{
    if (keys == 0)
        return;
    while (shape->bytes % 2 == 0 && shape->max_keys > 2 * keys) {
        shape->bytes /= 2;
        shape->max_keys /= 2;
        for (uint32_t i = 0; i < shape->bytes; i++)
            chunk[i] |= chunk[shape->bytes + i];
    }
}
