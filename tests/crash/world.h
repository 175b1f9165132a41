/*
 * world.h -- what a database of the crash tests holds, as a value: tables, families, their shapes,
 * table snapshots, and of each column which write put what is in it.
 *
 * A world is changed by acts, the same that a life does to its database (tests/crash/act.h), and
 * read out of a database.  So what a database may hold after a crash is what some of the acts of
 * its life make of what it held before.
 *
 * Worlds are all zero where nothing is, so that equal ones have equal bytes.
 */
#ifndef PETAL_TESTS_CRASH_WORLD_H
#define PETAL_TESTS_CRASH_WORLD_H

#include "engine/petal.h"

enum { WORLD_LEFT, WORLD_RIGHT, WORLD_THIRD, WORLD_CLONE, WORLD_LOOSE, WORLD_TABLES };

#define WORLD_FAMILIES   3
#define WORLD_ROWS       4
#define WORLD_QUALIFIERS 3 /* the last one's values are numbers that are incremented */
#define WORLD_SLOTS      (WORLD_ROWS * WORLD_QUALIFIERS)
#define WORLD_SNAPSHOTS  3
#define WORLD_BRIEF      2 /* this snapshot lives for a second */
#define WORLD_SHAPES     4

#define WORLD_MOST_FILLER 99999

struct world_family {
    uint64_t there, shape;
    uint64_t slots[WORLD_SLOTS]; /* 0: nothing; the write, or WORLD_SUM and the number */
};
#define WORLD_SUM ((uint64_t)1 << 63)

struct world_table {
    uint64_t there, shape;
    struct world_family families[WORLD_FAMILIES];
};

struct world_snapshot {
    uint64_t there, table;
    struct world_table content; /* not read out of a database */
};

struct world {
    struct world_table tables[WORLD_TABLES];
    struct world_snapshot snapshots[WORLD_SNAPSHOTS];
    uint64_t foreign; /* a hash of all that is in other tables */
};

/* ---- Names ---- */

petal_slice world_table_name(unsigned table);
petal_slice world_family_name(unsigned family);
petal_slice world_row_name(unsigned row);
petal_slice world_qualifier_name(unsigned qualifier);
petal_slice world_snapshot_name(unsigned snapshot);

/* The value that write `number` puts into a slot of a family, in the caller's WORLD_VALUE_BYTES
 * bytes. */
#define WORLD_VALUE_BYTES (WORLD_MOST_FILLER + 40)
petal_slice world_value(char *bytes, uint64_t number, unsigned family, unsigned slot,
                        unsigned filler);

/* ---- Reading ---- */

/* Read the tables of the database by scans, or row by row if `by_gets`.  *wrong: a value was read
 * that no write can have put there; it was printed. */
enum petal_status world_read(petal_db *db, bool by_gets, struct world *world, bool *wrong,
                             petal_error *error);

/* What the snapshot holds, by a table that is made of it and dropped again. */
enum petal_status world_read_snapshot(petal_db *db, unsigned snapshot, struct world_table *content,
                                      bool *wrong, petal_error *error);

/* Whether the two are equal but for the contents of snapshots and of the table WORLD_LOOSE. */
bool world_equal(const struct world *a, const struct world *b);

/* Whether two tables are equal. */
bool world_table_equal(const struct world_table *a, const struct world_table *b);

/* Print where two worlds differ. */
void world_print_differences(const struct world *found, const struct world *expected);

#endif
