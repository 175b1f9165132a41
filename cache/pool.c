/* pool.c -- see pool.h. */
#include "cache/pool.h"

#include <assert.h>

/* Of a chunk of descriptors; where slabs lie in huge pages a chunk is one, too: who reads a block
 * looks at its descriptor first. */
#define CHUNK_BYTES      8192
#define HUGE_CHUNK_BYTES (2u << 20)

struct descriptor_chunk {
    struct descriptor_chunk *next;
    size_t bytes;
    struct cache_block blocks[]; /* as many as there is room for */
};

enum petal_status
pool_init(struct block_pool *pool, const petal_allocator *allocator, uint64_t capacity)
{
    *pool = (struct block_pool){.allocator = allocator, .capacity = capacity};
    slab_set_init(&pool->slabs, allocator, capacity);
    return mutex_init(&pool->mutex) ? PETAL_OK : PETAL_NO_MEMORY;
}

void
pool_fini(struct block_pool *pool)
{
    assert(pool->blocks_out == 0);
    for (size_t pages = 1; pages < POOL_CLASSES; pages++)
        for (struct cache_block *at = pool->warm[pages]; at != NULL; at = at->queue_next)
            mem_free_pages(pool->allocator, (void *)(uintptr_t)at->data, pages * MEM_PAGE_BYTES);
    while (pool->chunks != NULL) {
        struct descriptor_chunk *chunk = pool->chunks;

        pool->chunks = chunk->next;
        pool->other_bytes -= chunk->bytes;
        mem_free(pool->allocator, chunk, chunk->bytes);
    }
    assert(pool->other_bytes == 0);
    slab_set_fini(&pool->slabs);
    mutex_fini(&pool->mutex);
}

/* Where a block's memory comes from (pool.h). */
enum origin { FROM_ALLOCATOR, FROM_SLABS, FROM_PAGES };

/* The memory of a block. */
struct footprint {
    enum origin origin;
    uint64_t hints_at; /* after the data, on the border of a pointer */
    uint64_t wanted;   /* data and hints */
    uint64_t bytes;    /* of the allocation; never 0 */
    size_t class;      /* of FROM_PAGES: the list of warm blocks with as many pages; 0: none */
};

/* `size` is at most UINT32_MAX. */
static struct footprint
footprint_of(size_t size, uint32_t hint_count)
{
    struct footprint print = {.hints_at = (size + (sizeof(void *) - 1)) & ~(sizeof(void *) - 1)};

    print.wanted = print.hints_at + (uint64_t)hint_count * sizeof(struct cache_hint);
    if (print.wanted >= POOL_PAGES_BYTES) {
        uint64_t pages = (print.wanted + MEM_PAGE_BYTES - 1) / MEM_PAGE_BYTES;

        print.origin = FROM_PAGES;
        print.bytes = pages * MEM_PAGE_BYTES;
        print.class = pages < POOL_CLASSES ? (size_t)pages : 0;
    } else if (print.wanted >= SLAB_LEAST_OBJECT) {
        print.origin = FROM_SLABS;
        print.bytes = slab_object_bytes((uint32_t)print.wanted);
    } else {
        print.bytes = print.wanted == 0 ? sizeof(void *) : print.wanted;
    }
    return print;
}

/* What may stay warm.  A look through the evicted blocks gives back at once what waited, a 64th
 * of the capacity or two and what readers kept from it; all that is wanted again before the next
 * look. */
static uint64_t
warm_limit(const struct block_pool *pool)
{
    return pool->capacity / 32 + POOL_WARM_BYTES;
}

static bool
is_crowded(const struct block_pool *pool)
{
    const struct slab_set *slabs = &pool->slabs;
    uint64_t idle = slabs->touched_bytes - slabs->used_bytes;
    uint64_t all = slabs->touched_bytes + pool->other_bytes + pool->warm_bytes;

    assert_held(&pool->mutex);
    assert(slabs->used_bytes <= slabs->touched_bytes);
    return idle > pool->capacity / 32 + POOL_SPARE_BYTES &&
           all > pool->capacity + pool->capacity / 32 + POOL_SPARE_BYTES;
}

/* ---- Blocks ---- */

static bool
add_chunk(struct block_pool *pool)
{
    bool huge = pool->slabs.regions.huge;
    size_t bytes = huge ? HUGE_CHUNK_BYTES : CHUNK_BYTES;
    struct descriptor_chunk *chunk =
        mem_alloc_aligned(pool->allocator, huge ? bytes : CACHE_LINE_BYTES, bytes);

    assert_held(&pool->mutex);
    assert(pool->fresh == pool->fresh_end);
    if (chunk == NULL)
        return false;
    chunk->next = pool->chunks;
    chunk->bytes = bytes;
    pool->chunks = chunk;
    pool->other_bytes += bytes;
    pool->fresh = chunk->blocks;
    pool->fresh_end = chunk->blocks + (bytes - sizeof *chunk) / sizeof *chunk->blocks;
    return true;
}

