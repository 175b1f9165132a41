/*
 * checkpoint_test.c -- checkpoints: the copy is the database at one moment, a database of its own, whatever becomes of the
 * other; one that fails or is cut short harms nothing and leaves no half copy that opens.
 *
 * The database of most tests holds writes of the ledger in files, in logs, and in memory only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/engine/table/copy_fixture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define COPY   "/copy"
#define WRITES 30

struct bed {
    struct fixture fixture;
    struct ledger ledger;
};

static void
write_some(struct bed *bed, uint64_t first, uint64_t last, enum petal_durability durability)
{
    petal_error error;

    for (uint64_t number = first; number <= last; number++)
        must(ledger_write(&bed->ledger, number, durability, &error), &error);
}

/* Files of two flushes, a log, cells that no log has, a table snapshot. */
static void
fill(struct bed *bed)
{
    petal_error error;

    fixture_must_open(&bed->fixture);
    must(ledger_create(&bed->ledger, bed->fixture.db, &error), &error);
    write_some(bed, 1, 10, PETAL_SYNC_WAL);
    must(petal_flush(bed->fixture.db, NULL, &error), &error);
    must(petal_table_snapshot_create(bed->ledger.tables[0], slice_from_text("ten"), NULL, &error),
         &error);
    write_some(bed, 11, 15, PETAL_FSYNC_WAL);
    must(petal_flush(bed->fixture.db, bed->ledger.tables[1], &error), &error);
    write_some(bed, 16, WRITES, PETAL_FSYNC_WAL);
}

static int
setup(void **state)
{
    struct bed *bed = test_allocate(sizeof *bed);

    *bed = (struct bed){0};
    fixture_init(&bed->fixture, 1);
    fill(bed);
    *state = bed;
    return 0;
}

static int
teardown(void **state)
{
    struct bed *bed = *state;

    fixture_fini(&bed->fixture);
    free(bed);
    return 0;
}

/* ---- the copy ---- */

static petal_db *
must_open_copy(struct fixture *fixture, struct ledger *ledger)
{
    petal_db *db;
    petal_error error;

    must(petal_open(COPY, &fixture->options, &db, &error), &error);
    *ledger = (struct ledger){0};
    must(ledger_attach(ledger, db, &error), &error);
    return db;
}

static void
must_close(petal_db *db)
{
    petal_error error;

    must(petal_close(db, &error), &error);
}

/* It holds `writes` of the ledger, and the snapshot that was there; it can be written. */
static void
check_copy(struct fixture *fixture, uint64_t writes)
{
    char text[COPY_BED_TEXT_BYTES];
    struct ledger ledger;
    petal_table *restored;
    petal_error error;
    petal_db *db = must_open_copy(fixture, &ledger);

    assert_int_equal(ledger_must_be_prefix(&ledger), writes);
    assert_string_equal(copy_bed_snapshots(db, text), "ten ");
    must(ledger_write(&ledger, writes + 1, PETAL_SYNC_WAL, &error), &error);
    must_close(db);
    db = must_open_copy(fixture, &ledger);
    assert_int_equal(ledger_must_be_prefix(&ledger), writes + 1);
    must(petal_table_snapshot_clone(db, slice_from_text("ten"), slice_from_text("clone"), &restored,
                                    &error),
         &error);
    must(petal_table_verify(restored, &error), &error);
    must(petal_table_drop(restored, &error), &error);
    must_close(db);
}

static void
checkpoint(struct bed *bed)
{
    petal_error error;

    must(petal_checkpoint(bed->fixture.db, COPY, &error), &error);
}

/* ---- tests ---- */

static void
the_copy_is_the_database_at_one_moment(void **state)
{
    struct bed *bed = *state;

    checkpoint(bed);
    write_some(bed, WRITES + 1, WRITES + 9, PETAL_SYNC_WAL);
    check_copy(&bed->fixture, WRITES);
    assert_int_equal(ledger_must_be_prefix(&bed->ledger), WRITES + 9);
}

static void
what_is_in_memory_only_is_in_the_copy(void **state)
{
    struct bed *bed = *state;

    write_some(bed, WRITES + 1, WRITES + 6, PETAL_SKIP_WAL);
    checkpoint(bed);
    check_copy(&bed->fixture, WRITES + 6);
}

