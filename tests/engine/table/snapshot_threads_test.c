/*
 * snapshot_threads_test.c -- checkpoints and table snapshots beside writers, flushes and compactions. Each copy of the database is
 * what some number of writes of the ledger, in their order, had made; each table of a snapshot has batches whole; a
 * table that is restored under its writer is there at every moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/engine/table/copy_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS (test_long() ? 300u : 25u)

struct world {
    struct fixture fixture;
    struct ledger ledger;
    _Atomic(uint64_t) written; /* of the ledger */
    _Atomic(uint64_t) counted; /* batches of "t" that were acknowledged */
    _Atomic(bool) stop;
    _Atomic(unsigned) wrong;
};

/* Report what a thread of its own must not assert. */
static void
expect(struct world *world, bool holds, const char *what, const petal_error *error)
{
    if (holds)
        return;
    print_error("%s: %s\n", what, error != NULL ? error->text : "");
    atomic_fetch_add(&world->wrong, 1);
}

/* ---- writers ---- */

static void *
ledger_thread(void *argument)
{
    struct world *world = argument;
    petal_error error;

    while (!atomic_load(&world->stop)) {
        uint64_t number = atomic_load(&world->written) + 1;
        enum petal_durability durability = number % 3 == 0 ? PETAL_SKIP_WAL : PETAL_ASYNC_WAL;
        enum petal_status status = ledger_write(&world->ledger, number, durability, &error);

        expect(world, status == PETAL_OK, "a write of the ledger", &error);
        if (status != PETAL_OK)
            break;
        atomic_store(&world->written, number);
    }
    return NULL;
}

/* One batch that puts the number into both families. */
static enum petal_status
count_up(petal_db *db, petal_table *table, uint64_t number, petal_error *error)
{
    char text[24];
    petal_slice value = slice_make(text, (size_t)snprintf(text, sizeof text, "%" PRIu64, number));
    petal_batch *batch;
    enum petal_status status = petal_batch_new(db, &batch, error);

    for (size_t i = 0; status == PETAL_OK && i < 2; i++)
        status = petal_batch_put(batch, petal_table_family_at(table, i), slice_from_text("row"),
                                 slice_make(NULL, 0), PETAL_LATEST, value, error);
    if (status == PETAL_OK)
        status = petal_write(db, batch, NULL, error);
    petal_batch_free(batch);
    return status;
}

/* A table that was restored is another one of the same name. */
static void *
counter_thread(void *argument)
{
    struct world *world = argument;
    petal_db *db = world->fixture.db;
    uint64_t number = 0;
    petal_table *table = NULL;
    petal_error error;

    while (!atomic_load(&world->stop)) {
        enum petal_status status = petal_table_open(db, slice_from_text("t"), &table, &error);

        expect(world, status == PETAL_OK, "the table is not there", &error);
        while (status == PETAL_OK && !atomic_load(&world->stop)) {
            status = count_up(db, table, ++number, &error);
            if (status == PETAL_OK)
                atomic_store(&world->counted, number);
        }
        expect(world, status == PETAL_OK || status == PETAL_NOT_FOUND, "a batch", &error);
        if (status != PETAL_OK && status != PETAL_NOT_FOUND)
            break;
    }
    return NULL;
}

static void *
cleaner_thread(void *argument)
{
    struct world *world = argument;
    petal_table *table;
    petal_error error;

    while (!atomic_load(&world->stop)) {
        enum petal_status status = petal_flush(world->fixture.db, NULL, &error);

        for (unsigned t = 0; status == PETAL_OK && t < LEDGER_TABLES; t++)
            status = petal_compact(world->ledger.tables[t], NULL, &error);
        expect(world, status == PETAL_OK, "flush and compaction", &error);
        /* Of a table that may be replaced while it is compacted. */
        status = petal_table_open(world->fixture.db, slice_from_text("t"), &table, &error);
        if (status == PETAL_OK)
            status = petal_compact(table, NULL, &error);
        expect(world, status == PETAL_OK || status == PETAL_NOT_FOUND, "a compaction", &error);
    }
    return NULL;
}

/* ---- table snapshots ---- */

/* The batch that the table holds, the same in both families; 0 for none. */
static uint64_t
batch_in(struct world *world, petal_table *table)
{
    uint64_t numbers[2] = {0, 0};
    const petal_cell *cell;
    petal_cursor *cursor;
    petal_error error;
    enum petal_status status = petal_cursor_open(table, NULL, &cursor, &error);

    if (status == PETAL_NOT_FOUND)
        return 0; /* replaced before it was read */
    while (status == PETAL_OK) {
        char text[24] = {0};

        status = petal_cursor_next(cursor, &cell, &error);
        if (status != PETAL_OK || cell == NULL)
            break;
        memcpy(text, cell->value.data, cell->value.size);
        numbers[slice_equal(cell->family, slice_from_text("g"))] = strtoull(text, NULL, 10);
    }
    petal_cursor_close(cursor);
    expect(world, status == PETAL_OK, "a scan", &error);
    expect(world, numbers[0] == numbers[1], "half a batch is in a snapshot", NULL);
    return numbers[0];
}

