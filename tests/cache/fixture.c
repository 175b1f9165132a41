/* fixture.c -- see tests/cache/fixture.h. */
#include "tests/cache/fixture.h"

#include "tests/support/test.h"

#include <stdlib.h>

struct cache_fixture *
cache_fixture_new(size_t capacity, unsigned shards)
{
    struct cache_fixture *f = test_allocate(sizeof *f);

    test_allocator_init(&f->allocator);
    f->epoch = mem_alloc_aligned(&mem_default_allocator, CACHE_LINE_BYTES, sizeof *f->epoch);
    assert_non_null(f->epoch);
    assert_int_equal(epoch_init(f->epoch), PETAL_OK);
    assert_int_equal(cache_open(&f->cache, &f->allocator.table, f->epoch, capacity, shards),
                     PETAL_OK);
    return f;
}

void
cache_fixture_free(struct cache_fixture *f)
{
    cache_close(f->cache);
    assert_int_equal(test_allocator_live_bytes(&f->allocator), 0);
    assert_int_equal(test_allocator_live_blocks(&f->allocator), 0);
    epoch_fini(f->epoch);
    mem_free(&mem_default_allocator, f->epoch, sizeof *f->epoch);
    free(f);
}

/* ---- Blocks that tell their key ---- */

static uint8_t
byte_at(uint64_t file, uint64_t offset, size_t i)
{
    uint64_t mixed = (file * 1000003 + offset + i / 8) * 0x9E3779B97F4A7C15u;

    return (uint8_t)(mixed >> (8 * (i % 8)));
}

bool
fixture_is_block(const struct cache_block *block, uint64_t file, uint64_t offset)
{
    for (size_t i = 0; i < block->size; i++)
        if (block->data[i] != byte_at(file, offset, i))
            return false;
    return true;
}

struct cache_block *
fixture_new_block(struct cache *cache, uint64_t file, uint64_t offset, size_t size, uint32_t hints)
{
    uint8_t *data;
    struct cache_block *block = cache_allocate(cache, size, hints, &data);

    if (block != NULL)
        for (size_t i = 0; i < size; i++)
            data[i] = byte_at(file, offset, i);
    return block;
}

struct cache_block *
fixture_put_in(struct cache *cache, uint64_t file, uint64_t offset, size_t size,
               enum petal_block_kind kind, enum cache_priority priority)
{
    struct cache_block *block = fixture_new_block(cache, file, offset, size, 0);

    return block == NULL ? NULL : cache_insert(cache, block, file, offset, kind, priority, true);
}

/* Put in blocks [first, end) of a file, each `size` bytes, each in an epoch of its own. */
void
fixture_put(struct cache_fixture *f, uint64_t file, uint64_t first, uint64_t end, size_t size,
            enum petal_block_kind kind, enum cache_priority priority)
{
    for (uint64_t offset = first; offset < end; offset++) {
        unsigned slot = epoch_enter(f->epoch);

        assert_non_null(fixture_put_in(f->cache, file, offset, size, kind, priority));
        epoch_leave(f->epoch, slot);
    }
}

/* How many of the blocks [first, end) of a file are there.  Uses them. */
unsigned
fixture_count_found(struct cache_fixture *f, uint64_t file, uint64_t first, uint64_t end)
{
    unsigned found = 0;
    unsigned slot = epoch_enter(f->epoch);

    for (uint64_t offset = first; offset < end; offset++) {
        struct cache_block *block = fixture_find(f->cache, NULL, file, offset);

        if (block == NULL)
            continue;
        assert_true(fixture_is_block(block, file, offset));
        found++;
    }
    epoch_leave(f->epoch, slot);
    return found;
}

uint64_t
fixture_sum(const uint64_t counts[PETAL_BLOCK_KINDS])
{
    uint64_t total = 0;

    for (unsigned i = 0; i < PETAL_BLOCK_KINDS; i++)
        total += counts[i];
    return total;
}

struct cache_usage
fixture_usage(struct cache *cache)
{
    struct cache_usage usage;

    cache_usage_get(cache, &usage);
    return usage;
}
