/*
 * threads_test.c -- writers, readers, a flusher, a compactor and a maker of tables at work at once,
 * with memtables and a cache so small that everything turns over. Each batch writes one number to
 * all columns of its writer's rows, over two tables and three families: a reader must see it
 * everywhere or nowhere, and never see a number go back. Meant for ThreadSanitizer, too; so the
 * surroundings are the library's own, which order nothing between threads.
 */

#include "base/slice.h"
#include "engine/state/db.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WRITERS         3
#define GETTERS         2
#define SCANNERS        2
#define ROWS_PER_WRITER 2
#define QUALIFIERS      2
#define MOST_FLUSHES    250 /* of one database */
#define FILLER          300

struct arena {
    petal_db *db;
    petal_table *left, *right;
    petal_family *families[3];           /* two of left, one of right */
    _Atomic(petal_family *) passing;     /* of a table that comes and goes; NULL at first */
    _Atomic(uint64_t) finished[WRITERS]; /* the last number whose write has returned */
    _Atomic(bool) stop;
    _Atomic(uint64_t) faults, batches, reads, tables, refused, compactions;
};

struct worker {
    pthread_t thread;
    struct arena *arena;
    unsigned index;
};

/* Threads cannot fail a test: they count faults, and the main thread looks. */
static void
fault(struct arena *arena, const char *what, uint64_t found, uint64_t expected)
{
    if (atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "%s: %" PRIu64 ", expected %" PRIu64 "\n", what, found, expected);
}

static void
expect_ok(struct arena *arena, enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK && atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "%s: %s\n", petal_status_text(status), error->text);
}

static bool
goes_on(struct arena *arena)
{
    return !atomic_load_explicit(&arena->stop, memory_order_relaxed);
}

/* ---- values: a number, its writer, and filler that follows from both ---- */

struct value {
    uint64_t number, writer, check;
    uint8_t filler[FILLER];
};

static uint64_t
check_of(uint64_t number, uint64_t writer)
{
    return (number * 0x9E3779B97F4A7C15u) ^ (writer * 0xBF58476D1CE4E5B9u);
}

static void
make_value(struct value *value, uint64_t number, unsigned writer)
{
    value->number = number;
    value->writer = writer;
    value->check = check_of(number, writer);
    memset(value->filler, (int)(number & 0xff), sizeof value->filler);
}

static uint64_t
number_of(struct arena *arena, const petal_cell *cell, unsigned writer)
{
    struct value value;

    if (cell->value.size != sizeof value) {
        fault(arena, "bytes of a value", cell->value.size, sizeof value);
        return 0;
    }
    memcpy(&value, cell->value.data, sizeof value);
    if (value.writer != writer || value.check != check_of(value.number, writer) ||
        value.filler[0] != (value.number & 0xff) ||
        value.filler[FILLER - 1] != (value.number & 0xff))
        fault(arena, "a value of another writer or torn", value.writer, writer);
    return value.number;
}

static petal_slice
row_of(char text[8], unsigned writer, unsigned row)
{
    return slice_make(text, (size_t)snprintf(text, 8, "w%u.%u", writer, row));
}

static petal_slice
qualifier_of(unsigned qualifier)
{
    return slice_from_text(qualifier == 0 ? "p" : "q");
}

/* ---- writers ---- */

static void
fill_batch(struct arena *arena, petal_batch *batch, unsigned writer, uint64_t number)
{
    struct value value;
    petal_error error = {0};
    char text[8];

    make_value(&value, number, writer);
    petal_batch_clear(batch);
    for (unsigned family = 0; family < 3; family++) {
        for (unsigned r = 0; r < ROWS_PER_WRITER; r++) {
            petal_slice row = row_of(text, writer, r);

            /* The row goes and comes back in one batch: nobody may see it gone. */
            if (number % 5 == 0)
                expect_ok(arena,
                          petal_batch_delete(batch, arena->families[family], row,
                                             slice_make(NULL, 0), PETAL_LATEST, PETAL_DELETE_FAMILY,
                                             &error),
                          &error);
            for (unsigned q = 0; q < QUALIFIERS; q++)
                expect_ok(arena,
                          petal_batch_put(batch, arena->families[family], row, qualifier_of(q),
                                          PETAL_LATEST, slice_make(&value, sizeof value), &error),
                          &error);
        }
    }
}

