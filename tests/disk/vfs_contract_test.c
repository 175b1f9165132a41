/*
 * vfs_contract_test.c -- the contract of petal_vfs: the same tests on the layer that uses the
 * operating system and on the one in memory, so that what is proved on the one may be believed of
 * the other.
 */
#include "base/vfs_posix.h"
#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READ       PETAL_FILE_READ
#define WRITE      PETAL_FILE_WRITE
#define CREATE     (PETAL_FILE_WRITE | PETAL_FILE_CREATE)
#define CREATE_NEW (CREATE | PETAL_FILE_EXCLUSIVE)

/* A file layer under test, with an empty directory of its own. */
struct layer {
    const petal_vfs *vfs;
    struct memory_vfs *memory; /* NULL: the operating system's */
    char *directory;
};

static int
set_up_posix(void **state)
{
    struct layer *layer = test_allocate(sizeof(*layer));

    *layer = (struct layer){&vfs_posix, NULL, test_directory_new()};
    *state = layer;
    return 0;
}

static int
tear_down_posix(void **state)
{
    struct layer *layer = *state;

    test_directory_free(layer->directory);
    free(layer);
    return 0;
}

static int
set_up_memory(void **state)
{
    struct layer *layer = test_allocate(sizeof(*layer));
    struct memory_vfs *memory = memory_vfs_new();

    *layer = (struct layer){memory_vfs_table(memory), memory, test_strdup("/data")};
    *state = layer;
    return vfs_make_directory(layer->vfs, layer->directory);
}

static int
tear_down_memory(void **state)
{
    struct layer *layer = *state;
    size_t left_open =
        memory_vfs_open_files(layer->memory) + memory_vfs_open_directories(layer->memory);

    memory_vfs_free(layer->memory);
    free(layer->directory);
    free(layer);
    return left_open == 0 ? 0 : -1;
}

