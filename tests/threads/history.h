/*
 * history.h -- what some threads called and were answered, and whether there is an order of these
 * calls, each taking effect at one moment between its beginning and its end, that gives the answers
 * (linearizability; Herlihy and Wing, 1990).
 *
 * STATE. Some slots with a number each, 0 for what is not there. A CALL is a list of steps that
 * happen at once: set, add, append, copy, or find a slot to be so or not so. A call whose answer
 * comes piece by piece, as a cursor's, takes its place when it is opened and gets its steps later.
 * A TRANSACTION is one call where it begins, whose changes nobody else sees, and, when it commits
 * some, the same steps once more as a call where it commits.
 *
 * CHECKING goes forward through the calls as Wing and Gong do, and leaves out what was met before:
 * how far each thread is, with which state (Lowe, Testing for linearizability, 2017).
 *
 * Threads: each adds calls of its own; the rest when they have ended.
 */
#ifndef PETAL_TESTS_THREADS_HISTORY_H
#define PETAL_TESTS_THREADS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HISTORY_SLOTS   10
#define HISTORY_THREADS 6
#define HISTORY_CALLS   24 /* of a thread */
#define HISTORY_STEPS   32 /* of a call */

enum history_step_kind {
    HISTORY_IS, /* the slot has the value */
    HISTORY_IS_NOT,
    HISTORY_SET,
    HISTORY_ADD,
    HISTORY_APPEND, /* see history_append */
    HISTORY_COPY    /* of the slot `value` */
};

struct history_step {
    enum history_step_kind kind;
    unsigned slot;
    uint64_t value;
};

struct history_call {
    const char *name;
    uint64_t began, ended;
    bool unseen; /* its changes are seen by its own steps alone */
    unsigned count;
    struct history_step steps[HISTORY_STEPS];
};

struct history {
    unsigned threads;
    unsigned counts[HISTORY_THREADS];
    struct history_call calls[HISTORY_THREADS][HISTORY_CALLS];
    uint64_t before[HISTORY_SLOTS]; /* the state at the beginning */
};

/*
 * Whether what a thread did before a call ended is known to a thread whose call begins afterwards,
 * as it is to programs that tell one another. False where the processor sees to that anyhow, so
 * that ThreadSanitizer does not take it for an order that the library has made.
 */
extern bool history_orders_threads;

/* A new call of the thread, which begins now; NULL: it has no more. */
struct history_call *history_begin(struct history *history, unsigned thread, const char *name);
void history_end(struct history_call *call);
/* The thread's last call has not been made, or has done nothing. */
void history_take_back(struct history *history, unsigned thread);
void history_add(struct history_call *call, enum history_step_kind kind, unsigned slot,
                 uint64_t value);

/* What a text becomes by one more byte; the empty one is 0. */
uint64_t history_append(uint64_t text, uint8_t byte);

/* Whether there is an order. */
bool history_is_linearizable(const struct history *history);

/* As few slots and calls as still have no order, by the times of their beginnings. */
void history_print_least(const struct history *history, FILE *to);

#endif
