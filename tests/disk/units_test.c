/*
 * units_test.c -- power cuts of which it is told what survives: pages of a write, sizes without
 * bytes, names without bytes, one unit of what is pending; hashes and the watcher.
 */
#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CREATE (PETAL_FILE_WRITE | PETAL_FILE_CREATE)
#define PAGES  4

struct fixture {
    struct memory_vfs *vfs;
    const petal_vfs *table;
    petal_directory *root;
    petal_file *file; /* "a", of one synced page of '0', and then not synced: PAGES pages of '1' */
};

static int
set_up(void **state)
{
    static char page[MEMORY_PAGE_BYTES], pages[PAGES * MEMORY_PAGE_BYTES];
    struct fixture *fixture = test_allocate(sizeof(*fixture));
    const petal_vfs *table;

    memset(page, '0', sizeof page);
    memset(pages, '1', sizeof pages);
    fixture->vfs = memory_vfs_new();
    fixture->table = table = memory_vfs_table(fixture->vfs);
    *state = fixture;
    return table->open_directory(fixture->vfs, "/", false, &fixture->root) != 0 ||
           table->open(fixture->vfs, fixture->root, "a", CREATE, &fixture->file) != 0 ||
           table->write_at(fixture->vfs, fixture->file, 0, page, sizeof page) != 0 ||
           table->sync(fixture->vfs, fixture->file) != 0 ||
           table->sync_directory(fixture->vfs, fixture->root) != 0 ||
           table->write_at(fixture->vfs, fixture->file, 0, pages, sizeof pages) != 0;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;

    memory_vfs_free(fixture->vfs);
    free(fixture);
    return 0;
}

/* The first byte of each page, 'x' for one that is neither '0' nor '1'; and '|' at the end. */
static void
expect_pages(struct memory_vfs *vfs, const char *expected)
{
    char text[PAGES + 2] = {0};
    uint8_t *bytes;
    size_t size;

    assert_int_equal(memory_vfs_read_file(vfs, "a", &bytes, &size), 0);
    assert_true(size <= PAGES * (size_t)MEMORY_PAGE_BYTES);
    for (size_t at = 0; at < size; at += MEMORY_PAGE_BYTES) {
        uint8_t first = bytes[at];
        char letter = first == '0' || first == '1' ? (char)first : first == 0 ? '.' : 'x';

        for (size_t i = at; letter != 'x' && i < size && i < at + MEMORY_PAGE_BYTES; i++)
            assert_int_equal(bytes[i], first);
        strncat(text, &letter, 1);
    }
    strcat(text, "|");
    assert_string_equal(text, expected);
    free(bytes);
}

static void
expect_after_cut(struct fixture *fixture, enum memory_cut cut, const char *expected)
{
    struct memory_vfs *clone = memory_vfs_clone(fixture->vfs);

    memory_vfs_power_cut(clone, cut, 5);
    expect_pages(clone, expected);
    memory_vfs_free(clone);
}

TEST_WITH(pages_of_a_write_arrive_in_turn, set_up, tear_down)
{
    struct fixture *fixture = *state;

    expect_after_cut(fixture, MEMORY_CUT_LOSE_ALL, "0|");
    expect_after_cut(fixture, MEMORY_CUT_KEEP_ALL, "1111|");
    expect_after_cut(fixture, MEMORY_CUT_TEAR, "1.1.|");
    expect_after_cut(fixture, MEMORY_CUT_TEAR_FIRST, "01.1|");
}

TEST_WITH(a_size_arrives_without_its_bytes, set_up, tear_down)
{
    struct fixture *fixture = *state;

    expect_after_cut(fixture, MEMORY_CUT_ZEROS, "0...|");
    expect_after_cut(fixture, MEMORY_CUT_GARBAGE, "0xxx|");
}

