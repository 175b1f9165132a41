/*
 * memtable_test.c -- the memtable against a sorted array of cells: order, seeks, reservations, row
 * filter.  Readers beside the writer: tests/memtable/race_test.c.
 */
#include "bloom/hash.h"
#include "memtable/memtable.h"
#include "tests/support/cell_model.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memtable and iterator under test --------------------------------------------- */

struct fixture {
    struct test_allocator allocator;
    struct memtable *memtable;
};

static void
fixture_init(struct fixture *fixture)
{
    test_allocator_init(&fixture->allocator);
    assert_int_equal(memtable_new(&fixture->memtable, &fixture->allocator.table), PETAL_OK);
}

static void
fixture_fini(struct fixture *fixture)
{
    memtable_free(fixture->memtable);
    assert_int_equal(test_allocator_live_blocks(&fixture->allocator), 0);
}

static void
add(struct memtable *memtable, const struct test_cell *cell)
{
    assert_int_equal(memtable_add(memtable, &cell->cell, cell->row_hash), PETAL_OK);
}

static void
add_all(struct fixture *fixture, const struct cell_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        add(fixture->memtable, &model->cells[i]);
}

static void
seek_first(struct memtable_iter *iter)
{
    assert_int_equal(iter->iter.ops->seek_first(&iter->iter, NULL), PETAL_OK);
}

static void
seek(struct memtable_iter *iter, const struct cell_key *key)
{
    assert_int_equal(iter->iter.ops->seek(&iter->iter, key, NULL), PETAL_OK);
}

static void
seek_before(struct memtable_iter *iter, const struct cell_key *key)
{
    assert_int_equal(iter->iter.ops->seek_before(&iter->iter, key, NULL), PETAL_OK);
}

static void
next(struct memtable_iter *iter)
{
    assert_int_equal(iter->iter.ops->next(&iter->iter, NULL), PETAL_OK);
}

static void
assert_contents(const struct memtable *memtable, const struct cell_model *model)
{
    struct memtable_iter iter;

    memtable_iter_init(&iter, memtable);
    seek_first(&iter);
    for (size_t i = 0; i < model->count; i++) {
        assert_true(iter.iter.valid);
        assert_true(test_cell_equal(&iter.iter.cell, model->sorted[i]));
        next(&iter);
    }
    assert_false(iter.iter.valid);
    seek_before(&iter, NULL);
    assert_true(iter.iter.valid);
    assert_true(test_cell_equal(&iter.iter.cell, model->sorted[model->count - 1]));
    iter.iter.ops->close(&iter.iter);
}

static void
assert_seek(struct memtable_iter *iter, const struct cell_model *model, petal_slice row,
            petal_slice qualifier, bool family_class, int64_t timestamp, uint64_t sequence)
{
    uint8_t buffer[8 * CELL_MODEL_PART_BYTES];
    struct cell_key key;
    size_t expected;

    cell_key_make(&key, buffer, row, qualifier, family_class, timestamp, sequence);
    expected = cell_model_seek(model, &key);
    seek(iter, &key);
    assert_true(iter->iter.valid == (expected < model->count));
    if (iter->iter.valid)
        assert_true(test_cell_equal(&iter->iter.cell, model->sorted[expected]));
    seek_before(iter, &key);
    assert_true(iter->iter.valid == (expected > 0));
    if (!iter->iter.valid)
        return;
    assert_true(test_cell_equal(&iter->iter.cell, model->sorted[expected - 1]));
    next(iter);
    assert_true(iter->iter.valid == (expected < model->count));
    if (iter->iter.valid)
        assert_true(test_cell_equal(&iter->iter.cell, model->sorted[expected]));
}

/*
 * At the cell, on both sides of it, and at the beginning of its column, its row and the row
 * after.
 */
