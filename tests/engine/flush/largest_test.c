/*
 * largest_test.c -- when memory is full the memtables are flushed that give most back,
 * as few as give half of it. Others keep their cells and the logs of these, until there are too
 * many logs. Costs are counted in store files.
 */

#include "engine/flush/flush.h"
#include "engine/wal/wal.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdlib.h>

#define COLD_TABLES    300
#define MEMTABLE_BYTES ((size_t)1 << 20)
#define VALUE_BYTES    8000
/* Puts of such values that fill the memtables once. */
#define FILL (MEMTABLE_BYTES / VALUE_BYTES + 1)

struct largest_fixture {
    struct fixture base;
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
table_of(struct largest_fixture *fixture, const char *prefix, unsigned number)
{
    char name[32];
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_make(name, (size_t)snprintf(name, sizeof name, "%s%u", prefix, number)),
        .families = &family,
        .family_count = 1};
    petal_table *table;
    petal_error error;
    enum petal_status status = petal_table_open(fixture->base.db, options.name, &table, &error);

    if (status == PETAL_NOT_FOUND)
        status = petal_table_create(fixture->base.db, &options, &table, &error);
    must(status, &error);
    return table;
}

static void
take_tables(struct largest_fixture *fixture)
{
    fixture->hot = table_of(fixture, "hot", 0);
    for (unsigned i = 0; i < COLD_TABLES; i++)
        fixture->cold[i] = table_of(fixture, "cold", i);
}

static void
start(struct largest_fixture *fixture, size_t memory_bytes)
{
    *fixture = (struct largest_fixture){.hot_rows = 0};
    memset(fixture->value, 'v', sizeof fixture->value);
    fixture_init(&fixture->base, 4);
    fixture->base.options.memtable_bytes =
        MEMTABLE_BYTES < memory_bytes / 4 ? MEMTABLE_BYTES : memory_bytes / 4;
    fixture->base.options.memory_bytes = memory_bytes;
    fixture_must_open(&fixture->base);
    take_tables(fixture);
}

static void
put(petal_table *table, uint64_t row, petal_slice value)
{
    char key[24];

    MUST(petal_put(petal_table_family_at(table, 0), number_key(key, row), slice_from_text("q"),
                   PETAL_LATEST, value, NULL, WHY));
}

static void
put_cold(struct largest_fixture *fixture, uint64_t row)
{
    for (unsigned i = 0; i < COLD_TABLES; i++)
        put(fixture->cold[i], row, slice_from_text("cold"));
}

/* Flushes come one by one, so that their number does not hang on how fast the flush thread is. */
static void
put_hot(struct largest_fixture *fixture, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        put(fixture->hot, fixture->hot_rows++, slice_make(fixture->value, sizeof fixture->value));
        MUST(flush_wait_idle(fixture->base.db, WHY));
    }
}

/* Memtables that became files since the last call. */
static uint64_t
flushed(struct largest_fixture *fixture)
{
    uint64_t before = fixture->flushed;
    petal_stats stats;

    petal_stats_get(fixture->base.db, &stats);
    fixture->flushed = stats.flushes;
    return stats.flushes - before;
}

static uint64_t
cells_of(struct largest_fixture *fixture, petal_table *table)
{
    petal_cursor *cursor;
    const petal_cell *cell;
    uint64_t cells = 0;

    (void)fixture;
    MUST(petal_cursor_open(table, NULL, &cursor, WHY));
    while (MUST(petal_cursor_next(cursor, &cell, WHY)), cell != NULL)
        cells++;
    petal_cursor_close(cursor);
    return cells;
}

static void
check_answers(struct largest_fixture *fixture, uint64_t cold_rows)
{
    assert_int_equal(cells_of(fixture, fixture->hot), fixture->hot_rows);
    for (unsigned i = 0; i < COLD_TABLES; i++)
        assert_int_equal(cells_of(fixture, fixture->cold[i]), cold_rows);
}

/* As often as the memory fills each cold table gets one more cell; the hot one gives the memory
 * back alone. */
