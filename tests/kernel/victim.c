/* victim.c -- see victim.h. */
#include "tests/kernel/victim.h"

#include "tests/kernel/database.h"
#include "tests/support/test_support.h"

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct victim {
    struct account *account;
    struct account_life *life;
    const struct places *places;
    struct database database;
};

/* One thread of it. */
struct thread {
    struct victim *victim;
    unsigned number;
    struct test_random random;
};

static noreturn void
wait_for_the_end(void)
{
    for (;;)
        pause();
}

/* ---- looks ---- */

/* What is there must be what the account admits; *found is on the medium then. */
static void
check_found(struct account *account, struct database *database, struct account_found *found)
{
    struct account_life *life = account_life(account);
    uint64_t done = atomic_load(&life->steps_done), begun = atomic_load(&life->steps_begun);
    char why[768];
    petal_error error;
    enum petal_status status;

    account_must(account, database_read(database, found, &error), &error, "read");
    if (!account_admits_writes(account, found->numbers, why, sizeof why) ||
        !account_admits_unlogged(life, found->unlogged, why, sizeof why))
        account_fail(account, "%s", why);
    /* Steps that were done when the disk had gone may be there or not. */
    status = PETAL_CORRUPT;
    for (uint64_t steps = begun + 1; status == PETAL_CORRUPT && steps-- > done;) {
        status = database_check_steps(database, steps, &error);
        found->steps = steps;
    }
    account_must(account, status, &error, "look at the schema");
}

/* What an opening has shown stays from now on, whatever happens. */
static void
note_found(struct account *account, const struct account_found *found)
{
    for (unsigned i = 0; i < ACCOUNT_WRITERS; i++) {
        const struct account_life *life = account_life(account);

        if (found->numbers[i] > life->first[i])
            atomic_fetch_add(&account->lost_writes,
                             atomic_load(&life->attempted[i]) - found->numbers[i]);
    }
    account_begin(account, found);
}

/* A checkpoint that was done is whole, and of its moment; one that was not is that or refused. */
static void
look_at_copy(struct account *account, const struct places *places, uint64_t seed)
{
    struct account_life *life = account_life(account);
    enum account_copy copy = atomic_load(&life->copy);
    struct database database;
    struct account_found found;
    char why[768];
    petal_error error;
    enum petal_status status;

    if (copy == COPY_NONE)
        return;
    status = database_open(&database, places->copy,
                           seed % 2 == 0 ? OPEN_READ_ONLY : OPEN_WHAT_IS_THERE, seed, &error);
    if (status != PETAL_OK && copy == COPY_BEGUN)
        return;
    account_must(account, status, &error, "open the checkpoint");
    account_must(account, database_attach(&database, false, &error), &error,
                 "take the tables of the checkpoint");
    account_must(account, database_read(&database, &found, &error), &error, "read the checkpoint");
    account_must(account, database_verify(&database, &error), &error, "verify the checkpoint");
    if (!account_admits_copy(life, found.numbers, why, sizeof why))
        account_fail(account, "checkpoint: %s", why);
    account_must(account, petal_close(database.db, &error), &error, "close the checkpoint");
}

void
victim_look(struct account *account, const struct places *places, uint64_t seed, bool thorough)
{
    struct database database;
    struct account_found found, again;
    bool read_only = seed % 2 == 0;
    petal_error error;

    if (thorough)
        look_at_copy(account, places, seed);
    account_must(account, database_open(&database, places->database, OPEN_OR_MAKE, seed, &error),
                 &error, "open");
    account_must(account, database_attach(&database, true, &error), &error, "take the tables");
    check_found(account, &database, &found);
    note_found(account, &found);
    atomic_fetch_add(&account->openings, 1);
    if (thorough)
        account_must(account, database_verify(&database, &error), &error, "verify");
    account_must(account, petal_close(database.db, &error), &error, "close");
    if (!thorough)
        return;
    account_must(account,
                 database_open(&database, places->database,
                               read_only ? OPEN_READ_ONLY : OPEN_WHAT_IS_THERE, seed, &error),
                 &error, "open again");
    account_must(account, database_attach(&database, false, &error), &error,
                 "take the tables again");
    check_found(account, &database, &again);
    if (memcmp(&found, &again, sizeof found) != 0)
        account_fail(account, "a second opening found something else");
    /* Nothing is under way then. */
    if (read_only)
        account_must(account, database_check_files(&database, places->database, &error), &error,
                     "look at the files");
    account_must(account, petal_close(database.db, &error), &error, "close again");
}

