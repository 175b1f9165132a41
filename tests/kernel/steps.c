/* steps.c -- the steps that change the schema, and what the schema is after each; see
 * tests/kernel/database.h. */
#include "tests/kernel/database.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum step_kind {
    STEP_CREATE,
    STEP_PUT_FIRST,
    STEP_SNAPSHOT,
    STEP_PUT_SECOND,
    STEP_ALTER,
    STEP_PUT_OTHER_FAMILY,
    STEP_CLONE,
    STEP_TRUNCATE,
    STEP_PUT_THIRD,
    STEP_RESTORE,
    STEP_DELETE_SNAPSHOT,
    STEP_DROP_CLONE,
    STEP_DROP,
    STEP_KINDS
};

static const char table_name[] = "steps", clone_name[] = "steps-clone", taken_name[] = "taken";

/* Steps are counted from 1. */
static enum step_kind
kind_of(uint64_t step)
{
    return (enum step_kind)((step - 1) % STEP_KINDS);
}

/* ---- what is there after a step ---- */

#define CELLS 4 /* first, second and third of family f; the first of family g */

struct step_table {
    bool there, has_second_family;
    uint64_t cells[CELLS]; /* steps that put them; 0: none */
};

struct step_state {
    struct step_table table, taken, clone;
};

static void
apply(struct step_state *state, uint64_t step)
{
    struct step_table *table = &state->table;

    switch (kind_of(step)) {
    case STEP_CREATE:
        *table = (struct step_table){.there = true};
        break;
    case STEP_PUT_FIRST:
        table->cells[0] = step;
        break;
    case STEP_SNAPSHOT:
        state->taken = *table;
        break;
    case STEP_PUT_SECOND:
        table->cells[1] = step;
        break;
    case STEP_ALTER:
        table->has_second_family = true;
        break;
    case STEP_PUT_OTHER_FAMILY:
        table->cells[3] = step;
        break;
    case STEP_CLONE:
        state->clone = state->taken;
        break;
    case STEP_TRUNCATE:
        memset(table->cells, 0, sizeof table->cells);
        break;
    case STEP_PUT_THIRD:
        table->cells[2] = step;
        break;
    case STEP_RESTORE:
        *table = state->taken;
        break;
    case STEP_DELETE_SNAPSHOT:
        state->taken.there = false;
        break;
    case STEP_DROP_CLONE:
        state->clone.there = false;
        break;
    default:
        table->there = false;
        break;
    }
}

/* ---- a step ---- */

static enum petal_status
put(const struct database *database, const char *family_name, const char *row, uint64_t step,
    petal_error *error)
{
    petal_write_options options = {.durability = PETAL_FSYNC_WAL};
    char value[32];
    petal_table *table;
    petal_family *family = NULL;
    enum petal_status status =
        petal_table_open(database->db, database_text(table_name), &table, error);

    if (status == PETAL_OK)
        status = petal_table_family(table, database_text(family_name), &family, error);
    snprintf(value, sizeof value, "%" PRIu64, step);
    if (status == PETAL_OK)
        status = petal_put(family, database_text(row), database_text(""), PETAL_LATEST,
                           database_text(value), &options, error);
    return status;
}

static enum petal_status
create_or_alter(const struct database *database, size_t family_count, petal_table *table,
                petal_error *error)
{
    petal_family_options families[2] = {{.name = database_text("f"), .block_bytes = 1024},
                                        {.name = database_text("g"), .block_bytes = 1024}};
    petal_table_options options = {
        .name = database_text(table_name), .families = families, .family_count = family_count};

    return table != NULL ? petal_table_alter(table, &options, error)
                         : petal_table_create(database->db, &options, &table, error);
}

