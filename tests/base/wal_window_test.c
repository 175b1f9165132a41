/*
 * wal_window_test.c -- stores through a mapping of the log (base/wal_window.h): when there is a
 * window, when there is none, what is in the file, also when the process is killed.
 *
 * This program defines fstatfs, pwrite, pwritev, fdatasync, madvise, mlock and getrlimit itself:
 * they stand before those of the C library, fail as `script` says, and otherwise make the system
 * call.
 */
#include "base/vfs_posix.h"
#include "base/wal_window.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORES_BEFORE 32 /* as base/wal_window.c has it */
#define STORE_BYTES   100

static struct script {
    long file_system;   /* its magic number in place of the true one; 0: the true one */
    int zeros_fail;     /* pwritev fails with it */
    size_t zeros_most;  /* bytes that all calls of pwritev may write; 0: no limit */
    int populate_fails; /* madvise fails with it */
    int lock_fails;     /* mlock fails with it */
    rlim_t lock_limit;  /* bytes that may be locked */
    unsigned zero_calls, lock_calls, write_calls;
    void (*while_syncing)(void); /* called by fdatasync first */
} script;

int
fstatfs(int descriptor, struct statfs *status)
{
    int result = (int)syscall(SYS_fstatfs, descriptor, status);

    if (script.file_system != 0)
        status->f_type = script.file_system;
    return result;
}

ssize_t
pwritev(int descriptor, const struct iovec *vectors, int count, off_t offset)
{
    script.zero_calls++;
    if (script.zeros_fail != 0) {
        errno = script.zeros_fail;
        return -1;
    }
    if (script.zeros_most != 0) {
        struct iovec first = {vectors[0].iov_base, script.zeros_most};

        script.zeros_fail = ENOSPC;
        return syscall(SYS_pwritev, descriptor, &first, 1L, (long)offset, 0L);
    }
    return syscall(SYS_pwritev, descriptor, vectors, (long)count, (long)offset, 0L);
}

ssize_t
pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    script.write_calls++;
    return syscall(SYS_pwrite64, descriptor, bytes, size, (long)offset);
}

int
fdatasync(int descriptor)
{
    if (script.while_syncing != NULL)
        script.while_syncing();
    return (int)syscall(SYS_fdatasync, descriptor);
}

int
madvise(void *memory, size_t size, int advice)
{
    if (script.populate_fails != 0 && advice == MADV_POPULATE_WRITE) {
        errno = script.populate_fails;
        return -1;
    }
    return (int)syscall(SYS_madvise, memory, size, advice);
}

int
mlock(const void *memory, size_t size)
{
    script.lock_calls++;
    errno = script.lock_fails;
    return script.lock_fails != 0 ? -1 : (int)syscall(SYS_mlock, memory, size);
}

/* ThreadSanitizer asks for limits before it is ready for what it put into functions. */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
__attribute__((disable_sanitizer_instrumentation))
#endif
#endif
int
getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    int result = (int)syscall(SYS_prlimit64, 0, resource, NULL, limit);

    if (resource == RLIMIT_MEMLOCK)
        limit->rlim_cur = script.lock_limit;
    return result;
}

/* ---- fixture: a log, and what it must hold ---- */

#define LOG_MOST ((size_t)8 << 20)

struct fixture {
    char *directory, *path;
    int descriptor;
    struct wal_window window;
    uint8_t *model;
    size_t length;
    unsigned stored; /* through the window */
    struct test_random random;
};

static int
set_up(void **state)
{
    struct fixture *fixture = test_allocate(sizeof *fixture);

    memset(&script, 0, sizeof script);
    script.lock_limit = RLIM_INFINITY;
    memset(fixture, 0, sizeof *fixture);
    fixture->directory = test_directory_new();
    fixture->path = test_path(fixture->directory, "log");
    fixture->descriptor = open(fixture->path, O_RDWR | O_CREAT, 0600);
    fixture->model = test_allocate(LOG_MOST);
    wal_window_init(&fixture->window, false);
    test_random_init(&fixture->random, test_seed());
    *state = fixture;
    return fixture->descriptor >= 0 ? 0 : -1;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;

    close(fixture->descriptor);
    free(fixture->path);
    free(fixture->model);
    test_directory_free(fixture->directory);
    free(fixture);
    return 0;
}

/* Store random bytes as the file layer does: what does not go through the window is written.  True:
 * it went through. */
