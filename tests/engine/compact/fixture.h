/*
 * fixture.h -- what the tests of compactions share: a database with the ledger's writes in several
 * files (tests/crash/ledger.h), tables for single cells, and a way to act in the middle of a
 * compaction.
 *
 * What happens meanwhile is made to happen by the clock: a compaction looks at it once, when its
 * inputs are chosen and its output is not begun.
 */
#ifndef PETAL_TESTS_ENGINE_COMPACT_FIXTURE_H
#define PETAL_TESTS_ENGINE_COMPACT_FIXTURE_H

#include "base/slice.h"
#include "tests/crash/ledger.h"

#define COMPACT_FIXTURE_WRITES 120 /* of the ledger, over four flushes */

/* When armed, the next look at the clock calls `act`, once. */
struct compact_fixture_interruption {
    struct test_clock *clock;
    bool armed;
    void (*act)(struct compact_fixture_interruption *interruption);
    struct fixture *base;
    petal_table *table;
    char log[2048]; /* the lines about compactions */
};

struct compact_fixture {
    struct fixture base;
    struct ledger ledger;
    struct compact_fixture_interruption interruption;
};

/* An empty database. */
void compact_fixture_open(struct compact_fixture *fixture);

/* The ledger with its writes 1 .. COMPACT_FIXTURE_WRITES, each store in several files. */
void compact_fixture_fill(struct compact_fixture *fixture);

/* All tables of the ledger. */
enum petal_status compact_fixture_compact_all(struct compact_fixture *fixture, petal_error *error);

/* For single cells: a table of one family `f` with the attributes given (NULL: defaults), always
 * the column `q`. What fails here fails the test. */
petal_table *compact_fixture_table(struct fixture *fixture, const char *name,
                                   const petal_family_options *given);
void compact_fixture_put(petal_table *table, const char *row, int64_t timestamp, const char *value);
void compact_fixture_delete(petal_table *table, const char *row, int64_t timestamp,
                            enum petal_cell_type type);
void compact_fixture_flush(petal_db *db);
void compact_fixture_compact(petal_table *table);

/* The value in a row, as text until the next call; "" for none. `snapshot` may be NULL. */
const char *compact_fixture_value_at(petal_table *table, const char *row,
                                     const petal_snapshot *snapshot);
const char *compact_fixture_value(petal_table *table, const char *row);

#endif