/* A batch that also writes to the table that comes and goes may be refused, and is then refused
 * whole. */
static bool
write_with_passing(struct arena *arena, petal_batch *batch)
{
    petal_family *passing = atomic_load_explicit(&arena->passing, memory_order_acquire);
    petal_error error = {0};
    enum petal_status status = PETAL_NOT_FOUND;

    if (passing != NULL)
        status = petal_batch_put(batch, passing, slice_from_text("row"), slice_make(NULL, 0),
                                 PETAL_LATEST, slice_from_text("value"), &error);
    if (status == PETAL_OK)
        status = petal_write(arena->db, batch, NULL, &error);
    if (status != PETAL_NOT_FOUND)
        expect_ok(arena, status, &error);
    else
        atomic_fetch_add_explicit(&arena->refused, 1, memory_order_relaxed);
    return status == PETAL_OK;
}

static uint64_t read_number(struct arena *arena, petal_table *table, petal_result *result,
                            unsigned writer, unsigned row, size_t expected_cells);

static void *
writer_thread(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    uint64_t number = 0;
    petal_result *result;
    petal_batch *batch;
    petal_error error = {0};

    expect_ok(arena, petal_batch_new(arena->db, &batch, &error), &error);
    expect_ok(arena, petal_result_new(arena->db, &result, &error), &error);
    while (goes_on(arena)) {
        fill_batch(arena, batch, worker->index, ++number);
        if (number % 7 == 0) {
            if (!write_with_passing(arena, batch)) {
                uint64_t seen = read_number(arena, arena->left, result, worker->index, 0, 4);

                if (seen != --number)
                    fault(arena, "a refused batch is seen", seen, number);
                fill_batch(arena, batch, worker->index, ++number);
                expect_ok(arena, petal_write(arena->db, batch, NULL, &error), &error);
            }
        } else {
            expect_ok(arena, petal_write(arena->db, batch, NULL, &error), &error);
        }
        atomic_store_explicit(&arena->finished[worker->index], number, memory_order_release);
        atomic_fetch_add_explicit(&arena->batches, 1, memory_order_relaxed);
    }
    petal_batch_free(batch);
    petal_result_free(result);
    return NULL;
}

/* ---- readers ---- */

/* The number in a writer's row, 0 if there is none; faults when its cells differ or some are
 * missing. */
static uint64_t
read_number(struct arena *arena, petal_table *table, petal_result *result, unsigned writer,
            unsigned row, size_t expected_cells)
{
    uint64_t number = 0;
    petal_error error = {0};
    char text[8];

    expect_ok(arena, petal_get(table, row_of(text, writer, row), NULL, result, &error), &error);
    for (size_t i = 0; i < petal_result_count(result); i++) {
        uint64_t found = number_of(arena, petal_result_cell(result, i), writer);

        if (i > 0 && found != number)
            fault(arena, "half a batch in a get", found, number);
        number = found;
    }
    if (petal_result_count(result) != 0 && petal_result_count(result) != expected_cells)
        fault(arena, "cells of a row", petal_result_count(result), expected_cells);
    return number;
}

