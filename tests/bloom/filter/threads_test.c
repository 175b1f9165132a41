/*
 * threads_test.c -- filters that many threads add to, ask and remove from at once: nothing that was
 * added is missed, at any moment; of those who add one key one at least is told that it was new; no
 * counter loses a step. Run under a thread sanitizer, too.
 */

#include "bloom/petal_bloom.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 4
#define KEYS    20000
#define CHUNK   50
#define IN_STEP 1000

struct stage {
    petal_bloom *bloom;
    uint64_t hashes[KEYS];
    _Atomic(unsigned) told[KEYS];  /* how many threads were told that it was new */
    _Atomic(unsigned) added[KEYS]; /* by how many threads, with release */
    _Atomic(unsigned) arrived;
    _Atomic(bool) is_over;
    pthread_barrier_t start;
};

struct actor {
    struct stage *stage;
    unsigned number;
    pthread_t thread;
    uint64_t missed;
};

static uint64_t seed;

static struct stage *
stage_new(const petal_bloom_options *options)
{
    struct stage *stage = test_allocate(sizeof *stage);
    struct test_random random;

    memset((void *)stage, 0, sizeof *stage);
    test_random_init(&random, seed);
    for (size_t i = 0; i < KEYS; i++)
        stage->hashes[i] = test_random_next(&random);
    assert_int_equal(petal_bloom_create(options, &stage->bloom, NULL), PETAL_OK);
    pthread_barrier_init(&stage->start, NULL, THREADS + 1);
    return stage;
}

static void
stage_free(struct stage *stage)
{
    pthread_barrier_destroy(&stage->start);
    petal_bloom_free(stage->bloom);
    free(stage);
}

/* All threads add all keys, in chunks, each from a place of its own on. */
static void *
add_keys(void *argument)
{
    struct actor *actor = argument;
    struct stage *stage = actor->stage;

    pthread_barrier_wait(&stage->start);
    for (size_t i = 0; i < KEYS; i += CHUNK) {
        size_t first = (i + (size_t)actor->number % 2 * (KEYS / 2)) % KEYS;
        bool were_new[CHUNK];

        if (petal_bloom_add_hashes(stage->bloom, stage->hashes + first, CHUNK, were_new, NULL) !=
            PETAL_OK)
            abort();
        for (size_t j = 0; j < CHUNK; j++) {
            if (were_new[j])
                atomic_fetch_add(&stage->told[first + j], 1);
            atomic_fetch_add_explicit(&stage->added[first + j], 1, memory_order_release);
        }
    }
    return NULL;
}

static void *
ask_keys(void *argument)
{
    struct actor *actor = argument;
    struct stage *stage = actor->stage;
    struct test_random random;

    test_random_init(&random, seed + 1);
    pthread_barrier_wait(&stage->start);
    while (!atomic_load(&stage->is_over)) {
        size_t first = test_random_below(&random, KEYS - CHUNK);
        bool added[CHUNK], answers[CHUNK];

        for (size_t j = 0; j < CHUNK; j++)
            added[j] = atomic_load_explicit(&stage->added[first + j], memory_order_acquire) > 0;
        petal_bloom_may_contain_hashes(stage->bloom, stage->hashes + first, CHUNK, answers);
        for (size_t j = 0; j < CHUNK; j++)
            actor->missed += added[j] && !answers[j];
    }
    return NULL;
}