/* One without memory; NULL: there is no memory for more. */
static struct cache_block *
take_descriptor(struct block_pool *pool)
{
    struct cache_block *block = pool->unused;

    assert_held(&pool->mutex);
    if (block != NULL) {
        pool->unused = block->queue_next;
    } else if (pool->fresh < pool->fresh_end || add_chunk(pool)) {
        block = pool->fresh++;
        atomic_init(&block->file, 0);
    }
    if (block != NULL)
        pool->blocks_out++;
    return block;
}

/* One whose memory is in use no more: handed out, it counts like any other of its size. */
static struct cache_block *
take_warm(struct block_pool *pool, size_t class)
{
    struct cache_block *block = pool->warm[class];

    assert_held(&pool->mutex);
    assert(block != NULL && pool->warm_bytes >= class * MEM_PAGE_BYTES);
    pool->warm[class] = block->queue_next;
    pool->warm_bytes -= class * MEM_PAGE_BYTES;
    pool->other_bytes += class * MEM_PAGE_BYTES;
    pool->blocks_out++;
    return block;
}

/* Memory that is no slab's and not warm: asked for without the mutex. */
static uint8_t *
take_new(const struct block_pool *pool, const struct footprint *print)
{
    switch (print->origin) {
    case FROM_PAGES:
        return mem_alloc_pages(pool->allocator, (size_t)print->bytes);
    case FROM_ALLOCATOR:
        return mem_alloc_aligned(pool->allocator, CACHE_LINE_BYTES, (size_t)print->bytes);
    case FROM_SLABS:
        break;
    }
    return NULL;
}

/* Put a descriptor back whose memory is none of the pool's any more; REQUIRES: mutex held. */
static void
give_descriptor(struct block_pool *pool, struct cache_block *block)
{
    assert_held(&pool->mutex);
    assert(pool->blocks_out > 0);
    block->queue_next = pool->unused;
    pool->unused = block;
    pool->blocks_out--;
}

/* The same for one whose memory was no slab's. */
static void
give_other(struct block_pool *pool, struct cache_block *block, const struct footprint *print)
{
    mutex_lock(&pool->mutex);
    if (print->origin != FROM_SLABS) {
        assert(pool->other_bytes >= print->bytes);
        pool->other_bytes -= print->bytes;
    }
    give_descriptor(pool, block);
    mutex_unlock(&pool->mutex);
}

struct cache_block *
pool_allocate(struct block_pool *pool, size_t size, uint32_t hint_count, bool *crowded)
{
    struct cache_block *block = NULL;
    uint8_t *data = NULL;
    struct footprint print;

    *crowded = false;
    if (size > UINT32_MAX)
        return NULL;
    print = footprint_of(size, hint_count);
    if (print.wanted > SIZE_MAX - MEM_PAGE_BYTES)
        return NULL;
    /* A descriptor, and memory if some is at hand or a slab's. */
    mutex_lock(&pool->mutex);
    if (print.class != 0 && pool->warm[print.class] != NULL) {
        block = take_warm(pool, print.class);
        data = (uint8_t *)(uintptr_t)block->data;
    } else if ((block = take_descriptor(pool)) != NULL) {
        if (print.origin == FROM_SLABS)
            data = slab_take(&pool->slabs, (uint32_t)print.wanted, block);
        else
            pool->other_bytes += print.bytes;
    }
    *crowded = is_crowded(pool);
    mutex_unlock(&pool->mutex);
    if (block == NULL)
        return NULL;
    if (data == NULL)
        data = take_new(pool, &print);
    if (data == NULL) {
        give_other(pool, block, &print);
        return NULL;
    }
    /* Everything but `file`, which is 0 and which readers with stale hints may be loading now. */
    assert(atomic_load_explicit(&block->file, memory_order_relaxed) == 0);
    assert((uintptr_t)data % CACHE_LINE_BYTES == 0);
    block->data = data;
    block->size = (uint32_t)size;
    block->hint_count = hint_count;
    block->note = 0;
    block->charge = print.bytes + sizeof *block;
    block->hints = (struct cache_hint *)(void *)(data + print.hints_at);
    for (uint32_t i = 0; i < hint_count; i++)
        cache_hint_init(&block->hints[i]);
    atomic_store_explicit(&block->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&block->pins, 1, memory_order_relaxed);
    atomic_store_explicit(&block->pinned, 0, memory_order_relaxed);
    atomic_store_explicit(&block->recent, 0, memory_order_relaxed);
    block->queue_next = NULL;
    block->queue_previous = NULL;
    return block;
}

