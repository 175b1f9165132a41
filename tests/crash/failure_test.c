/*
 * failure_test.c -- every file call of a short run fails, once and from then on; every allocation
 * of it fails. Nothing crashes or leaks, errors are reported, a write that failed is not seen, and
 * what was acknowledged is there when the database is opened again with all in order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/disk/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct run {
    struct fixture fixture;
    struct ledger ledger;
    uint64_t attempted, stored, synced; /* writes begun, acknowledged, acknowledged as synced */
    bool tables_made;
    bool reverts;  /* failed syncs bring the old bytes back */
    bool reported; /* some call failed */
    bool gave_up;  /* a step failed twice */
    /* The sync of the parent directory failed. What it lost no later sync brings back, so the
     * database stands and falls with the power; the opening that was refused told of it. */
    bool name_lost;
    uint64_t flush_calls[2]; /* the first file call of each flush */
    size_t flushes;
};

/* ---- the run: each step is tried twice ---- */

/* What a failed write leaves: nothing that is seen. */
static void
check_unseen(struct run *run, uint64_t number)
{
    struct ledger_state state;

    if (ledger_read(&run->ledger, &state, NULL) == PETAL_OK)
        assert_true(ledger_is_after(&state, number - 1));
}

static bool
again(struct run *run, enum petal_status status, unsigned tries)
{
    if (status == PETAL_OK)
        return false;
    run->reported = true;
    run->gave_up = run->gave_up || tries == 1;
    return tries < 1;
}

static bool
open_it(struct run *run)
{
    for (unsigned tries = 0; again(run, fixture_open(&run->fixture, NULL), tries);)
        tries++;
    return !run->gave_up;
}

static void
create_it(struct run *run)
{
    for (unsigned tries = 0; again(run, ledger_create(&run->ledger, run->fixture.db, NULL), tries);)
        tries++;
    run->tables_made = run->tables_made || !run->gave_up;
}

static void
write_some(struct run *run, uint64_t count)
{
    for (; count > 0 && !run->gave_up; count--) {
        uint64_t number = ++run->attempted;
        enum petal_durability durability = number % 5 == 0 ? PETAL_FSYNC_WAL : PETAL_SYNC_WAL;
        enum petal_status status = PETAL_OK;

        for (unsigned tries = 0; tries == 0 || status != PETAL_OK; tries++) {
            status = ledger_write(&run->ledger, number, durability, NULL);
            if (status != PETAL_OK)
                check_unseen(run, number);
            if (!again(run, status, tries))
                break;
        }
        if (status == PETAL_NO_SPACE)
            run->attempted = number - 1; /* it has changed nothing, whenever that is looked at */
        if (status != PETAL_OK)
            return;
        run->stored = number;
        if (durability == PETAL_FSYNC_WAL)
            run->synced = number;
    }
}

static void
read_it(struct run *run)
{
    struct ledger_state state;
    enum petal_status status = PETAL_OK;

    for (unsigned tries = 0; !run->gave_up && tries < 2; tries++) {
        status = ledger_read(&run->ledger, &state, NULL);
        assert_false(state.wrong);
        if (status == PETAL_OK)
            assert_true(ledger_is_after(&state, run->attempted));
        if (!again(run, status, tries))
            break;
    }
}

/* Go on with what is there after an opening. */
static void
adopt(struct run *run)
{
    struct ledger_state state;
    enum petal_status status = PETAL_OK;

    for (unsigned tries = 0; !run->gave_up && tries < 2; tries++) {
        status = ledger_attach(&run->ledger, run->fixture.db, NULL);
        if (status == PETAL_OK)
            status = ledger_read(&run->ledger, &state, NULL);
        if (!again(run, status, tries))
            break;
    }
    if (run->gave_up || status != PETAL_OK)
        return;
    assert_true(ledger_is_after(&state, ledger_last(&state)));
    assert_in_range(ledger_last(&state), run->reverts ? run->synced : run->stored, run->attempted);
    run->attempted = run->stored = ledger_last(&state);
}

