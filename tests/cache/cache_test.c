/* cache_test.c -- the block cache: finding, inserting, whom eviction takes, and the limit. */
#include "cache/pool.h"

#include "tests/cache/fixture.h"
#include "tests/support/test.h"

/* ---- Finding and inserting ---- */

TEST(a_block_is_found_where_it_was_put)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 0);
    unsigned slot = epoch_enter(f->epoch);
    struct cache_block *block;

    assert_null(fixture_find(f->cache, NULL, 7, 4096));
    block = fixture_put_in(f->cache, 7, 4096, 1000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal((uintptr_t)block->data % 64, 0);
    assert_ptr_equal(fixture_find(f->cache, NULL, 7, 4096), block);
    assert_true(fixture_is_block(block, 7, 4096));
    assert_int_equal(block->size, 1000);
    assert_null(fixture_find(f->cache, NULL, 7, 4097));
    assert_null(fixture_find(f->cache, NULL, 8, 4096));
    assert_null(fixture_find(f->cache, NULL, 4096, 7));
    assert_int_equal(fixture_usage(f->cache).bytes[PETAL_BLOCK_DATA], 1000 + DESCRIPTOR_BYTES);
    assert_int_equal(fixture_usage(f->cache).blocks[PETAL_BLOCK_DATA], 1);
    epoch_leave(f->epoch, slot);
    cache_fixture_free(f);
}

TEST(of_two_inserters_the_first_wins)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 0);
    unsigned slot = epoch_enter(f->epoch);
    struct cache_block *first =
        fixture_put_in(f->cache, 1, 0, 100, PETAL_BLOCK_INDEX, CACHE_SINGLE);
    uint64_t live_blocks = test_allocator_live_blocks(&f->allocator);

    assert_ptr_equal(fixture_put_in(f->cache, 1, 0, 100, PETAL_BLOCK_INDEX, CACHE_SINGLE), first);
    assert_int_equal(test_allocator_live_blocks(&f->allocator), live_blocks);
    assert_int_equal(fixture_usage(f->cache).inserted[PETAL_BLOCK_INDEX], 1);
    epoch_leave(f->epoch, slot);
    cache_fixture_free(f);
}

TEST(allocating_and_discarding)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 0);
    struct cache_block *block = fixture_new_block(f->cache, 1, 2, 1001, 37);
    uint8_t *data;

    assert_int_equal(block->hint_count, 37);
    for (unsigned i = 0; i < 37; i++) {
        assert_null(atomic_load(&block->hints[i].block));
        assert_null(atomic_load(&block->hints[i].data));
        atomic_store(&block->hints[i].block, block);
        atomic_store(&block->hints[i].data, block->data);
    }
    assert_true(fixture_is_block(block, 1, 2)); /* hints and data do not overlap */
    cache_discard(f->cache, block);

    block = cache_allocate(f->cache, 0, 0, &data);
    assert_non_null(block);
    cache_discard(f->cache, block);
    assert_null(cache_allocate(f->cache, (size_t)UINT32_MAX + 1, 0, &data));
    assert_null(data);
    cache_fixture_free(f);
}

TEST(a_block_counts_with_hints_and_descriptor)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);
    unsigned slot = epoch_enter(f->epoch);
    struct cache_block *block = fixture_new_block(f->cache, 1, 2, 1001, 10);
    struct cache_usage usage;

    cache_insert(f->cache, block, 1, 2, PETAL_BLOCK_INDEX, CACHE_SINGLE, true);
    usage = fixture_usage(f->cache);
    assert_int_equal(usage.bytes[PETAL_BLOCK_INDEX],
                     slab_object_bytes(1008 + 10 * sizeof(struct cache_hint)) + DESCRIPTOR_BYTES);
    assert_int_equal(usage.capacity, 256 * KIB);
    epoch_leave(f->epoch, slot);
    cache_fixture_free(f);
}

/* ---- Who is evicted ---- */