#define TEST_ON_BOTH(name)                                                                         \
    TEST_ENTERED(name, state,                                                                      \
                 test_enter("posix: " #name, name, set_up_posix, tear_down_posix, NULL);           \
                 test_enter("memory: " #name, name, set_up_memory, tear_down_memory, NULL))

/* ---- Calls by name in the layer's directory ---- */

static int
open_in(struct layer *layer, const char *name, unsigned flags, petal_file **file)
{
    char *path = test_path(layer->directory, name);
    int error = vfs_open(layer->vfs, path, flags, file);

    free(path);
    return error;
}

static int
rename_in(struct layer *layer, const char *from, const char *to)
{
    char *from_path = test_path(layer->directory, from);
    char *to_path = test_path(layer->directory, to);
    int error = vfs_rename(layer->vfs, from_path, to_path);

    free(from_path);
    free(to_path);
    return error;
}

static int
link_in(struct layer *layer, const char *from, const char *to)
{
    char *from_path = test_path(layer->directory, from);
    char *to_path = test_path(layer->directory, to);
    int error = vfs_link(layer->vfs, from_path, to_path);

    free(from_path);
    free(to_path);
    return error;
}

/* For the calls that take nothing but a path. */
static int
call_in(struct layer *layer, int (*call)(const petal_vfs *vfs, const char *path), const char *name)
{
    char *path = test_path(layer->directory, name);
    int error = call(layer->vfs, path);

    free(path);
    return error;
}

static void
close_file(struct layer *layer, petal_file *file)
{
    assert_int_equal(layer->vfs->close(layer->vfs->context, file), 0);
}

static void
write_text(struct layer *layer, petal_file *file, uint64_t offset, const char *text)
{
    assert_int_equal(layer->vfs->write_at(layer->vfs->context, file, offset, text, strlen(text)),
                     0);
}

static void
make_file(struct layer *layer, const char *name, const char *text)
{
    petal_file *file;

    assert_int_equal(open_in(layer, name, CREATE, &file), 0);
    write_text(layer, file, 0, text);
    close_file(layer, file);
}

/* A mapping outlives the open file and its name. */
TEST_ON_BOTH(what_is_mapped_stays)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    const void *memory = NULL;
    petal_file *file;

    make_file(layer, "mapped", "bytes");
    assert_int_equal(open_in(layer, "mapped", READ, &file), 0);
    assert_int_equal(vfs->map(vfs->context, file, 0, &memory), EINVAL);
    assert_null(memory);
    assert_int_equal(vfs->map(vfs->context, file, 5, &memory), 0);
    close_file(layer, file);
    assert_int_equal(call_in(layer, vfs_remove, "mapped"), 0);
    assert_memory_equal(memory, "bytes", 5);
    vfs->unmap(vfs->context, memory, 5);
}

static void
expect_size(struct layer *layer, petal_file *file, uint64_t expected)
{
    uint64_t size = 12345;

    assert_int_equal(layer->vfs->size(layer->vfs->context, file, &size), 0);
    assert_int_equal(size, expected);
}

static void
expect_bytes(struct layer *layer, petal_file *file, uint64_t offset, const void *bytes, size_t size)
{
    char *buffer = test_allocate(size + 1);
    size_t got;

    assert_int_equal(layer->vfs->read_at(layer->vfs->context, file, offset, buffer, size, &got), 0);
    assert_int_equal(got, size);
    if (size > 0)
        assert_memory_equal(buffer, bytes, size);
    free(buffer);
}

static void
expect_text(struct layer *layer, const char *name, const char *text)
{
    petal_file *file;

    assert_int_equal(open_in(layer, name, READ, &file), 0);
    expect_size(layer, file, strlen(text));
    expect_bytes(layer, file, 0, text, strlen(text));
    close_file(layer, file);
}

/* ---- Opening ---- */

TEST_ON_BOTH(opening_needs_the_file_unless_it_creates)
{
    struct layer *layer = *state;
    petal_directory *directory = (petal_directory *)layer;
    petal_file *file = (petal_file *)layer;

    assert_int_equal(open_in(layer, "a", READ, &file), ENOENT);
    assert_null(file);
    assert_int_equal(open_in(layer, "a", WRITE, &file), ENOENT);
    assert_int_equal(open_in(layer, "a", READ | PETAL_FILE_CREATE, &file), 0);
    expect_size(layer, file, 0);
    close_file(layer, file);
    assert_int_equal(open_in(layer, "a", READ, &file), 0);
    close_file(layer, file);
    assert_int_equal(open_in(layer, "none/a", CREATE, &file), ENOENT);
    assert_int_equal(open_in(layer, "a/a", CREATE, &file), ENOTDIR);
    assert_int_equal(open_in(layer, "", CREATE, &file), ENOENT);
    assert_int_equal(layer->vfs->open_directory(layer->vfs->context, "", false, &directory),
                     ENOENT);
    assert_null(directory);
    assert_int_equal(layer->vfs->open_directory(layer->vfs->context, "", true, &directory), ENOENT);
}

TEST_ON_BOTH(creating_keeps_content_and_exclusive_refuses_it)
{
    struct layer *layer = *state;
    petal_file *file;

    assert_int_equal(open_in(layer, "a", CREATE_NEW, &file), 0);
    write_text(layer, file, 0, "text");
    close_file(layer, file);
    assert_int_equal(open_in(layer, "a", CREATE_NEW, &file), EEXIST);
    assert_null(file);
    assert_int_equal(open_in(layer, "a", CREATE, &file), 0);
    expect_bytes(layer, file, 0, "text", 4);
    close_file(layer, file);
}

TEST_ON_BOTH(a_directory_is_no_file)
{
    struct layer *layer = *state;
    petal_file *file;

    assert_int_equal(call_in(layer, vfs_make_directory, "d"), 0);
    assert_int_equal(open_in(layer, "d", READ, &file), EISDIR);
    assert_int_equal(open_in(layer, "d", WRITE, &file), EISDIR);
    assert_int_equal(open_in(layer, "d", CREATE, &file), EISDIR);
    assert_int_equal(open_in(layer, "d", CREATE_NEW, &file), EEXIST);
}

/* ---- Reading and writing ---- */

TEST_ON_BOTH(reads_end_at_the_end_of_the_file)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    char buffer[16];
    petal_file *file;
    size_t got;

    make_file(layer, "a", "0123456789");
    assert_int_equal(open_in(layer, "a", READ, &file), 0);
    assert_int_equal(vfs->read_at(vfs->context, file, 4, buffer, 3, &got), 0);
    assert_int_equal(got, 3);
    assert_memory_equal(buffer, "456", 3);
    assert_int_equal(vfs->read_at(vfs->context, file, 8, buffer, sizeof(buffer), &got), 0);
    assert_int_equal(got, 2);
    assert_memory_equal(buffer, "89", 2);
    assert_int_equal(vfs->read_at(vfs->context, file, 10, buffer, sizeof(buffer), &got), 0);
    assert_int_equal(got, 0);
    assert_int_equal(vfs->read_at(vfs->context, file, 0, buffer, 0, &got), 0);
    assert_int_equal(got, 0);
    close_file(layer, file);
}

/* Offsets may come from damaged files. */
TEST_ON_BOTH(absurd_offsets_are_harmless)
{
    static const uint64_t offsets[] = {(uint64_t)INT64_MAX - 1, INT64_MAX, (uint64_t)INT64_MAX + 1,
                                       UINT64_MAX};
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    char buffer[16];
    petal_file *file;
    size_t got;

    make_file(layer, "a", "text");
    assert_int_equal(open_in(layer, "a", WRITE, &file), 0);
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        got = 1;
        assert_int_equal(vfs->read_at(vfs->context, file, offsets[i], buffer, sizeof(buffer), &got),
                         0);
        assert_int_equal(got, 0);
        assert_int_equal(vfs->write_at(vfs->context, file, offsets[i], "abcd", 4), EFBIG);
    }
    expect_size(layer, file, 4);
    close_file(layer, file);
}

