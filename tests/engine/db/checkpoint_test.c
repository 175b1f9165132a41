/*
 * checkpoint_test.c -- checkpoints: the copy is the database at one moment, a database of its own,
 * whatever becomes of the other. Failures and power cuts: tests/crash/sequence_test.c,
 * tests/crash/failure_sites_test.c.
 *
 * The database of most tests holds writes of the ledger in files, in logs, and in memory only.
 */

#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

#define COPY   "/copy"
#define WRITES 30

struct checkpoint_fixture {
    struct fixture base;
    struct ledger ledger;
};

static void
write_some(struct checkpoint_fixture *fixture, uint64_t first, uint64_t last,
           enum petal_durability durability)
{
    for (uint64_t number = first; number <= last; number++)
        MUST(ledger_write(&fixture->ledger, number, durability, WHY));
}

/* Files of two flushes, a log, cells that no log has, a table snapshot. */
static void
fill(struct checkpoint_fixture *fixture)
{
    fixture_must_open(&fixture->base);
    MUST(ledger_create(&fixture->ledger, fixture->base.db, WHY));
    write_some(fixture, 1, 10, PETAL_SYNC_WAL);
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    MUST(petal_table_snapshot_create(fixture->ledger.tables[0], slice_from_text("ten"), NULL, WHY));
    write_some(fixture, 11, 15, PETAL_FSYNC_WAL);
    MUST(petal_flush(fixture->base.db, fixture->ledger.tables[1], WHY));
    write_some(fixture, 16, WRITES, PETAL_FSYNC_WAL);
}

static int
setup(void **state)
{
    struct checkpoint_fixture *fixture = test_allocate(sizeof *fixture);

    *fixture = (struct checkpoint_fixture){0};
    fixture_init(&fixture->base, 1);
    fill(fixture);
    *state = fixture;
    return 0;
}

static int
teardown(void **state)
{
    struct checkpoint_fixture *fixture = *state;

    fixture_fini(&fixture->base);
    free(fixture);
    return 0;
}

/* ---- the copy ---- */

static petal_db *
must_open_copy(struct fixture *fixture, struct ledger *ledger)
{
    petal_db *db;

    MUST(petal_open(COPY, &fixture->options, &db, WHY));
    *ledger = (struct ledger){0};
    MUST(ledger_attach(ledger, db, WHY));
    return db;
}

static void
must_close(petal_db *db)
{
    MUST(petal_close(db, WHY));
}

/* It holds `writes` of the ledger, and the snapshot that was there; it can be written. */
static void
check_copy(struct fixture *fixture, uint64_t writes)
{
    char text[COPY_BED_TEXT_BYTES];
    struct ledger ledger;
    petal_table *restored;
    petal_db *db = must_open_copy(fixture, &ledger);

    assert_int_equal(ledger_must_be_prefix(&ledger), writes);
    assert_string_equal(copy_fixture_snapshots(db, text), "ten ");
    MUST(ledger_write(&ledger, writes + 1, PETAL_SYNC_WAL, WHY));
    must_close(db);
    db = must_open_copy(fixture, &ledger);
    assert_int_equal(ledger_must_be_prefix(&ledger), writes + 1);
    MUST(petal_table_snapshot_clone(db, slice_from_text("ten"), slice_from_text("clone"), &restored,
                                    WHY));
    MUST(petal_table_verify(restored, WHY));
    MUST(petal_table_drop(restored, WHY));
    must_close(db);
}

static void
reopen(struct checkpoint_fixture *fixture)
{
    fixture_must_close(&fixture->base);
    fixture_must_open(&fixture->base);
    MUST(ledger_attach(&fixture->ledger, fixture->base.db, WHY));
}

static void
checkpoint(struct checkpoint_fixture *fixture)
{
    MUST(petal_checkpoint(fixture->base.db, COPY, WHY));
}

/* ---- tests ---- */

TEST_WITH(the_copy_is_the_database_at_one_moment, setup, teardown)
{
    struct checkpoint_fixture *fixture = *state;

    checkpoint(fixture);
    write_some(fixture, WRITES + 1, WRITES + 9, PETAL_SYNC_WAL);
    check_copy(&fixture->base, WRITES);
    assert_int_equal(ledger_must_be_prefix(&fixture->ledger), WRITES + 9);
}

TEST_WITH(what_is_in_memory_only_is_in_the_copy, setup, teardown)
{
    struct checkpoint_fixture *fixture = *state;

    write_some(fixture, WRITES + 1, WRITES + 6, PETAL_SKIP_WAL);
    checkpoint(fixture);
    check_copy(&fixture->base, WRITES + 6);
}

