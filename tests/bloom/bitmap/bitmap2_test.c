/*
 * bitmap2_test.c -- bitmaps of two bits a number answer as an array of counts to two does: entries,
 * the next one, counts, two bitmaps, files and maps; threads lose nothing.
 */
#include "tests/bloom/set_fixture.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_NUMBERS (UINT64_C(32) * 8192)

struct model {
    uint64_t numbers;
    uint8_t *states;
    petal_bitmap2 *bitmap;
};

static struct model
new_model(uint64_t numbers)
{
    struct model model = {numbers, test_allocate(numbers), NULL};

    memset(model.states, 0, numbers);
    assert_int_equal(petal_bitmap2_create(numbers, &set_env, &model.bitmap, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap2_numbers(model.bitmap), numbers);
    return model;
}

static void
free_model(struct model *model)
{
    free(model->states);
    petal_bitmap2_free(model->bitmap);
}

static void
add(struct model *model, struct test_random *random)
{
    uint64_t number = test_random_below(random, model->numbers + 2);

    if (test_random_chance(random, 30))
        number = number / 32 * 32;
    assert_int_equal(petal_bitmap2_add(model->bitmap, number),
                     number < model->numbers ? model->states[number] : 0);
    if (number < model->numbers && model->states[number] < PETAL_BITMAP2_MORE)
        model->states[number]++;
}

static void
check(const struct model *model, const petal_bitmap2 *bitmap)
{
    uint64_t counts[3] = {0}, next[3];

    for (int state = 0; state < 3; state++)
        next[state] = PETAL_BITMAP_NONE;
    for (uint64_t i = model->numbers; i-- > 0;) {
        counts[model->states[i]]++;
        next[model->states[i]] = i;
        if (i > 2000 && i < model->numbers - 2000 && i % 1000 > 3)
            continue; /* of the large ones some */
        assert_int_equal(petal_bitmap2_get(bitmap, i), model->states[i]);
        for (int state = 0; state < 3; state++)
            assert_int_equal(petal_bitmap2_next(bitmap, (enum petal_bitmap2_state)state, i),
                             next[state]);
    }
    for (int state = 0; state < 3; state++) {
        assert_int_equal(petal_bitmap2_count(bitmap, (enum petal_bitmap2_state)state),
                         counts[state]);
        assert_int_equal(
            petal_bitmap2_next(bitmap, (enum petal_bitmap2_state)state, model->numbers),
            PETAL_BITMAP_NONE);
    }
    assert_int_equal(petal_bitmap2_get(bitmap, model->numbers), PETAL_BITMAP2_NONE);
    assert_int_equal(petal_bitmap2_get(bitmap, UINT64_MAX), PETAL_BITMAP2_NONE);
}

static uint64_t
any_size(struct test_random *random, unsigned round)
{
    return 1 + test_random_below(random, round % 3 == 0   ? 100
                                         : round % 3 == 1 ? 5000
                                                          : 3 * CHUNK_NUMBERS);
}

TEST(bitmaps_answer_as_their_model)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 60; round++) {
        struct model model = new_model(any_size(&random, round));

        for (uint64_t n = test_random_below(&random, 3000); n > 0; n--)
            add(&model, &random);
        check(&model, model.bitmap);
        free_model(&model);
    }
}

TEST(united_bitmaps_have_what_both_had)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 45; round++) {
        uint64_t numbers = any_size(&random, round);
        struct model a = new_model(numbers), b = new_model(numbers);

        for (uint64_t n = test_random_below(&random, 2000); n > 0; n--) {
            add(&a, &random);
            add(&b, &random);
        }
        assert_int_equal(petal_bitmap2_unite(a.bitmap, b.bitmap, NULL), PETAL_OK);
        for (uint64_t i = 0; i < numbers; i++)
            a.states[i] = (uint8_t)(a.states[i] + b.states[i] > 2 ? 2 : a.states[i] + b.states[i]);
        check(&a, a.bitmap);
        check(&b, b.bitmap);
        free_model(&a);
        free_model(&b);
    }
}

static enum petal_status
load(bool map, petal_bitmap2 **loaded, petal_error *error)
{
    const petal_bloom_load_options options = {.map = map, .env = &set_env};

    return petal_bitmap2_load("bitmap", &options, loaded, error);
}

TEST(files_come_back)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 18; round++) {
        struct model model = new_model(any_size(&random, round / 3));
        bool map = round % 3 > 0;
        petal_bitmap2 *loaded;

        for (uint64_t n = test_random_below(&random, 3000); n > 0; n--)
            add(&model, &random);
        assert_int_equal(petal_bitmap2_save(model.bitmap, "bitmap", NULL), PETAL_OK);
        assert_int_equal(load(map, &loaded, NULL), PETAL_OK);
        check(&model, loaded);
        if (map) {
            assert_int_equal(petal_bitmap2_add(loaded, 0), model.states[0]);
            assert_int_equal(petal_bitmap2_unite(loaded, model.bitmap, NULL), PETAL_READ_ONLY);
            check(&model, loaded);
            petal_bitmap2_free(loaded);
        } else {
            petal_bitmap2_free(model.bitmap);
            model.bitmap = loaded;
            add(&model, &random);
            check(&model, loaded);
        }
        free_model(&model);
    }
}

