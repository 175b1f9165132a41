/*
 * race_test.c -- readers beside the writer: they see all cells up to the published sequence, once
 * and in order, forwards and back, find each of them, and are told by the row filter that it may be
 * there.
 */
#include "memtable/memtable.h"
#include "tests/support/cell_model.h"
#include "tests/support/test.h"

#include <pthread.h>

struct race {
    struct cell_model model;
    struct memtable *memtable;
    _Atomic(uint64_t) published;
    _Atomic(bool) done;
    _Atomic(unsigned) faults;
    uint64_t seed;
};

static void
fault_if(struct race *race, bool wrong)
{
    if (wrong)
        atomic_fetch_add(&race->faults, 1);
}

/* All cells up to the sequence, once and in order; what is shown is what was added. */
static void
read_all(struct race *race, struct memtable_iter *iter)
{
    uint64_t published = atomic_load_explicit(&race->published, memory_order_acquire);
    uint64_t seen = 0;
    size_t at = 0;

    fault_if(race, iter->iter.ops->seek_first(&iter->iter, NULL) != PETAL_OK);
    while (iter->iter.valid) {
        const struct cell *cell = &iter->iter.cell;

        /* Up to it in the model; a cell that is not there, or shown late, leads to the end. */
        while (at < race->model.count && race->model.sorted[at]->sequence != cell->sequence)
            at++;
        fault_if(race, at == race->model.count || !test_cell_equal(cell, race->model.sorted[at]));
        seen += cell->sequence <= published;
        fault_if(race, iter->iter.ops->next(&iter->iter, NULL) != PETAL_OK);
    }
    fault_if(race, seen != published);
}

/* The same from the last to the first, each by seeking before the one after. */
static void
read_all_back(struct race *race, struct memtable_iter *iter)
{
    uint64_t published = atomic_load_explicit(&race->published, memory_order_acquire);
    uint64_t seen = 0;
    size_t at = race->model.count;
    uint8_t buffer[8 * CELL_MODEL_PART_BYTES];
    struct cell_key key, *behind = NULL;

    for (;;) {
        const struct cell *cell = &iter->iter.cell;

        fault_if(race, iter->iter.ops->seek_before(&iter->iter, behind, NULL) != PETAL_OK);
        if (!iter->iter.valid)
            break;
        while (at > 0 && race->model.sorted[at - 1]->sequence != cell->sequence)
            at--;
        fault_if(race, at == 0);
        if (at == 0)
            break;
        fault_if(race, !test_cell_equal(cell, race->model.sorted[at - 1]));
        seen += cell->sequence <= published;
        cell_key_of(&key, buffer, race->model.sorted[at - 1]);
        behind = &key;
    }
    fault_if(race, seen != published);
}

/* The last visible cell before some place of the model is found; the next visible one is the first
 * after the place. */
static void
read_one_before(struct race *race, struct memtable_iter *iter, struct test_random *random)
{
    uint64_t published = atomic_load_explicit(&race->published, memory_order_acquire);
    const struct cell **sorted = race->model.sorted;
    size_t place = test_random_below(random, race->model.count), behind = place;
    uint8_t buffer[8 * CELL_MODEL_PART_BYTES];
    struct cell_key key;

    cell_key_of(&key, buffer, sorted[place]);
    fault_if(race, iter->iter.ops->seek_before(&iter->iter, &key, NULL) != PETAL_OK);
    while (iter->iter.valid && iter->iter.cell.sequence > published) {
        cell_key_of(&key, buffer, &iter->iter.cell);
        fault_if(race, iter->iter.ops->seek_before(&iter->iter, &key, NULL) != PETAL_OK);
    }
    while (behind > 0 && sorted[behind - 1]->sequence > published)
        behind--;
    fault_if(race, iter->iter.valid != (behind > 0));
    if (!iter->iter.valid || behind == 0)
        return;
    fault_if(race, !test_cell_equal(&iter->iter.cell, sorted[behind - 1]));
    while (place < race->model.count && sorted[place]->sequence > published)
        place++;
    do
        fault_if(race, iter->iter.ops->next(&iter->iter, NULL) != PETAL_OK);
    while (iter->iter.valid && iter->iter.cell.sequence > published);
    fault_if(race, iter->iter.valid != (place < race->model.count));
    if (iter->iter.valid && place < race->model.count)
        fault_if(race, !test_cell_equal(&iter->iter.cell, sorted[place]));
}

