/* upkeep.c -- the upkeep of tests/soak/victim.h: flushes, compactions, alterations, and copies,
 * which are checked. */
#include "tests/soak/victim.h"

#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct keeper {
    struct soak_database *database;
    struct soak_shared *shared;
    struct test_random random;
    uint64_t *low; /* of each slot the generation acknowledged before a copy was made */
};

static petal_table *
some_table(struct keeper *keeper)
{
    return keeper->database->tables[test_random_below(&keeper->random, SOAK_TABLES)];
}

static void
flush(struct keeper *keeper)
{
    petal_table *table = test_random_chance(&keeper->random, 50) ? NULL : some_table(keeper);
    petal_error error;

    soak_must(keeper->shared, petal_flush(keeper->database->db, table, &error), &error, "flush");
    atomic_fetch_add(&keeper->shared->flushes, 1);
}

static void
compact(struct keeper *keeper)
{
    size_t table = test_random_below(&keeper->random, SOAK_TABLES);
    petal_family *family =
        test_random_chance(&keeper->random, 70)
            ? keeper->database->families[table][test_random_below(&keeper->random, SOAK_FAMILIES)]
            : NULL;
    petal_error error;

    soak_must(keeper->shared, petal_compact(keeper->database->tables[table], family, &error),
              &error, "compact");
    atomic_fetch_add(&keeper->shared->compactions, 1);
}

static void
alter(struct keeper *keeper)
{
    petal_family_options families[SOAK_MOST_FAMILIES];
    petal_table_options options = {.families = families};
    petal_error error;

    options.family_count = soak_family_options(families, test_random_next(&keeper->random));
    soak_must(keeper->shared, petal_table_alter(some_table(keeper), &options, &error), &error,
              "alter a table");
    atomic_fetch_add(&keeper->shared->alters, 1);
}

/* ---- copies ---- */

/* Wherever a kill cuts it short, nothing that looks like a database is left under the name. */
void
soak_remove(const char *directory)
{
    char going[1024 + sizeof ".going"];

    snprintf(going, sizeof going, "%s.going", directory);
    (void)test_remove_tree(going);
    if (rename(directory, going) == 0)
        (void)test_remove_tree(going);
}

static void
note_acknowledged(struct keeper *keeper)
{
    for (uint32_t slot = 0; slot < SOAK_SLOTS; slot++)
        keeper->low[slot] = atomic_load(&keeper->shared->slots[slot].acknowledged);
}

/* The copy is of one moment between its begin and its end. */
static void
check_checkpoint(struct keeper *keeper, const char *directory)
{
    struct soak_database copy;
    struct soak_reader reader;
    petal_error error;

    soak_open(&copy, keeper->shared, directory, test_random_chance(&keeper->random, 50));
    soak_reader_init(&reader, &copy);
    for (uint32_t slot = 0; slot < SOAK_SLOTS && !atomic_load(&keeper->shared->stop); slot += 2) {
        uint64_t found = soak_check_whole(&reader, slot, NULL);
        uint64_t high = atomic_load(&keeper->shared->slots[slot].attempted);

        if (found < keeper->low[slot] || found > high)
            soak_fail(keeper->shared,
                      "checkpoint: slot %u is at generation %" PRIu64 ", not %" PRIu64
                      " to %" PRIu64,
                      slot, found, keeper->low[slot], high);
    }
    for (size_t i = 0; i < SOAK_TABLES; i++)
        soak_must(keeper->shared, petal_table_verify(copy.tables[i], &error), &error,
                  "verify a checkpoint");
    soak_reader_free(&reader);
    soak_close(&copy);
}

static void
checkpoint(struct keeper *keeper)
{
    char directory[1024];
    petal_error error;

    soak_path(keeper->shared, directory, sizeof directory, "checkpoint");
    note_acknowledged(keeper);
    soak_must(keeper->shared, petal_checkpoint(keeper->database->db, directory, &error), &error,
              "make a checkpoint");
    check_checkpoint(keeper, directory);
    soak_remove(directory);
    atomic_fetch_add(&keeper->shared->checkpoints, 1);
}

/* Rows of the clone of "first" are right in themselves and as new as when it was made. */
static void
check_clone(struct keeper *keeper, petal_table *clone)
{
    struct soak_database view = *keeper->database;
    struct soak_reader reader;

    view.tables[SOAK_FIRST] = clone;
    soak_reader_init(&reader, &view);
    for (uint32_t slot = 0; slot < SOAK_SLOTS && !atomic_load(&keeper->shared->stop); slot += 2) {
        uint64_t found = soak_check_first(&reader, slot);
        uint64_t high = atomic_load(&keeper->shared->slots[slot].attempted);

        if (found != 0 && (found < keeper->low[slot] || found > high))
            soak_fail(keeper->shared,
                      "clone: slot %u is at generation %" PRIu64 ", not %" PRIu64 " to %" PRIu64,
                      slot, found, keeper->low[slot], high);
    }
    soak_reader_free(&reader);
}

static void
table_snapshot(struct keeper *keeper)
{
    petal_slice name = soak_text("moment"), clone_name = soak_text("clone");
    struct soak_shared *shared = keeper->shared;
    petal_db *db = keeper->database->db;
    petal_table *clone;
    petal_error error;

    note_acknowledged(keeper);
    soak_must(shared,
              petal_table_snapshot_create(keeper->database->tables[SOAK_FIRST], name, NULL, &error),
              &error, "take a table snapshot");
    soak_must(shared, petal_table_snapshot_clone(db, name, clone_name, &clone, &error), &error,
              "clone a table snapshot");
    if (test_random_chance(&keeper->random, 50)) {
        soak_must(shared, petal_table_snapshot_delete(db, name, &error), &error,
                  "delete a table snapshot");
        check_clone(keeper, clone);
    } else {
        check_clone(keeper, clone);
        soak_must(shared, petal_table_snapshot_delete(db, name, &error), &error,
                  "delete a table snapshot");
    }
    soak_must(shared, petal_table_drop(clone, &error), &error, "drop a clone");
    atomic_fetch_add(&shared->table_snapshots, 1);
}

void
soak_clear_up(struct soak_database *database)
{
    petal_table *clone;
    petal_error error;
    enum petal_status status = petal_table_open(database->db, soak_text("clone"), &clone, &error);

    if (status == PETAL_OK)
        status = petal_table_drop(clone, &error);
    if (status != PETAL_NOT_FOUND)
        soak_must(database->shared, status, &error, "drop a clone");
    status = petal_table_snapshot_delete(database->db, soak_text("moment"), &error);
    if (status != PETAL_NOT_FOUND)
        soak_must(database->shared, status, &error, "delete a table snapshot");
}

void *
soak_upkeep(void *argument)
{
    static void (*const works[])(struct keeper *) = {
        flush, flush, flush, flush, compact, compact, alter, alter, checkpoint, table_snapshot};
    const struct soak_upkeep *upkeep = argument;
    struct keeper keeper = {.database = upkeep->database, .shared = upkeep->database->shared};

    test_random_init(&keeper.random, upkeep->seed);
    keeper.low = test_allocate(SOAK_SLOTS * sizeof *keeper.low);
    soak_clear_up(keeper.database);
    while (!atomic_load(&keeper.shared->stop)) {
        struct timespec time = {.tv_nsec = (long)test_random_below(&keeper.random, 300) * 1000000};

        nanosleep(&time, NULL);
        works[test_random_below(&keeper.random, sizeof works / sizeof *works)](&keeper);
        (void)petal_table_compaction_state(some_table(&keeper));
    }
    free(keeper.low);
    return NULL;
}
