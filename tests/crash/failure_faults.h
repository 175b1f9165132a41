/*
 * failure_faults.h -- file calls and allocations that fail by call site
 * (tests/crash/failure_site.h): a petal_vfs and a petal_allocator in front of those of tests/disk
 * and tests/support, which count the visits of each site and let a chosen one fail, with a chosen
 * error, once, for a while, or for good.
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

/* What a site asks for. */
enum failure_call {
    FAILURE_OPEN,
    FAILURE_CREATE, /* an opening that makes the file */
    FAILURE_CLOSE,
    FAILURE_READ,
    FAILURE_WRITE,
    FAILURE_STORE, /* into the log */
    FAILURE_SYNC,
    FAILURE_SIZE,
    FAILURE_MAP,
    FAILURE_LOCK,
    FAILURE_OPEN_DIRECTORY,
    FAILURE_SYNC_DIRECTORY,
    FAILURE_SYNC_PARENT,
    FAILURE_LIST,
    FAILURE_RENAME,
    FAILURE_LINK,
    FAILURE_REMOVE,
    FAILURE_CONTAINS,
    FAILURE_MEMORY,
    FAILURE_CALLS
};

const char *failure_call_name(enum failure_call call);

/* ---- Faults ---- */

/* An error of a read: it gives fewer bytes than the file has, and no error. */
#define FAILURE_SHORT_READ (-1)

enum failure_length { FAILURE_ONCE, FAILURE_FOR_A_WHILE, FAILURE_FOR_GOOD };

/* What a call that fails has done all the same. */
enum failure_effect {
    FAILURE_DID_NOTHING,
    FAILURE_DID_HALF, /* of its bytes; else nothing */
    FAILURE_DID_MOST, /* all bytes but one; else nothing */
    FAILURE_DID_ALL,
    FAILURE_EFFECTS
};

struct failure_plan {
    int site;       /* -1: nothing fails */
    uint64_t visit; /* of the site, from now on; 1 is the first */
    int error;
    enum failure_length length;
    unsigned while_calls; /* how many more fail for a while */
    enum failure_effect effect;
    int then;     /* a site that fails, once, when it is visited after the first; -1: none */
    bool reverts; /* a failed sync brings the old bytes back */
};

struct failure_visit {
    uint64_t count;
    enum failure_call call; /* the first of them */
};

#define FAILURE_MOST_PATHS 48

struct failure_faults {
    petal_vfs vfs;
    petal_allocator allocator;
    struct memory_vfs *disk;
    const petal_vfs *below;
    const petal_allocator *memory_below;

    pthread_mutex_t mutex; /* recursive; guards all below, and each call that can fail */
    struct failure_visit visits[FAILURE_MOST_SITES]; /* since they were forgotten */
    uint64_t unknown;                                /* calls from no site */
    struct failure_plan plan;
    uint64_t failed;  /* calls, since the plan was made */
    bool then_failed; /* at the second site of the plan */
    uint64_t failed_at[FAILURE_MOST_SITES];
    enum failure_call first;             /* what failed first */
    unsigned calls_failed;               /* bits of enum failure_call: what failed */
    char paths[FAILURE_MOST_PATHS][128]; /* what failed calls were about */
    size_t path_count;
};

/* In front of `disk` and `memory`, which outlive it. */
void failure_faults_init(struct failure_faults *faults, struct memory_vfs *disk,
                         const petal_allocator *memory);
void failure_faults_fini(struct failure_faults *faults);

/* Forget the visits, and let this fail from now on. */
void failure_faults_plan(struct failure_faults *faults, const struct failure_plan *plan);
void failure_faults_forget_visits(struct failure_faults *faults);

/* The cause passes. */
void failure_faults_heal(struct failure_faults *faults);

/* Whether a failed call was about the file of that name or path. */
bool failure_faults_names(struct failure_faults *faults, const char *path);

#endif
