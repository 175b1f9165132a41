/* directory.c -- see tools/bench/harness/directory.h. */
#include "tools/bench/harness/directory.h"

#include "tools/bench/harness/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void
bench_remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    if (directory == NULL)
        return;
    while ((entry = readdir(directory)) != NULL) {
        char name[1024];
        struct stat status;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (lstat(name, &status) == 0 && S_ISDIR(status.st_mode))
            bench_remove_directory(name);
        else
            unlink(name);
    }
    closedir(directory);
    rmdir(path);
}

void
bench_need_directory(const char *path)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        bench_fail("make a directory", path);
}

/* ---- the broom ---- */

/* The names that come until nobody is left who could send one, each with its end; their size. */
static size_t
take_names(int from, char **names)
{
    size_t used = 0, capacity = 0;
    ssize_t taken;

    *names = NULL;
    do {
        if (used == capacity) {
            char *grown = realloc(*names, capacity += 4096);

            if (grown == NULL)
                _exit(3);
            *names = grown;
        }
        taken = read(from, *names + used, capacity - used);
        used += taken > 0 ? (size_t)taken : 0;
    } while (taken > 0 || (taken < 0 && errno == EINTR));
    return used;
}

/* It ends last, whatever is sent to those that it waits for, and keeps nobody waiting who reads
 * what they print. */
static void
stand_aside(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    int nowhere = open("/dev/null", O_RDWR);

    (void)setsid();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_IGN);
    for (int standard = STDIN_FILENO; nowhere >= 0 && standard <= STDERR_FILENO; standard++)
        (void)dup2(nowhere, standard);
}

static void
sweep(int from)
{
    char *names;
    size_t size;

    stand_aside();
    size = take_names(from, &names);
    for (size_t at = 0; at < size; at += strlen(names + at) + 1)
        bench_remove_directory(names + at);
    _exit(0);
}

/* Starts it, and returns where it is told names. All that this process forks has that open, too. */
static int
start_broom(void)
{
    int ends[2];
    pid_t broom = -1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
        broom = fork();
    if (broom < 0)
        bench_fail("start a process", strerror(errno));
    if (broom == 0) {
        (void)close(ends[0]);
        sweep(ends[1]);
    }
    (void)close(ends[1]);
    return ends[0];
}

void
bench_make_directory(char *path, size_t path_bytes)
{
    static int broom = -1;
    const char *base = getenv("TMPDIR");

    if (broom < 0)
        broom = start_broom();
    snprintf(path, path_bytes, "%s/kv-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(path) == NULL)
        bench_fail("make a directory", path);
    /* Somebody may have ended it: then a directory is left if this process is ended, too. */
    (void)send(broom, path, strlen(path) + 1, MSG_NOSIGNAL);
}
