/*
 * directory_test.c -- a database stays in the directory that was opened, whatever becomes of
 * the way there: the process changes its working directory, the directory is renamed, another one
 * takes its place.
 *
 * On the operating system's files. The other directory holds a database whose files have the same
 * names, so that whatever is looked up by its path again does harm there.
 */
#include "base/vfs_posix.h"
#include "tests/engine/script.h"

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
    petal_db *db;

    MUST(petal_open(directory, &options, &db, WHY));
    return db;
}

/* Two store files and a log with something in it. */
#define FILL(value)                                                                                \
    "table t f; put t 00/f=" value " 01/f=" value "; flush; put t 10/f=" value                     \
    "; flush; put t 20/f=" value "\n"
#define FILLED(value)                                                                              \
    "show t : 00/f=" value " 01/f=" value " 10/f=" value " 20/f=" value "; verify t"
/* Everything that makes, opens and removes files. */
#define WORK   "put t 30/f=here; flush; compact t; take t s; clone s u; delete s; drop u\n" WORKED
#define WORKED "show t : 00/f=here 01/f=here 10/f=here 20/f=here 30/f=here; verify t"

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
    script_do_on(other, FILL("there"));
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

    script_do_on(other, FILLED("there"));
    MUST(petal_close(other, WHY));
}

/* ---- Tests ---- */

TEST_WITH(test_working_directory_changes, set_up, tear_down)
{
    const struct places *places = *state;
    petal_db *db = open_at("db");

    script_do_on(db, FILL("here"));
    assert_int_equal(chdir(places->there), 0);
    script_do_on(db, WORK);
    check_untouched();
    MUST(petal_close(db, WHY));
    check_untouched();

    assert_int_equal(chdir(places->here), 0);
    db = open_at("db");
    script_do_on(db, WORKED);
    MUST(petal_close(db, WHY));
}

TEST_WITH(test_reads_after_working_directory_changed, set_up, tear_down)
{
    const struct places *places = *state;
    petal_options options = {.create = true, .open_files = 8, .cache_bytes = PETAL_NO_CACHE};
    char statements[64];
    petal_db *db;

    options.no_compaction = true;
    MUST(petal_open("db", &options, &db, WHY));
    script_do_on(db, "table t f");
    for (int i = 0; i < ROWS; i++) {
        snprintf(statements, sizeof statements, "put t %04d/f=here; flush", i);
        script_do_on(db, statements);
    }
    assert_int_equal(chdir(places->there), 0);
    for (int i = 0; i < ROWS; i++) { /* files that are closed and opened again */
        snprintf(statements, sizeof statements, "show t row=%04d : %04d/f=here", i, i);
        script_do_on(db, statements);
    }
    MUST(petal_close(db, WHY));
    check_untouched();
}

TEST_WITH(test_directory_is_renamed, set_up, tear_down)
{
    petal_db *db = open_at("db");

    script_do_on(db, FILL("here"));
    assert_int_equal(rename("db", "moved"), 0);
    assert_int_equal(rename("../there/db", "db"), 0); /* another database in its place */
    script_do_on(db, WORK);
    MUST(petal_close(db, WHY));
    check_untouched();

    db = open_at("moved");
    script_do_on(db, WORKED);
    MUST(petal_close(db, WHY));
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
    petal_db *db;

    moving = *state;
    links = 0;
    files.link = move_and_link;
    MUST(petal_open("db", &options, &db, WHY));
    script_do_on(db, FILL("here"));
    MUST(petal_checkpoint(db, "copy", WHY));
    assert_true(links > 1);
    assert_int_equal(access("copy", F_OK), -1);
    check_untouched();
    MUST(petal_close(db, WHY));

    assert_int_equal(chdir(moving->here), 0);
    db = open_at("copy");
    script_do_on(db, FILLED("here"));
    MUST(petal_close(db, WHY));
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
        MUST(petal_open(paths[i], &options, &db, WHY));
        MUST(petal_close(db, WHY));
        options.create = false;
        MUST(petal_open(paths[i], &options, &db, WHY));
        MUST(petal_close(db, WHY));
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
    MUST(petal_open(".", NULL, &db, WHY));
    assert_int_equal(petal_open("../a", NULL, &(petal_db *){NULL}, &error), PETAL_BUSY);
    MUST(petal_close(db, WHY));
}

/* A file of the database that a symbolic link has replaced is not followed, whatever it leads to.
 */
TEST_WITH(test_symbolic_links_are_not_followed, set_up, tear_down)
{
    static const char *const names[] = {"LOCK", "MANIFEST"};
    petal_error error;
    petal_db *db = open_at("db");

    script_do_on(db, FILL("here"));
    MUST(petal_close(db, WHY));
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
    script_do_on(db, FILLED("here"));
    MUST(petal_close(db, WHY));
}
