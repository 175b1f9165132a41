/*
 * failure_test.c -- whatever fails in a compaction, and whenever the power goes: the inputs are there or the outputs,
 * whole, and nothing else is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/state/db.h"
#include "tests/engine/compact/fixture.h"

#include <errno.h>
#include <stdlib.h>

/* The power is back; `files` are consumed. */
static void
check_files(const struct bed *bed, struct memory_vfs *files)
{
    struct fixture after;
    struct ledger ledger;
    petal_error error;

    fixture_init_on(&after, files, 7);
    test_clock_set(&after.clock, 5000);
    fixture_must_open(&after);
    assert_true(fixture_directory_is_clean(&after));
    ledger = bed->ledger;
    must(ledger_attach(&ledger, after.db, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&ledger), BED_WRITES);
    must(petal_compact(ledger.tables[0], NULL, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&ledger), BED_WRITES);
    fixture_fini(&after);
}

static void
check_after_cut(const struct bed *bed, enum memory_cut how, uint64_t seed)
{
    struct memory_vfs *vfs = memory_vfs_clone(bed->fixture.vfs);

    memory_vfs_power_cut(vfs, how, seed);
    check_files(bed, vfs);
}

/* The process dies, another one opens what the kernel holds, and the power fails. */
static void
check_further_lives(const struct bed *bed, uint64_t seed)
{
    for (unsigned i = 0; i < (test_long() ? 50u : 4u); i++)
        check_files(bed, fixture_further_state(memory_vfs_clone(bed->fixture.vfs), i, seed, NULL));
}

/* The database is as it should be after a compaction that was done or was not: now, and when it is opened again. */
static void
must_be_whole(struct bed *bed, bool failed)
{
    petal_error error;

    memory_vfs_fail_at(bed->fixture.vfs, 0, 0, false);
    test_allocator_fail_at(&bed->fixture.allocator, 0, false);
    assert_int_equal(ledger_must_be_prefix(&bed->ledger), BED_WRITES);
    if (!failed) {
        assert_true(fixture_directory_is_clean(&bed->fixture));
        must(bed_compact_all(bed, &error), &error);
        assert_int_equal(ledger_must_be_prefix(&bed->ledger), BED_WRITES);
    }
    petal_close(bed->fixture.db, NULL);
    bed->fixture.db = NULL;
    fixture_must_open(&bed->fixture);
    assert_true(fixture_directory_is_clean(&bed->fixture));
    must(ledger_attach(&bed->ledger, bed->fixture.db, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&bed->ledger), BED_WRITES);
}

/* Removals that fail are no error of the compaction, and their files go when the database is opened again. */
static void
test_every_call_fails_once(void **state)
{
    struct bed bed;
    uint64_t read_only = 0, failed = 0;
    bool completed = false;

    (void)state;
    for (uint64_t n = 1; !completed; n++) {
        enum petal_status status;
        bool refused;

        bed_fill(&bed);
        memory_vfs_fail_at(bed.fixture.vfs, n, EIO, false);
        status = bed_compact_all(&bed, NULL);
        completed = memory_vfs_failures(bed.fixture.vfs) == 0;
        assert_true(status == PETAL_OK || !completed);
        refused = atomic_load(&bed.fixture.db->failed);
        failed += status != PETAL_OK;
        read_only += refused;
        check_further_lives(&bed, n * 1000);
        must_be_whole(&bed, refused || (status == PETAL_OK && !completed));
        fixture_fini(&bed.fixture);
    }
    /* Only a manifest or a directory that cannot be synced turns the database read-only. */
    assert_true(failed > 20 && read_only > 0 && read_only < failed);
}

static void
test_every_allocation_fails_once(void **state)
{
    struct bed bed;
    bool completed = false;

    (void)state;
    for (uint64_t n = 1; !completed; n++) {
        enum petal_status status;

        bed_fill(&bed);
        test_allocator_fail_at(&bed.fixture.allocator, n, false);
        status = bed_compact_all(&bed, NULL);
        completed = test_allocator_failures(&bed.fixture.allocator) == 0;
        assert_true(status == PETAL_OK || status == PETAL_NO_MEMORY);
        assert_false(atomic_load(&bed.fixture.db->failed));
        must_be_whole(&bed, false);
        fixture_fini(&bed.fixture);
    }
}

