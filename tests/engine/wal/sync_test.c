/*
 * sync_test.c -- when logs are synced: in time, whatever the leader waits for and whoever sets the
 * clock; and before a write that must survive anything, so that it is not taken for the end of what
 * is lost.
 */

#include "engine/state/db.h"
#include "engine/wal/wal.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

static void
start(struct fixture *fixture, struct ledger *ledger, uint32_t interval_ms)
{
    *ledger = (struct ledger){0};
    fixture_init(fixture, 4);
    fixture->options.log_sync_interval_ms = interval_ms;
    fixture_must_open(fixture);
    MUST(ledger_create(ledger, fixture->db, WHY));
}

/* ---- damage in a closed log ---- */

/* Of a closed log, to be released. */
static char *
path_of_log(petal_db *db, size_t which)
{
    char *path = test_allocate(PETAL_PATH_BYTES);

    filename_wal(path, db->directory.path, db->wal->closed[which].number);
    return path;
}

/* The FSYNC_WAL write is the last one ever. It tells that the log before was synced, so what is bad
 * there is no torn tail: else the write would go with it. */
TEST(test_damage_before_the_last_synced_write)
{
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
            ledger_must_write(&ledger, number, PETAL_SYNC_WAL);
        must(fixture_close_log(&fixture), NULL);
        if (step > 0)
            ledger_must_write(&ledger, 4, step == 1 ? PETAL_SYNC_WAL : PETAL_ASYNC_WAL);
        ledger_must_write(&ledger, step > 0 ? 5 : 4, PETAL_FSYNC_WAL);
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

/* Whether all that is stored comes to be synced: by a bound that no sane machine needs, so that a
 * test which fails ends. */
static bool
comes_to_be_synced(petal_db *db)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (unsigned i = 0; i < 60000; i++) {
        if (wal_file_synced_length(db->wal->current) == wal_file_length(db->wal->current))
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* What is acknowledged at SYNC_WAL, with a write of `beside` after it, is synced while the locks
 * are held that a leader holds who waits for memory, and a change of the schema whose sync of the
 * manifest takes long. */
static void
hold_up(enum petal_durability beside)
{
    struct fixture fixture;
    struct ledger ledger;
    struct write_place place;
    petal_db *db;

    start(&fixture, &ledger, 300);
    db = fixture.db;
    ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
    ledger_must_write(&ledger, 2, beside);
    write_lead_alone(&db->writers.queue, &place);
    mutex_lock(&db->schema.mutex);
    mutex_lock(&db->manifest_mutex);
    mutex_lock(&db->views.mutex);
    assert_true(comes_to_be_synced(db));
    assert_true(count_syncs(db) > 0);
    mutex_unlock(&db->views.mutex);
    mutex_unlock(&db->manifest_mutex);
    mutex_unlock(&db->schema.mutex);
    write_lead_end(&db->writers.queue, &place);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

TEST(test_a_leader_that_waits_holds_up_no_sync)
{
    hold_up(PETAL_SYNC_WAL);
    hold_up(PETAL_ASYNC_WAL);
    hold_up(PETAL_SKIP_WAL);
}

/* The WAL thread has other things to do all the time: it syncs when the interval is over all the
 * same. */
TEST(test_a_busy_wal_thread_syncs)
{
    struct fixture fixture;
    struct ledger ledger;
    petal_db *db;
    bool synced = false;

    start(&fixture, &ledger, 50);
    db = fixture.db;
    ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
    for (unsigned long i = 0; !synced && i < 50000000; i++) {
        mutex_lock(&db->wal->mutex);
        db->wal->spare_wanted = true;
        pthread_cond_signal(&db->wal->wanted);
        synced = wal_file_synced_length(db->wal->current) == wal_file_length(db->wal->current);
        mutex_unlock(&db->wal->mutex);
    }
    assert_true(synced);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* ASYNC_WAL promises less than SYNC_WAL and is stored as that is: it survives the process. */
TEST(test_async_writes_are_stored)
{
    struct fixture fixture;
    struct ledger ledger;

    start(&fixture, &ledger, PETAL_NEVER);
    for (uint64_t number = 1; number <= 5; number++)
        ledger_must_write(&ledger, number, PETAL_ASYNC_WAL);
    assert_int_equal(count_syncs(fixture.db), 0);
    fixture_die(&fixture);
    fixture_must_open(&fixture);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), 5);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* What comes beside a sync is synced by a later one. */
TEST(test_what_comes_beside_a_sync_is_synced)
{
    struct fixture fixture;
    struct ledger ledger;

    start(&fixture, &ledger, 1);
    for (uint64_t number = 1; number <= 50; number++) {
        uint64_t before = fixture.db->wal->current != NULL
                              ? wal_file_synced_sequence(fixture.db->wal->current)
                              : 0;

        ledger_must_write(&ledger, number, PETAL_ASYNC_WAL);
        while (wal_file_synced_sequence(fixture.db->wal->current) == before)
            sched_yield();
    }
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* The WAL thread has cleared the time, and then not seen what was stored: nothing but the lengths
 * tells it. */
TEST(test_what_was_missed_by_a_sync_is_synced)
{
    struct fixture fixture;
    struct ledger ledger;
    petal_db *db;

    start(&fixture, &ledger, 2000);
    db = fixture.db;
    ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
    atomic_store(&db->wal->unsynced_since_ms, 0);
    assert_true(comes_to_be_synced(db));
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* The last sync was long ago by any clock, and the WAL thread is not to be seen. */
TEST(test_a_clock_that_is_set_back)
{
    struct fixture fixture;
    struct ledger ledger;

    start(&fixture, &ledger, 3600000);
    ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
    test_clock_advance(&fixture.clock, -24 * 3600000);
    ledger_must_write(&ledger, 2, PETAL_SYNC_WAL);
    assert_int_equal(count_syncs(fixture.db), 1);
    ledger_must_write(&ledger, 3, PETAL_SYNC_WAL);
    assert_int_equal(count_syncs(fixture.db), 1);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}