static void
flush_it(struct run *run, unsigned table)
{
    if (run->gave_up)
        return;
    run->flush_calls[run->flushes++] = memory_vfs_calls(run->fixture.vfs) + 1;
    if (petal_flush(run->fixture.db, run->ledger.tables[table], NULL) != PETAL_OK)
        run->reported = true;
}

static void
close_it(struct run *run)
{
    enum petal_status status = petal_close(run->fixture.db, NULL);

    run->fixture.db = NULL;
    if (status == PETAL_OK && !run->gave_up)
        run->synced = run->attempted;
    else
        run->reported = true;
}

static void
run_it(struct run *run)
{
    if (!open_it(run))
        return;
    create_it(run);
    write_some(run, 6);
    flush_it(run, 0);
    write_some(run, 5);
    read_it(run);
    close_it(run);
    if (run->gave_up || !open_it(run))
        return;
    adopt(run);
    write_some(run, 4);
    flush_it(run, 1);
    write_some(run, 3);
    read_it(run);
    close_it(run);
}

static void
begin_run(struct run *run, uint64_t seed)
{
    *run = (struct run){.reported = false};
    fixture_init(&run->fixture, seed);
}

/* On `vfs`, where all is in order, there is a prefix of at least `promised` writes. */
static void
check_after(const struct run *run, struct memory_vfs *vfs, uint64_t promised)
{
    struct fixture after;
    struct ledger ledger = {0};
    petal_error error;

    fixture_init_on(&after, vfs, 9);
    for (int opening = 0; opening < 2; opening++) {
        fixture_must_open(&after);
        assert_true(fixture_directory_is_clean(&after));
        if (run->tables_made || ledger_attach(&ledger, after.db, NULL) == PETAL_OK) {
            must(ledger_attach(&ledger, after.db, &error), &error);
            assert_in_range(ledger_must_be_prefix(&ledger), promised, run->attempted);
        }
        fixture_must_close(&after);
    }
    fixture_fini(&after);
}

/* The process is started again on the healed machine; the power fails before, or while it works, or
 * afterwards. */
static void
check_recovery(struct run *run, bool pages_kept)
{
    struct memory_vfs *restarted = memory_vfs_clone(run->fixture.vfs);
    struct memory_vfs *cut;

    check_after(run, restarted, pages_kept ? run->stored : run->synced);
    if (run->name_lost)
        return;
    cut = memory_vfs_clone(run->fixture.vfs);
    memory_vfs_power_cut(cut, MEMORY_CUT_LOSE_ALL, 1);
    check_after(run, cut, run->synced);
    for (unsigned i = 0; i < (test_long() ? 20u : 2u); i++) {
        bool opened;

        cut = memory_vfs_clone(run->fixture.vfs);
        cut = fixture_further_state(cut, i, memory_vfs_calls(run->fixture.vfs), &opened);
        check_after(run, cut, opened && pages_kept ? run->stored : run->synced);
    }
}

/* Which call or allocation fails first, and how many lie between those that do: each one does, or
 * under sanitizers, to which every thread of each opening is dear, one of three. */
static uint64_t
first_failure(void)
{
    return test_short() ? 1 + test_seed() % 3 : 1;
}

static uint64_t
failure_distance(void)
{
    return test_short() ? 3 : 1;
}

/* ---- file calls ---- */

#define SEAL_BYTES 24

/* A flush begins by making the next log's file. */
static bool
makes_spare(const struct run *run, const struct memory_vfs_call *call)
{
    bool first = false;

    for (size_t i = 0; i < run->flushes; i++)
        first = first || call->number == run->flush_calls[i];
    return first && call->operation == MEMORY_VFS_OPEN && strstr(call->path, ".log") != NULL;
}

/* A manifest that is made durable by an opening, and for which there is no room as a new file, is
 * so where it is. */
static bool
has_another_way(const struct memory_vfs_call *call)
{
    return call->error == ENOSPC && strstr(call->path, "MANIFEST.tmp") != NULL;
}

