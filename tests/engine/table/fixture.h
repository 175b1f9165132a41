/*
 * fixture.h -- tests of tables and their families: one table "t" whose families have names of one
 * letter.
 */
#ifndef PETAL_TESTS_ENGINE_TABLE_FIXTURE_H
#define PETAL_TESTS_ENGINE_TABLE_FIXTURE_H

#include "base/slice.h"
#include "tests/crash/ledger.h"

/* A slice in an initialiser. */
#define NAMED(literal)                                                                             \
    {                                                                                              \
        literal, sizeof literal - 1                                                                \
    }
#define COUNT(array) (sizeof array / sizeof *array)

/* A fixture with an open, empty database. */
void table_begin(struct fixture *fixture);

/* Families that have no attributes but their names, one for each letter, of which there are at most
 * 8. */
petal_table_options table_plain_options(petal_family_options families[8], const char *letters);
petal_table *table_make(struct fixture *fixture, const char *letters);
enum petal_status table_alter_to(petal_table *table, const char *letters, petal_error *error);

/* What must be there. */
petal_table *table_reopen(struct fixture *fixture);
petal_family *table_family_named(petal_table *table, const char *name);

/* Put a value at (row, "q"), now. */
void table_put(petal_table *table, const char *family, const char *row, const char *value);

/* "family:value" of each cell of the row; lives until the next call. */
const char *table_row(petal_db *db, petal_table *table, const char *row);

#endif