enum petal_status
database_step(const struct database *database, uint64_t step, petal_error *error)
{
    petal_db *db = database->db;
    enum step_kind kind = kind_of(step);
    petal_slice taken = database_text(taken_name), clone = database_text(clone_name);
    petal_table *table = NULL;
    enum petal_status status = PETAL_OK;

    if (kind == STEP_DROP_CLONE)
        status = petal_table_open(db, clone, &table, error);
    else if (kind != STEP_CREATE)
        status = petal_table_open(db, database_text(table_name), &table, error);
    if (status != PETAL_OK)
        return status;
    switch (kind) {
    case STEP_CREATE:
        return create_or_alter(database, 1, NULL, error);
    case STEP_PUT_FIRST:
        return put(database, "f", "first", step, error);
    case STEP_SNAPSHOT:
        return petal_table_snapshot_create(table, taken, NULL, error);
    case STEP_PUT_SECOND:
        return put(database, "f", "second", step, error);
    case STEP_ALTER:
        return create_or_alter(database, 2, table, error);
    case STEP_PUT_OTHER_FAMILY:
        return put(database, "g", "first", step, error);
    case STEP_CLONE:
        return petal_table_snapshot_clone(db, taken, clone, &table, error);
    case STEP_TRUNCATE:
        return petal_table_truncate(table, &table, error);
    case STEP_PUT_THIRD:
        return put(database, "f", "third", step, error);
    case STEP_RESTORE:
        return petal_table_snapshot_restore(db, taken, &table, error);
    case STEP_DELETE_SNAPSHOT:
        return petal_table_snapshot_delete(db, taken, error);
    default:
        return petal_table_drop(table, error);
    }
}

/* ---- looking ---- */

static enum petal_status
read_table(const struct database *database, const char *name, struct step_table *read,
           petal_error *error)
{
    static const char *const rows[] = {"first", "second", "third"};
    const petal_cell *cell;
    petal_table *table;
    petal_cursor *cursor;
    enum petal_status status = petal_table_open(database->db, database_text(name), &table, error);

    *read = (struct step_table){.there = status == PETAL_OK};
    if (status == PETAL_NOT_FOUND)
        return PETAL_OK;
    if (status != PETAL_OK)
        return status;
    read->has_second_family = petal_table_family_count(table) == 2;
    status = petal_cursor_open(table, NULL, &cursor, error);
    while (status == PETAL_OK) {
        size_t at = 0;
        char digits[24] = {0};

        status = petal_cursor_next(cursor, &cell, error);
        if (status != PETAL_OK || cell == NULL)
            break;
        while (at < 3 && (cell->row.size != strlen(rows[at]) ||
                          memcmp(cell->row.data, rows[at], cell->row.size) != 0))
            at++;
        if (((const char *)cell->family.data)[0] == 'g')
            at += 3;
        if (at >= CELLS || cell->value.size >= sizeof digits) {
            status = database_wrong(error, "table %s has a cell that no step put", name);
            break;
        }
        memcpy(digits, cell->value.data, cell->value.size);
        read->cells[at] = strtoull(digits, NULL, 10);
    }
    petal_cursor_close(cursor);
    return status;
}

static bool
note_snapshot(void *argument, const petal_table_snapshot_info *info)
{
    (void)info;
    *(bool *)argument = true;
    return true;
}

static bool
is_equal(const struct step_table *a, const struct step_table *b)
{
    return a->there == b->there &&
           (!a->there || (a->has_second_family == b->has_second_family &&
                          memcmp(a->cells, b->cells, sizeof a->cells) == 0));
}

static void
describe(char text[128], const struct step_table *table)
{
    if (!table->there)
        snprintf(text, 128, "not there");
    else
        snprintf(text, 128, "%d families, %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                 table->has_second_family ? 2 : 1, table->cells[0], table->cells[1],
                 table->cells[2], table->cells[3]);
}

enum petal_status
database_check_steps(const struct database *database, uint64_t steps, petal_error *error)
{
    struct step_state state = {0}, found = {0};
    char table[128], clone[128];
    enum petal_status status = read_table(database, table_name, &found.table, error);

    /* A round leaves nothing behind. */
    for (uint64_t step = steps - steps % STEP_KINDS + 1; step <= steps; step++)
        apply(&state, step);
    if (status == PETAL_OK)
        status = read_table(database, clone_name, &found.clone, error);
    if (status == PETAL_OK)
        status = petal_table_snapshot_list(database->db, note_snapshot, &found.taken.there, error);
    if (status != PETAL_OK)
        return status;
    if (is_equal(&state.table, &found.table) && is_equal(&state.clone, &found.clone) &&
        state.taken.there == found.taken.there)
        return PETAL_OK;
    describe(table, &found.table);
    describe(clone, &found.clone);
    return database_wrong(error, "after step %" PRIu64 ": the table is %s; its clone is %s; %s",
                          steps, table, clone,
                          found.taken.there ? "there is a snapshot" : "there is no snapshot");
}
