/*
 * vfs_posix_test.c -- what only the operating system's file layer has: modes, symbolic links, locks
 * between processes, and how it takes interrupted, short and failing system calls.
 *
 * For the last, this program defines pread, pwrite, fdatasync, fsync and close itself: they stand
 * before those of the C library, do as `script` says, and otherwise make the system call.
 */
#include "base/vfs_posix.h"
#include "tests/disk/paths.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE (PETAL_FILE_WRITE | PETAL_FILE_CREATE)

/* ---- System calls that do as told ---- */

struct script {
    unsigned interrupt; /* that many calls end with EINTR */
    size_t at_most;     /* bytes that one transfer moves; 0: no limit */
    int error;          /* the next call fails with it, once */
    bool no_progress;   /* a write moves nothing and reports no error */
    unsigned calls;     /* counted, of all kinds */
};

static struct script script;

/* Whether this call fails, with errno set. */
static bool
fails_by_script(void)
{
    script.calls++;
    if (script.interrupt > 0) {
        script.interrupt--;
        errno = EINTR;
        return true;
    }
    if (script.error != 0) {
        errno = script.error;
        script.error = 0;
        return true;
    }
    return false;
}

static size_t
limited(size_t size)
{
    return script.at_most != 0 && size > script.at_most ? script.at_most : size;
}

ssize_t
pread(int descriptor, void *buffer, size_t size, off_t offset)
{
    return fails_by_script() ? -1 : syscall(SYS_pread64, descriptor, buffer, limited(size), offset);
}

ssize_t
pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    if (fails_by_script())
        return -1;
    if (script.no_progress)
        return 0;
    return syscall(SYS_pwrite64, descriptor, bytes, limited(size), offset);
}

int
fdatasync(int descriptor)
{
    return fails_by_script() ? -1 : (int)syscall(SYS_fdatasync, descriptor);
}

int
fsync(int descriptor)
{
    return fails_by_script() ? -1 : (int)syscall(SYS_fsync, descriptor);
}

int
close(int descriptor)
{
    bool fails = script.error != 0 && fails_by_script();
    int error = errno;
    int result = (int)syscall(SYS_close, descriptor); /* as the kernel does, also when it fails */

    if (fails)
        errno = error;
    return fails ? -1 : result;
}

/* ---- Fixture: an open file in a directory of its own ---- */

struct fixture {
    char *directory, *path;
    petal_directory *opened;
    petal_file *file;
};

static int
set_up(void **state)
{
    struct fixture *fixture = test_allocate(sizeof(*fixture));

    memset(&script, 0, sizeof(script));
    fixture->directory = test_directory_new();
    fixture->path = test_path(fixture->directory, "file");
    *state = fixture;
    return vfs_posix.open_directory(NULL, fixture->directory, false, &fixture->opened) != 0 ||
           vfs_posix.open(NULL, fixture->opened, "file", CREATE, &fixture->file) != 0;
}

static int
tear_down(void **state)
{
    struct fixture *fixture = *state;

    memset(&script, 0, sizeof(script));
    if (fixture->file != NULL)
        (void)vfs_posix.close(NULL, fixture->file);
    vfs_posix.close_directory(NULL, fixture->opened);
    free(fixture->path);
    test_directory_free(fixture->directory);
    free(fixture);
    return 0;
}

/* ---- Transfers ---- */

TEST_WITH(short_and_interrupted_transfers_are_completed, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char buffer[32] = "";
    size_t got;

    script = (struct script){.interrupt = 3, .at_most = 3};
    assert_int_equal(vfs_posix.write_at(NULL, fixture->file, 5, "0123456789", 10), 0);
    assert_int_equal(script.calls, 3 + 4);
    script = (struct script){.interrupt = 2, .at_most = 4};
    assert_int_equal(vfs_posix.read_at(NULL, fixture->file, 5, buffer, sizeof(buffer), &got), 0);
    assert_int_equal(got, 10);
    assert_string_equal(buffer, "0123456789");
    script = (struct script){.interrupt = 1, .at_most = 1};
    assert_int_equal(vfs_posix.log_store(NULL, fixture->file, 0, "abc", 3), 0);
    assert_int_equal(script.calls, 1 + 3);
}

