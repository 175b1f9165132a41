/* death_cut_test.c -- a process dies, the next one opens what the kernel still holds, and the power
 * fails. */

#include "engine/state/db.h"
#include "engine/wal/wal.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

static void
start(struct fixture *fixture, struct ledger *ledger)
{
    petal_error error;

    *ledger = (struct ledger){0};
    fixture_init(fixture, 4);
    fixture_must_open(fixture);
    must(ledger_create(ledger, fixture->db, &error), &error);
}

#define LIVES_WRITES 60

/* What a process that died left: several logs, of which none but the first write is synced, and an
 * unused one. */
static struct memory_vfs *
leave_logs(void)
{
    struct fixture fixture;
    struct ledger ledger;
    struct memory_vfs *files;

    start(&fixture, &ledger);
    ledger.filler = LEDGER_MAX_FILLER;
    for (uint64_t number = 1; number <= LIVES_WRITES; number++) {
        ledger_must_write(&ledger, number, number == 1 ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL);
        if (number % 16 == 0)
            must(fixture_close_log(&fixture), NULL);
    }
    wal_make_spare(fixture.db);
    files = memory_vfs_clone(fixture.vfs);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
    return files;
}

static uint64_t
count_writes(struct memory_vfs *files)
{
    struct fixture fixture;
    struct ledger ledger = {.filler = LEDGER_MAX_FILLER};
    petal_error error;
    uint64_t count;

    fixture_init_on(&fixture, files, 7);
    fixture_must_open(&fixture);
    assert_true(fixture_directory_is_clean(&fixture));
    must(ledger_attach(&ledger, fixture.db, &error), &error);
    count = ledger_must_be_prefix(&ledger);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
    return count;
}

/* The next process reads what the kernel still holds and the medium does not. It flushes more than
 * once while it replays. What it has shown stays; if the power fails while it opens, a prefix
 * does. */
TEST(test_a_power_cut_after_a_death)
{
    struct memory_vfs *left = leave_logs();
    uint64_t n, seed = test_seed();
    bool completed = false;

    for (n = 1; !completed; n++) {
        struct fixture fixture;
        enum petal_status status;

        fixture_init_on(&fixture, memory_vfs_clone(left), 5);
        fixture.options.memtable_bytes = 64 * 1024;
        memory_vfs_cut_at(fixture.vfs, n);
        status = fixture_open(&fixture, NULL);
        completed = status == PETAL_OK && !memory_vfs_is_off(fixture.vfs);
        for (unsigned i = 0; i < (test_long() ? 50 : 6); i++) {
            struct memory_vfs *files = memory_vfs_clone(fixture.vfs);
            uint64_t count;

            memory_vfs_power_cut(files, i == 0 ? MEMORY_CUT_LOSE_ALL : MEMORY_CUT_RANDOM,
                                 seed + n * 100 + i);
            count = count_writes(files);
            assert_in_range(count, status == PETAL_OK ? LIVES_WRITES : 1, LIVES_WRITES);
        }
        petal_close(fixture.db, NULL);
        fixture.db = NULL;
        fixture_fini(&fixture);
    }
    assert_true(n > 60);
    memory_vfs_free(left);
}

/* What it costs when there is nothing to recover. */
TEST(test_an_opening_after_a_closing_writes_one_file)
{
    struct fixture fixture;
    struct ledger ledger;
    unsigned writes = 0, syncs = 0;

    start(&fixture, &ledger);
    ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture); /* removes the log */
    fixture_must_close(&fixture);
    memory_vfs_trace(fixture.vfs, true);
    fixture_must_open(&fixture);
    for (size_t i = 0; i < memory_vfs_trace_count(fixture.vfs); i++) {
        enum memory_vfs_operation operation = memory_vfs_trace_at(fixture.vfs, i).operation;

        writes += operation == MEMORY_VFS_WRITE;
        syncs += operation == MEMORY_VFS_SYNC || operation == MEMORY_VFS_SYNC_DIRECTORY;
    }
    assert_int_equal(writes, 1);
    assert_int_equal(syncs, 2);
    fixture_fini(&fixture);
}

/* A disk that is full, to the last byte, does not refuse what is closed and has nothing to recover;
 * nor does that what a dead process left of a change of tables, synced or not. What the opening
 * shows stays. */
TEST(test_openings_of_a_full_disk)
{
    bool more = true;

    for (uint64_t at = 1; more; at++) {
        struct fixture fixture;
        struct ledger ledger = {0};
        petal_error error;
        bool shown;

        fixture_init(&fixture, 4);
        fixture_must_open(&fixture);
        memory_vfs_cut_at(fixture.vfs, at);
        (void)ledger_create(&ledger, fixture.db, NULL);
        more = memory_vfs_is_off(fixture.vfs);
        fixture_die(&fixture);
        memory_vfs_process_death(fixture.vfs);
        memory_vfs_set_capacity(fixture.vfs, memory_vfs_used(fixture.vfs));
        fixture_must_open(&fixture);
        shown = ledger_attach(&ledger, fixture.db, NULL) == PETAL_OK;
        fixture_die(&fixture);
        memory_vfs_power_cut(fixture.vfs, MEMORY_CUT_LOSE_ALL, at);
        fixture_must_open(&fixture);
        if (shown)
            must(ledger_attach(&ledger, fixture.db, &error), &error);
        fixture_fini(&fixture);
    }
}
