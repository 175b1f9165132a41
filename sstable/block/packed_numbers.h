/*
 * packed_numbers.h -- groups of 64-bit numbers in as many bits as they need.
 *
 * A GROUP is 1 to PACKED_GROUP numbers, or with PACKED_DIFFERENCES what each is above the number
 * before it, modulo 2^64.  All are stored above a base, the least of them, in the same number of
 * bits; the upper bits of those that need more come after, so that one far number does not widen
 * the others.
 * Its bytes: sstable/FORMAT.md, "Packed data block".
 *
 * Threads: pure.
 */
#ifndef PETAL_SSTABLE_BLOCK_PACKED_NUMBERS_H
#define PETAL_SSTABLE_BLOCK_PACKED_NUMBERS_H

#include "base/coding.h"

#include <stddef.h>
#include <stdint.h>

#define PACKED_GROUP            64
#define PACKED_GROUP_MOST_BYTES (2 + 2 * VARINT64_MAX_BYTES + 8 * PACKED_GROUP)

enum packing { PACKED_AS_THEY_ARE, PACKED_DIFFERENCES };

/* Write a group to `to`, which has room for PACKED_GROUP_MOST_BYTES; return the byte after it.
 * *before: the number before the group, set to its last one; used with PACKED_DIFFERENCES only. */
uint8_t *packed_numbers_put(uint8_t *to, const uint64_t *numbers, size_t count,
                            enum packing packing, uint64_t *before);

/* Read the group of `count` numbers that begins at `from`, given any bytes; return the byte after
 * it, or NULL if it is malformed or passes `limit`. */
const uint8_t *packed_numbers_get(const uint8_t *from, const uint8_t *limit, uint64_t *numbers,
                                  size_t count, enum packing packing, uint64_t *before);

#endif
