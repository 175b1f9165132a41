/*
 * block.h -- a block in memory, as its readers see it, and the hints by which they find it again
 * (cache/cache.h).
 */
#ifndef PETAL_CACHE_BLOCK_H
#define PETAL_CACHE_BLOCK_H

#include "base/epoch.h"
#include "base/mem.h"

struct cache;
struct cache_block;

/* Of a block that was found once; both NULL at first. */
struct cache_hint {
    _Atomic(struct cache_block *) block;
    _Atomic(const uint8_t *)
        data; /* its bytes then: to be prefetched, never to be read, since they may be gone */
};

static inline void
cache_hint_init(struct cache_hint *hint)
{
    atomic_init(&hint->block, NULL);
    atomic_init(&hint->data, NULL);
}

/* Start loading the block's first lines without waiting for its descriptor.  Nothing is done if
 * there is no such block. */
static inline void
cache_hint_prefetch(const struct cache_hint *hint, unsigned lines)
{
    const uint8_t *data = atomic_load_explicit(&hint->data, memory_order_relaxed);

    if (data != NULL)
        mem_prefetch(data, lines);
}

/* The same for who does other work before it asks for the block: its descriptor, too. */
static inline void
cache_hint_prefetch_whole(const struct cache_hint *hint, unsigned lines)
{
    mem_prefetch(atomic_load_explicit(&hint->block, memory_order_relaxed), 1);
    cache_hint_prefetch(hint, lines);
}

/*
 * A block in memory.  Readers use data, size, note, hint_count, hints, kind; the rest is the cache's.
 * What readers touch lies in the first line, what only writers touch in the second.
 * REQUIRES: inside the epoch in which it was found, or pinned.
 */
struct cache_block {
    _Alignas(CACHE_LINE_BYTES) _Atomic(uint64_t) file; /* 0 while not in the table */
    _Atomic(uint64_t) offset;
    const uint8_t *data; /* on a 64-byte border */
    uint32_t size;
    uint32_t hint_count;
    struct cache_hint *hints;           /* of the blocks that this one names; NULL at first */
    _Atomic(struct cache_block *) next; /* in the hash chain */
    _Atomic(uint32_t) pins;             /* one of them is the table's own */
    _Atomic(uint8_t) recent;            /* used since the clock hand passed */
    _Atomic(uint8_t) pinned;            /* by some reader, at some time of this life */
    uint8_t kind;                       /* enum petal_block_kind */
    uint8_t priority;                   /* enum cache_priority; guarded by the shard's mutex */
    uint32_t note; /* 0, or what who made the block has set before it was inserted */

    /* Guarded by the shard's mutex. */
    _Alignas(CACHE_LINE_BYTES) struct cache_block *queue_next;
    struct cache_block *queue_previous;
    struct cache *cache;
    uint64_t charge; /* what it counts against the limit: bytes, hints, descriptor */
    struct epoch_item retire;
};

/* The block that the hint leads to, if it is the one wanted; why that is safe: cache/cache.c.
 * REQUIRES: inside the epoch. */
static inline struct cache_block *
cache_hint_block(const struct cache_hint *hint, uint64_t file, uint64_t offset)
{
    struct cache_block *block = atomic_load_explicit(&hint->block, memory_order_acquire);

    if (block != NULL && atomic_load_explicit(&block->file, memory_order_acquire) == file &&
        atomic_load_explicit(&block->offset, memory_order_relaxed) == offset)
        return block;
    return NULL;
}

/* Note that the block was used; writes only when that is news. */
static inline void
cache_touch(struct cache_block *block)
{
    if (atomic_load_explicit(&block->recent, memory_order_relaxed) == 0)
        atomic_store_explicit(&block->recent, 1, memory_order_relaxed);
}

#endif