TEST_ON_BOTH(writes_overwrite_extend_and_leave_zeros_in_gaps)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    petal_file *file;

    assert_int_equal(open_in(layer, "a", CREATE, &file), 0);
    write_text(layer, file, 0, "abcdef");
    write_text(layer, file, 2, "XY");
    write_text(layer, file, 9, "end");
    expect_size(layer, file, 12);
    expect_bytes(layer, file, 0, "abXYef\0\0\0end", 12);
    assert_int_equal(vfs->log_store(vfs->context, file, 12, "log", 3), 0);
    expect_bytes(layer, file, 9, "endlog", 6);
    assert_int_equal(vfs->write_at(vfs->context, file, 100, "", 0), 0);
    expect_size(layer, file, 15);
    close_file(layer, file);
}

TEST_ON_BOTH(a_file_opened_for_reading_cannot_be_written_or_locked_alone)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    petal_file *file;

    make_file(layer, "a", "text");
    assert_int_equal(open_in(layer, "a", READ, &file), 0);
    assert_int_equal(vfs->write_at(vfs->context, file, 0, "TEXT", 4), EBADF);
    assert_int_equal(vfs->log_store(vfs->context, file, 0, "TEXT", 4), EBADF);
    assert_int_equal(vfs->lock(vfs->context, file, 0, 0, PETAL_LOCK_EXCLUSIVE), EBADF);
    assert_int_equal(vfs->lock(vfs->context, file, 0, 0, PETAL_LOCK_SHARED), 0);
    assert_int_equal(vfs->lock(vfs->context, file, 0, 0, PETAL_LOCK_EXCLUSIVE), EBADF);
    assert_int_equal(vfs->sync(vfs->context, file), 0);
    close_file(layer, file);
    expect_text(layer, "a", "text");
}

/* Random writes against a plain array. */
TEST_ON_BOTH(random_writes_read_back)
{
    enum { FILE_BYTES = 20000, ROUNDS = 400 };
    struct layer *layer = *state;
    uint8_t *model = test_allocate(FILE_BYTES), *bytes = test_allocate(FILE_BYTES);
    struct test_random random;
    petal_file *file;
    size_t size = 0;

    test_random_init(&random, test_seed());
    memset(model, 0, FILE_BYTES);
    assert_int_equal(open_in(layer, "a", CREATE, &file), 0);
    for (int round = 0; round < ROUNDS; round++) {
        size_t offset = test_random_below(&random, FILE_BYTES);
        size_t length = test_random_below(&random, FILE_BYTES - offset) / 8 + 1;

        test_random_bytes(&random, bytes, length);
        memcpy(model + offset, bytes, length);
        if (offset + length > size)
            size = offset + length;
        assert_int_equal(layer->vfs->write_at(layer->vfs->context, file, offset, bytes, length), 0);
        if (test_random_chance(&random, 5))
            assert_int_equal(layer->vfs->sync(layer->vfs->context, file), 0);
    }
    expect_size(layer, file, size);
    expect_bytes(layer, file, 0, model, size);
    close_file(layer, file);
    free(model);
    free(bytes);
}

/* ---- Names ---- */

