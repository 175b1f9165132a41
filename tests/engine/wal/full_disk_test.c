/*
 * full_disk_test.c -- a log on a disk that fills up and is emptied again. A store that finds no
 * room leaves nothing that a replay could take for records, whether the process dies or the power
 * fails, and the log goes on in the same place: with other records, with those that had been
 * buffered before, with nothing.
 */
#include <stdint.h>

#include "tests/disk/paths.h"
#include "tests/engine/wal/fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

static const struct wal_promise NO_PROMISE = {0, 0};

/* What a run has been told. */
struct told {
    size_t stored, synced; /* records */
    size_t
        buffered; /* of the records written, those acknowledged: the latest may be in the buffer */
};

static size_t
replay_clone(struct wal_fixture *fixture, struct memory_vfs *clone)
{
    struct wal_replay replay;
    petal_error error;
    size_t count;

    if (wal_fixture_replay(fixture, clone, NO_PROMISE, &replay, &count, &error) != PETAL_OK)
        fail_msg("%s", error.text);
    memory_vfs_free(clone);
    return count;
}

/* Between two calls: the process dies, or the power fails. */
static void
check_crashes(struct wal_fixture *fixture, const struct told *told, uint64_t seed)
{
    static const enum memory_cut cuts[] = {MEMORY_CUT_LOSE_ALL, MEMORY_CUT_KEEP_ALL,
                                           MEMORY_CUT_RANDOM, MEMORY_CUT_RANDOM};

    assert_int_equal(replay_clone(fixture, memory_vfs_clone(fixture->vfs)), told->stored);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct memory_vfs *clone = memory_vfs_clone(fixture->vfs);

        memory_vfs_power_cut(clone, cuts[i], seed + i);
        assert_in_range(replay_clone(fixture, clone), told->synced, told->stored);
    }
}

/* Sizes that fall together now and then, so that stale records lie where new ones end; some cross a
 * frame. */
static size_t
random_size(struct test_random *random)
{
    switch (test_random_below(random, 8)) {
    case 0:
        return 33000;
    case 1:
        return test_random_below(random, 300);
    default:
        return 40 * test_random_below(random, 3);
    }
}

/* A group of records on a disk with little room. */
static void
write_group(struct wal_fixture *fixture, struct wal_file *wal, struct test_random *random,
            struct told *told)
{
    size_t records = 1 + test_random_below(random, 5);
    struct wal_file_mark mark = wal_file_mark(wal);
    petal_error error;
    enum petal_status status;

    for (size_t i = 0; i < records; i++)
        wal_fixture_add(fixture, wal, random_size(random));
    if (test_random_below(random, 5) == 0) { /* acknowledged, for a later store */
        told->buffered = fixture->written;
        return;
    }
    memory_vfs_set_capacity(fixture->vfs,
                            memory_vfs_used(fixture->vfs) + test_random_below(random, 400));
    status = wal_file_store(wal, &error);
    memory_vfs_set_capacity(fixture->vfs, UINT64_MAX);
    if (status == PETAL_OK) {
        told->stored = told->buffered = fixture->written;
        return;
    }
    assert_int_equal(status, PETAL_NO_SPACE);
    assert_int_equal(error.os_error, ENOSPC);
    assert_false(wal_file_is_dead(wal));
    assert_int_equal(wal_file_stored_sequence(wal), told->stored);
    wal_file_forget(wal, mark);
    fixture->written = told->buffered;
}

static void
run_plan(uint64_t seed, bool windows)
{
    struct wal_fixture *fixture = test_allocate(sizeof *fixture);
    struct told told = {0, 0, 0};
    struct test_random random;
    struct wal_file *wal;
    petal_error error;

    test_random_init(&random, seed);
    wal_fixture_init(fixture);
    memory_vfs_use_log_windows(fixture->vfs, windows);
    assert_int_equal(wal_fixture_create(fixture, 1, NULL, &wal), PETAL_OK);
    assert_int_equal(vfs_sync_directory(fixture->env.vfs, WAL_FIXTURE_DIRECTORY), 0);
    for (unsigned step = 0; step < 30; step++) {
        write_group(fixture, wal, &random, &told);
        if (test_random_below(&random, 6) == 0) {
            assert_int_equal(wal_file_sync(wal, &error), PETAL_OK);
            told.synced = told.stored;
        }
        if (wal_file_synced_sequence(wal) == told.stored)
            told.synced = told.stored;
        check_crashes(fixture, &told, seed * 1000 + step);
    }
    wal_file_close(wal);
    wal_fixture_fini(fixture);
    free(fixture);
}

TEST(test_refused_records_never_come_back)
{
    uint64_t seed = test_seed();
    unsigned plans = test_long() ? 2000 : 60;

    for (unsigned i = 0; i < plans; i++)
        run_plan(seed + i, i % 2 != 0);
}

