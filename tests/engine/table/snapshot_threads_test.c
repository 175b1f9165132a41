/*
 * snapshot_threads_test.c -- checkpoints and table snapshots beside writers, flushes and
 * compactions. Each copy of the database is what some number of writes of the ledger, in their
 * order, had made; each table of a snapshot has batches whole; a table that is restored under its
 * writer is there at every moment.
 */

#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS (test_long() ? 300u : 25u)

struct snapshot_threads_fixture {
    struct fixture base;
    struct ledger ledger;
    _Atomic(uint64_t) written; /* of the ledger */
    _Atomic(uint64_t) counted; /* batches of "t" that were acknowledged */
    _Atomic(bool) stop;
    _Atomic(unsigned) wrong;
};

/* Report what a thread of its own must not assert. */
static void
expect(struct snapshot_threads_fixture *fixture, bool holds, const char *what,
       const petal_error *error)
{
    if (holds)
        return;
    print_error("%s: %s\n", what, error != NULL ? error->text : "");
    atomic_fetch_add(&fixture->wrong, 1);
}

/* ---- writers ---- */

static void *
ledger_thread(void *argument)
{
    struct snapshot_threads_fixture *fixture = argument;
    petal_error error;

    while (!atomic_load(&fixture->stop)) {
        uint64_t number = atomic_load(&fixture->written) + 1;
        enum petal_durability durability = number % 3 == 0 ? PETAL_SKIP_WAL : PETAL_ASYNC_WAL;
        enum petal_status status = ledger_write(&fixture->ledger, number, durability, &error);

        expect(fixture, status == PETAL_OK, "a write of the ledger", &error);
        if (status != PETAL_OK)
            break;
        atomic_store(&fixture->written, number);
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
    struct snapshot_threads_fixture *fixture = argument;
    petal_db *db = fixture->base.db;
    uint64_t number = 0;
    petal_table *table = NULL;
    petal_error error;

    while (!atomic_load(&fixture->stop)) {
        enum petal_status status = petal_table_open(db, slice_from_text("t"), &table, &error);

        expect(fixture, status == PETAL_OK, "the table is not there", &error);
        while (status == PETAL_OK && !atomic_load(&fixture->stop)) {
            status = count_up(db, table, ++number, &error);
            if (status == PETAL_OK)
                atomic_store(&fixture->counted, number);
        }
        expect(fixture, status == PETAL_OK || status == PETAL_NOT_FOUND, "a batch", &error);
        if (status != PETAL_OK && status != PETAL_NOT_FOUND)
            break;
    }
    return NULL;
}

static void *
cleaner_thread(void *argument)
{
    struct snapshot_threads_fixture *fixture = argument;
    petal_table *table;
    petal_error error;

    while (!atomic_load(&fixture->stop)) {
        enum petal_status status = petal_flush(fixture->base.db, NULL, &error);

        for (unsigned t = 0; status == PETAL_OK && t < LEDGER_TABLES; t++)
            status = petal_compact(fixture->ledger.tables[t], NULL, &error);
        expect(fixture, status == PETAL_OK, "flush and compaction", &error);
        /* Of a table that may be replaced while it is compacted. */
        status = petal_table_open(fixture->base.db, slice_from_text("t"), &table, &error);
        if (status == PETAL_OK)
            status = petal_compact(table, NULL, &error);
        expect(fixture, status == PETAL_OK || status == PETAL_NOT_FOUND, "a compaction", &error);
    }
    return NULL;
}

/* ---- table snapshots ---- */

/* The batch that the table holds, the same in both families; 0 for none. */
static uint64_t
batch_in(struct snapshot_threads_fixture *fixture, petal_table *table)
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
    expect(fixture, status == PETAL_OK, "a scan", &error);
    expect(fixture, numbers[0] == numbers[1], "half a batch is in a snapshot", NULL);
    return numbers[0];
}

