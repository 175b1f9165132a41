/*
 * cache.c -- see cache.h.  The shards (shard.h) hold the blocks, the pool (pool.h) is their memory; here is
 * what binds them to the epoch: who may still use a block, and when it is given back.
 *
 * LIFE of a block: allocated -> in the table -> taken out (file = 0) -> deferred to the epoch -> when the readers of
 * that time have left, the table's reference is dropped -> with the last reference it is released -> its
 * descriptor is allocated again.  A block that is not kept goes from allocated straight to deferred.  If a pin
 * is left when the table's reference is dropped, the last unpin defers the block once more, so that its caller
 * may use it until leaving.  So an item is never in the epoch's list twice: the second time comes after the
 * first was over.
 *
 * WHY A STALE HINT IS SAFE.  A hint is the address of a descriptor that some time described the block wanted.  The
 * reader, inside an epoch, loads `file` (acquire), then `offset`; if they are those wanted it uses the block.
 * 1. The address is that of a descriptor: slabs are kept until cache_close, and the hint's acquire pairs with the
 *    release that stored it, which came after the slab was made.
 * 2. While one reader stays inside, a descriptor says at most one key (f, o) to it: it may go 0 -> (f, o) -> 0.
 *    For it to say another key it must be taken out (file = 0), retired, and released.  Had our reader
 *    entered before the retiring, the release waits for it.  Had it entered so late that the release did not
 *    wait, it sees file = 0 or newer (base/epoch.c), nothing of the former life.
 *    So file and offset, though loaded one by one, belong to one life, and so do the fields that follow:
 *    offset, data, size and hints are written before the release that stores `file`.
 * 3. For the same reason data of that life is not freed before the reader leaves: the reader saw file != 0, so the
 *    block was in the table after the reader had entered, and its retiring comes later still.
 * 4. A block that is not kept never has its file set, so no hint matches it, though a hint may lead to its descriptor.
 * 5. A block of the key wanted under another descriptor is no danger: the hint does not match, the table is asked.
 *
 * LOCKS.  A shard's mutex and the pool's are never held together, and neither while calling the epoch, whose release
 * functions take the pool's.
 */
#include "cache/cache.h"

#include "cache/pool.h"
#include "cache/shard.h"

#include <assert.h>

/* Enough blocks of 64 KiB in a shard that shards fill evenly and behave like one LRU. */
#define SHARD_MIN_BYTES (UINT64_C(4) << 20)
#define SHARDS_MAX      16

/* Readers use the first line; the others are written. */
struct cache {
    _Alignas(CACHE_LINE_BYTES) struct cache_shard *shards;
    unsigned shard_count;
    uint64_t capacity;
    uint64_t deferred_limit; /* collect when more than that was deferred */
    struct epoch *epoch;
    const petal_allocator *allocator;

    _Alignas(CACHE_LINE_BYTES) _Atomic(uint64_t) deferred_bytes; /* since the last collection */
    struct block_pool pool;
};

static unsigned
shards_for(uint64_t capacity)
{
    unsigned shards = 1;

    while (shards < SHARDS_MAX && capacity / (2 * shards) >= SHARD_MIN_BYTES)
        shards *= 2;
    return shards;
}

static struct cache_shard *
shard_of(const struct cache *cache, uint64_t hash)
{
    return &cache->shards[(hash >> 32) * cache->shard_count >> 32];
}

/* ---- Opening and closing ---- */

static enum petal_status
open_shards(struct cache *cache, unsigned count)
{
    const size_t bytes = count * sizeof *cache->shards;

    cache->shards = mem_alloc_aligned(cache->allocator, CACHE_LINE_BYTES, bytes);
    if (cache->shards == NULL)
        return PETAL_NO_MEMORY;
    for (unsigned i = 0; i < count; i++) {
        if (shard_init(&cache->shards[i], cache->allocator, cache->capacity / count) == PETAL_OK)
            continue;
        while (i > 0)
            shard_fini(&cache->shards[--i]);
        mem_free(cache->allocator, cache->shards, bytes);
        return PETAL_NO_MEMORY;
    }
    cache->shard_count = count;
    return PETAL_OK;
}

