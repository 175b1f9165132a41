/*
 * rows.c -- scenarios of rows over two families: a writer gives all columns of a row one number, by
 * a batch or a bulk, while the memtables of one family or of both are frozen, flushed and
 * compacted.  Whoever reads the row, however, finds one number in all columns, and never a lower
 * one than before.
 */
#include "tests/schedule/scenario.h"

#include "base/slice.h"
#include "tests/disk/vfs.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ROWS     2
#define FAMILIES 2
#define READERS  2
#define WRITES   3
#define TENDINGS 2
#define READINGS 3

static struct {
    petal_env env;
    petal_db *db;
    petal_table *table;
    petal_family *families[FAMILIES];
    bool bulks;
} life;

static const char *const row_names[ROWS] = {"a", "b"};

static void
must(enum petal_status status, const petal_error *error)
{
    if (status == PETAL_OK)
        return;
    fprintf(stderr, "%s: %s\n", petal_status_text(status), error->text);
    schedule_fail(__FILE__, __LINE__, "a call has failed");
}

/* ---- writing ---- */

static void
write_batch(const char *number, int64_t timestamp)
{
    petal_batch *batch;
    petal_error error;

    must(petal_batch_new(life.db, &batch, &error), &error);
    for (unsigned r = 0; r < ROWS; r++)
        for (unsigned f = 0; f < FAMILIES; f++)
            must(petal_batch_put(batch, life.families[f], slice_from_text(row_names[r]),
                                 slice_from_text("q"), timestamp, slice_from_text(number), &error),
                 &error);
    must(petal_write(life.db, batch, NULL, &error), &error);
    petal_batch_free(batch);
}

static void
load_bulk(const char *number, int64_t timestamp)
{
    petal_bulk *bulk;
    petal_error error;

    must(petal_bulk_begin(life.table, NULL, &bulk, &error), &error);
    for (unsigned r = 0; r < ROWS; r++) {
        for (unsigned f = 0; f < FAMILIES; f++) {
            petal_cell cell = {.row = slice_from_text(row_names[r]),
                               .qualifier = slice_from_text("q"),
                               .timestamp = timestamp,
                               .type = PETAL_PUT,
                               .value = slice_from_text(number)};

            must(petal_bulk_add(bulk, life.families[f], &cell, &error), &error);
        }
    }
    must(petal_bulk_commit(bulk, &error), &error);
    petal_bulk_free(bulk);
}

/* All of one timestamp, so that the order of the writes alone decides. */
static void *
write_numbers(void *unused)
{
    for (unsigned number = 1; number <= WRITES; number++) {
        char text[2] = {(char)('0' + number), '\0'};

        if (life.bulks && schedule_random(2) == 0)
            load_bulk(text, 100);
        else
            write_batch(text, 100);
    }
    return unused;
}

/* A cell that nobody reads has its family frozen, also where the other has nothing in memory. */
static void *
tend(void *unused)
{
    for (unsigned i = 0; i < TENDINGS; i++) {
        petal_error error;

        must(petal_put(life.families[schedule_random(FAMILIES)], slice_from_text("c"),
                       slice_from_text("q"), 100, slice_from_text("x"), NULL, &error),
             &error);
        must(petal_flush(life.db, life.table, &error), &error);
        if (schedule_random(8) == 0)
            must(petal_compact(life.table, NULL, &error), &error);
    }
    return unused;
}

/* ---- reading ---- */

/* The cells of the rows from `first` on, by a get, a multi-get or a cursor: all families of all
 * rows, or of the one that is got. */
struct reading {
    unsigned cells;
    char number;
};

static void
note(struct reading *reading, const petal_cell *cell)
{
    if (slice_equal(cell->row, slice_from_text("c")))
        return;
    schedule_check(cell->value.size == 1);
    if (reading->cells++ == 0)
        reading->number = *(const char *)cell->value.data;
    schedule_check(reading->number == *(const char *)cell->value.data);
}

static void
note_result(struct reading *reading, const petal_result *result)
{
    for (size_t i = 0; i < petal_result_count(result); i++)
        note(reading, petal_result_cell(result, i));
}

static void
get(const petal_read_options *options, petal_result *const *results, struct reading *reading)
{
    petal_error error;

    must(petal_get(life.table, slice_from_text(row_names[schedule_random(ROWS)]), options,
                   results[0], &error),
         &error);
    note_result(reading, results[0]);
    schedule_check(reading->cells == FAMILIES);
}

static void
get_rows(const petal_read_options *options, petal_result *const *results, struct reading *reading)
{
    petal_slice rows[ROWS];
    petal_error error;

    for (unsigned r = 0; r < ROWS; r++)
        rows[r] = slice_from_text(row_names[r]);
    must(petal_multi_get(life.table, rows, ROWS, options, results, &error), &error);
    for (unsigned r = 0; r < ROWS; r++)
        note_result(reading, results[r]);
    schedule_check(reading->cells == ROWS * FAMILIES);
}

