/*
 * engine_log_sync_test.c -- when logs are synced: in time, whatever the leader waits for and whoever sets the clock; and before a write
 * that must survive anything, so that it is not taken for the end of what is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/log.h"
#include "engine/write.h"
#include "tests/engine_fixture.h"

#include <sched.h>
#include <stdlib.h>

static void
must_write(struct ledger *ledger, uint64_t number, enum petal_durability durability)
{
    petal_error error;

    must(ledger_write(ledger, number, durability, &error), &error);
}

static void
rotate(petal_db *db)
{
    struct write_place place;
    petal_error error;

    write_lead_alone(db, &place);
    must(log_rotate(db, &error), &error);
    write_lead_end(db, &place);
}

static void
start(struct fixture *fixture, struct ledger *ledger, uint32_t interval_ms)
{
    petal_error error;

    *ledger = (struct ledger){0};
    fixture_init(fixture, 4);
    fixture->options.log_sync_interval_ms = interval_ms;
    fixture_must_open(fixture);
    must(ledger_create(ledger, fixture->db, &error), &error);
}

/* ---- damage in a closed log ---- */

/* Of a closed log, to be released. */
static char *
path_of_log(petal_db *db, size_t which)
{
    char *path = test_allocate(PETAL_PATH_BYTES);

    filename_log(path, db->directory, db->closed_logs[which].number);
    return path;
}

/* The FSYNC_WAL write is the last one ever. It tells that the log before was synced, so what is bad there is no torn tail: else
 * the write would go with it. */
static void
test_damage_before_the_last_synced_write(void **state)
{
    (void)state;
    for (int step = 0; step < 3; step++) {
        struct fixture fixture, after;
        struct ledger ledger;
        uint8_t *bytes;
        size_t size;
        char *path;
        struct memory_vfs *files;
        petal_error error;

        start(&fixture, &ledger, PETAL_NEVER);
        for (uint64_t number = 1; number <= 3; number++)
            must_write(&ledger, number, PETAL_SYNC_WAL);
        rotate(fixture.db);
        if (step > 0)
            must_write(&ledger, 4, step == 1 ? PETAL_SYNC_WAL : PETAL_ASYNC_WAL);
        must_write(&ledger, step > 0 ? 5 : 4, PETAL_FSYNC_WAL);
        path = path_of_log(fixture.db, 0);
        files = memory_vfs_clone(fixture.vfs);
        memory_vfs_power_cut(files, MEMORY_CUT_LOSE_ALL, 0);
        assert_int_equal(memory_vfs_read_file(files, path, &bytes, &size), 0);
        bytes[size / 2] ^= 1;
        assert_int_equal(memory_vfs_write_file(files, path, bytes, size), 0);
        free(bytes);
        free(path);
        fixture_init_on(&after, files, 9);
        assert_int_equal(fixture_open(&after, &error), PETAL_CORRUPT);
        fixture_fini(&after);
        fixture_must_close(&fixture);
        fixture_fini(&fixture);
    }
}

/* ---- syncs in time ---- */

static uint64_t
count_syncs(petal_db *db)
{
    petal_stats stats;

    petal_stats_get(db, &stats);
    return stats.log_syncs;
}

/* As a leader does that waits for memory. */
static void
test_a_leader_that_waits_holds_up_no_sync(void **state)
{
    struct fixture fixture;
    struct ledger ledger;
    struct write_place place;

    (void)state;
    start(&fixture, &ledger, 300);
    must_write(&ledger, 1, PETAL_SYNC_WAL);
    write_lead_alone(fixture.db, &place);
    while (count_syncs(fixture.db) == 0)
        sched_yield();
    write_lead_end(fixture.db, &place);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* What stays in the buffer of an ASYNC_WAL write that comes beside a sync is synced by a later one. */
static void
test_what_is_buffered_is_synced(void **state)
{
    struct fixture fixture;
    struct ledger ledger;

    (void)state;
    start(&fixture, &ledger, 1);
    for (uint64_t number = 1; number <= 50; number++) {
        uint64_t before = fixture.db->wal != NULL ? wal_synced_sequence(fixture.db->wal) : 0;

        must_write(&ledger, number, PETAL_ASYNC_WAL);
        while (wal_synced_sequence(fixture.db->wal) == before)
            sched_yield();
    }
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* The last sync was long ago by any clock, and the log thread is not to be seen. */
static void
test_a_clock_that_is_set_back(void **state)
{
    struct fixture fixture;
    struct ledger ledger;

    (void)state;
    start(&fixture, &ledger, 3600000);
    must_write(&ledger, 1, PETAL_SYNC_WAL);
    test_clock_advance(&fixture.clock, -24 * 3600000);
    must_write(&ledger, 2, PETAL_SYNC_WAL);
    assert_int_equal(count_syncs(fixture.db), 1);
    must_write(&ledger, 3, PETAL_SYNC_WAL);
    assert_int_equal(count_syncs(fixture.db), 1);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage_before_the_last_synced_write),
        cmocka_unit_test(test_a_leader_that_waits_holds_up_no_sync),
        cmocka_unit_test(test_what_is_buffered_is_synced),
        cmocka_unit_test(test_a_clock_that_is_set_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