static void
assert_seeks_around(struct memtable_iter *iter, const struct cell_model *model,
                    const struct cell *cell)
{
    bool family = cell_is_family_marker(cell->type);
    petal_slice none = slice_make(NULL, 0);
    uint8_t longer[CELL_MODEL_PART_BYTES + 1];

    assert_seek(iter, model, cell->row, cell->qualifier, family, cell->timestamp, cell->sequence);
    assert_seek(iter, model, cell->row, cell->qualifier, family, cell->timestamp,
                cell->sequence + 1);
    assert_seek(iter, model, cell->row, cell->qualifier, family, cell->timestamp,
                cell->sequence - 1);
    assert_seek(iter, model, cell->row, cell->qualifier, family, INT64_MAX, UINT64_MAX);
    assert_seek(iter, model, cell->row, cell->qualifier, family, INT64_MIN, 0);
    assert_seek(iter, model, cell->row, none, true, INT64_MAX, UINT64_MAX);
    assert_seek(iter, model, cell->row, none, false, INT64_MAX, UINT64_MAX);
    memcpy(longer, cell->row.data, cell->row.size);
    longer[cell->row.size] = 0;
    assert_seek(iter, model, slice_make(longer, cell->row.size + 1), none, true, INT64_MAX,
                UINT64_MAX);
    if (cell->row.size > 1)
        assert_seek(iter, model, slice_make(longer, cell->row.size - 1), none, false, INT64_MIN, 0);
}

/* ---- Order, seeks, facts ---------------------------------------------------------- */

TEST(order_and_seeks_are_those_of_the_model)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
        for (size_t count = 1; count <= 10000; count = count * 5 + 2) {
            struct memtable_iter iter;
            struct fixture fixture;
            struct cell_model model;

            cell_model_init(&model, &random, pattern, count);
            fixture_init(&fixture);
            add_all(&fixture, &model);
            assert_contents(fixture.memtable, &model);
            memtable_iter_init(&iter, fixture.memtable);
            for (size_t i = 0; i < count; i++)
                assert_seeks_around(&iter, &model, model.sorted[i]);
            iter.iter.ops->close(&iter.iter);
            fixture_fini(&fixture);
            cell_model_fini(&model);
        }
}

TEST(a_wide_row_is_searched)
{
    struct test_random random;
    struct memtable_iter iter;
    struct fixture fixture;
    struct cell_model model;

    test_random_init(&random, test_seed());
    cell_model_init(&model, &random, WIDE_SHUFFLED, 100000);
    fixture_init(&fixture);
    add_all(&fixture, &model);
    assert_contents(fixture.memtable, &model);
    memtable_iter_init(&iter, fixture.memtable);
    for (size_t i = 0; i < model.count; i += 31)
        assert_seeks_around(&iter, &model, model.sorted[i]);
    iter.iter.ops->close(&iter.iter);
    fixture_fini(&fixture);
    cell_model_fini(&model);
}

TEST(parts_of_greatest_size_fit)
{
    size_t value_bytes = PETAL_MAX_VALUE_BYTES;
    uint8_t *zeros = test_allocate(value_bytes);
    struct cell cell = {.row = {zeros, PETAL_MAX_ROW_BYTES},
                        .qualifier = {zeros, PETAL_MAX_QUALIFIER_BYTES},
                        .value = {zeros, value_bytes},
                        .timestamp = 5,
                        .sequence = 1,
                        .type = PETAL_PUT};
    struct memtable_iter iter;
    struct fixture fixture;

    memset(zeros, 0, value_bytes);
    fixture_init(&fixture);
    assert_int_equal(memtable_add(fixture.memtable, &cell, 1), PETAL_OK);
    cell.sequence++;
    cell.value.size = 0; /* nothing but bytes to escape */
    assert_int_equal(
        memtable_reserve(fixture.memtable, 1, cell.row.size + cell.qualifier.size, NULL), PETAL_OK);
    test_allocator_fail_at(&fixture.allocator, 1, true);
    assert_int_equal(memtable_add(fixture.memtable, &cell, 1), PETAL_OK);
    test_allocator_fail_at(&fixture.allocator, 0, false);
    memtable_iter_init(&iter, fixture.memtable);
    seek_first(&iter);
    assert_true(iter.iter.valid && test_cell_equal(&iter.iter.cell, &cell));
    next(&iter);
    cell.sequence--;
    cell.value.size = value_bytes;
    assert_true(iter.iter.valid && test_cell_equal(&iter.iter.cell, &cell));
    next(&iter);
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    fixture_fini(&fixture);
    free(zeros);
}

