/*
 * order_test.c -- logs that follow each other before they are synced: what a replay makes of a torn
 * one in front of whole ones, and what tells it that the torn one is damaged.
 */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "engine/wal/fragment.h"
#include "tests/engine/wal/fixture.h"
#include "tests/support/test.h"

#define NO_PROMISE ((struct wal_promise){0, 0})

static void
store(struct wal_file *wal)
{
    petal_error error;

    assert_int_equal(wal_file_store(wal, &error), PETAL_OK);
}

static void
sync_log(struct wal_file *wal)
{
    petal_error error;

    assert_int_equal(wal_file_sync(wal, &error), PETAL_OK);
}

/* Logs 1, 2, 3 with four records each; `synced` (0: none) and those before it are synced, with a
 * record after the sync. */
static void
write_unsynced_logs(struct wal_fixture *fixture, uint64_t synced, bool more)
{
    struct wal_file *logs[4] = {NULL};

    for (uint64_t number = 1; number <= 3; number++) {
        logs[number] = wal_fixture_must_create(fixture, number, logs[number - 1]);
        for (size_t i = 0; i < 4; i++)
            wal_fixture_add(fixture, logs[number], 50 * i);
        store(logs[number]);
        if (number == synced) {
            for (uint64_t before = 1; before <= number; before++)
                sync_log(logs[before]);
            if (more) {
                wal_fixture_add(fixture, logs[number], 10);
                store(logs[number]);
            }
        }
    }
    for (uint64_t number = 1; number <= 3; number++)
        wal_file_close(logs[number]);
}

/* Cut log `number` short, inside its last record; returns the sizes of all files after the cut. */
static uint64_t
tear(struct wal_fixture *fixture, uint64_t number)
{
    uint64_t behind = 0;

    for (uint64_t log = number; log <= 3; log++) {
        char path[PETAL_PATH_BYTES];
        uint8_t *bytes;
        size_t size;

        filename_wal(path, WAL_FIXTURE_DIRECTORY, log);
        assert_int_equal(memory_vfs_read_file(fixture->vfs, path, &bytes, &size), 0);
        if (log == number)
            assert_int_equal(memory_vfs_write_file(fixture->vfs, path, bytes, size - 1), 0);
        else
            behind += size;
        free(bytes);
    }
    return behind;
}

/* Which log was synced, with those before it, which is torn, and what the manifest promises: then
 * so many records are there, or the torn log is damaged. */
static const struct {
    const char *name;
    uint64_t synced;
    bool more; /* a record after the sync */
    uint64_t torn;
    struct wal_promise promise;
    size_t records; /* 0: damage */
} orders[] = {
    {"a torn log takes the later ones with it", 0, false, 1, {0, 0}, 3},
    {"or those after it alone", 0, false, 2, {1, 100}, 7},
    {"or itself", 0, false, 3, {2, 100}, 11},
    /* All of a log was synced before the first sync of any later one. */
    {"a record of log 3 tells that log 1 was synced", 3, true, 1, {0, 0}, 0},
    {"the header of log 3, about log 2", 2, false, 1, {0, 0}, 0},
    {"the manifest, of log 3", 0, false, 1, {3, 100}, 0},
    {"a sync of log 1 and nothing else vouches for no more than it covered", 1, true, 2, {0, 0}, 8},
};

TEST(logs_are_synced_in_their_order)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct wal_fixture fixture;
        struct wal_replay replay;
        petal_error error = {0};
        uint64_t behind;
        size_t count;
        enum petal_status status;

        wal_fixture_init(&fixture);
        write_unsynced_logs(&fixture, orders[i].synced, orders[i].more);
        behind = tear(&fixture, orders[i].torn);
        status = wal_fixture_replay(&fixture, NULL, orders[i].promise, &replay, &count, &error);
        if (orders[i].records == 0) {
            assert_int_equal(status, PETAL_CORRUPT);
            assert_string_equal(error.file, WAL_FIXTURE_DIRECTORY "/000001.log");
            assert_non_null(strstr(error.text, "were synced"));
        } else {
            if (status != PETAL_OK || count != orders[i].records)
                fail_msg("%s: %zu records, %s", orders[i].name, count, error.text);
            assert_int_equal(replay.records, count);
        }
        if (orders[i].records % 4 == 3) {
            assert_int_equal(replay.end.log_number, orders[i].torn);
            /* The last record has 150 bytes, one of which is gone. */
            assert_int_equal(replay.dropped_bytes, behind + WAL_FRAGMENT_LEAST_BYTES + 149);
        }
        wal_fixture_fini(&fixture);
    }
}

/* Made ahead and never written; or given a header that the power cut tore. */
TEST_WITH(test_empty_logs_are_passed_over, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_file *first = wal_fixture_must_create(fixture, 1, NULL);
    struct wal_file *third;
    struct wal_replay replay;
    petal_error error;
    size_t count;

    wal_fixture_add(fixture, first, 100);
    store(first);
    assert_int_equal(
        memory_vfs_write_file(fixture->vfs, WAL_FIXTURE_DIRECTORY "/000002.log", "", 0), 0);
    third = wal_fixture_must_create(fixture, 3, first);
    wal_file_close(first);
    wal_fixture_add(fixture, third, 30);
    store(third);
    wal_file_close(third);
    assert_int_equal(
        memory_vfs_write_file(fixture->vfs, WAL_FIXTURE_DIRECTORY "/000004.log", "", 0), 0);
    assert_int_equal(wal_fixture_replay(fixture, NULL, NO_PROMISE, &replay, &count, &error),
                     PETAL_OK);
    assert_int_equal(count, 2);
    assert_int_equal(replay.dropped_bytes, 0);
}