/* One table after the other: what the first showed, the second shows or something newer. */
static void *
getter_thread(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    uint64_t last[WRITERS] = {0};
    petal_result *result;
    petal_error error = {0};

    expect_ok(arena, petal_result_new(arena->db, &result, &error), &error);
    for (uint64_t turn = worker->index; goes_on(arena); turn++) {
        unsigned writer = (unsigned)(turn % WRITERS), row = (unsigned)(turn / WRITERS % 2);
        bool left_first = turn % 2 == 0;
        uint64_t finished = atomic_load_explicit(&arena->finished[writer], memory_order_acquire);
        uint64_t first = read_number(arena, left_first ? arena->left : arena->right, result, writer,
                                     row, left_first ? 4 : 2);
        uint64_t second = read_number(arena, left_first ? arena->right : arena->left, result,
                                      writer, 1 - row, left_first ? 2 : 4);

        if (finished > last[writer])
            last[writer] = finished;
        if (first < last[writer])
            fault(arena, "a number went back", first, last[writer]);
        if (second < first)
            fault(arena, "the other table is older", second, first);
        last[writer] = second;
        atomic_fetch_add_explicit(&arena->reads, 1, memory_order_relaxed);
    }
    petal_result_free(result);
    return NULL;
}

/* A cursor sees all rows and families of a table at one moment. */
static void
scan_once(struct arena *arena, petal_table *table, size_t families, uint64_t last[WRITERS])
{
    uint64_t numbers[WRITERS] = {0};
    size_t cells[WRITERS] = {0};
    const petal_cell *cell;
    petal_cursor *cursor;
    petal_error error = {0};

    expect_ok(arena, petal_cursor_open(table, NULL, &cursor, &error), &error);
    while (cursor != NULL) {
        unsigned writer;
        uint64_t number;
        enum petal_status status = petal_cursor_next(cursor, &cell, &error);

        expect_ok(arena, status, &error);
        if (status != PETAL_OK || cell == NULL)
            break;
        writer = slice_bytes(cell->row)[1] - (unsigned)'0';
        number = number_of(arena, cell, writer);
        if (cells[writer]++ > 0 && number != numbers[writer])
            fault(arena, "half a batch in a scan", number, numbers[writer]);
        numbers[writer] = number;
    }
    petal_cursor_close(cursor);
    for (unsigned w = 0; w < WRITERS; w++) {
        size_t whole = families * ROWS_PER_WRITER * QUALIFIERS;

        if (cells[w] != 0 && cells[w] != whole)
            fault(arena, "cells of a writer in a scan", cells[w], whole);
        if (numbers[w] < last[w])
            fault(arena, "a number went back in a scan", numbers[w], last[w]);
        last[w] = numbers[w];
    }
}

static void *
scanner_thread(void *argument)
{
    struct worker *worker = argument;
    struct arena *arena = worker->arena;
    uint64_t left[WRITERS] = {0}, right[WRITERS] = {0};

    while (goes_on(arena)) {
        scan_once(arena, arena->left, 2, left);
        scan_once(arena, arena->right, 1, right);
        atomic_fetch_add_explicit(&arena->reads, 1, memory_order_relaxed);
    }
    return NULL;
}

/* ---- flushes and tables ---- */

static bool
count_file(void *argument, const petal_file_info *file)
{
    *(uint64_t *)argument += file->cells;
    return true;
}

