/*
 * disk_test.c -- planned failures, failed syncs, the full disk, the looks inside and the trace of
 * the in-memory file layer.  (Power cuts: tests/disk/cut_test.c.  That it works as a file layer:
 * tests/disk/vfs_contract_test.c.)
 */
#include "tests/disk/paths.h"
#include "tests/disk/vfs.h"
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CREATE (PETAL_FILE_WRITE | PETAL_FILE_CREATE)

/* The context of the table is the memory_vfs itself. */
struct fixture {
    struct memory_vfs *vfs;
    const petal_vfs *table;
    petal_directory *root, *directory; /* "d" */
    petal_file *file;                  /* "d/a", with a durable name */
};

static int
set_up(void **state)
{
    struct fixture *fixture = test_allocate(sizeof(*fixture));

    fixture->vfs = memory_vfs_new();
    fixture->table = memory_vfs_table(fixture->vfs);
    *state = fixture;
    return fixture->table->open_directory(fixture->vfs, "/", false, &fixture->root) != 0 ||
           fixture->table->open_directory(fixture->vfs, "d", true, &fixture->directory) != 0 ||
           fixture->table->sync_directory(fixture->vfs, fixture->root) != 0 ||
           fixture->table->open(fixture->vfs, fixture->directory, "a", CREATE, &fixture->file) !=
               0 ||
           fixture->table->sync_directory(fixture->vfs, fixture->directory) != 0;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;

    memory_vfs_free(fixture->vfs);
    free(fixture);
    return 0;
}

static int
write_text(struct fixture *fixture, uint64_t offset, const char *text)
{
    return fixture->table->write_at(fixture->vfs, fixture->file, offset, text, strlen(text));
}

static int
sync_file(struct fixture *fixture)
{
    return fixture->table->sync(fixture->vfs, fixture->file);
}

