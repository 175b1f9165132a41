/* victim.h -- the life of a process that is to be killed: writers, readers and upkeep on one
 * database. */
#ifndef PETAL_TESTS_SOAK_VICTIM_H
#define PETAL_TESTS_SOAK_VICTIM_H

#include "tests/soak/database.h"

/* Returns, after a clean close, when shared->stop is set. Only when `write` is set anything is
 * written; then no slot may be under way. */
void soak_victim(struct soak_shared *shared, uint64_t seed, bool write);

/* Flush, compact, alter, copy and check the copies, now and then, until shared->stop: the argument
 * is a struct soak_upkeep. */
struct soak_upkeep {
    struct soak_database *database;
    uint64_t seed;
};
void *soak_upkeep(void *argument);

/* Drop the clone and the table snapshot that a kill may have left behind. */
void soak_clear_up(struct soak_database *database);

/* Remove a directory with all that is in it, if it is there. */
void soak_remove(const char *directory);

#endif