static bool
store(struct fixture *fixture, size_t size)
{
    uint8_t *bytes = fixture->model + fixture->length;
    bool mapped;

    assert_true(size <= LOG_MOST - fixture->length);
    test_random_bytes(&fixture->random, bytes, size);
    mapped = wal_window_store(&fixture->window, fixture->descriptor, fixture->length, bytes, size);
    if (!mapped) {
        assert_int_equal(pwrite(fixture->descriptor, bytes, size, (off_t)fixture->length), size);
        wal_window_wrote(&fixture->window, fixture->length + size);
    }
    fixture->length += size;
    fixture->stored += mapped;
    return mapped;
}

static unsigned
store_many(struct fixture *fixture, unsigned count)
{
    unsigned mapped = 0;

    for (unsigned i = 0; i < count; i++)
        mapped += store(fixture, STORE_BYTES);
    return mapped;
}

static size_t
file_size(const struct fixture *fixture)
{
    struct stat status;

    assert_int_equal(stat(fixture->path, &status), 0);
    return (size_t)status.st_size;
}

/* The file has what was stored, and zeros after it. */
static void
expect_content(const struct fixture *fixture)
{
    size_t size = file_size(fixture);
    uint8_t *bytes = test_allocate(size + 1);
    int descriptor = open(fixture->path, O_RDONLY);

    assert_true(size >= fixture->length);
    assert_int_equal(pread(descriptor, bytes, size, 0), size);
    close(descriptor);
    assert_memory_equal(bytes, fixture->model, fixture->length);
    for (size_t i = fixture->length; i < size; i++)
        assert_int_equal(bytes[i], 0);
    free(bytes);
}

static void
close_and_expect_length(struct fixture *fixture)
{
    expect_content(fixture);
    wal_window_close(&fixture->window, fixture->descriptor);
    assert_int_equal(file_size(fixture), fixture->length);
    expect_content(fixture);
}

/* ---- tests ---- */

TEST_WITH(pages_are_locked_where_that_is_allowed, set_up, tear_down)
{
    struct fixture *fixture = *state;
    unsigned calls;

    assert_true(store_many(fixture, 1000) > 0);
    assert_true(script.lock_calls > 0);
    script.lock_fails = ENOMEM;
    calls = script.lock_calls;
    assert_int_equal(store_many(fixture, 5000), 5000);
    assert_true(script.lock_calls > calls);
    script.lock_limit = 64 << 10; /* all that the process may lock is left to it */
    calls = script.lock_calls;
    assert_int_equal(store_many(fixture, 5000), 5000);
    assert_int_equal(script.lock_calls, calls);
    close_and_expect_length(fixture);
}

/* Who wants no mapping has zeros ahead all the same. */
TEST_WITH(without_a_mapping_everything_is_written, set_up, tear_down)
{
    struct fixture *fixture = *state;

    wal_window_init(&fixture->window, true);
    assert_int_equal(store_many(fixture, 5000), 0);
    assert_int_equal(file_size(fixture), fixture->length);
    for (unsigned i = 0; i < 100; i++) {
        wal_window_synced(&fixture->window);
        assert_false(store(fixture, STORE_BYTES));
    }
    assert_true(file_size(fixture) > fixture->length);
    close_and_expect_length(fixture);
}

/* A write after the greatest length of files that the process may have is answered with a
 * signal. */
TEST_WITH(no_zeros_behind_the_limit_of_lengths, set_up, tear_down)
{
    static const unsigned stores_between_syncs[] = {1, 100000};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof stores_between_syncs / sizeof *stores_between_syncs; i++) {
        pid_t child = fork();
        int status;

        if (child == 0) {
            const struct rlimit limit = {100000, 100000};

            if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
                _exit(1);
            for (unsigned k = 1; k <= 990; k++) {
                store(fixture, STORE_BYTES);
                if (k % stores_between_syncs[i] == 0)
                    wal_window_synced(&fixture->window);
            }
            wal_window_close(&fixture->window, fixture->descriptor);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_int_equal(file_size(fixture), 990 * STORE_BYTES);
    }
}

