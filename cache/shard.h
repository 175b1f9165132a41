/*
 * shard.h -- one part of the cache: a hash table whose chains are read without locks, and the
 * queues that decide what goes when room is needed.
 *
 * The table has a fixed number of buckets, one for every 4 KiB of the greatest capacity: blocks are
 * seldom smaller, so chains are short, and a table that never grows needs no protocol for readers
 * who are in it.
 *
 * Ownership: blocks in the shard belong to it.  What it puts out is handed to the caller as a list
 * linked by queue_next; readers inside the epoch may still use those blocks, so the caller retires
 * them.
 *
 * Threads: shard_find inside the epoch, without lock; the others take the mutex, and hold no other
 * lock meanwhile.
 */
#ifndef PETAL_CACHE_SHARD_H
#define PETAL_CACHE_SHARD_H

#include "base/mutex.h"
#include "cache/cache.h"

/* Queues: one a priority for data blocks and Bloom chunks, and one for index blocks. */
enum { SHARD_META = CACHE_PRIORITIES, SHARD_QUEUES };

/* In the order in which the clock hand meets them. */
struct block_queue {
    struct cache_block *oldest, *newest;
    uint64_t bytes;
};

struct cache_shard {
    /* Constant; all that readers use. */
    _Alignas(CACHE_LINE_BYTES) _Atomic(struct cache_block *) *buckets;
    uint64_t bucket_mask;
    _Atomic(uint32_t) *asked; /* marks of blocks that were asked for, as many as buckets */
    const petal_allocator *allocator;

    _Alignas(
        CACHE_LINE_BYTES) struct mutex mutex; /* guards the chains against writers, and the rest */
    uint64_t capacity;
    struct block_queue queues[SHARD_QUEUES];
    struct cache_usage usage;
    _Atomic(uint64_t) held; /* bytes of all queues; read without the mutex */
};

/* `capacity` is the greatest there will be. */
enum petal_status shard_init(struct cache_shard *shard, const petal_allocator *allocator,
                             uint64_t capacity);

/* REQUIRES: empty. */
void shard_fini(struct cache_shard *shard);

/* `hash` is that of (file, offset), everywhere. */
struct cache_block *shard_find(const struct cache_shard *shard, uint64_t hash, uint64_t file,
                               uint64_t offset);

/* Note that the block was asked for; true: so it was before, and about less than `window` others
 * since.  `window` is not 0.  Any thread, without the mutex. */
bool shard_asked_before(struct cache_shard *shard, uint64_t hash, uint64_t window);

/* Bytes of the blocks in the table, about: others put in and take out.  Any thread. */
static inline uint64_t
shard_held(const struct cache_shard *shard)
{
    return atomic_load_explicit(&shard->held, memory_order_relaxed);
}

/*
 * Make room and put `block` (kind and priority set) in.  Returns `block`, or the one that was there
 * under this key already, or NULL when it cannot be held; then `block` stays the caller's.
 * *removed: what went.
 */
struct cache_block *shard_insert(struct cache_shard *shard, struct cache_block *block,
                                 uint64_t hash, uint64_t file, uint64_t offset,
                                 struct cache_block **removed);

/* Take out all blocks of `file`; of every file if it is 0. */
void shard_erase_file(struct cache_shard *shard, uint64_t file, struct cache_block **removed);

/* Take out this block, counted as evicted, if it is (still) there under this key. */
void shard_remove(struct cache_shard *shard, struct cache_block *block, uint64_t hash,
                  uint64_t file, uint64_t offset, struct cache_block **removed);

/* Change the capacity; *removed: what had to go. */
void shard_set_capacity(struct cache_shard *shard, uint64_t capacity, struct cache_block **removed);

void shard_add_usage(struct cache_shard *shard, struct cache_usage *sum);

/* The hash that chooses bucket (its low bits) and shard (its high half).  Offsets share their
 * low and high bits. */
static inline uint64_t
block_key_hash(uint64_t file, uint64_t offset)
{
    uint64_t mixed = (offset ^ file * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;

    mixed ^= mixed >> 32;
    mixed *= 0xD6E8FEB86659FD93u;
    return mixed ^ mixed >> 32;
}

#endif
