/*
 * largest_test.c -- when memory is full the memtables are flushed that give most back,
 * as few as give half of it. Others keep their cells and the logs of these, until there are too
 * many logs. Costs are counted in store files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/flush/flush.h"
#include "engine/wal/wal.h"
#include "tests/crash/ledger.h"

#include <inttypes.h>
#include <stdlib.h>

#define COLD_TABLES    300
#define MEMTABLE_BYTES ((size_t)1 << 20)
#define VALUE_BYTES    8000
/* Puts of such values that fill the memtables once. */
#define FILL (MEMTABLE_BYTES / VALUE_BYTES + 1)

struct bed {
    struct fixture fixture;
    petal_table *hot, *cold[COLD_TABLES];
    uint64_t hot_rows;
    uint64_t flushed; /* memtables, before the phase that is counted */
    uint8_t value[VALUE_BYTES];
};

static petal_slice
number_key(char key[24], uint64_t number)
{
    return slice_make(key, (size_t)snprintf(key, 24, "%08" PRIu64, number));
}

static petal_table *
table_of(struct bed *bed, const char *prefix, unsigned number)
{
    char name[32];
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_make(name, (size_t)snprintf(name, sizeof name, "%s%u", prefix, number)),
        .families = &family,
        .family_count = 1};
    petal_table *table;
    petal_error error;
    enum petal_status status = petal_table_open(bed->fixture.db, options.name, &table, &error);

    if (status == PETAL_NOT_FOUND)
        status = petal_table_create(bed->fixture.db, &options, &table, &error);
    must(status, &error);
    return table;
}

static void
take_tables(struct bed *bed)
{
    bed->hot = table_of(bed, "hot", 0);
    for (unsigned i = 0; i < COLD_TABLES; i++)
        bed->cold[i] = table_of(bed, "cold", i);
}

static void
start(struct bed *bed, size_t memory_bytes)
{
    *bed = (struct bed){.hot_rows = 0};
    memset(bed->value, 'v', sizeof bed->value);
    fixture_init(&bed->fixture, 4);
    bed->fixture.options.memtable_bytes = MEMTABLE_BYTES;
    bed->fixture.options.memory_bytes = memory_bytes;
    fixture_must_open(&bed->fixture);
    take_tables(bed);
}

static void
put(petal_table *table, uint64_t row, petal_slice value)
{
    char key[24];
    petal_error error;

    must(petal_put(petal_table_family_at(table, 0), number_key(key, row), slice_from_text("q"),
                   PETAL_LATEST, value, NULL, &error),
         &error);
}

static void
put_cold(struct bed *bed, uint64_t row)
{
    for (unsigned i = 0; i < COLD_TABLES; i++)
        put(bed->cold[i], row, slice_from_text("cold"));
}

/* Flushes come one by one, so that their number does not hang on how fast the flush thread is. */
static void
put_hot(struct bed *bed, uint64_t count)
{
    petal_error error;

    for (uint64_t i = 0; i < count; i++) {
        put(bed->hot, bed->hot_rows++, slice_make(bed->value, sizeof bed->value));
        must(flush_wait_idle(bed->fixture.db, &error), &error);
    }
}

/* Memtables that became files since the last call. */
static uint64_t
flushed(struct bed *bed)
{
    uint64_t before = bed->flushed;
    petal_stats stats;

    petal_stats_get(bed->fixture.db, &stats);
    bed->flushed = stats.flushes;
    return stats.flushes - before;
}

static uint64_t
cells_of(struct bed *bed, petal_table *table)
{
    petal_cursor *cursor;
    const petal_cell *cell;
    uint64_t cells = 0;
    petal_error error;

    (void)bed;
    must(petal_cursor_open(table, NULL, &cursor, &error), &error);
    while (must(petal_cursor_next(cursor, &cell, &error), &error), cell != NULL)
        cells++;
    petal_cursor_close(cursor);
    return cells;
}