TEST(a_scan_does_not_evict_what_was_used_again)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);

    fixture_put(f, 1, 0, 20, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal(fixture_count_found(f, 1, 0, 10), 10); /* ten of the twenty are used again */
    fixture_put(f, 2, 0, 1000, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal(fixture_count_found(f, 1, 10, 20), 0);
    assert_int_equal(fixture_count_found(f, 1, 0, 10), 10);
    cache_fixture_free(f);
}

/* Blocks larger than the single class's share: the coming block counts against its own class. */
TEST(nor_does_a_scan_of_large_blocks)
{
    struct cache_fixture *f = cache_fixture_new(64 * KIB, 1);

    fixture_put(f, 1, 0, 2, 20000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal(fixture_count_found(f, 1, 0, 2), 2);
    fixture_put(f, 2, 0, 100, 20000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal(fixture_count_found(f, 1, 0, 2), 2);
    cache_fixture_free(f);
}

TEST(a_used_block_has_a_second_chance_and_no_third)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);

    fixture_put(f, 1, 0, 10, 4 * KIB, PETAL_BLOCK_DATA, CACHE_MULTI);
    assert_int_equal(fixture_count_found(f, 1, 0, 5), 5);
    fixture_put(f, 2, 0, 58, 4 * KIB, PETAL_BLOCK_DATA, CACHE_MULTI);
    assert_int_equal(fixture_count_found(f, 1, 0, 5), 5);
    assert_in_range(fixture_count_found(f, 1, 5, 10), 0, 4);
    fixture_put(f, 3, 0, 1000, 4 * KIB, PETAL_BLOCK_DATA, CACHE_MULTI);
    assert_int_equal(fixture_count_found(f, 1, 0, 10), 0);
    cache_fixture_free(f);
}

TEST(any_class_may_fill_the_cache_alone)
{
    for (int priority = CACHE_SINGLE; priority < CACHE_PRIORITIES; priority++) {
        struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);

        fixture_put(f, 1, 0, 100, 4 * KIB, PETAL_BLOCK_DATA, (enum cache_priority)priority);
        assert_int_equal(fixture_usage(f->cache).blocks[PETAL_BLOCK_DATA],
                         256 * KIB / (4 * KIB + DESCRIPTOR_BYTES));
        cache_fixture_free(f);
    }
}

TEST(priorities_keep_their_shares)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);

    fixture_put(f, 1, 0, 100, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    fixture_put(f, 2, 0, 100, 4 * KIB, PETAL_BLOCK_DATA, CACHE_MULTI);
    fixture_put(f, 3, 0, 100, 4 * KIB, PETAL_BLOCK_DATA, CACHE_MEMORY);
    /* 62 blocks fit; a quarter, a half, a quarter of them, within one. */
    assert_in_range(fixture_count_found(f, 1, 0, 100), 14, 16);
    assert_in_range(fixture_count_found(f, 2, 0, 100), 30, 32);
    assert_in_range(fixture_count_found(f, 3, 0, 100), 14, 17);
    fixture_put(f, 4, 0, 1000, 4 * KIB, PETAL_BLOCK_DATA, CACHE_MULTI);
    assert_in_range(fixture_count_found(f, 3, 0, 100), 14, 17);
    cache_fixture_free(f);
}

TEST(index_outlasts_data)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);

    fixture_put(f, 1, 0, 30, 4 * KIB, PETAL_BLOCK_INDEX, CACHE_SINGLE);
    fixture_put(f, 2, 0, 20, 4 * KIB, PETAL_BLOCK_INDEX, CACHE_SINGLE);
    for (int priority = CACHE_SINGLE; priority < CACHE_PRIORITIES; priority++)
        fixture_put(f, 3, (uint64_t)priority * 500, (uint64_t)priority * 500 + 500, 4 * KIB,
                    PETAL_BLOCK_DATA, (enum cache_priority)priority);
    assert_int_equal(fixture_count_found(f, 1, 0, 30), 30);
    assert_int_equal(fixture_count_found(f, 2, 0, 20), 20);
    assert_in_range(fixture_usage(f->cache).blocks[PETAL_BLOCK_DATA], 11, 12);
    cache_fixture_free(f);
}

TEST(data_does_not_push_out_index_blocks_even_if_it_cannot_be_kept)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);
    unsigned slot;

    fixture_put(f, 1, 0, 50, 4 * KIB, PETAL_BLOCK_INDEX, CACHE_SINGLE);
    fixture_put(f, 2, 0, 5, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    slot = epoch_enter(f->epoch);
    assert_non_null(fixture_put_in(f->cache, 2, 100, 64 * KIB, PETAL_BLOCK_DATA, CACHE_MEMORY));
    assert_null(fixture_find(f->cache, NULL, 2, 100));
    epoch_leave(f->epoch, slot);
    assert_int_equal(fixture_count_found(f, 1, 0, 50), 50);
    assert_int_equal(fixture_count_found(f, 2, 0, 5), 5);
    cache_fixture_free(f);
}