/* Failures that need no report: what is closed was only read or is synced; what cannot be removed
 * is removed later; the seal behind an edit of the manifest only says that the edit was synced, the
 * next edit will report it; and where a filter cannot be read the data is, so that the answer,
 * which is checked, is right; and a log that is not made ahead is made later. */
static bool
is_silent(const struct run *run, const struct memory_vfs_call *call)
{
    return call->operation == MEMORY_VFS_CLOSE || call->operation == MEMORY_VFS_REMOVE ||
           call->operation == MEMORY_VFS_READ || makes_spare(run, call) || has_another_way(call) ||
           (call->operation == MEMORY_VFS_WRITE && call->size == SEAL_BYTES &&
            strstr(call->path, "MANIFEST") != NULL);
}

static void
check_reported(struct run *run, int failure)
{
    bool must_report = false;

    for (size_t i = 0; i < memory_vfs_trace_count(run->fixture.vfs); i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(run->fixture.vfs, i);

        if (call.error != failure || is_silent(run, &call))
            continue;
        must_report = true;
        run->name_lost = run->name_lost || call.operation == MEMORY_VFS_SYNC_PARENT;
        if (!run->reported)
            print_error("call %" PRIu64 ", operation %d on %s failed in silence\n", call.number,
                        (int)call.operation, call.path);
    }
    assert_true(run->reported || !must_report);
}

/* Returns the number of calls that there are, or nearly so. */
static uint64_t
fail_every_call(int failure, bool permanently, bool revert)
{
    uint64_t n = first_failure();

    for (;; n += failure_distance()) {
        bool failed;
        struct run run;

        begin_run(&run, 3);
        run.reverts = revert;
        memory_vfs_revert_on_failed_sync(run.fixture.vfs, revert);
        memory_vfs_trace(run.fixture.vfs, true);
        memory_vfs_fail_at(run.fixture.vfs, n, failure, permanently);
        run_it(&run);
        petal_close(run.fixture.db, NULL);
        run.fixture.db = NULL;
        failed = memory_vfs_failures(run.fixture.vfs) > 0;
        check_reported(&run, failure);
        if (!failed) {
            assert_false(run.reported);
            assert_int_equal(run.synced, run.attempted);
        }
        memory_vfs_trace(run.fixture.vfs, false);
        check_recovery(&run, !revert);
        fixture_fini(&run.fixture);
        if (!failed)
            break;
    }
    assert_true(n > 100);
    return n - 1;
}

static void
test_every_call_fails_once(void **state)
{
    (void)state;
    print_message("%" PRIu64 " calls\n", fail_every_call(EIO, false, false));
}

static void
test_every_call_fails_for_good(void **state)
{
    (void)state;
    fail_every_call(EIO, true, false);
}

static void
test_every_call_finds_no_space(void **state)
{
    (void)state;
    fail_every_call(ENOSPC, false, false);
    fail_every_call(ENOSPC, true, false);
}

/* A file system that shows the old bytes after a failed sync. */
static void
test_failed_syncs_that_revert(void **state)
{
    (void)state;
    fail_every_call(EIO, false, true);
}

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
    must(ledger_attach(ledger, fixture->db, &error), &error);
    assert_true(ledger_must_be_prefix(ledger) >= count);
}

static void
start_with_writes(struct fixture *fixture, struct ledger *ledger)
{
    petal_error error;

    fixture_init(fixture, 4);
    fixture_must_open(fixture);
    must(ledger_create(ledger, fixture->db, &error), &error);
    for (uint64_t number = 1; number <= 7; number++)
        must(ledger_write(ledger, number, PETAL_SYNC_WAL, &error), &error);
}

