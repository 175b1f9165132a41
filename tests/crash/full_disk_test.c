/*
 * full_disk_test.c -- a disk that fills up and is emptied again is no damage: writes that find it
 * full are refused with PETAL_NO_SPACE and leave nothing, reads go on, and the database takes
 * writes again when there is room. Then the process dies or the power fails, at every call: nothing
 * acknowledged is lost, nothing refused appears.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void
start(struct fixture *fixture, struct ledger *ledger)
{
    petal_error error;

    *ledger = (struct ledger){0};
    fixture_init(fixture, 4);
    fixture_must_open(fixture);
    must(ledger_create(ledger, fixture->db, &error), &error);
}

/* Room for so many bytes more. */
static void
leave_room(struct fixture *fixture, uint64_t bytes)
{
    memory_vfs_set_capacity(fixture->vfs, memory_vfs_used(fixture->vfs) + bytes);
}

static uint64_t
must_be_prefix(struct fixture *fixture, struct ledger *ledger)
{
    petal_error error;

    must(ledger_attach(ledger, fixture->db, &error), &error);
    return ledger_must_be_prefix(ledger);
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
    count = must_be_prefix(&after, &ledger);
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
    assert_int_equal(must_be_prefix(&fixture, &ledger), status == PETAL_OK ? 8 : 9);
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
    assert_int_equal(must_be_prefix(&fixture, &ledger), 0);
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
 * so; what comes behind it is refused and leaves nothing, nothing acknowledged is lost, and writes
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
    assert_int_equal(must_be_prefix(&fixture, &ledger), status == PETAL_OK ? 8 : 9);
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

/* ---- tables, and all else that goes through the manifest ---- */

static void
change_tables(bool copy_on_write)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("new"), .families = &family, .family_count = 1};
    uint64_t room = 0;
    enum petal_status status;

    do {
        struct fixture fixture;
        struct ledger ledger;
        petal_table_options other = options;
        petal_table *table;
        petal_error error;

        start(&fixture, &ledger);
        must(ledger_write(&ledger, 1, PETAL_SYNC_WAL, &error), &error);
        memory_vfs_copy_on_write(fixture.vfs, copy_on_write);
        leave_room(&fixture, room);
        status = petal_table_create(fixture.db, &options, &table, &error);
        if (status != PETAL_OK) {
            assert_int_equal(status, PETAL_NO_SPACE);
            check_crashes(&fixture, 0, 1, 1);
            assert_int_equal(petal_table_create(fixture.db, &options, &table, &error),
                             PETAL_NO_SPACE);
            memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
            other.name = slice_from_text("other");
            must(petal_table_create(fixture.db, &other, &table, &error), &error);
        }
        memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
        must(ledger_write(&ledger, 2, PETAL_SYNC_WAL, &error), &error);
        fixture_die(&fixture);
        fixture_must_open(&fixture);
        must(petal_table_open(fixture.db, other.name, &table, &error), &error);
        if (status != PETAL_OK)
            assert_int_equal(petal_table_open(fixture.db, options.name, &table, &error),
                             PETAL_NOT_FOUND);
        assert_int_equal(must_be_prefix(&fixture, &ledger), 2);
        fixture_must_close(&fixture);
        fixture_fini(&fixture);
        room += 5;
    } while (status != PETAL_OK);
    assert_true(room > 50);
}

TEST(test_changes_of_tables_that_do_not_fit)
{
    change_tables(false);
    change_tables(true);
}

/* ---- the whole run, cut at every call ---- */

struct run {
    struct fixture fixture;
    struct ledger ledger;
    uint64_t attempted, stored, synced;
};

static bool
write_one(struct run *run, enum petal_durability durability)
{
    uint64_t number = run->stored + 1;

    run->attempted = number;
    if (ledger_write(&run->ledger, number, durability, NULL) != PETAL_OK)
        return false;
    run->stored = number;
    if (durability == PETAL_FSYNC_WAL)
        run->synced = number;
    return true;
}

/* Fills the disk twice, once where there is room for part of a write, once where a new log is
 * begun. */
static void
run_until_cut(struct run *run)
{
    struct memory_vfs *vfs = run->fixture.vfs;

    for (unsigned round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < 3; i++)
            write_one(run, i == 1 ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL);
        leave_room(&run->fixture, round % 2 == 0 ? 60 : 0);
        if (round >= 2 && petal_flush(run->fixture.db, NULL, NULL) == PETAL_OK)
            return;
        for (unsigned tries = 0; tries < 2; tries++) {
            if (!write_one(run, PETAL_SYNC_WAL) && !memory_vfs_is_off(vfs))
                run->attempted = run->stored; /* the answer was given: it is refused */
        }
        memory_vfs_set_capacity(vfs, UINT64_MAX);
        if (memory_vfs_is_off(vfs))
            return;
    }
}

/* The process dies, another one opens what the kernel holds, and the power fails. */
static void
check_further_life(const struct run *run, unsigned state, uint64_t seed)
{
    struct memory_vfs *files = memory_vfs_clone(run->fixture.vfs);
    bool opened;

    memory_vfs_set_capacity(files, UINT64_MAX);
    files = fixture_further_state(files, state, seed, &opened);
    assert_in_range(prefix_after(files), opened ? run->stored : run->synced, run->attempted);
}

TEST(test_power_cut_at_every_call)
{
    uint64_t cuts = 0;
    bool off = true;

    while (off) {
        struct run run = {.attempted = 0};

        start(&run.fixture, &run.ledger);
        memory_vfs_cut_at(run.fixture.vfs, ++cuts);
        run_until_cut(&run);
        off = memory_vfs_is_off(run.fixture.vfs);
        petal_close(run.fixture.db, NULL);
        run.fixture.db = NULL;
        for (unsigned i = 0; off && i < 10; i++) {
            struct memory_vfs *files = memory_vfs_clone(run.fixture.vfs);
            uint64_t found;

            memory_vfs_set_capacity(files, UINT64_MAX);
            memory_vfs_power_cut(files,
                                 i == 0   ? MEMORY_CUT_LOSE_ALL
                                 : i == 1 ? MEMORY_CUT_KEEP_ALL
                                          : MEMORY_CUT_RANDOM,
                                 cuts * 100 + i);
            found = prefix_after(files);
            assert_in_range(found, i == 1 ? run.stored : run.synced, run.attempted);
        }
        for (unsigned i = 0; off && i < 6; i++)
            check_further_life(&run, i, cuts * 100);
        fixture_fini(&run.fixture);
    }
    print_message("%" PRIu64 " cuts\n", cuts - 1);
    assert_true(cuts > 40);
}
