/*
 * failure_test.c -- what a failed log, manifest, sync or store file leaves, case by case. What
 * fails everywhere else: tests/crash/failure_sites_test.c.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/disk/state.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

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

/* Where space is found when data goes to the medium, a sync finds the disk full. What it was to
 * make durable may be there. */
TEST(test_a_sync_that_finds_the_disk_full)
{
    static const int errors[] = {ENOSPC, EDQUOT};

    for (size_t i = 0; i < 2; i++) {
        struct fixture fixture;
        struct ledger ledger = {0};
        petal_error error;
        petal_table *table;

        start_with_writes(&fixture, &ledger);
        memory_vfs_fail_at(fixture.vfs, 2, errors[i], false); /* the store, the sync */
        assert_int_equal(ledger_write(&ledger, 8, PETAL_FSYNC_WAL, &error), PETAL_IO);
        assert_int_equal(error.os_error, errors[i]);
        assert_int_equal(ledger_write(&ledger, 8, PETAL_FSYNC_WAL, &error), PETAL_READ_ONLY);
        assert_int_equal(petal_close(fixture.db, &error), PETAL_READ_ONLY);
        fixture.db = NULL;
        fixture_must_open(&fixture);
        assert_int_equal(ledger_must_find(&ledger, fixture.db), 8);
        fixture_fini(&fixture);

        start_with_writes(&fixture, &ledger);
        memory_vfs_fail_at(fixture.vfs, 2, errors[i], false); /* the edit, the sync */
        assert_int_equal(petal_table_drop(ledger.tables[1], &error), PETAL_IO);
        assert_int_equal(error.os_error, errors[i]);
        assert_int_equal(petal_close(fixture.db, &error), PETAL_READ_ONLY);
        fixture.db = NULL;
        fixture_must_open(&fixture);
        assert_int_equal(petal_table_open(fixture.db, slice_from_text("right"), &table, &error),
                         PETAL_NOT_FOUND);
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

/* The disk is full for a flush: reads and writes go on, and the flush succeeds when there is room
 * again. */
TEST(test_full_disk_at_a_flush)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_error error;

    start_with_writes(&fixture, &ledger);
    memory_vfs_set_capacity(fixture.vfs, memory_vfs_used(fixture.vfs) + 100);
    assert_int_equal(petal_flush(fixture.db, NULL, &error), PETAL_NO_SPACE);
    assert_int_equal(error.os_error, ENOSPC);
    assert_int_equal(ledger_must_be_prefix(&ledger), 7);
    memory_vfs_set_capacity(fixture.vfs, UINT64_MAX);
    must(ledger_write(&ledger, 8, PETAL_SYNC_WAL, &error), &error);
    while (petal_flush(fixture.db, NULL, &error) != PETAL_OK)
        assert_int_equal(error.status, PETAL_NO_SPACE); /* of the try before, until the next one */
    assert_int_equal(ledger_must_be_prefix(&ledger), 8);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    assert_true(fixture_directory_is_clean(&fixture));
    fixture_fini(&fixture);
}

static bool
has_failed_at_store_file(struct fixture *fixture)
{
    size_t count = memory_vfs_trace_count(fixture->vfs);
    bool failed = false;

    for (size_t i = 0; i < count; i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(fixture->vfs, i);

        failed = failed || (call.error == EIO && strstr(call.path, ".sst") != NULL);
    }
    return failed;
}

/* A flush whose store file could not be made, written, synced or opened once left the database
 * read-only, though no log and no manifest had failed. */
TEST(test_a_store_file_that_fails_is_written_again)
{
    unsigned tried = 0;
    bool failed = true;

    for (uint64_t n = 1; failed; n++) {
        struct fixture fixture;
        struct ledger ledger = {0};
        petal_error error;
        petal_stats stats;
        bool flushed;

        start_with_writes(&fixture, &ledger);
        memory_vfs_trace(fixture.vfs, true);
        memory_vfs_fail_at(fixture.vfs, n, EIO, false);
        flushed = petal_flush(fixture.db, NULL, &error) == PETAL_OK;
        failed = memory_vfs_failures(fixture.vfs) > 0;
        assert_true(failed || flushed);
        if (has_failed_at_store_file(&fixture)) {
            petal_stats_get(fixture.db, &stats);
            assert_false(stats.read_only);
            must(ledger_write(&ledger, 8, PETAL_FSYNC_WAL, &error), &error);
            must(petal_flush(fixture.db, NULL, &error), &error);
            assert_int_equal(ledger_must_be_prefix(&ledger), 8);
            tried++;
        }
        petal_close(fixture.db, NULL);
        fixture.db = NULL;
        fixture_fini(&fixture);
    }
    assert_true(tried >= 10);
}

static const char *ends_early; /* files with this in their names, when they are read */

static int
read_half(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
          size_t *read_bytes)
{
    int failed =
        memory_vfs_table(context)->read_at(context, file, offset, buffer, size, read_bytes);

    if (ends_early != NULL && strstr(file->path, ends_early) != NULL)
        *read_bytes /= 2;
    return failed;
}

/* A copy of the database from a medium that gave fewer bytes of a store file than it has was cut
 * short, and told to be whole. */
TEST(test_a_copy_is_as_long_as_its_file)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_error error;
    petal_vfs table;

    fixture_init(&fixture, 4);
    table = *memory_vfs_table(fixture.vfs);
    table.read_at = read_half;
    fixture.env.vfs = &table;
    memory_vfs_refuse_links(fixture.vfs, EXDEV);
    fixture_must_open(&fixture);
    must(ledger_create(&ledger, fixture.db, &error), &error);
    must(ledger_write(&ledger, 1, PETAL_SYNC_WAL, &error), &error);
    must(petal_flush(fixture.db, NULL, &error), &error);
    ends_early = ".sst";
    assert_int_equal(petal_checkpoint(fixture.db, "/copy", &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.file, ".sst"));
    ends_early = NULL;
    must(petal_checkpoint(fixture.db, "/copy", &error), &error);
    fixture_fini(&fixture);
}

