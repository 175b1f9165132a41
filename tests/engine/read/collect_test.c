/*
 * collect_test.c -- a collector that is held keeps what it collected when the sources go, and
 * interrupts the stay in the epoch of who asks, now and then; get_cost_test.c and the tests of
 * gets have the rest.
 */
#include "bloom/hash.h"
#include "engine/read/collect.h"
#include "memtable/memtable.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdio.h>

#define SALT  1
#define CELLS 20000u
#define ROW   slice_make("row", 3)

/* None, the last byte, or all of the name. */
static petal_slice
value_of(unsigned i, petal_slice name)
{
    if (i / 3 % 3 == 0)
        return slice_make(NULL, 0);
    return i / 3 % 3 == 1 ? slice_make((const uint8_t *)name.data + 7, 1) : name;
}

static struct memtable *
make_memtable(const petal_allocator *allocator, unsigned first, unsigned step)
{
    struct memtable *memtable;

    assert_int_equal(memtable_new(&memtable, allocator), PETAL_OK);
    for (unsigned i = first; i < CELLS; i += step) {
        char name[16];
        petal_slice bytes = slice_make(name, (size_t)snprintf(name, sizeof name, "%08u", i));
        struct cell cell = {.row = ROW,
                            .qualifier = bytes,
                            .value = value_of(i, bytes),
                            .timestamp = 1,
                            .sequence = i + 1,
                            .type = PETAL_PUT};

        assert_int_equal(memtable_add(memtable, &cell, bloom_hash_row(SALT, "row", 3)), PETAL_OK);
    }
    return memtable;
}

static void
collect_from(struct row_collect *collect, struct memtable *memtable)
{
    struct memtable_iter iter;

    memtable_iter_init(&iter, memtable);
    assert_int_equal(row_collect_source(collect, &iter.iter, 0, NULL), PETAL_OK);
    iter.iter.ops->close(&iter.iter);
}

static void
start(struct row_collect *collect, const petal_allocator *allocator)
{
    petal_family_options family = {.versions = 1};

    row_collect_init(collect, allocator);
    visibility_rules_of(&collect->visibility.rules, &family, VISIBILITY_READ, UINT64_MAX, 0);
    assert_int_equal(row_collect_start(collect, ROW, NULL, NULL, 0), PETAL_OK);
}

static void
check_answer(struct row_collect *collect)
{
    bool complete;

    assert_int_equal(row_collect_finish(collect, &complete), PETAL_OK);
    assert_true(complete);
    assert_int_equal(collect->shown_count, CELLS);
    for (unsigned i = 0; i < CELLS; i++) {
        const struct cell *cell = row_collect_cell(collect, i);
        char name[16];

        snprintf(name, sizeof name, "%08u", i);
        assert_true(slice_equal(cell->qualifier, slice_make(name, 8)));
        assert_true(slice_equal(cell->value, value_of(i, slice_make(name, 8))));
    }
}

TEST(what_is_held_outlives_its_source)
{
    struct test_allocator allocator;
    struct row_collect collect;

    test_allocator_init(&allocator);
    start(&collect, &allocator.table);
    for (unsigned part = 0; part < 3; part++) {
        struct memtable *memtable = make_memtable(&allocator.table, part, 3);

        collect_from(&collect, memtable);
        assert_int_equal(row_collect_hold(&collect), PETAL_OK);
        memtable_free(memtable);
    }
    check_answer(&collect);
    row_collect_fini(&collect);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

struct counted_stay {
    struct epoch_stay stay; /* first member */
    struct row_collect *collect;
    unsigned interruptions;
    uint64_t cells_read, longest;
};

static enum petal_status
count_interruption(struct epoch_stay *stay)
{
    struct counted_stay *counted = (struct counted_stay *)(void *)stay;
    uint64_t cells = counted->collect->cells_read - counted->cells_read;

    counted->interruptions++;
    counted->cells_read += cells;
    if (cells > counted->longest)
        counted->longest = cells;
    return row_collect_hold(counted->collect);
}

TEST(many_cells_are_not_looked_at_in_one_stay)
{
    struct test_allocator allocator;
    struct row_collect collect;
    struct counted_stay counted = {.stay.hold = count_interruption, .collect = &collect};
    struct epoch *epoch;

    test_allocator_init(&allocator);
    epoch = mem_alloc_aligned(&allocator.table, CACHE_LINE_BYTES, sizeof *epoch);
    assert_int_equal(epoch_init(epoch), PETAL_OK);
    counted.stay.epoch = epoch;
    counted.stay.slot = epoch_enter(epoch);
    start(&collect, &allocator.table);
    collect.stay = &counted.stay;
    for (unsigned part = 0; part < 2; part++) {
        struct memtable *memtable = make_memtable(&allocator.table, part, 2);

        collect_from(&collect, memtable);
        assert_int_equal(row_collect_hold(&collect), PETAL_OK);
        memtable_free(memtable);
    }
    assert_in_range(counted.interruptions, CELLS / 8192, CELLS);
    assert_in_range(counted.longest, 1, 8192);
    check_answer(&collect);
    row_collect_fini(&collect);
    epoch_leave(epoch, counted.stay.slot);
    epoch_fini(epoch);
    mem_free(&allocator.table, epoch, sizeof *epoch);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}