/* THREADS run `act`, and one asks all the time. */
static void
run(struct stage *stage, void *(*act)(void *))
{
    struct actor actors[THREADS + 1];

    for (unsigned i = 0; i <= THREADS; i++) {
        actors[i] = (struct actor){.stage = stage, .number = i};
        assert_int_equal(
            pthread_create(&actors[i].thread, NULL, i < THREADS ? act : ask_keys, &actors[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(actors[i].thread, NULL), 0);
    atomic_store(&stage->is_over, true);
    assert_int_equal(pthread_join(actors[THREADS].thread, NULL), 0);
    for (unsigned i = 0; i <= THREADS; i++)
        assert_int_equal(actors[i].missed, 0);
}

/* Each thread adds keys of its own. */
static void *
add_own_keys(void *argument)
{
    struct actor *actor = argument;
    struct stage *stage = actor->stage;

    pthread_barrier_wait(&stage->start);
    for (size_t i = actor->number; i < KEYS; i += THREADS) {
        if (petal_bloom_add_hashes(stage->bloom, &stage->hashes[i], 1, NULL, NULL) != PETAL_OK)
            abort();
        atomic_fetch_add_explicit(&stage->added[i], 1, memory_order_release);
    }
    return NULL;
}

/* So much room that no key passes before it was added. */
static petal_bloom_options
roomy(enum petal_bloom_kind kind)
{
    petal_bloom_options options = {.kind = kind, .keys = 40 * KEYS, .rate = 1e-6};

    if (kind == PETAL_BLOOM_KIND_GROWING)
        options.keys = 0; /* 4,096 a segment: it grows */
    return options;
}

TEST(keys_added_by_all_are_new_to_one)
{
    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_GROWING; kind++) {
        petal_bloom_options options = roomy((enum petal_bloom_kind)kind);
        struct stage *stage = stage_new(&options);
        uint64_t told = 0;

        run(stage, add_keys);
        for (size_t i = 0; i < KEYS; i++) {
            assert_true(stage->told[i] >= 1);
            told += stage->told[i];
            assert_true(petal_bloom_may_contain_hash(stage->bloom, stage->hashes[i]));
        }
        assert_true(told < KEYS * THREADS / 2);
        stage_free(stage);
    }
}

/* Nobody else adds what one's thread has added, so what another thread undoes is missed. */
TEST(keys_of_each_thread_stay)
{
    unsigned rounds = test_short() ? 1 : 4;

    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_GROWING; kind++)
        for (unsigned round = 0; round < rounds; round++) {
            /* Of GROWING three segments. */
            petal_bloom_options options = {.kind = (enum petal_bloom_kind)kind,
                                           .keys = kind == PETAL_BLOOM_KIND_GROWING ? 0 : KEYS};
            struct stage *stage = stage_new(&options);

            run(stage, add_own_keys);
            for (size_t i = 0; i < KEYS; i++)
                assert_true(petal_bloom_may_contain_hash(stage->bloom, stage->hashes[i]));
            stage_free(stage);
        }
}

/* What threads have added together is what one adds. */
TEST(bits_are_those_of_one_thread)
{
    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_COUNTING; kind++) {
        petal_bloom_options options = {.kind = (enum petal_bloom_kind)kind, .keys = KEYS};
        struct stage *stage = stage_new(&options);
        petal_bloom *alone;

        run(stage, add_keys);
        assert_int_equal(petal_bloom_create(&options, &alone, NULL), PETAL_OK);
        for (int time = 0; time < THREADS; time++)
            assert_int_equal(petal_bloom_add_hashes(alone, stage->hashes, KEYS, NULL, NULL),
                             PETAL_OK);
        assert_true(petal_bloom_present_rate(alone) == petal_bloom_present_rate(stage->bloom));
        assert_int_equal(petal_bloom_count(alone), petal_bloom_count(stage->bloom));
        petal_bloom_free(alone);
        stage_free(stage);
    }
}

static petal_slice
number_key(uint32_t *number)
{
    return (petal_slice){number, sizeof *number};
}

/* Each thread adds and removes keys of its own, in lines that all share; keys that stay are asked
 * for all the time. */
static void *
come_and_go(void *argument)
{
    struct actor *actor = argument;
    struct stage *stage = actor->stage;
    unsigned rounds = test_short() ? 100 : 1000;

    pthread_barrier_wait(&stage->start);
    for (unsigned round = 0; round < rounds; round++) {
        uint32_t first = actor->number << 24;

        for (uint32_t i = first; i < first + 20; i++)
            if (petal_bloom_add(stage->bloom, number_key(&i), NULL, NULL) != PETAL_OK)
                abort();
        for (uint32_t i = first; i < first + 20; i++) {
            actor->missed += !petal_bloom_may_contain(stage->bloom, number_key(&i));
            if (petal_bloom_remove(stage->bloom, number_key(&i), NULL) != PETAL_OK)
                actor->missed++;
        }
    }
    return NULL;
}