/* A state that is never written is an error. */
TEST(a_state_that_there_is_not_is_refused)
{
    struct model model = new_model(40);
    petal_bitmap2 *loaded;
    petal_error error;
    size_t size;
    uint8_t *bytes;

    assert_int_equal(petal_bitmap2_save(model.bitmap, "bitmap", NULL), PETAL_OK);
    assert_int_equal(memory_vfs_read_file(set_vfs, "bitmap", &bytes, &size), 0);
    bytes[4096 + 8] = 0x0C; /* of number 33 */
    set_seal(bytes, size);
    assert_int_equal(memory_vfs_write_file(set_vfs, "bitmap", bytes, size), 0);
    assert_int_equal(load(false, &loaded, &error), PETAL_CORRUPT);
    assert_int_equal(error.offset, 4096 + 8);
    assert_non_null(strstr(error.text, "number 33 has the state 3"));
    assert_int_equal(load(true, &loaded, &error), PETAL_CORRUPT);
    free(bytes);
    free_model(&model);
}

TEST(sizes_that_cannot_be_are_refused)
{
    struct model small = new_model(4), large = new_model(5);
    petal_bitmap2 *made;
    petal_error error;

    assert_int_equal(petal_bitmap2_create(0, &set_env, &made, &error), PETAL_INVALID);
    assert_int_equal(petal_bitmap2_create(PETAL_BITMAP_MAX_BITS + 1, &set_env, &made, &error),
                     PETAL_INVALID);
    assert_null(made);
    assert_int_equal(petal_bitmap2_unite(small.bitmap, large.bitmap, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "4 and 5 numbers"));
    petal_bitmap2_free(NULL);
    free_model(&small);
    free_model(&large);
}

#define THREADS        4
#define THREAD_NUMBERS 200000u

struct worker {
    petal_bitmap2 *bitmap;
    uint64_t seen[3];
};

static void *
work(void *argument)
{
    struct worker *worker = argument;

    for (uint64_t i = 0; i < THREAD_NUMBERS; i++)
        worker->seen[petal_bitmap2_add(worker->bitmap, i)]++;
    return NULL;
}

/* Of all threads that enter a number one finds it new, one finds it once. */
TEST(threads_lose_no_entry)
{
    petal_bitmap2 *bitmap;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    uint64_t seen[3] = {0};

    assert_int_equal(petal_bitmap2_create(THREAD_NUMBERS, &set_env, &bitmap, NULL), PETAL_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){bitmap, {0}};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (int j = 0; j < 3; j++)
            seen[j] += workers[i].seen[j];
    }
    assert_int_equal(seen[PETAL_BITMAP2_NONE], THREAD_NUMBERS);
    assert_int_equal(seen[PETAL_BITMAP2_ONE], THREAD_NUMBERS);
    assert_int_equal(petal_bitmap2_count(bitmap, PETAL_BITMAP2_MORE), THREAD_NUMBERS);
    petal_bitmap2_free(bitmap);
}

/* ---- the order of marks and words ---- */

/* An allocator whose last piece can be kept from being written to; the pages of all are its own. */
static uint8_t *last_piece;

static void *
allocate_pages(void *context, size_t alignment, size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)context;
    (void)alignment;
    last_piece = pages == MAP_FAILED ? NULL : pages;
    return last_piece;
}

static void
release_pages(void *context, void *memory, size_t size)
{
    (void)context;
    (void)munmap(memory, size);
}

static petal_bitmap2 *watched;
static volatile sig_atomic_t writes_seen, entered_before;

/* A chunk is about to be marked. */
static void
see_write(int signal_number)
{
    (void)signal_number;
    writes_seen = writes_seen + 1;
    entered_before = petal_bitmap2_get(watched, 5) != PETAL_BITMAP2_NONE;
    if (writes_seen > 1 || mprotect(last_piece, 1, PROT_READ | PROT_WRITE) != 0)
        abort();
}

/* Another thread that found the number there would count without it, were it there before the mark
 * of its chunk. */
TEST(a_chunk_is_marked_before_a_number_is_in_it)
{
    const petal_allocator pages = {NULL, allocate_pages, release_pages};
    struct sigaction watch = {.sa_handler = see_write}, before;

    set_env.allocator = &pages;
    assert_int_equal(petal_bitmap2_create(100, &set_env, &watched, NULL), PETAL_OK);
    assert_int_equal(mprotect(last_piece, 1, PROT_READ), 0); /* the marks are taken last */
    writes_seen = 0;
    assert_int_equal(sigaction(SIGSEGV, &watch, &before), 0);
    assert_int_equal(petal_bitmap2_add(watched, 5), PETAL_BITMAP2_NONE);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
    assert_int_equal(writes_seen, 1);
    assert_int_equal(entered_before, 0);
    assert_int_equal(petal_bitmap2_count(watched, PETAL_BITMAP2_ONE), 1);
    petal_bitmap2_free(watched);
    set_env.allocator = NULL;
}

TEST_GROUP(set_fixture_begin, set_fixture_end);
