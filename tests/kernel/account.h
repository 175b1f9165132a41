/*
 * account.h -- what is known of a database that goes through power cuts: what its victims began and
 * what was acknowledged to them, in memory that outlives them.
 *
 * MOMENTS.  One counter gives each beginning and each acknowledgement its place in one order of
 * all threads. What was acknowledged before something else began comes before it in the log.
 *
 * LIVES.  A life is what one victim did. Its account stays in force until another victim has opened
 * the database and found it right: only then the other life, which begins with what was found,
 * becomes the current one. So a victim may be cut off anywhere, and the account is never half made.
 */
#ifndef PETAL_TESTS_KERNEL_ACCOUNT_H
#define PETAL_TESTS_KERNEL_ACCOUNT_H

#include "engine/petal.h"

#include <stdatomic.h>

#define ACCOUNT_WRITERS  4
#define ACCOUNT_WRITES   4000 /* of one writer in one life, at most */
#define ACCOUNT_UNLOGGED 12   /* rows that are written without the log */

struct account_write {
    _Atomic(uint64_t) began, acknowledged; /* moments; 0: not yet */
    _Atomic(bool) synced;                  /* it was asked to be on the medium */
};

enum account_copy { COPY_NONE, COPY_BEGUN, COPY_DONE };

struct account_life {
    _Atomic(uint64_t) cut; /* the moment before the disk went; 0: it is there */
    /* Of each writer: the number of its last write when the life began, which is on the medium, and
     * of the last one begun; write n is writes[n - first - 1]. */
    uint64_t first[ACCOUNT_WRITERS];
    _Atomic(uint64_t) attempted[ACCOUNT_WRITERS];
    struct account_write writes[ACCOUNT_WRITERS][ACCOUNT_WRITES];
    /* All that was acknowledged before this moment is on the medium. */
    _Atomic(uint64_t) durable;
    /* Of each unlogged row: what a flush has brought to the medium, what was written at most. */
    _Atomic(uint64_t) least[ACCOUNT_UNLOGGED], most[ACCOUNT_UNLOGGED];
    /* Steps of changes of the schema: those done, and those begun. */
    _Atomic(uint64_t) steps_done, steps_begun;
    /* A checkpoint, and the moment at which it began. */
    _Atomic(enum account_copy) copy;
    _Atomic(uint64_t) copy_began;
};

/* What an opening found. */
struct account_found {
    uint64_t numbers[ACCOUNT_WRITERS]; /* of the last write of each that is there */
    uint64_t unlogged[ACCOUNT_UNLOGGED];
    uint64_t steps;
};

struct account {
    _Atomic(uint64_t) moment;
    _Atomic(unsigned) current; /* of the lives */
    _Atomic(bool) disk_is_there;
    _Atomic(uint64_t) cut; /* the moment of the latest */
    /* Processes only have died since the last look: what the kernel had is there. */
    _Atomic(bool) kernel_lives;
    struct account_life lives[2];
    _Atomic(bool) opened; /* by the victim that runs now, and found right */
    _Atomic(bool) failed;
    char failure[1024];
    _Atomic(uint64_t) writes, synced_writes, flushes, compactions, checkpoints, steps, lost_writes;
    _Atomic(uint64_t) openings;
};

struct account_life *account_life(struct account *account);
uint64_t account_moment(struct account *account);

/* Nothing is there, and nothing was written. */
void account_reset(struct account *account);

/* Begin a life with what was found. */
void account_begin(struct account *account, const struct account_found *found);

/* The disk goes now, and comes back before the next process begins. */
void account_note_cut(struct account *account);

/* A process has died, and nothing else. */
void account_note_death(struct account *account);

/* What was acknowledged before `moment` is on the medium, if the disk is there. */
void account_note_durable(struct account *account, uint64_t moment);

/*
 * Whether the writes up to these numbers may be what a power cut left: all are there that were
 * synced or brought to the medium otherwise, and none without those before it; all that were
 * acknowledged where no power was cut. A checkpoint is
 * asked for what came before the moment at which it began, and for no write that was synced later.
 * Says what is wrong.
 */
bool account_admits_writes(const struct account *account, const uint64_t *numbers, char *why,
                           size_t bytes);
bool account_admits_copy(const struct account_life *life, const uint64_t *numbers, char *why,
                         size_t bytes);
bool account_admits_unlogged(const struct account_life *life, const uint64_t *numbers, char *why,
                             size_t bytes);

/* A failed call is the end of a thread's life, and not wrong, from the moment on at which the disk
 * goes: for victims. */
void account_expect_the_end(void);

/* Keep the first failure and end the process. */
void account_fail(struct account *account, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
/* A call that failed is a failure, unless the end was expected. */
void account_must(struct account *account, enum petal_status status, const petal_error *error,
                  const char *action);

#endif