TEST_ON_BOTH(rename_replaces_and_open_files_stay)
{
    struct layer *layer = *state;
    petal_file *old;

    make_file(layer, "a", "new");
    make_file(layer, "b", "old");
    assert_int_equal(open_in(layer, "b", READ, &old), 0);
    assert_int_equal(rename_in(layer, "a", "b"), 0);
    expect_text(layer, "b", "new");
    expect_bytes(layer, old, 0, "old", 3);
    close_file(layer, old);
    assert_int_equal(open_in(layer, "a", READ, &old), ENOENT);
    assert_int_equal(rename_in(layer, "a", "b"), ENOENT);
    assert_int_equal(rename_in(layer, "b", "b"), 0);
    expect_text(layer, "b", "new");
}

TEST_ON_BOTH(rename_knows_directories)
{
    struct layer *layer = *state;

    make_file(layer, "a", "text");
    assert_int_equal(call_in(layer, vfs_make_directory, "d"), 0);
    assert_int_equal(call_in(layer, vfs_make_directory, "e"), 0);
    make_file(layer, "e/in", "inner");
    assert_int_equal(rename_in(layer, "a", "d"), EISDIR);
    assert_int_equal(rename_in(layer, "d", "a"), ENOTDIR);
    assert_int_equal(rename_in(layer, "d", "e"), ENOTEMPTY);
    assert_int_equal(rename_in(layer, "e", "d"), 0);
    expect_text(layer, "d/in", "inner");
}

TEST_ON_BOTH(remove_takes_the_name_only)
{
    struct layer *layer = *state;
    petal_file *file;

    make_file(layer, "a", "text");
    assert_int_equal(open_in(layer, "a", WRITE, &file), 0);
    assert_int_equal(call_in(layer, vfs_remove, "a"), 0);
    assert_int_equal(call_in(layer, vfs_remove, "a"), ENOENT);
    expect_bytes(layer, file, 0, "text", 4);
    write_text(layer, file, 4, "more");
    make_file(layer, "a", "another");
    expect_bytes(layer, file, 0, "textmore", 8);
    expect_text(layer, "a", "another");
    close_file(layer, file);
    assert_int_equal(call_in(layer, vfs_make_directory, "d"), 0);
    assert_int_equal(call_in(layer, vfs_remove, "d"), EISDIR);
}

TEST_ON_BOTH(a_link_is_a_second_name_of_one_file)
{
    struct layer *layer = *state;
    petal_file *file;

    make_file(layer, "a", "text");
    assert_int_equal(call_in(layer, vfs_make_directory, "d"), 0);
    assert_int_equal(link_in(layer, "a", "b"), 0);
    assert_int_equal(link_in(layer, "b", "d/c"), 0);
    assert_int_equal(open_in(layer, "b", WRITE, &file), 0);
    write_text(layer, file, 4, "more");
    close_file(layer, file);
    expect_text(layer, "a", "textmore");
    assert_int_equal(call_in(layer, vfs_remove, "a"), 0);
    assert_int_equal(open_in(layer, "a", READ, &file), ENOENT);
    expect_text(layer, "b", "textmore");
    make_file(layer, "a", "another");
    assert_int_equal(rename_in(layer, "a", "b"), 0);
    expect_text(layer, "d/c", "textmore");
}

TEST_ON_BOTH(what_cannot_be_linked)
{
    struct layer *layer = *state;

    make_file(layer, "a", "text");
    make_file(layer, "b", "other");
    assert_int_equal(call_in(layer, vfs_make_directory, "d"), 0);
    assert_int_equal(link_in(layer, "a", "b"), EEXIST);
    assert_int_equal(link_in(layer, "a", "a"), EEXIST);
    assert_int_equal(link_in(layer, "a", "d"), EEXIST);
    assert_int_equal(link_in(layer, "none", "c"), ENOENT);
    assert_int_equal(link_in(layer, "a", "none/c"), ENOENT);
    assert_int_equal(link_in(layer, "a", "b/c"), ENOTDIR);
    assert_int_equal(link_in(layer, "d", "e"), EPERM);
    expect_text(layer, "b", "other");
}

static void
collect_name(void *argument, const char *name)
{
    char *all = argument;

    assert_true(strlen(all) + strlen(name) + 2 < 256);
    strcat(strcat(all, name), " ");
}