TEST(an_empty_memtable_is_small_and_has_nothing)
{
    struct memtable_facts facts;
    struct memtable_iter iter;
    struct fixture fixture;

    fixture_init(&fixture);
    assert_true(memtable_is_empty(fixture.memtable));
    assert_int_equal(memtable_bytes(fixture.memtable), 0);
    assert_false(memtable_may_contain_row(fixture.memtable, 0));
    memtable_facts(fixture.memtable, &facts);
    assert_true(facts.cells == 0 && facts.sequence_min == UINT64_MAX && facts.sequence_max == 0);
    memtable_iter_init(&iter, fixture.memtable);
    seek_first(&iter);
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    fixture_fini(&fixture);
}

TEST(facts_tell_the_contents)
{
    struct memtable_facts facts;
    struct test_random random;
    struct fixture fixture;
    struct cell_model model;

    test_random_init(&random, test_seed());
    cell_model_init(&model, &random, ASCENDING, 40);
    model.cells[17].cell.timestamp = 1800000000000;
    fixture_init(&fixture);
    for (size_t i = 10; i < model.count; i++)
        add(fixture.memtable, &model.cells[i]);
    memtable_facts(fixture.memtable, &facts);
    assert_int_equal(facts.cells, 30);
    assert_int_equal(facts.sequence_min, 11);
    assert_int_equal(facts.sequence_max, 40);
    assert_int_equal(facts.time_max, memtable_time_max(fixture.memtable));
    assert_int_equal(facts.time_max, 1800000000000);
    assert_false(memtable_is_empty(fixture.memtable));
    assert_in_range(memtable_bytes(fixture.memtable), 4096, 16384);
    fixture_fini(&fixture);
    cell_model_fini(&model);
}

/* ---- Memory ----------------------------------------------------------------------- */

/* Batches of all sizes, in every pattern: once reserved, they go in with no memory to be had. */
TEST(what_was_reserved_cannot_fail)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        struct fixture fixture;
        struct cell_model model;
        size_t batch;

        cell_model_init(&model, &random, pattern, 30000);
        fixture_init(&fixture);
        for (size_t done = 0; done < model.count; done += batch) {
            size_t bytes = 0;

            batch = 1 + test_random_below(&random, test_random_chance(&random, 10) ? 4000 : 20);
            if (batch > model.count - done)
                batch = model.count - done;
            for (size_t i = done; i < done + batch; i++)
                bytes += model.cells[i].cell.row.size + model.cells[i].cell.qualifier.size +
                         model.cells[i].cell.value.size;
            assert_int_equal(memtable_reserve(fixture.memtable, batch, bytes, NULL), PETAL_OK);
            test_allocator_fail_at(&fixture.allocator, 1, true);
            for (size_t i = done; i < done + batch; i++)
                add(fixture.memtable, &model.cells[i]);
            test_allocator_fail_at(&fixture.allocator, 0, false);
        }
        assert_contents(fixture.memtable, &model);
        fixture_fini(&fixture);
        cell_model_fini(&model);
    }
}

/* Each allocation fails once, in memtable_new, in a reservation, in an add without one. */
TEST(a_failed_allocation_leaves_the_contents)
{
    struct test_random random;
    struct test_allocator allocator;
    struct memtable *memtable;
    struct cell_model model;
    unsigned refused = 0;

    test_random_init(&random, test_seed());
    cell_model_init(&model, &random, HARD, 8000);
    test_allocator_init(&allocator);
    test_allocator_fail_at(&allocator, 1, false);
    assert_int_equal(memtable_new(&memtable, &allocator.table), PETAL_NO_MEMORY);
    assert_null(memtable);
    assert_int_equal(memtable_new(&memtable, &allocator.table), PETAL_OK);
    for (size_t i = 0; i < model.count; i++) {
        const struct test_cell *cell = &model.cells[i];

        for (unsigned nth = 1; nth <= 2 && i % 100 == 0; nth++) {
            test_allocator_fail_at(&allocator, nth, true);
            refused += memtable_reserve(memtable, 5000, 100000, NULL) != PETAL_OK;
            test_allocator_fail_at(&allocator, 0, false);
        }
        test_allocator_fail_at(&allocator, 1, true);
        if (memtable_add(memtable, &cell->cell, cell->row_hash) == PETAL_OK) {
            test_allocator_fail_at(&allocator, 0, false);
            continue;
        }
        refused++;
        test_allocator_fail_at(&allocator, 0, false);
        add(memtable, cell);
    }
    assert_true(refused > 5);
    assert_contents(memtable, &model);
    assert_int_equal(memtable_reserve(memtable, SIZE_MAX, 1, NULL), PETAL_NO_MEMORY);
    assert_int_equal(memtable_reserve(memtable, 1, SIZE_MAX, NULL), PETAL_NO_MEMORY);
    assert_contents(memtable, &model);
    memtable_free(memtable);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    cell_model_fini(&model);
}

