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

TEST(test_a_torn_log_takes_the_later_ones_with_it)
{
    for (uint64_t torn = 1; torn <= 3; torn++) {
        struct wal_fixture *fixture = test_allocate(sizeof *fixture);
        struct wal_promise before = {torn - 1, torn == 1 ? 0 : 100};
        struct wal_replay replay;
        petal_error error;
        uint64_t behind;
        size_t count;

        wal_fixture_init(fixture);
        write_unsynced_logs(fixture, 0, false);
        behind = tear(fixture, torn);
        assert_int_equal(wal_fixture_replay(fixture, NULL, before, &replay, &count, &error),
                         PETAL_OK);
        assert_int_equal(count, 4 * torn - 1);
        assert_int_equal(replay.records, 4 * torn - 1);
        assert_int_equal(replay.end.log_number, torn);
        /* The last record has 150 bytes, one of which is gone. */
        assert_int_equal(replay.dropped_bytes, behind + WAL_FRAGMENT_LEAST_BYTES + 149);
        wal_fixture_fini(fixture);
        free(fixture);
    }
}

/* All of a log was synced before the first sync of any later one, of which the later one itself may
 * tell, the one after it, or the manifest. */
TEST(test_a_sync_of_a_later_log_is_a_promise)
{
    for (int witness = 0; witness < 3; witness++) {
        struct wal_fixture *fixture = test_allocate(sizeof *fixture);
        struct wal_promise promise = {witness == 2 ? 3 : 0, witness == 2 ? 100 : 0};
        struct wal_replay replay;
        petal_error error;
        size_t count;

        wal_fixture_init(fixture);
        if (witness == 0) { /* a record of log 3, the last one */
            write_unsynced_logs(fixture, 3, true);
            tear(fixture, 1);
        } else if (witness == 1) { /* the header of log 3, about log 2 */
            write_unsynced_logs(fixture, 2, false);
            tear(fixture, 1);
        } else {
            write_unsynced_logs(fixture, 0, false);
            tear(fixture, 1);
        }
        assert_int_equal(wal_fixture_replay(fixture, NULL, promise, &replay, &count, &error),
                         PETAL_CORRUPT);
        assert_string_equal(error.file, WAL_FIXTURE_DIRECTORY "/000001.log");
        assert_non_null(strstr(error.text, "were synced"));
        wal_fixture_fini(fixture);
        free(fixture);
    }
}

/* A sync of log 1 and nothing else vouches for no more than it covered. */
TEST_WITH(test_a_sync_of_an_earlier_log_is_none_of_a_later, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_replay replay;
    petal_error error;
    size_t count;

    write_unsynced_logs(fixture, 1, true);
    tear(fixture, 2);
    assert_int_equal(wal_fixture_replay(fixture, NULL, NO_PROMISE, &replay, &count, &error),
                     PETAL_OK);
    assert_int_equal(count, 8);
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
