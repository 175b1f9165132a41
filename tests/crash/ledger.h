/*
 * ledger.h -- what the reliability tests of the engine share: a database on the in-memory file
 * layer, and a ledger of numbered writes whose outcome can be checked after any crash.
 *
 * THE LEDGER.  Write n (1, 2, 3 ...) is a pure function of n: a single put, or a batch over two
 * tables of two families each, now and then with deletions.  Every write puts at least one cell,
 * and each value tells which write put it.  So a state that was read names the last write in it,
 * and must then be equal, slot for slot, to the state after all writes up to that one: a hole or
 * half a batch shows as a difference.  All timestamps are assigned by the store.
 *
 * Writers who write at once have rows, and numbers, of their own.
 *
 * Nothing of the ledger asserts but ledger_must_* and ledger_start, which are in fixture.c as is
 * the database: it may be used in threads and forked processes, and needs only petal.h.
 */
#ifndef PETAL_TESTS_CRASH_LEDGER_H
#define PETAL_TESTS_CRASH_LEDGER_H

#include "tests/disk/vfs.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

/* ---- A database in memory ---- */

#define FIXTURE_DIRECTORY "/db"

struct fixture {
    struct memory_vfs *vfs;
    struct test_allocator allocator;
    struct test_clock clock;
    struct test_random random;
    petal_env env;
    /* Smallest cache, fewest open files, no background sync of the log, no background compaction;
     * may be changed before opening. */
    petal_options options;
    petal_db *db;
};

void fixture_init(struct fixture *fixture, uint64_t seed);

/* The same surroundings on another file layer, which the fixture owns from now on. */
void fixture_init_on(struct fixture *fixture, struct memory_vfs *vfs, uint64_t seed);

/* Closes the database if it is open; nothing may have leaked. */
void fixture_fini(struct fixture *fixture);

enum petal_status fixture_open(struct fixture *fixture, petal_error *error);
void fixture_must_open(struct fixture *fixture);
/* Open another directory, or the same one, to read, with the fixture's options. */
petal_db *fixture_open_reader(const struct fixture *fixture, const char *directory);
void fixture_must_close(struct fixture *fixture);

/* The process dies: the database is gone without being closed, what it had stored stays, synced or
 * not. */
void fixture_die(struct fixture *fixture);

/* Closes the current log as a switch of memtables does, which stay as they are here: nothing waits
 * for a flush. */
enum petal_status fixture_close_log(struct fixture *fixture);
enum petal_status fixture_rotate_log(petal_db *db, petal_error *error);

/*
 * FURTHER LIVES. A process that died left `files`, of which the medium may lack all that it did not
 * sync. Another one opens them and writes a synced marker that hides nothing into each family; then
 * the power fails. `state` chooses of these lives: the power fails at the end (0 and 1) or during
 * some call, and before (odd states) one more process has died during some call of the same.
 * Consumes `files`, gives what is there when the power is back.  *opened, may be NULL: an opening
 * was acknowledged.
 */
struct memory_vfs *fixture_further_state(struct memory_vfs *files, unsigned state, uint64_t seed,
                                         bool *opened);

/* The file of the directory whose name ends so, as a path to be released with free; NULL unless
 * there is exactly one. */
char *fixture_only_file(struct fixture *fixture, const char *suffix);

/* How many names in the directory end so; "" counts all. */
size_t fixture_count_files(struct fixture *fixture, const char *suffix);

/* The most store files that were open at once since the trace of the file layer began, when none
 * was. */
size_t fixture_most_open(struct fixture *fixture);

/* Whether each file is the lock, the manifest, a store file that it names or the only log, and none
 * of those that it names is missing; says what is not. */
bool fixture_directory_is_clean(struct fixture *fixture);

/* ---- The ledger ---- */

#define LEDGER_TABLES     2
#define LEDGER_FAMILIES   2 /* of each table */
#define LEDGER_ROWS       5
#define LEDGER_QUALIFIERS 3
#define LEDGER_STORES     (LEDGER_TABLES * LEDGER_FAMILIES)
#define LEDGER_SLOTS      (LEDGER_STORES * LEDGER_ROWS * LEDGER_QUALIFIERS)

struct ledger {
    petal_db *db;
    petal_table *tables[LEDGER_TABLES];
    petal_family *families[LEDGER_STORES];
    /* 1 to 9 of several writers, 0 of one that is alone. */
    unsigned writer;
    /* Bytes added to values, at most LEDGER_LONG_FILLER; equal for writing and reading. */
    size_t filler;
};
#define LEDGER_MAX_FILLER  2000 /* that leaves values in one frame of a log */
#define LEDGER_LONG_FILLER 8000
#define LEDGER_UNEVEN      SIZE_MAX /* of many lengths */

/* For each column the write that put what is in it, 0 for none. */
struct ledger_state {
    unsigned writer;
    uint64_t slots[LEDGER_SLOTS];
    bool wrong; /* a value was read that no write put there */
};

/* Make the tables that are missing and take their handles. */
enum petal_status ledger_create(struct ledger *ledger, petal_db *db, petal_error *error);

/* PETAL_NOT_FOUND if a table is missing. */
enum petal_status ledger_attach(struct ledger *ledger, petal_db *db, petal_error *error);

enum petal_status ledger_write(const struct ledger *ledger, uint64_t number,
                               enum petal_durability durability, petal_error *error);

/* As a test. */
void ledger_must_write(const struct ledger *ledger, uint64_t number,
                       enum petal_durability durability);

/* Read all of the writer by scans, again by gets; what differs between the two, or was never
 * written, sets state->wrong and is printed. */
enum petal_status ledger_read(const struct ledger *ledger, struct ledger_state *state,
                              petal_error *error);

/* The greatest number in it; 0 for an empty state. */
uint64_t ledger_last(const struct ledger_state *state);

/* Whether the state is right and is the one after the writes from 1 to `count`; prints what
 * differs. */
bool ledger_is_after(const struct ledger_state *state, uint64_t count);

enum petal_status ledger_verify(const struct ledger *ledger, petal_error *error);

/* As a test: read, verify; returns the number of writes of which the content is the prefix. */
uint64_t ledger_must_be_prefix(const struct ledger *ledger);

/* The same of a database that was opened just now. */
uint64_t ledger_must_find(struct ledger *ledger, petal_db *db);

/* A new database, open, with the ledger's tables. */
void ledger_start(struct ledger *ledger, struct fixture *fixture, uint64_t seed);

#endif