/* Those of a file that is gone, or of another. */
TEST_WITH(bytes_of_other_files_lie_where_a_file_grew, set_up, tear_down)
{
    struct fixture *fixture = *state;
    static char page[2 * MEMORY_PAGE_BYTES];
    unsigned stale = 0;

    memset(page, '1', sizeof page);
    assert_int_equal(memory_vfs_write_file(fixture->vfs, "gone", page, sizeof page), 0);
    assert_int_equal(fixture->table->remove(fixture->vfs, fixture->root, "gone"), 0);
    assert_int_equal(fixture->table->sync_directory(fixture->vfs, fixture->root), 0);
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct memory_vfs *clone = memory_vfs_clone(fixture->vfs);
        uint8_t *bytes;
        size_t size;

        memory_vfs_power_cut(clone, MEMORY_CUT_STALE, seed);
        assert_int_equal(memory_vfs_read_file(clone, "a", &bytes, &size), 0);
        assert_int_equal(size, PAGES * MEMORY_PAGE_BYTES);
        assert_int_equal(bytes[0], '0');
        assert_true(bytes[MEMORY_PAGE_BYTES] == '1' || bytes[MEMORY_PAGE_BYTES] == 0);
        stale += bytes[MEMORY_PAGE_BYTES] == '1' && bytes[2 * MEMORY_PAGE_BYTES] == 0;
        free(bytes);
        memory_vfs_free(clone);
    }
    assert_true(stale > 5);
}

/* No page is torn, and there are many outcomes. */
TEST_WITH(random_pages_come_whole, set_up, tear_down)
{
    struct fixture *fixture = *state;
    uint64_t hashes[50];
    unsigned different = 0;

    for (uint64_t seed = 0; seed < 50; seed++) {
        struct memory_vfs *clone = memory_vfs_clone(fixture->vfs);
        uint8_t *bytes;
        size_t size;

        memory_vfs_power_cut(clone, MEMORY_CUT_RANDOM_PAGES, seed);
        assert_int_equal(memory_vfs_read_file(clone, "a", &bytes, &size), 0);
        for (size_t i = 0; i < MEMORY_PAGE_BYTES; i++)
            assert_int_equal(bytes[i], bytes[0]);
        free(bytes);
        hashes[seed] = memory_vfs_hash(clone);
        memory_vfs_free(clone);
        different += seed == 0 || hashes[seed] != hashes[seed - 1];
    }
    assert_true(different > 5);
}

TEST_WITH(a_failed_sync_may_keep_the_size, set_up, tear_down)
{
    struct fixture *fixture = *state;

    memory_vfs_set_sync_failure(fixture->vfs, MEMORY_SYNC_KEEPS_SIZE);
    memory_vfs_fail_at(fixture->vfs, 1, EIO, false);
    assert_int_equal(fixture->table->sync(fixture->vfs, fixture->file), EIO);
    expect_pages(fixture->vfs, "1111|");
    expect_after_cut(fixture, MEMORY_CUT_KEEP_ALL, "0...|");
}

TEST_WITH(names_and_bytes_arrive_apart, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct memory_vfs *clone;

    assert_int_equal(fixture->table->rename(fixture->vfs, fixture->root, "a", "b"), 0);
    clone = memory_vfs_clone(fixture->vfs);
    memory_vfs_power_cut(clone, MEMORY_CUT_LOSE_NAMES, 0);
    expect_pages(clone, "1111|");
    memory_vfs_free(clone);
    clone = memory_vfs_clone(fixture->vfs);
    memory_vfs_power_cut(clone, MEMORY_CUT_LOSE_BYTES, 0);
    assert_false(memory_vfs_exists(clone, "a"));
    assert_int_equal(memory_vfs_used(clone), MEMORY_PAGE_BYTES);
    memory_vfs_free(clone);
}

/* Which of "a", "b", "c" are there, and, in capitals, have the pages of '1'. */
static void
expect_names(struct memory_vfs *vfs, size_t unit, bool survives, const char *expected)
{
    struct memory_vfs *clone = memory_vfs_clone(vfs);
    char text[4] = {0};

    memory_vfs_power_cut_one(clone, unit, survives);
    for (const char *name = "abc"; *name != '\0'; name++) {
        char path[2] = {*name, '\0'}, letter = *name;
        uint8_t *bytes;
        size_t size;

        if (memory_vfs_read_file(clone, path, &bytes, &size) == 0) {
            letter = size > MEMORY_PAGE_BYTES ? (char)(letter - 'a' + 'A') : letter;
            strncat(text, &letter, 1);
        }
        free(bytes);
    }
    assert_string_equal(text, expected);
    memory_vfs_free(clone);
}