/* ---- work ---- */

static noreturn void *
write_rows(void *argument)
{
    static const enum petal_durability durabilities[] = {PETAL_ASYNC_WAL, PETAL_SYNC_WAL,
                                                         PETAL_SYNC_WAL, PETAL_FSYNC_WAL};
    struct thread *thread = argument;
    struct victim *victim = thread->victim;
    struct account_life *life = victim->life;
    unsigned writer = thread->number;
    uint64_t first = life->first[writer];
    /* Some sync seldom, so that much is to be lost. */
    unsigned synced = (unsigned)test_random_below(&thread->random, 4) * 12;

    for (uint64_t n = first + 1; n <= first + ACCOUNT_WRITES; n++) {
        struct account_write *write = &life->writes[writer][n - first - 1];
        enum petal_durability durability = durabilities[test_random_below(&thread->random, 3)];
        petal_error error;

        if (test_random_chance(&thread->random, synced))
            durability = PETAL_FSYNC_WAL;
        atomic_store(&write->synced, durability == PETAL_FSYNC_WAL);
        atomic_store(&write->began, account_moment(victim->account));
        atomic_store(&life->attempted[writer], n);
        account_must(victim->account,
                     database_write(&victim->database, writer, n, durability, &error), &error,
                     "write");
        atomic_store(&write->acknowledged, account_moment(victim->account));
        atomic_fetch_add(&victim->account->writes, 1);
        if (durability == PETAL_FSYNC_WAL) {
            account_note_durable(victim->account, atomic_load(&write->began));
            atomic_fetch_add(&victim->account->synced_writes, 1);
        }
    }
    wait_for_the_end();
}

static noreturn void *
change_schema(void *argument)
{
    struct thread *thread = argument;
    struct victim *victim = thread->victim;
    struct account_life *life = victim->life;

    for (uint64_t step = atomic_load(&life->steps_done) + 1;; step++) {
        struct timespec pause = {0, (long)test_random_below(&thread->random, 3000000)};
        petal_error error;

        nanosleep(&pause, NULL);
        atomic_store(&life->steps_begun, step);
        account_must(victim->account, database_step(&victim->database, step, &error), &error,
                     "change the schema");
        if (atomic_load(&victim->account->disk_is_there))
            atomic_store(&life->steps_done, step);
        atomic_fetch_add(&victim->account->steps, 1);
    }
}

/* All that was acknowledged before a flush begins is on the medium when it returns, unlogged rows,
 * too. */
static void
flush_all(struct victim *victim, const uint64_t *numbers)
{
    struct account_life *life = victim->life;
    uint64_t began = account_moment(victim->account);
    petal_error error;

    account_must(victim->account, petal_flush(victim->database.db, NULL, &error), &error, "flush");
    account_note_durable(victim->account, began);
    for (unsigned i = 0; atomic_load(&victim->account->disk_is_there) && i < ACCOUNT_UNLOGGED; i++)
        atomic_store(&life->least[i], numbers[i]);
    atomic_fetch_add(&victim->account->flushes, 1);
}

static void
copy(struct victim *victim)
{
    struct account_life *life = victim->life;
    petal_error error;

    if (atomic_load(&life->copy) != COPY_NONE)
        return;
    atomic_store(&life->copy_began, account_moment(victim->account));
    atomic_store(&life->copy, COPY_BEGUN);
    account_must(victim->account,
                 petal_checkpoint(victim->database.db, victim->places->copy, &error), &error,
                 "make a checkpoint");
    if (atomic_load(&victim->account->disk_is_there))
        atomic_store(&life->copy, COPY_DONE);
    atomic_fetch_add(&victim->account->checkpoints, 1);
}

