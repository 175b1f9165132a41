/* threads_test.c -- the log is synced by other threads while its leader stores records. */
#include <stdint.h>

#include <pthread.h>

#include "tests/engine/wal/fixture.h"
#include "tests/support/test.h"

struct syncer {
    struct wal_file *wal;
    _Atomic(bool) stop;
};

static void *
sync_again_and_again(void *argument)
{
    struct syncer *syncer = argument;
    petal_error error;

    while (!atomic_load(&syncer->stop)) {
        uint64_t stored = wal_file_stored_sequence(syncer->wal);

        if (wal_file_sync(syncer->wal, &error) != PETAL_OK ||
            wal_file_synced_sequence(syncer->wal) < stored)
            return "a sync fell short";
    }
    return NULL;
}

TEST_WITH(test_syncs_beside_stores, wal_fixture_setup, wal_fixture_teardown)
{
    struct wal_fixture *fixture = *state;
    struct wal_replay replay;
    struct syncer syncer;
    pthread_t threads[2];
    petal_error error;
    size_t count;

    assert_int_equal(wal_fixture_create(fixture, 1, NULL, &syncer.wal), PETAL_OK);
    atomic_init(&syncer.stop, false);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sync_again_and_again, &syncer), 0);
    for (size_t i = 0; i < 3000; i++) {
        wal_fixture_add(fixture, syncer.wal, i % 200);
        assert_int_equal(wal_file_store(syncer.wal, &error), PETAL_OK);
    }
    atomic_store(&syncer.stop, true);
    for (size_t i = 0; i < 2; i++) {
        void *complaint;

        pthread_join(threads[i], &complaint);
        assert_null(complaint);
    }
    wal_file_close(syncer.wal);
    assert_int_equal(
        wal_fixture_replay(fixture, NULL, (struct wal_promise){0, 0}, &replay, &count, &error),
        PETAL_OK);
    assert_int_equal(count, fixture->written);
}