enum petal_status
cache_open(struct cache **cache, const petal_allocator *allocator, struct epoch *epoch,
           size_t capacity, unsigned shards)
{
    struct cache *opened = mem_alloc_aligned(allocator, CACHE_LINE_BYTES, sizeof *opened);

    *cache = NULL;
    if (opened == NULL)
        return PETAL_NO_MEMORY;
    if (capacity == PETAL_NO_CACHE)
        capacity = 0;
    if (capacity > INT64_MAX)
        capacity = INT64_MAX; /* so that sums and differences of bytes fit in 64 bits */
    *opened = (struct cache){.allocator = allocator,
                             .epoch = epoch,
                             .capacity = capacity,
                             .deferred_limit = capacity / 32};
    if (pool_init(&opened->pool, allocator) != PETAL_OK)
        goto no_pool;
    if (open_shards(opened, shards != 0 ? shards : shards_for(capacity)) != PETAL_OK)
        goto no_shards;
    *cache = opened;
    return PETAL_OK;

no_shards:
    pool_fini(&opened->pool);
no_pool:
    mem_free(allocator, opened, sizeof *opened);
    return PETAL_NO_MEMORY;
}

/* ---- Giving back ---- */

static struct cache_block *
block_of(struct epoch_item *item)
{
    return (struct cache_block *)(void *)((char *)item - offsetof(struct cache_block, retire));
}

/* The release function after the last unpin. */
static void
release_block(struct epoch_item *item)
{
    struct cache_block *block = block_of(item);

    pool_release(&block->cache->pool, block);
}

/* The release function after the table. */
static void
drop_table_reference(struct epoch_item *item)
{
    struct cache_block *block = block_of(item);

    /* Acquire and release: what the holders of other references did comes before the release. */
    if (atomic_fetch_sub_explicit(&block->pins, 1, memory_order_acq_rel) == 1)
        pool_release(&block->cache->pool, block);
}

/*
 * Hand a block to the epoch; it is no longer the caller's.  Looking at the epoch's slots costs, so it is done only when
 * enough memory waits for it.  The caller is mostly inside the epoch itself, so what a collection
 * releases is what waited at the one before: twice the limit is what may wait in all.
 */
static void
defer(struct cache *cache, struct cache_block *block, void (*release)(struct epoch_item *item))
{
    uint64_t charge = pool_charge(block);
    uint64_t waiting;

    block->retire.release = release;
    epoch_defer(cache->epoch, &block->retire);
    waiting =
        atomic_fetch_add_explicit(&cache->deferred_bytes, charge, memory_order_relaxed) + charge;
    if (waiting > cache->deferred_limit) {
        atomic_store_explicit(&cache->deferred_bytes, 0, memory_order_relaxed);
        epoch_collect(cache->epoch);
    }
}

/* The same for a list of what was taken out. */
static void
defer_all(struct cache *cache, struct cache_block *removed)
{
    while (removed != NULL) {
        struct cache_block *next = removed->queue_next;

        defer(cache, removed, drop_table_reference);
        removed = next;
    }
}

void
cache_close(struct cache *cache)
{
    if (cache == NULL)
        return;
    for (unsigned i = 0; i < cache->shard_count; i++) {
        struct cache_block *removed;

        shard_erase_file(&cache->shards[i], 0, &removed);
        while (removed != NULL) {
            struct cache_block *next = removed->queue_next;

            drop_table_reference(&removed->retire);
            removed = next;
        }
        shard_fini(&cache->shards[i]);
    }
    /* The rest waits in the epoch; nothing does when epoch_fini was called before, and then the epoch is gone. */
    if (pool_blocks_out(&cache->pool) > 0)
        epoch_collect(cache->epoch);
    mem_free(cache->allocator, cache->shards, cache->shard_count * sizeof *cache->shards);
    pool_fini(&cache->pool);
    mem_free(cache->allocator, cache, sizeof *cache);
}

