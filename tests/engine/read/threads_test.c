/*
 * threads_test.c -- readers of every kind beside a writer, flushes and compactions that never rest.
 * Each batch writes one number to all rows of two families: whatever way it is read, a moment has
 * one number in all of them; and what a snapshot answers does not change. Meant for
 * ThreadSanitizer, too.
 */

#include "base/slice.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#define ROWS         12
#define CELLS        4 /* of a row: two families of two columns */
#define FILLER       250
#define MOST_FLUSHES 300

struct arena {
    petal_db *db;
    petal_table *table;
    petal_family *families[2];
    petal_filter *filter;
    _Atomic(uint64_t) finished; /* the last number whose write has returned */
    _Atomic(bool) stop;
    _Atomic(uint64_t) faults, reads[8];
};

static const char *const row_names[ROWS] = {"a", "b",  "c",  "ca", "cb", "cc",
                                            "d", "da", "db", "e",  "f",  "\xff\xff"};

/* Threads cannot fail a test: they count faults, and the main thread looks. */
static void
fault(struct arena *arena, const char *what, uint64_t found, uint64_t expected)
{
    if (atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "%s: %" PRIu64 ", expected %" PRIu64 "\n", what, found, expected);
}

static bool
is_ok(struct arena *arena, enum petal_status status, const petal_error *error)
{
    if (status != PETAL_OK && atomic_fetch_add(&arena->faults, 1) < 5)
        fprintf(stderr, "%s: %s\n", petal_status_text(status), error->text);
    return status == PETAL_OK;
}

static bool
goes_on(struct arena *arena)
{
    return !atomic_load_explicit(&arena->stop, memory_order_relaxed);
}

/* ---- the writer ---- */

struct value {
    uint64_t number;
    uint8_t filler[FILLER];
};

static bool
fill_batch(struct arena *arena, petal_batch *batch, uint64_t number)
{
    struct value value = {.number = number};
    petal_error error = {0};
    bool good = true;

    memset(value.filler, (int)(number & 0xff), sizeof value.filler);
    petal_batch_clear(batch);
    for (unsigned i = 0; good && i < ROWS * 2; i++) {
        petal_family *family = arena->families[i % 2];
        petal_slice row = slice_from_text(row_names[i / 2]);

        if (number % 4 == 0)
            good = is_ok(arena,
                         petal_batch_delete(batch, family, row, slice_make(NULL, 0), PETAL_LATEST,
                                            PETAL_DELETE_FAMILY, &error),
                         &error);
        for (unsigned q = 0; good && q < 2; q++)
            good = is_ok(arena,
                         petal_batch_put(batch, family, row, slice_from_text(q == 0 ? "" : "q"),
                                         PETAL_LATEST, slice_make(&value, sizeof value), &error),
                         &error);
    }
    return good;
}

static void *
writer_thread(void *argument)
{
    struct arena *arena = argument;
    petal_batch *batch;
    petal_error error = {0};
    uint64_t number = atomic_load(&arena->finished);

    if (!is_ok(arena, petal_batch_new(arena->db, &batch, &error), &error))
        return NULL;
    while (goes_on(arena)) {
        if (!fill_batch(arena, batch, ++number) ||
            !is_ok(arena, petal_write(arena->db, batch, NULL, &error), &error))
            break;
        atomic_store_explicit(&arena->finished, number, memory_order_release);
    }
    petal_batch_free(batch);
    return NULL;
}

/* ---- what a read saw ---- */

struct sight {
    uint64_t number, cells, hash;
    bool torn;
};