TEST(a_cache_too_small_evicts_index_blocks_too)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);
    struct cache_usage usage;

    fixture_put(f, 1, 0, 200, 4 * KIB, PETAL_BLOCK_INDEX, CACHE_SINGLE);
    usage = fixture_usage(f->cache);
    assert_in_range(usage.blocks[PETAL_BLOCK_INDEX], 60, 62);
    assert_int_equal(usage.evicted[PETAL_BLOCK_INDEX], 200 - usage.blocks[PETAL_BLOCK_INDEX]);
    assert_int_equal(fixture_count_found(f, 1, 0, 100), 0);
    fixture_put(f, 2, 0, 20, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_in_range(fixture_count_found(f, 2, 0, 20), 7, 9); /* an eighth is left to data */
    assert_in_range(fixture_usage(f->cache).bytes[PETAL_BLOCK_INDEX], 216 * KIB, 224 * KIB);
    cache_fixture_free(f);
}

/* A look is no use: chunks that were looked at only go with the data that came when they did, those
 * that were touched do not. */
TEST(filters_hold_their_place_by_being_touched)
{
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 1);
    struct cache_hint hint;
    unsigned slot;

    cache_hint_init(&hint);
    fixture_put(f, 1, 0, 20, 4 * KIB, PETAL_BLOCK_FILTER, CACHE_SINGLE);
    slot = epoch_enter(f->epoch);
    for (uint64_t i = 0; i < 20; i++) {
        struct cache_block *chunk = cache_look(f->cache, &hint, 1, i);

        assert_non_null(chunk);
        if (i < 10)
            cache_touch(chunk);
    }
    epoch_leave(f->epoch, slot);
    fixture_put(f, 2, 0, 500, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal(fixture_count_found(f, 1, 0, 10), 10);
    assert_int_equal(fixture_count_found(f, 1, 10, 20), 0);
    cache_fixture_free(f);
}

/* ---- The limit, in a random workload ---- */

#define FILES   6
#define OFFSETS 40

/* Large ones are whole pages, those from 1 KiB on objects of slabs. */
static uint64_t
counted_bytes(uint64_t bytes)
{
    if (bytes >= 32 * KIB)
        bytes = (bytes + 4095) / 4096 * 4096;
    else if (bytes >= 1 * KIB)
        bytes = slab_object_bytes((uint32_t)bytes);
    return bytes + DESCRIPTOR_BYTES;
}

/* What the counters must say: by probing for every key there is. */
static void
audit(struct cache_fixture *f, uint64_t erased)
{
    struct cache_usage usage = fixture_usage(f->cache);
    uint64_t bytes[PETAL_BLOCK_KINDS] = {0}, blocks[PETAL_BLOCK_KINDS] = {0};
    unsigned slot = epoch_enter(f->epoch);

    for (uint64_t file = 1; file <= FILES; file++)
        for (uint64_t offset = 0; offset < OFFSETS; offset++) {
            struct cache_block *block = fixture_find(f->cache, NULL, file, offset);

            if (block == NULL)
                continue;
            assert_true(fixture_is_block(block, file, offset));
            bytes[block->kind] += counted_bytes((block->size + 7u) / 8 * 8 +
                                                block->hint_count * sizeof(struct cache_hint));
            blocks[block->kind]++;
        }
    epoch_leave(f->epoch, slot);
    assert_memory_equal(usage.bytes, bytes, sizeof bytes);
    assert_memory_equal(usage.blocks, blocks, sizeof blocks);
    assert_int_equal(fixture_sum(usage.inserted),
                     fixture_sum(usage.evicted) + erased + fixture_sum(usage.blocks));
}

static void
random_step(struct cache_fixture *f, struct test_random *random, uint64_t *erased)
{
    uint64_t file = 1 + test_random_below(random, FILES);
    uint64_t offset = test_random_below(random, OFFSETS);
    uint64_t blocks = fixture_sum(fixture_usage(f->cache).blocks);
    struct cache_block *block;
    unsigned slot;

    if (test_random_below(random, 500) == 0) {
        cache_erase_file(f->cache, file);
        *erased += blocks - fixture_sum(fixture_usage(f->cache).blocks);
        return;
    }
    slot = epoch_enter(f->epoch);
    block = fixture_find(f->cache, NULL, file, offset);
    if (block == NULL) {
        size_t size = 1 + (size_t)test_random_below(
                              random, test_random_chance(random, 3) ? 40 * KIB : 4 * KIB);
        block = fixture_new_block(f->cache, file, offset, size,
                                  (uint32_t)test_random_below(random, 50));
        block = cache_insert(f->cache, block, file, offset,
                             (enum petal_block_kind)test_random_below(random, PETAL_BLOCK_KINDS),
                             (enum cache_priority)test_random_below(random, CACHE_PRIORITIES),
                             !test_random_chance(random, 5));
    }
    assert_true(fixture_is_block(block, file, offset));
    epoch_leave(f->epoch, slot);
}

