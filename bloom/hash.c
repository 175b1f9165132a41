/*
 * hash.c -- see hash.h.
 *
 *     row            XXH3(row,       seed = salt)
 *     column         XXH3(qualifier, seed = row hash ^ COLUMN)
 *     family marker  XXH3("",        seed = row hash ^ FAMILY_MARKER)
 *
 * COLUMN and FAMILY_MARKER are stored constants in effect: filters on disk depend on them.
 */
#include "bloom/hash.h"

/* The short inputs of a get are hashed in line: a call would cost as much as the hash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

static const uint64_t COLUMN = 0xA0761D6478BD642Fu;
static const uint64_t FAMILY_MARKER = 0xE7037ED1A0B428DBu;

uint64_t
bloom_hash_row(uint64_t salt, const void *row, size_t size)
{
    return XXH3_64bits_withSeed(row, size, salt);
}

uint64_t
bloom_hash_column(uint64_t row_hash, const void *qualifier, size_t size)
{
    return XXH3_64bits_withSeed(qualifier, size, row_hash ^ COLUMN);
}

uint64_t
bloom_hash_family_marker(uint64_t row_hash)
{
    return XXH3_64bits_withSeed("", 0, row_hash ^ FAMILY_MARKER);
}
