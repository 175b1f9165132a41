/*
 * state.h -- what tests/disk/vfs.c (the calls of the library) and tests/disk/control.c (those of
 * the tests) share.
 */
#ifndef PETAL_TESTS_DISK_STATE_H
#define PETAL_TESTS_DISK_STATE_H

#include "tests/disk/vfs.h"

#include <pthread.h>

struct petal_directory {
    struct memory_vfs *vfs;
    struct memory_node *node; /* counted */
    char *path;               /* by which it was opened */
    bool dead;                /* opened before a power cut */
    struct petal_directory *next;
};

struct petal_file {
    struct memory_vfs *vfs;
    struct memory_node *node; /* counted */
    char *path;
    bool writable;
    bool dead; /* opened before a power cut */
    struct petal_file *next;
};

struct memory_vfs {
    petal_vfs table;
    memory_vfs_pauser *pause; /* NULL: none */
    void *pause_argument;
    pthread_mutex_t mutex; /* guards all below; recursive, for the watcher */
    struct memory_node *root;
    struct petal_file *files; /* open ones */
    struct petal_directory *directories;
    struct lock {
        const struct memory_node *node;
        const struct petal_file *holder;
        uint64_t first, last;
        enum petal_lock how;
    } * locks;
    size_t lock_count;

    uint64_t calls;
    uint64_t fail_first, fail_last; /* numbers of the calls that fail; 0: none */
    int fail_error;
    enum memory_effect fail_effect;
    uint64_t failures;
    uint64_t cut_call; /* 0: none */
    bool off;
    enum memory_sync_failure sync_failure;
    uint64_t capacity;
    bool copy_on_write;
    int link_error; /* of all links; 0: they are made */
    bool wal_windows;
    size_t mappings; /* that were not given back */

    memory_vfs_watcher *watcher; /* NULL: none */
    void *watcher_argument;
    bool tracing;
    struct memory_vfs_call *trace; /* paths are owned */
    size_t trace_count, trace_capacity;
};

/* The functions below need the mutex, but for memory_state_visit_names. */

/* Find a file below `root`, or make it if the flags (of petal_open_flags) say so.  EISDIR for a
 * directory. */
int memory_state_file(struct memory_node *root, const char *path, unsigned flags,
                      struct memory_node **node);
int memory_state_directory(struct memory_vfs *vfs, const char *path,
                           struct memory_node **directory);

/* A copy of the names in a directory, so that they can be visited without the mutex. */
struct memory_names {
    char **names;
    size_t count;
};

struct memory_names memory_state_copy_names(struct memory_node *directory);

/* Visit all names and release the list. */
void memory_state_visit_names(struct memory_names *list,
                              void (*visit)(void *argument, const char *name), void *argument);

#endif
