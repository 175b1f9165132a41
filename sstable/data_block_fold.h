/*
 * data_block_fold.h -- arrays of numbers of a data block in the order in which LZ4 finds most in
 * them.
 *
 * LZ4 sees repeated bytes, four and more, and nothing of numbers that are near to each other.  So
 * of what ascends the differences are stored, each from the number before (the first: from 0),
 * modulo the width; and the bytes of every 64 numbers, and of those that are left, change places:
 * the lowest byte of each, then the second of each, and so on.
 *
 * Threads: pure.
 */
#ifndef PETAL_SSTABLE_DATA_BLOCK_FOLD_H
#define PETAL_SSTABLE_DATA_BLOCK_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array of a data block; of width 0: none. */
struct folded_array {
    uint8_t *bytes;
    size_t count;
    uint32_t width; /* 0 to 8 */
    bool differences;
};

void fold_array(const struct folded_array *array);
void unfold_array(const struct folded_array *array);

#endif