static void
expect_bytes(struct memory_vfs *vfs, const char *path, const char *expected, size_t expected_size)
{
    uint8_t *bytes;
    size_t size;

    assert_int_equal(memory_vfs_read_file(vfs, path, &bytes, &size), 0);
    assert_int_equal(size, expected_size);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

static void
expect_text(struct memory_vfs *vfs, const char *path, const char *expected)
{
    expect_bytes(vfs, path, expected, strlen(expected));
}

static struct memory_vfs *
cut_clone(struct fixture *fixture, enum memory_cut cut)
{
    struct memory_vfs *clone = memory_vfs_clone(fixture->vfs);

    memory_vfs_power_cut(clone, cut, 0);
    return clone;
}

static void
expect_after_cut(struct fixture *fixture, enum memory_cut cut, const char *path,
                 const char *expected, size_t size)
{
    struct memory_vfs *clone = cut_clone(fixture, cut);

    expect_bytes(clone, path, expected, size);
    memory_vfs_free(clone);
}

/* ---- Planned failures ---- */

TEST_WITH(the_nth_call_fails_once_or_for_good, set_up, tear_down)
{
    struct fixture *fixture = *state;

    memory_vfs_fail_at(fixture->vfs, 2, EDQUOT, false);
    assert_int_equal(sync_file(fixture), 0);
    assert_int_equal(sync_file(fixture), EDQUOT);
    assert_int_equal(sync_file(fixture), 0);
    assert_int_equal(memory_vfs_failures(fixture->vfs), 1);
    memory_vfs_fail_at(fixture->vfs, 2, EROFS, true);
    assert_int_equal(sync_file(fixture), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sync_file(fixture), EROFS);
    assert_int_equal(memory_vfs_failures(fixture->vfs), 4);
    memory_vfs_fail_at(fixture->vfs, 0, 0, false);
    assert_int_equal(sync_file(fixture), 0);
}

static int
call_each_kind(struct fixture *fixture, enum memory_vfs_operation operation)
{
    const petal_vfs *table = fixture->table;
    struct memory_vfs *vfs = fixture->vfs;
    petal_directory *directory = NULL;
    petal_file *file = NULL;
    char buffer[4];
    const void *memory;
    uint64_t number;
    bool contains;
    size_t got;

    switch (operation) {
    case MEMORY_VFS_OPEN:
        return table->open(vfs, fixture->directory, "new", CREATE, &file);
    case MEMORY_VFS_CLOSE:
        return table->close(vfs, fixture->file);
    case MEMORY_VFS_READ:
        return table->read_at(vfs, fixture->file, 0, buffer, sizeof(buffer), &got);
    case MEMORY_VFS_WRITE:
        return table->write_at(vfs, fixture->file, 0, "write", 5);
    case MEMORY_VFS_LOG_STORE:
        return table->log_store(vfs, fixture->file, 0, "store", 5);
    case MEMORY_VFS_SYNC:
        return table->sync(vfs, fixture->file);
    case MEMORY_VFS_MAP:
        return table->map(vfs, fixture->file, 1, &memory);
    case MEMORY_VFS_SIZE:
        return table->size(vfs, fixture->file, &number);
    case MEMORY_VFS_LOCK:
        return table->lock(vfs, fixture->file, 0, 0, PETAL_LOCK_EXCLUSIVE);
    case MEMORY_VFS_OPEN_DIRECTORY:
        return table->open_directory(vfs, "d/new", true, &directory);
    case MEMORY_VFS_SYNC_PARENT:
        return table->sync_parent(vfs, fixture->directory);
    case MEMORY_VFS_SYNC_DIRECTORY:
        return table->sync_directory(vfs, fixture->directory);
    case MEMORY_VFS_LIST_DIRECTORY:
        return table->list_directory(vfs, fixture->directory, NULL,
                                     NULL); /* fails before it visits */
    case MEMORY_VFS_RENAME:
        return table->rename(vfs, fixture->directory, "a", "new");
    case MEMORY_VFS_LINK:
        return table->link(vfs, fixture->directory, "a", fixture->directory, "new");
    case MEMORY_VFS_REMOVE:
        return table->remove(vfs, fixture->directory, "a");
    case MEMORY_VFS_CONTAINS:
        return table->contains(vfs, fixture->directory, "d", &contains);
    case MEMORY_VFS_FREE_BYTES:
        return table->free_bytes(vfs, fixture->directory, &number);
    }
    return -1;
}

/* Every kind of call is numbered, fails when planned, leaves names and open files alone (but
 * close), and is traced. */
TEST_WITH(every_kind_of_call_can_fail, set_up, tear_down)
{
    struct fixture *fixture = *state;
    enum memory_vfs_operation operation;

    for (operation = MEMORY_VFS_OPEN; operation <= MEMORY_VFS_FREE_BYTES; operation++) {
        uint64_t calls = memory_vfs_calls(fixture->vfs);
        struct memory_vfs_call call;

        memory_vfs_trace(fixture->vfs, true);
        memory_vfs_fail_at(fixture->vfs, 1, ENOLCK, false);
        assert_int_equal(call_each_kind(fixture, operation), ENOLCK);
        assert_int_equal(memory_vfs_calls(fixture->vfs), calls + 1);
        assert_true(memory_vfs_exists(fixture->vfs, "d/a"));
        assert_false(memory_vfs_exists(fixture->vfs, "d/new"));
        assert_int_equal(memory_vfs_trace_count(fixture->vfs), 1);
        call = memory_vfs_trace_at(fixture->vfs, 0);
        assert_int_equal(call.operation, operation);
        assert_int_equal(call.number, calls + 1);
        assert_int_equal(call.error, ENOLCK);
        memory_vfs_trace(fixture->vfs, false);
        assert_int_equal(memory_vfs_open_files(fixture->vfs),
                         operation == MEMORY_VFS_CLOSE ? 0 : 1);
        if (operation == MEMORY_VFS_CLOSE)
            assert_int_equal(
                fixture->table->open(fixture->vfs, fixture->directory, "a", CREATE, &fixture->file),
                0);
    }
}

TEST_WITH(a_failed_write_stores_a_part, set_up, tear_down)
{
    static const struct {
        enum memory_effect effect;
        const char *left;
    } cases[] = {{MEMORY_DID_HALF, "ABCD...."},
                 {MEMORY_DID_NOTHING, "........"},
                 {MEMORY_DID_MOST, "ABCDEFG."},
                 {MEMORY_DID_ALL, "ABCDEFGH"}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(write_text(fixture, 0, "........"), 0);
        if (i > 0) /* half is what it stores at first */
            memory_vfs_set_effect(fixture->vfs, cases[i].effect);
        memory_vfs_fail_at(fixture->vfs, 1, EIO, false);
        assert_int_equal(write_text(fixture, 0, "ABCDEFGH"), EIO);
        expect_text(fixture->vfs, "d/a", cases[i].left);
    }
}

TEST_WITH(a_failed_read_may_be_short, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char bytes[4];
    size_t got;

    assert_int_equal(write_text(fixture, 0, "ABCD"), 0);
    memory_vfs_fail_at(fixture->vfs, 1, MEMORY_SHORT_READ, false);
    assert_int_equal(fixture->table->read_at(fixture->vfs, fixture->file, 0, bytes, 4, &got), 0);
    assert_int_equal(got, 2);
    assert_memory_equal(bytes, "AB", 2);
}

/* Where it cannot be done in part. */
TEST_WITH(a_failed_call_may_have_done_all, set_up, tear_down)
{
    struct fixture *fixture = *state;

    memory_vfs_set_effect(fixture->vfs, MEMORY_DID_ALL);
    memory_vfs_fail_at(fixture->vfs, 1, EIO, false);
    assert_int_equal(call_each_kind(fixture, MEMORY_VFS_OPEN), EIO);
    assert_true(memory_vfs_exists(fixture->vfs, "d/new"));
    assert_int_equal(memory_vfs_open_files(fixture->vfs), 1);
    memory_vfs_fail_at(fixture->vfs, 1, EIO, false);
    assert_int_equal(call_each_kind(fixture, MEMORY_VFS_RENAME), EIO);
    assert_false(memory_vfs_exists(fixture->vfs, "d/a"));
}

/* ---- Failed syncs ---- */

/* The lie that the kernel tells: the second sync succeeds, and the data is not there. */
TEST_WITH(a_sync_after_a_failed_one_brings_nothing_back, set_up, tear_down)
{
    struct fixture *fixture = *state;

    assert_int_equal(write_text(fixture, 0, "old"), 0);
    assert_int_equal(sync_file(fixture), 0);
    assert_int_equal(write_text(fixture, 0, "new and longer"), 0);
    memory_vfs_fail_at(fixture->vfs, 1, EIO, false);
    assert_int_equal(sync_file(fixture), EIO);
    expect_text(fixture->vfs, "d/a", "new and longer");
    expect_after_cut(fixture, MEMORY_CUT_KEEP_ALL, "d/a", "old", 3);
    assert_int_equal(sync_file(fixture), 0);
    expect_text(fixture->vfs, "d/a", "new and longer");
    expect_after_cut(fixture, MEMORY_CUT_KEEP_ALL, "d/a", "old", 3);
    expect_after_cut(fixture, MEMORY_CUT_RANDOM, "d/a", "old", 3);
}

/* A later write makes its own sectors durable, and with them the lost bytes in these; no others. */
TEST_WITH(a_later_write_saves_its_own_sectors, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char expected[2 * MEMORY_SECTOR_BYTES] = {0};

    assert_int_equal(write_text(fixture, 0, "first"), 0);
    assert_int_equal(write_text(fixture, MEMORY_SECTOR_BYTES, "second"), 0);
    memory_vfs_fail_at(fixture->vfs, 1, EIO, false);
    assert_int_equal(sync_file(fixture), EIO);
    assert_int_equal(write_text(fixture, MEMORY_SECTOR_BYTES + 6, " and third"), 0);
    assert_int_equal(sync_file(fixture), 0);
    memcpy(expected + MEMORY_SECTOR_BYTES, "second and third", 16);
    expect_after_cut(fixture, MEMORY_CUT_LOSE_ALL, "d/a", expected, MEMORY_SECTOR_BYTES + 16);
}

TEST_WITH(a_failed_sync_may_revert_what_is_read, set_up, tear_down)
{
    struct fixture *fixture = *state;

    assert_int_equal(write_text(fixture, 0, "old"), 0);
    assert_int_equal(sync_file(fixture), 0);
    memory_vfs_set_sync_failure(fixture->vfs, MEMORY_SYNC_REVERTS);
    assert_int_equal(write_text(fixture, 0, "new and longer"), 0);
    memory_vfs_fail_at(fixture->vfs, 1, EIO, false);
    assert_int_equal(sync_file(fixture), EIO);
    expect_text(fixture->vfs, "d/a", "old");
    assert_int_equal(sync_file(fixture), 0);
    expect_after_cut(fixture, MEMORY_CUT_KEEP_ALL, "d/a", "old", 3);
}

TEST_WITH(a_failed_directory_sync_loses_names, set_up, tear_down)
{
    struct fixture *fixture = *state;
    const petal_vfs *table = fixture->table;
    struct memory_vfs *vfs = fixture->vfs, *clone;

    assert_int_equal(table->rename(vfs, fixture->directory, "a", "lost"), 0);
    memory_vfs_fail_at(vfs, 1, EIO, false);
    assert_int_equal(table->sync_directory(vfs, fixture->directory), EIO);
    assert_int_equal(vfs_make_directory(table, "d/kept"), 0);
    assert_int_equal(table->sync_directory(vfs, fixture->directory), 0);
    assert_true(memory_vfs_exists(vfs, "d/lost"));
    clone = cut_clone(fixture, MEMORY_CUT_KEEP_ALL);
    assert_false(memory_vfs_exists(clone, "d/lost"));
    assert_true(memory_vfs_exists(clone, "d/a"));
    assert_true(memory_vfs_exists(clone, "d/kept"));
    memory_vfs_free(clone);
}

/* A change of a name that a lost change concerned rests on that one, and takes it along. */
TEST_WITH(a_later_change_of_a_lost_name_saves_it, set_up, tear_down)
{
    struct fixture *fixture = *state;
    const petal_vfs *table = fixture->table;
    struct memory_vfs *vfs = fixture->vfs, *clone;

    assert_int_equal(table->rename(vfs, fixture->directory, "a", "b"), 0);
    memory_vfs_fail_at(vfs, 1, EIO, false);
    assert_int_equal(table->sync_directory(vfs, fixture->directory), EIO);
    assert_int_equal(table->rename(vfs, fixture->directory, "b", "c"), 0);
    assert_int_equal(table->sync_directory(vfs, fixture->directory), 0);
    clone = cut_clone(fixture, MEMORY_CUT_LOSE_ALL);
    assert_false(memory_vfs_exists(clone, "d/a"));
    assert_false(memory_vfs_exists(clone, "d/b"));
    assert_true(memory_vfs_exists(clone, "d/c"));
    memory_vfs_free(clone);
}

/* ---- The full disk ---- */

TEST_WITH(a_full_disk_takes_what_fits, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct memory_vfs *vfs = fixture->vfs;

    assert_int_equal(memory_vfs_write_file(vfs, "d/other", "123456", 6), 0);
    assert_int_equal(memory_vfs_used(vfs), 6);
    memory_vfs_set_capacity(vfs, 10);
    assert_int_equal(write_text(fixture, 0, "abcdef"), ENOSPC);
    expect_text(vfs, "d/a", "abcd");
    assert_int_equal(write_text(fixture, 0, "ABCD"), 0); /* overwriting needs no room */
    assert_int_equal(write_text(fixture, 4, "e"), ENOSPC);
    assert_int_equal(write_text(fixture, 2, "CDe"), ENOSPC);
    assert_int_equal(write_text(fixture, 9, "x"), ENOSPC); /* a gap needs room, too */
    expect_text(vfs, "d/a", "ABCD");
    assert_int_equal(fixture->table->remove(vfs, fixture->directory, "other"), 0);
    assert_int_equal(write_text(fixture, 4, "efghij"), 0);
    assert_int_equal(memory_vfs_used(vfs), 10);
    memory_vfs_set_capacity(vfs, 5); /* below what is used */
    assert_int_equal(write_text(fixture, 10, "k"), ENOSPC);
    memory_vfs_set_capacity(vfs, UINT64_MAX);
    assert_int_equal(write_text(fixture, 10, "k"), 0);
    expect_text(vfs, "d/a", "ABCDefghijk");
}

/* ---- Clones and looks inside ---- */

TEST_WITH(a_clone_lives_alone, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct memory_vfs *clone;
    petal_file *file;

    assert_int_equal(write_text(fixture, 0, "both"), 0);
    assert_int_equal(fixture->table->rename(fixture->vfs, fixture->directory, "a", "b"), 0);
    assert_int_equal(fixture->table->lock(fixture->vfs, fixture->file, 0, 0, PETAL_LOCK_EXCLUSIVE),
                     0);
    clone = memory_vfs_clone(fixture->vfs);
    assert_int_equal(memory_vfs_calls(clone), 0);
    assert_int_equal(memory_vfs_open_files(clone), 0);
    assert_int_equal(write_text(fixture, 0, "original"), 0);
    expect_text(clone, "d/b", "both");
    assert_int_equal(vfs_open(memory_vfs_table(clone), "d/b", CREATE, &file), 0);
    assert_int_equal(memory_vfs_table(clone)->lock(clone, file, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(memory_vfs_table(clone)->write_at(clone, file, 0, "clone", 5), 0);
    assert_int_equal(vfs_remove(memory_vfs_table(clone), "d/b"), 0);
    expect_text(fixture->vfs, "d/b", "original");
    memory_vfs_power_cut(clone, MEMORY_CUT_LOSE_ALL, 0);
    expect_text(clone, "d/a", ""); /* pending changes were cloned as such */
    memory_vfs_free(clone);
}

static void
collect_name(void *argument, const char *name)
{
    strcat(strcat(argument, name), " ");
}

TEST_WITH(looking_is_no_call_and_works_without_power, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct memory_vfs *vfs = fixture->vfs;
    uint64_t calls = memory_vfs_calls(vfs);
    char names[64] = "";
    uint8_t *bytes;
    size_t size;

    memory_vfs_cut_at(vfs, 1);
    assert_int_equal(sync_file(fixture), EIO);
    assert_int_equal(memory_vfs_write_file(vfs, "d/a", "replaced", 8), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "d/b", NULL, 0), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "top", "x", 1), 0);
    assert_int_equal(memory_vfs_write_file(vfs, "none/b", "x", 1), ENOENT);
    assert_int_equal(memory_vfs_read_file(vfs, "d/none", &bytes, &size), ENOENT);
    assert_null(bytes);
    assert_int_equal(memory_vfs_read_file(vfs, "d", &bytes, &size), EISDIR);
    assert_int_equal(memory_vfs_list(vfs, "d", collect_name, names), 0);
    assert_string_equal(names, "a b ");
    assert_int_equal(memory_vfs_list(vfs, "none", collect_name, names), ENOENT);
    assert_true(memory_vfs_exists(vfs, "d"));
    assert_true(memory_vfs_exists(vfs, "/d//./a"));
    assert_false(memory_vfs_exists(vfs, "d/../d/a"));
    assert_int_equal(memory_vfs_calls(vfs), calls + 1);
    memory_vfs_power_cut(vfs, MEMORY_CUT_LOSE_ALL, 0);
    expect_text(vfs, "d/a", "replaced");
    expect_text(vfs, "top", "x");
}

TEST_WITH(the_trace_tells_what_was_called, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char text[256] = "";
    uint64_t first = memory_vfs_calls(fixture->vfs) + 1;
    char expected[256];
    FILE *out = fmemopen(text, sizeof(text), "w");

    assert_non_null(out);
    memory_vfs_trace(fixture->vfs, true);
    assert_int_equal(write_text(fixture, 7, "text"), 0);
    assert_int_equal(fixture->table->remove(fixture->vfs, fixture->directory, "none"), ENOENT);
    memory_vfs_trace_print(fixture->vfs, out);
    fclose(out);
    snprintf(expected, sizeof(expected),
             "%6llu write          d/a offset 7 size 4\n"
             "%6llu remove         d/none offset 0 size 0: No such file or directory\n",
             (unsigned long long)first, (unsigned long long)first + 1);
    assert_string_equal(text, expected);
}

/* ---- Threads ---- */

enum { THREADS = 4, THREAD_ROUNDS = 300 };

struct worker {
    pthread_t thread;
    struct memory_vfs *vfs;
    petal_directory *directory;
    int number;
    int errors;
};

/* Write, rename, read and remove files of its own, and a byte of its own in a shared one. */
static void *
work(void *argument)
{
    struct worker *worker = argument;
    const petal_vfs *table = memory_vfs_table(worker->vfs);
    char from[16], to[16], byte = (char)('0' + worker->number), back;
    size_t got;

    snprintf(from, sizeof(from), "from%d", worker->number);
    snprintf(to, sizeof(to), "to%d", worker->number);
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        petal_file *own, *shared;
        uint64_t offset = (uint64_t)worker->number;

        worker->errors += table->open(worker->vfs, worker->directory, from, CREATE, &own) != 0;
        worker->errors += table->open(worker->vfs, worker->directory, "a", CREATE, &shared) != 0;
        worker->errors += table->write_at(worker->vfs, own, 0, &byte, 1) != 0;
        worker->errors += table->write_at(worker->vfs, shared, offset, &byte, 1) != 0;
        worker->errors += table->sync(worker->vfs, shared) != 0;
        worker->errors += table->rename(worker->vfs, worker->directory, from, to) != 0;
        worker->errors += table->read_at(worker->vfs, shared, offset, &back, 1, &got) != 0;
        worker->errors += got != 1 || back != byte;
        worker->errors += table->remove(worker->vfs, worker->directory, to) != 0;
        worker->errors += table->close(worker->vfs, own) != 0;
        worker->errors += table->close(worker->vfs, shared) != 0;
        if (i % 50 == 0)
            memory_vfs_free(memory_vfs_clone(worker->vfs));
    }
    return NULL;
}

TEST_WITH(threads_may_share_it, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct worker workers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        workers[i] =
            (struct worker){.vfs = fixture->vfs, .directory = fixture->directory, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].errors, 0);
    }
    expect_text(fixture->vfs, "d/a", "0123");
}
