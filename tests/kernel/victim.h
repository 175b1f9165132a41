/*
 * victim.h -- the life of a process whose disk is going to fail: four writers at all durabilities,
 * one thread that changes the schema, one that flushes, compacts, copies, and writes past the log.
 */
#ifndef PETAL_TESTS_KERNEL_VICTIM_H
#define PETAL_TESTS_KERNEL_VICTIM_H

#include "tests/kernel/account.h"

#include <stdnoreturn.h>

/* Of the database and of the checkpoint that a victim makes. */
struct places {
    const char *database, *copy;
};

/* Opens, finds out whether what is there is what the account admits, begins a life and works until
 * it is killed. Ends by itself only when something is wrong. */
noreturn void victim_live(struct account *account, const struct places *places, uint64_t seed);

/* Only looks; the disk stays. Ends the process when something is wrong, else returns and the
 * database is closed. `thorough`: every block, the copy, and a second opening. */
void victim_look(struct account *account, const struct places *places, uint64_t seed,
                 bool thorough);

#endif
