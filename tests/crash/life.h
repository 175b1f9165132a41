/*
 * life.h -- the life of a process of the crash tests: it opens the database of some files, does
 * steps to it, and ends.  Before each file call that changes something the files are kept as they
 * are, with what has been promised by then: a moment, at which a crash may have ended the life.
 *
 * WHAT A MOMENT IS GOOD FOR.  A cut during a call leaves what was pending before it, and perhaps
 * what the call itself wrote.  The latter is pending at the next moment, and more is promised
 * there; so all cuts of a life are cuts at its moments, of which the last is its end.
 */
#ifndef PETAL_TESTS_CRASH_LIFE_H
#define PETAL_TESTS_CRASH_LIFE_H

#include "tests/crash/act.h"
#include "tests/crash/ledger.h"

#include <stdatomic.h>

/* ---- Steps ---- */

enum step_kind {
    STEP_END,
    STEP_WRITE, /* `a` writes of durability `b`, 0: a mixture */
    STEP_BIG,   /* the same with values that cross frames of the log */
    STEP_WIDE,  /* all columns of table `a` by one batch, over many blocks */
    STEP_LOOSE, /* `a` writes that are not logged */
    STEP_BULK,  /* `a` bulks into table `b`, each of some columns of all families that are there */
    STEP_FILL,  /* writes until `a` memtables are flushed because memory is full */
    STEP_ACT,  /* act kind `a`; table `b`; `c`: family, snapshot or first run; `d`: shape or runs */
    STEP_FULL, /* the disk has room for `a` bytes more; acts may fail from here on */
    STEP_SPACE,  /* it has room again, and they may not */
    STEP_EXPIRE, /* the brief snapshot's time to live passes */
    STEP_WAIT,   /* until the background is idle */
    STEP_REOPEN, /* close and open with options `a` */
    STEP_RANDOM  /* `a` steps of any kind */
};

struct step {
    enum step_kind kind;
    unsigned a, b, c, d;
};

/* A step of a kind, with as many of its numbers as it has; the others are 0. */
#define STEP(...) STEP_OF(__VA_ARGS__, 0, 0, 0, 0, 0)
#define STEP_OF(of_kind, first, second, third, fourth, ...)                                        \
    {                                                                                              \
        .kind = (of_kind), .a = (first), .b = (second), .c = (third), .d = (fourth)                \
    }

/* How a database is opened. */
enum life_options {
    LIFE_PLAIN,
    LIFE_MAPPED,
    LIFE_WITHOUT_CACHE,
    LIFE_SMALL_MEMTABLES,
    LIFE_BACKGROUND, /* compactions, and syncs of the log, come by themselves */
    LIFE_OPTIONS
};

/* ---- Moments ---- */

/* How many of a life's acts, from the first on, had come to a point. */
struct life_progress {
    uint32_t begun;
    uint32_t stored;  /* all writes among them survive the process */
    uint32_t synced;  /* all writes among them survive a power cut */
    uint32_t changed; /* all changes of tables among them survive both */
    uint32_t loose;   /* what these wrote without a log survives */
};

struct moment {
    struct memory_vfs *files; /* owned */
    struct life_progress progress;
    bool opened; /* the life's opening had returned */
    int64_t now_ms;
    enum memory_vfs_operation operation; /* of the call that is to come */
    char path[40];
};

/* ---- Lives ---- */

#define LIFE_MOST_ACTS 400

struct life {
    struct fixture fixture;
    bool opened;
    struct world base, now; /* after the opening; after the acts */
    struct act *acts;
    uint64_t number; /* of the next write */
    struct {
        _Atomic(uint32_t) begun, stored, synced, changed, loose;
    } progress;
    bool is_full;          /* the disk: acts may fail */
    uint32_t space_behind; /* so many acts it has room again, if that is not 0 */

    struct moment *moments;
    size_t moment_count, moment_capacity;
    uint64_t moments_seen;
    bool keeps_moments;
    size_t most_moments;       /* that are kept, a random choice; SIZE_MAX: all */
    struct test_random random; /* of the steps */
    struct test_random choice; /* of moments */
    void (*watch)(void *argument, const struct memory_vfs_call *call, const void *bytes);
    void *watch_argument; /* of who wants to be told of each call, or NULL */
};

/* `files` is owned from now on, `number` that of the first write. */
void life_init(struct life *life, struct memory_vfs *files, int64_t now_ms, uint64_t number,
               uint64_t seed);

/* From now on moments are kept, `most` of them and the last one. */
void life_keep_moments(struct life *life, size_t most);

/* Forget those that were kept; more are not. */
void life_end_moments(struct life *life);

/* Whether the call, which is to come, changes files, names, or what is durable. */
bool life_call_changes(struct life *life, const struct memory_vfs_call *call);

enum petal_status life_open(struct life *life, enum life_options options, petal_error *error);

/* The database was read, and holds this. */
void life_begins_with(struct life *life, const struct world *world);

/* False: an act failed that should not have, if `must`; the steps end there.  Else they go on. */
void life_do(struct life *life, const struct step *steps, bool must);

/* The disk has room for `bytes` more, and acts may fail; or it has room again. */
void life_fill_disk(struct life *life, uint64_t bytes);
void life_free_disk(struct life *life);

/* The process ends: by closing, else by death.  The last moment is kept. */
enum petal_status life_end(struct life *life, bool closes, petal_error *error);

/* Releases all, moments too. */
void life_fini(struct life *life);

#endif
