/*
 * race_test.c -- a log is made, or made and closed, while a flush finds out which logs may go.
 * Then the process dies: the log must not have been forgotten.  And if one ever is, the opening
 * must notice.  The threads stop each other at fixed places, so that each test goes one way only.
 */
#define PETAL_SYNC_POINTS
#include "base/sync_point.c"
#include "engine/flush/job.c"

#include "tests/crash/ledger.h"
#include "tests/support/stage.h"
#include "tests/support/test.h"

#include <errno.h>
#include <sched.h>

#define WRITES 7 /* before the flush; one more is made beside it */

/* ---- the threads' steps ---- */

enum step { IDLE, ARMED, FLUSH_STOPPED, WRITER_STOPPED, FLUSH_DONE };

/* ---- the database ---- */

static struct fixture fixture;
static struct ledger ledger;
static petal_vfs vfs_in_steps;

/* When armed: the flush cannot make a log ahead, so that the writer has to make one. It waits
 * there, with the log's number taken, until the flush is done. */
static int
open_in_steps(void *context, petal_directory *directory, const char *name, unsigned flags,
              petal_file **file)
{
    if (strstr(name, ".log") != NULL && stage_is_at(ARMED))
        return ENOSPC;
    if (strstr(name, ".log") != NULL && stage_pass(FLUSH_STOPPED, WRITER_STOPPED))
        stage_wait_for(FLUSH_DONE);
    return memory_vfs_table(fixture.vfs)->open(context, directory, name, flags, file);
}

/*
 * When armed: the flush, which has written its files and syncs their names, waits until the writer
 * makes its new log.
 */
static int
sync_directory_in_steps(void *context, petal_directory *directory)
{
    if (stage_pass(ARMED, FLUSH_STOPPED))
        stage_wait_for(WRITER_STOPPED);
    return memory_vfs_table(fixture.vfs)->sync_directory(context, directory);
}

static void
begin(void)
{
    fixture_must_open(&fixture);
    MUST(ledger_create(&ledger, fixture.db, WHY));
    for (uint64_t number = 1; number <= WRITES; number++)
        MUST(ledger_write(&ledger, number, PETAL_SYNC_WAL, WHY));
}

/* Threads give NULL when their call failed. */
static void *
flush_all(void *argument)
{
    return petal_flush(fixture.db, NULL, NULL) == PETAL_OK ? argument : NULL;
}

static void *
write_one_more(void *argument)
{
    return ledger_write(&ledger, WRITES + 1, PETAL_SYNC_WAL, NULL) == PETAL_OK ? argument : NULL;
}

static pthread_t
start(void *(*run)(void *))
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run, &fixture), 0);
    return thread;
}

static void
must_join(pthread_t thread)
{
    void *succeeded;

    assert_int_equal(pthread_join(thread, &succeeded), 0);
    assert_non_null(succeeded);
}

static void
check_nothing_is_lost(struct fixture *after)
{
    fixture_must_open(after);
    assert_int_equal(ledger_must_find(&ledger, after->db), WRITES + 1);
    assert_true(fixture_directory_is_clean(after));
}

/* ---- tests ---- */

/* The log has its number, but no one writes to it yet, while the flush is committed. */
TEST(test_a_log_is_made_beside_a_flush)
{
    pthread_t flusher, writer;

    fixture_init(&fixture, 5);
    vfs_in_steps = *fixture.env.vfs;
    vfs_in_steps.sync_directory = sync_directory_in_steps;
    vfs_in_steps.open = open_in_steps;
    fixture.env.vfs = &vfs_in_steps;
    begin();
    stage_reach(ARMED);
    flusher = start(flush_all);
    stage_wait_for(FLUSH_STOPPED);
    writer = start(write_one_more);
    must_join(flusher);
    stage_reach(FLUSH_DONE);
    must_join(writer);
    stage_reach(IDLE);
    fixture_die(&fixture);
    check_nothing_is_lost(&fixture);
    fixture_fini(&fixture);
}

static struct memory_vfs
    *left; /* by the process that dies when the first flush is done and the second is not */