/* A log of which a read gave fewer bytes than the file has passed for one with a torn end: what was
 * acknowledged after that was dropped without a word. */
TEST(test_a_log_that_reads_short_is_not_torn)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_error error;
    petal_vfs table;

    start_with_writes(&fixture, &ledger);
    fixture_die(&fixture);
    table = *memory_vfs_table(fixture.vfs);
    table.read_at = read_half;
    fixture.env.vfs = &table;
    ends_early = ".log";
    assert_int_equal(fixture_open(&fixture, &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.file, ".log"));
    ends_early = NULL;
    fixture_must_open(&fixture);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), 7);
    fixture_fini(&fixture);
}

/* So did a manifest: tables whose making was acknowledged were gone. */
TEST(test_a_manifest_that_reads_short_is_not_torn)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_error error;
    petal_vfs table;

    start_with_writes(&fixture, &ledger);
    table = *memory_vfs_table(fixture.vfs);
    table.read_at = read_half;
    fixture_must_close(&fixture);
    fixture.env.vfs = &table;
    ends_early = "MANIFEST";
    assert_int_equal(fixture_open(&fixture, &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.text, "become shorter"));
    ends_early = NULL;
    fixture_must_open(&fixture);
    assert_int_equal(ledger_must_find(&ledger, fixture.db), 7);
    fixture_fini(&fixture);
}

/* A lost store file that could not be noted for want of memory made the opening fail with the
 * status of that, and the text and file of the other. */
TEST(test_want_of_memory_is_told_as_such)
{
    bool failed = true;
    struct fixture fixture;
    struct ledger ledger = {0};
    const petal_vfs *vfs;
    petal_directory *directory;
    petal_error error;
    char *path;

    ledger_start(&ledger, &fixture, 4);
    must(ledger_write(&ledger, 1, PETAL_SYNC_WAL, &error), &error);
    fixture_must_close(&fixture);
    path = fixture_only_file(&fixture, ".sst");
    vfs = memory_vfs_table(fixture.vfs);
    assert_int_equal(vfs->open_directory(vfs->context, FIXTURE_DIRECTORY, false, &directory), 0);
    assert_int_equal(vfs->remove(vfs->context, directory, strrchr(path, '/') + 1), 0);
    vfs->close_directory(vfs->context, directory);
    free(path);
    for (uint64_t n = 1; failed; n++) {
        test_allocator_fail_at(&fixture.allocator, n, false);
        failed = fixture_open(&fixture, &error) != PETAL_OK;
        if (failed) {
            assert_int_equal(error.status, PETAL_NO_MEMORY);
            assert_string_equal(error.text, "out of memory");
        }
        failed = failed || test_allocator_failures(&fixture.allocator) == n;
        petal_close(fixture.db, NULL);
        fixture.db = NULL;
    }
    fixture_fini(&fixture);
}
