/*
 * read_only_process_test.c -- read-only openings on the operating system's files: in several
 * processes, in a directory that may not be written, on a medium that cannot be.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/process.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITES 30

static const petal_options reading = {.size = sizeof reading, .read_only = true};
static const petal_options writing = {
    .size = sizeof writing, .create = true, .log_sync_interval_ms = PETAL_NEVER};

/* What a child returns beside the status of a call. */
enum { WRONG_ANSWER = 100, NOT_POSSIBLE = 101 };

/* A process writes store files and a log, and dies. */
static char *
make_database(void)
{
    char *directory = test_directory_new();
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        struct ledger ledger = {0};
        petal_db *db;
        enum petal_status made = petal_open(directory, &writing, &db, NULL);

        if (made == PETAL_OK)
            made = ledger_create(&ledger, db, NULL);
        for (uint64_t number = 1; made == PETAL_OK && number <= WRITES; number++) {
            made = ledger_write(&ledger, number, PETAL_SYNC_WAL, NULL);
            if (made == PETAL_OK && number == WRITES / 2)
                made = petal_flush(db, NULL, NULL);
        }
        _exit((int)made);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == PETAL_OK);
    return directory;
}

/* Open and read all; a status, or WRONG_ANSWER. */
static int
open_and_read(const char *directory)
{
    struct ledger ledger = {0};
    struct ledger_state state;
    petal_error error;
    petal_db *db;
    enum petal_status status = petal_open(directory, &reading, &db, &error);

    if (status != PETAL_OK) {
        if (status != PETAL_BUSY)
            fprintf(stderr, "%s\n", error.text);
        return (int)status;
    }
    status = ledger_attach(&ledger, db, &error);
    if (status == PETAL_OK)
        status = ledger_read(&ledger, &state, &error);
    if (status == PETAL_OK)
        status = ledger_verify(&ledger, &error);
    if (status != PETAL_OK)
        fprintf(stderr, "%s\n", error.text);
    else if (!ledger_is_after(&state, WRITES) ||
             ledger_write(&ledger, WRITES + 1, PETAL_SYNC_WAL, NULL) != PETAL_READ_ONLY)
        return WRONG_ANSWER;
    return petal_close(db, NULL) == PETAL_OK ? (int)status : WRONG_ANSWER;
}

static int
wait_for(pid_t child)
{
    int status = 0;

    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int
in_child(int (*action)(const char *directory), const char *directory)
{
    pid_t child = fork();

    if (child == 0)
        _exit(action(directory));
    return wait_for(child);
}

static int
open_for_writing(const char *directory)
{
    petal_db *db;
    enum petal_status status = petal_open(directory, &writing, &db, NULL);

    return status == PETAL_OK ? (int)petal_close(db, NULL) : (int)status;
}

/* ---- processes ---- */

TEST(test_processes_read_at_once)
{
    char *directory = make_database();
    struct waiting_process reader;
    petal_db *db;

    MUST(petal_open(directory, &reading, &db, WHY));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(in_child(open_and_read, directory), PETAL_OK);
    assert_int_equal(open_and_read(directory), PETAL_OK); /* in the same process, too */
    assert_int_equal(in_child(open_for_writing, directory), PETAL_OK);
    assert_int_equal(open_for_writing(directory), PETAL_OK);
    MUST(petal_close(db, WHY));
    assert_true(process_prepare(&reader, open_and_read, directory));
    MUST(petal_open(directory, &writing, &db, WHY));
    assert_int_equal(process_act(&reader), PETAL_OK);
    assert_int_equal(open_and_read(directory), PETAL_OK);
    assert_int_equal(in_child(open_for_writing, directory), PETAL_BUSY);
    MUST(petal_close(db, WHY));
    test_directory_free(directory);
}

/* Many openings in many processes; none is refused. */
static int
open_many_times(const char *directory)
{
    int status = PETAL_OK;

    for (unsigned i = 0; i < 20 && status == PETAL_OK; i++)
        status = open_and_read(directory);
    return status;
}

TEST(test_processes_open_and_close)
{
    char *directory = make_database();
    pid_t children[4];

    for (unsigned i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(open_many_times(directory));
    }
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(wait_for(children[i]), PETAL_OK);
    test_directory_free(directory);
}

TEST(test_no_thread_is_started)
{
    char *directory = make_database();
    size_t before = test_thread_count();
    petal_db *db;

    MUST(petal_open(directory, &reading, &db, WHY));
    assert_true(test_thread_count() <= before);
    MUST(petal_close(db, WHY));
    test_directory_free(directory);
}

/* ---- what cannot be written ---- */

static void
set_modes(const char *directory, mode_t file_mode, mode_t directory_mode)
{
    DIR *names;
    const struct dirent *entry;

    assert_int_equal(chmod(directory, 0700), 0);
    names = opendir(directory);
    assert_non_null(names);
    while ((entry = readdir(names)) != NULL) {
        char *path = test_path(directory, entry->d_name);

        if (entry->d_name[0] != '.')
            assert_int_equal(chmod(path, file_mode), 0);
        free(path);
    }
    (void)closedir(names);
    assert_int_equal(chmod(directory, directory_mode), 0);
}

#define NOBODY 65534

/* As somebody whom modes concern: root they do not. */
static int
read_as_nobody(const char *directory)
{
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return NOT_POSSIBLE;
    if (access(directory, X_OK) != 0)
        return NOT_POSSIBLE; /* a directory above is closed */
    return open_and_read(directory);
}

static int
write_as_nobody(const char *directory)
{
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return NOT_POSSIBLE;
    return open_for_writing(directory);
}

TEST(test_a_directory_that_may_not_be_written)
{
    char *directory = make_database();
    char *lock = test_path(directory, "LOCK");
    int answer;

    set_modes(directory, 0444, 0555);
    answer = in_child(read_as_nobody, directory);
    if (answer == NOT_POSSIBLE)
        print_message("skipped: no user can be had whom the modes of files concern\n");
    else
        assert_int_equal(answer, PETAL_OK);
    if (answer == PETAL_OK) {
        assert_int_equal(in_child(write_as_nobody, directory), PETAL_IO);
        assert_int_equal(chmod(lock, 0), 0); /* may not be opened: read without it */
        assert_int_equal(in_child(read_as_nobody, directory), PETAL_OK);
    }
    set_modes(directory, 0600, 0700);
    free(lock);
    test_directory_free(directory);
}

/* In a name space of its own, which ends with the process. */
static int
read_mounted_read_only(const char *directory)
{
    char *lock = test_path(directory, "LOCK");
    int answer;

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(directory, directory, NULL, MS_BIND, NULL) != 0 ||
        mount("none", directory, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0 ||
        open(lock, O_RDWR) >= 0 || errno != EROFS)
        return NOT_POSSIBLE;
    free(lock);
    answer = open_and_read(directory);
    if (answer != PETAL_OK)
        return answer;
    return open_for_writing(directory) == PETAL_IO ? PETAL_OK : WRONG_ANSWER;
}

TEST(test_a_medium_that_cannot_be_written)
{
    char *directory = make_database();
    char *lock = test_path(directory, "LOCK");
    int answer = in_child(read_mounted_read_only, directory);

    if (answer == NOT_POSSIBLE)
        print_message("skipped: a read-only mount cannot be had\n");
    else
        assert_int_equal(answer, PETAL_OK);
    assert_int_equal(unlink(lock), 0);
    if (answer == PETAL_OK)
        assert_int_equal(in_child(open_and_read, directory), PETAL_OK);
    assert_int_equal(access(lock, F_OK), -1);
    free(lock);
    test_directory_free(directory);
}
