/*
 * full_disk_open_test.c -- a database is opened for writing on a full disk: all that was
 * acknowledged is there and survives a power cut at any call, tables can be dropped to make room,
 * and what does not fit into memory either is told. With every amount of room:
 * tests/crash/sequence_test.c, tests/model/crash_test.c.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <sched.h>

/* What the drop of a table takes in the manifest, about: a file system has it in the last block of
 * the file. */
#define SLACK_BYTES 300

static void
must_write(struct ledger *ledger, uint64_t first, uint64_t last)
{
    for (uint64_t number = first; number <= last; number++)
        MUST(ledger_write(ledger, number, PETAL_SYNC_WAL, WHY));
}

/* A process has died: 100 writes, 40 of them in store files, the others in three logs. */
static void
make(struct fixture *fixture, struct ledger *ledger)
{
    *ledger = (struct ledger){.filler = 100};
    ledger_start(ledger, fixture, 4);
    must_write(ledger, 1, 40);
    MUST(petal_flush(fixture->db, NULL, WHY));
    must_write(ledger, 41, 60);
    must(fixture_close_log(fixture), NULL);
    must_write(ledger, 61, 80);
    must(fixture_close_log(fixture), NULL);
    must_write(ledger, 81, 100);
    fixture_die(fixture);
}

/* What another process finds in the files when there is room. */
static uint64_t
prefix_of(struct memory_vfs *files, size_t filler)
{
    struct fixture after;
    struct ledger ledger = {.filler = filler};
    uint64_t count;

    memory_vfs_set_capacity(files, UINT64_MAX);
    fixture_init_on(&after, files, 9);
    fixture_must_open(&after);
    count = ledger_must_find(&ledger, after.db);
    fixture_must_close(&after);
    fixture_fini(&after);
    return count;
}

static void
close_full(struct fixture *fixture)
{
    petal_error error;

    assert_int_equal(petal_close(fixture->db, &error), PETAL_NO_SPACE);
    fixture->db = NULL;
}

/* ---- dropping ---- */

static uint64_t
count_cells(petal_table *table)
{
    petal_scan_options options = {.size = sizeof options};
    petal_cursor *cursor;
    const petal_cell *cell;
    uint64_t count = 0;

    MUST(petal_cursor_open(table, &options, &cursor, WHY));
    for (;;) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
        count++;
    }
    petal_cursor_close(cursor);
    return count;
}

TEST(test_tables_can_be_dropped)
{
    petal_table *table;
    struct fixture fixture;
    struct ledger ledger;
    petal_error error;
    uint64_t used, cells;
    char name[64];

    make(&fixture, &ledger);
    used = memory_vfs_used(fixture.vfs);
    memory_vfs_set_capacity(fixture.vfs, used + SLACK_BYTES);
    fixture_must_open(&fixture);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), 100);
    cells = count_cells(ledger.tables[1]);
    assert_true(cells > 0);
    snprintf(name, sizeof name, "%.*s", (int)petal_table_name(ledger.tables[1]).size,
             (const char *)petal_table_name(ledger.tables[1]).data);
    /* A try of the flush thread may have what room there is, and gives it back. */
    while (petal_table_drop(ledger.tables[0], &error) != PETAL_OK)
        assert_int_equal(error.status, PETAL_NO_SPACE);
    while (memory_vfs_used(fixture.vfs) >= used)
        sched_yield();
    must(petal_put(ledger.families[2], slice_from_text("new"), slice_from_text("q"), PETAL_LATEST,
                   slice_from_text("v"), NULL, &error),
         &error);
    for (unsigned i = 0; i < 8; i++) {
        struct memory_vfs *files = memory_vfs_clone(fixture.vfs);
        struct fixture after;

        if (i > 0)
            memory_vfs_power_cut(files, i == 1 ? MEMORY_CUT_LOSE_ALL : MEMORY_CUT_RANDOM, i);
        fixture_init_on(&after, files, 9);
        fixture_must_open(&after);
        must(petal_table_open(after.db, slice_from_text(name), &table, &error), &error);
        assert_in_range(count_cells(table), cells, cells + 1);
        (void)petal_close(after.db, NULL);
        after.db = NULL;
        fixture_fini(&after);
    }
    memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    must(petal_table_open(fixture.db, slice_from_text(name), &table, &error), &error);
    assert_int_equal(count_cells(table), cells + 1);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* ---- power cuts ---- */

