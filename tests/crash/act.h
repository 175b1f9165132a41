/*
 * act.h -- what a life of the crash tests does to its database, and the same to a world
 * (tests/crash/world.h).
 *
 * WRITES are logged, and a crash takes none without all those after it.  CHANGES of tables are in
 * the manifest when they return, in their order; a crash may take writes from before them.  What is
 * NEUTRAL changes no answer.  A write to the table WORLD_LOOSE is not logged: it may survive alone.
 */
#ifndef PETAL_TESTS_CRASH_ACT_H
#define PETAL_TESTS_CRASH_ACT_H

#include "tests/crash/world.h"
#include "tests/support/test_support.h"

enum act_kind {
    /* Writes. */
    ACT_PUT, /* of one cell: a put, a deletion or an increment */
    ACT_BATCH,
    ACT_MUTATE_ROW,
    ACT_BULK, /* of one table, loaded above what is there */
    /* Changes. */
    ACT_CREATE,
    ACT_DROP,
    ACT_TRUNCATE,
    ACT_ALTER_TABLE,
    ACT_ALTER_FAMILY, /* makes it if it is not there */
    ACT_DROP_FAMILY,
    ACT_SNAPSHOT,
    ACT_CLONE,
    ACT_RESTORE,
    ACT_FORGET, /* a snapshot */
    /* Neutral. */
    ACT_FLUSH,
    ACT_COMPACT,
    ACT_COMPACT_SOME,
    ACT_SPLIT, /* the table's region of the row `first_run` before it */
    ACT_MERGE, /* of the table's regions that after the `first_run`th, if there is one, into it */
    ACT_ROTATE,
    ACT_SPARE,
    ACT_CHECKPOINT,
    ACT_READ,
    ACT_KINDS
};

enum act_cell_kind { ACT_CELL_PUT, ACT_CELL_INCREMENT, ACT_CELL_DELETE, ACT_CELL_DELETE_ROW };

struct act_cell {
    enum act_cell_kind kind;
    unsigned table, family, row, qualifier;
};
#define ACT_MOST_CELLS 16

struct act {
    enum act_kind kind;
    bool failed;  /* so it may have happened or not */
    bool refused; /* it failed, and says that nothing has happened */
    /* Of a write. */
    uint64_t number;
    struct act_cell cells[ACT_MOST_CELLS];
    size_t cell_count;
    unsigned filler;
    enum petal_durability durability;
    /* Of the others; `table` WORLD_TABLES: all. Of a clone or a restore: of the snapshot's. */
    unsigned table, family, shape, snapshot;
    size_t first_run, run_count;
    char path[32]; /* of a checkpoint */
};

bool act_is_write(const struct act *act);
bool act_is_loose(const struct act *act); /* a write that is not logged */
bool act_is_change(const struct act *act);

/* It failed such that it may have happened. */
bool act_is_unsure(const struct act *act);

/* It may have put another table, or nothing, in the place of a table or family of it. */
bool act_replaces(const struct act *act, unsigned table);

/* Whether the world has what the act needs. */
bool act_fits(const struct act *act, const struct world *world);

/* What the act makes of a world; nothing where it does not fit. */
void act_apply(const struct act *act, struct world *world);

/* Do it to a database that is as `world` tells. */
enum petal_status act_do(const struct act *act, petal_db *db, const struct world *world,
                         petal_error *error);

#endif