static void *
flusher_thread(void *argument)
{
    struct arena *arena = ((struct worker *)argument)->arena;
    petal_error error = {0};
    petal_stats stats;

    for (unsigned turn = 0; goes_on(arena); turn++) {
        petal_table *const tables[] = {arena->left, arena->right, NULL};
        struct timespec pause = {0, 20000000};
        uint64_t cells = 0;

        expect_ok(arena, petal_flush(arena->db, tables[turn % 3], &error), &error);
        expect_ok(arena, petal_table_files(arena->left, count_file, &cells, &error), &error);
        petal_table_memtable_bytes(arena->right);
        petal_stats_get(arena->db, &stats);
        if (stats.flushes > MOST_FLUSHES)
            atomic_store_explicit(&arena->stop, true, memory_order_relaxed);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Compactions of all tables, one of which comes and goes; now and then under a snapshot. */
static void *
compactor_thread(void *argument)
{
    struct arena *arena = ((struct worker *)argument)->arena;
    petal_error error = {0};

    for (unsigned turn = 0; goes_on(arena); turn++) {
        petal_family *passing = atomic_load_explicit(&arena->passing, memory_order_acquire);
        struct timespec pause = {0, 5000000};
        petal_snapshot *snapshot = NULL;
        enum petal_status status;

        if (turn % 2 == 0)
            expect_ok(arena, petal_snapshot_new(arena->db, &snapshot, &error), &error);
        expect_ok(arena, petal_compact(arena->left, arena->families[turn % 2], &error), &error);
        expect_ok(arena, petal_compact(arena->right, NULL, &error), &error);
        if (passing != NULL) {
            status = petal_compact(passing->table, passing, &error);
            if (status != PETAL_NOT_FOUND)
                expect_ok(arena, status, &error);
        }
        petal_snapshot_free(snapshot);
        atomic_fetch_add_explicit(&arena->compactions, 1, memory_order_relaxed);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* A cursor that was open when its table was dropped goes on. */
static void
read_dropped(struct arena *arena, petal_cursor *cursor)
{
    const petal_cell *cell;
    petal_error error = {0};
    uint64_t cells = 0;

    do {
        expect_ok(arena, petal_cursor_next(cursor, &cell, &error), &error);
        cells += cell != NULL;
    } while (cell != NULL);
    if (cells < 1)
        fault(arena, "cells of a dropped table", cells, 1);
}

static void *
tables_thread(void *argument)
{
    struct arena *arena = ((struct worker *)argument)->arena;
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("passing"), .families = &family, .family_count = 1};
    petal_error error = {0};

    for (unsigned turn = 0; goes_on(arena); turn++) {
        struct timespec pause = {0, 2000000};
        petal_cursor *cursor;
        petal_table *table;
        enum petal_status status = petal_table_create(arena->db, &options, &table, &error);

        expect_ok(arena, status, &error);
        if (status != PETAL_OK)
            break;
        expect_ok(arena,
                  petal_put(petal_table_family_at(table, 0), slice_from_text("own"),
                            slice_make(NULL, 0), PETAL_LATEST, slice_from_text("x"), NULL, &error),
                  &error);
        atomic_store_explicit(&arena->passing, petal_table_family_at(table, 0),
                              memory_order_release);
        nanosleep(&pause, NULL);
        if (turn % 2 == 0)
            expect_ok(arena, petal_flush(arena->db, table, &error), &error);
        expect_ok(arena, petal_cursor_open(table, NULL, &cursor, &error), &error);
        expect_ok(arena, petal_table_drop(table, &error), &error);
        if (cursor != NULL)
            read_dropped(arena, cursor);
        petal_cursor_close(cursor);
        atomic_fetch_add_explicit(&arena->tables, 1, memory_order_relaxed);
    }
    return NULL;
}

/* ---- the test ---- */

static void
open_arena(struct arena *arena, const char *directory)
{
    petal_options options = {.create = true,
                             .cache_bytes = (size_t)64 << 10,
                             .memtable_bytes = (size_t)256 << 10,
                             .log_sync_interval_ms = 10};
    petal_family_options families[2] = {
        {.name = slice_from_text("f"), .block_bytes = 1024, .bloom = PETAL_BLOOM_ROWCOL},
        {.name = slice_from_text("g"), .block_bytes = 1024}};
    petal_table_options left = {
        .name = slice_from_text("left"), .families = families, .family_count = 2};
    petal_table_options right = {
        .name = slice_from_text("right"), .families = families, .family_count = 1};
    petal_error error;

    assert_int_equal(petal_open(directory, &options, &arena->db, &error), PETAL_OK);
    assert_int_equal(petal_table_create(arena->db, &left, &arena->left, &error), PETAL_OK);
    assert_int_equal(petal_table_create(arena->db, &right, &arena->right, &error), PETAL_OK);
    arena->families[0] = petal_table_family_at(arena->left, 0);
    arena->families[1] = petal_table_family_at(arena->left, 1);
    arena->families[2] = petal_table_family_at(arena->right, 0);
}

static void
start(struct worker *worker, struct arena *arena, unsigned index, void *(*run)(void *))
{
    *worker = (struct worker){.arena = arena, .index = index};
    assert_int_equal(pthread_create(&worker->thread, NULL, run, worker), 0);
}

static void
check_end(struct arena *arena, const char *directory)
{
    petal_result *result;
    petal_error error;

    assert_int_equal(petal_table_verify(arena->left, &error), PETAL_OK);
    assert_int_equal(petal_table_verify(arena->right, &error), PETAL_OK);
    assert_int_equal(petal_close(arena->db, &error), PETAL_OK);
    assert_int_equal(petal_open(directory, NULL, &arena->db, &error), PETAL_OK);
    assert_int_equal(petal_table_open(arena->db, slice_from_text("right"), &arena->right, &error),
                     PETAL_OK);
    assert_int_equal(petal_result_new(arena->db, &result, &error), PETAL_OK);
    for (unsigned w = 0; w < WRITERS; w++)
        assert_int_equal(read_number(arena, arena->right, result, w, 0, 2),
                         atomic_load(&arena->finished[w]));
    petal_result_free(result);
    assert_int_equal(petal_close(arena->db, &error), PETAL_OK);
}

static int64_t
now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void
run_arena(struct arena *arena, int64_t until_ms)
{
    struct worker workers[WRITERS + GETTERS + SCANNERS + 4];
    char *directory = test_directory_new();
    size_t count = 0;

    *arena = (struct arena){0};
    open_arena(arena, directory);
    for (unsigned i = 0; i < WRITERS; i++)
        start(&workers[count++], arena, i, writer_thread);
    for (unsigned i = 0; i < GETTERS; i++)
        start(&workers[count++], arena, i, getter_thread);
    for (unsigned i = 0; i < SCANNERS; i++)
        start(&workers[count++], arena, i, scanner_thread);
    start(&workers[count++], arena, 0, flusher_thread);
    start(&workers[count++], arena, 0, tables_thread);
    for (unsigned i = 0; i < 2; i++)
        start(&workers[count++], arena, i, compactor_thread);
    while (goes_on(arena) && now_ms() < until_ms) {
        struct timespec pause = {0, 10000000};

        nanosleep(&pause, NULL);
    }
    atomic_store(&arena->stop, true);
    while (count > 0)
        pthread_join(workers[--count].thread, NULL);
    assert_int_equal(atomic_load(&arena->faults), 0);
    check_end(arena, directory);
    assert_int_equal(atomic_load(&arena->faults), 0);
    test_directory_free(directory);
}

TEST(test_threads_see_whole_batches)
{
    int64_t until = now_ms() + (test_long() ? 60000 : 3000);
    uint64_t batches = 0, reads = 0, tables = 0, refused = 0, compactions = 0;
    unsigned databases = 0;
    struct arena arena;

    do {
        run_arena(&arena, until);
        batches += atomic_load(&arena.batches);
        reads += atomic_load(&arena.reads);
        tables += atomic_load(&arena.tables);
        refused += atomic_load(&arena.refused);
        compactions += atomic_load(&arena.compactions);
        databases++;
    } while (now_ms() < until);
    print_message("%u databases, %" PRIu64 " batches, %" PRIu64 " reads, %" PRIu64
                  " tables made and dropped, %" PRIu64 " batches refused, %" PRIu64
                  " rounds of compactions\n",
                  databases, batches, reads, tables, refused, compactions);
    assert_true(batches > 0 && reads > 0 && tables > 0 && compactions > 0);
}