static void
read_at_snapshot(struct victim *victim)
{
    petal_snapshot *snapshot;
    petal_error error;
    petal_cursor *cursor;
    const petal_cell *cell = NULL;
    petal_scan_options options = {0};
    enum petal_status status = petal_snapshot_new(victim->database.db, &snapshot, &error);

    account_must(victim->account, status, &error, "take a snapshot");
    options.read.snapshot = snapshot;
    account_must(victim->account,
                 petal_cursor_open(victim->database.ledger.tables[0], &options, &cursor, &error),
                 &error, "open a cursor");
    do
        account_must(victim->account, petal_cursor_next(cursor, &cell, &error), &error, "read");
    while (cell != NULL);
    petal_cursor_close(cursor);
    petal_snapshot_free(snapshot);
}

static noreturn void *
keep_up(void *argument)
{
    struct thread *thread = argument;
    struct victim *victim = thread->victim;
    struct account_life *life = victim->life;
    struct database *database = &victim->database;
    uint64_t numbers[ACCOUNT_UNLOGGED];

    for (unsigned i = 0; i < ACCOUNT_UNLOGGED; i++)
        numbers[i] = atomic_load(&life->most[i]);
    for (;;) {
        uint64_t what = test_random_below(&thread->random, 100);
        petal_table *table =
            database->ledger.tables[test_random_below(&thread->random, LEDGER_TABLES)];
        petal_error error;

        if (what < 45) {
            unsigned row = (unsigned)test_random_below(&thread->random, ACCOUNT_UNLOGGED);

            atomic_store(&life->most[row], numbers[row] + 1);
            account_must(victim->account,
                         database_write_unlogged(database, row, numbers[row] + 1, &error), &error,
                         "write without the log");
            numbers[row]++;
        } else if (what < 60) {
            flush_all(victim, numbers);
        } else if (what < 75) {
            account_must(victim->account, petal_flush(database->db, table, &error), &error,
                         "flush a table");
        } else if (what < 85) {
            account_must(victim->account, petal_compact(table, NULL, &error), &error, "compact");
            atomic_fetch_add(&victim->account->compactions, 1);
        } else if (what < 88) {
            copy(victim);
        } else if (what < 95) {
            read_at_snapshot(victim);
        } else {
            struct timespec pause = {0, (long)test_random_below(&thread->random, 8000000)};

            nanosleep(&pause, NULL);
        }
    }
}

static void
start(struct thread *thread, struct victim *victim, unsigned number, uint64_t seed,
      void *(*work)(void *argument))
{
    pthread_t id;

    thread->victim = victim;
    thread->number = number;
    test_random_init(&thread->random, seed + number);
    if (pthread_create(&id, NULL, work, thread) != 0)
        account_fail(victim->account, "no thread can be started");
}

void
victim_live(struct account *account, const struct places *places, uint64_t seed)
{
    static struct victim victim;
    static struct thread threads[ACCOUNT_WRITERS + 2];
    struct account_found found;
    petal_error error;

    victim.account = account;
    victim.places = places;
    account_expect_the_end();
    account_must(account,
                 database_open(&victim.database, places->database, OPEN_OR_MAKE, seed, &error),
                 &error, "open");
    account_must(account, database_attach(&victim.database, true, &error), &error,
                 "make the tables");
    check_found(account, &victim.database, &found);
    note_found(account, &found);
    atomic_fetch_add(&account->openings, 1);
    victim.life = account_life(account);
    atomic_store(&account->opened, true);
    for (unsigned i = 0; i < ACCOUNT_WRITERS; i++)
        start(&threads[i], &victim, i, seed, write_rows);
    start(&threads[ACCOUNT_WRITERS], &victim, ACCOUNT_WRITERS, seed, change_schema);
    start(&threads[ACCOUNT_WRITERS + 1], &victim, ACCOUNT_WRITERS + 1, seed, keep_up);
    wait_for_the_end();
}
