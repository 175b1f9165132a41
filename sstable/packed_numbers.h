/*
 * packed_numbers.h -- an array of 64-bit numbers in as many bits as they need.
 *
 * The numbers are taken by PACKED_GROUP, the last ones as many as there are.  FORMAT.md, "Packed
 * numbers", has the bytes of a group.  Within a group each number takes the same number of bits,
 * but for exceptions, whose upper bits stand behind: so one far number does not cost all others.
 *
 * Threads: pure.
 */
#ifndef PETAL_SSTABLE_PACKED_NUMBERS_H
#define PETAL_SSTABLE_PACKED_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define PACKED_GROUP 128

/* Bytes that a group takes beyond 8 a number, at most. */
#define PACKED_GROUP_EXTRA 24

/* What the caller knows of the numbers; what is written is what takes least, in any case. */
enum packed_hint {
    PACKED_ANY,
    PACKED_ASCENDING /* none is below the one before */
};

/*
 * Write 1 to PACKED_GROUP numbers at `to`, which has 8 bytes for each and PACKED_GROUP_EXTRA;
 * return the byte behind.
 */
uint8_t *packed_numbers_put(uint8_t *to, const uint64_t *numbers, size_t count,
                            enum packed_hint hint);

/* Read the `count` numbers of a group of [from, limit), which may be any bytes; NULL if they are
 * none.  REQUIRES: 1 <= count <= PACKED_GROUP. */
const uint8_t *packed_numbers_get(const uint8_t *from, const uint8_t *limit, uint64_t *numbers,
                                  size_t count);

/* The byte behind a group, not looking at the numbers; NULL as above. */
const uint8_t *packed_numbers_skip(const uint8_t *from, const uint8_t *limit, size_t count);

#endif