/* Its files stay when those of the other database go, by compactions and drops. */
static void
the_copy_lives_by_itself(void **state)
{
    struct bed *bed = *state;
    petal_error error;

    checkpoint(bed);
    write_some(bed, WRITES + 1, WRITES + 9, PETAL_SYNC_WAL);
    must(petal_flush(bed->fixture.db, NULL, &error), &error);
    must(petal_compact(bed->ledger.tables[0], NULL, &error), &error);
    must(petal_table_drop(bed->ledger.tables[1], &error), &error);
    must(petal_table_snapshot_delete(bed->fixture.db, slice_from_text("ten"), &error), &error);
    check_copy(&bed->fixture, WRITES);
    fixture_must_close(&bed->fixture);
    fixture_must_open(&bed->fixture);
    check_copy(&bed->fixture, WRITES + 1); /* with the write that the first check added */
}

static void
an_empty_database_has_checkpoints(void **state)
{
    struct fixture fixture;
    petal_error error;
    petal_db *db;

    (void)state;
    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    must(petal_checkpoint(fixture.db, COPY, &error), &error);
    fixture_must_close(&fixture);
    fixture.options.create = false;
    must(petal_open(COPY, &fixture.options, &db, &error), &error);
    must_close(db);
    fixture_fini(&fixture);
}

static void
what_exists_is_not_overwritten(void **state)
{
    struct bed *bed = *state;
    const petal_vfs *vfs = memory_vfs_table(bed->fixture.vfs);
    petal_error error;

    assert_int_equal(vfs_make_directory(vfs, "/empty"), 0);
    must(petal_checkpoint(bed->fixture.db, "/empty", &error), &error);
    assert_int_equal(petal_checkpoint(bed->fixture.db, "/empty", &error), PETAL_EXISTS);
    assert_int_equal(petal_checkpoint(bed->fixture.db, FIXTURE_DIRECTORY, &error), PETAL_EXISTS);
    assert_int_equal(petal_checkpoint(bed->fixture.db, FIXTURE_DIRECTORY "/MANIFEST", &error),
                     PETAL_EXISTS);
    assert_int_equal(petal_checkpoint(bed->fixture.db, "/none/copy", &error), PETAL_IO);
    assert_int_equal(petal_checkpoint(bed->fixture.db, "", &error), PETAL_INVALID);
    fixture_must_close(&bed->fixture);
    fixture_must_open(&bed->fixture);
    must(ledger_attach(&bed->ledger, bed->fixture.db, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&bed->ledger), WRITES);
}

/* A log of the one database means nothing to the other. */
static void
logs_do_not_fit_the_other_database(void **state)
{
    struct bed *bed = *state;
    struct ledger ledger;
    petal_db *db;
    uint8_t *bytes;
    char *log, *to;
    size_t size;
    petal_error error;

    checkpoint(bed);
    write_some(bed, WRITES + 1, WRITES + 9, PETAL_FSYNC_WAL);
    log = fixture_only_file(&bed->fixture, ".log");
    assert_non_null(log);
    to = test_path(COPY, strrchr(log, '/') + 1);
    assert_int_equal(memory_vfs_read_file(bed->fixture.vfs, log, &bytes, &size), 0);
    assert_int_equal(memory_vfs_write_file(bed->fixture.vfs, to, bytes, size), 0);
    if (petal_open(COPY, &bed->fixture.options, &db, &error) == PETAL_OK) {
        must(ledger_attach(&ledger, db, &error), &error);
        ledger.filler = 0;
        assert_int_equal(ledger_must_be_prefix(&ledger), WRITES);
        must_close(db);
    }
    free(bytes);
    free(log);
    free(to);
}

/* ---- copies where there are no links ---- */

static int
no_link(void *context, petal_directory *from_directory, const char *from,
        petal_directory *to_directory, const char *to)
{
    (void)context;
    (void)from_directory;
    (void)from;
    (void)to_directory;
    (void)to;
    return EXDEV;
}