static void
test_read_only_after_the_log_failed(void **state)
{
    (void)state;
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
static void
test_a_sync_that_finds_the_disk_full(void **state)
{
    static const int errors[] = {ENOSPC, EDQUOT};

    (void)state;
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
        must(ledger_attach(&ledger, fixture.db, &error), &error);
        assert_int_equal(ledger_must_be_prefix(&ledger), 8);
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

static void
test_read_only_after_the_manifest_failed(void **state)
{
    petal_family_options family = {.name = slice_from_text("f")};
    petal_table_options options = {
        .name = slice_from_text("new"), .families = &family, .family_count = 1};
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_table *table;
    petal_error error;

    (void)state;
    start_with_writes(&fixture, &ledger);
    memory_vfs_fail_at(fixture.vfs, 2, EIO, false); /* the sync behind the append */
    assert_int_equal(petal_table_create(fixture.db, &options, &table, &error), PETAL_IO);
    assert_null(table);
    check_read_only(&fixture, &ledger, 7, "MANIFEST");
    fixture_fini(&fixture);
}

/* The disk is full for a flush: reads and writes go on, and the flush succeeds when there is room
 * again. */
static void
test_full_disk_at_a_flush(void **state)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_error error;

    (void)state;
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
static void
test_a_store_file_that_fails_is_written_again(void **state)
{
    unsigned tried = 0;
    bool failed = true;

    (void)state;
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
static void
test_a_copy_is_as_long_as_its_file(void **state)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_error error;
    petal_vfs table;

    (void)state;
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
 * acknowledged behind that was dropped without a word. */
static void
test_a_log_that_reads_short_is_not_torn(void **state)
{
    struct fixture fixture;
    struct ledger ledger = {0};
    petal_error error;
    petal_vfs table;

    (void)state;
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
    must(ledger_attach(&ledger, fixture.db, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&ledger), 7);
    fixture_fini(&fixture);
}

/* A lost store file that could not be noted for want of memory made the opening fail with the status
 * of that, and the text and file of the other. */
static void
test_want_of_memory_is_told_as_such(void **state)
{
    bool failed = true;
    struct fixture fixture;
    struct ledger ledger = {0};
    const petal_vfs *vfs;
    petal_directory *directory;
    petal_error error;
    char *path;

    (void)state;
    fixture_init(&fixture, 4);
    fixture_must_open(&fixture);
    must(ledger_create(&ledger, fixture.db, &error), &error);
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

/* ---- allocations ---- */

static uint64_t
fail_every_allocation(bool permanently)
{
    uint64_t n = first_failure();

    for (;; n += failure_distance()) {
        bool failed;
        struct run run;

        begin_run(&run, 6);
        test_allocator_fail_at(&run.fixture.allocator, n, permanently);
        run_it(&run);
        petal_close(run.fixture.db, NULL);
        run.fixture.db = NULL;
        failed = test_allocator_failures(&run.fixture.allocator) > 0;
        test_allocator_fail_at(&run.fixture.allocator, 0, false);
        check_recovery(&run, true);
        fixture_fini(&run.fixture);
        if (!failed)
            break;
    }
    assert_true(n > 100);
    return n - 1;
}

static void
test_every_allocation_fails_once(void **state)
{
    (void)state;
    print_message("%" PRIu64 " allocations\n", fail_every_allocation(false));
}

static void
test_every_allocation_fails_for_good(void **state)
{
    (void)state;
    fail_every_allocation(true);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call_fails_once),
        cmocka_unit_test(test_every_call_fails_for_good),
        cmocka_unit_test(test_every_call_finds_no_space),
        cmocka_unit_test(test_failed_syncs_that_revert),
        cmocka_unit_test(test_read_only_after_the_log_failed),
        cmocka_unit_test(test_a_sync_that_finds_the_disk_full),
        cmocka_unit_test(test_read_only_after_the_manifest_failed),
        cmocka_unit_test(test_full_disk_at_a_flush),
        cmocka_unit_test(test_a_store_file_that_fails_is_written_again),
        cmocka_unit_test(test_a_copy_is_as_long_as_its_file),
        cmocka_unit_test(test_a_log_that_reads_short_is_not_torn),
        cmocka_unit_test(test_want_of_memory_is_told_as_such),
        cmocka_unit_test(test_every_allocation_fails_once),
        cmocka_unit_test(test_every_allocation_fails_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
