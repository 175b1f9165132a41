/*
 * directory_sync_test.c -- the sync of a directory fails in one thread, between the making of a
 * file by another and that one's own sync. What the failed sync lost the later one does not bring
 * back: so that thread must not rely on its file, and nothing is lost when the power fails. And the
 * name of a new database's own directory is durable when it has been opened.
 */

#include "base/directory.h"
#include "engine/state/db.h"
#include "tests/crash/ledger.h"
#include "tests/disk/paths.h"
#include "tests/disk/state.h"
#include "tests/support/stage.h"
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define WRITES 7 /* before the flush */

/* ---- the threads' steps ---- */

enum step { IDLE, ARMED, FILE_MADE, SYNC_FAILS, FAILURE_SEEN };

/* ---- the disk ---- */

static struct fixture fixture;
static struct ledger ledger;
static petal_vfs vfs_in_steps;

static _Thread_local bool made_store_file; /* by this thread, since the flush is armed */

static int
open_in_steps(void *context, petal_directory *directory, const char *name, unsigned flags,
              petal_file **file)
{
    if (strstr(name, ".sst") != NULL && (flags & PETAL_FILE_CREATE) != 0)
        made_store_file = true;
    return memory_vfs_table(fixture.vfs)->open(context, directory, name, flags, file);
}

/* A flush that syncs the bytes of its file waits: the name is not synced yet. */
static int
sync_in_steps(void *context, petal_file *file)
{
    if (made_store_file && stage_pass(ARMED, FILE_MADE))
        stage_wait_for(FAILURE_SEEN);
    return memory_vfs_table(fixture.vfs)->sync(context, file);
}

/* Then the next sync fails, of whichever thread. */
static int
sync_directory_in_steps(void *context, petal_directory *directory)
{
    if (!stage_pass(FILE_MADE, SYNC_FAILS))
        return memory_vfs_table(fixture.vfs)->sync_directory(context, directory);
    pthread_mutex_lock(&fixture.vfs->mutex);
    memory_tree_fail_sync_names(directory->node);
    pthread_mutex_unlock(&fixture.vfs->mutex);
    return EIO;
}

/* ---- tests ---- */

static void *
flush_all(void *argument)
{
    return petal_flush(fixture.db, NULL, NULL) == PETAL_OK ? argument : NULL;
}

static bool
is_read_only(void)
{
    petal_stats stats;

    petal_stats_get(fixture.db, &stats);
    return stats.read_only;
}

TEST(test_a_flush_does_not_rely_on_a_lost_name)
{
    pthread_t flush;
    void *flushed;
    petal_error error;

    fixture_init(&fixture, 1);
    vfs_in_steps = *memory_vfs_table(fixture.vfs);
    vfs_in_steps.open = open_in_steps;
    vfs_in_steps.sync = sync_in_steps;
    vfs_in_steps.sync_directory = sync_directory_in_steps;
    fixture.env.vfs = &vfs_in_steps;
    fixture_must_open(&fixture);
    must(ledger_create(&ledger, fixture.db, &error), &error);
    for (uint64_t number = 1; number <= WRITES; number++)
        must(ledger_write(&ledger, number, PETAL_FSYNC_WAL, &error), &error);
    stage_reach(ARMED);
    assert_int_equal(pthread_create(&flush, NULL, flush_all, &fixture), 0);
    stage_wait_for(FILE_MADE);
    (void)db_sync_directory(fixture.db, &error); /* for the name of some other file */
    stage_wait_for(SYNC_FAILS);
    while (!is_read_only())
        sched_yield();
    stage_reach(FAILURE_SEEN);
    pthread_join(flush, &flushed);
    assert_null(flushed);
    assert_true(is_read_only());
    (void)petal_close(fixture.db, &error); /* waits for the flush thread, which may have gone on */
    fixture.db = NULL;
    fixture.env.vfs = memory_vfs_table(fixture.vfs);
    memory_vfs_power_cut(fixture.vfs, MEMORY_CUT_LOSE_ALL, 1);
    fixture_must_open(&fixture);
    assert_true(ledger_must_find(&ledger, fixture.db) == WRITES);
    fixture_must_close(&fixture);
    fixture_fini(&fixture);
}

/* The rule itself; what was lost cannot be had by asking again. */
TEST(test_no_sync_succeeds_after_one_that_failed)
{
    struct directory directory;
    struct env env;

    fixture_init(&fixture, 2);
    env_init(&env, &fixture.env);
    assert_int_equal(directory_open(&directory, &env, FIXTURE_DIRECTORY, true), 0);
    assert_int_equal(directory_sync(&directory), 0);
    memory_vfs_fail_at(fixture.vfs, 1, ENOSPC, false);
    assert_int_equal(directory_sync(&directory), ENOSPC);
    assert_int_equal(directory_sync(&directory), ENOSPC);
    directory_forgive_failed_sync(&directory);
    assert_int_equal(directory_sync(&directory), 0);
    directory_close(&directory);
    fixture_fini(&fixture);
}

/* The database's directory is a name in its parent, which must be durable, too, however the path is
 * written. */
TEST(test_a_new_directory_survives)
{
    static const char *const paths[] = {"/db",       "db",          "db/",
                                        "/outer/db", "outer//db//", "./outer/db"};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct fixture made;
        petal_db *db;

        fixture_init(&made, 1);
        vfs_make_directory(made.env.vfs, "/outer");
        vfs_sync_directory(made.env.vfs, "/");
        MUST(petal_open(paths[i], &made.options, &db, WHY));
        memory_vfs_power_cut(made.vfs, MEMORY_CUT_LOSE_ALL, 0);
        petal_close(db, NULL);
        made.options.create = false;
        MUST(petal_open(paths[i], &made.options, &db, WHY));
        MUST(petal_close(db, WHY));
        fixture_fini(&made);
    }
}
