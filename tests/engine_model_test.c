/*
 * engine_model_test.c -- random histories of writes, deletions, batches, flushes and reopenings, each answer compared with the
 * naive model; under every filter, several cache sizes, and with every subset of the skip reasons switched off, which must
 * not change an answer. Prints its seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/slice.h"
#include "tests/memory_vfs.h"
#include "tests/model.h"
#include "tests/test_support.h"

#include <stdio.h>
#include <stdlib.h>

#define FAMILIES   2
#define ROWS       7
#define QUALIFIERS 5

struct world {
    struct memory_vfs *vfs;
    struct test_allocator allocator;
    struct test_clock clock;
    struct test_random random;
    petal_env env;
    petal_options options;
    petal_db *db;
    petal_table *table;
    petal_family *families[FAMILIES];
    struct model model;
    enum petal_bloom_type bloom;
    uint32_t block_bytes;
    uint64_t reads;
};

/* Rows and qualifiers that have tripped stores: prefixes of each other, 00 and FF bytes, the empty qualifier. */
static const petal_slice rows[ROWS] = {{"a", 1},     {"a\0", 2},      {"a\0b", 3}, {"b", 1},
                                       {"b\xff", 2}, {"\xff\xff", 2}, {"ab", 2}};
static const petal_slice qualifiers[QUALIFIERS] = {
    {"", 0}, {"q", 1}, {"q\0", 2}, {"r\xff", 2}, {"s", 1}};

static void
must(enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK)
        print_error("%s: %s\n", petal_status_text(status), error->text);
    assert_int_equal(status, PETAL_OK);
}

static void
open_world(struct world *world)
{
    petal_error error;

    must(petal_open("/db", &world->options, &world->db, &error), &error);
}

static void
attach_table(struct world *world)
{
    petal_error error;

    must(petal_table_open(world->db, slice_from_text("t"), &world->table, &error), &error);
    for (unsigned i = 0; i < FAMILIES; i++)
        world->families[i] = petal_table_family_at(world->table, i);
}

static void
create_table(struct world *world)
{
    petal_family_options families[FAMILIES];
    petal_table_options options = {
        .name = slice_from_text("t"), .families = families, .family_count = FAMILIES};
    static const char *const names[FAMILIES] = {"f", "g"};
    petal_error error;

    for (unsigned i = 0; i < FAMILIES; i++)
        families[i] = (petal_family_options){.name = slice_from_text(names[i]),
                                             .bloom = world->bloom,
                                             .block_bytes = world->block_bytes};
    must(petal_table_create(world->db, &options, &world->table, &error), &error);
    attach_table(world);
}

static void
begin(struct world *world, enum petal_bloom_type bloom, size_t cache_bytes, uint32_t block_bytes,
      uint64_t seed)
{
    *world = (struct world){.bloom = bloom, .block_bytes = block_bytes};
    world->vfs = memory_vfs_new();
    test_allocator_init(&world->allocator);
    test_clock_set(&world->clock, 100);
    test_random_init(&world->random, seed);
    world->env = (petal_env){.allocator = &world->allocator.table,
                             .vfs = memory_vfs_table(world->vfs),
                             .clock_context = &world->clock,
                             .clock_ms = test_clock_ms,
                             .random_context = &world->random,
                             .random = test_random_word};
    world->options = (petal_options){.create = true,
                                     .cache_bytes = cache_bytes,
                                     .log_sync_interval_ms = PETAL_NEVER,
                                     .env = &world->env};
    open_world(world);
    create_table(world);
}

static void
end(struct world *world)
{
    petal_error error;

    must(petal_table_verify(world->table, &error), &error);
    must(petal_close(world->db, &error), &error);
    assert_int_equal(test_allocator_live_blocks(&world->allocator), 0);
    model_free(&world->model);
    memory_vfs_free(world->vfs);
}

/* ---- writes ---- */

static uint64_t
below(struct world *world, uint64_t limit)
{
    return test_random_below(&world->random, limit);
}

struct random_cell {
    unsigned family;
    petal_slice row, qualifier, value;
    int64_t timestamp; /* PETAL_LATEST or explicit */
    enum petal_cell_type type;
    char memory[16];
};

