/*
 * sequence.h -- crashes in sequence: what a crash leaves is opened and checked, works on, and is
 * cut again.
 *
 * Many crashes leave the same bytes.  Then the database is opened once, and what it held is
 * compared with what each of these crashes lets it hold.
 */
#ifndef PETAL_TESTS_CRASH_SEQUENCE_H
#define PETAL_TESTS_CRASH_SEQUENCE_H

#include "tests/crash/aftermath.h"
#include "tests/crash/crash.h"
#include "tests/crash/seen.h"

#define SEQUENCE_DEPTH 3 /* crashes one after the other, at most */

struct sequence {
    struct seen seen;
    unsigned depth;          /* crashes one after the other */
    size_t moments_behind;   /* of each life but the first, of which, or its end, one is tried */
    size_t moments_of_trust; /* the same of one that goes by the page cache */

    /* What was tried: states by the crashes before them. */
    uint64_t states[SEQUENCE_DEPTH + 1], distinct, deaths;

    /* How the present state came about; the first line is the caller's. */
    char trail[SEQUENCE_DEPTH + 1][200];
    unsigned trail_depth;
};

/* The life, the first one of a sequence, ends at a moment by the crash; what is left is checked,
 * and lives on. */
void sequence_crash(struct sequence *sequence, const struct life *life, const struct moment *moment,
                    const struct crash *crash, uint64_t seed);

uint64_t sequence_states(const struct sequence *sequence);

/* Print how the present state came about, if it ended the test. */
void sequence_print_trail(struct sequence *sequence);

#endif
