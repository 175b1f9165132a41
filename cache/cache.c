/*
 * cache.c -- see cache.h.  The shards (shard.h) hold the blocks, the pool (pool.h) is their memory;
 * here is what binds them to the epoch: who may still use a block, and when it is given back.
 *
 * LIFE of a block: allocated -> in the table -> taken out (file = 0) -> deferred to the epoch ->
 * when the readers of that time have left, the table's reference is dropped -> with the last
 * reference it is released -> its descriptor is allocated again.  A block that is not kept goes
 * from allocated straight to deferred.  If a pin is left when the table's reference is dropped, the
 * last unpin defers the block once more, so that its caller may use it until leaving.  So does the
 * drop itself where the block was ever pinned: who unpinned it last may have entered after it was
 * taken out, and be inside still.  So an item is never in the epoch's list twice: the second time
 * comes after the first was over.
 *
 * WHY A STALE HINT IS SAFE.  A hint is the address of a descriptor that some time described the
 * block wanted.  The reader, inside an epoch, loads `file` (acquire), then `offset`; if they are
 * those wanted it uses the block.
 * 1. The address is that of a descriptor: those are kept until cache_close, and the hint's acquire
 *    pairs with the release that stored it, which came after the descriptor was made.
 * 2. While one reader stays inside, a descriptor says at most one key (f, o) to it: it may go 0 ->
 *    (f, o) -> 0. For it to say another key it must be taken out (file = 0), retired, and released.
 *    Had our reader entered before the retiring, the release waits for it.  Had it entered so late
 *    that the release did not wait, it sees file = 0 or newer (base/epoch.c), nothing of the former
 *    life. So file and offset, though loaded one by one, belong to one life, and so do the fields
 *    that follow: offset, data, size and hints are written before the release that stores `file`.
 * 3. For the same reason data of that life is not freed before the reader leaves: the reader saw
 *    file != 0, so the block was in the table after the reader had entered, and its retiring comes
 *    later still.
 * 4. A block that is not kept never has its file set, so no hint matches it, though a hint may lead
 *    to its descriptor.
 * 5. A block of the key wanted under another descriptor is no danger: the hint does not match, the
 *    table is asked.
 *
 * LOCKS.  A shard's mutex and the pool's are never held together, and neither while calling the
 * epoch, whose release functions take the pool's.
 */
#include "cache/cache.h"

#include "cache/pool.h"
#include "cache/shard.h"

#include <assert.h>
#include <time.h>

/* Enough blocks of 64 KiB in a shard that shards fill evenly and behave like one LRU, and that
 * blocks of 1 MiB still fit when the capacity is cut to an eighth. */
#define SHARD_MIN_BYTES (UINT64_C(16) << 20)
#define SHARDS_MAX      16

#define LIMBO_LEAST_BYTES (UINT64_C(1) << 20)
#define LIMBO_WAITS       40     /* at most so many times .. */
#define LIMBO_WAIT_NS     100000 /* .. so long for one block */

/* Readers use the first line; the others are written. */
struct cache {
    _Alignas(CACHE_LINE_BYTES) struct cache_shard *shards;
    unsigned shard_count;
    uint64_t most; /* the greatest capacity, given at opening */
    _Atomic(uint64_t) capacity;
    struct epoch *epoch;
    const petal_allocator *allocator;

    _Alignas(CACHE_LINE_BYTES) _Atomic(uint64_t) deferred_bytes; /* since the last collection */
    _Atomic(uint64_t) limbo_bytes;                               /* deferred and not given back */
    struct block_pool pool;
};

/* Collect when more than that was deferred. */
static uint64_t
deferred_limit(const struct cache *cache)
{
    return atomic_load_explicit(&cache->capacity, memory_order_relaxed) / 64;
}

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
        if (shard_init(&cache->shards[i], cache->allocator, cache->most / count) == PETAL_OK)
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
    *opened = (struct cache){.allocator = allocator, .epoch = epoch, .most = capacity};
    atomic_init(&opened->capacity, capacity);
    if (pool_init(&opened->pool, allocator, capacity) != PETAL_OK)
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

static void
leave_limbo(struct cache_block *block)
{
    uint64_t charge = block->charge;
    uint64_t before =
        atomic_fetch_sub_explicit(&block->cache->limbo_bytes, charge, memory_order_relaxed);

    assert(before >= charge);
    (void)before;
}

/* The release function after the last unpin. */
static void
release_block(struct epoch_item *item)
{
    struct cache_block *block = block_of(item);

    leave_limbo(block);
    pool_release(&block->cache->pool, block);
}

