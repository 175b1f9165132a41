/*
 * bloom_chunk.h -- a chunk of a Bloom filter in the cache, and the question to it.  What the chunk
 * is, its SHAPE, stands in the block's note (cache/block.h) from when it enters memory: so a
 * question looks at the block's descriptor and at the bits, not at the footer.
 *
 * A shape is k, whether the layout is BLOCKED, and also has the first probes (bloom/bloom.h),
 * whether it is RIBBON, and how many bits of the last byte are none of m.
 */
#ifndef PETAL_SSTABLE_FILE_BLOOM_CHUNK_H
#define PETAL_SSTABLE_FILE_BLOOM_CHUNK_H

#include "base/inline.h"
#include "bloom/bloom.h"
#include "cache/block.h"

#define BLOOM_CHUNK_PROBES  0xffu
#define BLOOM_CHUNK_BLOCKED 0x100u
#define BLOOM_CHUNK_FIRST   0x200u
#define BLOOM_CHUNK_RIBBON  0x400u
#define BLOOM_CHUNK_SLACK   16 /* shift */

/* Check any bytes; 0: they are no chunk that this version knows. */
uint32_t bloom_chunk_shape(const uint8_t *bytes, size_t size);

/* Where the first probes do not tell.  REQUIRES: the block is a chunk: its note is not 0. */
bool bloom_chunk_may_contain_rest(const struct cache_block *block, uint64_t hash);

/* May the chunk, whose note is not 0, have the key of this hash, whose first bits are `first`? */
static ALWAYS_INLINE bool
bloom_chunk_may_contain(const struct cache_block *block, uint64_t hash,
                        const struct bloom_first_bits *first)
{
    uint64_t lines = (block->size - BLOOM_FOOTER_BYTES) / BLOOM_LINE_BYTES;

    return ((block->note & BLOOM_CHUNK_FIRST) == 0 ||
            bloom_line_has_first(block->data + BLOOM_LINE_BYTES * bloom_line(hash, lines),
                                 first)) &&
           bloom_chunk_may_contain_rest(block, hash);
}

#endif
