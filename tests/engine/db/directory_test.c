/*
 * directory_test.c -- a database stays in the directory that was opened, whatever becomes of
 * the way there: the process changes its working directory, the directory is renamed, another one
 * takes its place.
 *
 * On the operating system's files. The other directory holds a database whose files have the same
 * names, so that whatever is looked up by its path again does harm there.
 */
#include "base/vfs_posix.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS 40

/* ---- Fixture: two places with a database "db" in each ---- */

struct places {
    char *top, *here, *there, *before; /* `before`: the working directory of the test program */
};

static petal_db *
open_at(const char *directory)
{
    petal_options options = {.create = true, .no_compaction = true};
    petal_error error;
    petal_db *db;

    must(petal_open(directory, &options, &db, &error), &error);
    return db;
}

static petal_family *
make_table(petal_db *db)
{
    petal_family_options family = {.name = text("f")};
    petal_table_options options = {.name = text("t"), .families = &family, .family_count = 1};
    petal_family *made;
    petal_table *table;
    petal_error error;

    if (petal_table_open(db, text("t"), &table, &error) != PETAL_OK)
        must(petal_table_create(db, &options, &table, &error), &error);
    must(petal_table_family(table, text("f"), &made, &error), &error);
    return made;
}

static void
put_rows(petal_family *family, int from, int limit, const char *value)
{
    petal_error error;

    for (int i = from; i < limit; i++) {
        char row[16];

        snprintf(row, sizeof row, "%04d", i);
        must(petal_put(family, text(row), text("q"), PETAL_LATEST, text(value), NULL, &error),
             &error);
    }
}

/* All rows below `limit` are there, with that value. */
static void
check_rows(petal_db *db, int limit, const char *value)
{
    petal_result *result;
    petal_table *table;
    petal_error error;

    must(petal_table_open(db, text("t"), &table, &error), &error);
    must(petal_result_new(db, &result, &error), &error);
    for (int i = 0; i < limit; i++) {
        char row[16];

        snprintf(row, sizeof row, "%04d", i);
        must(petal_get(table, text(row), NULL, result, &error), &error);
        assert_int_equal(petal_result_count(result), 1);
        assert_int_equal(petal_result_cell(result, 0)->value.size, strlen(value));
        assert_memory_equal(petal_result_cell(result, 0)->value.data, value, strlen(value));
    }
    petal_result_free(result);
    must(petal_table_verify(table, &error), &error);
}

/* Two store files and a log with something in it. */
static void
fill(petal_db *db, const char *value)
{
    petal_family *family = make_table(db);
    petal_error error;

    put_rows(family, 0, 10, value);
    must(petal_flush(db, NULL, &error), &error);
    put_rows(family, 10, 20, value);
    must(petal_flush(db, NULL, &error), &error);
    put_rows(family, 20, 30, value);
}

/* Everything that makes, opens and removes files. */
static void
work(petal_db *db, const char *value)
{
    petal_family *family = make_table(db);
    petal_table *table, *clone;
    petal_error error;

    must(petal_table_open(db, text("t"), &table, &error), &error);
    put_rows(family, 30, ROWS, value);
    must(petal_flush(db, NULL, &error), &error);
    must(petal_compact(table, NULL, &error), &error);
    must(petal_table_snapshot_create(table, text("s"), NULL, &error), &error);
    must(petal_table_snapshot_clone(db, text("s"), text("u"), &clone, &error), &error);
    must(petal_table_snapshot_delete(db, text("s"), &error), &error);
    must(petal_table_drop(clone, &error), &error);
    check_rows(db, ROWS, value);
}

static int
set_up(void **state)
{
    struct places *places = test_allocate(sizeof *places);
    char *directory;
    petal_error error;

    places->before = getcwd(NULL, 0);
    places->top = test_directory_new();
    places->here = test_path(places->top, "here");
    places->there = test_path(places->top, "there");
    if (mkdir(places->here, 0700) != 0 || mkdir(places->there, 0700) != 0)
        return -1;
    directory = test_path(places->there, "db");
    petal_db *other = open_at(directory);
    fill(other, "there");
    free(directory);
    *state = places;
    return petal_close(other, &error) == PETAL_OK ? chdir(places->here) : -1;
}

static int
tear_down(void **state)
{
    struct places *places = *state;
    int failed = chdir(places->before);

    test_directory_free(places->top);
    free(places->before);
    free(places->here);
    free(places->there);
    free(places);
    return failed;
}

/* The database that was not open holds what it held. */
static void
check_untouched(void)
{
    petal_db *other = open_at("db");
    petal_error error;

    check_rows(other, 30, "there");
    must(petal_close(other, &error), &error);
}

/* ---- Tests ---- */

TEST_WITH(test_working_directory_changes, set_up, tear_down)
{
    const struct places *places = *state;
    petal_error error;
    petal_db *db = open_at("db");

    fill(db, "here");
    assert_int_equal(chdir(places->there), 0);
    work(db, "here");
    check_untouched();
    must(petal_close(db, &error), &error);
    check_untouched();

    assert_int_equal(chdir(places->here), 0);
    db = open_at("db");
    check_rows(db, ROWS, "here");
    must(petal_close(db, &error), &error);
}

