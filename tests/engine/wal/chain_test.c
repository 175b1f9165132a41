/*
 * chain_test.c -- logs that follow each other without being synced. A write never waits for the
 * medium when memtables switch; a log is synced after all before it, and never once one of them
 * failed; a log made ahead is used or removed. Power cuts: tests/crash/sequence_test.c.
 */

#include "engine/state/db.h"
#include "engine/wal/wal.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

static void
start(struct fixture *fixture, struct ledger *ledger)
{
    *ledger = (struct ledger){0};
    ledger_start(ledger, fixture, 4);
}

/* What a fresh process finds in the files, which are consumed. */
static uint64_t
prefix_after(struct memory_vfs *files, size_t filler)
{
    struct fixture after;
    struct ledger ledger = {.filler = filler};
    petal_error error;
    uint64_t count = 0;

    fixture_init_on(&after, files, 9);
    fixture_must_open(&after);
    assert_true(fixture_directory_is_clean(&after));
    if (ledger_attach(&ledger, after.db, &error) == PETAL_OK)
        count = ledger_must_be_prefix(&ledger);
    fixture_must_close(&after);
    fixture_fini(&after);
    return count;
}

/* ---- no write waits ---- */

static petal_vfs vfs_counting;
static const petal_vfs *vfs_behind;
static pthread_t writing_thread;
static _Atomic(unsigned) waits; /* of the writing thread for the medium */

static int
sync_counting(void *context, petal_file *file)
{
    waits += pthread_equal(pthread_self(), writing_thread) != 0;
    return vfs_behind->sync(context, file);
}

static int
sync_directory_counting(void *context, petal_directory *directory)
{
    waits += pthread_equal(pthread_self(), writing_thread) != 0;
    return vfs_behind->sync_directory(context, directory);
}

/* What the leader has asked for is ready; in practice it is, as half a memtable takes longer to
 * fill. */
static void
wait_for_spare(petal_db *db)
{
    bool ready = !db->wal->spare_asked;

    while (!ready) {
        sched_yield();
        mutex_lock(&db->wal->mutex);
        ready = db->wal->spare != NULL;
        mutex_unlock(&db->wal->mutex);
    }
}