static void
pick_cell(struct world *world, struct random_cell *cell)
{
    static const enum petal_cell_type types[] = {PETAL_PUT,
                                                 PETAL_PUT,
                                                 PETAL_PUT,
                                                 PETAL_PUT,
                                                 PETAL_PUT,
                                                 PETAL_DELETE_COLUMN,
                                                 PETAL_DELETE_FAMILY_VERSION,
                                                 PETAL_DELETE,
                                                 PETAL_DELETE_FAMILY};

    cell->type = types[below(world, sizeof types / sizeof *types)];
    cell->family = (unsigned)below(world, FAMILIES);
    cell->row = rows[below(world, ROWS)];
    cell->qualifier = qualifiers[below(world, QUALIFIERS)];
    if (cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION)
        cell->qualifier = slice_make("", 0);
    cell->timestamp = below(world, 3) == 0 ? PETAL_LATEST : (int64_t)below(world, 12);
    /* A deletion of the newest version depends on a read; it has a test of its own. */
    if (cell->type == PETAL_DELETE && cell->timestamp == PETAL_LATEST)
        cell->timestamp = 5;
    cell->value = slice_make(NULL, 0);
    if (cell->type == PETAL_PUT) {
        int length = snprintf(cell->memory, sizeof cell->memory, "v%llu",
                              (unsigned long long)world->model.count);
        cell->value = slice_make(cell->memory, (size_t)length);
    }
}

static void
note(struct world *world, const struct random_cell *cell)
{
    model_write(&world->model, cell->family, cell->row, cell->qualifier, cell->value,
                cell->timestamp == PETAL_LATEST ? test_clock_ms(&world->clock) : cell->timestamp,
                cell->type);
}

static void
write_one(struct world *world)
{
    struct random_cell cell;
    petal_error error;
    petal_family *family;

    pick_cell(world, &cell);
    family = world->families[cell.family];
    if (cell.type == PETAL_PUT)
        must(petal_put(family, cell.row, cell.qualifier, cell.timestamp, cell.value, NULL, &error),
             &error);
    else
        must(
            petal_delete(family, cell.row, cell.qualifier, cell.timestamp, cell.type, NULL, &error),
            &error);
    note(world, &cell);
}

static void
write_batch(struct world *world)
{
    struct random_cell cell;
    petal_batch *batch;
    petal_error error;

    must(petal_batch_new(world->db, &batch, &error), &error);
    for (uint64_t n = 1 + below(world, 6); n > 0; n--) {
        petal_family *family;

        pick_cell(world, &cell);
        family = world->families[cell.family];
        if (cell.type == PETAL_PUT)
            must(petal_batch_put(batch, family, cell.row, cell.qualifier, cell.timestamp,
                                 cell.value, &error),
                 &error);
        else
            must(petal_batch_delete(batch, family, cell.row, cell.qualifier, cell.timestamp,
                                    cell.type, &error),
                 &error);
        note(world, &cell);
    }
    must(petal_write(world->db, batch, NULL, &error), &error);
    petal_batch_free(batch);
}

/* ---- reads ---- */

struct question {
    petal_column columns[4];
    petal_read_options options;
    unsigned family_mask; /* whole families asked, when no column is named */
};

static void
pick_question(struct world *world, struct question *question)
{
    *question = (struct question){.options.size = sizeof question->options};
    question->options.without = (unsigned)below(world, 1u << PETAL_SKIP_COUNT);
    if (below(world, 3) == 0) {
        question->options.has_time_range = true;
        question->options.time_min = (int64_t)below(world, 10);
        question->options.time_limit = question->options.time_min + (int64_t)below(world, 200);
    } else {
        question->options.time_limit = INT64_MAX;
    }
    if (below(world, 2) == 0)
        return;
    question->options.columns = question->columns;
    question->options.column_count = 1 + below(world, 4);
    for (size_t i = 0; i < question->options.column_count; i++)
        question->columns[i] = (petal_column){.family = world->families[below(world, FAMILIES)],
                                              .qualifier = qualifiers[below(world, QUALIFIERS)],
                                              .whole_family = below(world, 6) == 0};
}

static bool
asks(const struct world *world, const struct question *question, unsigned family,
     petal_slice qualifier)
{
    const petal_read_options *options = &question->options;

    if (options->column_count == 0)
        return true;
    for (size_t i = 0; i < options->column_count; i++) {
        const petal_column *column = &options->columns[i];

        if (column->family == world->families[family] &&
            (column->whole_family || slice_equal(column->qualifier, qualifier)))
            return true;
    }
    return false;
}

