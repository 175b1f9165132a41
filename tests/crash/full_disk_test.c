/*
 * full_disk_test.c -- a disk that fills up and is emptied again is no damage: writes that find it
 * full are refused with PETAL_NO_SPACE and leave nothing, reads go on, and the database takes
 * writes again when there is room. Then the process dies or the power fails: nothing acknowledged
 * is lost, nothing refused appears. At every call: tests/crash/sequence_test.c.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <errno.h>

static void
start(struct fixture *fixture, struct ledger *ledger)
{
    *ledger = (struct ledger){0};
    ledger_start(ledger, fixture, 4);
}

/* Room for so many bytes more. */
static void
leave_room(struct fixture *fixture, uint64_t bytes)
{
    memory_vfs_set_capacity(fixture->vfs, memory_vfs_used(fixture->vfs) + bytes);
}

/* What a fresh process finds in a copy of the files. */
static uint64_t
prefix_after(struct memory_vfs *files)
{
    struct fixture after;
    struct ledger ledger = {0};
    uint64_t count;

    fixture_init_on(&after, files, 9);
    fixture_must_open(&after);
    count = ledger_must_find(&ledger, after.db);
    fixture_must_close(&after);
    fixture_fini(&after);
    return count;
}

/* The process dies, or the power fails, now: there are from `least` to `most` writes, `synced` at
 * least after the latter. */
static void
check_crashes(struct fixture *fixture, uint64_t synced, uint64_t least, uint64_t most)
{
    for (unsigned i = 0; i < 8; i++) {
        struct memory_vfs *files = memory_vfs_clone(fixture->vfs);

        memory_vfs_set_capacity(files, UINT64_MAX);
        if (i > 0)
            memory_vfs_power_cut(files,
                                 i == 1   ? MEMORY_CUT_LOSE_ALL
                                 : i == 2 ? MEMORY_CUT_KEEP_ALL
                                          : MEMORY_CUT_RANDOM,
                                 i);
        assert_in_range(prefix_after(files), i == 0 ? least : synced, most);
    }
}

/* ---- one write, with every amount of room that is too little for it ---- */

/* Write 8 does not fit: it is refused, is not seen, not now and not after a crash, and succeeds
 * when there is room. */
static bool
refuse_with_room(uint64_t room, enum petal_durability durability)
{
    struct fixture fixture;
    struct ledger ledger;
    petal_error error;
    enum petal_status status;

    start(&fixture, &ledger);
    for (uint64_t number = 1; number <= 7; number++)
        must(ledger_write(&ledger, number, PETAL_SYNC_WAL, &error), &error);
    leave_room(&fixture, room);
    status = ledger_write(&ledger, 8, durability, &error);
    if (status != PETAL_OK) {
        assert_int_equal(status, PETAL_NO_SPACE);
        assert_int_equal(error.os_error, ENOSPC);
        assert_int_equal(ledger_must_be_prefix(&ledger), 7);
        check_crashes(&fixture, room == 0 ? 0 : 7, 7, 7);
        assert_int_equal(ledger_write(&ledger, 8, durability, &error), PETAL_NO_SPACE);
        assert_int_equal(petal_flush(fixture.db, NULL, &error), PETAL_NO_SPACE);
        /* There is no room for the header of the log that follows. */
        assert_int_equal(ledger_write(&ledger, 8, durability, &error), PETAL_NO_SPACE);
        memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
        must(ledger_write(&ledger, 8, durability, &error), &error);
        check_crashes(&fixture, durability == PETAL_FSYNC_WAL ? 8 : 0, 8, 8);
        must(ledger_write(&ledger, 9, durability, &error), &error);
        assert_int_equal(ledger_must_be_prefix(&ledger), 9);
    }
    fixture_die(&fixture);
    memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
    fixture_must_open(&fixture);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), status == PETAL_OK ? 8 : 9);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
    return status != PETAL_OK;
}

TEST(test_a_write_that_does_not_fit)
{
    static const enum petal_durability levels[] = {PETAL_SYNC_WAL, PETAL_FSYNC_WAL,
                                                   PETAL_ASYNC_WAL};
    uint64_t room = 0;

    while (refuse_with_room(room, levels[room % 3]))
        room += 2;
    assert_true(room > 30);
}