/* ---- Finding ---- */

struct cache_block *
cache_find(struct cache *cache, uint64_t file, uint64_t offset)
{
    uint64_t hash = block_key_hash(file, offset);
    struct cache_block *block = shard_find(shard_of(cache, hash), hash, file, offset);

    assert(file != 0);
    if (block != NULL)
        block_touch(block);
    return block;
}

struct cache_block *
cache_find_hinted(struct cache *cache, _Atomic(struct cache_block *) *hint, uint64_t file,
                  uint64_t offset)
{
    struct cache_block *block;

    assert(file != 0);
    if (hint == NULL)
        return cache_find(cache, file, offset);
    block = atomic_load_explicit(hint, memory_order_acquire);
    if (block != NULL && atomic_load_explicit(&block->file, memory_order_acquire) == file &&
        atomic_load_explicit(&block->offset, memory_order_relaxed) == offset) {
        block_touch(block);
        return block;
    }
    block = cache_find(cache, file, offset);
    if (block != NULL)
        atomic_store_explicit(hint, block, memory_order_release);
    return block;
}

/* ---- Inserting ---- */

struct cache_block *
cache_allocate(struct cache *cache, size_t size, uint32_t hint_count, uint8_t **data)
{
    struct cache_block *block = pool_allocate(&cache->pool, size, hint_count);

    *data = NULL;
    if (block == NULL)
        return NULL;
    block->cache = cache;
    *data = (uint8_t *)(uintptr_t)block->data;
    return block;
}

void
cache_discard(struct cache *cache, struct cache_block *block)
{
    pool_release(&cache->pool, block);
}

struct cache_block *
cache_insert(struct cache *cache, struct cache_block *block, uint64_t file, uint64_t offset,
             enum petal_block_kind kind, enum cache_priority priority, bool keep)
{
    struct cache_block *held = NULL;

    assert(file != 0 && kind < PETAL_BLOCK_KINDS && priority < CACHE_PRIORITIES);
    block->kind = (uint8_t)kind;
    block->priority = (uint8_t)priority;
    if (keep) {
        uint64_t hash = block_key_hash(file, offset);
        struct cache_block *removed;

        held = shard_insert(shard_of(cache, hash), block, hash, file, offset, &removed);
        defer_all(cache, removed);
    }
    if (held == NULL) {
        /* The caller is inside the epoch, so the block is its own until it leaves. */
        defer(cache, block, drop_table_reference);
        held = block;
    } else if (held != block) {
        block_touch(held);
        cache_discard(cache, block);
    }
    return held;
}

/* ---- Pins ---- */

void
cache_pin(struct cache_block *block)
{
    uint32_t before = atomic_fetch_add_explicit(&block->pins, 1, memory_order_relaxed);

    assert(before > 0 && before < UINT32_MAX);
    (void)before;
}

void
cache_unpin(struct cache *cache, struct cache_block *block)
{
    uint32_t before = atomic_fetch_sub_explicit(&block->pins, 1, memory_order_acq_rel);

    assert(before > 0);
    if (before == 1)
        defer(cache, block, release_block);
}

/* ---- Whole files, and the account ---- */

void
cache_erase_file(struct cache *cache, uint64_t file)
{
    for (unsigned i = 0; i < cache->shard_count; i++) {
        struct cache_block *removed;

        shard_erase_file(&cache->shards[i], file, &removed);
        defer_all(cache, removed);
    }
}

void
cache_usage_get(struct cache *cache, struct cache_usage *usage)
{
    *usage = (struct cache_usage){.capacity = cache->capacity};
    for (unsigned i = 0; i < cache->shard_count; i++)
        shard_add_usage(&cache->shards[i], usage);
}