TEST_WITH(many_small_stores_go_through_a_window, set_up, tear_down)
{
    struct fixture *fixture = *state;

    assert_int_equal(store_many(fixture, STORES_BEFORE), 0);
    assert_int_equal(file_size(fixture), fixture->length);
    assert_int_equal(store_many(fixture, 10000), 10000);
    assert_true(file_size(fixture) > fixture->length); /* room after the log */
    assert_true(script.zero_calls > 1 && script.zero_calls < 20);
    close_and_expect_length(fixture);
}

TEST_WITH(a_sync_ends_the_window, set_up, tear_down)
{
    struct fixture *fixture = *state;

    store_many(fixture, STORES_BEFORE);
    assert_true(store(fixture, STORE_BYTES));
    wal_window_synced(&fixture->window);
    assert_int_equal(store_many(fixture, STORES_BEFORE), 0);
    assert_true(store(fixture, STORE_BYTES));
    for (unsigned i = 0; i < 100; i++) {
        wal_window_synced(&fixture->window);
        assert_false(store(fixture, STORE_BYTES));
    }
    assert_null(fixture->window.base);
    close_and_expect_length(fixture);
}

/* The file is longer than the log, and grows by large steps. */
TEST_WITH(zeros_lie_ahead_of_a_log_that_is_always_synced, set_up, tear_down)
{
    struct fixture *fixture = *state;

    for (unsigned i = 0; i < 2000; i++) {
        assert_false(store(fixture, STORE_BYTES));
        if (i > 100)
            assert_true(file_size(fixture) >= fixture->length);
        wal_window_synced(&fixture->window);
    }
    assert_int_equal(file_size(fixture) % 65536, 0);
    assert_in_range(script.zero_calls, 3 * 16, 6 * 16); /* pages, one by one */
    expect_content(fixture);
    script.zeros_fail = ENOSPC;
    for (unsigned i = 0; i < 2000; i++) {
        assert_false(store(fixture, STORE_BYTES));
        wal_window_synced(&fixture->window);
    }
    close_and_expect_length(fixture);
}

TEST_WITH(large_stores_are_written, set_up, tear_down)
{
    struct fixture *fixture = *state;

    for (unsigned i = 0; i < 2 * STORES_BEFORE; i++)
        assert_false(store(fixture, 20000));
    assert_int_equal(file_size(fixture), fixture->length);
    store_many(fixture, STORES_BEFORE);
    assert_true(store(fixture, STORE_BYTES));
    assert_false(store(fixture, 1000000)); /* ends far behind the window */
    assert_true(store(fixture, STORE_BYTES));
    close_and_expect_length(fixture);
}

/* What was stored last is overwritten, as after a full disk; the window takes part, and the log
 * grows on. */
TEST_WITH(stores_need_not_follow_each_other, set_up, tear_down)
{
    struct fixture *fixture = *state;

    store_many(fixture, 100);
    fixture->length -= 5 * STORE_BYTES;
    store(fixture, 5 * STORE_BYTES);
    fixture->length -= 90 * STORE_BYTES; /* also before the window */
    store(fixture, 90 * STORE_BYTES);
    store_many(fixture, 3000);
    close_and_expect_length(fixture);
}

TEST_WITH(random_stores_and_syncs, set_up, tear_down)
{
    struct fixture *fixture = *state;

    while (fixture->length < LOG_MOST / 2) {
        unsigned percent = (unsigned)test_random_below(&fixture->random, 1000);
        size_t most = percent < 2 ? 300000 : percent < 20 ? 20000 : 400;

        store(fixture, test_random_below(&fixture->random, most));
        if (test_random_below(&fixture->random, 1000) < 5)
            wal_window_synced(&fixture->window);
        if (test_random_below(&fixture->random, 1000) < 2)
            expect_content(fixture);
    }
    assert_true(fixture->stored > 1000);
    close_and_expect_length(fixture);
}

/* Wherever the disk is full, what could be made ready stays usable by writing, and no store has
 * failed. */
TEST_WITH(without_room_everything_is_written, set_up, tear_down)
{
    struct fixture *fixture = *state;

    script.zeros_most = 1234;
    assert_int_equal(store_many(fixture, 1000), 0);
    assert_int_equal(script.zero_calls, 2); /* not tried again */
    assert_null(fixture->window.base);
    close_and_expect_length(fixture);
}

