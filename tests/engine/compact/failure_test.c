/*
 * failure_test.c -- whatever fails in a compaction, and whenever the power goes: the inputs are
 * there or the outputs, whole, and nothing else is left behind.
 */

#include "engine/state/db.h"
#include "tests/engine/compact/fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

/* The power is back; `files` are consumed. */
static void
check_files(const struct compact_fixture *fixture, struct memory_vfs *files)
{
    struct fixture after;
    struct ledger ledger;
    petal_error error;

    fixture_init_on(&after, files, 7);
    test_clock_set(&after.clock, 5000);
    fixture_must_open(&after);
    assert_true(fixture_directory_is_clean(&after));
    ledger = fixture->ledger;
    must(ledger_attach(&ledger, after.db, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&ledger), COMPACT_FIXTURE_WRITES);
    must(petal_compact(ledger.tables[0], NULL, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&ledger), COMPACT_FIXTURE_WRITES);
    fixture_fini(&after);
}

static void
check_after_cut(const struct compact_fixture *fixture, enum memory_cut how, uint64_t seed)
{
    struct memory_vfs *vfs = memory_vfs_clone(fixture->base.vfs);

    memory_vfs_power_cut(vfs, how, seed);
    check_files(fixture, vfs);
}

/* The process dies, another one opens what the kernel holds, and the power fails. */
static void
check_further_lives(const struct compact_fixture *fixture, uint64_t seed)
{
    for (unsigned i = 0; i < (test_long() ? 50u : 4u); i++)
        check_files(fixture,
                    fixture_further_state(memory_vfs_clone(fixture->base.vfs), i, seed, NULL));
}

/* The database is as it should be after a compaction that was done or was not: now, and when it is
 * opened again. */
static void
must_be_whole(struct compact_fixture *fixture, bool failed)
{
    petal_error error;

    memory_vfs_fail_at(fixture->base.vfs, 0, 0, false);
    test_allocator_fail_at(&fixture->base.allocator, 0, false);
    assert_int_equal(ledger_must_be_prefix(&fixture->ledger), COMPACT_FIXTURE_WRITES);
    if (!failed) {
        assert_true(fixture_directory_is_clean(&fixture->base));
        must(compact_fixture_compact_all(fixture, &error), &error);
        assert_int_equal(ledger_must_be_prefix(&fixture->ledger), COMPACT_FIXTURE_WRITES);
    }
    petal_close(fixture->base.db, NULL);
    fixture->base.db = NULL;
    fixture_must_open(&fixture->base);
    assert_true(fixture_directory_is_clean(&fixture->base));
    must(ledger_attach(&fixture->ledger, fixture->base.db, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&fixture->ledger), COMPACT_FIXTURE_WRITES);
}

/* Removals that fail are no error of the compaction, and their files go when the database is opened
 * again. */
TEST(test_every_call_fails_once)
{
    struct compact_fixture fixture;
    uint64_t read_only = 0, failed = 0;
    bool completed = false;

    for (uint64_t n = 1; !completed; n++) {
        enum petal_status status;
        bool refused;

        compact_fixture_fill(&fixture);
        memory_vfs_fail_at(fixture.base.vfs, n, EIO, false);
        status = compact_fixture_compact_all(&fixture, NULL);
        completed = memory_vfs_failures(fixture.base.vfs) == 0;
        assert_true(status == PETAL_OK || !completed);
        refused = atomic_load(&fixture.base.db->failure.failed);
        failed += status != PETAL_OK;
        read_only += refused;
        check_further_lives(&fixture, n * 1000);
        must_be_whole(&fixture, refused || (status == PETAL_OK && !completed));
        fixture_fini(&fixture.base);
    }
    /* Only a manifest or a directory that cannot be synced turns the database read-only. */
    assert_true(failed > 20 && read_only > 0 && read_only < failed);
}