/* The release function after the table.  What waits on stays in limbo. */
static void
drop_table_reference(struct epoch_item *item)
{
    struct cache_block *block = block_of(item);
    struct cache *cache = block->cache;
    uint64_t charge = block->charge;

    /* Acquire and release: what the holders of other references did comes before the release.
     * Where pins are left the block may be gone after this line. */
    if (atomic_fetch_sub_explicit(&block->pins, 1, memory_order_acq_rel) != 1) {
        atomic_fetch_sub_explicit(&cache->limbo_bytes, charge, memory_order_relaxed);
    } else if (atomic_load_explicit(&block->pinned, memory_order_relaxed) != 0) {
        block->retire.release = release_block;
        epoch_defer(cache->epoch, &block->retire);
    } else {
        release_block(item);
    }
}

/*
 * Hand a block to the epoch; it is no longer the caller's.  Looking at the epoch's slots costs, so
 * it is done only when enough memory waits for it.  The caller is mostly inside the epoch itself,
 * so what a collection releases is what waited at the one before: twice the limit is what may wait
 * in all.
 */
static void
defer(struct cache *cache, struct cache_block *block, void (*release)(struct epoch_item *item))
{
    uint64_t charge = block->charge;
    uint64_t waiting;

    assert(block->cache == cache);
    assert(atomic_load_explicit(&block->file, memory_order_relaxed) == 0);
    block->retire.release = release;
    atomic_fetch_add_explicit(&cache->limbo_bytes, charge, memory_order_relaxed);
    epoch_defer(cache->epoch, &block->retire);
    waiting =
        atomic_fetch_add_explicit(&cache->deferred_bytes, charge, memory_order_relaxed) + charge;
    if (waiting > deferred_limit(cache)) {
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

            atomic_fetch_add_explicit(&cache->limbo_bytes, removed->charge, memory_order_relaxed);
            assert(atomic_load_explicit(&removed->pins, memory_order_relaxed) == 1);
            release_block(&removed->retire);
            removed = next;
        }
        shard_fini(&cache->shards[i]);
    }
    /* The rest waits in the epoch; nothing does when epoch_fini was called before, and then the
     * epoch is gone. */
    for (int i = 0; i < 2 && pool_usage_get(&cache->pool).blocks > 0; i++)
        epoch_collect(cache->epoch); /* twice: what was pinned is deferred again */
    assert(atomic_load_explicit(&cache->limbo_bytes, memory_order_relaxed) == 0);
    mem_free(cache->allocator, cache->shards, cache->shard_count * sizeof *cache->shards);
    pool_fini(&cache->pool);
    mem_free(cache->allocator, cache, sizeof *cache);
}

/* ---- Finding ---- */

struct cache_block *
cache_look(struct cache *cache, struct cache_hint *hint, uint64_t file, uint64_t offset)
{
    struct cache_block *block;
    uint64_t hash;

    assert(file != 0);
    if (hint != NULL) {
        block = cache_hint_block(hint, file, offset);
        if (block != NULL)
            return block;
    }
    hash = block_key_hash(file, offset);
    block = shard_find(shard_of(cache, hash), hash, file, offset);
    if (hint == NULL)
        return block;
    if (block != NULL) {
        atomic_store_explicit(&hint->data, block->data, memory_order_relaxed);
        atomic_store_explicit(&hint->block, block, memory_order_release);
    } else if (atomic_load_explicit(&hint->data, memory_order_relaxed) != NULL) {
        atomic_store_explicit(&hint->data, NULL, memory_order_relaxed); /* nothing to prefetch */
    }
    return block;
}

/* ---- Inserting ---- */

/*
 * While the pool is crowded: close slabs, at most so many, and take their blocks out of the table.
 * A caller inside the epoch keeps those itself; what comes back at once is mostly what an earlier
 * call closed.
 */
static void
close_slabs(struct cache *cache, size_t most)
{
    struct block_name names[SLAB_OBJECTS];
    size_t count;
    bool closed = false;

    for (; most > 0 && pool_close_slab(&cache->pool, names, &count); most--) {
        closed = true;
        for (size_t i = 0; i < count; i++) {
            uint64_t hash = block_key_hash(names[i].file, names[i].offset);
            struct cache_block *removed;

            shard_remove(shard_of(cache, hash), names[i].block, hash, names[i].file,
                         names[i].offset, &removed);
            defer_all(cache, removed);
        }
    }
    if (closed)
        epoch_collect(cache->epoch);
}

/*
 * A reader that lost the processor inside the epoch keeps from being given back whatever others
 * evict meanwhile, which can be gigabytes a second.  So who wants memory while much waits sleeps a
 * little, which gives that reader the processor; but never long, since the caller may be inside,
 * too, and others wait for it.
 */