/* Opening, writing with a little room, with much, flushing: cut at every call. */
static bool
cut_at(uint64_t n, struct memory_vfs *torn)
{
    struct fixture fixture;
    struct ledger ledger = {.filler = 100};
    uint64_t synced = 0, stored, attempted, found;
    petal_error error;
    bool off;

    fixture_init_on(&fixture, memory_vfs_clone(torn), 4);
    found = attempted = stored = prefix_of(memory_vfs_clone(torn), 100);
    memory_vfs_set_capacity(fixture.vfs, memory_vfs_used(fixture.vfs));
    memory_vfs_cut_at(fixture.vfs, n);
    if (fixture_open(&fixture, &error) == PETAL_OK &&
        ledger_attach(&ledger, fixture.db, &error) == PETAL_OK) {
        synced = found; /* it was shown */
        memory_vfs_set_capacity(fixture.vfs, memory_vfs_used(fixture.vfs) + 700);
        for (unsigned i = 0; i < 6 && attempted == stored; i++) {
            enum petal_status status;

            if (i == 3)
                memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
            status = ledger_write(&ledger, stored + 1, i == 4 ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL,
                                  &error);
            if (status == PETAL_OK)
                attempted = ++stored;
            else if (status != PETAL_NO_SPACE || memory_vfs_is_off(fixture.vfs))
                attempted = stored + 1;
            if (status == PETAL_OK && i == 4)
                synced = stored;
        }
        if (petal_flush(fixture.db, NULL, &error) == PETAL_OK)
            synced = stored;
    }
    off = memory_vfs_is_off(fixture.vfs);
    petal_close(fixture.db, NULL);
    fixture.db = NULL;
    for (unsigned i = 0; off && i < 6; i++) {
        struct memory_vfs *files = memory_vfs_clone(fixture.vfs);

        memory_vfs_power_cut(files,
                             i == 0   ? MEMORY_CUT_LOSE_ALL
                             : i == 1 ? MEMORY_CUT_KEEP_ALL
                                      : MEMORY_CUT_RANDOM,
                             n * 10 + i);
        assert_in_range(prefix_of(files, 100), synced, attempted);
    }
    fixture_fini(&fixture);
    return off;
}

/* From a death, and from power cuts that tore the logs. */
TEST(test_power_cut_at_every_call)
{
    uint64_t cuts = 0;

    for (unsigned seed = 0; seed < (test_long() ? 30 : 6); seed++) {
        struct fixture fixture;
        struct ledger ledger;
        uint64_t n = 1;

        make(&fixture, &ledger);
        if (seed > 0)
            memory_vfs_power_cut(fixture.vfs, MEMORY_CUT_RANDOM, seed);
        while (cut_at(n, fixture.vfs))
            n += seed == 0 ? 1 : 3;
        cuts += n;
        fixture_fini(&fixture);
    }
    print_message("%" PRIu64 " cuts\n", cuts);
    assert_true(cuts > 100);
}

#define LATE_WRITES 60

/* A process has died: the writes are in three logs, and more than a memtable may have; the manifest
 * knows of later sequences, of another table, which is in store files. */