TEST_WITH(when_there_is_room_no_longer_the_window_is_left, set_up, tear_down)
{
    struct fixture *fixture = *state;
    unsigned mapped = store_many(fixture, 100);

    assert_true(mapped > 0);
    script.zeros_fail = EDQUOT;
    mapped = store_many(fixture, 5000);
    assert_true(mapped > 0 && mapped < 5000);
    assert_int_equal(store_many(fixture, 100), 0);
    close_and_expect_length(fixture);
}

TEST_WITH(pages_that_cannot_be_had_are_not_stored_to, set_up, tear_down)
{
    struct fixture *fixture = *state;

    script.populate_fails = EFAULT;
    assert_int_equal(store_many(fixture, 1000), 0);
    close_and_expect_length(fixture);
}

/* Btrfs, which writes elsewhere what is overwritten; NFS; an overlay. */
TEST_WITH(other_file_systems_are_written, set_up, tear_down)
{
    static const long others[] = {0x9123683E, 0x6969, 0x794C7630};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        wal_window_init(&fixture->window, false);
        wal_window_wrote(&fixture->window, fixture->length);
        script.file_system = others[i];
        assert_int_equal(store_many(fixture, 100), 0);
        assert_int_equal(file_size(fixture), fixture->length);
    }
    close_and_expect_length(fixture);
}

/* What was stored is in the file although the process was killed: the next one reads it. */
TEST_WITH(stores_survive_the_process, set_up, tear_down)
{
    struct fixture *fixture = *state;
    pid_t child = fork();
    int status;

    if (child == 0) {
        store_many(fixture, 3000);
        (void)raise(fixture->stored > 0 ? SIGKILL : SIGTERM);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    fixture->length = (size_t)3000 * STORE_BYTES; /* the same random bytes come here */
    test_random_init(&fixture->random, test_seed());
    for (size_t at = 0; at < fixture->length; at += STORE_BYTES)
        test_random_bytes(&fixture->random, fixture->model + at, STORE_BYTES);
    assert_true(file_size(fixture) > fixture->length);
    expect_content(fixture);
}

/* The whole file layer: stores beside syncs of the same file, which end windows at any moment. */
TEST_WITH(a_file_of_the_layer_is_as_long_as_its_log, set_up, tear_down)
{
    struct fixture *fixture = *state;
    petal_file *file;

    assert_int_equal(
        vfs_open(&vfs_posix, fixture->path, PETAL_FILE_WRITE | PETAL_FILE_CREATE, &file), 0);
    for (unsigned i = 0; i < 5000; i++) {
        uint8_t *bytes = fixture->model + fixture->length;

        test_random_bytes(&fixture->random, bytes, STORE_BYTES);
        assert_int_equal(vfs_posix.log_store(NULL, file, fixture->length, bytes, STORE_BYTES), 0);
        fixture->length += STORE_BYTES;
        if (i % 1000 == 999)
            assert_int_equal(vfs_posix.sync(NULL, file), 0);
        if (i % 1000 == 500)
            assert_true(file_size(fixture) > fixture->length);
    }
    assert_int_equal(vfs_posix.close(NULL, file), 0);
    assert_int_equal(file_size(fixture), fixture->length);
    expect_content(fixture);
}

static petal_file *layer_log;
static uint64_t layer_length;

/* How many of the stores were written. */
static unsigned
store_into_layer(unsigned count)
{
    uint8_t bytes[STORE_BYTES] = {0};
    unsigned before = script.write_calls;

    for (; count > 0; count--, layer_length += sizeof bytes)
        assert_int_equal(vfs_posix.log_store(NULL, layer_log, layer_length, bytes, sizeof bytes),
                         0);
    return script.write_calls - before;
}

static void
make_a_window(void)
{
    assert_int_equal(store_into_layer(2 * STORES_BEFORE), STORES_BEFORE);
}

/* The sync may have written its pages back, if it was made before the sync came to them. */
TEST_WITH(a_window_that_was_made_during_a_sync_ends_with_it, set_up, tear_down)
{
    struct fixture *fixture = *state;

    layer_length = 0;
    assert_int_equal(
        vfs_open(&vfs_posix, fixture->path, PETAL_FILE_WRITE | PETAL_FILE_CREATE, &layer_log), 0);
    script.while_syncing = make_a_window;
    assert_int_equal(vfs_posix.sync(NULL, layer_log), 0);
    assert_int_equal(store_into_layer(1), 1);
    assert_int_equal(vfs_posix.close(NULL, layer_log), 0);
    assert_int_equal(file_size(fixture), layer_length);
}