/* Also after the end, and of more than a file can have. */
TEST_WITH(hints_are_taken_for_any_range, set_up, tear_down)
{
    static const uint64_t places[] = {0, 5, 1 << 20, INT64_MAX - 4096, INT64_MAX, UINT64_MAX};
    static const uint64_t sizes[] = {0, 1, 4096, 1 << 20};
    struct fixture *fixture = *state;
    char buffer[4] = "";
    size_t got;

    assert_int_equal(vfs_posix.write_at(NULL, fixture->file, 0, "abcd", 4), 0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            vfs_posix.read_ahead(NULL, fixture->file, places[i], sizes[k]);
    }
    vfs_posix.read_ahead(NULL, fixture->file, 0, UINT64_MAX);
    assert_int_equal(vfs_posix.read_at(NULL, fixture->file, 0, buffer, 4, &got), 0);
    assert_int_equal(got, 4);
    assert_memory_equal(buffer, "abcd", 4);
}

TEST_WITH(failing_transfers_are_returned, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char buffer[8];
    size_t got = 1;

    script.error = EIO;
    assert_int_equal(vfs_posix.read_at(NULL, fixture->file, 0, buffer, 8, &got), EIO);
    assert_int_equal(got, 0);
    script = (struct script){.error = ENOSPC};
    assert_int_equal(vfs_posix.write_at(NULL, fixture->file, 0, "abcd", 4), ENOSPC);
    assert_int_equal(script.calls, 1);
    script = (struct script){.no_progress = true};
    assert_int_equal(vfs_posix.write_at(NULL, fixture->file, 0, "abcd", 4), EIO);
}

/* The kernel's own short write: the limit lets the first half pass, then fails. */
TEST_WITH(a_write_over_the_file_size_limit_fails, set_up, tear_down)
{
    struct fixture *fixture = *state;
    struct rlimit old, low;
    void (*old_handler)(int) = signal(SIGXFSZ, SIG_IGN);
    char bytes[2000] = "";
    int error;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = (struct rlimit){.rlim_cur = 1000, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    error = vfs_posix.write_at(NULL, fixture->file, 0, bytes, sizeof(bytes));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, old_handler);
    assert_int_equal(error, EFBIG);
}

/* ---- Syncs and close ---- */

TEST_WITH(a_failed_sync_is_returned_and_not_tried_again, set_up, tear_down)
{
    struct fixture *fixture = *state;

    script.error = EIO;
    assert_int_equal(vfs_posix.sync(NULL, fixture->file), EIO);
    assert_int_equal(script.calls, 1);
    script = (struct script){.error = EIO};
    assert_int_equal(vfs_posix.sync_directory(NULL, fixture->opened), EIO);
    assert_int_equal(script.calls, 1);
}

TEST_WITH(an_interrupted_sync_goes_on, set_up, tear_down)
{
    struct fixture *fixture = *state;

    script.interrupt = 2;
    assert_int_equal(vfs_posix.sync(NULL, fixture->file), 0);
    assert_int_equal(script.calls, 3);
    script = (struct script){.interrupt = 2};
    assert_int_equal(vfs_posix.sync_directory(NULL, fixture->opened), 0);
    assert_int_equal(script.calls, 3);
}

TEST_WITH(a_failed_close_is_returned_and_has_closed, set_up, tear_down)
{
    struct fixture *fixture = *state;
    petal_file *file;
    int before = dup(STDIN_FILENO), after;

    (void)close(before);
    assert_int_equal(vfs_open(&vfs_posix, fixture->path, PETAL_FILE_READ, &file), 0);
    script.error = EIO;
    assert_int_equal(vfs_posix.close(NULL, file), EIO);
    after = dup(STDIN_FILENO);
    assert_int_equal(after, before); /* the lowest free descriptor is the same again */
    (void)close(after);
}

/* ---- Modes and links ---- */

