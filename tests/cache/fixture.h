/*
 * fixture.h -- a cache with its surroundings, and blocks whose bytes tell their key, so that a
 * wrong block cannot pass for the right one.  The allocator poisons what is released and must count
 * to zero at close.
 */
#ifndef PETAL_TESTS_CACHE_FIXTURE_H
#define PETAL_TESTS_CACHE_FIXTURE_H

#include "cache/cache.h"

#include "tests/support/test_support.h"

#define KIB              1024u
#define DESCRIPTOR_BYTES sizeof(struct cache_block)

struct cache_fixture {
    struct test_allocator allocator; /* of the cache only */
    struct epoch *epoch;
    struct cache *cache;
};

/* Find a block and use it. */
static inline struct cache_block *
fixture_find(struct cache *cache, struct cache_hint *hint, uint64_t file, uint64_t offset)
{
    struct cache_block *block = cache_look(cache, hint, file, offset);

    if (block != NULL)
        cache_touch(block);
    return block;
}

struct cache_fixture *cache_fixture_new(size_t capacity, unsigned shards);

/* Closes the cache; fails the test if memory is left. */
void cache_fixture_free(struct cache_fixture *f);

/* A filled block, not yet inserted; NULL when there is no memory. */
struct cache_block *fixture_new_block(struct cache *cache, uint64_t file, uint64_t offset,
                                      size_t size, uint32_t hints);

/* Whether the block's bytes are those of this key. */
bool fixture_is_block(const struct cache_block *block, uint64_t file, uint64_t offset);

/* Make a block and insert it; NULL when there is no memory.  REQUIRES: inside the epoch. */
struct cache_block *fixture_put_in(struct cache *cache, uint64_t file, uint64_t offset, size_t size,
                                   enum petal_block_kind kind, enum cache_priority priority);

/* Put in blocks [first, end) of a file, each `size` bytes, each in an epoch of its own. */
void fixture_put(struct cache_fixture *f, uint64_t file, uint64_t first, uint64_t end, size_t size,
                 enum petal_block_kind kind, enum cache_priority priority);

/* How many of the blocks [first, end) of a file are in the cache, with the right bytes.  Uses
 * them. */
unsigned fixture_count_found(struct cache_fixture *f, uint64_t file, uint64_t first, uint64_t end);

uint64_t fixture_sum(const uint64_t counts[PETAL_BLOCK_KINDS]);
struct cache_usage fixture_usage(struct cache *cache);

#endif