TEST_ON_BOTH(directories_are_made_listed_and_synced)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    char names[256] = "";
    char *file_path;

    assert_int_equal(call_in(layer, vfs_make_directory, "d"), 0);
    assert_int_equal(call_in(layer, vfs_make_directory, "d"), 0); /* it is there */
    assert_int_equal(call_in(layer, vfs_make_directory, "none/d"), ENOENT);
    make_file(layer, "f", "");
    assert_int_equal(call_in(layer, vfs_make_directory, "f"), ENOTDIR);
    assert_int_equal(vfs_list_directory(vfs, layer->directory, collect_name, names), 0);
    assert_true(strcmp(names, "d f ") == 0 || strcmp(names, "f d ") == 0);
    assert_int_equal(vfs_sync_directory(vfs, layer->directory), 0);
    assert_int_equal(call_in(layer, vfs_sync_directory, "d"), 0);
    assert_int_equal(call_in(layer, vfs_sync_directory, "none"), ENOENT);
    assert_int_equal(call_in(layer, vfs_sync_directory, "f"), ENOTDIR);
    file_path = test_path(layer->directory, "f");
    names[0] = '\0';
    assert_int_equal(vfs_list_directory(vfs, file_path, collect_name, names), ENOTDIR);
    assert_string_equal(names, "");
    free(file_path);
}

static void
remove_listed(void *argument, const char *name)
{
    struct layer *layer = argument;

    assert_int_equal(call_in(layer, vfs_remove, name), 0);
}

TEST_ON_BOTH(files_may_be_removed_while_they_are_listed)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    char name[16], names[256] = "";

    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "%d", i);
        make_file(layer, name, name);
    }
    assert_int_equal(vfs_list_directory(vfs, layer->directory, remove_listed, layer), 0);
    assert_int_equal(vfs_list_directory(vfs, layer->directory, collect_name, names), 0);
    assert_string_equal(names, "");
}

/* ---- Locks ---- */

TEST_ON_BOTH(a_lock_excludes_other_openers_until_close)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    petal_file *first, *second, *reader;

    assert_int_equal(open_in(layer, "lock", CREATE, &first), 0);
    assert_int_equal(open_in(layer, "lock", CREATE, &second), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_EXCLUSIVE), EAGAIN);

    /* Closing another descriptor of the file does not drop the lock, as it would with F_SETLK. */
    assert_int_equal(open_in(layer, "lock", READ, &reader), 0);
    close_file(layer, reader);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_EXCLUSIVE), EAGAIN);

    close_file(layer, first);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    close_file(layer, second);
}

/* Bytes that the file has, or has not. */
TEST_ON_BOTH(parts_of_a_file_are_locked_apart)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    petal_file *first, *second, *reader;

    assert_int_equal(open_in(layer, "lock", CREATE, &first), 0);
    assert_int_equal(open_in(layer, "lock", CREATE, &second), 0);
    assert_int_equal(open_in(layer, "lock", READ, &reader), 0);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_TEST), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 64, 1, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_TEST), 0); /* its own */
    assert_int_equal(vfs->lock(vfs->context, second, 64, 1, PETAL_LOCK_EXCLUSIVE), EAGAIN);
    assert_int_equal(vfs->lock(vfs->context, second, 128, 1, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(vfs->lock(vfs->context, reader, 0, 1, PETAL_LOCK_SHARED), 0);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 1, PETAL_LOCK_TEST), EAGAIN);
    assert_int_equal(vfs->lock(vfs->context, second, 1, 63, PETAL_LOCK_TEST), 0);
    assert_int_equal(vfs->lock(vfs->context, second, 64, 1, PETAL_LOCK_TEST), EAGAIN);
    assert_int_equal(vfs->lock(vfs->context, first, 1, 0, PETAL_LOCK_TEST), EAGAIN);
    close_file(layer, second);
    assert_int_equal(vfs->lock(vfs->context, first, 1, 0, PETAL_LOCK_TEST), 0);
    close_file(layer, first);
    close_file(layer, reader);
}

TEST_ON_BOTH(shared_locks_let_each_other_in_and_nobody_else)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    petal_file *first, *second, *writer;

    make_file(layer, "lock", "");
    assert_int_equal(open_in(layer, "lock", READ, &first), 0);
    assert_int_equal(open_in(layer, "lock", READ, &second), 0);
    assert_int_equal(open_in(layer, "lock", WRITE, &writer), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_SHARED), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_SHARED), 0);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_SHARED), 0);
    assert_int_equal(vfs->lock(vfs->context, writer, 0, 0, PETAL_LOCK_EXCLUSIVE), EAGAIN);
    close_file(layer, first);
    assert_int_equal(vfs->lock(vfs->context, writer, 0, 0, PETAL_LOCK_EXCLUSIVE), EAGAIN);
    close_file(layer, second);
    assert_int_equal(vfs->lock(vfs->context, writer, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(open_in(layer, "lock", READ, &first), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_SHARED), EAGAIN);
    close_file(layer, writer);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_SHARED), 0);
    close_file(layer, first);
}

