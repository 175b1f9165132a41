/*
 * snapshot_cut_test.c -- a short life of table snapshots (two are taken, one is cloned, one
 * restored, one deleted) in which every file call fails once, every allocation fails, and the power
 * fails during every call. What was promised is there afterwards, a snapshot that is there holds
 * just what it should, tables are what they were before a step or after it, and no file is left
 * that nothing names.
 */

#include "base/slice.h"
#include "tests/engine/table/copy_fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define NAME(text) slice_from_text(text)

/* What each step leads to. */
enum step {
    STEP_FIRST,   /* t: a=1 */
    STEP_ONE,     /* snapshot one of it */
    STEP_SECOND,  /* t: a=2 */
    STEP_TWO,     /* snapshot two of it */
    STEP_CLONE,   /* table c of one */
    STEP_OWN,     /* c: b=own */
    STEP_RESTORE, /* t as in one */
    STEP_THIRD,   /* t: d=3 */
    STEP_DELETE,  /* snapshot one goes */
    STEPS
};

struct life {
    struct fixture fixture;
    bool begun[STEPS], done[STEPS];
};

/* ---- the life ---- */

static enum petal_status
do_step(struct life *life, enum step step, petal_error *error)
{
    petal_db *db = life->fixture.db;
    petal_slice name = step == STEP_OWN ? NAME("c") : NAME("t");
    petal_table *table, *made;
    enum petal_status status = petal_table_open(db, name, &table, error);

    if (step == STEP_RESTORE)
        return petal_table_snapshot_restore(db, NAME("one"), &made, error);
    if (step == STEP_CLONE)
        return petal_table_snapshot_clone(db, NAME("one"), NAME("c"), &made, error);
    if (step == STEP_DELETE)
        return petal_table_snapshot_delete(db, NAME("one"), error);
    if (status != PETAL_OK)
        return status;
    switch (step) {
    case STEP_FIRST:
        return copy_fixture_put(table, "f", "a", "1", PETAL_FSYNC_WAL, error);
    case STEP_SECOND:
        return copy_fixture_put(table, "f", "a", "2", PETAL_FSYNC_WAL, error);
    case STEP_THIRD:
        return copy_fixture_put(table, "g", "d", "3", PETAL_FSYNC_WAL, error);
    case STEP_OWN:
        return copy_fixture_put(table, "f", "b", "own", PETAL_FSYNC_WAL, error);
    default:
        return petal_table_snapshot_create(table, step == STEP_ONE ? NAME("one") : NAME("two"),
                                           NULL, error);
    }
}

/* A step comes when what it builds on is there; a failed one ends the life if `stop`. */
static void
live(struct life *life, bool stop)
{
    for (enum step step = STEP_FIRST; step < STEPS; step++) {
        life->begun[step] = true;
        life->done[step] = do_step(life, step, NULL) == PETAL_OK;
        if (!life->done[step] && stop)
            return;
        test_clock_advance(&life->fixture.clock, 1);
    }
}

static void
begin(struct life *life, bool links)
{
    petal_table *table;
    petal_error error;

    *life = (struct life){.done = {false}};
    fixture_init(&life->fixture, 1);
    if (!links)
        memory_vfs_refuse_links(life->fixture.vfs, EOPNOTSUPP);
    fixture_must_open(&life->fixture);
    must(copy_fixture_create(life->fixture.db, "t", &table, &error), &error);
}

/* ---- what is there ---- */

static bool
is_there(petal_db *db, const char *snapshot)
{
    char text[COPY_BED_TEXT_BYTES];

    return strstr(copy_fixture_snapshots(db, text), snapshot) != NULL;
}

/* The snapshot, if it is there, holds `first` or `second` (NULL: none). */
static void
check_snapshot(petal_db *db, const char *snapshot, const char *first, const char *second)
{
    char text[COPY_BED_TEXT_BYTES];
    petal_table *table;
    petal_error error;

    if (!is_there(db, snapshot))
        return;
    must(petal_table_snapshot_clone(db, NAME(snapshot), NAME("copy"), &table, &error), &error);
    copy_fixture_text(table, NULL, text);
    if (strcmp(text, first) != 0 && (second == NULL || strcmp(text, second) != 0))
        fail_msg("snapshot %s holds %s", snapshot, text);
    must(petal_table_verify(table, &error), &error);
    must(petal_table_drop(table, &error), &error);
}

/* All that steps which were acknowledged, or begun, can have led to. A step that failed may be
 * there or not. */
static void
check_table(const struct life *life, petal_db *db)
{
    const bool *done = life->done, *begun = life->begun;
    char text[COPY_BED_TEXT_BYTES];
    bool is_old, is_new;

    copy_fixture_text(copy_fixture_open(db, "t"), NULL, text);
    is_old = strncmp(text, "a/f=2 ", 6) == 0;
    is_new = strncmp(text, "a/f=1 ", 6) == 0;
    if (done[STEP_FIRST])
        assert_true(is_old || is_new);
    if (done[STEP_RESTORE])
        assert_true(is_new || !done[STEP_FIRST]);
    else if (done[STEP_SECOND] && !begun[STEP_RESTORE])
        assert_true(is_old);
    if (done[STEP_THIRD])
        assert_non_null(strstr(text, "d/g=3 "));
    if (!begun[STEP_THIRD])
        assert_null(strstr(text, "d/g=3 "));
}