/* Some cells are prepared before, some of those are given up first, as when the log fails; no
 * reserved step asks for memory. */
TEST(prepared_cells_are_added)
{
    struct test_random random;
    struct cell_model model;
    struct fixture fixture;

    test_random_init(&random, test_seed());
    cell_model_init(&model, &random, HARD, 20000);
    fixture_init(&fixture);
    for (size_t i = 0; i < model.count; i++) {
        const struct cell *cell = &model.cells[i].cell;
        size_t bytes = cell->row.size + cell->qualifier.size + cell->value.size;
        bool prepared = test_random_chance(&random, 70);

        for (unsigned tries = prepared && test_random_chance(&random, 20) ? 2 : 1; tries > 0;
             tries--) {
            assert_int_equal(memtable_reserve(fixture.memtable, 1, bytes, NULL), PETAL_OK);
            test_allocator_fail_at(&fixture.allocator, 1, true);
            if (prepared)
                memtable_prepare(fixture.memtable, cell, model.cells[i].row_hash);
            if (tries == 1)
                add(fixture.memtable, &model.cells[i]);
            test_allocator_fail_at(&fixture.allocator, 0, false);
        }
    }
    assert_contents(fixture.memtable, &model);
    fixture_fini(&fixture);
    cell_model_fini(&model);
}

/* Where there is room a cell is prepared and added without a reservation, and allocates nothing;
 * there is none for a second one until the first is added. */
TEST(a_cell_is_prepared_where_there_is_room)
{
    struct test_random random;
    struct cell_model model;
    struct fixture fixture;
    size_t refused = 0;

    test_random_init(&random, test_seed());
    cell_model_init(&model, &random, HARD, 2000);
    fixture_init(&fixture);
    for (size_t i = 0; i < model.count; i++) {
        const struct cell *cell = &model.cells[i].cell;
        size_t bytes = cell->row.size + cell->qualifier.size + cell->value.size;

        test_allocator_fail_at(&fixture.allocator, 1, true);
        if (!memtable_has_room(fixture.memtable, cell)) {
            refused++;
            test_allocator_fail_at(&fixture.allocator, 0, false);
            assert_int_equal(memtable_reserve(fixture.memtable, 1, bytes, NULL), PETAL_OK);
            test_allocator_fail_at(&fixture.allocator, 1, true);
        }
        memtable_prepare(fixture.memtable, cell, model.cells[i].row_hash);
        assert_false(memtable_has_room(fixture.memtable, cell));
        add(fixture.memtable, &model.cells[i]);
        test_allocator_fail_at(&fixture.allocator, 0, false);
    }
    assert_true(refused > 0 && refused < model.count / 2);
    assert_contents(fixture.memtable, &model);
    fixture_fini(&fixture);
    cell_model_fini(&model);
}

/* What was prepared is no cell until it is added, and another cell that comes in its place is no
 * mistake. */
TEST(a_prepared_cell_that_is_given_up_is_not_there)
{
    struct test_random random;
    struct cell_model model;
    struct fixture fixture;

    test_random_init(&random, test_seed());
    cell_model_init(&model, &random, HARD, 2);
    fixture_init(&fixture);
    assert_int_equal(memtable_reserve(fixture.memtable, 1, 1000, NULL), PETAL_OK);
    memtable_prepare(fixture.memtable, &model.cells[0].cell, model.cells[0].row_hash);
    assert_true(memtable_is_empty(fixture.memtable));
    add(fixture.memtable, &model.cells[1]);
    add(fixture.memtable, &model.cells[0]);
    assert_contents(fixture.memtable, &model);
    fixture_fini(&fixture);
    cell_model_fini(&model);
}