TEST(removed_keys_take_none_with_them)
{
    /* 4 lines for 80 keys that come and go and 30 that stay: counters are shared, none comes to
     * 15. */
    petal_bloom_options options = {.kind = PETAL_BLOOM_KIND_COUNTING, .keys = 40};
    petal_bloom_info info = {.size = sizeof info};
    struct stage *stage = stage_new(&options);
    petal_bloom *alone;

    assert_int_equal(petal_bloom_create(&options, &alone, NULL), PETAL_OK);
    petal_bloom_get_info(alone, &info);
    assert_int_equal(info.bytes, 4 * 64);
    assert_int_equal(petal_bloom_add_hashes(alone, stage->hashes, 30, NULL, NULL), PETAL_OK);
    assert_int_equal(petal_bloom_add_hashes(stage->bloom, stage->hashes, 30, NULL, NULL), PETAL_OK);
    for (size_t i = 0; i < 30; i++)
        atomic_store(&stage->added[i], 1);
    run(stage, come_and_go);
    assert_true(petal_bloom_present_rate(alone) == petal_bloom_present_rate(stage->bloom));
    petal_bloom_free(alone);
    stage_free(stage);
}

/* All at one key at a time. */
static void
keep_step(struct stage *stage, uint32_t step)
{
    atomic_fetch_add(&stage->arrived, 1);
    while (atomic_load(&stage->arrived) < (step + 1) * THREADS)
        sched_yield();
}

static void *
add_in_step(void *argument)
{
    struct actor *actor = argument;
    struct stage *stage = actor->stage;

    pthread_barrier_wait(&stage->start);
    for (uint32_t i = 0; i < IN_STEP; i++) {
        keep_step(stage, i);
        if (petal_bloom_add(stage->bloom, number_key(&i), NULL, NULL) != PETAL_OK)
            abort();
    }
    return NULL;
}

static void *
remove_in_step(void *argument)
{
    struct actor *actor = argument;
    struct stage *stage = actor->stage;

    pthread_barrier_wait(&stage->start);
    for (uint32_t i = 0; i < IN_STEP; i++) {
        keep_step(stage, i);
        if (petal_bloom_remove(stage->bloom, number_key(&i), NULL) == PETAL_OK)
            atomic_fetch_add(&stage->told[i], 1);
    }
    return NULL;
}

/* Every thread adds each key; two of them are taken back by one thread, then each tries once. */
TEST(a_key_is_removed_as_often_as_it_was_added)
{
    petal_bloom_options options = {.kind = PETAL_BLOOM_KIND_COUNTING, .keys = 200000};
    struct stage *stage = stage_new(&options);

    run(stage, add_in_step);
    for (uint32_t i = 0; i < IN_STEP; i++)
        for (int time = 0; time < 2; time++)
            assert_int_equal(petal_bloom_remove(stage->bloom, number_key(&i), NULL), PETAL_OK);
    atomic_store(&stage->arrived, 0);
    atomic_store(&stage->is_over, false);
    run(stage, remove_in_step);
    for (size_t i = 0; i < IN_STEP; i++)
        assert_int_equal(stage->told[i], THREADS - 2);
    assert_true(petal_bloom_present_rate(stage->bloom) == 0);
    stage_free(stage);
}

struct slow_allocator {
    struct test_allocator test;
    petal_allocator table;
    _Atomic(unsigned) segments;
};

/* Takes its time for what is the bits of a segment, in which other threads find the one before
 * full, too. */
static void *
allocate_slowly(void *context, size_t alignment, size_t size)
{
    struct slow_allocator *slow = context;

    if (size >= 4096) {
        atomic_fetch_add(&slow->segments, 1);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return slow->test.table.allocate(slow->test.table.context, alignment, size);
}

static void
release_to_test(void *context, void *memory, size_t size)
{
    struct slow_allocator *slow = context;

    slow->test.table.release(slow->test.table.context, memory, size);
}

TEST(a_segment_is_made_once)
{
    struct slow_allocator slow = {
        .table = {.context = &slow, .allocate = allocate_slowly, .release = release_to_test}};
    petal_env env = {.size = sizeof env, .allocator = &slow.table};
    petal_bloom_options options = {.kind = PETAL_BLOOM_KIND_GROWING, .env = &env};
    petal_bloom_info info = {.size = sizeof info};
    struct stage *stage;

    test_allocator_init(&slow.test);
    stage = stage_new(&options);
    run(stage, add_own_keys);
    petal_bloom_get_info(stage->bloom, &info);
    assert_true(info.segments >= 3);
    assert_int_equal(slow.segments, info.segments);
    stage_free(stage);
    assert_int_equal(test_allocator_live_blocks(&slow.test), 0);
}

int
main(void)
{
    seed = test_seed();
    return test_run();
}
