/* pool_test.c -- the memory of cache blocks: whole pages that wait for the next block. */
#include "cache/pool.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define KIB 1024u

/* The largest objects of slabs are as large as the smallest pages. */
static void
pages_wait_for_a_block_of_pages(void **state)
{
    struct cache_block *block, *smaller;
    struct block_pool pool;
    const uint8_t *pages;
    bool crowded;

    (void)state;
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
static void
warm_pages_come_first(void **state)
{
    enum { BLOCKS = 100, SIZE = 64 * 1024, CAPACITY = 32 * 1024 * 1024 };
    struct cache_block *blocks[BLOCKS];
    struct block_pool pool;
    uint64_t full, idle, empty;
    bool crowded;

    (void)state;
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_wait_for_a_block_of_pages),
        cmocka_unit_test(warm_pages_come_first),
    };

    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