/* The model's answer for one row: cells by family and qualifier. The arrays above are not sorted, so sort here. */
static size_t
expect_row(const struct world *world, const struct question *question, petal_slice row,
           const struct model_cell **expected)
{
    size_t count = 0;

    for (unsigned family = 0; family < FAMILIES; family++) {
        petal_slice last = {NULL, 0};

        for (int step = 0; step < QUALIFIERS; step++) {
            const petal_slice *next = NULL;
            const struct model_cell *cell;

            for (int q = 0; q < QUALIFIERS; q++) {
                if ((step == 0 || slice_compare(qualifiers[q], last) > 0) &&
                    (next == NULL || slice_compare(qualifiers[q], *next) < 0))
                    next = &qualifiers[q];
            }
            last = *next;
            if (!asks(world, question, family, last))
                continue;
            cell = model_get(&world->model, family, row, last, question->options.time_min,
                             question->options.time_limit);
            if (cell != NULL)
                expected[count++] = cell;
        }
    }
    return count;
}

static void
compare_cell(const petal_cell *got, const struct model_cell *expected)
{
    assert_true(slice_equal(got->row, model_slice(&expected->row)));
    assert_true(slice_equal(got->qualifier, model_slice(&expected->qualifier)));
    assert_true(slice_equal(got->value, model_slice(&expected->value)));
    assert_int_equal(got->timestamp, expected->timestamp);
    assert_int_equal(got->type, PETAL_PUT);
    assert_int_equal(slice_bytes(got->family)[0], "fg"[expected->family]);
}

static void
check_get(struct world *world, petal_result *result)
{
    const struct model_cell *expected[FAMILIES * QUALIFIERS];
    petal_slice row = rows[below(world, ROWS)];
    struct question question;
    petal_error error;
    size_t count;

    pick_question(world, &question);
    count = expect_row(world, &question, row, expected);
    must(petal_get(world->table, row, &question.options, result, &error), &error);
    assert_int_equal(petal_result_count(result), count);
    for (size_t i = 0; i < count; i++)
        compare_cell(petal_result_cell(result, i), expected[i]);
    world->reads++;
}

static int
compare_rows(const void *a, const void *b)
{
    return slice_compare(*(const petal_slice *)a, *(const petal_slice *)b);
}

static void
check_scan(struct world *world)
{
    petal_slice sorted[ROWS];
    petal_scan_options options = {0};
    struct question question;
    petal_cursor *cursor;
    petal_error error;
    const petal_cell *cell;
    uint64_t rows_seen = 0;

    pick_question(world, &question);
    options.read = question.options;
    if (below(world, 2) == 0)
        options.start_row = rows[below(world, ROWS)];
    if (below(world, 2) == 0)
        options.stop_row = rows[below(world, ROWS)];
    options.row_limit = below(world, 4);
    memcpy(sorted, rows, sizeof rows);
    qsort(sorted, ROWS, sizeof *sorted, compare_rows);
    must(petal_cursor_open(world->table, &options, &cursor, &error), &error);
    /* What is written from here on is not seen. */
    for (int r = 0; r < ROWS; r++) {
        const struct model_cell *expected[FAMILIES * QUALIFIERS];
        size_t count;

        if (slice_compare(sorted[r], options.start_row) < 0 ||
            (options.stop_row.size > 0 && slice_compare(sorted[r], options.stop_row) >= 0) ||
            (options.row_limit > 0 && rows_seen == options.row_limit))
            continue;
        count = expect_row(world, &question, sorted[r], expected);
        rows_seen += count > 0;
        for (size_t i = 0; i < count; i++) {
            must(petal_cursor_next(cursor, &cell, &error), &error);
            assert_non_null(cell);
            compare_cell(cell, expected[i]);
        }
    }
    must(petal_cursor_next(cursor, &cell, &error), &error);
    assert_null(cell);
    petal_cursor_close(cursor);
    world->reads++;
}

/* ---- the runs ---- */

static void
reopen(struct world *world)
{
    petal_error error;

    must(petal_close(world->db, &error), &error);
    open_world(world);
    attach_table(world);
}