static void
use_layer(struct bed *bed, const petal_vfs *vfs)
{
    petal_error error;

    fixture_must_close(&bed->fixture);
    bed->fixture.env.vfs = vfs;
    fixture_must_open(&bed->fixture);
    must(ledger_attach(&bed->ledger, bed->fixture.db, &error), &error);
}

/* And on a disk without room for them: the database goes on, and there is room again for what else comes. */
static void
files_are_copied_if_there_is_room(void **state)
{
    struct bed *bed = *state;
    const petal_vfs *whole = bed->fixture.env.vfs;
    petal_vfs vfs = *whole;
    uint64_t used;
    petal_error error;

    vfs.link = no_link;
    use_layer(bed, &vfs);
    used = memory_vfs_used(bed->fixture.vfs);
    memory_vfs_set_capacity(bed->fixture.vfs, used + 1500);
    assert_int_equal(petal_checkpoint(bed->fixture.db, COPY, &error), PETAL_NO_SPACE);
    assert_true(memory_vfs_used(bed->fixture.vfs) < used + 1000);
    memory_vfs_set_capacity(bed->fixture.vfs, UINT64_MAX);
    write_some(bed, WRITES + 1, WRITES + 1, PETAL_FSYNC_WAL);
    checkpoint(bed);
    assert_true(memory_vfs_used(bed->fixture.vfs) > used + 1500);
    check_copy(&bed->fixture, WRITES + 1);
    use_layer(bed, whole);
}

/* ---- failures ---- */

static void
count_name(void *argument, const char *name)
{
    (void)name;
    ++*(unsigned *)argument;
}

static unsigned
names_in_copy(struct fixture *fixture)
{
    unsigned count = 0;

    memory_vfs_list(fixture->vfs, COPY, count_name, &count);
    return count;
}

/* After the failure of one call or allocation: complete, or nothing left but a directory. */
static void
check_after_failure(struct bed *bed, enum petal_status status, uint64_t at)
{
    petal_error error;

    if (status == PETAL_OK)
        check_copy(&bed->fixture, WRITES);
    else if (memory_vfs_exists(bed->fixture.vfs, COPY "/MANIFEST"))
        fail_msg("failure %" PRIu64 " left a manifest", at);
    assert_int_equal(ledger_must_be_prefix(&bed->ledger), WRITES);
    petal_close(bed->fixture.db, NULL);
    bed->fixture.db = NULL;
    fixture_must_open(&bed->fixture);
    must(ledger_attach(&bed->ledger, bed->fixture.db, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&bed->ledger), WRITES);
    copy_bed_expect_no_stray(&bed->fixture);
    if (status != PETAL_OK && names_in_copy(&bed->fixture) == 0) {
        checkpoint(bed);
        check_copy(&bed->fixture, WRITES);
    }
}

static void
every_call_fails(void **state)
{
    uint64_t left = 0, tried = 0;
    bool more = true;

    (void)state;
    for (uint64_t at = 1; more; at++) {
        struct bed bed = {0};
        enum petal_status status;
        petal_error error;

        fixture_init(&bed.fixture, 1);
        fill(&bed);
        memory_vfs_fail_at(bed.fixture.vfs, at, EIO, false);
        status = petal_checkpoint(bed.fixture.db, COPY, &error);
        memory_vfs_fail_at(bed.fixture.vfs, 0, 0, false);
        more = memory_vfs_failures(bed.fixture.vfs) > 0;
        left += status != PETAL_OK && names_in_copy(&bed.fixture) > 0;
        tried++;
        check_after_failure(&bed, status, at);
        fixture_fini(&bed.fixture);
    }
    assert_true(tried > 20);
    assert_int_equal(left, 0);
}

static void
every_allocation_fails(void **state)
{
    bool more = true;

    (void)state;
    for (uint64_t at = 1; more; at++) {
        struct bed bed = {0};
        enum petal_status status;
        petal_error error;

        fixture_init(&bed.fixture, 1);
        fill(&bed);
        test_allocator_fail_at(&bed.fixture.allocator, at, false);
        status = petal_checkpoint(bed.fixture.db, COPY, &error);
        more = test_allocator_failures(&bed.fixture.allocator) > 0;
        test_allocator_fail_at(&bed.fixture.allocator, 0, false);
        assert_true(more || status == PETAL_OK);
        assert_true(status == PETAL_OK || status == PETAL_NO_MEMORY);
        check_after_failure(&bed, status, at);
        fixture_fini(&bed.fixture);
    }
}

