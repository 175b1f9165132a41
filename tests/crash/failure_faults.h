/*
 * failure_faults.h -- file calls and allocations that fail by call site
 * (tests/crash/failure_site.h): a watcher of the files in memory (tests/disk/vfs.h) and an
 * allocator in front of another count the visits of each site and let a chosen one fail, with a
 * chosen error, once, for a while, or for good.
 *
 * Threads: all functions from any thread; but planning and healing while the library works decides
 * nothing about calls that are under way.
 */
#ifndef PETAL_TESTS_CRASH_FAILURE_FAULTS_H
#define PETAL_TESTS_CRASH_FAILURE_FAULTS_H

#include "tests/crash/failure_site.h"
#include "tests/disk/vfs.h"

#include <pthread.h>

/* ---- Sites ---- */

#define FAILURE_MOST_SITES 600

/* All sites of the program, each once; how many there are. */
size_t failure_sites_find(void);
const struct failure_site *failure_site_at(size_t number);

/* What a site asks for: a call of enum memory_vfs_operation, or one of these. */
enum {
    FAILURE_CREATE = MEMORY_VFS_FREE_BYTES + 1, /* an opening that makes the file */
    FAILURE_MEMORY
};

/* ---- Faults ---- */

enum failure_length { FAILURE_ONCE, FAILURE_FOR_A_WHILE, FAILURE_FOR_GOOD };

struct failure_plan {
    int site;       /* -1: nothing fails */
    uint64_t visit; /* of the site, from now on; 1 is the first */
    int error;
    enum failure_length length;
    unsigned while_calls; /* how many more fail for a while */
    enum memory_effect effect;
    int then;     /* a site that fails, once, when it is visited after the first; -1: none */
    bool reverts; /* a failed sync brings the old bytes back */
};

struct failure_visit {
    uint64_t count;
    unsigned call; /* the first of them */
};

#define FAILURE_MOST_PATHS 200

struct failure_faults {
    petal_allocator allocator;
    struct memory_vfs *disk;
    const petal_allocator *memory_below;

    pthread_mutex_t mutex; /* guards all below; taken under that of the disk, too */
    struct failure_visit visits[FAILURE_MOST_SITES]; /* since they were forgotten */
    uint64_t unknown;                                /* calls from no site */
    struct failure_plan plan;
    uint64_t failed;  /* calls, since the plan was made */
    bool then_failed; /* at the second site of the plan */
    uint64_t failed_at[FAILURE_MOST_SITES];
    unsigned first;                      /* what failed first */
    unsigned calls_failed;               /* a bit for each that failed */
    unsigned failed_but_stores;          /* the same without calls on store files */
    char paths[FAILURE_MOST_PATHS][128]; /* what failed calls were about */
    size_t path_count;
};

/* Of `disk`, which it watches, and `memory`, which outlive it. */
void failure_faults_init(struct failure_faults *faults, struct memory_vfs *disk,
                         const petal_allocator *memory);

/* Calls that the test makes itself are not watched. */
void failure_faults_watch(struct failure_faults *faults, bool watch);
void failure_faults_fini(struct failure_faults *faults);

/* Forget the visits, and let this fail from now on. */
void failure_faults_plan(struct failure_faults *faults, const struct failure_plan *plan);

/* The cause passes. */
void failure_faults_heal(struct failure_faults *faults);

/* Whether a failed call was about the file of that name or path. */
bool failure_faults_names(struct failure_faults *faults, const char *path);

#endif
