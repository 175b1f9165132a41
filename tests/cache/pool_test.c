/* pool_test.c -- the memory of cache blocks: whole pages, and a slab, that wait for
 * the next block. */
#include "cache/pool.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#define KIB 1024u

/* The largest objects of slabs are as large as the smallest pages. */
TEST(pages_wait_for_a_block_of_pages)
{
    struct cache_block *block, *smaller;
    struct block_pool pool;
    const uint8_t *pages;
    bool crowded;

    assert_int_equal(pool_init(&pool, &mem_default_allocator, 1024 * KIB), PETAL_OK);
    block = pool_allocate(&pool, POOL_PAGES_BYTES, 0, &crowded);
    assert_non_null(block);
    pages = block->data;
    pool_release(&pool, block);
    smaller = pool_allocate(&pool, POOL_PAGES_BYTES - 1000, 0, &crowded);
    block = pool_allocate(&pool, POOL_PAGES_BYTES, 0, &crowded);
    assert_non_null(smaller);
    assert_non_null(block);
    assert_ptr_equal(block->data, pages);
    pool_release(&pool, smaller);
    pool_release(&pool, block);
    pool_fini(&pool);
}

/* Some released pages wait for the next blocks, and are no more than MEMORY in cache.h says, also
 * when the capacity shrinks. */
TEST(warm_pages_come_first)
{
    enum { BLOCKS = 100, SIZE = 64 * 1024, CAPACITY = 32 * 1024 * 1024 };
    struct cache_block *blocks[BLOCKS];
    struct block_pool pool;
    uint64_t full, idle, empty;
    bool crowded;

    assert_int_equal(pool_init(&pool, &mem_default_allocator, CAPACITY), PETAL_OK);
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = pool_allocate(&pool, SIZE, 0, &crowded);
        assert_non_null(blocks[i]);
    }
    full = pool_usage_get(&pool).bytes;
    empty = full - (uint64_t)BLOCKS * SIZE;
    for (unsigned i = 0; i < BLOCKS; i++)
        pool_release(&pool, blocks[i]);
    idle = pool_usage_get(&pool).bytes - empty;
    assert_in_range(idle, CAPACITY / 32, CAPACITY / 32 + 1024 * KIB);
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = pool_allocate(&pool, SIZE, 0, &crowded);
        assert_non_null(blocks[i]);
        if (i < idle / SIZE)
            assert_int_equal(pool_usage_get(&pool).bytes, empty + idle);
    }
    assert_int_equal(pool_usage_get(&pool).bytes, full);
    for (unsigned i = 0; i < BLOCKS; i++)
        pool_release(&pool, blocks[i]);
    pool_set_capacity(&pool, 0);
    assert_in_range(pool_usage_get(&pool).bytes - empty, 1, 1024 * KIB);
    pool_fini(&pool);
}

/* The blocks of a full cache come and go around what fills whole slabs; the slab on the border
 * stays and is counted. */
TEST(a_slab_on_the_border_stays)
{
    enum { SIZE = 4096, FULL = 63, CAPACITY = 4 * 1024 * 1024 };
    struct test_allocator allocator;
    struct cache_block *blocks[FULL + 1];
    struct block_pool pool;
    uint64_t calls, bytes;
    bool crowded;

    test_allocator_init(&allocator);
    assert_int_equal(pool_init(&pool, &allocator.table, CAPACITY), PETAL_OK);
    for (unsigned i = 0; i <= FULL; i++) {
        blocks[i] = pool_allocate(&pool, SIZE, 0, &crowded);
        assert_non_null(blocks[i]);
    }
    assert_int_equal(pool.slabs.slab_count, 2);
    calls = test_allocator_calls(&allocator);
    bytes = pool_usage_get(&pool).bytes;
    for (unsigned step = 0; step < 1000; step++) {
        pool_release(&pool, blocks[FULL]);
        blocks[FULL] = pool_allocate(&pool, SIZE, 0, &crowded);
        assert_non_null(blocks[FULL]);
    }
    assert_int_equal(test_allocator_calls(&allocator), calls);
    pool_release(&pool, blocks[FULL]);
    assert_int_equal(pool_usage_get(&pool).bytes, bytes);
    assert_int_equal(pool_usage_get(&pool).slab_idle, bytes - pool.other_bytes - FULL * SIZE);
    for (unsigned i = 0; i < FULL; i++)
        pool_release(&pool, blocks[i]);
    assert_int_equal(pool.slabs.slab_count, 1);
    pool_set_capacity(&pool, CAPACITY);
    assert_int_equal(pool.slabs.slab_count, 1);
    /* Shrinking gives it back. */
    pool_set_capacity(&pool, CAPACITY - 1);
    assert_int_equal(pool.slabs.slab_count, 0);
    assert_int_equal(pool_usage_get(&pool).bytes, pool.other_bytes);
    pool_fini(&pool);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
}

/* A spare and slabs of which nearly all waits: only together more than may wait, so that no slab
 * has to be closed. */
TEST(a_crowded_pool_gives_the_spare_back_first)
{
    enum { SIZE = 4096, SLABS = 6, OF_SLAB = 63, BLOCKS = SLABS * OF_SLAB };
    struct cache_block *blocks[BLOCKS], *other;
    struct block_name names[SLAB_OBJECTS];
    struct test_allocator allocator;
    struct block_pool pool;
    size_t count;
    bool crowded;

    test_allocator_init(&allocator);
    assert_int_equal(pool_init(&pool, &allocator.table, 0), PETAL_OK);
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = pool_allocate(&pool, SIZE, 0, &crowded);
        assert_non_null(blocks[i]);
    }
    assert_int_equal(pool.slabs.slab_count, SLABS);
    /* One slab becomes the spare, four more have nearly nothing in use. */
    for (unsigned i = 0; i < (SLABS - 1) * OF_SLAB; i++)
        if (i < OF_SLAB || i % OF_SLAB != 0)
            pool_release(&pool, blocks[i]);
    assert_int_equal(pool.slabs.slab_count, SLABS);
    other = pool_allocate(&pool, 2 * SIZE, 0, &crowded);
    assert_true(crowded);
    assert_false(pool_close_slab(&pool, names, &count));
    assert_int_equal(pool.slabs.slab_count, SLABS);
    assert_null(pool.slabs.spare);
    assert_in_range(pool_usage_get(&pool).slab_idle, 0, POOL_SPARE_BYTES);
    pool_release(&pool, other);
    for (unsigned i = OF_SLAB; i < BLOCKS; i++)
        if (i >= (SLABS - 1) * OF_SLAB || i % OF_SLAB == 0)
            pool_release(&pool, blocks[i]);
    pool_fini(&pool);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
}