/* ---- power cuts ---- */

/* The power is back; `vfs` is consumed. True if the copy is complete. */
static bool
check_files(struct memory_vfs *vfs, uint64_t seed, bool promised)
{
    struct bed bed = {0};
    bool complete;
    petal_error error;

    fixture_init_on(&bed.fixture, vfs, seed);
    complete = memory_vfs_exists(vfs, COPY "/MANIFEST");
    assert_true(complete || !promised);
    fixture_must_open(&bed.fixture);
    must(ledger_attach(&bed.ledger, bed.fixture.db, &error), &error);
    assert_int_equal(ledger_must_be_prefix(&bed.ledger), WRITES);
    copy_bed_expect_no_stray(&bed.fixture);
    if (complete)
        check_copy(&bed.fixture, WRITES);
    fixture_fini(&bed.fixture);
    return complete;
}

/* One state that a cut left. */
static bool
check_state(struct memory_vfs *cut_vfs, enum memory_cut cut, uint64_t seed, bool promised)
{
    struct memory_vfs *vfs = memory_vfs_clone(cut_vfs);

    memory_vfs_power_cut(vfs, cut, seed);
    return check_files(vfs, seed, promised);
}

/* The process dies, another one opens the database, or the copy if there seems to be one, and the
 * power fails. */
static void
check_further_lives(struct memory_vfs *left, uint64_t seed, bool promised)
{
    for (unsigned i = 0; i < (test_long() ? 50u : 4u); i++) {
        struct memory_vfs *files = memory_vfs_clone(left);
        bool opened = false;

        files = fixture_further_state(files, i, seed, NULL);
        check_files(files, seed, promised);
        if (!memory_vfs_exists(left, COPY "/MANIFEST"))
            continue;
        files = memory_vfs_clone(left);
        files = fixture_further_state_in(COPY, files, i, seed, &opened);
        check_files(files, seed, promised || opened);
    }
}

static void
the_power_fails_during_every_call(void **state)
{
    uint64_t cuts = 0, complete = 0, incomplete = 0, seeds = test_seed();
    bool off = true;

    (void)state;
    for (uint64_t at = 1; off; at++) {
        struct bed bed = {0};
        bool promised;

        fixture_init(&bed.fixture, 1);
        fill(&bed);
        memory_vfs_cut_at(bed.fixture.vfs, at);
        promised = petal_checkpoint(bed.fixture.db, COPY, NULL) == PETAL_OK;
        off = memory_vfs_is_off(bed.fixture.vfs);
        for (uint64_t seed = 0; seed < 12; seed++) {
            enum memory_cut cut = seed == 0   ? MEMORY_CUT_LOSE_ALL
                                  : seed == 1 ? MEMORY_CUT_KEEP_ALL
                                              : MEMORY_CUT_RANDOM;
            bool is_complete = check_state(bed.fixture.vfs, cut, seeds + at * 100 + seed, promised);

            complete += is_complete;
            incomplete += !is_complete;
        }
        check_further_lives(bed.fixture.vfs, seeds + at * 100, promised);
        cuts++;
        petal_close(bed.fixture.db, NULL);
        bed.fixture.db = NULL;
        fixture_fini(&bed.fixture);
    }
    print_message("%" PRIu64 " cuts left %" PRIu64 " copies and %" PRIu64 " directories\n", cuts,
                  complete, incomplete);
    assert_true(complete > 12 && incomplete > 12);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(the_copy_is_the_database_at_one_moment),
        TEST(what_is_in_memory_only_is_in_the_copy),
        TEST(the_copy_lives_by_itself),
        cmocka_unit_test(an_empty_database_has_checkpoints),
        TEST(what_exists_is_not_overwritten),
        TEST(logs_do_not_fit_the_other_database),
        TEST(files_are_copied_if_there_is_room),
        cmocka_unit_test(every_call_fails),
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(the_power_fails_during_every_call),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