TEST(the_limit_holds_at_every_step)
{
    static const struct {
        size_t capacity;
        unsigned shards;
    } caches[] = {{64 * KIB, 1}, {200 * KIB, 1}, {150 * KIB, 3}, {20 * KIB, 1}, {100, 2}};
    struct test_random random;
    unsigned steps = test_long() ? 1000000 : 10000;

    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        struct cache_fixture *f = cache_fixture_new(caches[i].capacity, caches[i].shards);
        uint64_t erased = 0;

        for (unsigned step = 0; step < steps; step++) {
            random_step(f, &random, &erased);
            assert_in_range(fixture_sum(fixture_usage(f->cache).bytes), 0, caches[i].capacity);
            if (step % 50 == 0)
                audit(f, erased);
        }
        audit(f, erased);
        cache_fixture_free(f);
    }
}

TEST(memory_beyond_the_limit_is_bounded)
{
    struct cache_fixture *f = cache_fixture_new(1024 * KIB, 1);
    uint64_t empty = test_allocator_live_bytes(&f->allocator);

    for (unsigned i = 0; i < 5000; i++) {
        fixture_put(f, 1, i, i + 1, 4096, PETAL_BLOCK_DATA, CACHE_SINGLE);
        /* A 32nd may wait to be released; descriptors come in chunks of 8 KiB, blocks in slabs. */
        assert_in_range(fixture_usage(f->cache).memory, 0, (1024 + 32 + 24) * KIB);
        assert_in_range(test_allocator_live_bytes(&f->allocator), 0,
                        empty + (1024 + 32 + 16) * KIB + SLAB_BYTES);
    }
    cache_fixture_free(f);
}

/* ---- The capacity changes ---- */

