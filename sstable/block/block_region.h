/*
 * block_region.h -- blocks of an index or a Bloom filter that the writer of a file keeps back, so
 * that they stand side by side in it: a REGION, which readers have by one read (index_region.h).
 * The first key of a block is kept with it, since the level above can name the block only when it
 * has its place.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_SSTABLE_BLOCK_BLOCK_REGION_H
#define PETAL_SSTABLE_BLOCK_BLOCK_REGION_H

#include "sstable/block/block_io.h"

#include <assert.h>

/* A region that has as much is written: the writer's memory for it is bounded by twice that. */
#define BLOCK_REGION_BYTES (1u << 20)

struct kept_block {
    size_t raw, key; /* where its bytes and its key are in those of the region */
    size_t raw_bytes, key_bytes;
    uint32_t entries, begins; /* of the frame, and of the handle (format.h) */
};

struct block_region {
    const petal_allocator *allocator;
    uint8_t *bytes;
    size_t used, capacity;
    struct kept_block *blocks;
    size_t count, blocks_capacity;
};

/* Allocates nothing. */
void block_region_init(struct block_region *region, const petal_allocator *allocator);
void block_region_fini(struct block_region *region);

/* Keep a copy of a block and its first key; false: there is no memory. */
bool block_region_add(struct block_region *region, petal_slice raw, petal_slice key,
                      uint32_t entries, uint32_t begins);

static inline bool
block_region_is_full(const struct block_region *region)
{
    return region->used >= BLOCK_REGION_BYTES;
}

static inline void
block_region_clear(struct block_region *region)
{
    region->used = region->count = 0;
}

static inline size_t
block_region_memory(const struct block_region *region)
{
    return region->capacity + region->blocks_capacity * sizeof *region->blocks;
}

/* REQUIRES for these: index < count. */
static inline petal_slice
block_region_raw(const struct block_region *region, size_t index)
{
    assert(index < region->count);
    return slice_make(region->bytes + region->blocks[index].raw, region->blocks[index].raw_bytes);
}

static inline petal_slice
block_region_key(const struct block_region *region, size_t index)
{
    assert(index < region->count);
    return slice_make(region->bytes + region->blocks[index].key, region->blocks[index].key_bytes);
}

#endif
