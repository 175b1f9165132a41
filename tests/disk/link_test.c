/* link_test.c -- links in the in-memory file layer: what power cuts leave of a file with several
 * names. */
#include "tests/disk/vfs.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Opened by set_up: the root, and "d" in it. */
static petal_directory *root, *inner;

static petal_directory *
directory_of(const char *path)
{
    return strncmp(path, "d/", 2) == 0 ? inner : root;
}

static const char *
name_of(const char *path)
{
    return strncmp(path, "d/", 2) == 0 ? path + 2 : path;
}

static int
set_up(void **state)
{
    struct memory_vfs *vfs = memory_vfs_new();
    const petal_vfs *table = memory_vfs_table(vfs);

    *state = vfs;
    return table->open_directory(vfs, "/", false, &root) != 0 ||
           table->open_directory(vfs, "d", true, &inner) != 0 ||
           table->sync_directory(vfs, root) != 0 ||
           memory_vfs_write_file(vfs, "d/a", "text", 4) != 0;
}

static int
tear_down(void **state)
{
    memory_vfs_free(*state);
    return 0;
}

/* What file `path` is after a cut of a clone; NULL: none. */
static void
expect_after_cut(struct memory_vfs *vfs, enum memory_cut cut, const char *path,
                 const char *expected)
{
    struct memory_vfs *clone = memory_vfs_clone(vfs);
    uint8_t *bytes;
    size_t size;

    memory_vfs_power_cut(clone, cut, 0);
    if (expected == NULL) {
        assert_false(memory_vfs_exists(clone, path));
    } else {
        assert_int_equal(memory_vfs_read_file(clone, path, &bytes, &size), 0);
        assert_int_equal(size, strlen(expected));
        assert_memory_equal(bytes, expected, size);
        free(bytes);
    }
    memory_vfs_free(clone);
}

static int
link_names(struct memory_vfs *vfs, const char *from, const char *to)
{
    return memory_vfs_table(vfs)->link(vfs, directory_of(from), name_of(from), directory_of(to),
                                       name_of(to));
}

static int
sync_directory(struct memory_vfs *vfs, const char *path)
{
    return memory_vfs_table(vfs)->sync_directory(vfs, strcmp(path, "d") == 0 ? inner : root);
}

/* Each name is as durable as its own directory has made it. */
TEST_WITH(a_link_waits_for_its_directory, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;

    assert_int_equal(link_names(vfs, "d/a", "b"), 0);
    assert_int_equal(link_names(vfs, "d/a", "d/c"), 0);
    assert_int_equal(sync_directory(vfs, "d"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/c", "text");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "b", NULL);
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "b", "text");
    assert_int_equal(memory_vfs_table(vfs)->remove(vfs, inner, "a"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "text");
    assert_int_equal(sync_directory(vfs, "d"), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", NULL);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/c", "text");
}

TEST_WITH(the_bytes_are_those_of_one_file, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;
    const petal_vfs *table = memory_vfs_table(vfs);
    petal_file *file;

    assert_int_equal(link_names(vfs, "d/a", "b"), 0);
    assert_int_equal(memory_vfs_used(vfs), 4);
    assert_int_equal(sync_directory(vfs, "/"), 0);
    assert_int_equal(table->open(vfs, root, "b", PETAL_FILE_WRITE, &file), 0);
    assert_int_equal(table->write_at(vfs, file, 4, "more", 4), 0);
    assert_int_equal(memory_vfs_used(vfs), 8);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "text");
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "d/a", "textmore");
    assert_int_equal(table->sync(vfs, file), 0);
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "d/a", "textmore");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "b", "textmore");
    assert_int_equal(table->close(vfs, file), 0);
}

TEST_WITH(a_link_in_flight_may_survive, set_up, tear_down)
{
    struct memory_vfs *vfs = *state;

    memory_vfs_cut_at(vfs, 1);
    assert_int_equal(link_names(vfs, "d/a", "b"), EIO);
    expect_after_cut(vfs, MEMORY_CUT_KEEP_ALL, "b", "text");
    expect_after_cut(vfs, MEMORY_CUT_LOSE_ALL, "b", NULL);
}