TEST_WITH(what_is_created_is_the_owners_alone, set_up, tear_down)
{
    struct fixture *fixture = *state;
    mode_t old_mask = umask(0);
    char *directory = test_path(fixture->directory, "directory");
    char *path = test_path(fixture->directory, "other");
    struct stat status;
    petal_file *file;

    assert_int_equal(vfs_open(&vfs_posix, path, CREATE, &file), 0);
    assert_int_equal(vfs_make_directory(&vfs_posix, directory), 0);
    (void)umask(old_mask);
    assert_int_equal(vfs_posix.close(NULL, file), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    free(path);
    free(directory);
}

TEST_WITH(a_symbolic_link_is_refused, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char *link = test_path(fixture->directory, "link");
    char *dangling = test_path(fixture->directory, "dangling");
    char *target = test_path(fixture->directory, "target");
    petal_file *file;

    assert_int_equal(symlink("file", link), 0);
    assert_int_equal(symlink("target", dangling), 0);
    assert_int_equal(vfs_open(&vfs_posix, link, PETAL_FILE_READ, &file), ELOOP);
    assert_int_equal(vfs_open(&vfs_posix, link, PETAL_FILE_WRITE, &file), ELOOP);
    assert_int_equal(vfs_open(&vfs_posix, dangling, CREATE, &file), ELOOP);
    assert_null(file);
    assert_int_equal(access(target, F_OK), -1);

    /* Remove and rename take the link itself. */
    assert_int_equal(vfs_remove(&vfs_posix, link), 0);
    assert_int_equal(access(fixture->path, F_OK), 0);
    assert_int_equal(vfs_rename(&vfs_posix, fixture->path, dangling), 0);
    assert_int_equal(access(target, F_OK), -1);
    free(link);
    free(dangling);
    free(target);
}

TEST_WITH(a_directory_may_be_reached_by_a_link, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char *link = test_path(fixture->directory, "link");
    char *path = test_path(link, "file");
    petal_file *file;

    assert_int_equal(symlink(".", link), 0);
    assert_int_equal(vfs_sync_directory(&vfs_posix, link), 0);
    assert_int_equal(vfs_open(&vfs_posix, path, PETAL_FILE_READ, &file), 0);
    assert_int_equal(vfs_posix.close(NULL, file), 0);
    free(link);
    free(path);
}

/* Opening a pipe for reading would wait for a writer. */
static bool
contains(struct fixture *fixture, const char *name)
{
    char *path = test_path(fixture->directory, name);
    bool found = false;

    assert_int_equal(vfs_posix.contains(NULL, fixture->opened, path, &found), 0);
    free(path);
    return found;
}

/* By the directories that links lead to, not by how paths are spelled. */
TEST_WITH(what_a_directory_contains_is_found_over_links, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char *other = test_directory_new();
    char *inside = test_path(fixture->directory, "inside");
    char *link_out = test_path(fixture->directory, "out");
    char *link_in = test_path(other, "in");
    char *dangling = test_path(fixture->directory, "dangling");
    char *path = test_path(other, "in/new");
    bool found;

    assert_int_equal(vfs_make_directory(&vfs_posix, inside), 0);
    assert_int_equal(symlink(other, link_out), 0);
    assert_int_equal(symlink(inside, link_in), 0);
    assert_int_equal(symlink("nowhere", dangling), 0);
    assert_true(contains(fixture, "inside/new"));
    assert_true(contains(fixture, "inside/.."));
    assert_false(contains(fixture, "inside/../.."));
    assert_false(contains(fixture, "out"));
    assert_false(contains(fixture, "out/new"));
    assert_true(contains(fixture, "out/in/new"));
    assert_true(contains(fixture, "dangling")); /* its name is there */
    assert_int_equal(vfs_posix.contains(NULL, fixture->opened, path, &found), 0);
    assert_true(found);
    assert_int_equal(vfs_posix.contains(NULL, fixture->opened, "new", &found), 0);
    assert_false(found);
    assert_int_equal(rmdir(inside), 0);
    free(inside);
    free(link_out);
    free(link_in);
    free(dangling);
    free(path);
    test_directory_free(other);
}

TEST_WITH(a_pipe_is_refused_at_once, set_up, tear_down)
{
    struct fixture *fixture = *state;
    char *pipe_path = test_path(fixture->directory, "pipe");
    petal_file *file;

    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(vfs_open(&vfs_posix, pipe_path, PETAL_FILE_READ, &file), EINVAL);
    assert_int_equal(vfs_open(&vfs_posix, pipe_path, PETAL_FILE_WRITE, &file), EINVAL);
    assert_null(file);
    free(pipe_path);
}

TEST_WITH(descriptors_do_not_pass_to_other_programs, set_up, tear_down)
{
    struct fixture *fixture = *state;
    int next = dup(STDIN_FILENO);
    petal_file *file;

    (void)close(next); /* the descriptor that the next open gets */
    assert_int_equal(vfs_open(&vfs_posix, fixture->path, PETAL_FILE_READ, &file), 0);
    assert_int_equal(fcntl(next, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(vfs_posix.close(NULL, file), 0);
}

/* ---- Locks between processes ---- */

/* What locking the file gives to an opener in a forked child. */
static int
lock_in_child(const char *path, bool shared)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        petal_file *file;
        int error = vfs_open(&vfs_posix, path, shared ? PETAL_FILE_READ : PETAL_FILE_WRITE, &file);

        _exit(error != 0 ? error
                         : vfs_posix.lock(NULL, file, 0, 0,
                                          shared ? PETAL_LOCK_SHARED : PETAL_LOCK_EXCLUSIVE));
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST_WITH(a_forked_child_cannot_take_the_lock, set_up, tear_down)
{
    struct fixture *fixture = *state;

    assert_int_equal(vfs_posix.lock(NULL, fixture->file, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    assert_int_equal(lock_in_child(fixture->path, false), EAGAIN);
    assert_int_equal(lock_in_child(fixture->path, true), EAGAIN);
    /* The child's end, which closed its copy of the descriptor, has not freed the lock. */
    assert_int_equal(lock_in_child(fixture->path, false), EAGAIN);
    assert_int_equal(vfs_posix.close(NULL, fixture->file), 0);
    fixture->file = NULL;
    assert_int_equal(lock_in_child(fixture->path, false), 0);
}

TEST_WITH(a_forked_child_can_share_a_shared_lock, set_up, tear_down)
{
    struct fixture *fixture = *state;

    assert_int_equal(vfs_posix.lock(NULL, fixture->file, 0, 0, PETAL_LOCK_SHARED), 0);
    assert_int_equal(lock_in_child(fixture->path, true), 0);
    assert_int_equal(lock_in_child(fixture->path, false), EAGAIN);
    assert_int_equal(vfs_posix.close(NULL, fixture->file), 0);
    fixture->file = NULL;
    assert_int_equal(lock_in_child(fixture->path, false), 0);
}

/* In a child: take the lock, say so, wait to be killed. */
static _Noreturn void
hold_lock(const char *path, int report)
{
    petal_file *file;
    char result = 0;

    if (vfs_open(&vfs_posix, path, PETAL_FILE_WRITE, &file) == 0 &&
        vfs_posix.lock(NULL, file, 0, 0, PETAL_LOCK_EXCLUSIVE) == 0)
        result = 1;
    if (write(report, &result, 1) != 1)
        _exit(1);
    for (;;)
        (void)pause();
}

TEST_WITH(the_lock_of_a_killed_process_is_free, set_up, tear_down)
{
    struct fixture *fixture = *state;
    int report[2];
    char result = 0;
    pid_t holder;

    assert_int_equal(pipe(report), 0);
    holder = fork();
    if (holder == 0)
        hold_lock(fixture->path, report[1]);
    assert_true(holder > 0);
    assert_int_equal(read(report[0], &result, 1), 1);
    assert_int_equal(result, 1);
    assert_int_equal(vfs_posix.lock(NULL, fixture->file, 0, 0, PETAL_LOCK_EXCLUSIVE), EAGAIN);
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    assert_int_equal(vfs_posix.lock(NULL, fixture->file, 0, 0, PETAL_LOCK_EXCLUSIVE), 0);
    (void)close(report[0]);
    (void)close(report[1]);
}

/* Offsets come from files that may be damaged. */
TEST_WITH(no_offset_is_behind_what_a_file_may_have, set_up, tear_down)
{
    struct fixture *fixture = *state;
    const uint64_t most = INT64_MAX;
    const void *memory;
    char bytes[8];
    size_t got = 1;

    assert_int_equal(vfs_posix.write_at(NULL, fixture->file, 0, "contents", 8), 0);
    assert_int_equal(vfs_posix.read_at(NULL, fixture->file, most + 1, bytes, 8, &got), 0);
    assert_int_equal(got, 0);
    got = 1;
    assert_int_equal(vfs_posix.read_at(NULL, fixture->file, most - 4, bytes, 8, &got), 0);
    assert_int_equal(got, 0);
    assert_int_equal(vfs_posix.write_at(NULL, fixture->file, most + 1, "x", 1), EFBIG);
    assert_int_equal(vfs_posix.write_at(NULL, fixture->file, most - 4, bytes, 8), EFBIG);
    assert_int_equal(vfs_posix.map(NULL, fixture->file, 0, &memory), EINVAL);
    assert_null(memory);
    assert_int_equal(vfs_posix.map(NULL, fixture->file, most + 1, &memory), EINVAL);
    assert_null(memory);
}
