/*
 * database.h -- the database that goes through power cuts: the ledger's tables
 * (tests/crash/ledger.h), with several writers, one of rows that are not logged, those of the steps
 * that change the schema, and what an opening finds of them.
 */
#ifndef PETAL_TESTS_KERNEL_DATABASE_H
#define PETAL_TESTS_KERNEL_DATABASE_H

#include "tests/crash/ledger.h"
#include "tests/kernel/account.h"

struct database {
    petal_db *db;
    struct ledger ledger;
    petal_table *unlogged;
    petal_family *unlogged_family;
};

enum database_opening { OPEN_OR_MAKE, OPEN_WHAT_IS_THERE, OPEN_READ_ONLY };

/* `seed` chooses what changes no answer: how logs are stored, files read, how often is synced. */
enum petal_status database_open(struct database *database, const char *directory,
                                enum database_opening opening, uint64_t seed, petal_error *error);

/* Take the handles of the tables; `make`: of those that are missing new ones. */
enum petal_status database_attach(struct database *database, bool make, petal_error *error);

/* Of a writer, from 0 on. */
enum petal_status database_write(const struct database *database, unsigned writer, uint64_t number,
                                 enum petal_durability durability, petal_error *error);
enum petal_status database_write_unlogged(const struct database *database, unsigned row,
                                          uint64_t number, petal_error *error);

/* Read all of the writers' and the unlogged rows. PETAL_CORRUPT: what is there is not what some
 * writes up to a last one make; where is printed. */
enum petal_status database_read(const struct database *database, struct account_found *found,
                                petal_error *error);

/* Read every block of every file of every table. */
enum petal_status database_verify(const struct database *database, petal_error *error);

/* Whether nothing is in the directory that the database does not name; else PETAL_CORRUPT. */
enum petal_status database_check_files(const struct database *database, const char *directory,
                                       petal_error *error);

/* ---- changes of the schema ---- */

/*
 * Step n of a round: a table is made, filled, altered, truncated, a snapshot of it taken, cloned,
 * restored and deleted, all of it dropped. Each step is on the medium when it returns.
 */
enum petal_status database_step(const struct database *database, uint64_t step, petal_error *error);

/* Whether the schema and the tables of the steps are as after so many of them. PETAL_CORRUPT: they
 * are not, and the text says what is there. */
enum petal_status database_check_steps(const struct database *database, uint64_t steps,
                                       petal_error *error);

/* PETAL_CORRUPT with a text. */
enum petal_status database_wrong(petal_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

petal_slice database_text(const char *text);

#endif