/* Units: the rename of a to b, the creation of c, the rename of b to a, and the bytes. */
TEST_WITH(units_survive_with_what_they_build_upon, set_up, tear_down)
{
    struct fixture *fixture = *state;
    const petal_vfs *table = fixture->table;
    petal_file *file;

    assert_int_equal(table->rename(fixture->vfs, fixture->root, "a", "b"), 0);
    assert_int_equal(table->open(fixture->vfs, fixture->root, "c", CREATE, &file), 0);
    assert_int_equal(memory_vfs_pending(fixture->vfs), 3);
    expect_names(fixture->vfs, 0, true, "b");
    expect_names(fixture->vfs, 1, true, "ac");
    expect_names(fixture->vfs, 2, true, "A");
    expect_names(fixture->vfs, 0, false, "Ac");
    expect_names(fixture->vfs, 1, false, "B");
    expect_names(fixture->vfs, 2, false, "bc");
    assert_int_equal(table->rename(fixture->vfs, fixture->root, "b", "a"), 0);
    assert_int_equal(memory_vfs_pending(fixture->vfs), 4);
    expect_names(fixture->vfs, 2, true, "a");
    expect_names(fixture->vfs, 0, false, "Ac");
}

TEST_WITH(equal_files_have_equal_hashes, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct memory_vfs *clone = memory_vfs_clone(fixture->vfs);
    uint64_t hash = memory_vfs_hash(clone);

    assert_int_equal(memory_vfs_hash(fixture->vfs), hash);
    assert_int_equal(vfs_rename(memory_vfs_table(clone), "/a", "/b"), 0);
    assert_int_not_equal(memory_vfs_hash(clone), hash);
    assert_int_equal(memory_vfs_hash(fixture->vfs), hash);
    memory_vfs_free(clone);
    assert_int_equal(fixture->table->write_at(fixture->vfs, fixture->file,
                                              PAGES * MEMORY_PAGE_BYTES - 1, "2", 1),
                     0);
    assert_int_not_equal(memory_vfs_hash(fixture->vfs), hash);
}

struct watch {
    struct memory_vfs *vfs;
    unsigned told;
    const void *bytes;
};

/* Looks at the files, and has the call fail. */
static void
note_call(void *argument, const struct memory_vfs_call *call, const void *bytes)
{
    struct watch *watch = argument;

    watch->told++;
    watch->bytes = bytes;
    assert_int_equal(call->number, memory_vfs_calls(watch->vfs) + 1);
    memory_vfs_free(memory_vfs_clone(watch->vfs));
    memory_vfs_fail_at(watch->vfs, 1, EIO, false);
}

TEST_WITH(a_watcher_is_told_before, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct watch watch = {.vfs = fixture->vfs};

    memory_vfs_watch(fixture->vfs, note_call, &watch);
    assert_int_equal(fixture->table->write_at(fixture->vfs, fixture->file, 0, "2", 1), EIO);
    assert_non_null(watch.bytes);
    assert_int_equal(fixture->table->sync(fixture->vfs, fixture->file), EIO);
    assert_null(watch.bytes);
    memory_vfs_watch(fixture->vfs, NULL, NULL);
    assert_int_equal(fixture->table->sync(fixture->vfs, fixture->file), 0);
    assert_int_equal(watch.told, 2);
}

TEST_WITH(who_is_switched_off_is_off, set_up, tear_down)
{
    struct fixture *fixture = *state;

    memory_vfs_switch_off(fixture->vfs);
    assert_int_equal(fixture->table->sync(fixture->vfs, fixture->file), EIO);
    assert_true(memory_vfs_is_off(fixture->vfs));
    memory_vfs_process_death(fixture->vfs);
    expect_pages(fixture->vfs, "1111|");
}
