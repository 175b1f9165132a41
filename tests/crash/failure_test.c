/*
 * failure_test.c -- promises about single failures that no answer shows: a failed log or manifest
 * makes the database read-only, and tells the cause; a full disk costs no memory, and what is asked
 * for again is tried again; no sync of a directory succeeds after one that failed. What a failure
 * at any call leaves: tests/crash/failure_sites_test.c, tests/crash/sequence_test.c.
 */

#include "base/directory.h"
#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"

#include <errno.h>

/* ---- the read-only state ---- */

static void
check_read_only(struct fixture *fixture, struct ledger *ledger, uint64_t count, const char *cause)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("new"), .families = &family, .family_count = 1};
    struct ledger_state state;
    petal_table *table;
    petal_error error;

    assert_int_equal(ledger_write(ledger, count + 1, PETAL_SKIP_WAL, &error), PETAL_READ_ONLY);
    assert_int_equal(error.status, PETAL_READ_ONLY);
    assert_int_equal(error.os_error, EIO);
    assert_non_null(strstr(error.text, cause));
    assert_non_null(strstr(error.file, cause));
    assert_int_equal(petal_table_create(fixture->db, &options, &table, &error), PETAL_READ_ONLY);
    assert_int_equal(petal_table_drop(ledger->tables[0], &error), PETAL_READ_ONLY);
    assert_int_equal(petal_flush(fixture->db, NULL, &error), PETAL_READ_ONLY);
    assert_non_null(strstr(error.text, cause));
    must(ledger_read(ledger, &state, &error), &error);
    assert_true(ledger_is_after(&state, count));
    assert_int_equal(petal_close(fixture->db, &error), PETAL_READ_ONLY);
    fixture->db = NULL;
    fixture_must_open(fixture);
    assert_true(ledger_must_find(ledger, fixture->db) >= count);
}

static void
start_with_writes(struct fixture *fixture, struct ledger *ledger)
{
    ledger_start(ledger, fixture, 4);
    for (uint64_t number = 1; number <= 7; number++)
        MUST(ledger_write(ledger, number, PETAL_SYNC_WAL, WHY));
}

TEST(test_read_only_after_the_log_failed)
{
    for (uint64_t call = 1; call <= 2; call++) { /* the store, the sync */
        struct fixture fixture;
        struct ledger ledger = {0};
        petal_error error;

        start_with_writes(&fixture, &ledger);
        memory_vfs_fail_at(fixture.vfs, call, EIO, false);
        assert_int_equal(ledger_write(&ledger, 8, PETAL_FSYNC_WAL, &error), PETAL_IO);
        assert_int_equal(error.os_error, EIO);
        assert_non_null(strstr(error.text, ".log"));
        check_read_only(&fixture, &ledger, 7, ".log");
        fixture_fini(&fixture);
    }
}

TEST(test_read_only_after_the_manifest_failed)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("new"), .families = &family, .family_count = 1};
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_table *table;
    petal_error error;

    start_with_writes(&fixture, &ledger);
    memory_vfs_fail_at(fixture.vfs, 2, EIO, false); /* the sync after the append */
    assert_int_equal(petal_table_create(fixture.db, &options, &table, &error), PETAL_IO);
    assert_null(table);
    check_read_only(&fixture, &ledger, 7, "MANIFEST");
    fixture_fini(&fixture);
}

/* ---- full disks ---- */

/* Room for so many bytes more. */
static void
leave_room(struct fixture *fixture, uint64_t bytes)
{
    memory_vfs_set_capacity(fixture->vfs, memory_vfs_used(fixture->vfs) + bytes);
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
    struct ledger ledger = {0};
    petal_error error;
    uint64_t memory = 0;
    char value[5000];

    memset(value, 'v', sizeof value);
    ledger_start(&ledger, &fixture, 4);
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

/* A flush is asked for again when there is room: it does not come back with what the try before
 * found. */
TEST(test_a_flush_tries_again)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_error error;

    ledger_start(&ledger, &fixture, 4);
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

/* ---- directories ---- */

/* What was lost cannot be had by asking again. */
TEST(test_no_sync_succeeds_after_one_that_failed)
{
    struct directory directory;
    struct fixture fixture;
    struct env env;

    fixture_init(&fixture, 2);
    env_init(&env, &fixture.env);
    assert_int_equal(directory_open(&directory, &env, FIXTURE_DIRECTORY, true), 0);
    assert_int_equal(directory_sync(&directory), 0);
    memory_vfs_fail_at(fixture.vfs, 1, ENOSPC, false);
    assert_int_equal(directory_sync(&directory), ENOSPC);
    assert_int_equal(directory_sync(&directory), ENOSPC);
    directory_forgive_failed_sync(&directory);
    assert_int_equal(directory_sync(&directory), 0);
    directory_close(&directory);
    fixture_fini(&fixture);
}

/* The database's directory is a name in its parent, which must be durable, too, however the path is
 * written. */
TEST(test_a_new_directory_survives)
{
    static const char *const paths[] = {"/db",       "db",          "db/",
                                        "/outer/db", "outer//db//", "./outer/db"};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct fixture made;
        petal_db *db;

        fixture_init(&made, 1);
        vfs_make_directory(made.env.vfs, "/outer");
        vfs_sync_directory(made.env.vfs, "/");
        MUST(petal_open(paths[i], &made.options, &db, WHY));
        memory_vfs_power_cut(made.vfs, MEMORY_CUT_LOSE_ALL, 0);
        petal_close(db, NULL);
        made.options.create = false;
        MUST(petal_open(paths[i], &made.options, &db, WHY));
        MUST(petal_close(db, WHY));
        fixture_fini(&made);
    }
}
