/*
 * cache.h -- the block cache: one byte limit over data blocks, index blocks and Bloom chunks, keyed
 * by (file number, offset).  Knows nothing of what a block holds beyond its kind.
 *
 * READING takes no lock and writes to no shared line, but for a recency bit when it changes: inside
 * an epoch (base/epoch.h) cache_look walks a hash chain of atomic pointers; what it returns
 * stays good until the caller leaves the epoch.  A pin outlives the epoch.  Blocks are never
 * copied.
 *
 * HINTS.  A block's descriptor (struct cache_block) lies in memory that is never given back before
 * cache_close, only reused for other blocks.  So a reader may keep a descriptor's address without
 * pinning it, and later check, inside an epoch, whether it still describes the block wanted: a hot
 * read needs no hash table (pointer swizzling; LeanStore, Leis et al., ICDE 2018).  Why that is
 * safe: cache.c.
 *
 * EVICTION.  LRU approximated by second chance, in HBase's three priorities (single 25 %, multi 50
 * %, in-memory 25 % of what index blocks leave): the class most over its share gives first, so a
 * scan cannot empty the cache.  A single block that was used again is found out when its turn to go
 * comes, and becomes multi.  Index blocks are a class of their own, which gives only when it
 * exceeds seven eighths of the capacity, since one of them serves many data blocks.  Bloom chunks
 * lie among the data: one serves many data blocks, too, but only if it can rule them out.  So
 * whoever asks it touches it only when it did (cache_look, cache_touch): it then holds its
 * place by the reads that it saves, like a data block, and one that saves none leaves the room to
 * data.
 *
 * ADMISSION.  In a full cache each block that comes drives another out, and most that are read once
 * are not read again before they have to go, too: with gets all over data ten times as large,
 * nine in ten.  So who needs a block only for a moment asks cache_wants before putting it in, which
 * says no to what was not asked for a short while ago (the doorkeeper of TinyLFU: Einziger,
 * Friedman, Manes, ACM Transactions on Storage, 2017), and decodes it in memory of its own: none is
 * taken from the cache, nothing is evicted, and no lock is held.  What is hot stays the better for
 * it; of a new working set each block is read twice, the second time from the system's page cache.
 *
 * MEMORY.  The limit holds at every moment for what is in the table, each block counted with its
 * bytes, rounded up as memory is given out, hints and descriptor.  Outside of it: the hash table
 * and the marks of what was asked for (at most 3/512 of the greatest capacity), evicted blocks that
 * wait for readers (up to 1/32 of the capacity gathers before they are looked through; and what
 * readers inside the epoch hold: when that passes a sixteenth of the capacity and a MiB,
 * cache_allocate waits for them, some milliseconds at most), pinned blocks that were evicted, which
 * are freed after their last unpin, descriptors, of which as many stay as were ever in use, and
 * memory that waits for blocks of its size.  Of that there is at most a 32nd of the capacity and a
 * MiB once all memory exceeds the capacity, a 32nd and a MiB: if there is more, each cache_allocate
 * evicts the blocks around some of it, so that it can be given back, and cache_set_capacity as many
 * as needed. Of blocks from 32 KiB on, which are whole pages, at most a 32nd and a MiB wait, beside
 * the others; more is given back at once. From a capacity of 128 MiB on blocks lie in huge pages;
 * what that adds: cache/slab_region.h.
 *
 * Sharded by key: inserts of different shards do not wait for one another.
 */
#ifndef PETAL_CACHE_CACHE_H
#define PETAL_CACHE_CACHE_H

#include "cache/block.h"

enum cache_priority { CACHE_SINGLE, CACHE_MULTI, CACHE_MEMORY, CACHE_PRIORITIES };

struct cache;

/*
 * `capacity` in bytes (PETAL_NO_CACHE or 0: keep nothing; blocks then live for their epoch or pin).
 * `shards` 0: a number fit for the capacity, one below 32 MiB.  Each has its even part of the
 * capacity, and a block larger than that is not kept.  The epoch's memory and the allocator outlive
 * the cache.  NULL on failure: PETAL_NO_MEMORY.
 */