/* Writes that fail, one after the other, as on a full disk. What is added then, without having been
 * prepared, lies where they did. */
TEST(what_is_given_up_takes_no_memory)
{
    struct test_random random;
    struct cell_model model;
    struct fixture fixture;
    size_t bytes = 0;

    test_random_init(&random, test_seed());
    cell_model_init(&model, &random, HARD, 300);
    fixture_init(&fixture);
    for (size_t i = 0; i < model.count; i++) {
        const struct cell *cell = &model.cells[i].cell;

        for (unsigned tries = 0; tries < 1000; tries++) {
            assert_int_equal(memtable_reserve(fixture.memtable, 1, 2000, NULL), PETAL_OK);
            if (tries == 1)
                bytes = memtable_bytes(fixture.memtable);
            memtable_prepare(fixture.memtable, cell, model.cells[i].row_hash);
        }
        assert_int_equal(memtable_bytes(fixture.memtable), bytes);
        add(fixture.memtable, &model.cells[model.count - 1 - i]);
    }
    assert_contents(fixture.memtable, &model);
    fixture_fini(&fixture);
    cell_model_fini(&model);
}

TEST(unescaping_reports_that_there_is_no_memory)
{
    struct test_cell made = {.cell.type = PETAL_PUT, .row = {'a', 0, 'b'}};
    struct memtable_iter iter;
    struct fixture fixture;
    petal_error error;

    test_cell_set(&made, 0, 3, 0, 0);
    fixture_init(&fixture);
    add(fixture.memtable, &made);
    memtable_iter_init(&iter, fixture.memtable);
    test_allocator_fail_at(&fixture.allocator, 1, false);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, &error), PETAL_NO_MEMORY);
    assert_int_equal(error.status, PETAL_NO_MEMORY);
    assert_false(iter.iter.valid);
    seek_first(&iter);
    assert_true(iter.iter.valid && test_cell_equal(&iter.iter.cell, &made.cell));
    iter.iter.ops->close(&iter.iter);
    fixture_fini(&fixture);
}

/* ---- Row filter ------------------------------------------------------------------- */

static uint64_t
numbered_row_hash(uint64_t number)
{
    return bloom_hash_row(CELL_MODEL_SALT, &number, sizeof number);
}

static void
add_numbered_row(struct memtable *memtable, uint64_t number)
{
    struct cell cell = {.row = {&number, sizeof number}, .sequence = number + 1, .type = PETAL_PUT};

    assert_int_equal(memtable_add(memtable, &cell, numbered_row_hash(number)), PETAL_OK);
}

TEST(the_filter_loses_no_row_and_passes_few_others)
{
    enum { ROWS = 100000 };
    struct fixture fixture;
    size_t passed = 0;

    fixture_init(&fixture);
    for (uint64_t i = 0; i < ROWS; i++) {
        add_numbered_row(fixture.memtable, i);
        if (i % 1000 == 0)
            for (uint64_t k = 0; k <= i; k += 7)
                assert_true(memtable_may_contain_row(fixture.memtable, numbered_row_hash(k)));
    }
    for (uint64_t i = 0; i < ROWS; i++) {
        assert_true(memtable_may_contain_row(fixture.memtable, numbered_row_hash(i)));
        passed += memtable_may_contain_row(fixture.memtable, numbered_row_hash(ROWS + i));
    }
    assert_in_range(passed, 1, ROWS / 50);
    fixture_fini(&fixture);
}

TEST(a_row_written_again_does_not_fill_the_filter)
{
    struct test_cell made = {.cell.type = PETAL_PUT, .row = "again"};
    struct fixture fixture;
    size_t passed = 0;

    fixture_init(&fixture);
    for (size_t i = 0; i < 20000; i++) {
        test_cell_set(&made, i, 5, 0, 0);
        add(fixture.memtable, &made);
    }
    for (uint64_t i = 0; i < 10000; i++)
        passed += memtable_may_contain_row(fixture.memtable, numbered_row_hash(i));
    assert_int_equal(passed, 0);
    fixture_fini(&fixture);
}