struct cache_block *
cache_allocate(struct cache *cache, size_t size, uint32_t hint_count, uint8_t **data)
{
    uint64_t most =
        atomic_load_explicit(&cache->capacity, memory_order_relaxed) / 16 + LIMBO_LEAST_BYTES;
    struct cache_block *block;
    bool crowded;

    for (int i = 0;
         i < LIMBO_WAITS && atomic_load_explicit(&cache->limbo_bytes, memory_order_relaxed) > most;
         i++) {
        epoch_collect(cache->epoch);
        if (atomic_load_explicit(&cache->limbo_bytes, memory_order_relaxed) > most)
            nanosleep(&(struct timespec){.tv_nsec = LIMBO_WAIT_NS}, NULL);
    }
    block = pool_allocate(&cache->pool, size, hint_count, &crowded);
    if (crowded)
        close_slabs(cache, 1);
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
    assert(block->cache == cache);
    assert(atomic_load_explicit(&block->pins, memory_order_relaxed) == 1);
    pool_release(&cache->pool, block);
}

struct cache_block *
cache_insert(struct cache *cache, struct cache_block *block, uint64_t file, uint64_t offset,
             enum petal_block_kind kind, enum cache_priority priority, bool keep)
{
    struct cache_block *held = NULL;

    assert(file != 0 && kind < PETAL_BLOCK_KINDS && priority < CACHE_PRIORITIES);
    assert(block->cache == cache);
    assert(atomic_load_explicit(&block->file, memory_order_relaxed) == 0);
    block->kind = (uint8_t)kind;
    block->priority = (uint8_t)priority;
    if (keep && !pool_is_leaving(block)) {
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
        cache_touch(held);
        cache_discard(cache, block);
    }
    return held;
}

bool
cache_has_room(const struct cache *cache, uint64_t bytes)
{
    uint64_t capacity = atomic_load_explicit(&cache->capacity, memory_order_relaxed);
    uint64_t held = 0;

    for (unsigned i = 0; i < cache->shard_count; i++)
        held += shard_held(&cache->shards[i]);
    return held + bytes < capacity - capacity / 32;
}

bool
cache_wants(struct cache *cache, uint64_t file, uint64_t offset, uint64_t bytes)
{
    uint64_t capacity =
        atomic_load_explicit(&cache->capacity, memory_order_relaxed) / cache->shard_count;
    uint64_t hash = block_key_hash(file, offset);
    struct cache_shard *shard = shard_of(cache, hash);

    assert(file != 0 && bytes > 0);
    if (shard_held(shard) + bytes < capacity - capacity / 32)
        return true;
    return bytes <= capacity && shard_asked_before(shard, hash, capacity / bytes);
}

/* ---- Pins ---- */

void
cache_pin(struct cache_block *block)
{
    uint32_t before = atomic_fetch_add_explicit(&block->pins, 1, memory_order_relaxed);

    if (atomic_load_explicit(&block->pinned, memory_order_relaxed) == 0)
        atomic_store_explicit(&block->pinned, 1, memory_order_relaxed);
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
cache_set_capacity(struct cache *cache, size_t capacity)
{
    assert(cache->shard_count > 0);
    if (capacity > cache->most)
        capacity = (size_t)cache->most;
    atomic_store_explicit(&cache->capacity, capacity, memory_order_relaxed);
    for (unsigned i = 0; i < cache->shard_count; i++) {
        struct cache_block *removed;

        shard_set_capacity(&cache->shards[i], capacity / cache->shard_count, &removed);
        defer_all(cache, removed);
    }
    /* What readers keep of the blocks that went is in use as yet; once they have left, later
     * calls close the slabs. */
    epoch_collect(cache->epoch);
    /* After the blocks went, since it gives back what they left. */
    pool_set_capacity(&cache->pool, capacity);
    close_slabs(cache, (size_t)(cache->most / SLAB_BYTES));
}

void
cache_usage_get(struct cache *cache, struct cache_usage *usage)
{
    struct pool_usage pool;

    *usage = (struct cache_usage){.capacity =
                                      atomic_load_explicit(&cache->capacity, memory_order_relaxed)};
    for (unsigned i = 0; i < cache->shard_count; i++)
        shard_add_usage(&cache->shards[i], usage);
    pool = pool_usage_get(&cache->pool);
    usage->blocks_out = pool.blocks;
    usage->memory = pool.bytes;
    usage->memory_idle = pool.slab_idle;
    usage->memory_closed = pool.slab_closed;
}
