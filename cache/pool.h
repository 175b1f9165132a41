/*
 * pool.h -- the memory of cache blocks: descriptors and the bytes they describe.
 *
 * Descriptors come from slabs that are kept until pool_fini: one that was given back is reused, its address
 * stays that of a descriptor.  Bytes are one allocation a block, given back at once:
 *
 *     data, `size` bytes, on a cache line border | padding to 8 | hint_count pointers
 *
 * Threads: all functions from any thread, but init and fini.
 */
#ifndef PETAL_CACHE_POOL_H
#define PETAL_CACHE_POOL_H

#include "cache/cache.h"

struct block_slab;

struct block_pool {
    const petal_allocator *allocator;
    pthread_mutex_t mutex;      /* guards the rest */
    struct block_slab *slabs;   /* linked */
    struct cache_block *unused; /* linked by queue_next */
    size_t blocks_out;          /* handed out and not given back */
};

enum petal_status pool_init(struct block_pool *pool, const petal_allocator *allocator);

/* REQUIRES: all blocks given back. */
void pool_fini(struct block_pool *pool);

/* A descriptor with memory for `size` bytes and hints, all hints NULL, pins 1; NULL when there is no memory.  What
 * readers with stale hints may look at (file) stays 0. */
struct cache_block *pool_allocate(struct block_pool *pool, size_t size, uint32_t hint_count);

/* REQUIRES: file is 0 and no reader can use the block. */
void pool_release(struct block_pool *pool, struct cache_block *block);

/* How many blocks are handed out. */
size_t pool_blocks_out(struct block_pool *pool);

/* What the block counts against the limit: bytes, hints, descriptor. */
uint64_t pool_charge(const struct cache_block *block);

#endif