enum petal_status cache_open(struct cache **cache, const petal_allocator *allocator,
                             struct epoch *epoch, size_t capacity, unsigned shards);

/* Free everything.  NULL: no-op.  May come after epoch_fini, too.  REQUIRES: no pins, no reader
 * inside the epoch, no call on the epoch running. */
void cache_close(struct cache *cache);

/*
 * The block, or NULL.  File numbers are not 0.  A hint (may be NULL) leads to it without the table,
 * and is updated when the table knew better: one that cache_hint_init made and that was written by
 * this function only, for the same cache; it may be used for changing keys.  That is no use of the
 * block as yet: cache_touch is.  REQUIRES: inside the epoch.
 */
struct cache_block *cache_look(struct cache *cache, struct cache_hint *hint, uint64_t file,
                               uint64_t offset);

/*
 * Memory for a block of `size` bytes with `hint_count` hints (NULL at first), not yet in the table.
 * Fill the bytes through *data, then insert or discard it.  NULL when there is no memory or `size`
 * is above UINT32_MAX.
 */
struct cache_block *cache_allocate(struct cache *cache, size_t size, uint32_t hint_count,
                                   uint8_t **data);
void cache_discard(struct cache *cache, struct cache_block *block);

/*
 * Put an allocated block in the table under (file, offset), evicting others.  When another thread
 * was faster, or the block cannot be kept (too large, no capacity, or `keep` false), it is not
 * kept, but what is returned can be used as if found.  Never NULL; needs no memory.  REQUIRES:
 * inside the epoch.
 */
struct cache_block *cache_insert(struct cache *cache, struct cache_block *block, uint64_t file,
                                 uint64_t offset, enum petal_block_kind kind,
                                 enum cache_priority priority, bool keep);

/* Would `bytes` more fit without others going, and a 32nd of the capacity be free still?  About:
 * other threads insert, too. */
bool cache_has_room(const struct cache *cache, uint64_t bytes);

/*
 * Is a block that is not in the cache, and takes about so many bytes there, to be put in?  Yes
 * where there is room without others going; else if it was asked for in this way before, and since
 * then less than about as many blocks as the cache can hold.  Any thread, without locks.
 */
bool cache_wants(struct cache *cache, uint64_t file, uint64_t offset, uint64_t bytes);

/* Keep a block beyond the epoch.  cache_pin REQUIRES: inside the epoch in which it was found, or
 * pinned already.  After cache_unpin it can be used until the caller leaves the epoch, if
 * inside. */
void cache_pin(struct cache_block *block);
void cache_unpin(struct cache *cache, struct cache_block *block);

/* Take all blocks of a file out of the table.  Looks at every block: for files that are removed.
 * Inserting a block of the file afterwards is allowed; it stays until it is evicted. */
void cache_erase_file(struct cache *cache, uint64_t file);

/*
 * Change the capacity, up to the one given at opening.  When it returns, no more than that is in
 * the table; what had to go is evicted as always and waits for its readers.  A cache that keeps
 * nothing stays so.  Of several calls at once each shard obeys the last one that reached it.  Any
 * thread, inside the epoch or not.
 */
void cache_set_capacity(struct cache *cache, size_t capacity);

struct cache_usage {
    uint64_t capacity;                 /* now */
    uint64_t bytes[PETAL_BLOCK_KINDS]; /* in the table now, descriptors included */
    uint64_t blocks[PETAL_BLOCK_KINDS];
    uint64_t inserted[PETAL_BLOCK_KINDS];
    uint64_t evicted[PETAL_BLOCK_KINDS]; /* to make room; not those of erased files */
    uint64_t blocks_out;                 /* in the table, kept by readers, or pinned */
    uint64_t memory;                     /* that blocks and descriptors have and have touched .. */
    uint64_t memory_idle;                /* .. of which waits for blocks of its size .. */
    uint64_t memory_closed;              /* .. or goes once readers and pins allow it */
};
void cache_usage_get(struct cache *cache, struct cache_usage *usage);

#endif