static void
check_answers(struct bed *bed, uint64_t cold_rows)
{
    assert_int_equal(cells_of(bed, bed->hot), bed->hot_rows);
    for (unsigned i = 0; i < COLD_TABLES; i++)
        assert_int_equal(cells_of(bed, bed->cold[i]), cold_rows);
}

/* As often as the memory fills each cold table gets one more cell; the hot one gives the memory
 * back alone. */
static void
test_cold_tables_are_left_alone(void **state)
{
    static struct bed bed;

    (void)state;
    start(&bed, 32 * MEMTABLE_BYTES);
    for (unsigned round = 0; round < 3; round++) {
        put_cold(&bed, round);
        put_hot(&bed, FILL);
    }
    assert_in_range(flushed(&bed), 3, 5);
    check_answers(&bed, 3);
    fixture_die(&bed.fixture);
    fixture_must_open(&bed.fixture);
    take_tables(&bed);
    check_answers(&bed, 3);
    fixture_fini(&bed.fixture);
}

/* Cells that lie for long are flushed once, when too many bytes of logs are kept for them. */
static void
test_cold_cells_let_their_logs_go(void **state)
{
    static struct bed bed;

    (void)state;
    start(&bed, 32 * MEMTABLE_BYTES);
    put_cold(&bed, 0);
    for (unsigned round = 0; round < 20; round++) {
        put_hot(&bed, FILL);
        assert_in_range(fixture_count_files(&bed.fixture, ".log"), 0, 2 * LOG_MOST_MEMTABLES + 2);
    }
    assert_in_range(flushed(&bed), COLD_TABLES + 18, COLD_TABLES + 24);
    assert_in_range(fixture_count_files(&bed.fixture, ".log"), 0, 3);
    check_answers(&bed, 1);
    fixture_fini(&bed.fixture);
}

/* One cell after the other in equal tables; the greatest number of memtables that were flushed at
 * once. */
static uint64_t
most_at_once(struct bed *bed, unsigned rows, size_t bytes)
{
    uint64_t most = 0, before = bed->flushed;
    petal_error error;

    for (unsigned row = 0; row < rows; row++) {
        for (unsigned i = 0; i < COLD_TABLES; i++) {
            uint64_t count;

            put(bed->cold[i], row, slice_make(bed->value, bytes));
            must(flush_wait_idle(bed->fixture.db, &error), &error);
            count = flushed(bed);
            most = count > most ? count : most;
        }
    }
    bed->flushed = before;
    return most;
}

/* Where all are equal, no more are flushed than give half back, and each time memory has filled by
 * as much again. */
static void
test_equal_tables_give_half_back(void **state)
{
    static struct bed bed;
    uint64_t most;

    (void)state;
    start(&bed, 32 * MEMTABLE_BYTES);
    most = most_at_once(&bed, 40, 400);
    assert_in_range(most, 1, COLD_TABLES / 2 + 1);
    assert_in_range(flushed(&bed), COLD_TABLES, 5 * 2 * COLD_TABLES); /* it fills five times */
    check_answers(&bed, 40);
    fixture_fini(&bed.fixture);
}

/* Small memtables take all the memory, far from memtable_bytes: as many go as give half of it back.
 */
static void
test_many_small_ones_give_memory_back(void **state)
{
    static struct bed bed;
    uint64_t most;

    (void)state;
    start(&bed, 4 * MEMTABLE_BYTES);
    most = most_at_once(&bed, 4, 4);
    assert_in_range(most, 2, COLD_TABLES / 5); /* not a third of them fits */
    /* A quarter of the memory, and what the last write took. */
    assert_in_range(bed.fixture.db->active_memory, 1, MEMTABLE_BYTES + MEMTABLE_BYTES / 32);
    assert_in_range(flushed(&bed), COLD_TABLES, 4 * COLD_TABLES);
    check_answers(&bed, 4);
    fixture_fini(&bed.fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cold_tables_are_left_alone),
        cmocka_unit_test(test_cold_cells_let_their_logs_go),
        cmocka_unit_test(test_equal_tables_give_half_back),
        cmocka_unit_test(test_many_small_ones_give_memory_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