/* The first flush has looked for cells in memory, found none, and waits until there is one and its
 * log, which was the spare when it looked, is closed. */
static void
stop_flush(const char *name)
{
    bool closed = false;

    if (strcmp(name, "flush:unflushed cells looked for") != 0)
        return;
    if (!stage_pass(ARMED, FLUSH_STOPPED)) {
        left = memory_vfs_clone(fixture.vfs);
        return;
    }
    while (!closed) {
        mutex_lock(&fixture.db->wal->mutex);
        closed = fixture.db->wal->closed_count == 2 && fixture.db->wal->current == NULL;
        mutex_unlock(&fixture.db->wal->mutex);
        sched_yield();
    }
    assert_int_equal(wal_sync_closed(fixture.db, NULL), PETAL_OK); /* or it would stay for that */
}

TEST(test_a_log_is_closed_beside_a_flush)
{
    struct fixture after;
    pthread_t flusher;

    fixture_init(&fixture, 6);
    begin();
    sync_point_set_hook(stop_flush);
    stage_reach(ARMED);
    flusher = start(flush_all);
    stage_wait_for(FLUSH_STOPPED);
    MUST(ledger_write(&ledger, WRITES + 1, PETAL_SYNC_WAL, WHY));
    must(fixture_close_log(&fixture), NULL);
    must_join(flusher);
    MUST(petal_flush(fixture.db, NULL, WHY));
    sync_point_set_hook(NULL);
    stage_reach(IDLE);
    assert_non_null(left);
    fixture_init_on(&after, left, 7);
    check_nothing_is_lost(&after);
    fixture_fini(&after);
    fixture_fini(&fixture);
}

/* ---- what an opening makes of a log that is gone ---- */

static void
keep_newest_log(void *argument, const char *name)
{
    uint64_t number, *newest = argument;

    if (filename_parse(name, &number) == FILENAME_WAL && number > *newest)
        *newest = number;
}

/* The manifest takes the log for obsolete, but there are cells in it that are in no store file. */
TEST(test_a_forgotten_log_is_noticed)
{
    struct manifest *manifest;
    struct manifest_edit edit;
    struct env env;
    struct directory directory;
    uint64_t newest = 0;
    petal_error error;

    fixture_init(&fixture, 8);
    begin();
    MUST(petal_flush(fixture.db, ledger.tables[0], WHY));
    MUST(ledger_write(&ledger, WRITES + 1, PETAL_SYNC_WAL, WHY));
    fixture_die(&fixture);
    env_init(&env, &fixture.env);
    assert_int_equal(directory_open(&directory, &env, FIXTURE_DIRECTORY, false), 0);
    MUST(manifest_load(&manifest, &directory, WHY));
    manifest_edit_init(&edit, env.allocator);
    memory_vfs_list(fixture.vfs, FIXTURE_DIRECTORY, keep_newest_log, &newest);
    manifest_edit_oldest_log(&edit, newest);
    MUST(manifest_commit(manifest, &edit, WHY));
    manifest_edit_fini(&edit);
    manifest_free(manifest);
    directory_close(&directory);
    assert_int_equal(fixture_open(&fixture, &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.text, "takes that log for obsolete"));
    fixture_fini(&fixture);
}

/* The last cell of an obsolete log may have belonged to a table that was dropped: then no flush
 * tells of it. */
TEST(test_a_log_that_ended_with_a_dropped_table)
{
    petal_slice one = slice_make("1", 1);

    fixture_init(&fixture, 9);
    begin();
    for (unsigned table = 0; table < LEDGER_TABLES; table++)
        MUST(petal_put(ledger.families[table * LEDGER_FAMILIES], one, one, PETAL_LATEST, one, NULL,
                       WHY));
    MUST(petal_table_drop(ledger.tables[1], WHY));
    MUST(petal_flush(fixture.db, NULL, WHY));
    MUST(petal_put(ledger.families[0], one, one, PETAL_LATEST, one, NULL, WHY));
    fixture_die(&fixture);
    fixture_must_open(&fixture);
    assert_true(fixture_directory_is_clean(&fixture));
    fixture_fini(&fixture);
}