TEST_WITH(test_reads_after_working_directory_changed, set_up, tear_down)
{
    const struct places *places = *state;
    petal_options options = {.create = true, .open_files = 8, .cache_bytes = PETAL_NO_CACHE};
    petal_family *family;
    petal_error error;
    petal_db *db;

    options.no_compaction = true;
    must(petal_open("db", &options, &db, &error), &error);
    family = make_table(db);
    for (int i = 0; i < ROWS; i++) {
        put_rows(family, i, i + 1, "here");
        must(petal_flush(db, NULL, &error), &error);
    }
    assert_int_equal(chdir(places->there), 0);
    check_rows(db, ROWS, "here"); /* files that are closed and opened again */
    must(petal_close(db, &error), &error);
    check_untouched();
}

TEST_WITH(test_directory_is_renamed, set_up, tear_down)
{
    petal_error error;
    petal_db *db = open_at("db");

    fill(db, "here");
    assert_int_equal(rename("db", "moved"), 0);
    assert_int_equal(rename("../there/db", "db"), 0); /* another database in its place */
    work(db, "here");
    must(petal_close(db, &error), &error);
    check_untouched();

    db = open_at("moved");
    check_rows(db, ROWS, "here");
    must(petal_close(db, &error), &error);
}

/* In the middle of a checkpoint, whose path is relative, the working directory changes. */
static const struct places *moving;
static unsigned links;

static int
move_and_link(void *context, petal_directory *from_directory, const char *from,
              petal_directory *to_directory, const char *to)
{
    if (links++ == 0)
        assert_int_equal(chdir(moving->there), 0);
    return vfs_posix.link(context, from_directory, from, to_directory, to);
}

TEST_WITH(test_checkpoint_stays_where_it_began, set_up, tear_down)
{
    petal_vfs files = vfs_posix;
    petal_env env = {.vfs = &files};
    petal_options options = {.create = true, .no_compaction = true, .env = &env};
    petal_error error;
    petal_db *db;

    moving = *state;
    links = 0;
    files.link = move_and_link;
    must(petal_open("db", &options, &db, &error), &error);
    fill(db, "here");
    must(petal_checkpoint(db, "copy", &error), &error);
    assert_true(links > 1);
    assert_int_equal(access("copy", F_OK), -1);
    check_untouched();
    must(petal_close(db, &error), &error);

    assert_int_equal(chdir(moving->here), 0);
    db = open_at("copy");
    check_rows(db, 30, "here");
    must(petal_close(db, &error), &error);
}

/* What the path of a new database may look like. */
TEST_WITH(test_paths_of_new_databases, set_up, tear_down)
{
    static const char *const paths[] = {"a", "b/", "c//", "./d", "../here/e", "a/../f", "link/g"};
    petal_options options = {.create = true};
    petal_error error;
    petal_db *db;

    assert_int_equal(symlink("../there", "link"), 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        must(petal_open(paths[i], &options, &db, &error), &error);
        must(petal_close(db, &error), &error);
        options.create = false;
        must(petal_open(paths[i], &options, &db, &error), &error);
        must(petal_close(db, &error), &error);
        options.create = true;
    }
    assert_int_equal(petal_open("none/a", &options, &db, &error), PETAL_IO);
    assert_string_equal(error.file, "none/a");
    options.create = false;
    assert_int_equal(petal_open("none", &options, &db, &error), PETAL_NOT_FOUND);
    assert_string_equal(error.text, "there is no database in none; options.create makes one");
    assert_int_equal(petal_open("none/a", &options, &db, &error), PETAL_NOT_FOUND);
    assert_int_equal(petal_open("a/MANIFEST", &options, &db, &error), PETAL_IO);

    /* Inside of it. */
    assert_int_equal(chdir("a"), 0);
    must(petal_open(".", NULL, &db, &error), &error);
    assert_int_equal(petal_open("../a", NULL, &(petal_db *){NULL}, &error), PETAL_BUSY);
    must(petal_close(db, &error), &error);
}

/* A file of the database that a symbolic link has replaced is not followed, whatever it leads to.
 */
TEST_WITH(test_symbolic_links_are_not_followed, set_up, tear_down)
{
    static const char *const names[] = {"LOCK", "MANIFEST"};
    petal_error error;
    petal_db *db = open_at("db");

    fill(db, "here");
    must(petal_close(db, &error), &error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = test_path("db", names[i]);

        assert_int_equal(rename(path, "kept"), 0);
        assert_int_equal(symlink("../kept", path), 0);
        assert_int_not_equal(petal_open("db", NULL, &db, &error), PETAL_OK);
        assert_int_equal(error.os_error, ELOOP);
        assert_string_equal(error.file, path);
        assert_int_equal(rename("kept", path), 0);
        free(path);
    }
    db = open_at("db");
    check_rows(db, 30, "here");
    must(petal_close(db, &error), &error);
}