TEST(test_every_allocation_fails_once)
{
    struct compact_fixture fixture;
    bool completed = false;

    for (uint64_t n = 1; !completed; n++) {
        enum petal_status status;

        compact_fixture_fill(&fixture);
        test_allocator_fail_at(&fixture.base.allocator, n, false);
        status = compact_fixture_compact_all(&fixture, NULL);
        completed = test_allocator_failures(&fixture.base.allocator) == 0;
        assert_true(status == PETAL_OK || status == PETAL_NO_MEMORY);
        assert_false(atomic_load(&fixture.base.db->failure.failed));
        must_be_whole(&fixture, false);
        fixture_fini(&fixture.base);
    }
}

/* A full disk stops the compaction, and nothing else. */
TEST(test_full_disk)
{
    struct compact_fixture fixture;
    petal_table *table;
    petal_error error;

    compact_fixture_fill(&fixture);
    table = fixture.ledger.tables[0];
    memory_vfs_set_capacity(fixture.base.vfs, memory_vfs_used(fixture.base.vfs) + 100);
    assert_int_equal(petal_compact(table, NULL, &error), PETAL_NO_SPACE);
    assert_true(fixture_directory_is_clean(&fixture.base));
    assert_int_equal(ledger_must_be_prefix(&fixture.ledger), COMPACT_FIXTURE_WRITES);
    memory_vfs_set_capacity(fixture.base.vfs, UINT64_MAX);
    compact_fixture_compact(table);
    must(ledger_write(&fixture.ledger, COMPACT_FIXTURE_WRITES + 1, PETAL_SYNC_WAL, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&fixture.ledger), COMPACT_FIXTURE_WRITES + 1);
    fixture_fini(&fixture.base);
}

/* Damage in an input is reported by the file's name, and the inputs stay. */
TEST(test_damaged_input)
{
    struct compact_fixture fixture;
    petal_table *table;
    petal_error error;
    uint8_t *bytes;
    size_t size;
    char *path;

    compact_fixture_open(&fixture);
    table = compact_fixture_table(&fixture.base, "t", NULL);
    compact_fixture_put(table, "r", 10, "value");
    compact_fixture_flush(fixture.base.db);
    path = fixture_only_file(&fixture.base, ".sst");
    assert_int_equal(memory_vfs_read_file(fixture.base.vfs, path, &bytes, &size), 0);
    bytes[40] ^= 1; /* in the only data block */
    fixture_must_close(&fixture.base);
    memory_vfs_write_file(fixture.base.vfs, path, bytes, size);
    fixture_must_open(&fixture.base);
    must(petal_table_open(fixture.base.db, slice_from_text("t"), &table, &error), &error);
    assert_int_equal(petal_compact(table, NULL, &error), PETAL_CORRUPT);
    assert_string_equal(error.file, path);
    assert_true(fixture_directory_is_clean(&fixture.base));
    bytes[40] ^= 1;
    memory_vfs_write_file(fixture.base.vfs, path, bytes, size);
    compact_fixture_compact(table);
    assert_string_equal(compact_fixture_value(table, "r"), "value");
    free(bytes);
    free(path);
    fixture_fini(&fixture.base);
}

/* ---- power cuts ---- */

/* The old files or the new ones, whole, whenever the power goes. */
TEST(test_power_cut_at_every_call)
{
    struct compact_fixture fixture;
    bool completed = false;
    uint64_t cuts = 0;

    for (uint64_t n = 1; !completed; n++) {
        compact_fixture_fill(&fixture);
        fixture.base.db->compact_file_bytes = 1500; /* several files in one edit */
        memory_vfs_cut_at(fixture.base.vfs, n);
        compact_fixture_compact_all(&fixture, NULL);
        completed = !memory_vfs_is_off(fixture.base.vfs);
        check_after_cut(&fixture, MEMORY_CUT_LOSE_ALL, 0);
        check_after_cut(&fixture, MEMORY_CUT_KEEP_ALL, 0);
        for (uint64_t seed = 0; seed < (test_long() ? 50 : 3); seed++)
            check_after_cut(&fixture, MEMORY_CUT_RANDOM, n * 1000 + seed);
        check_further_lives(&fixture, n * 1000);
        petal_close(fixture.base.db, NULL);
        fixture.base.db = NULL;
        fixture_fini(&fixture.base);
        cuts++;
    }
    assert_true(cuts > 40);
}