/* Its cursors are open while the table is replaced. */
static void *
reader_thread(void *argument)
{
    struct world *world = argument;
    petal_db *db = world->fixture.db;
    petal_error error;

    while (!atomic_load(&world->stop)) {
        petal_table *table;
        enum petal_status status = petal_table_open(db, slice_from_text("t"), &table, &error);

        if (status == PETAL_OK)
            (void)batch_in(world, table);
        expect(world, status == PETAL_OK, "the table is not there for the reader", &error);
    }
    return NULL;
}

static void
clone_and_drop(struct world *world, petal_slice snapshot, uint64_t least)
{
    petal_table *table;
    petal_error error;
    enum petal_status status = petal_table_snapshot_clone(world->fixture.db, snapshot,
                                                          slice_from_text("clone"), &table, &error);

    if (status == PETAL_OK) {
        expect(world, batch_in(world, table) >= least, "a batch is missing", NULL);
        status = petal_table_drop(table, &error);
    }
    expect(world, status == PETAL_OK, "a clone", &error);
}

static bool
count_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    (void)info;
    ++*(unsigned *)argument;
    return true;
}

static void *
snapshot_thread(void *argument)
{
    struct world *world = argument;
    petal_db *db = world->fixture.db;
    petal_slice name = slice_from_text("s");
    petal_error error;

    for (unsigned round = 0; !atomic_load(&world->stop); round++) {
        uint64_t least = atomic_load(&world->counted);
        unsigned listed = 0;
        petal_table *table, *made;
        enum petal_status status = petal_table_open(db, slice_from_text("t"), &table, &error);

        if (status == PETAL_OK)
            status = petal_table_snapshot_create(table, name, NULL, &error);
        if (status == PETAL_OK)
            clone_and_drop(world, name, round == 0 ? least : 0);
        if (status == PETAL_OK && round % 3 == 1)
            status = petal_table_snapshot_restore(db, name, &made, &error);
        if (status == PETAL_OK)
            status = petal_table_snapshot_list(db, count_snapshot, &listed, &error);
        expect(world, status != PETAL_OK || listed == 1, "the list", NULL);
        if (status == PETAL_OK)
            status = petal_table_snapshot_delete(db, name, &error);
        expect(world, status == PETAL_OK, "a table snapshot", &error);
        if (status != PETAL_OK)
            break;
    }
    return NULL;
}

/* ---- the test ---- */

#define COPY "/copy"

static void
remove_name(void *argument, const char *name)
{
    const petal_vfs *vfs = argument;
    char *path = test_path(COPY, name);

    vfs_remove(vfs, path);
    free(path);
}

/* A checkpoint, read, and its directory emptied for the next. */
static void
check_copy(struct world *world)
{
    petal_vfs vfs = *memory_vfs_table(world->fixture.vfs);
    uint64_t least = atomic_load(&world->written), found;
    struct ledger ledger = {0};
    petal_error error;
    petal_db *db;

    must(petal_checkpoint(world->fixture.db, COPY, &error), &error);
    must(petal_open(COPY, &world->fixture.options, &db, &error), &error);
    must(ledger_attach(&ledger, db, &error), &error);
    found = ledger_must_be_prefix(&ledger);
    assert_true(found >= least);
    assert_true(found <= atomic_load(&world->written) + 1);
    (void)batch_in(world, copy_bed_open(db, "t"));
    must(petal_close(db, &error), &error);
    memory_vfs_list(world->fixture.vfs, COPY, remove_name, &vfs);
}

static void
all_at_once(void **state)
{
    void *(*const works[])(void *) = {ledger_thread, counter_thread, cleaner_thread, reader_thread,
                                      snapshot_thread};
    pthread_t threads[sizeof works / sizeof *works];
    struct world *world = test_allocate(sizeof *world);
    petal_table *table;
    petal_error error;

    (void)state;
    memset(world, 0, sizeof *world);
    fixture_init(&world->fixture, 1);
    world->fixture.options.memtable_bytes = 64 << 10;
    fixture_must_open(&world->fixture);
    must(ledger_create(&world->ledger, world->fixture.db, &error), &error);
    must(copy_bed_create(world->fixture.db, "t", &table, &error), &error);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, works[i], world), 0);
    for (unsigned round = 0; round < ROUNDS; round++)
        check_copy(world);
    atomic_store(&world->stop, true);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&world->wrong), 0);
    fixture_must_close(&world->fixture);
    fixture_must_open(&world->fixture);
    copy_bed_expect_no_stray(&world->fixture);
    fixture_fini(&world->fixture);
    free(world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_at_once)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
