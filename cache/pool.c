/* pool.c -- see pool.h. */
#include "cache/pool.h"

#include <assert.h>

#define SLAB_BLOCKS 63 /* with the link, a slab of 8 KiB */

struct block_slab {
    struct block_slab *next;
    struct cache_block blocks[SLAB_BLOCKS];
};

enum petal_status
pool_init(struct block_pool *pool, const petal_allocator *allocator)
{
    *pool = (struct block_pool){.allocator = allocator};
    return pthread_mutex_init(&pool->mutex, NULL) == 0 ? PETAL_OK : PETAL_NO_MEMORY;
}

void
pool_fini(struct block_pool *pool)
{
    assert(pool->blocks_out == 0);
    while (pool->slabs != NULL) {
        struct block_slab *slab = pool->slabs;

        pool->slabs = slab->next;
        mem_free(pool->allocator, slab, sizeof *slab);
    }
    pthread_mutex_destroy(&pool->mutex);
}

/* Where the hints begin: behind the data, on the border of a pointer. */
static size_t
hints_offset(size_t size)
{
    return (size + (sizeof(void *) - 1)) & ~(sizeof(void *) - 1);
}

/* The allocation behind a block; never 0.  `size` is at most UINT32_MAX. */
static uint64_t
allocation_bytes(size_t size, uint32_t hint_count)
{
    uint64_t bytes = hints_offset(size) + (uint64_t)hint_count * sizeof(void *);

    return bytes == 0 ? sizeof(void *) : bytes;
}

uint64_t
pool_charge(const struct cache_block *block)
{
    return allocation_bytes(block->size, block->hint_count) + sizeof *block;
}

/* REQUIRES: mutex held. */
static bool
add_slab(struct block_pool *pool)
{
    struct block_slab *slab = mem_alloc_aligned(pool->allocator, CACHE_LINE_BYTES, sizeof *slab);

    if (slab == NULL)
        return false;
    for (unsigned i = 0; i < SLAB_BLOCKS; i++) {
        atomic_init(&slab->blocks[i].file, 0);
        slab->blocks[i].queue_next = pool->unused;
        pool->unused = &slab->blocks[i];
    }
    slab->next = pool->slabs;
    pool->slabs = slab;
    return true;
}

static struct cache_block *
take_descriptor(struct block_pool *pool)
{
    struct cache_block *block = NULL;

    pthread_mutex_lock(&pool->mutex);
    if (pool->unused != NULL || add_slab(pool)) {
        block = pool->unused;
        pool->unused = block->queue_next;
        pool->blocks_out++;
    }
    pthread_mutex_unlock(&pool->mutex);
    return block;
}

static void
give_descriptor(struct block_pool *pool, struct cache_block *block)
{
    pthread_mutex_lock(&pool->mutex);
    block->queue_next = pool->unused;
    pool->unused = block;
    pool->blocks_out--;
    pthread_mutex_unlock(&pool->mutex);
}

/* Everything but `file`, which is 0 and which readers with stale hints may be loading now. */
static void
describe(struct cache_block *block, uint8_t *data, uint32_t size, uint32_t hint_count)
{
    block->data = data;
    block->size = size;
    block->hint_count = hint_count;
    block->hints = (_Atomic(struct cache_block *) *)(void *)(data + hints_offset(size));
    for (uint32_t i = 0; i < hint_count; i++)
        atomic_init(&block->hints[i], NULL);
    atomic_store_explicit(&block->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&block->pins, 1, memory_order_relaxed);
    atomic_store_explicit(&block->recent, 0, memory_order_relaxed);
    block->queue_next = NULL;
    block->queue_previous = NULL;
}

struct cache_block *
pool_allocate(struct block_pool *pool, size_t size, uint32_t hint_count)
{
    struct cache_block *block;
    uint64_t bytes;
    uint8_t *data;

    if (size > UINT32_MAX)
        return NULL;
    bytes = allocation_bytes(size, hint_count);
    if (bytes > SIZE_MAX)
        return NULL;
    block = take_descriptor(pool);
    if (block == NULL)
        return NULL;
    data = mem_alloc_aligned(pool->allocator, CACHE_LINE_BYTES, (size_t)bytes);
    if (data == NULL) {
        give_descriptor(pool, block);
        return NULL;
    }
    describe(block, data, (uint32_t)size, hint_count);
    return block;
}

void
pool_release(struct block_pool *pool, struct cache_block *block)
{
    assert(atomic_load_explicit(&block->file, memory_order_relaxed) == 0);
    mem_free(pool->allocator, (void *)(uintptr_t)block->data,
             (size_t)allocation_bytes(block->size, block->hint_count));
    give_descriptor(pool, block);
}

size_t
pool_blocks_out(struct block_pool *pool)
{
    size_t blocks_out;

    pthread_mutex_lock(&pool->mutex);
    blocks_out = pool->blocks_out;
    pthread_mutex_unlock(&pool->mutex);
    return blocks_out;
}
