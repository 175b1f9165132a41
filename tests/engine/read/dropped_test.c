/*
 * dropped_test.c -- a read during which its table is replaced, truncated, dropped or
 * altered gives what was there before or PETAL_NOT_FOUND, and never the nothing that is in neither.
 * An allocator makes the change between two steps of the read: at each of its allocations in turn.
 */

#include "base/slice.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <stdlib.h>

enum change { CHANGE_RESTORE, CHANGE_TRUNCATE, CHANGE_DROP, CHANGE_FAMILY, CHANGES };

struct dropped_fixture {
    struct fixture base;
    petal_allocator allocator;
    petal_table *table;
    enum change change;
    unsigned at; /* the change comes with this allocation from now; 0: none */
    bool changed;
};

static void
make_change(struct dropped_fixture *fixture)
{
    petal_family_options family = {.name = {"g", 1}};
    petal_table_options options = {.families = &family, .family_count = 1};
    petal_table *made;

    fixture->changed = true;
    if (fixture->change == CHANGE_RESTORE)
        MUST(petal_table_snapshot_restore(fixture->base.db, slice_from_text("s"), &made, WHY));
    else if (fixture->change == CHANGE_TRUNCATE)
        MUST(petal_table_truncate(fixture->table, &made, WHY));
    else if (fixture->change == CHANGE_DROP)
        MUST(petal_table_drop(fixture->table, WHY));
    else
        MUST(petal_table_alter(fixture->table, &options, WHY));
}

static void *
allocate(void *context, size_t alignment, size_t size)
{
    struct dropped_fixture *fixture = context;
    const petal_allocator *below = &fixture->base.allocator.table;

    if (fixture->at > 0 && --fixture->at == 0)
        make_change(fixture);
    return below->allocate(below->context, alignment, size);
}

static void
release(void *context, void *memory, size_t size)
{
    struct dropped_fixture *fixture = context;
    const petal_allocator *below = &fixture->base.allocator.table;

    below->release(below->context, memory, size);
}

static void
begin(struct dropped_fixture *fixture, enum change change)
{
    *fixture = (struct dropped_fixture){.change = change};
    fixture_init(&fixture->base, 1);
    fixture->allocator = (petal_allocator){fixture, allocate, release};
    fixture->base.env.allocator = &fixture->allocator;
    fixture_must_open(&fixture->base);
    MUST(copy_fixture_create(fixture->base.db, "t", &fixture->table, WHY));
    copy_fixture_must_put(fixture->table, "f", "r", "1");
    copy_fixture_must_put(fixture->table, "g", "r", "1");
    MUST(petal_table_snapshot_create(fixture->table, slice_from_text("s"), NULL, WHY));
}

/* Cells found, all of "r": 2 unless the status says otherwise. */
typedef enum petal_status read_function(struct dropped_fixture *fixture, size_t *cells);

static enum petal_status
read_by_cursor(struct dropped_fixture *fixture, size_t *cells)
{
    const petal_cell *cell;
    petal_cursor *cursor;
    enum petal_status status = petal_cursor_open(fixture->table, NULL, &cursor, NULL);

    while (status == PETAL_OK) {
        status = petal_cursor_next(cursor, &cell, NULL);
        if (status != PETAL_OK || cell == NULL)
            break;
        ++*cells;
    }
    petal_cursor_close(cursor);
    return status;
}

/* So many columns that memory is wanted for them. */
static enum petal_status
read_by_get(struct dropped_fixture *fixture, size_t *cells)
{
    petal_column columns[40] = {{.family = NULL}};
    petal_read_options options = {.columns = columns, .column_count = 40};
    petal_result *result = NULL;
    enum petal_status status;

    for (size_t i = 0; i < 40; i++)
        columns[i] = (petal_column){.family = petal_table_family_at(fixture->table, i % 2),
                                    .qualifier = slice_make("xxxxxxxxxxxxxxxxxxxx", i / 2)};
    status = petal_result_new(fixture->base.db, &result, NULL);
    if (status == PETAL_OK)
        status = petal_get(fixture->table, slice_from_text("r"), &options, result, NULL);
    if (status == PETAL_OK)
        *cells = petal_result_count(result);
    petal_result_free(result);
    return status;
}

/* The change comes at each allocation of the read. */
static void
change_meanwhile(read_function *read, enum change change, bool named)
{
    bool changed = true;

    for (unsigned at = 1; changed; at++) {
        struct dropped_fixture fixture;
        size_t cells = 0;
        enum petal_status status;

        begin(&fixture, change);
        fixture.at = at;
        status = read(&fixture, &cells);
        fixture.at = 0;
        changed = fixture.changed;
        /* A whole table without its family has a cell less. */
        if (status == PETAL_OK && (change != CHANGE_FAMILY || named))
            assert_int_equal(cells, 2);
        else if (status == PETAL_OK)
            assert_in_range(cells, 1, 2);
        else
            assert_int_equal(status, PETAL_NOT_FOUND);
        assert_true(changed || cells == 2);
        fixture_must_close(&fixture.base);
        fixture_fini(&fixture.base);
    }
}

TEST(scans_find_what_was_there_or_fail)
{
    for (enum change change = CHANGE_RESTORE; change < CHANGES; change++)
        change_meanwhile(read_by_cursor, change, false);
}

TEST(gets_find_what_was_there_or_fail)
{
    for (enum change change = CHANGE_RESTORE; change < CHANGES; change++)
        change_meanwhile(read_by_get, change, true);
}