TEST_ON_BOTH(a_holder_may_change_the_kind_of_its_lock)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    petal_file *first, *second;

    assert_int_equal(open_in(layer, "lock", CREATE, &first), 0);
    assert_int_equal(open_in(layer, "lock", CREATE, &second), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_SHARED), 0);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_SHARED), 0);
    /* One that is refused keeps what it had. */
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_EXCLUSIVE), EAGAIN);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_EXCLUSIVE), EAGAIN);
    close_file(layer, second);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    close_file(layer, first);
}

/* The lock is on the file, not on its name. */
TEST_ON_BOTH(a_lock_follows_the_file)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    petal_file *first, *second;

    assert_int_equal(open_in(layer, "lock", CREATE, &first), 0);
    assert_int_equal(vfs->lock(vfs->context, first, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(rename_in(layer, "lock", "moved"), 0);
    assert_int_equal(open_in(layer, "moved", WRITE, &second), 0);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_EXCLUSIVE), EAGAIN);
    close_file(layer, second);
    assert_int_equal(open_in(layer, "lock", CREATE_NEW, &second), 0);
    assert_int_equal(vfs->lock(vfs->context, second, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    close_file(layer, second);
    close_file(layer, first);
}

static void
assert_contains(struct layer *layer, petal_directory *directory, const char *name, bool expected)
{
    char *path = name[0] == '/' ? test_strdup(name) : test_path(layer->directory, name);
    bool contains = !expected;

    assert_int_equal(layer->vfs->contains(layer->vfs->context, directory, path, &contains), 0);
    assert_true(contains == expected);
    free(path);
}

/* Also what is not there yet, under any spelling of its path. */
TEST_ON_BOTH(a_directory_contains_what_is_below)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    char *path = test_path(layer->directory, "house");
    petal_directory *house;

    assert_int_equal(call_in(layer, vfs_make_directory, "house"), 0);
    assert_int_equal(call_in(layer, vfs_make_directory, "house2"), 0);
    assert_int_equal(call_in(layer, vfs_make_directory, "house/room"), 0);
    assert_int_equal(call_in(layer, vfs_make_directory, "house/room/shelf"), 0);
    make_file(layer, "house/file", "bytes");
    assert_int_equal(vfs->open_directory(vfs->context, path, false, &house), 0);
    assert_contains(layer, house, "house", true);
    assert_contains(layer, house, ".//house//", true);
    assert_contains(layer, house, "house/new", true);
    assert_contains(layer, house, "house/new//", true);
    assert_contains(layer, house, "house/room", true);
    assert_contains(layer, house, "house/room/shelf/new", true);
    assert_contains(layer, house, "house2", false);
    assert_contains(layer, house, "house2/new", false);
    assert_contains(layer, house, "new", false);
    assert_contains(layer, house, ".", false);
    assert_contains(layer, house, "/", false);
    assert_contains(layer, house, "/new-of-nobody", false);
    assert_contains(layer, house, "house/new/newer", false); /* nor can it be made */
    assert_contains(layer, house, "house/file/new", false);
    vfs->close_directory(vfs->context, house);
    free(path);
}

/* Others may write to that of the operating system meanwhile. */
TEST_ON_BOTH(there_are_free_bytes)
{
    struct layer *layer = *state;
    const petal_vfs *vfs = layer->vfs;
    petal_directory *directory;
    uint64_t before, after;

    assert_int_equal(vfs->open_directory(vfs->context, layer->directory, false, &directory), 0);
    if (layer->memory != NULL)
        memory_vfs_set_capacity(layer->memory, 1000);
    assert_int_equal(vfs->free_bytes(vfs->context, directory, &before), 0);
    make_file(layer, "file", "bytes");
    assert_int_equal(vfs->free_bytes(vfs->context, directory, &after), 0);
    assert_true(before > 0 && after > 0);
    if (layer->memory != NULL) {
        assert_int_equal(before, 1000);
        assert_int_equal(after, 1000 - strlen("bytes"));
        memory_vfs_set_capacity(layer->memory, 1);
        assert_int_equal(vfs->free_bytes(vfs->context, directory, &after), 0);
        assert_int_equal(after, 0);
        memory_vfs_set_capacity(layer->memory, UINT64_MAX);
        assert_int_equal(vfs->free_bytes(vfs->context, directory, &after), 0);
        assert_true(after == UINT64_MAX);
    }
    vfs->close_directory(vfs->context, directory);
}