TEST(test_no_write_waits_for_the_medium)
{
    struct fixture fixture;
    struct ledger ledger = {.filler = 2000};
    petal_stats stats = {.flushes = 0};
    uint64_t writes = 0;

    fixture_init(&fixture, 4);
    vfs_behind = fixture.env.vfs;
    vfs_counting = *vfs_behind;
    vfs_counting.sync = sync_counting;
    vfs_counting.sync_directory = sync_directory_counting;
    fixture.env.vfs = &vfs_counting;
    fixture.options.memtable_bytes = (size_t)64 << 10;
    fixture_must_open(&fixture);
    MUST(ledger_create(&ledger, fixture.db, WHY));
    ledger_must_write(&ledger, ++writes, PETAL_SYNC_WAL); /* the first one makes the log */
    writing_thread = pthread_self();
    waits = 0;
    while (stats.flushes < 20) {
        ledger_must_write(&ledger, ++writes, PETAL_SYNC_WAL);
        wait_for_spare(fixture.db);
        petal_stats_get(fixture.db, &stats);
    }
    assert_int_equal(waits, 0);
    assert_int_equal(ledger_must_be_prefix(&ledger), writes);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* ---- the order of syncs ---- */

/* The number of the log that a call names; 0: it is none. */
static uint64_t
log_of(const struct memory_vfs_call *call)
{
    const char *name = strrchr(call->path, '/');
    uint64_t number = 0;

    return filename_parse(name + 1, &number) == FILENAME_WAL ? number : 0;
}

TEST(test_logs_are_synced_in_their_order)
{
    struct fixture fixture;
    struct ledger ledger;
    uint64_t latest = 0;
    size_t syncs = 0;

    start(&fixture, &ledger);
    memory_vfs_trace(fixture.vfs, true);
    for (uint64_t number = 1; number <= 9; number++) {
        ledger_must_write(&ledger, number, number == 9 ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL);
        if (number % 3 == 0 && number < 9)
            must(fixture_close_log(&fixture), NULL);
    }
    for (size_t i = 0; i < memory_vfs_trace_count(fixture.vfs); i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(fixture.vfs, i);

        if (call.operation != MEMORY_VFS_SYNC)
            continue;
        assert_true(log_of(&call) >= latest);
        latest = log_of(&call);
        syncs++;
    }
    assert_int_equal(syncs, 4); /* the last log before the last write, too: see wal_sync_before */
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* Nothing behind a log that could not be synced is ever synced, nor does a flush name it. */
TEST(test_a_closed_log_that_fails_ends_writing)
{
    for (int by_flush = 0; by_flush < 2; by_flush++) {
        struct fixture fixture;
        struct ledger ledger;
        petal_error error;
        struct memory_vfs *files;

        start(&fixture, &ledger);
        ledger_must_write(&ledger, 1, PETAL_FSYNC_WAL);
        ledger_must_write(&ledger, 2, PETAL_SYNC_WAL);
        must(fixture_close_log(&fixture), NULL);
        ledger_must_write(&ledger, 3, PETAL_SYNC_WAL);
        memory_vfs_trace(fixture.vfs, true);
        if (by_flush) {
            memory_vfs_fail_at(fixture.vfs, 1, EIO, false);
            assert_int_equal(wal_sync_closed(fixture.db, &error), PETAL_IO);
        } else {
            memory_vfs_fail_at(fixture.vfs, 1, EIO, false);
            assert_int_equal(ledger_write(&ledger, 4, PETAL_FSYNC_WAL, &error), PETAL_IO);
        }
        assert_int_equal(memory_vfs_failures(fixture.vfs), 1);
        assert_non_null(strstr(error.text, "sync"));
        assert_int_equal(ledger_write(&ledger, 5, PETAL_FSYNC_WAL, &error), PETAL_READ_ONLY);
        assert_int_equal(wal_sync_closed(fixture.db, &error), PETAL_IO);
        assert_int_equal(ledger_must_be_prefix(&ledger), 3);
        assert_int_equal(petal_flush(fixture.db, NULL, &error), PETAL_READ_ONLY);
        files = memory_vfs_clone(fixture.vfs);
        assert_int_equal(petal_close(fixture.db, &error), PETAL_READ_ONLY);
        fixture.db = NULL;
        for (size_t i = 0, syncs = 0; i < memory_vfs_trace_count(fixture.vfs); i++) {
            syncs += memory_vfs_trace_at(fixture.vfs, i).operation == MEMORY_VFS_SYNC;
            assert_true(syncs <= 1);
        }
        memory_vfs_power_cut(files, MEMORY_CUT_LOSE_ALL, 0);
        assert_int_equal(prefix_after(files, 0), 1);
        fixture_fini(&fixture);
    }
}

/* The manifest's promise and what flushes may remove, which is nothing that waits for its sync. */
TEST(test_what_is_closed_and_not_synced)
{
    struct fixture fixture;
    struct ledger ledger;
    struct wal_promise promise;
    uint64_t first, second;

    start(&fixture, &ledger);
    ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
    first = wal_oldest_open(fixture.db);
    must(fixture_close_log(&fixture), NULL);
    MUST(wal_sync_closed(fixture.db, WHY));
    promise = wal_promised(fixture.db);
    assert_int_equal(promise.log_number, first);
    ledger_must_write(&ledger, 2, PETAL_SYNC_WAL);
    second = wal_oldest_open(fixture.db);
    must(fixture_close_log(&fixture), NULL);
    assert_int_equal(wal_promised(fixture.db).log_number, first);
    assert_int_equal(wal_promised(fixture.db).length, promise.length);
    assert_int_equal(wal_oldest_needed(fixture.db, wal_oldest_open(fixture.db), UINT64_MAX),
                     second);
    MUST(wal_sync_closed(fixture.db, WHY));
    assert_int_equal(wal_promised(fixture.db).log_number, second);
    assert_true(wal_oldest_needed(fixture.db, wal_oldest_open(fixture.db), UINT64_MAX) > second);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* ---- the log made ahead ---- */

TEST(test_an_unused_spare_is_removed)
{
    struct fixture fixture;
    struct ledger ledger;

    start(&fixture, &ledger);
    wal_make_spare(fixture.db); /* nothing is written yet, so none is needed */
    assert_int_equal(fixture_count_files(&fixture, ".log"), 0);
    ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
    wal_make_spare(fixture.db);
    wal_make_spare(fixture.db);
    assert_int_equal(fixture_count_files(&fixture, ".log"), 2);
    fixture_must_close(&fixture);
    assert_int_equal(fixture_count_files(&fixture, ".log"), 0);
    fixture_fini(&fixture);
}

/* A disk without room or descriptors for it: the leader makes the log. A directory that cannot be
 * synced ends writing. */
TEST(test_a_spare_that_cannot_be_made)
{
    struct fixture fixture;
    struct ledger ledger;
    petal_error error;

    start(&fixture, &ledger);
    ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
    memory_vfs_fail_at(fixture.vfs, 1, EMFILE, false);
    wal_make_spare(fixture.db);
    assert_int_equal(memory_vfs_failures(fixture.vfs), 1);
    must(fixture_close_log(&fixture), NULL);
    ledger_must_write(&ledger, 2, PETAL_FSYNC_WAL);
    memory_vfs_fail_at(fixture.vfs, 2, EIO, false);
    wal_make_spare(fixture.db);
    assert_int_equal(memory_vfs_failures(fixture.vfs), 2);
    assert_int_equal(ledger_write(&ledger, 3, PETAL_SYNC_WAL, &error), PETAL_READ_ONLY);
    assert_non_null(strstr(error.text, "sync directory"));
    assert_int_equal(petal_close(fixture.db, &error), PETAL_READ_ONLY);
    fixture.db = NULL;
    assert_int_equal(prefix_after(memory_vfs_clone(fixture.vfs), 0), 2);
    fixture_fini(&fixture);
}

/* ---- who wants no mapping ---- */

static unsigned logs_opened, logs_unmapped, others_unmapped;

static int
open_counting(void *context, petal_directory *directory, const char *name, unsigned flags,
              petal_file **file)
{
    size_t length = strlen(name);
    bool is_log = length > 4 && strcmp(name + length - 4, ".log") == 0;
    bool unmapped = (flags & PETAL_FILE_UNMAPPED) != 0;

    logs_opened += is_log && (flags & PETAL_FILE_CREATE) != 0;
    logs_unmapped += is_log && unmapped;
    others_unmapped += !is_log && unmapped;
    return vfs_behind->open(context, directory, name, flags, file);
}

TEST(test_all_logs_are_opened_as_the_option_says)
{
    for (int no_mapping = 0; no_mapping <= 1; no_mapping++) {
        struct fixture fixture;
        struct ledger ledger = {.filler = 200};

        fixture_init(&fixture, 4);
        vfs_behind = fixture.env.vfs;
        vfs_counting = *vfs_behind;
        vfs_counting.open = open_counting;
        fixture.env.vfs = &vfs_counting;
        fixture.options.no_log_mapping = no_mapping != 0;
        logs_opened = logs_unmapped = others_unmapped = 0;
        fixture_must_open(&fixture);
        MUST(ledger_create(&ledger, fixture.db, WHY));
        ledger_must_write(&ledger, 1, PETAL_SYNC_WAL);
        wal_make_spare(fixture.db);
        must(fixture_close_log(&fixture), NULL);
        ledger_must_write(&ledger, 2, PETAL_SYNC_WAL);
        fixture_must_close(&fixture);
        assert_int_equal(logs_opened, 2);
        assert_int_equal(logs_unmapped, no_mapping != 0 ? 2 : 0);
        assert_int_equal(others_unmapped, 0);
        fixture_fini(&fixture);
    }
}

/* ---- cold stores ---- */

#define COLD_TABLES 5

static petal_table *
make_table(petal_db *db, const char *name)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text(name), .families = &family, .family_count = 1};
    petal_table *table;

    MUST(petal_table_create(db, &options, &table, WHY));
    return table;
}

static void
put_one(petal_table *table, const void *value, size_t size)
{
    MUST(petal_put(petal_table_family_at(table, 0), slice_from_text("row"), slice_from_text("q"),
                   PETAL_LATEST, slice_make(value, size), NULL, WHY));
}

/* A busy table is flushed by its owner again and again, `bytes` each time, beside tables in which
 * somebody wrote one cell long ago. The logs do not pile up, and what is cold is flushed once. */
static void
flush_beside_cold_cells(size_t bytes, unsigned rounds, size_t most_logs)
{
    uint8_t *value = test_allocate(bytes);
    petal_table *cold[COLD_TABLES], *busy;
    struct fixture fixture;
    petal_stats stats;

    memset(value, 'v', bytes);
    fixture_init(&fixture, 4);
    fixture.options.memtable_bytes = 64 * 1024;
    fixture_must_open(&fixture);
    for (unsigned i = 0; i < COLD_TABLES; i++)
        cold[i] = make_table(fixture.db, (const char *[]){"a", "b", "c", "d", "e"}[i]);
    busy = make_table(fixture.db, "busy");
    for (unsigned round = 0; round < rounds; round++) {
        if (round % 7 == 0 && round / 7 < COLD_TABLES)
            put_one(cold[round / 7], "cold", 4);
        put_one(busy, value, bytes);
        MUST(petal_flush(fixture.db, busy, WHY));
        assert_in_range(fixture_count_files(&fixture, ".log"), 0, most_logs);
    }
    petal_stats_get(fixture.db, &stats);
    assert_int_equal(stats.flushes, rounds + COLD_TABLES);
    put_one(busy, "last", 4);
    fixture_die(&fixture);
    fixture_must_open(&fixture);
    for (unsigned i = 0; i < COLD_TABLES; i++) {
        petal_result *result;

        MUST(petal_table_open(fixture.db, slice_make(&"abcde"[i], 1), &cold[i], WHY));
        MUST(petal_result_new(fixture.db, &result, WHY));
        MUST(petal_get(cold[i], slice_from_text("row"), NULL, result, WHY));
        assert_int_equal(petal_result_count(result), 1);
        petal_result_free(result);
    }
    fixture_fini(&fixture);
    free(value);
}

TEST(test_cold_cells_do_not_keep_the_logs)
{
    flush_beside_cold_cells(10, 150, 40);               /* small logs, by their number */
    flush_beside_cold_cells((size_t)40 * 1024, 60, 12); /* large ones, by their bytes */
}

/* ---- what an opening costs ---- */

/* There is nothing to recover. */
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
