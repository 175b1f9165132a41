/*
 * threads_test.c -- the block cache under several threads: whatever they do, a block found has the
 * bytes of its key while the finder is inside its epoch, and for as long as it is pinned.  Run
 * under a thread sanitizer, too.
 */
#include "cache/cache.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <sched.h>
#include <stdlib.h>

#define THREADS  4
#define FILES    4
#define OFFSETS  60
#define PINS     4
#define CAPACITY (64u << 10)

struct stage {
    struct cache *cache;
    struct epoch *epoch;
    struct cache_hint hints[FILES * OFFSETS / 4]; /* fewer than keys: shared by several */
    _Atomic(unsigned) wrong;
    _Atomic(unsigned) started;
    _Atomic(bool) stop;
    uint64_t seed;
    size_t capacity;
    uint32_t most_size; /* of blocks */
    unsigned steps;
};

struct pinned {
    struct cache_block *block;
    uint64_t key;
};

static bool
has_bytes_of(const struct cache_block *block, uint64_t key)
{
    for (uint32_t i = 0; i < block->size; i++)
        if (block->data[i] != (uint8_t)(key + i * 7))
            return false;
    return true;
}

static struct cache_block *
find_or_insert(struct stage *stage, struct test_random *random, uint64_t key)
{
    uint64_t file = 1 + key / OFFSETS;
    uint64_t offset = key % OFFSETS;
    struct cache_hint *hint = &stage->hints[key / 4];
    struct cache_block *block = cache_look(stage->cache, hint, file, offset);
    uint8_t *data;
    uint32_t size;

    if (block != NULL) {
        cache_touch(block);
        return block;
    }
    size = 200 + (uint32_t)test_random_below(random, stage->most_size - 200);
    block = cache_allocate(stage->cache, size, 2, &data);
    if (block == NULL)
        abort();
    for (uint32_t i = 0; i < size; i++)
        data[i] = (uint8_t)(key + i * 7);
    return cache_insert(
        stage->cache, block, file, offset, (enum petal_block_kind)(key % PETAL_BLOCK_KINDS),
        (enum cache_priority)(key / 3 % CACHE_PRIORITIES), !test_random_chance(random, 10));
}

/* Exchange one of the thread's pins for `block`. */
static void
exchange_pin(struct stage *stage, struct pinned *pinned, struct cache_block *block, uint64_t key)
{
    if (pinned->block != NULL) {
        if (!has_bytes_of(pinned->block, pinned->key))
            atomic_fetch_add(&stage->wrong, 1);
        cache_unpin(stage->cache, pinned->block);
    }
    if (block != NULL)
        cache_pin(block);
    *pinned = (struct pinned){block, key};
}

static void *
use_cache(void *argument)
{
    struct stage *stage = argument;
    struct pinned pins[PINS] = {{NULL, 0}};
    struct test_random random;

    test_random_init(&random, stage->seed + atomic_fetch_add(&stage->started, 1));
    for (unsigned i = 0; i < stage->steps; i++) {
        uint64_t key = test_random_below(&random, FILES * OFFSETS);
        unsigned slot = epoch_enter(stage->epoch);
        struct cache_block *block = find_or_insert(stage, &random, key);

        if (test_random_chance(&random, 2))
            sched_yield();
        if (!has_bytes_of(block, key))
            atomic_fetch_add(&stage->wrong, 1);
        if (test_random_chance(&random, 10))
            exchange_pin(stage, &pins[test_random_below(&random, PINS)], block, key);
        epoch_leave(stage->epoch, slot);
        if (test_random_below(&random, 1000) == 0)
            cache_erase_file(stage->cache, 1 + test_random_below(&random, FILES));
    }
    for (unsigned i = 0; i < PINS; i++)
        exchange_pin(stage, &pins[i], NULL, 0);
    return NULL;
}

static void *
watch_limit(void *argument)
{
    struct stage *stage = argument;

    while (!atomic_load(&stage->stop)) {
        struct cache_usage usage;
        uint64_t bytes = 0;

        cache_usage_get(stage->cache, &usage);
        for (unsigned i = 0; i < PETAL_BLOCK_KINDS; i++)
            bytes += usage.bytes[i];
        if (bytes > stage->capacity)
            atomic_fetch_add(&stage->wrong, 1);
        sched_yield();
    }
    return NULL;
}

/* Two of them at once. */
static void *
change_capacity(void *argument)
{
    struct stage *stage = argument;

    size_t most = stage->capacity;

    for (unsigned i = 0; !atomic_load(&stage->stop); i++) {
        cache_set_capacity(stage->cache, i % 2 == 0 ? most / 8 : most / 2 + i % most);
        sched_yield();
    }
    return NULL;
}

static void
run_threads(const petal_allocator *allocator, size_t capacity, unsigned shards, unsigned steps,
            bool changes, uint32_t most_size)
{
    struct epoch *epoch =
        mem_alloc_aligned(&mem_default_allocator, CACHE_LINE_BYTES, sizeof *epoch);
    struct stage stage = {.epoch = epoch,
                          .seed = test_seed(),
                          .steps = steps,
                          .capacity = capacity == PETAL_NO_CACHE ? 0 : capacity,
                          .most_size = most_size};
    pthread_t threads[THREADS], watcher, changers[2];

    assert_non_null(epoch);
    assert_int_equal(epoch_init(epoch), PETAL_OK);
    assert_int_equal(cache_open(&stage.cache, allocator, epoch, capacity, shards), PETAL_OK);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_cache, &stage), 0);
    assert_int_equal(pthread_create(&watcher, NULL, watch_limit, &stage), 0);
    for (unsigned i = 0; i < 2 && changes; i++)
        assert_int_equal(pthread_create(&changers[i], NULL, change_capacity, &stage), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&stage.stop, true);
    for (unsigned i = 0; i < 2 && changes; i++)
        pthread_join(changers[i], NULL);
    pthread_join(watcher, NULL);
    assert_int_equal(atomic_load(&stage.wrong), 0);
    cache_close(stage.cache);
    epoch_fini(epoch);
    mem_free(&mem_default_allocator, epoch, sizeof *epoch);
}

static unsigned
steps(void)
{
    return test_long() ? 1000000 : 12000;
}

/* The counting allocator's atomics order threads beyond what the cache does, and could hide a race:
 * so this test does without. */
TEST(threads_find_what_belongs_to_the_key)
{
    run_threads(&mem_default_allocator, CAPACITY, 1, steps(), false, 2200);
    run_threads(&mem_default_allocator, CAPACITY, 3, steps(), false, 2200);
}

TEST(threads_without_a_cache)
{
    run_threads(&mem_default_allocator, PETAL_NO_CACHE, 0, steps() / 4, false, 2200);
}

TEST(all_memory_comes_back)
{
    struct test_allocator allocator;

    test_allocator_init(&allocator);
    run_threads(&allocator.table, CAPACITY, 2, steps(), false, 2200);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

TEST(the_capacity_changes_meanwhile)
{
    run_threads(&mem_default_allocator, CAPACITY, 1, steps(), true, 2200);
    run_threads(&mem_default_allocator, CAPACITY, 3, steps(), true, 2200);
}

/* Slabs of many sizes come, are closed while threads use what is in them, and go. */
TEST(slabs_are_closed_meanwhile)
{
    run_threads(&mem_default_allocator, 4u << 20, 1, steps(), true, 30000);
    run_threads(&mem_default_allocator, 2u << 20, 3, steps() / 2, false, 30000);
}
