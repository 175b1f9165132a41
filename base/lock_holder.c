/* lock_holder.c -- see lock_holder.h. */
#include "base/lock_holder.h"

#include "base/error.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__

#define MOST_DESCRIPTORS 100000
#define FACTS_BYTES      4096 /* of one descriptor in /proc, or of a process' name */

struct search {
    struct stat file;
    char name[256]; /* of the file, behind its last slash: what else is open is not asked about */
    unsigned left;  /* descriptors that may be looked at */
    unsigned found; /* processes */
    long process;   /* the first of them */
    bool is_this_process;
};

/* The file's name, with its slash; 0: it has none. */
static size_t
last_name(int directory, const char *link, char *name, size_t name_bytes)
{
    char path[4096];
    ssize_t size = readlinkat(directory, link, path, sizeof path - 1);
    const char *slash;

    if (size <= 0)
        return 0;
    path[size] = '\0';
    slash = strrchr(path, '/');
    if (slash == NULL || strlen(slash) >= name_bytes)
        return 0;
    memcpy(name, slash, strlen(slash) + 1);
    return strlen(slash);
}

/* Read all of a small file of /proc as a string. */
static bool
read_facts(int directory, const char *name, char *facts)
{
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
    ssize_t size;

    if (file < 0)
        return false;
    size = read(file, facts, FACTS_BYTES - 1);
    (void)close(file);
    facts[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* Does the open descriptor `number` of the process hold a lock on the file? */
static bool
holds_lock(const struct search *search, int process, int descriptors, const char *number)
{
    char name[sizeof search->name], path[64], facts[FACTS_BYTES];
    struct stat file;

    if (last_name(descriptors, number, name, sizeof name) == 0 || strcmp(name, search->name) != 0 ||
        fstatat(descriptors, number, &file, 0) != 0 || file.st_dev != search->file.st_dev ||
        file.st_ino != search->file.st_ino)
        return false;
    (void)snprintf(path, sizeof path, "fdinfo/%.40s", number);
    return read_facts(process, path, facts) && strstr(facts, "\nlock:") != NULL;
}

static void
search_process(struct search *search, int process, long id)
{
    int descriptors = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = descriptors >= 0 ? fdopendir(descriptors) : NULL;
    const struct dirent *entry;
    bool holds = false;

    while (listing != NULL && !holds && search->left > 0 && (entry = readdir(listing)) != NULL) {
        search->left--;
        holds = holds_lock(search, process, descriptors, entry->d_name);
    }
    if (listing != NULL)
        (void)closedir(listing);
    else if (descriptors >= 0)
        (void)close(descriptors);
    if (!holds)
        return;
    if (search->found++ == 0)
        search->process = id;
    search->is_this_process = search->is_this_process || id == (long)getpid();
}

/* Processes are the folders of /proc whose names are numbers. */
static void
search_processes(struct search *search, DIR *processes)
{
    const struct dirent *entry;

    while (search->left > 0 && (entry = readdir(processes)) != NULL) {
        char *end;
        long id = strtol(entry->d_name, &end, 10);
        int process;

        if (id <= 0 || *end != '\0')
            continue;
        process = openat(dirfd(processes), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (process < 0)
            continue;
        search_process(search, process, id);
        (void)close(process);
    }
}

static void
describe(const struct search *search, int processes, char *text, size_t text_bytes)
{
    char path[64], program[FACTS_BYTES], quoted[64] = "", others[48] = "";

    (void)snprintf(path, sizeof path, "%ld/comm", search->process);
    if (read_facts(processes, path, program)) {
        program[strcspn(program, "\n")] = '\0';
        (void)error_quote((petal_slice){program, strlen(program)}, quoted, sizeof quoted);
    }
    if (search->found > 1)
        (void)snprintf(others, sizeof others, " and %u more", search->found - 1);
    (void)snprintf(text, text_bytes, quoted[0] != '\0' ? "process %ld (%s)%s" : "process %ld%s%s",
                   search->process, quoted, others);
}

bool
lock_holder_describe(int descriptor, char *text, size_t text_bytes)
{
    struct search search = {.left = MOST_DESCRIPTORS};
    char own[64];
    DIR *processes;

    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", descriptor);
    if (fstat(descriptor, &search.file) != 0 ||
        last_name(AT_FDCWD, own, search.name, sizeof search.name) == 0)
        return false;
    processes = opendir("/proc");
    if (processes == NULL)
        return false;
    search_processes(&search, processes);
    if (search.is_this_process)
        (void)snprintf(text, text_bytes, "this process");
    else if (search.found > 0)
        describe(&search, dirfd(processes), text, text_bytes);
    (void)closedir(processes);
    return search.found > 0;
}

#else

bool
lock_holder_describe(int descriptor, char *text, size_t text_bytes)
{
    (void)descriptor;
    (void)text;
    (void)text_bytes;
    return false;
}

#endif