static void
scan(const petal_read_options *options, struct reading *reading)
{
    petal_scan_options scanned = {.read = *options};
    const petal_cell *cell;
    petal_cursor *cursor;
    petal_error error;

    must(petal_cursor_open(life.table, &scanned, &cursor, &error), &error);
    for (;;) {
        must(petal_cursor_next(cursor, &cell, &error), &error);
        if (cell == NULL)
            break;
        note(reading, cell);
    }
    petal_cursor_close(cursor);
    schedule_check(reading->cells == ROWS * FAMILIES);
}

static char
read_in_some_way(const petal_snapshot *snapshot, petal_result *const *results)
{
    petal_read_options options = {.snapshot = snapshot};
    struct reading reading = {0, 0};

    switch (schedule_random(24)) {
    case 0:
        scan(&options, &reading);
        break;
    case 1:
        get_rows(&options, results, &reading);
        break;
    default: /* the cheapest, so the most for their time */
        get(&options, results, &reading);
        break;
    }
    return reading.number;
}

static void *
read_numbers(void *unused)
{
    petal_result *results[ROWS];
    petal_snapshot *snapshot;
    petal_error error;
    char seen = '0';

    for (unsigned r = 0; r < ROWS; r++)
        must(petal_result_new(life.db, &results[r], &error), &error);
    for (unsigned i = 0; i < READINGS; i++) {
        char number = read_in_some_way(NULL, results);

        schedule_check(number >= seen);
        seen = number;
        if (schedule_random(16) != 0)
            continue;
        must(petal_snapshot_new(life.db, &snapshot, &error), &error);
        number = read_in_some_way(snapshot, results);
        schedule_check(number >= seen && number == read_in_some_way(snapshot, results));
        seen = number;
        petal_snapshot_free(snapshot);
    }
    for (unsigned r = 0; r < ROWS; r++)
        petal_result_free(results[r]);
    return unused;
}

/* ---- the scenarios ---- */

static void
open_database(struct memory_vfs *files)
{
    petal_family_options of[FAMILIES] = {{.name = slice_from_text("f"), .block_bytes = 1024},
                                         {.name = slice_from_text("g")}};
    petal_table_options table = {
        .name = slice_from_text("t"), .families = of, .family_count = FAMILIES};
    petal_options options = {.create = true,
                             .env = &life.env,
                             .cache_bytes = schedule_random(2) == 0 ? 65536 : PETAL_NO_CACHE,
                             .no_compaction = true,
                             .log_sync_interval_ms = PETAL_NEVER};
    petal_error error;

    life.env = (petal_env){.size = sizeof(petal_env),
                           .vfs = memory_vfs_table(files),
                           .allocator = &schedule_allocator};
    must(petal_open("/db", &options, &life.db, &error), &error);
    must(petal_table_create(life.db, &table, &life.table, &error), &error);
    for (unsigned f = 0; f < FAMILIES; f++)
        life.families[f] = petal_table_family_at(life.table, f);
    write_batch("0", 100);
    if (schedule_random(2) == 0)
        must(petal_flush(life.db, life.table, &error), &error);
}

static void
run_life(bool bulks)
{
    void *(*const bodies[])(void *) = {write_numbers, tend, read_numbers, read_numbers};
    struct memory_vfs *files = memory_vfs_new();
    pthread_t threads[2 + READERS];
    petal_result *results[ROWS];
    petal_error error;

    life.bulks = bulks;
    open_database(files);
    for (unsigned i = 0; i < 2 + READERS; i++)
        schedule_check(pthread_create(&threads[i], NULL, bodies[i], NULL) == 0);
    for (unsigned i = 0; i < 2 + READERS; i++)
        schedule_check(pthread_join(threads[i], NULL) == 0);
    for (unsigned r = 0; r < ROWS; r++)
        must(petal_result_new(life.db, &results[r], &error), &error);
    schedule_check(read_in_some_way(NULL, results) == '0' + WRITES);
    for (unsigned r = 0; r < ROWS; r++)
        petal_result_free(results[r]);
    must(petal_close(life.db, &error), &error);
    memory_vfs_free(files);
}

static void
rows_are_whole(void *unused)
{
    (void)unused;
    run_life(false);
}

static void
bulks_enter_whole(void *unused)
{
    (void)unused;
    run_life(true);
}

const struct scenario row_scenarios[] = {{"rows_are_whole", rows_are_whole, 8},
                                         {"bulks_enter_whole", bulks_enter_whole, 4},
                                         {NULL, NULL, 0}};