TEST(shrinking_and_growing)
{
    struct cache_fixture *f = cache_fixture_new(1024 * KIB, 2);

    fixture_put(f, 1, 0, 300, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    fixture_put(f, 2, 0, 100, 4 * KIB, PETAL_BLOCK_INDEX, CACHE_SINGLE);
    cache_set_capacity(f->cache, 128 * KIB);
    assert_int_equal(fixture_usage(f->cache).capacity, 128 * KIB);
    assert_in_range(fixture_sum(fixture_usage(f->cache).bytes), 100 * KIB, 128 * KIB);
    fixture_put(f, 3, 0, 300, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_in_range(fixture_sum(fixture_usage(f->cache).bytes), 100 * KIB, 128 * KIB);
    assert_int_not_equal(fixture_usage(f->cache).bytes[PETAL_BLOCK_DATA], 0);
    cache_set_capacity(f->cache, SIZE_MAX);
    assert_int_equal(fixture_usage(f->cache).capacity, 1024 * KIB);
    fixture_put(f, 4, 0, 300, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_in_range(fixture_sum(fixture_usage(f->cache).bytes), 1000 * KIB, 1024 * KIB);
    cache_set_capacity(f->cache, 0);
    assert_int_equal(fixture_sum(fixture_usage(f->cache).bytes), 0);
    cache_fixture_free(f);
}

/* How much memory blocks may have when nobody reads for long: a 32nd waits to be looked through,
 * and see MEMORY in cache.h. */
static uint64_t
allowed_memory(uint64_t capacity)
{
    return capacity + capacity / 32 + capacity / 32 + 1024 * KIB + 2 * SLAB_BYTES;
}

/* Other sizes at every step: memory that waits for blocks of sizes that come no more goes to those
 * that come. */
TEST(memory_goes_to_other_sizes)
{
    static const size_t sizes[] = {4000, 1500, 9000, 70000, 4000, 500, 30000, 2500, 66000, 6000};
    const size_t capacity = 16 * 1024 * KIB;
    struct cache_fixture *f = cache_fixture_new(capacity, 1);
    uint64_t most_blocks = 0;

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        /* What is used again stays and is spread all over the slabs of the size before. */
        for (uint64_t offset = 0; i > 0 && offset < 20000; offset += 7)
            fixture_count_found(f, i, offset, offset + 1);
        for (uint64_t offset = 0; offset < 3 * capacity / sizes[i]; offset++) {
            struct cache_usage usage;

            fixture_put(f, i + 1, offset, offset + 1, sizes[i], PETAL_BLOCK_DATA, CACHE_SINGLE);
            usage = fixture_usage(f->cache);
            if (usage.blocks_out > most_blocks)
                most_blocks = usage.blocks_out;
            assert_in_range(usage.memory, 0,
                            allowed_memory(capacity) +
                                (most_blocks - usage.blocks_out) * DESCRIPTOR_BYTES);
            assert_in_range(usage.memory_closed, 0, 4 * SLAB_BYTES);
        }
        assert_in_range(fixture_sum(fixture_usage(f->cache).bytes), capacity / 8 * 7, capacity);
    }
    cache_fixture_free(f);
}

/* Sizes of all kinds at once: there is more to choose from than a small cache has slabs. */
TEST(memory_of_many_sizes_is_bounded)
{
    const size_t capacity = 4 * 1024 * KIB;
    struct cache_fixture *f = cache_fixture_new(capacity, 1);
    struct test_random random;

    test_random_init(&random, test_seed());
    for (uint64_t offset = 0; offset < 10000; offset++) {
        size_t size = 1 * KIB + (size_t)test_random_below(&random, 31 * KIB);

        fixture_put(f, 1, offset, offset + 1, size, PETAL_BLOCK_DATA, CACHE_SINGLE);
        assert_in_range(fixture_usage(f->cache).memory, 0, allowed_memory(capacity));
        assert_in_range(fixture_usage(f->cache).memory_closed, 0, 4 * SLAB_BYTES);
        if (offset > 1000)
            assert_in_range(fixture_sum(fixture_usage(f->cache).bytes), capacity / 2, capacity);
    }
    cache_fixture_free(f);
}

TEST(memory_shrinks_with_the_capacity)
{
    const size_t most = 32 * 1024 * KIB, descriptors = most / 4000 * DESCRIPTOR_BYTES;
    struct cache_fixture *f = cache_fixture_new(most, 2);

    for (size_t capacity = most; capacity >= most / 16; capacity /= 2) {
        uint64_t allowed = allowed_memory(capacity) + descriptors;

        cache_set_capacity(f->cache, capacity);
        assert_in_range(fixture_usage(f->cache).memory, 0, allowed);
        /* In slabs that stay there is room: most of the cache can be used at once. */
        fixture_put(f, capacity, 0, capacity / 2000, 4000, PETAL_BLOCK_DATA, CACHE_SINGLE);
        assert_in_range(fixture_sum(fixture_usage(f->cache).bytes), capacity / 8 * 7, capacity);
        assert_in_range(fixture_usage(f->cache).memory, 0, allowed);
    }
    cache_set_capacity(f->cache, 0);
    assert_in_range(fixture_usage(f->cache).memory_idle, 0, 1024 * KIB);
    cache_fixture_free(f);
}

/* A reader inside keeps the memory for as long as it stays; whoever comes after that finds it. */
TEST(memory_that_a_reader_kept_goes_later)
{
    const size_t most = 16 * 1024 * KIB;
    struct cache_fixture *f = cache_fixture_new(most, 1);
    unsigned slot;

    fixture_put(f, 1, 0, 5000, 4000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    slot = epoch_enter(f->epoch);
    cache_set_capacity(f->cache, most / 4);
    assert_in_range(fixture_usage(f->cache).memory, most, allowed_memory(most));
    epoch_leave(f->epoch, slot);
    epoch_collect(f->epoch);
    fixture_put(f, 2, 0, 100, 4000, PETAL_BLOCK_DATA, CACHE_SINGLE);
    epoch_collect(f->epoch);
    assert_in_range(fixture_usage(f->cache).memory, 0, allowed_memory(most / 4));
    cache_fixture_free(f);
}

TEST(a_cache_that_keeps_nothing_stays_so)
{
    struct cache_fixture *f = cache_fixture_new(PETAL_NO_CACHE, 0);

    cache_set_capacity(f->cache, 1024 * KIB);
    assert_int_equal(fixture_usage(f->cache).capacity, 0);
    fixture_put(f, 1, 0, 3, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal(fixture_count_found(f, 1, 0, 3), 0);
    cache_fixture_free(f);
}

static unsigned
count_wanted(struct cache_fixture *f, uint64_t file, uint64_t first, uint64_t end, size_t size)
{
    unsigned wanted = 0;

    for (uint64_t offset = first; offset < end; offset++)
        wanted += cache_wants(f->cache, file, offset, size);
    return wanted;
}

TEST(all_is_wanted_while_there_is_room)
{
    struct cache_fixture *f = cache_fixture_new(1024 * KIB, 0);

    assert_int_equal(count_wanted(f, 1, 0, 1000, 4 * KIB), 1000);
    assert_false(cache_wants(f->cache, 1, 0, 1000 * KIB)); /* a 32nd stays free */
    fixture_put(f, 2, 0, 1000, 4 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
    assert_int_equal(count_wanted(f, 3, 0, 100, 4 * KIB), 0);
    cache_erase_file(f->cache, 2);
    assert_int_equal(count_wanted(f, 4, 0, 100, 4 * KIB), 100);
    cache_fixture_free(f);
}

/* What was asked for is known for about as many questions as the cache has blocks. */
TEST(a_full_cache_wants_what_is_asked_for_again)
{
    static const size_t sizes[] = {4 * KIB, 64 * KIB};

    for (unsigned i = 0; i < 2; i++) {
        const size_t capacity = 16 * 1024 * KIB, size = sizes[i];
        const uint64_t blocks = capacity / size;
        struct cache_fixture *f = cache_fixture_new(capacity, 1);

        fixture_put(f, 1, 0, blocks, size, PETAL_BLOCK_DATA, CACHE_SINGLE);
        assert_int_equal(count_wanted(f, 2, 0, blocks / 16, size), 0);
        assert_in_range(count_wanted(f, 2, 0, blocks / 16, size), blocks / 16 * 8 / 10,
                        blocks / 16);
        count_wanted(f, 3, 0, 8 * blocks, size);
        assert_in_range(count_wanted(f, 2, 0, blocks / 16, size), 0, blocks / 16 / 10);
        cache_fixture_free(f);
    }
}

TEST(what_cannot_be_kept_is_never_wanted)
{
    struct cache_fixture *none = cache_fixture_new(PETAL_NO_CACHE, 0);
    struct cache_fixture *f = cache_fixture_new(256 * KIB, 0);

    for (unsigned i = 0; i < 3; i++) {
        assert_false(cache_wants(none->cache, 1, 0, 100));
        assert_false(cache_wants(f->cache, 1, 0, 300 * KIB));
    }
    cache_fixture_free(none);
    cache_fixture_free(f);
}

/* Shards were chosen for the greatest capacity. */
TEST(large_blocks_fit_when_it_shrinks)
{
    struct cache_fixture *f = cache_fixture_new(256 * 1024 * KIB, 0);

    cache_set_capacity(f->cache, 32 * 1024 * KIB);
    for (uint64_t i = 0; i < 20; i++) {
        fixture_put(f, 1, i, i + 1, 1024 * KIB, PETAL_BLOCK_DATA, CACHE_SINGLE);
        assert_int_equal(fixture_count_found(f, 1, i, i + 1), 1);
    }
    cache_fixture_free(f);
}

/* With the default allocator blocks keep their pages, so bytes of the block before must not
 * show. */
TEST(pages_are_used_again)
{
    struct epoch *epoch =
        mem_alloc_aligned(&mem_default_allocator, CACHE_LINE_BYTES, sizeof *epoch);
    struct cache_fixture f = {.epoch = epoch};

    assert_non_null(epoch);
    assert_int_equal(epoch_init(epoch), PETAL_OK);
    assert_int_equal(cache_open(&f.cache, &mem_default_allocator, epoch, 1024 * KIB, 1), PETAL_OK);
    for (uint64_t i = 0; i < 500; i++) {
        size_t size = 60000 + (size_t)(i * 7919 % 20000);

        fixture_put(&f, 1, i, i + 1, i % 50 == 0 ? 300 * KIB : size, PETAL_BLOCK_DATA,
                    CACHE_SINGLE);
        assert_int_equal(fixture_count_found(&f, 1, i, i + 1), 1);
        assert_in_range(fixture_count_found(&f, 1, 0, i + 1), 1, 17);
    }
    cache_close(f.cache);
    epoch_fini(epoch);
    mem_free(&mem_default_allocator, epoch, sizeof *epoch);
}
