/*
 * pool.h -- the memory of cache blocks: descriptors and the bytes they describe.
 *
 * Descriptors come from chunks that are kept until pool_fini: one that was given back is reused,
 * its address stays that of a descriptor.  Bytes are one allocation a block:
 *
 *     data, `size` bytes, on a cache line border | padding to 8 | hint_count hints
 *
 * Where they come from depends on their number; it is rounded up as that place does, and counted
 * so:
 * - below SLAB_LEAST_OBJECT: the allocator itself.
 * - below POOL_PAGES_BYTES: slabs (slab.h).  An empty one of them is kept, the spare, until the
 *   pool is crowded or its capacity shrinks.
 * - from there on: whole pages (base/mem.h).  Blocks of at most POOL_CLASSES - 1 pages that were
 *   given back keep them, as many as a 32nd of the capacity and POOL_WARM_BYTES (they are WARM),
 *   and are taken before any other: taking memory from the system costs more than all else that a
 *   large block does.  The rest goes back, and all of it under a caller's allocator.
 *
 * So the cache takes the memory that it counts, whatever sizes come in which order, but for slabs
 * that are partly empty, and the spare.  The pool is CROWDED when all it has is more than the
 * capacity, a 32nd of it and POOL_SPARE_BYTES, and of that more than a 32nd of the capacity and
 * POOL_SPARE_BYTES is unused memory in slabs.  Then the spare goes, and slabs have to be closed;
 * what closed ones have counts no more, since it goes as soon as readers and pins let it.
 *
 * Threads: all functions from any thread, but init and fini.
 */
#ifndef PETAL_CACHE_POOL_H
#define PETAL_CACHE_POOL_H

#include "cache/cache.h"
#include "cache/slab.h"

#define POOL_PAGES_BYTES SLAB_MOST_OBJECT
#define POOL_CLASSES     65 /* pages up to 256 KiB */
#define POOL_WARM_BYTES  (1u << 20)
#define POOL_SPARE_BYTES (1u << 20)

struct descriptor_chunk;

struct block_pool {
    const petal_allocator *allocator;
    struct mutex mutex;                     /* guards the rest */
    struct descriptor_chunk *chunks;        /* linked */
    struct cache_block *unused;             /* without memory; linked by queue_next */
    struct cache_block *fresh, *fresh_end;  /* of the newest chunk: those that were never used */
    struct cache_block *warm[POOL_CLASSES]; /* by the pages that they keep; none of 0 */
    uint64_t warm_bytes;                    /* of those */
    size_t blocks_out;                      /* handed out and not given back */
    uint64_t capacity;                      /* that of the cache */
    uint64_t other_bytes;                   /* all but slabs: of blocks handed out, of chunks */
    struct slab_set slabs;
};

/* A block in the table at the time; it may have left since. */
struct block_name {
    struct cache_block *block;
    uint64_t file, offset;
};

struct pool_usage {
    uint64_t blocks;      /* handed out */
    uint64_t bytes;       /* of all memory that was touched */
    uint64_t slab_idle;   /* of which: not in use, in slabs that are not closed */
    uint64_t slab_closed; /* and all of slabs that are */
};

enum petal_status pool_init(struct block_pool *pool, const petal_allocator *allocator,
                            uint64_t capacity);

/* REQUIRES: all blocks given back. */
void pool_fini(struct block_pool *pool);

/* A descriptor with memory for `size` bytes and hints, all hints NULL, pins 1; NULL when there
 * is no memory.  What readers with stale hints may look at (file) stays 0.  *crowded:
 * pool_close_slab would do something. */
struct cache_block *pool_allocate(struct block_pool *pool, size_t size, uint32_t hint_count,
                                  bool *crowded);

/* REQUIRES: file is 0 and no reader can use the block. */
void pool_release(struct block_pool *pool, struct cache_block *block);

/*
 * If the pool is crowded: give the spare slab back.  If it still is: close the slab with the most
 * to gain and name its blocks that are in the table, for the caller to take out and retire.  Blocks
 * that are not in it yet are not to be put in (pool_is_leaving), the others are on their way back.
 * False: none was closed.
 */
bool pool_close_slab(struct block_pool *pool, struct block_name names[SLAB_OBJECTS], size_t *count);

/* Whether the block's memory is in a closed slab.  REQUIRES: handed out. */
bool pool_is_leaving(const struct cache_block *block);

/* Less than before: the spare slab and surplus warm pages are given back. */
void pool_set_capacity(struct block_pool *pool, uint64_t capacity);

struct pool_usage pool_usage_get(struct block_pool *pool);

#endif
