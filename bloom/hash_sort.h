/*
 * hash_sort.h -- 64-bit hashes in ascending order, each once.  By radix: evenly spread hashes, as
 * those of keys are, take time in proportion to their number.
 */
#ifndef PETAL_BLOOM_HASH_SORT_H
#define PETAL_BLOOM_HASH_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sort hashes[0..count) and drop duplicates; returns the number left.  `spare` has room for as many
 * and is overwritten.  All hashes share the highest `shared_bits` (0..32), which saves time; if
 * they do not, only time is lost. */
size_t bloom_hash_sort(uint64_t *hashes, size_t count, uint64_t *spare, unsigned shared_bits);

#endif
