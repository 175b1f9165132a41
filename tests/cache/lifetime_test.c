/*
 * lifetime_test.c -- how long a block of the cache is good, and what may point to it: epochs, pins,
 * stale hints, blocks that are not kept, and memory that runs out.
 */
#include "cache/slab.h"

#include "tests/cache/fixture.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

/* ---- Blocks that are not kept ---- */

/* Insert a block that cannot be kept: it is good until the caller leaves, then its memory is given
 * back. */
static void
expect_not_kept(struct cache_fixture *f, size_t size, bool keep)
{
    unsigned slot = epoch_enter(f->epoch);
    struct cache_block *block = fixture_new_block(f->cache, 99, 5, size, 3);
    uint64_t with_block = fixture_usage(f->cache).blocks_out;

    assert_ptr_equal(cache_insert(f->cache, block, 99, 5, PETAL_BLOCK_DATA, CACHE_SINGLE, keep),
                     block);
    assert_null(fixture_find(f->cache, NULL, 99, 5));
    epoch_collect(f->epoch);
    assert_int_equal(fixture_usage(f->cache).blocks_out, with_block);
    assert_true(fixture_is_block(block, 99, 5));
    epoch_leave(f->epoch, slot);
    epoch_collect(f->epoch);
    assert_int_equal(fixture_usage(f->cache).blocks_out, with_block - 1);
}

TEST(what_is_not_kept_lives_for_the_epoch)
{
    struct cache_fixture *f = cache_fixture_new(64 * KIB, 0);
    struct cache_fixture *none = cache_fixture_new(PETAL_NO_CACHE, 0);

    fixture_put(f, 1, 0, 1, 1000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    expect_not_kept(f, 1000, false);
    expect_not_kept(f, 64 * KIB, true);                   /* with its descriptor it is too large */
    assert_int_equal(fixture_count_found(f, 1, 0, 1), 1); /* and evicts nothing in vain */
    assert_int_equal(fixture_usage(f->cache).inserted[PETAL_BLOCK_DATA], 1);
    expect_not_kept(none, 1, true);
    assert_int_equal(fixture_usage(none->cache).capacity, 0);
    cache_fixture_free(f);
    cache_fixture_free(none);
}

TEST(without_a_cache_memory_does_not_pile_up)
{
    struct cache_fixture *f = cache_fixture_new(0, 0);
    uint64_t empty = test_allocator_live_bytes(&f->allocator);

    for (unsigned i = 0; i < 1000; i++) {
        fixture_put(f, 1, i, i + 1, 4096, PETAL_BLOCK_DATA, CACHE_SINGLE);
        /* One slab, of which no more is touched than blocks need that wait for one another. */
        assert_in_range(test_allocator_live_bytes(&f->allocator), 0, empty + SLAB_BYTES + 3 * 4096);
        assert_in_range(fixture_usage(f->cache).memory, 0, 8 * 4096);
    }
    cache_fixture_free(f);
}

struct sleeper {
    struct epoch *epoch;
    _Atomic(bool) inside;
};

static void *
sleep_inside(void *argument)
{
    struct sleeper *sleeper = argument;
    unsigned slot = epoch_enter(sleeper->epoch);

    atomic_store(&sleeper->inside, true);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    epoch_leave(sleeper->epoch, slot);
    return NULL;
}

/* A reader that stays inside keeps what is evicted meanwhile; without waiting for it that is all
 * that can be written in its time. */
TEST(memory_does_not_pile_up_behind_a_reader)
{
    struct cache_fixture *f = cache_fixture_new(1024 * KIB, 0);
    struct sleeper sleeper = {.epoch = f->epoch};
    uint64_t most = 0;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, sleep_inside, &sleeper), 0);
    while (!atomic_load(&sleeper.inside))
        sched_yield();
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t live;

        fixture_put(f, 1, i, i + 1, 64 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
        live = test_allocator_live_bytes(&f->allocator);
        most = live > most ? live : most;
    }
    assert_in_range(most, 0, 24 * 1024 * KIB);
    pthread_join(thread, NULL);
    cache_fixture_free(f);
}

TEST(a_block_that_is_not_kept_can_be_pinned)
{
    struct cache_fixture *f = cache_fixture_new(0, 0);
    unsigned slot = epoch_enter(f->epoch);
    struct cache_block *block = fixture_put_in(f->cache, 1, 0, 500, PETAL_BLOCK_DATA, CACHE_SINGLE);

    cache_pin(block);
    epoch_leave(f->epoch, slot);
    epoch_collect(f->epoch);
    assert_true(fixture_is_block(block, 1, 0));
    cache_unpin(f->cache, block);
    cache_fixture_free(f);
}

/* ---- Hints ---- */