static void
check_clone(const struct life *life, petal_db *db)
{
    char text[COPY_BED_TEXT_BYTES];
    petal_table *table;

    if (petal_table_open(db, NAME("c"), &table, NULL) != PETAL_OK) {
        assert_false(life->done[STEP_CLONE]);
        return;
    }
    assert_true(life->begun[STEP_CLONE]);
    copy_fixture_text(table, NULL, text);
    if (life->done[STEP_FIRST])
        assert_memory_equal(text, "a/f=1 ", 6);
    if (life->done[STEP_OWN])
        assert_non_null(strstr(text, "b/f=own "));
}

/* The database was opened again. */
static void
check(const struct life *life, struct fixture *fixture)
{
    petal_db *db = fixture->db;
    const bool *done = life->done, *begun = life->begun;

    copy_fixture_expect_no_stray(fixture);
    if (done[STEP_ONE] && !begun[STEP_DELETE])
        assert_true(is_there(db, "one"));
    if (done[STEP_DELETE])
        assert_false(is_there(db, "one"));
    if (done[STEP_TWO])
        assert_true(is_there(db, "two"));
    check_snapshot(db, "one", "a/f=1 ", done[STEP_FIRST] ? NULL : "");
    check_snapshot(db, "two", done[STEP_SECOND] ? "a/f=2 " : "a/f=1 ",
                   done[STEP_SECOND]  ? NULL
                   : done[STEP_FIRST] ? "a/f=2 "
                                      : "");
    check_table(life, db);
    check_clone(life, db);
}

static void
check_again(struct life *life)
{
    petal_close(life->fixture.db, NULL);
    life->fixture.db = NULL;
    fixture_must_open(&life->fixture);
    check(life, &life->fixture);
    fixture_fini(&life->fixture);
}

/* The power is back; `files` are consumed. */
static void
check_files(const struct life *life, struct memory_vfs *files, uint64_t seed)
{
    struct fixture fixture;

    fixture_init_on(&fixture, files, seed);
    fixture_must_open(&fixture);
    check(life, &fixture);
    fixture_fini(&fixture);
}

static void
check_state(const struct life *life, enum memory_cut cut, uint64_t seed)
{
    struct memory_vfs *vfs = memory_vfs_clone(life->fixture.vfs);

    memory_vfs_power_cut(vfs, cut, seed);
    check_files(life, vfs, seed);
}

/* The process dies, another one opens what the kernel holds, and the power fails. */
static void
check_further_lives(const struct life *life, uint64_t seed)
{
    for (unsigned i = 0; i < (test_long() ? 50u : 4u); i++) {
        struct memory_vfs *files = memory_vfs_clone(life->fixture.vfs);

        check_files(life, fixture_further_state(files, i, seed, NULL), seed);
    }
}

/* ---- tests ---- */

static void
let_every_call_fail(bool links)
{
    uint64_t tried = 0;
    bool more = true;

    for (uint64_t at = 1; more; at++) {
        struct life life;

        begin(&life, links);
        memory_vfs_fail_at(life.fixture.vfs, at, EIO, false);
        live(&life, false);
        more = memory_vfs_failures(life.fixture.vfs) > 0;
        memory_vfs_fail_at(life.fixture.vfs, 0, 0, false);
        for (unsigned step = 0; step < STEPS; step++)
            assert_true(more || life.done[step]);
        check_further_lives(&life, at * 100);
        check_again(&life);
        tried++;
    }
    print_message("%" PRIu64 " calls failed\n", tried);
    assert_true(tried > 50);
}

TEST(every_call_fails)
{
    let_every_call_fail(true);
    let_every_call_fail(false);
}

TEST(every_allocation_fails)
{
    bool more = true;

    for (uint64_t at = 1; more; at++) {
        struct life life;
        petal_error error;

        begin(&life, at % 2 == 0);
        test_allocator_fail_at(&life.fixture.allocator, at, false);
        live(&life, false);
        more = test_allocator_failures(&life.fixture.allocator) > 0;
        test_allocator_fail_at(&life.fixture.allocator, 0, false);
        for (unsigned step = 0; step < STEPS; step++)
            assert_true(more || life.done[step]);
        must(petal_flush(life.fixture.db, NULL, &error), &error);
        copy_fixture_expect_no_stray(&life.fixture); /* before an opening tidies up */
        check_again(&life);
    }
}

/* A full disk at every size, where each file is copied. */
TEST(the_disk_fills_up)
{
    for (uint64_t room = 0; room < 12000; room += 250) {
        struct life life;

        begin(&life, false);
        memory_vfs_set_capacity(life.fixture.vfs, memory_vfs_used(life.fixture.vfs) + room);
        live(&life, false);
        memory_vfs_set_capacity(life.fixture.vfs, UINT64_MAX);
        check_again(&life);
    }
}

static void
cut_every_call(bool links, uint64_t seeds)
{
    uint64_t cuts = 0;
    bool off = true;

    for (uint64_t at = 1; off; at++) {
        struct life life;

        begin(&life, links);
        memory_vfs_cut_at(life.fixture.vfs, at);
        live(&life, true);
        off = memory_vfs_is_off(life.fixture.vfs);
        check_state(&life, MEMORY_CUT_LOSE_ALL, 0);
        check_state(&life, MEMORY_CUT_KEEP_ALL, 0);
        for (uint64_t seed = 0; seed < 10; seed++)
            check_state(&life, MEMORY_CUT_RANDOM, seeds + at * 100 + seed);
        check_further_lives(&life, seeds + at * 100);
        petal_close(life.fixture.db, NULL);
        life.fixture.db = NULL;
        fixture_fini(&life.fixture);
        cuts++;
    }
    print_message("%" PRIu64 " cuts\n", cuts);
    assert_true(cuts > 50);
}

TEST(the_power_fails_during_every_call)
{
    uint64_t seeds = test_seed();

    cut_every_call(true, seeds);
    cut_every_call(false, seeds);
}