/* Its cursors are open while the table is replaced. */
static void *
reader_thread(void *argument)
{
    struct snapshot_threads_fixture *fixture = argument;
    petal_db *db = fixture->base.db;
    petal_error error;

    while (!atomic_load(&fixture->stop)) {
        petal_table *table;
        enum petal_status status = petal_table_open(db, slice_from_text("t"), &table, &error);

        if (status == PETAL_OK)
            (void)batch_in(fixture, table);
        expect(fixture, status == PETAL_OK, "the table is not there for the reader", &error);
    }
    return NULL;
}

static void
clone_and_drop(struct snapshot_threads_fixture *fixture, petal_slice snapshot, uint64_t least)
{
    petal_table *table;
    petal_error error;
    enum petal_status status = petal_table_snapshot_clone(fixture->base.db, snapshot,
                                                          slice_from_text("clone"), &table, &error);

    if (status == PETAL_OK) {
        expect(fixture, batch_in(fixture, table) >= least, "a batch is missing", NULL);
        status = petal_table_drop(table, &error);
    }
    expect(fixture, status == PETAL_OK, "a clone", &error);
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
    struct snapshot_threads_fixture *fixture = argument;
    petal_db *db = fixture->base.db;
    petal_slice name = slice_from_text("s");
    petal_error error;

    for (unsigned round = 0; !atomic_load(&fixture->stop); round++) {
        uint64_t least = atomic_load(&fixture->counted);
        unsigned listed = 0;
        petal_table *table, *made;
        enum petal_status status = petal_table_open(db, slice_from_text("t"), &table, &error);

        if (status == PETAL_OK)
            status = petal_table_snapshot_create(table, name, NULL, &error);
        if (status == PETAL_OK)
            clone_and_drop(fixture, name, round == 0 ? least : 0);
        if (status == PETAL_OK && round % 3 == 1)
            status = petal_table_snapshot_restore(db, name, &made, &error);
        if (status == PETAL_OK)
            status = petal_table_snapshot_list(db, count_snapshot, &listed, &error);
        expect(fixture, status != PETAL_OK || listed == 1, "the list", NULL);
        if (status == PETAL_OK)
            status = petal_table_snapshot_delete(db, name, &error);
        expect(fixture, status == PETAL_OK, "a table snapshot", &error);
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
check_copy(struct snapshot_threads_fixture *fixture)
{
    petal_vfs vfs = *memory_vfs_table(fixture->base.vfs);
    uint64_t least = atomic_load(&fixture->written), found;
    struct ledger ledger = {0};
    petal_db *db;

    MUST(petal_checkpoint(fixture->base.db, COPY, WHY));
    MUST(petal_open(COPY, &fixture->base.options, &db, WHY));
    found = ledger_must_find(&ledger, db);
    assert_true(found >= least);
    assert_true(found <= atomic_load(&fixture->written) + 1);
    (void)batch_in(fixture, copy_fixture_open(db, "t"));
    MUST(petal_close(db, WHY));
    memory_vfs_list(fixture->base.vfs, COPY, remove_name, &vfs);
}

TEST(all_at_once)
{
    void *(*const works[])(void *) = {ledger_thread, counter_thread, cleaner_thread, reader_thread,
                                      snapshot_thread};
    pthread_t threads[sizeof works / sizeof *works];
    struct snapshot_threads_fixture *fixture = test_allocate(sizeof *fixture);
    petal_table *table;

    memset(fixture, 0, sizeof *fixture);
    fixture_init(&fixture->base, 1);
    fixture->base.options.memtable_bytes = 64 << 10;
    fixture_must_open(&fixture->base);
    MUST(ledger_create(&fixture->ledger, fixture->base.db, WHY));
    MUST(copy_fixture_create(fixture->base.db, "t", &table, WHY));
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, works[i], fixture), 0);
    for (unsigned round = 0; round < ROUNDS; round++)
        check_copy(fixture);
    atomic_store(&fixture->stop, true);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&fixture->wrong), 0);
    fixture_must_close(&fixture->base);
    fixture_must_open(&fixture->base);
    copy_fixture_expect_no_stray(&fixture->base);
    fixture_fini(&fixture->base);
    free(fixture);
}
