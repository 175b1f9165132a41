/*
 * threads_test.c -- many threads on one open store file through a small cache: all answers right
 * while blocks come and go.  For ThreadSanitizer.
 */
#include "tests/sstable/fixture.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <stdlib.h>

#define THREADS 4

struct worker {
    struct sst_fixture *f;
    const struct sst_reader *reader;
    const struct cell_list *list;
    uint64_t seed;
    unsigned rounds;
    unsigned wrong; /* cmocka's asserts belong to the main thread */
};

static bool
get_is_right(const struct worker *w, const struct read_context *context, size_t index)
{
    const struct cell *cell = &w->list->cells[index];
    uint8_t buffer[256];
    struct cell_key key;
    struct sst_iter iter;
    bool right;
    unsigned slot = epoch_enter(w->f->epoch);

    cell_key_of(&key, buffer, cell);
    sst_iter_init(&iter, w->reader, context, true, false);
    right = iter.iter.ops->seek(&iter.iter, &key, NULL) == PETAL_OK && iter.iter.valid &&
            same_cell(&iter.iter.cell, cell);
    iter.iter.ops->close(&iter.iter);
    epoch_leave(w->f->epoch, slot);
    return right;
}

static bool
scan_is_right(const struct worker *w, const struct read_context *context, size_t from, size_t count)
{
    uint8_t buffer[256];
    struct cell_key key;
    struct sst_iter iter;
    bool right;

    cell_key_of(&key, buffer, &w->list->cells[from]);
    sst_iter_init(&iter, w->reader, context, false, count % 2 == 0);
    right = iter.iter.ops->seek(&iter.iter, &key, NULL) == PETAL_OK;
    for (size_t i = from; right && i < w->list->count && i < from + count; i++) {
        right = iter.iter.valid;
        if (right && iter.iter.pending)
            right = iter.iter.ops->load(&iter.iter, NULL) == PETAL_OK;
        right = right && same_cell(&iter.iter.cell, &w->list->cells[i]) &&
                iter.iter.ops->next(&iter.iter, NULL) == PETAL_OK;
    }
    iter.iter.ops->close(&iter.iter);
    return right;
}

static bool
way_back_is_right(const struct worker *w, const struct read_context *context, size_t from,
                  size_t count)
{
    uint8_t buffer[256];
    struct cell_key key;
    struct sst_iter iter;
    bool right = true;

    sst_iter_init(&iter, w->reader, context, false, count % 2 == 0);
    for (size_t i = from; right && i > 0 && i + count > from; i--) {
        cell_key_of(&key, buffer, &w->list->cells[i]);
        right = iter.iter.ops->seek_before(&iter.iter, &key, NULL) == PETAL_OK && iter.iter.valid &&
                same_cell(&iter.iter.cell, &w->list->cells[i - 1]);
    }
    iter.iter.ops->close(&iter.iter);
    return right;
}

static void *
work(void *argument)
{
    struct worker *w = argument;
    struct read_trace trace = {0};
    struct read_context context = {.trace = &trace};
    struct test_random random;

    test_random_init(&random, w->seed);
    for (unsigned i = 0; i < w->rounds; i++) {
        size_t index = (size_t)test_random_below(&random, w->list->count);

        w->wrong += !get_is_right(w, &context, index);
        if (i % 16 == 0)
            w->wrong += !scan_is_right(w, &context, index, (size_t)test_random_below(&random, 300));
        if (i % 16 == 8)
            w->wrong +=
                !way_back_is_right(w, &context, index, (size_t)test_random_below(&random, 300));
    }
    return NULL;
}

TEST(threads_read_one_file)
{
    struct cell_shape shape = {.cells = 6000,
                               .rows = 2000,
                               .qualifiers = 4,
                               .row_bytes = 30,
                               .value_bytes = 80,
                               .marker_percent = 5};
    struct sst_fixture *f = sst_fixture_new(100 << 10);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    struct test_random random;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];

    test_random_init(&random, test_seed());
    cell_list_random(&f->list, &shape, &random);
    options.block_bytes = 1024;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.f = f,
                                     .reader = reader,
                                     .list = &f->list,
                                     .seed = test_random_next(&random),
                                     .rounds = test_long() ? 100000 : 3000};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    sst_fixture_end(f, reader);
}