/* Keep the block's pages, and the memory behind them, unless as much is warm as may be. */
static bool
keep_warm(struct block_pool *pool, struct cache_block *block, size_t class)
{
    size_t bytes = class * MEM_PAGE_BYTES;
    bool warm;

    mutex_lock(&pool->mutex);
    warm = pool->warm_bytes + bytes <= warm_limit(pool);
    if (warm) {
        assert(pool->other_bytes >= bytes && pool->blocks_out > 0);
        pool->other_bytes -= bytes;
        pool->warm_bytes += bytes;
        pool->blocks_out--;
        block->queue_next = pool->warm[class];
        pool->warm[class] = block;
    }
    mutex_unlock(&pool->mutex);
    return warm;
}

void
pool_release(struct block_pool *pool, struct cache_block *block)
{
    struct footprint print = footprint_of(block->size, block->hint_count);
    uint8_t *data = (uint8_t *)(uintptr_t)block->data;

    assert(atomic_load_explicit(&block->file, memory_order_relaxed) == 0);
    assert(atomic_load_explicit(&block->pins, memory_order_relaxed) <= 1);
    if (print.origin == FROM_SLABS) {
        mutex_lock(&pool->mutex);
        slab_give(&pool->slabs, data);
        give_descriptor(pool, block);
        mutex_unlock(&pool->mutex);
        return;
    }
    if (print.class != 0 && mem_is_discardable(pool->allocator) &&
        keep_warm(pool, block, print.class))
        return;
    if (print.origin == FROM_PAGES)
        mem_free_pages(pool->allocator, data, (size_t)print.bytes);
    else
        mem_free(pool->allocator, data, (size_t)print.bytes);
    give_other(pool, block, &print);
}

/* ---- Closing slabs ---- */

bool
pool_close_slab(struct block_pool *pool, struct block_name names[SLAB_OBJECTS], size_t *count)
{
    struct cache_block *owners[SLAB_OBJECTS];
    size_t owner_count = 0;

    *count = 0;
    mutex_lock(&pool->mutex);
    if (is_crowded(pool))
        slab_drop_spare(&pool->slabs);
    if (is_crowded(pool))
        owner_count = slab_close_emptiest(&pool->slabs, owners);
    /* An owner is handed out until it leaves its slab, under the mutex, so all that is read of it
     * here is of one life: offset was written before the file that is seen. */
    for (size_t i = 0; i < owner_count; i++) {
        uint64_t file = atomic_load_explicit(&owners[i]->file, memory_order_acquire);

        if (file != 0)
            names[(*count)++] = (struct block_name){
                owners[i], file, atomic_load_explicit(&owners[i]->offset, memory_order_relaxed)};
    }
    mutex_unlock(&pool->mutex);
    return owner_count > 0;
}

bool
pool_is_leaving(const struct cache_block *block)
{
    return footprint_of(block->size, block->hint_count).origin == FROM_SLABS &&
           slab_is_closing(block->data);
}

/* ---- Account ---- */

/* While more is warm than may be: a warm one of the largest, handed out as it was last. */
static struct cache_block *
take_surplus(struct block_pool *pool)
{
    struct cache_block *block = NULL;

    mutex_lock(&pool->mutex);
    if (pool->warm_bytes > warm_limit(pool)) {
        size_t class = POOL_CLASSES - 1;

        while (pool->warm[class] == NULL)
            class --;
        block = take_warm(pool, class);
    }
    mutex_unlock(&pool->mutex);
    return block;
}

void
pool_set_capacity(struct block_pool *pool, uint64_t capacity)
{
    struct cache_block *block;

    mutex_lock(&pool->mutex);
    if (capacity < pool->capacity)
        slab_drop_spare(&pool->slabs);
    pool->capacity = capacity;
    mutex_unlock(&pool->mutex);
    while ((block = take_surplus(pool)) != NULL)
        pool_release(pool, block);
}

struct pool_usage
pool_usage_get(struct block_pool *pool)
{
    const struct slab_set *slabs = &pool->slabs;
    struct pool_usage usage;

    mutex_lock(&pool->mutex);
    usage = (struct pool_usage){
        .blocks = pool->blocks_out,
        .bytes = slabs->touched_bytes + slabs->closed_bytes + pool->other_bytes + pool->warm_bytes,
        .slab_idle = slabs->touched_bytes - slabs->used_bytes,
        .slab_closed = slabs->closed_bytes,
    };
    mutex_unlock(&pool->mutex);
    return usage;
}
