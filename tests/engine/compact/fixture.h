/*
 * fixture.h -- what the tests of compactions share: a database with the ledger's writes in several files (tests/crash/ledger.h),
 * tables for single cells, and a way to act in the middle of a compaction.
 *
 * What happens meanwhile is made to happen by the clock: a compaction looks at it once, when its inputs are chosen and its
 * output is not begun.
 */
#ifndef PETAL_TESTS_ENGINE_COMPACT_FIXTURE_H
#define PETAL_TESTS_ENGINE_COMPACT_FIXTURE_H

#include "base/slice.h"
#include "tests/crash/ledger.h"

#define BED_WRITES 120 /* of the ledger, over four flushes */

/* When armed, the next look at the clock calls `act`, once. */
struct bed_interruption {
    struct test_clock *clock;
    bool armed;
    void (*act)(struct bed_interruption *interruption);
    struct fixture *fixture;
    petal_table *table;
    char log[2048]; /* the lines about compactions */
};

struct bed {
    struct fixture fixture;
    struct ledger ledger;
    struct bed_interruption interruption;
};

/* An empty database. */
void bed_open(struct bed *bed);

/* The ledger with its writes 1 .. BED_WRITES, each store in several files. */
void bed_fill(struct bed *bed);

/* All tables of the ledger. */
enum petal_status bed_compact_all(struct bed *bed, petal_error *error);

/* For single cells: a table of one family `f` with the attributes given (NULL: defaults), always the column `q`. What fails here
 * fails the test. */
petal_table *bed_table(struct fixture *fixture, const char *name,
                       const petal_family_options *given);
void bed_put(petal_table *table, const char *row, int64_t timestamp, const char *value);
void bed_delete(petal_table *table, const char *row, int64_t timestamp, enum petal_cell_type type);
void bed_flush(petal_db *db);
void bed_compact(petal_table *table);

/* The value in a row, as text until the next call; "" for none. `snapshot` may be NULL. */
const char *bed_value_at(petal_table *table, const char *row, const petal_snapshot *snapshot);
const char *bed_value(petal_table *table, const char *row);

#endif
