/*
 * verify_test.c -- what petal_verify tells beside damage: what is not needed, and a lock that it
 * may not open, harmless both; and what is none of its business. sweep_test.c tries the damage.
 */
#include "engine/petal.h"

#include "base/slice.h"
#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table with a flushed row, in a database that is closed. */
static struct memory_vfs *
small_database(void)
{
    struct memory_vfs *vfs = memory_vfs_new();
    const petal_env env = {.size = sizeof env, .vfs = memory_vfs_table(vfs)};
    const petal_options options = {.size = sizeof options, .create = true, .env = &env};
    const petal_family_options family = {.size = sizeof family, .name = slice_from_text("f")};
    const petal_table_options shape = {
        .size = sizeof shape, .name = slice_from_text("t"), .families = &family, .family_count = 1};
    petal_table *table;
    petal_error error;
    petal_db *db;

    assert_int_equal(petal_open("db", &options, &db, &error), PETAL_OK);
    assert_int_equal(petal_table_create(db, &shape, &table, &error), PETAL_OK);
    assert_int_equal(petal_put(petal_table_family_at(table, 0), slice_from_text("row"),
                               slice_from_text("q"), PETAL_LATEST, slice_from_text("value"), NULL,
                               &error),
                     PETAL_OK);
    assert_int_equal(petal_flush(db, table, &error), PETAL_OK);
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    return vfs;
}

/* All that is told, each after whether it is harmless. */
static void
add_fault(void *argument, const petal_fault *fault)
{
    char *told = argument;

    strcat(strcat(strcat(told, fault->harmless ? "harmless: " : "fault: "), fault->error->text),
           "\n");
}

static void
expect_told(const petal_vfs *vfs, const char *expected)
{
    char told[2000] = "";
    const petal_env env = {.size = sizeof env, .vfs = vfs};
    const petal_check_options options = {
        .size = sizeof options, .env = &env, .argument = told, .fault = add_fault};
    petal_error error;

    assert_int_equal(petal_verify("db", &options, NULL, &error), PETAL_OK);
    assert_string_equal(told, expected);
}

TEST(files_that_are_not_needed_are_told_and_go)
{
    struct memory_vfs *vfs = small_database();
    const petal_env env = {.size = sizeof env, .vfs = memory_vfs_table(vfs)};
    const petal_options options = {.size = sizeof options, .env = &env};
    petal_error error;
    petal_db *db;

    expect_told(memory_vfs_table(vfs), "");
    assert_int_equal(memory_vfs_write_file(vfs, "db/000001.log", "x", 1), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "db/999999.sst", "x", 1), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "db/MANIFEST.tmp", "x", 1), 0);
    expect_told(memory_vfs_table(vfs),
                "harmless: db/000001.log is a log that is not needed\n"
                "harmless: db/999999.sst is a store file that belongs to no table\n"
                "harmless: db/MANIFEST.tmp is a manifest that was not completed\n");
    assert_int_equal(petal_open("db", &options, &db, &error), PETAL_OK);
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    expect_told(memory_vfs_table(vfs), "");
    memory_vfs_free(vfs);
}

/* No file of a database has the number 0: whoever made these, they are none of its. */
TEST(numbers_begin_at_one)
{
    struct memory_vfs *vfs = small_database();
    const petal_env env = {.size = sizeof env, .vfs = memory_vfs_table(vfs)};
    const petal_options options = {.size = sizeof options, .env = &env};
    petal_check_counts counts;
    petal_error error;
    petal_db *db;

    assert_int_equal(memory_vfs_write_file(vfs, "db/000000.log", "x", 1), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "db/000000.sst", "x", 1), 0);
    expect_told(memory_vfs_table(vfs), "");
    assert_int_equal(petal_open("db", &options, &db, &error), PETAL_OK);
    assert_int_equal(petal_close(db, &error), PETAL_OK);
    assert_int_equal(
        petal_salvage("db", "out",
                      &(petal_check_options){.size = sizeof(petal_check_options), .env = &env},
                      &counts, &error),
        PETAL_OK);
    assert_int_equal(counts.faults, 0);
    assert_true(memory_vfs_exists(vfs, "db/000000.log"));
    memory_vfs_free(vfs);
}