/* ---- the calls of a store that finds the disk full ---- */

/* Three records of 100 bytes, where there is room for two; the n-th call from then on is the last,
 * or fails. */
static bool
store_on_full_disk(struct wal_fixture *fixture, uint64_t n, bool cut, enum petal_status *status,
                   bool *dead)
{
    struct wal_file *wal;
    petal_error error;
    bool reached;

    wal_fixture_init(fixture);
    assert_int_equal(wal_fixture_create(fixture, 1, NULL, &wal), PETAL_OK);
    assert_int_equal(vfs_sync_directory(fixture->env.vfs, WAL_FIXTURE_DIRECTORY), 0);
    wal_fixture_add(fixture, wal, 100);
    assert_int_equal(wal_file_store(wal, &error), PETAL_OK);
    for (unsigned i = 0; i < 3; i++)
        wal_fixture_add(fixture, wal, 100);
    memory_vfs_set_capacity(fixture->vfs, memory_vfs_used(fixture->vfs) + 300);
    if (cut)
        memory_vfs_cut_at(fixture->vfs, n);
    else
        memory_vfs_fail_at(fixture->vfs, n, EIO, false);
    *status = wal_file_store(wal, &error);
    *dead = wal_file_is_dead(wal);
    reached = cut ? memory_vfs_is_off(fixture->vfs) : memory_vfs_failures(fixture->vfs) > 0;
    memory_vfs_set_capacity(fixture->vfs, UINT64_MAX);
    wal_file_close(wal);
    return reached;
}

TEST(test_power_cut_while_the_tail_is_erased)
{
    struct wal_fixture *fixture = test_allocate(sizeof *fixture);
    bool reached = true;

    for (uint64_t n = 1; reached; n++) {
        enum petal_status status;
        bool dead;

        reached = store_on_full_disk(fixture, n, true, &status, &dead);
        for (unsigned i = 0; i < 20; i++) {
            struct memory_vfs *clone = memory_vfs_clone(fixture->vfs);
            size_t count;

            memory_vfs_power_cut(clone, i == 0 ? MEMORY_CUT_KEEP_ALL : MEMORY_CUT_RANDOM, i);
            count = replay_clone(fixture, clone);
            assert_true(reached ? count <= 3 : count == 1); /* cut off, the call said nothing */
        }
        assert_int_equal(status == PETAL_NO_SPACE && !dead, !reached);
        wal_fixture_fini(fixture);
    }
    free(fixture);
}

TEST(test_a_tail_that_cannot_be_erased_is_final)
{
    struct wal_fixture *fixture = test_allocate(sizeof *fixture);
    bool reached = true;
    uint64_t n;

    for (n = 1; reached; n++) {
        enum petal_status status;
        bool dead;

        reached = store_on_full_disk(fixture, n, false, &status, &dead);
        assert_int_equal(dead, reached);
        assert_int_equal(status, reached ? PETAL_IO : PETAL_NO_SPACE);
        wal_fixture_fini(fixture);
    }
    assert_int_equal(n - 1, 5); /* store, size, zeros, sync; none */
    free(fixture);
}

/* Where files are copied on write a group of two records may find room for the first alone, and
 * none to take it back.  Before the log is closed it is, so that it does not come back with the
 * log. */
TEST(test_nothing_undecided_is_closed)
{
    struct wal_fixture *fixture = test_allocate(sizeof *fixture);
    unsigned undecided = 0;

    for (uint64_t room = 0; room < 12000; room += 100) {
        struct wal_file_mark mark;
        struct wal_file *wal;
        petal_error error;

        wal_fixture_init(fixture);
        memory_vfs_copy_on_write(fixture->vfs, true);
        wal = wal_fixture_must_create(fixture, 1, NULL);
        wal_fixture_add(fixture, wal, 100);
        assert_int_equal(wal_file_store(wal, &error), PETAL_OK);
        mark = wal_file_mark(wal);
        wal_fixture_add(fixture, wal, 100);
        wal_fixture_add(fixture, wal, 5000);
        memory_vfs_set_capacity(fixture->vfs, memory_vfs_used(fixture->vfs) + room);
        if (wal_file_store(wal, &error) == PETAL_IO) {
            undecided++;
            wal_file_forget(wal, mark);
            assert_int_equal(wal_file_decide(wal, &error), PETAL_NO_SPACE);
            memory_vfs_set_capacity(fixture->vfs, UINT64_MAX);
            assert_int_equal(wal_file_decide(wal, &error), PETAL_OK);
            assert_int_equal(replay_clone(fixture, memory_vfs_clone(fixture->vfs)), 1);
        }
        wal_file_close(wal);
        wal_fixture_fini(fixture);
    }
    assert_true(undecided > 0);
    free(fixture);
}