static void
run_history(struct world *world, unsigned steps)
{
    petal_result *result;
    petal_error error;

    must(petal_result_new(world->db, &result, &error), &error);
    for (unsigned step = 0; step < steps; step++) {
        uint64_t choice = below(world, 100);

        test_clock_advance(&world->clock, 1);
        if (choice < 30) {
            write_one(world);
        } else if (choice < 40) {
            write_batch(world);
        } else if (choice < 44) {
            must(petal_flush(world->db, below(world, 2) == 0 ? world->table : NULL, &error),
                 &error);
        } else if (choice < 46) {
            petal_result_free(result);
            reopen(world);
            must(petal_result_new(world->db, &result, &error), &error);
        } else if (choice < 85) {
            check_get(world, result);
        } else {
            check_scan(world);
        }
    }
    petal_result_free(result);
}

static void
test_history(void **state)
{
    static const enum petal_bloom_type blooms[] = {PETAL_BLOOM_NONE, PETAL_BLOOM_ROW,
                                                   PETAL_BLOOM_ROWCOL, PETAL_BLOOM_ROW_ROWCOL};
    static const size_t caches[] = {PETAL_NO_CACHE, (size_t)64 << 10, (size_t)1 << 20};
    uint64_t seed = test_seed();
    unsigned rounds = test_long() ? 2000 : 60;

    (void)state;
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t b = 0; b < sizeof blooms / sizeof *blooms; b++) {
            struct world world;

            begin(&world, blooms[b], caches[round % 3], round % 2 == 0 ? 1024 : 65536,
                  seed + round * 16 + b);
            run_history(&world, 250);
            end(&world);
        }
    }
}

/* A scan and its seeks see the database as it was when the cursor was opened, whatever is written and flushed meanwhile. */
static void
test_cursor_keeps_its_view(void **state)
{
    struct world world;
    petal_cursor *cursor;
    petal_error error;
    const petal_cell *cell;

    (void)state;
    begin(&world, PETAL_BLOOM_ROWCOL, (size_t)64 << 10, 1024, 3);
    for (int i = 0; i < 40; i++)
        write_one(&world);
    must(petal_cursor_open(world.table, NULL, &cursor, &error), &error);
    for (int pass = 0; pass < 3; pass++) {
        struct question question = {.options.time_limit = INT64_MAX};
        size_t frozen = 40;

        for (int r = 0; r < ROWS; r++) {
            const struct model_cell *expected[FAMILIES * QUALIFIERS];
            size_t now = world.model.count, count;

            world.model.count = frozen;
            count = expect_row(&world, &question, rows[r], expected);
            world.model.count = now;
            if (count == 0)
                continue;
            must(petal_cursor_seek(cursor, rows[r], NULL, slice_make(NULL, 0), &error), &error);
            for (size_t i = 0; i < count; i++) {
                must(petal_cursor_next(cursor, &cell, &error), &error);
                assert_non_null(cell);
                compare_cell(cell, expected[i]);
            }
        }
        for (int i = 0; i < 40; i++) {
            test_clock_advance(&world.clock, 1);
            write_one(&world);
        }
        must(petal_flush(world.db, NULL, &error), &error);
    }
    petal_cursor_close(cursor);
    end(&world);
}

/* Resuming inside a row gives the rest of the row, with what hides it taken into account. */
static void
test_cursor_resumes_inside_rows(void **state)
{
    uint64_t seed = test_seed();

    (void)state;
    for (uint64_t round = 0; round < 60; round++) {
        const struct model_cell *expected[FAMILIES * QUALIFIERS];
        struct question question = {.options.time_limit = INT64_MAX};
        struct world world;
        petal_cursor *cursor;
        petal_error error;
        petal_slice row;
        size_t count;

        begin(&world, PETAL_BLOOM_ROW, (size_t)64 << 10, 1024, seed + round);
        for (int i = 0; i < 60; i++) {
            test_clock_advance(&world.clock, 1);
            write_one(&world);
            if (i % 20 == 19)
                must(petal_flush(world.db, NULL, &error), &error);
        }
        row = rows[round % ROWS];
        count = expect_row(&world, &question, row, expected);
        must(petal_cursor_open(world.table, NULL, &cursor, &error), &error);
        for (size_t from = 0; from < count; from++) {
            must(petal_cursor_seek(cursor, row, world.families[expected[from]->family],
                                   model_slice(&expected[from]->qualifier), &error),
                 &error);
            for (size_t i = from; i < count; i++) {
                const petal_cell *cell;

                must(petal_cursor_next(cursor, &cell, &error), &error);
                assert_non_null(cell);
                compare_cell(cell, expected[i]);
            }
        }
        petal_cursor_close(cursor);
        end(&world);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_cursor_keeps_its_view),
        cmocka_unit_test(test_cursor_resumes_inside_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