/* A manifest alone is a database, of which all else is gone. */
TEST(a_lone_manifest_is_looked_at)
{
    struct memory_vfs *vfs = small_database(), *left = memory_vfs_new();
    const petal_env env = {.size = sizeof env, .vfs = memory_vfs_table(left)};
    const petal_check_options options = {.size = sizeof options, .env = &env};
    petal_check_counts counts;
    petal_error error;
    uint8_t *bytes;
    size_t size;

    assert_int_equal(memory_vfs_read_file(vfs, "db/MANIFEST", &bytes, &size), 0);
    assert_int_equal(vfs_make_directory(env.vfs, "db"), 0);
    assert_int_equal(petal_verify("db", &options, &counts, &error), PETAL_NOT_FOUND);
    assert_int_equal(memory_vfs_write_file(left, "db/MANIFEST", bytes, size), 0);
    assert_int_equal(petal_verify("db", &options, &counts, &error), PETAL_CORRUPT);
    assert_true(counts.faults > 0);
    free(bytes);
    memory_vfs_free(left);
    memory_vfs_free(vfs);
}

/* ---- rows ---- */

struct told_rows {
    unsigned faults;
    bool has_from, has_to;
    char from[16], to[16];
};

static void
note_rows(void *argument, const petal_fault *fault)
{
    struct told_rows *told = argument;

    told->faults++;
    told->has_from = fault->has_row_from;
    told->has_to = fault->has_row_to;
    snprintf(told->from, sizeof told->from, "%.*s", (int)fault->row_from.size,
             fault->has_row_from ? (const char *)fault->row_from.data : "");
    snprintf(told->to, sizeof told->to, "%.*s", (int)fault->row_to.size,
             fault->has_row_to ? (const char *)fault->row_to.data : "");
}

TEST(rows_of_a_damaged_block_are_told)
{
    struct memory_vfs *vfs = small_database();
    const petal_env env = {.size = sizeof env, .vfs = memory_vfs_table(vfs)};
    struct told_rows told = {.faults = 0};
    const petal_check_options options = {
        .size = sizeof options, .env = &env, .argument = &told, .fault = note_rows};
    petal_error error;
    char path[32] = "";
    uint8_t *bytes = NULL;
    size_t size = 0;

    for (unsigned number = 1; bytes == NULL && number < 10; number++) {
        snprintf(path, sizeof path, "db/%06u.sst", number);
        if (memory_vfs_exists(vfs, path))
            assert_int_equal(memory_vfs_read_file(vfs, path, &bytes, &size), 0);
    }
    assert_non_null(bytes);
    bytes[40] ^= 1;
    assert_int_equal(memory_vfs_write_file(vfs, path, bytes, size), 0);
    assert_int_equal(petal_verify("db", &options, NULL, &error), PETAL_CORRUPT);
    assert_int_equal(told.faults, 1);
    assert_true(told.has_from && told.has_to);
    assert_string_equal(told.from, "row");
    assert_string_equal(told.to, "row");
    free(bytes);
    memory_vfs_free(vfs);
}

/* ---- the lock ---- */

static const petal_vfs *lenient;

static int
open_but_the_lock(void *context, petal_directory *directory, const char *name, unsigned flags,
                  petal_file **file)
{
    return strcmp(name, "LOCK") == 0 ? EACCES
                                     : lenient->open(context, directory, name, flags, file);
}

TEST(a_lock_that_may_not_be_opened_is_told)
{
    struct memory_vfs *vfs = small_database();
    petal_vfs strict;

    lenient = memory_vfs_table(vfs);
    strict = *lenient;
    strict.open = open_but_the_lock;
    expect_told(&strict, "harmless: db/LOCK may not be opened: the database is checked without its "
                         "lock, so nobody may write to it meanwhile\n");
    memory_vfs_free(vfs);
}