static uint64_t
memtable_memory(petal_db *db)
{
    petal_stats stats;

    petal_stats_get(db, &stats);
    return stats.memtable_memory;
}

/* However often a put is tried. */
TEST(test_refused_writes_take_no_memory)
{
    struct fixture fixture;
    struct ledger ledger;
    petal_error error;
    uint64_t memory = 0;
    char value[5000];

    memset(value, 'v', sizeof value);
    start(&fixture, &ledger);
    leave_room(&fixture, 1000);
    for (unsigned tries = 0; tries < 1000; tries++) {
        assert_int_equal(petal_put(ledger.families[0], slice_from_text("row"), slice_from_text("q"),
                                   PETAL_LATEST, slice_make(value, sizeof value), NULL, &error),
                         PETAL_NO_SPACE);
        if (tries == 10)
            memory = memtable_memory(fixture.db);
    }
    assert_int_equal(memtable_memory(fixture.db), memory);
    memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), 0);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* ---- flushes ---- */

/* A flush is asked for again when there is room: it does not come back with what the try before
 * found. */
TEST(test_a_flush_tries_again)
{
    struct fixture fixture;
    struct ledger ledger;
    petal_error error;

    start(&fixture, &ledger);
    for (uint64_t number = 1; number <= 20; number++)
        must(ledger_write(&ledger, number, PETAL_SYNC_WAL, &error), &error);
    for (unsigned turn = 0; turn < 10; turn++) {
        leave_room(&fixture, 300); /* enough for another log */
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(petal_flush(fixture.db, NULL, &error), PETAL_NO_SPACE);
            assert_non_null(strstr(error.file, ".sst"));
        }
        memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
        must(petal_flush(fixture.db, NULL, &error), &error);
        assert_int_equal(fixture_count_files(&fixture, ".sst"), (turn + 1) * LEDGER_STORES);
        for (uint64_t i = 1; i <= 20; i++)
            must(ledger_write(&ledger, (turn + 1) * 20 + i, PETAL_SYNC_WAL, &error), &error);
    }
    assert_int_equal(ledger_must_be_prefix(&ledger), 220);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* ---- file systems that copy on write ---- */

/* Taking back what did not fit in takes space, too. The write may be there after a death, and says
 * so; what comes after it is refused and leaves nothing, nothing acknowledged is lost, and writes
 * go on when there is room. */
static bool
refuse_where_files_are_copied(uint64_t room, uint64_t *undecided)
{
    struct fixture fixture;
    struct ledger ledger;
    petal_error error;
    enum petal_status status;
    bool known;

    start(&fixture, &ledger);
    memory_vfs_copy_on_write(fixture.vfs, true);
    for (uint64_t number = 1; number <= 7; number++)
        must(ledger_write(&ledger, number, PETAL_SYNC_WAL, &error), &error);
    leave_room(&fixture, room);
    status = ledger_write(&ledger, 8, PETAL_SYNC_WAL, &error);
    known = status == PETAL_NO_SPACE;
    if (status != PETAL_OK) {
        assert_true(known || status == PETAL_IO);
        assert_int_equal(error.os_error, ENOSPC);
        *undecided += !known;
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(ledger_must_be_prefix(&ledger), 7);
            check_crashes(&fixture, 0, 7, known ? 7 : 8);
            assert_int_equal(ledger_write(&ledger, 8, PETAL_SYNC_WAL, &error), PETAL_NO_SPACE);
        }
        if (room % 2 == 0)
            assert_int_equal(petal_flush(fixture.db, NULL, &error), PETAL_NO_SPACE);
        memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
        must(ledger_write(&ledger, 8, PETAL_SYNC_WAL, &error), &error);
        check_crashes(&fixture, 0, 8, 8);
        must(ledger_write(&ledger, 9, PETAL_FSYNC_WAL, &error), &error);
        check_crashes(&fixture, 9, 9, 9);
    }
    fixture_die(&fixture);
    memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
    fixture_must_open(&fixture);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), status == PETAL_OK ? 8 : 9);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
    return status != PETAL_OK;
}

TEST(test_files_that_are_copied_on_write)
{
    uint64_t room = 0, undecided = 0;

    while (refuse_where_files_are_copied(room, &undecided))
        room += 3;
    assert_true(room > 30);
    assert_true(undecided > 0);
}