static void
add_to_hash(struct sight *sight, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sight->hash = (sight->hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001B3u;
}

static void
look_at(struct sight *sight, const petal_cell *cell)
{
    struct value value;

    if (cell->type != PETAL_PUT)
        return;
    if (cell->value.size != sizeof value) {
        sight->torn = true;
        return;
    }
    memcpy(&value, cell->value.data, sizeof value);
    sight->torn = sight->torn || value.filler[0] != (value.number & 0xff) ||
                  (sight->cells > 0 && value.number != sight->number);
    sight->number = value.number;
    sight->cells++;
    add_to_hash(sight, cell->row.data, cell->row.size);
    add_to_hash(sight, cell->family.data, cell->family.size);
    add_to_hash(sight, &cell->timestamp, sizeof cell->timestamp);
    add_to_hash(sight, &value, sizeof value);
}

static void
look_at_result(struct sight *sight, const petal_result *result)
{
    for (size_t i = 0; i < petal_result_count(result); i++)
        look_at(sight, petal_result_cell(result, i));
}

/* ---- ways to read ---- */

enum way {
    BY_GET,
    BY_PAGE,
    BY_MULTI_GET,
    BY_SCAN,
    BY_REVERSED_SCAN,
    BY_PIECES,
    BY_RAW_SCAN,
    BY_SEEKS,
    WAYS
};

static const unsigned cells_of_way[WAYS] = {CELLS,       2,           CELLS *ROWS, CELLS *ROWS,
                                            CELLS *ROWS, CELLS *ROWS, CELLS *ROWS, CELLS + 1};

struct reader {
    struct arena *arena;
    petal_result *results[ROWS];
    petal_receipt *receipt; /* of every other get: counts the cells of memtables being written */
    uint64_t turn;
};

static bool
read_rows(struct reader *reader, enum way way, const petal_snapshot *snapshot, struct sight *sight)
{
    struct arena *arena = reader->arena;
    petal_read_options options = {.snapshot = snapshot};
    petal_slice rows[ROWS];
    petal_error error = {0};
    enum petal_status status;
    size_t count = way == BY_MULTI_GET ? ROWS : 1;

    for (unsigned i = 0; i < ROWS; i++)
        rows[i] =
            slice_from_text(row_names[(i * 5 + (way == BY_MULTI_GET ? 0 : reader->turn)) % ROWS]);
    if (reader->turn / WAYS % 2 == 1)
        options.receipt = reader->receipt;
    if (way == BY_PAGE) {
        options.filter = arena->filter;
        options.family_cell_limit = 1;
    }
    status = way == BY_MULTI_GET
                 ? petal_multi_get(arena->table, rows, count, &options, reader->results, &error)
                 : petal_get(arena->table, rows[0], &options, reader->results[0], &error);
    for (size_t i = 0; i < count; i++)
        look_at_result(sight, reader->results[i]);
    return is_ok(arena, status, &error);
}

/* Into the middle of a row: its last cell; and back to its beginning. */
static bool
seek_row(struct reader *reader, petal_cursor *cursor, struct sight *sight)
{
    struct arena *arena = reader->arena;
    petal_slice row = slice_from_text(row_names[reader->turn % ROWS]);

    for (int whole = 0; whole < 2; whole++) {
        petal_error error = {0};

        if (!is_ok(arena,
                   petal_cursor_seek(cursor, row, whole ? NULL : arena->families[1],
                                     slice_from_text("q"), &error),
                   &error) ||
            !is_ok(arena, petal_cursor_next_row(cursor, reader->results[0], &error), &error))
            return false;
        look_at_result(sight, reader->results[0]);
    }
    return true;
}

static bool
walk_rows(struct reader *reader, petal_cursor *cursor, enum way way, struct sight *sight)
{
    struct arena *arena = reader->arena;
    petal_error error = {0};
    uint64_t cells;

    do {
        const petal_cell *cell = NULL;

        cells = sight->cells;
        if (way == BY_PIECES) {
            if (!is_ok(arena, petal_cursor_next_row(cursor, reader->results[0], &error), &error))
                return false;
            look_at_result(sight, reader->results[0]);
            continue;
        }
        do {
            if (!is_ok(arena, petal_cursor_next(cursor, &cell, &error), &error))
                return false;
        } while (cell != NULL && cell->type != PETAL_PUT);
        if (cell != NULL)
            look_at(sight, cell);
    } while (sight->cells > cells);
    return true;
}

static bool
read_by_cursor(struct reader *reader, enum way way, const petal_snapshot *snapshot,
               struct sight *sight)
{
    struct arena *arena = reader->arena;
    petal_scan_options scan = {.read.snapshot = snapshot,
                               .reversed = way == BY_REVERSED_SCAN ||
                                           (way >= BY_RAW_SCAN && reader->turn % 2 == 0),
                               .raw = way == BY_RAW_SCAN,
                               .batch = way == BY_PIECES ? 3 : 0};
    petal_cursor *cursor;
    petal_error error = {0};
    bool good = is_ok(arena, petal_cursor_open(arena->table, &scan, &cursor, &error), &error);

    if (good)
        good = way == BY_SEEKS ? seek_row(reader, cursor, sight)
                               : walk_rows(reader, cursor, way, sight);
    petal_cursor_close(cursor);
    return good;
}

static bool
read_once(struct reader *reader, enum way way, const petal_snapshot *snapshot, struct sight *sight)
{
    *sight = (struct sight){0};
    if (way <= BY_MULTI_GET ? !read_rows(reader, way, snapshot, sight)
                            : !read_by_cursor(reader, way, snapshot, sight))
        return false;
    if (sight->torn)
        fault(reader->arena, "half a batch, way", (uint64_t)way, sight->number);
    if (sight->cells != cells_of_way[way])
        fault(reader->arena, "cells", sight->cells, cells_of_way[way]);
    atomic_fetch_add_explicit(&reader->arena->reads[way], 1, memory_order_relaxed);
    return true;
}

/* ---- readers ---- */

static bool
begin_reader(struct reader *reader, struct arena *arena)
{
    petal_error error = {0};
    bool good = true;

    *reader = (struct reader){.arena = arena};
    for (unsigned i = 0; good && i < ROWS; i++)
        good = is_ok(arena, petal_result_new(arena->db, &reader->results[i], &error), &error);
    return good && is_ok(arena, petal_receipt_new(arena->db, &reader->receipt, &error), &error);
}

static void
end_reader(struct reader *reader)
{
    for (unsigned i = 0; i < ROWS; i++)
        petal_result_free(reader->results[i]);
    petal_receipt_free(reader->receipt);
}

/* Numbers never go back, from one way to the next. */
static void *
reader_thread(void *argument)
{
    struct arena *arena = argument;
    struct reader reader;
    uint64_t last = 0;
    bool good = begin_reader(&reader, arena);

    for (; good && goes_on(arena); reader.turn++) {
        uint64_t finished = atomic_load_explicit(&arena->finished, memory_order_acquire);
        struct sight sight;

        good = read_once(&reader, (enum way)(reader.turn % WAYS), NULL, &sight);
        last = finished > last ? finished : last;
        if (good && sight.number < last)
            fault(arena, "a number went back", sight.number, last);
        last = sight.number;
    }
    end_reader(&reader);
    return NULL;
}

/* Each way once, and later again: the same number, bit by bit the same answer. */
static void *
snapshot_thread(void *argument)
{
    struct arena *arena = argument;
    struct reader reader;
    bool good = begin_reader(&reader, arena);

    while (good && goes_on(arena)) {
        struct sight first[WAYS];
        petal_snapshot *snapshot;
        petal_error error = {0};

        good = is_ok(arena, petal_snapshot_new(arena->db, &snapshot, &error), &error);
        for (unsigned i = 0; good && i < 3 * WAYS; i++) {
            struct sight sight;
            enum way way = (enum way)(i % WAYS);
            struct timespec pause = {0, 1000000};

            good = read_once(&reader, way, snapshot, &sight);
            if (i < WAYS)
                first[way] = sight;
            if (good && (sight.hash != first[way].hash || sight.number != first[0].number))
                fault(arena, "a snapshot changed", sight.number, first[0].number);
            nanosleep(&pause, NULL);
        }
        petal_snapshot_free(snapshot);
        reader.turn++;
    }
    end_reader(&reader);
    return NULL;
}

/* False until each way has had a turn, on however busy a machine; a fault ends the waiting. */
static bool
all_ways_were_read(struct arena *arena)
{
    for (unsigned way = 0; way < WAYS; way++) {
        if (atomic_load(&arena->reads[way]) == 0)
            return atomic_load(&arena->faults) > 0;
    }
    return true;
}

static void *
mover_thread(void *argument)
{
    struct arena *arena = argument;
    petal_error error = {0};
    petal_stats stats = {0};

    for (unsigned turn = 0;
         goes_on(arena) && (stats.flushes < MOST_FLUSHES || !all_ways_were_read(arena)); turn++) {
        struct timespec pause = {0, 3000000};

        is_ok(arena, petal_flush(arena->db, NULL, &error), &error);
        if (turn % 3 == 2)
            is_ok(arena, petal_compact(arena->table, turn % 2 ? arena->families[0] : NULL, &error),
                  &error);
        petal_stats_get(arena->db, &stats);
        nanosleep(&pause, NULL);
    }
    atomic_store(&arena->stop, true);
    return NULL;
}

/* ---- the test ---- */

static void
open_arena(struct arena *arena, const char *directory)
{
    petal_options options = {
        .create = true, .cache_bytes = (size_t)64 << 10, .memtable_bytes = (size_t)128 << 10};
    petal_family_options families[2] = {
        {.name = slice_from_text("f"), .block_bytes = 1024, .versions = 2},
        {.name = slice_from_text("g"), .block_bytes = 2048, .bloom = PETAL_BLOOM_ROW_ROWCOL}};
    petal_table_options table = {
        .name = slice_from_text("t"), .families = families, .family_count = 2};
    petal_batch *batch;
    petal_error error;

    *arena = (struct arena){0};
    assert_int_equal(petal_open(directory, &options, &arena->db, &error), PETAL_OK);
    assert_int_equal(petal_table_create(arena->db, &table, &arena->table, &error), PETAL_OK);
    arena->families[0] = petal_table_family_at(arena->table, 0);
    arena->families[1] = petal_table_family_at(arena->table, 1);
    assert_int_equal(petal_filter_parse(arena->db, slice_from_text("ColumnPrefixFilter('q')"),
                                        &arena->filter, &error),
                     PETAL_OK);
    assert_int_equal(petal_batch_new(arena->db, &batch, &error), PETAL_OK);
    assert_true(fill_batch(arena, batch, 1));
    assert_int_equal(petal_write(arena->db, batch, NULL, &error), PETAL_OK);
    petal_batch_free(batch);
    atomic_store(&arena->finished, 1);
}

TEST(test_readers_of_every_kind)
{
    static void *(*const work[])(void *) = {writer_thread, reader_thread, reader_thread,
                                            snapshot_thread, mover_thread};
    enum { THREADS = sizeof work / sizeof *work };
    struct timespec pause = {test_long() ? 30 : 2, 0};
    char *directory = test_directory_new();
    pthread_t threads[THREADS];
    struct arena arena;
    petal_error error;

    open_arena(&arena, directory);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work[i], &arena), 0);
    nanosleep(&pause, NULL);
    while (goes_on(&arena) && !all_ways_were_read(&arena))
        sched_yield();
    atomic_store(&arena.stop, true);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&arena.faults), 0);
    print_message("%" PRIu64 " batches, %" PRIu64 " gets\n", atomic_load(&arena.finished),
                  atomic_load(&arena.reads[BY_GET]));
    assert_int_equal(petal_table_verify(arena.table, &error), PETAL_OK);
    petal_filter_free(arena.filter);
    assert_int_equal(petal_close(arena.db, &error), PETAL_OK);
    test_directory_free(directory);
}