TEST(a_hint_is_learnt_and_outlives_its_block)
{
    struct cache_fixture *f = cache_fixture_new(8 * KIB, 1);
    struct cache_hint hint;
    struct cache_block *block, *other;
    unsigned slot = epoch_enter(f->epoch);

    cache_hint_init(&hint);
    assert_null(fixture_find(f->cache, &hint, 1, 0));
    assert_null(atomic_load(&hint.block));
    block = fixture_put_in(f->cache, 1, 0, 5000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_ptr_equal(fixture_find(f->cache, &hint, 1, 0), block);
    assert_ptr_equal(atomic_load(&hint.block), block);
    assert_ptr_equal(atomic_load(&hint.data), block->data);
    assert_ptr_equal(fixture_find(f->cache, &hint, 1, 0), block);
    assert_ptr_equal(fixture_find(f->cache, NULL, 1, 0), block);
    epoch_leave(f->epoch, slot);

    fixture_put(f, 1, 1, 2, 5000, PETAL_BLOCK_DATA, CACHE_SINGLE); /* evicts it */
    epoch_collect(f->epoch);
    slot = epoch_enter(f->epoch);
    assert_null(fixture_find(f->cache, &hint, 1, 0));
    /* The descriptor under the hint comes back for the same key, but in a block that is not
     * kept. */
    other = fixture_new_block(f->cache, 1, 0, 5000, 0);
    assert_ptr_equal(other, block);
    assert_ptr_equal(cache_insert(f->cache, other, 1, 0, PETAL_BLOCK_DATA, CACHE_SINGLE, false),
                     other);
    assert_null(fixture_find(f->cache, &hint, 1, 0));
    epoch_leave(f->epoch, slot);
    epoch_collect(f->epoch);

    /* And again, for another key. */
    slot = epoch_enter(f->epoch);
    other = fixture_put_in(f->cache, 2, 77, 3000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_ptr_equal(other, block);
    assert_null(fixture_find(f->cache, &hint, 1, 0));
    assert_ptr_equal(fixture_find(f->cache, &hint, 2, 77), other);
    epoch_leave(f->epoch, slot);
    cache_fixture_free(f);
}

TEST(a_stale_hint_never_leads_to_the_wrong_block)
{
    struct cache_fixture *f = cache_fixture_new(10 * KIB, 1);
    struct cache_hint hints[16];
    struct test_random random;
    unsigned stale = 0;

    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < 16; i++)
        cache_hint_init(&hints[i]);
    for (unsigned i = 0; i < 50000; i++) {
        uint64_t file = 1 + test_random_below(&random, 3);
        uint64_t offset = test_random_below(&random, 20);
        struct cache_hint *hint = &hints[test_random_below(&random, 16)];
        unsigned slot = epoch_enter(f->epoch);
        struct cache_block *before = atomic_load(&hint->block);
        struct cache_block *block = fixture_find(f->cache, hint, file, offset);

        stale += before != NULL && before != block;
        assert_ptr_equal(block, fixture_find(f->cache, NULL, file, offset));
        if (block == NULL)
            block = fixture_put_in(f->cache, file, offset, 1 + test_random_below(&random, 2000),
                                   PETAL_BLOCK_DATA, CACHE_SINGLE);
        assert_true(fixture_is_block(block, file, offset));
        epoch_leave(f->epoch, slot);
    }
    assert_in_range(stale, 1000, 50000);
    cache_fixture_free(f);
}

/* ---- Epochs and pins ---- */

TEST(an_evicted_block_is_good_until_the_reader_leaves)
{
    struct cache_fixture *f = cache_fixture_new(64 * KIB, 1);
    unsigned slot;
    struct cache_block *block;
    uint64_t live;

    fixture_put(f, 1, 0, 1, 3000, PETAL_BLOCK_DATA, CACHE_MULTI);
    slot = epoch_enter(f->epoch);
    block = fixture_find(f->cache, NULL, 1, 0);
    fixture_put(f, 2, 0, 400, 3000, PETAL_BLOCK_DATA, CACHE_MULTI);
    assert_null(fixture_find(f->cache, NULL, 1, 0));
    epoch_collect(f->epoch);
    assert_true(fixture_is_block(block, 1, 0));
    live = test_allocator_live_bytes(&f->allocator);
    epoch_leave(f->epoch, slot);
    epoch_collect(f->epoch);
    assert_in_range(test_allocator_live_bytes(&f->allocator), 0, live - 100 * 3000);
    cache_fixture_free(f);
}

TEST(a_pin_outlives_eviction_and_epoch)
{
    struct cache_fixture *f = cache_fixture_new(64 * KIB, 1);
    unsigned slot = epoch_enter(f->epoch);
    struct cache_block *block =
        fixture_put_in(f->cache, 1, 0, 3000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    uint64_t live;

    cache_pin(block);
    cache_pin(block);
    epoch_leave(f->epoch, slot);
    fixture_put(f, 2, 0, 400, 3000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    epoch_collect(f->epoch);
    assert_int_equal(fixture_count_found(f, 1, 0, 1), 0);
    assert_true(fixture_is_block(block, 1, 0));
    cache_unpin(f->cache, block);
    epoch_collect(f->epoch);
    assert_true(fixture_is_block(block, 1, 0));

    /* The last unpin inside an epoch: good until the caller leaves. */
    slot = epoch_enter(f->epoch);
    cache_unpin(f->cache, block);
    epoch_collect(f->epoch);
    assert_true(fixture_is_block(block, 1, 0));
    live = fixture_usage(f->cache).blocks_out;
    epoch_leave(f->epoch, slot);
    epoch_collect(f->epoch);
    assert_int_equal(fixture_usage(f->cache).blocks_out, live - 1);
    cache_fixture_free(f);
}

/* Evicted before the reader entered, unpinned by it, and then let go by the table, while it is
 * inside. */
TEST(an_unpinned_block_is_good_until_the_reader_leaves)
{
    struct cache_fixture *f = cache_fixture_new(64 * KIB, 1);
    unsigned other = epoch_enter(f->epoch), slot = epoch_enter(f->epoch);
    struct cache_block *block =
        fixture_put_in(f->cache, 1, 0, 1000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    uint64_t with_block = fixture_usage(f->cache).blocks_out;

    cache_pin(block);
    epoch_leave(f->epoch, slot);
    cache_erase_file(f->cache, 1); /* `other` keeps it from being dropped */
    epoch_collect(f->epoch);
    slot = epoch_enter(f->epoch);
    cache_unpin(f->cache, block);
    epoch_leave(f->epoch, other);
    epoch_collect(f->epoch);
    epoch_collect(f->epoch);
    assert_int_equal(fixture_usage(f->cache).blocks_out, with_block);
    assert_true(fixture_is_block(block, 1, 0));
    epoch_leave(f->epoch, slot);
    epoch_collect(f->epoch);
    assert_int_equal(fixture_usage(f->cache).blocks_out, with_block - 1);
    cache_fixture_free(f);
}

/* Pinned and unpinned while the block waits in the epoch's list: it must be released once, after
 * all. */
TEST(pins_that_come_and_go_after_eviction)
{
    struct cache_fixture *f = cache_fixture_new(64 * KIB, 1);
    unsigned slot;
    struct cache_block *block;

    fixture_put(f, 1, 0, 1, 3000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    slot = epoch_enter(f->epoch);
    block = fixture_find(f->cache, NULL, 1, 0);
    cache_erase_file(f->cache, 1);
    epoch_collect(f->epoch);
    cache_pin(block);
    cache_unpin(f->cache, block);
    cache_pin(block);
    epoch_leave(f->epoch, slot);
    epoch_collect(f->epoch);
    assert_true(fixture_is_block(block, 1, 0));
    cache_unpin(f->cache, block);
    cache_fixture_free(f);
}

TEST(pinned_blocks_in_the_table_are_only_unpinned)
{
    struct cache_fixture *f = cache_fixture_new(64 * KIB, 1);
    unsigned slot = epoch_enter(f->epoch);
    struct cache_block *block =
        fixture_put_in(f->cache, 1, 0, 3000, PETAL_BLOCK_DATA, CACHE_SINGLE);

    cache_pin(block);
    epoch_leave(f->epoch, slot);
    cache_unpin(f->cache, block);
    epoch_collect(f->epoch);
    assert_int_equal(fixture_count_found(f, 1, 0, 1), 1);
    cache_fixture_free(f);
}

/* The table's own blocks and those that wait in the epoch are all given back, whichever goes
 * first. */
TEST(the_epoch_may_end_before_the_cache)
{
    struct test_allocator allocator;
    struct cache_fixture *f = cache_fixture_new(0, 0);
    struct cache *cache;

    test_allocator_init(&allocator);
    assert_int_equal(cache_open(&cache, &allocator.table, f->epoch, 256 * KIB, 2), PETAL_OK);
    for (uint64_t offset = 0; offset < 300; offset++) {
        unsigned slot = epoch_enter(f->epoch);

        fixture_put_in(cache, 1, offset, 1000, PETAL_BLOCK_DATA, CACHE_SINGLE);
        epoch_leave(f->epoch, slot);
    }
    epoch_fini(f->epoch);
    cache_close(cache);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    assert_int_equal(epoch_init(f->epoch), PETAL_OK);
    cache_fixture_free(f);
}

TEST(erasing_a_file_takes_its_blocks_only)
{
    struct cache_fixture *f = cache_fixture_new(1024 * KIB, 3);
    struct cache_usage usage;

    for (uint64_t file = 1; file <= 3; file++) {
        fixture_put(f, file, 0, 20, 1000, PETAL_BLOCK_DATA, CACHE_SINGLE);
        fixture_put(f, file, 20, 30, 1000, PETAL_BLOCK_FILTER, CACHE_SINGLE);
    }
    cache_erase_file(f->cache, 2);
    cache_erase_file(f->cache, 17);
    assert_int_equal(fixture_count_found(f, 1, 0, 30), 30);
    assert_int_equal(fixture_count_found(f, 2, 0, 30), 0);
    assert_int_equal(fixture_count_found(f, 3, 0, 30), 30);
    usage = fixture_usage(f->cache);
    assert_int_equal(fixture_sum(usage.blocks), 60);
    assert_int_equal(fixture_sum(usage.bytes), 60 * (1000 + DESCRIPTOR_BYTES));
    assert_int_equal(fixture_sum(usage.evicted), 0);
    fixture_put(f, 2, 0, 5, 1000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal(fixture_count_found(f, 2, 0, 30), 5);
    cache_fixture_free(f);
}
