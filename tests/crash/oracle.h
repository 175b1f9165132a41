/*
 * oracle.h -- what a database may hold after a crash: what some of the acts of a life make of what
 * it held before.
 *
 * The acts that count are, in their order: a prefix of the logged writes with all that were
 * promised, and all changes of tables that had returned, perhaps the one under way too.  So there
 * is no hole, no half batch, and nothing comes back.  Of an act that failed both is right.  In the
 * table WORLD_LOOSE each column holds what it held at its last flush, or something newer.
 */
#ifndef PETAL_TESTS_CRASH_ORACLE_H
#define PETAL_TESTS_CRASH_ORACLE_H

#include "tests/crash/life.h"

struct oracle {
    const struct world *base;
    const struct act *acts; /* NULL where `progress` is all zero: the base, no less and no more */
    struct life_progress progress;
};

/* `process`: the process died and the page cache stays, so that all counts that was stored; else
 * what was synced.  *matched receives what was found, with the contents of snapshots.  False: it
 * cannot be, and what it differs from was printed, unless `quiet`. */
bool oracle_accepts(const struct oracle *oracle, bool process, const struct world *found,
                    struct world *matched, bool quiet);

#endif
