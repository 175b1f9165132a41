/*
 * read_only_lock_test.c -- how read-only openings begin: with which options, beside whom, and
 * without a lock where there is none.
 */

#include "tests/disk/paths.h"
#include "tests/engine/db/read_only_fixture.h"
#include "tests/support/test.h"

#include <errno.h>
#include <string.h>

/* ---- opening ---- */

TEST(test_options_that_make_a_database_are_refused)
{
    struct fixture fixture;
    petal_error error;

    fixture_init(&fixture, 1);
    fixture.options.read_only = true;
    assert_int_equal(fixture_open(&fixture, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "read_only"));
    assert_non_null(strstr(error.text, "create"));
    fixture.options.create = false;
    fixture.options.error_if_exists = true;
    assert_int_equal(fixture_open(&fixture, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "error_if_exists"));
    fixture.options.error_if_exists = false;
    assert_int_equal(fixture_open(&fixture, &error), PETAL_NOT_FOUND);
    assert_false(memory_vfs_exists(fixture.vfs, FIXTURE_DIRECTORY));
    /* An empty directory stays empty. */
    assert_int_equal(vfs_make_directory(fixture.env.vfs, FIXTURE_DIRECTORY), 0);
    assert_int_equal(fixture_open(&fixture, &error), PETAL_NOT_FOUND);
    assert_null(strstr(error.text, "create")); /* which a reader cannot ask for */
    fixture.options.read_only = false;
    assert_int_equal(fixture_open(&fixture, &error), PETAL_NOT_FOUND);
    assert_non_null(strstr(error.text, "options.create makes one"));
    assert_int_equal(fixture_count_files(&fixture, ""), 0);
    fixture_fini(&fixture);
}

/* Where there is no registry of readers. */
TEST(test_readers_share_and_writers_do_not)
{
    struct fixture fixture;
    petal_options reading;
    petal_db *second, *third;
    petal_error error;

    read_only_begin(&fixture);
    reading = fixture.options;
    reading.read_only = true;
    reading.create = false;
    MUST(petal_open(FIXTURE_DIRECTORY, &reading, &second, WHY));
    MUST(petal_open(FIXTURE_DIRECTORY, &reading, &third, WHY));
    assert_int_equal(fixture_open(&fixture, &error), PETAL_BUSY);
    assert_non_null(strstr(error.text, "open elsewhere"));
    MUST(petal_close(second, WHY));
    assert_int_equal(fixture_open(&fixture, &error), PETAL_BUSY);
    MUST(petal_close(third, WHY));
    fixture_must_open(&fixture);
    /* Which has made it. */
    MUST(petal_open(FIXTURE_DIRECTORY, &reading, &second, WHY));
    MUST(petal_close(second, WHY));
    fixture_fini(&fixture);
}

static bool
compact(void *argument, petal_table *table)
{
    (void)argument;
    MUST(petal_compact(table, NULL, WHY));
    return true;
}

/* A reader that may not write in the registry keeps all files. */
TEST(test_a_reader_that_may_not_write)
{
    struct fixture fixture;
    petal_options reading;
    petal_vfs sealed;
    petal_env env;
    petal_db *reader;

    read_only_begin(&fixture);
    fixture_must_open(&fixture);
    read_only_seal(&sealed, &fixture);
    env = fixture.env;
    fixture.env.vfs = memory_vfs_table(fixture.vfs);
    reading = fixture.options;
    reading.read_only = true;
    reading.create = false;
    reading.env = &env;
    MUST(petal_open(FIXTURE_DIRECTORY, &reading, &reader, WHY));
    MUST(petal_table_list(fixture.db, compact, NULL, WHY));
    assert_false(fixture_directory_is_clean(&fixture));
    MUST(petal_refresh(reader, WHY));
    MUST(petal_close(reader, WHY));
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    assert_true(fixture_directory_is_clean(&fixture));
    fixture_fini(&fixture);
}

/* The copy of a database without its empty lock file. */
TEST(test_without_a_lock_file)
{
    struct fixture fixture;

    read_only_begin(&fixture);
    assert_int_equal(vfs_remove(fixture.env.vfs, "/db/LOCK"), 0);
    read_only_open(&fixture);
    read_only_read_everything(&fixture);
    assert_false(memory_vfs_exists(fixture.vfs, "/db/LOCK"));
    fixture_fini(&fixture);
}

/* An opening whose lock file is missing at first: a writer makes it while the manifest is read. */
static const petal_vfs *below;

static int
make_lock_and_size(void *context, petal_file *file, uint64_t *size)
{
    petal_file *lock;

    if (vfs_open(below, "/db/LOCK", PETAL_FILE_WRITE | PETAL_FILE_CREATE, &lock) == 0)
        (void)below->close(context, lock);
    return below->size(context, file, size);
}

TEST(test_a_writer_that_comes_meanwhile_is_noticed)
{
    struct fixture fixture;
    petal_vfs sealed;
    petal_error error;

    read_only_begin(&fixture);
    below = fixture.env.vfs;
    assert_int_equal(vfs_remove(below, "/db/LOCK"), 0);
    read_only_choose(&fixture, true);
    read_only_seal(&sealed, &fixture);
    sealed.size = make_lock_and_size;
    assert_int_equal(fixture_open(&fixture, &error), PETAL_BUSY);
    assert_non_null(strstr(error.text, "open elsewhere"));
    sealed.size = below->size;
    fixture_must_open(&fixture);
    fixture_fini(&fixture);
}

/* Locks that cannot be had at all, and those that fail. */
static int planned_lock_error;

static int
failing_lock(void *context, petal_file *file, uint64_t offset, uint64_t size, enum petal_lock how)
{
    (void)context;
    (void)file;
    (void)offset;
    (void)size;
    assert_int_equal(how, PETAL_LOCK_SHARED);
    return planned_lock_error;
}

TEST(test_where_there_are_no_locks)
{
    static const int harmless[] = {ENOLCK, ENOSYS, EOPNOTSUPP, EROFS, EACCES};
    struct fixture fixture;
    petal_vfs sealed;
    petal_error error;

    read_only_begin(&fixture);
    read_only_choose(&fixture, true);
    read_only_seal(&sealed, &fixture);
    sealed.lock = failing_lock;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        planned_lock_error = harmless[i];
        fixture_must_open(&fixture);
        read_only_read_everything(&fixture);
        fixture_must_close(&fixture);
    }
    planned_lock_error = EIO;
    assert_int_equal(fixture_open(&fixture, &error), PETAL_IO);
    assert_int_equal(error.os_error, EIO);
    fixture_fini(&fixture);
}