/* A full disk stops the compaction, and nothing else. */
static void
test_full_disk(void **state)
{
    struct bed bed;
    petal_table *table;
    petal_error error;

    (void)state;
    bed_fill(&bed);
    table = bed.ledger.tables[0];
    memory_vfs_set_capacity(bed.fixture.vfs, memory_vfs_used(bed.fixture.vfs) + 100);
    assert_int_equal(petal_compact(table, NULL, &error), PETAL_NO_SPACE);
    assert_true(fixture_directory_is_clean(&bed.fixture));
    assert_int_equal(ledger_must_be_prefix(&bed.ledger), BED_WRITES);
    memory_vfs_set_capacity(bed.fixture.vfs, UINT64_MAX);
    bed_compact(table);
    must(ledger_write(&bed.ledger, BED_WRITES + 1, PETAL_SYNC_WAL, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&bed.ledger), BED_WRITES + 1);
    fixture_fini(&bed.fixture);
}

/* Damage in an input is reported by the file's name, and the inputs stay. */
static void
test_damaged_input(void **state)
{
    struct bed bed;
    petal_table *table;
    petal_error error;
    uint8_t *bytes;
    size_t size;
    char *path;

    (void)state;
    bed_open(&bed);
    table = bed_table(&bed.fixture, "t", NULL);
    bed_put(table, "r", 10, "value");
    bed_flush(bed.fixture.db);
    path = fixture_only_file(&bed.fixture, ".sst");
    assert_int_equal(memory_vfs_read_file(bed.fixture.vfs, path, &bytes, &size), 0);
    bytes[40] ^= 1; /* in the only data block */
    fixture_must_close(&bed.fixture);
    memory_vfs_write_file(bed.fixture.vfs, path, bytes, size);
    fixture_must_open(&bed.fixture);
    must(petal_table_open(bed.fixture.db, slice_from_text("t"), &table, &error), &error);
    assert_int_equal(petal_compact(table, NULL, &error), PETAL_CORRUPT);
    assert_string_equal(error.file, path);
    assert_true(fixture_directory_is_clean(&bed.fixture));
    bytes[40] ^= 1;
    memory_vfs_write_file(bed.fixture.vfs, path, bytes, size);
    bed_compact(table);
    assert_string_equal(bed_value(table, "r"), "value");
    free(bytes);
    free(path);
    fixture_fini(&bed.fixture);
}

/* ---- power cuts ---- */

/* The old files or the new ones, whole, whenever the power goes. */
static void
test_power_cut_at_every_call(void **state)
{
    struct bed bed;
    bool completed = false;
    uint64_t cuts = 0;

    (void)state;
    for (uint64_t n = 1; !completed; n++) {
        bed_fill(&bed);
        bed.fixture.db->compact_file_bytes = 1500; /* several files in one edit */
        memory_vfs_cut_at(bed.fixture.vfs, n);
        bed_compact_all(&bed, NULL);
        completed = !memory_vfs_is_off(bed.fixture.vfs);
        check_after_cut(&bed, MEMORY_CUT_LOSE_ALL, 0);
        check_after_cut(&bed, MEMORY_CUT_KEEP_ALL, 0);
        for (uint64_t seed = 0; seed < (test_long() ? 50 : 3); seed++)
            check_after_cut(&bed, MEMORY_CUT_RANDOM, n * 1000 + seed);
        check_further_lives(&bed, n * 1000);
        petal_close(bed.fixture.db, NULL);
        bed.fixture.db = NULL;
        fixture_fini(&bed.fixture);
        cuts++;
    }
    assert_true(cuts > 40);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_fails_once),
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_damaged_input),
        cmocka_unit_test(test_power_cut_at_every_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