/* Its files stay when those of the other database go, by compactions and drops. */
TEST_WITH(the_copy_lives_by_itself, setup, teardown)
{
    struct checkpoint_fixture *fixture = *state;

    checkpoint(fixture);
    write_some(fixture, WRITES + 1, WRITES + 9, PETAL_SYNC_WAL);
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    MUST(petal_compact(fixture->ledger.tables[0], NULL, WHY));
    MUST(petal_table_drop(fixture->ledger.tables[1], WHY));
    MUST(petal_table_snapshot_delete(fixture->base.db, slice_from_text("ten"), WHY));
    check_copy(&fixture->base, WRITES);
    fixture_must_close(&fixture->base);
    fixture_must_open(&fixture->base);
    check_copy(&fixture->base, WRITES + 1); /* with the write that the first check added */
}

TEST(an_empty_database_has_checkpoints)
{
    struct fixture fixture;
    petal_db *db;

    fixture_init(&fixture, 1);
    fixture_must_open(&fixture);
    MUST(petal_checkpoint(fixture.db, COPY, WHY));
    fixture_must_close(&fixture);
    fixture.options.create = false;
    MUST(petal_open(COPY, &fixture.options, &db, WHY));
    must_close(db);
    fixture_fini(&fixture);
}

TEST_WITH(what_exists_is_not_overwritten, setup, teardown)
{
    struct checkpoint_fixture *fixture = *state;
    const petal_vfs *vfs = memory_vfs_table(fixture->base.vfs);
    petal_error error;

    assert_int_equal(vfs_make_directory(vfs, "/empty"), 0);
    MUST(petal_checkpoint(fixture->base.db, "/empty", WHY));
    assert_int_equal(petal_checkpoint(fixture->base.db, "/empty", &error), PETAL_EXISTS);
    assert_int_equal(petal_checkpoint(fixture->base.db, FIXTURE_DIRECTORY, &error), PETAL_EXISTS);
    assert_int_equal(petal_checkpoint(fixture->base.db, FIXTURE_DIRECTORY "/MANIFEST", &error),
                     PETAL_EXISTS);
    assert_int_equal(petal_checkpoint(fixture->base.db, "/none/copy", &error), PETAL_IO);
    assert_int_equal(petal_checkpoint(fixture->base.db, "", &error), PETAL_INVALID);
    reopen(fixture);
    assert_int_equal(ledger_must_be_prefix(&fixture->ledger), WRITES);
}

/* A log of the one database means nothing to the other. */
TEST_WITH(logs_do_not_fit_the_other_database, setup, teardown)
{
    struct checkpoint_fixture *fixture = *state;
    struct ledger ledger;
    petal_db *db;
    uint8_t *bytes;
    char *log, *to;
    size_t size;
    petal_error error;

    checkpoint(fixture);
    write_some(fixture, WRITES + 1, WRITES + 9, PETAL_FSYNC_WAL);
    log = fixture_only_file(&fixture->base, ".log");
    assert_non_null(log);
    to = test_path(COPY, strrchr(log, '/') + 1);
    assert_int_equal(memory_vfs_read_file(fixture->base.vfs, log, &bytes, &size), 0);
    assert_int_equal(memory_vfs_write_file(fixture->base.vfs, to, bytes, size), 0);
    if (petal_open(COPY, &fixture->base.options, &db, &error) == PETAL_OK) {
        MUST(ledger_attach(&ledger, db, WHY));
        ledger.filler = 0;
        assert_int_equal(ledger_must_be_prefix(&ledger), WRITES);
        must_close(db);
    }
    free(bytes);
    free(log);
    free(to);
}

/* ---- copies where there are no links ---- */

/* And on a disk without room for them: the database goes on, and there is room again for what else
 * comes. */
TEST_WITH(files_are_copied_if_there_is_room, setup, teardown)
{
    struct checkpoint_fixture *fixture = *state;
    uint64_t used;
    petal_error error;

    memory_vfs_refuse_links(fixture->base.vfs, EXDEV);
    reopen(fixture); /* memory is empty: no flush comes in between */
    used = memory_vfs_used(fixture->base.vfs);
    memory_vfs_set_capacity(fixture->base.vfs, used + 1500);
    assert_int_equal(petal_checkpoint(fixture->base.db, COPY, &error), PETAL_NO_SPACE);
    assert_true(memory_vfs_used(fixture->base.vfs) < used + 1000);
    memory_vfs_set_capacity(fixture->base.vfs, UINT64_MAX);
    write_some(fixture, WRITES + 1, WRITES + 1, PETAL_FSYNC_WAL);
    checkpoint(fixture);
    assert_true(memory_vfs_used(fixture->base.vfs) > used + 1500);
    check_copy(&fixture->base, WRITES + 1);
    memory_vfs_refuse_links(fixture->base.vfs, 0);
}