TEST(test_cold_tables_are_left_alone)
{
    static struct largest_fixture fixture;

    start(&fixture, 32 * MEMTABLE_BYTES);
    for (unsigned round = 0; round < 3; round++) {
        put_cold(&fixture, round);
        put_hot(&fixture, FILL);
    }
    assert_in_range(flushed(&fixture), 3, 5);
    check_answers(&fixture, 3);
    fixture_die(&fixture.base);
    fixture_must_open(&fixture.base);
    take_tables(&fixture);
    check_answers(&fixture, 3);
    fixture_fini(&fixture.base);
}

/* Cells that lie for long are flushed once, when too many bytes of logs are kept for them. */
TEST(test_cold_cells_let_their_logs_go)
{
    static struct largest_fixture fixture;

    start(&fixture, 32 * MEMTABLE_BYTES);
    put_cold(&fixture, 0);
    for (unsigned round = 0; round < 20; round++) {
        put_hot(&fixture, FILL);
        assert_in_range(fixture_count_files(&fixture.base, ".log"), 0, 2 * WAL_MOST_MEMTABLES + 2);
    }
    assert_in_range(flushed(&fixture), COLD_TABLES + 18, COLD_TABLES + 24);
    assert_in_range(fixture_count_files(&fixture.base, ".log"), 0, 3);
    check_answers(&fixture, 1);
    fixture_fini(&fixture.base);
}

/* One cell after the other in equal tables; the greatest number of memtables that were flushed at
 * once. */
static uint64_t
most_at_once(struct largest_fixture *fixture, unsigned rows, size_t bytes)
{
    uint64_t most = 0, before = fixture->flushed;

    for (unsigned row = 0; row < rows; row++) {
        for (unsigned i = 0; i < COLD_TABLES; i++) {
            uint64_t count;

            put(fixture->cold[i], row, slice_make(fixture->value, bytes));
            MUST(flush_wait_idle(fixture->base.db, WHY));
            count = flushed(fixture);
            most = count > most ? count : most;
        }
    }
    fixture->flushed = before;
    return most;
}

/* Where all are equal, no more are flushed than give half back, and each time memory has filled by
 * as much again. */
TEST(test_equal_tables_give_half_back)
{
    static struct largest_fixture fixture;
    uint64_t most;

    start(&fixture, 32 * MEMTABLE_BYTES);
    most = most_at_once(&fixture, 40, 400);
    assert_in_range(most, 1, COLD_TABLES / 2 + 1);
    assert_in_range(flushed(&fixture), COLD_TABLES, 5 * 2 * COLD_TABLES); /* it fills five times */
    check_answers(&fixture, 40);
    fixture_fini(&fixture.base);
}

/* Small memtables take all the memory, far from memtable_bytes: as many go as give half of it back.
 */
TEST(test_many_small_ones_give_memory_back)
{
    static struct largest_fixture fixture;
    uint64_t most;

    start(&fixture, MEMTABLE_BYTES);
    most = most_at_once(&fixture, 4, 4);
    assert_in_range(most, 2, COLD_TABLES / 5); /* not a third of them fits */
    /* A quarter of the memory, and what the last write took. */
    assert_in_range(fixture.base.db->writers.active_memory, 1,
                    MEMTABLE_BYTES / 4 + MEMTABLE_BYTES / 32);
    assert_in_range(flushed(&fixture), COLD_TABLES, 4 * COLD_TABLES);
    check_answers(&fixture, 4);
    fixture_fini(&fixture.base);
}

/* A memtable of a few cells takes little more than these: so many stores are not flushed cell by
 * cell. */
TEST(test_a_few_cells_take_little_memory)
{
    static struct largest_fixture fixture;

    start(&fixture, 4 * MEMTABLE_BYTES);
    (void)most_at_once(&fixture, 4, 100);
    assert_int_equal(flushed(&fixture), 0);
    check_answers(&fixture, 4);
    fixture_fini(&fixture.base);
}
