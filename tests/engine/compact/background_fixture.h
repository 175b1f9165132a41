/*
 * background_fixture.h -- what the tests of compaction in the background share: a database that
 * does it, with one table, its log lines, and what its files hold.
 */
#ifndef PETAL_TESTS_ENGINE_COMPACT_BACKGROUND_FIXTURE_H
#define PETAL_TESTS_ENGINE_COMPACT_BACKGROUND_FIXTURE_H

#include "tests/engine/compact/fixture.h"

#include <pthread.h>

struct kept_log {
    pthread_mutex_t mutex;
    char errors[2048]; /* lines of the level */
    char lines[8192];
};

struct place {
    struct fixture fixture;
    struct kept_log log;
    petal_table *table;
};

struct totals {
    uint64_t files, runs, cells, markers, bytes;
    uint64_t seen[256]; /* runs */
};

/* A database that compacts in the background, with a table of one family (NULL: defaults). */
void place_open(struct place *place, const petal_family_options *family);

/* Close it and open it with the fixture's options as they are now. */
void place_reopen(struct place *place);

/* petal_wait_idle. */
void settle(struct place *place);

/* Rows row<first> .. row<last>, in one file; and that they are there. */
void put_file(struct place *place, unsigned first, unsigned last);
void must_hold_rows(struct place *place, unsigned first, unsigned last);

struct totals totals_of(struct place *place);
petal_stats stats_of(struct place *place);

#endif