static void
make_with_later_flush(struct fixture *fixture, struct ledger *ledger)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("other"), .families = &family, .family_count = 1};
    petal_table *table;

    *ledger = (struct ledger){.filler = LEDGER_MAX_FILLER};
    ledger_start(ledger, fixture, 4);
    for (uint64_t first = 1; first < LATE_WRITES; first += LATE_WRITES / 3) {
        must_write(ledger, first, first + LATE_WRITES / 3 - 1);
        must(fixture_close_log(fixture), NULL);
    }
    MUST(petal_table_create(fixture->db, &options, &table, WHY));
    MUST(petal_put(petal_table_family_at(table, 0), slice_from_text("r"), slice_from_text("q"),
                   PETAL_LATEST, slice_from_text("v"), NULL, WHY));
    MUST(petal_flush(fixture->db, table, WHY));
    fixture_die(fixture);
}

/* What the logs hold is flushed in several jobs when there is room: a log stays until the last of
 * them that has cells of it is committed. */
TEST(test_power_cut_between_the_jobs)
{
    struct fixture torn;
    struct ledger made;
    uint64_t n = 0;
    bool off = true;

    make_with_later_flush(&torn, &made);
    while (off) {
        struct ledger ledger = {.filler = LEDGER_MAX_FILLER};
        struct memory_vfs *files;
        struct fixture fixture;

        fixture_init_on(&fixture, memory_vfs_clone(torn.vfs), 4);
        fixture.options.memtable_bytes = (size_t)64 << 10;
        fixture.options.memory_bytes = (size_t)64 << 20;
        memory_vfs_set_capacity(fixture.vfs, memory_vfs_used(fixture.vfs));
        fixture_must_open(&fixture);
        assert_int_equal(ledger_must_find(&ledger, fixture.db), LATE_WRITES);
        memory_vfs_cut_at(fixture.vfs, ++n);
        memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
        (void)!petal_flush(fixture.db, NULL, NULL);
        off = memory_vfs_is_off(fixture.vfs);
        petal_close(fixture.db, NULL);
        fixture.db = NULL;
        files = memory_vfs_clone(fixture.vfs);
        memory_vfs_power_cut(files, MEMORY_CUT_LOSE_ALL, n);
        assert_int_equal(prefix_of(files, LEDGER_MAX_FILLER), LATE_WRITES);
        fixture_fini(&fixture);
    }
    assert_true(n > 30);
    fixture_fini(&torn);
}

/* ---- memory ---- */

/* What does not fit into memory either is refused by name, and nothing is lost. */
TEST(test_logs_larger_than_memory)
{
    static char value[20000];
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};
    struct fixture fixture;
    petal_table *table;
    petal_error error;
    uint64_t used;

    fixture_init(&fixture, 4);
    fixture_must_open(&fixture);
    must(petal_table_create(fixture.db, &options, &table, &error), &error);
    for (unsigned i = 0; i < 200; i++) {
        char row[16];

        snprintf(row, sizeof row, "%06u", i);
        must(petal_put(petal_table_family_at(table, 0), slice_from_text(row), slice_from_text("q"),
                       PETAL_LATEST, slice_make(value, sizeof value), NULL, &error),
             &error);
    }
    fixture_die(&fixture);
    used = memory_vfs_used(fixture.vfs);
    memory_vfs_set_capacity(fixture.vfs, used);
    fixture.options.memory_bytes = 1 << 20;
    assert_int_equal(fixture_open(&fixture, &error), PETAL_NO_SPACE);
    assert_non_null(strstr(error.text, "memory_bytes"));
    assert_true(memory_vfs_used(fixture.vfs) <= used);
    fixture.options.memory_bytes = 0;
    fixture_must_open(&fixture);
    must(petal_table_open(fixture.db, options.name, &table, &error), &error);
    assert_int_equal(count_cells(table), 200);
    close_full(&fixture);
    memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
    fixture.options.memory_bytes = 1 << 20;
    fixture_must_open(&fixture);
    must(petal_table_open(fixture.db, options.name, &table, &error), &error);
    assert_int_equal(count_cells(table), 200);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}