/*
 * The cell at some place of the model, added by now or not: the first visible one at or after it
 * is found.
 */
static void
read_one(struct race *race, struct memtable_iter *iter, struct test_random *random)
{
    uint64_t published = atomic_load_explicit(&race->published, memory_order_acquire);
    size_t at = test_random_below(random, race->model.count);
    uint8_t buffer[8 * CELL_MODEL_PART_BYTES];
    struct cell_key key;

    cell_key_of(&key, buffer, race->model.sorted[at]);
    fault_if(race, iter->iter.ops->seek(&iter->iter, &key, NULL) != PETAL_OK);
    fault_if(race, iter->iter.valid && cell_compare_key(&iter->iter.cell, &key) < 0);
    for (unsigned steps = 0; steps < 3; steps++) {
        while (at < race->model.count && race->model.sorted[at]->sequence > published)
            at++;
        while (iter->iter.valid && iter->iter.cell.sequence > published)
            fault_if(race, iter->iter.ops->next(&iter->iter, NULL) != PETAL_OK);
        fault_if(race, iter->iter.valid != (at < race->model.count));
        if (!iter->iter.valid || at == race->model.count)
            return;
        fault_if(race, !test_cell_equal(&iter->iter.cell, race->model.sorted[at++]));
        fault_if(race, iter->iter.ops->next(&iter->iter, NULL) != PETAL_OK);
    }
}

static void
ask_filter(struct race *race, struct test_random *random)
{
    uint64_t published = atomic_load_explicit(&race->published, memory_order_acquire);
    const struct test_cell *cell;

    if (published == 0)
        return;
    cell =
        &race->model.cells[test_random_chance(random, 50) ? published - 1
                                                          : test_random_below(random, published)];
    fault_if(race, !memtable_may_contain_row(race->memtable, cell->row_hash));
    fault_if(race, memtable_is_empty(race->memtable));
}

static void *
reader(void *argument)
{
    struct race *race = argument;
    struct memtable_iter iter;
    struct test_random random;
    bool done;

    test_random_init(&random, race->seed);
    memtable_iter_init(&iter, race->memtable);
    do {
        done = atomic_load_explicit(&race->done, memory_order_acquire);
        for (unsigned i = 0; i < 200; i++) {
            read_one(race, &iter, &random);
            read_one_before(race, &iter, &random);
            ask_filter(race, &random);
        }
        read_all(race, &iter);
        read_all_back(race, &iter);
    } while (!done);
    iter.iter.ops->close(&iter.iter);
    return NULL;
}

static void
run_race(struct test_random *random, enum cell_pattern pattern, size_t count)
{
    pthread_t readers[2];
    struct test_allocator allocator;
    struct race race;

    test_allocator_init(&allocator);
    assert_int_equal(memtable_new(&race.memtable, &allocator.table), PETAL_OK);
    cell_model_init(&race.model, random, pattern, count);
    race.seed = test_random_next(random);
    atomic_init(&race.published, 0);
    atomic_init(&race.done, false);
    atomic_init(&race.faults, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, reader, &race), 0);
    for (size_t i = 0; i < count; i++) {
        const struct test_cell *cell = &race.model.cells[i];

        assert_int_equal(memtable_add(race.memtable, &cell->cell, cell->row_hash), PETAL_OK);
        if (test_random_chance(random, 60) || i + 1 == count)
            atomic_store_explicit(&race.published, i + 1, memory_order_release);
    }
    atomic_store_explicit(&race.done, true, memory_order_release);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&race.faults), 0);
    cell_model_fini(&race.model);
    memtable_free(race.memtable);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

TEST(readers_see_all_that_was_published)
{
    unsigned rounds = test_long() ? 200 : 4;
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
            for (unsigned small = 0; small < 10; small++)
                run_race(&random, pattern, 1 + test_random_below(&random, 800));
            run_race(&random, pattern, 10000);
        }
}
