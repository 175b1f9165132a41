/* act.c -- see tests/crash/act.h. */
#include "tests/crash/act.h"

#include "base/slice.h"
#include "engine/compact/compactor.h"
#include "engine/wal/wal.h"
#include "tests/crash/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
act_is_write(const struct act *act)
{
    return act->kind <= ACT_BULK;
}

bool
act_is_loose(const struct act *act)
{
    return act_is_write(act) && act->durability == PETAL_SKIP_WAL;
}

bool
act_is_change(const struct act *act)
{
    return act->kind >= ACT_CREATE && act->kind <= ACT_FORGET;
}

bool
act_is_unsure(const struct act *act)
{
    return act->failed && !act->refused && !act_is_loose(act) &&
           (act_is_write(act) || act_is_change(act));
}

bool
act_replaces(const struct act *act, unsigned table)
{
    switch (act->kind) {
    case ACT_RESTORE:
        return true; /* which table it is the snapshot tells */
    case ACT_CREATE:
    case ACT_DROP:
    case ACT_TRUNCATE:
    case ACT_CLONE:
    case ACT_DROP_FAMILY:
        return act->table == table;
    default:
        return false;
    }
}

/* ---- the world ---- */

static bool
fits_cells(const struct act *act, const struct world *world)
{
    for (size_t i = 0; i < act->cell_count; i++) {
        const struct world_table *table = &world->tables[act->cells[i].table];

        if (!table->there || table->shape == WORLD_SHAPES - 1 ||
            !table->families[act->cells[i].family].there)
            return false;
    }
    return act->cell_count > 0;
}

static unsigned
count_families(const struct world_table *table)
{
    unsigned count = 0;

    for (unsigned f = 0; f < WORLD_FAMILIES; f++)
        count += table->families[f].there != 0;
    return count;
}

bool
act_fits(const struct act *act, const struct world *world)
{
    const struct world_table *table = act->table < WORLD_TABLES ? &world->tables[act->table] : NULL;
    const struct world_snapshot *snapshot = &world->snapshots[act->snapshot];

    if (act_is_write(act))
        return fits_cells(act, world);
    switch (act->kind) {
    case ACT_CREATE:
        return !table->there;
    case ACT_DROP:
    case ACT_TRUNCATE:
    case ACT_ALTER_TABLE:
    case ACT_ALTER_FAMILY:
        return table->there != 0;
    case ACT_DROP_FAMILY:
        return table->there && table->families[act->family].there && count_families(table) > 1;
    case ACT_SNAPSHOT:
        return table->there && !snapshot->there;
    case ACT_CLONE:
        return snapshot->there && !table->there;
    case ACT_RESTORE:
    case ACT_FORGET:
        return snapshot->there != 0;
    default:
        return table == NULL || table->there;
    }
}

static void
apply_cell(const struct act *act, const struct act_cell *cell, struct world *world)
{
    struct world_family *family = &world->tables[cell->table].families[cell->family];
    uint64_t *row = &family->slots[cell->row * WORLD_QUALIFIERS];

    switch (cell->kind) {
    case ACT_CELL_PUT:
        row[cell->qualifier] = act->number;
        break;
    case ACT_CELL_INCREMENT:
        row[cell->qualifier] = (row[cell->qualifier] | WORLD_SUM) + act->number;
        break;
    case ACT_CELL_DELETE:
        row[cell->qualifier] = 0;
        break;
    case ACT_CELL_DELETE_ROW:
        memset(row, 0, WORLD_QUALIFIERS * sizeof *row);
        break;
    }
}

static void
apply_create(const struct act *act, struct world_table *table)
{
    table->there = 1;
    table->shape = act->shape;
    for (unsigned f = 0; f + 1 < WORLD_FAMILIES; f++)
        table->families[f] = (struct world_family){.there = 1, .shape = act->shape};
}

void
act_apply(const struct act *act, struct world *world)
{
    struct world_table *table = &world->tables[act->table % WORLD_TABLES];
    struct world_snapshot *snapshot = &world->snapshots[act->snapshot];

    if (!act_fits(act, world))
        return;
    for (size_t i = 0; act_is_write(act) && i < act->cell_count; i++)
        apply_cell(act, &act->cells[i], world);
    switch (act->kind) {
    case ACT_CREATE:
        apply_create(act, table);
        break;
    case ACT_DROP:
        memset(table, 0, sizeof *table);
        break;
    case ACT_TRUNCATE:
        for (unsigned f = 0; f < WORLD_FAMILIES; f++)
            memset(table->families[f].slots, 0, sizeof table->families[f].slots);
        break;
    case ACT_ALTER_TABLE:
        table->shape = act->shape;
        break;
    case ACT_ALTER_FAMILY:
        table->families[act->family].there = 1;
        table->families[act->family].shape = act->shape;
        break;
    case ACT_DROP_FAMILY:
        memset(&table->families[act->family], 0, sizeof table->families[act->family]);
        break;
    case ACT_SNAPSHOT:
        *snapshot = (struct world_snapshot){1, act->table, *table};
        break;
    case ACT_CLONE:
        *table = snapshot->content;
        break;
    case ACT_RESTORE:
        world->tables[snapshot->table] = snapshot->content;
        break;
    case ACT_FORGET:
        memset(snapshot, 0, sizeof *snapshot);
        break;
    default:
        break;
    }
}

/* ---- the database: writes ---- */

struct target {
    petal_family *family;
    petal_slice row, qualifier;
};

static enum petal_status
find_target(petal_db *db, const struct act_cell *cell, struct target *target, petal_error *error)
{
    petal_table *table;
    enum petal_status status = petal_table_open(db, world_table_name(cell->table), &table, error);

    if (status == PETAL_OK)
        status = petal_table_family(table, world_family_name(cell->family), &target->family, error);
    target->row = world_row_name(cell->row);
    target->qualifier = world_qualifier_name(cell->qualifier);
    return status;
}

static petal_slice
value_of(const struct act *act, const struct act_cell *cell)
{
    static _Thread_local char bytes[WORLD_VALUE_BYTES];

    return world_value(bytes, act->number, cell->family,
                       cell->row * WORLD_QUALIFIERS + cell->qualifier, act->filler);
}

static enum petal_status
put(const struct act *act, petal_db *db, const petal_write_options *options, petal_error *error)
{
    const struct act_cell *cell = &act->cells[0];
    struct target target;
    enum petal_status status = find_target(db, cell, &target, error);

    if (status != PETAL_OK)
        return status;
    switch (cell->kind) {
    case ACT_CELL_PUT:
        return petal_put(target.family, target.row, target.qualifier, PETAL_LATEST,
                         value_of(act, cell), options, error);
    case ACT_CELL_INCREMENT:
        return petal_increment(target.family, target.row, target.qualifier, (int64_t)act->number,
                               options, NULL, error);
    case ACT_CELL_DELETE:
        return petal_delete(target.family, target.row, target.qualifier, PETAL_LATEST,
                            PETAL_DELETE_COLUMN, options, error);
    default:
        return petal_delete(target.family, target.row, slice_make(NULL, 0), PETAL_LATEST,
                            PETAL_DELETE_FAMILY, options, error);
    }
}

static enum petal_status
add_cell(const struct act *act, const struct act_cell *cell, petal_db *db, petal_batch *batch,
         petal_error *error)
{
    struct target target;
    enum petal_status status = find_target(db, cell, &target, error);

    if (status != PETAL_OK)
        return status;
    switch (cell->kind) {
    case ACT_CELL_PUT:
        return petal_batch_put(batch, target.family, target.row, target.qualifier, PETAL_LATEST,
                               value_of(act, cell), error);
    case ACT_CELL_INCREMENT:
        return petal_batch_increment(batch, target.family, target.row, target.qualifier,
                                     (int64_t)act->number, error);
    case ACT_CELL_DELETE:
        return petal_batch_delete(batch, target.family, target.row, target.qualifier, PETAL_LATEST,
                                  PETAL_DELETE_COLUMN, error);
    default:
        return petal_batch_delete(batch, target.family, target.row, slice_make(NULL, 0),
                                  PETAL_LATEST, PETAL_DELETE_FAMILY, error);
    }
}

/* The condition holds: the row has at its first cell's column what the world says. */
static enum petal_status
mutate_row(const struct act *act, petal_db *db, const struct world *world, petal_batch *batch,
           const petal_write_options *options, petal_error *error)
{
    const struct act_cell *cell = &act->cells[0];
    uint64_t held = world->tables[cell->table]
                        .families[cell->family]
                        .slots[cell->row * WORLD_QUALIFIERS + cell->qualifier];
    petal_condition condition = {.absent = held == 0, .compare = PETAL_NOT_EQUAL};
    struct target target;
    petal_table *table;
    bool applied = false;
    enum petal_status status = petal_table_open(db, world_table_name(cell->table), &table, error);

    if (status == PETAL_OK)
        status = find_target(db, cell, &target, error);
    if (status != PETAL_OK)
        return status;
    condition.family = target.family;
    condition.qualifier = target.qualifier;
    status = petal_mutate_row(table, target.row, &condition, batch, options, &applied, error);
    if (status == PETAL_OK && !applied)
        status = PETAL_INVALID; /* the database is not as it should be */
    return status;
}

static enum petal_status
write_batch(const struct act *act, petal_db *db, const struct world *world,
            const petal_write_options *options, petal_error *error)
{
    petal_batch *batch;
    enum petal_status status = petal_batch_new(db, &batch, error);

    for (size_t i = 0; status == PETAL_OK && i < act->cell_count; i++)
        status = add_cell(act, &act->cells[i], db, batch, error);
    if (status == PETAL_OK && act->kind == ACT_MUTATE_ROW)
        status = mutate_row(act, db, world, batch, options, error);
    else if (status == PETAL_OK)
        status = petal_write(db, batch, options, error);
    petal_batch_free(batch);
    return status;
}

/* ---- the database: bulks ---- */

static enum petal_status
add_to_bulk(const struct act *act, const struct act_cell *cell, petal_db *db, petal_bulk *bulk,
            petal_error *error)
{
    bool deletes = cell->kind == ACT_CELL_DELETE;
    petal_cell added = {.timestamp = env_clock_ms(&db->env),
                        .type = deletes ? PETAL_DELETE_COLUMN : PETAL_PUT,
                        .value = deletes ? slice_make(NULL, 0) : value_of(act, cell)};
    struct target target;
    enum petal_status status = find_target(db, cell, &target, error);

    if (status != PETAL_OK)
        return status;
    added.row = target.row;
    added.qualifier = target.qualifier;
    return petal_bulk_add(bulk, target.family, &added, error);
}

/* Another write comes between its beginning and its commit, and changes nothing. */
static enum petal_status
shift_bulk(const struct act *act, petal_db *db, petal_error *error)
{
    struct target target;
    enum petal_status status = find_target(db, &act->cells[0], &target, error);

    return status == PETAL_OK ? petal_delete(target.family, slice_from_text("between"),
                                             slice_from_text("q"), 1, PETAL_DELETE, NULL, error)
                              : status;
}

/* Writes get later timestamps than the clock gives, which cells of a bulk take: it would lose. */
static bool
clock_is_behind(petal_db *db)
{
    return env_clock_ms(&db->env) <= atomic_load(&db->views.published_timestamp);
}

static enum petal_status
load_bulk(const struct act *act, petal_db *db, petal_error *error)
{
    petal_bulk *bulk = NULL;
    petal_table *table;
    enum petal_status status =
        petal_table_open(db, world_table_name(act->cells[0].table), &table, error);

    if (status == PETAL_OK)
        status = petal_bulk_begin(table, NULL, &bulk, error);
    for (size_t i = 0; status == PETAL_OK && i < act->cell_count; i++)
        status = add_to_bulk(act, &act->cells[i], db, bulk, error);
    if (status == PETAL_OK && act->number % 2 == 0)
        status = shift_bulk(act, db, error);
    if (status == PETAL_OK)
        status = petal_bulk_commit(bulk, error);
    petal_bulk_free(bulk);
    return status;
}

/* ---- the database: changes ---- */

/* A table's options with all that they point to. */
struct shape {
    petal_family_options families[WORLD_FAMILIES];
    petal_attribute family_attributes[WORLD_FAMILIES], attributes[2];
    petal_table_options table;
};

/* Large, so that the manifest grows. */
#define TEXT_BYTES 20000

static petal_attribute
shape_attribute(uint64_t shape)
{
    static const char digits[] = "0123456789";

    return (petal_attribute){PETAL_METADATA, slice_from_text("shape"),
                             slice_make(&digits[shape], 1)};
}

static void
make_shape(struct shape *shape, petal_slice name, const struct world_table *table)
{
    static const enum petal_bloom_type blooms[] = {PETAL_BLOOM_ROW, PETAL_BLOOM_ROWCOL,
                                                   PETAL_BLOOM_NONE, PETAL_BLOOM_ROW_ROWCOL};
    static char text[TEXT_BYTES];
    size_t count = 0;

    *shape = (struct shape){.table = {.name = name,
                                      .families = shape->families,
                                      .attributes = shape->attributes,
                                      .attribute_count = table->shape == 2 ? 2 : 1,
                                      .read_only = table->shape == WORLD_SHAPES - 1}};
    shape->attributes[0] = shape_attribute(table->shape);
    shape->attributes[1] =
        (petal_attribute){PETAL_METADATA, slice_from_text("text"), slice_make(text, sizeof text)};
    for (unsigned f = 0; f < WORLD_FAMILIES; f++) {
        uint64_t look = table->families[f].shape;

        if (!table->families[f].there)
            continue;
        shape->family_attributes[count] = shape_attribute(look);
        shape->families[count] = (petal_family_options){
            .name = world_family_name(f),
            .versions = (uint32_t)look + 1,
            .block_bytes = 1024,
            .compression = look == 1 ? PETAL_COMPRESSION_NONE : PETAL_COMPRESSION_DEFAULT,
            .bloom = blooms[(look + f) % 4],
            .attributes = &shape->family_attributes[count],
            .attribute_count = 1};
        count++;
    }
    shape->table.family_count = count;
}

static enum petal_status
change_schema(const struct act *act, petal_db *db, const struct world *world, petal_error *error)
{
    petal_slice name = world_table_name(act->table);
    struct world *after = test_allocate(sizeof *after);
    struct shape shape;
    petal_table *table;
    enum petal_status status;

    *after = *world;
    act_apply(act, after);
    make_shape(&shape, name, &after->tables[act->table]);
    free(after);
    if (act->kind == ACT_CREATE)
        return petal_table_create(db, &shape.table, &table, error);
    status = petal_table_open(db, name, &table, error);
    return status == PETAL_OK ? petal_table_alter(table, &shape.table, error) : status;
}

static enum petal_status
change_snapshots(const struct act *act, petal_db *db, petal_error *error)
{
    petal_table_snapshot_options options = {.ttl_seconds = act->snapshot == WORLD_BRIEF};
    petal_slice name = world_snapshot_name(act->snapshot);
    petal_table *table;
    enum petal_status status;

    switch (act->kind) {
    case ACT_CLONE:
        return petal_table_snapshot_clone(db, name, world_table_name(act->table), &table, error);
    case ACT_RESTORE:
        return petal_table_snapshot_restore(db, name, &table, error);
    case ACT_FORGET:
        return petal_table_snapshot_delete(db, name, error);
    default:
        status = petal_table_open(db, world_table_name(act->table), &table, error);
        return status == PETAL_OK ? petal_table_snapshot_create(table, name, &options, error)
                                  : status;
    }
}

/* ---- the database: what is neutral ---- */

static enum petal_status
compact(const struct act *act, petal_table *table, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (act->kind == ACT_COMPACT)
        return petal_compact(table, NULL, error);
    for (size_t i = 0; status == PETAL_OK && i < petal_table_family_count(table); i++)
        status = compactor_compact_runs(petal_table_family_at(table, i), act->first_run,
                                        act->run_count, error);
    return status;
}

/* Before the row a region may begin already. */
static enum petal_status
split(petal_table *table, unsigned row, petal_error *error)
{
    enum petal_status status = petal_table_split(table, world_row_name(row), 0, error);

    return status == PETAL_INVALID ? PETAL_OK : status;
}

struct neighbours {
    uint32_t ids[2];
    size_t wanted, count;
};

static bool
note_region(void *argument, const petal_region_info *info)
{
    struct neighbours *neighbours = argument;

    neighbours->ids[0] = neighbours->ids[1];
    neighbours->ids[1] = info->id;
    return ++neighbours->count < neighbours->wanted;
}

static enum petal_status
merge(petal_table *table, size_t first, petal_error *error)
{
    struct neighbours neighbours = {.wanted = first + 2};
    enum petal_status status = petal_table_regions(table, note_region, &neighbours, error);

    if (status != PETAL_OK || neighbours.count < 2)
        return status;
    return petal_table_merge(table, neighbours.ids[0], neighbours.ids[1], error);
}

static enum petal_status
do_neutral(const struct act *act, petal_db *db, petal_table *table, petal_error *error)
{
    struct world world;
    bool wrong;

    switch (act->kind) {
    case ACT_FLUSH:
        return petal_flush(db, table, error);
    case ACT_COMPACT:
    case ACT_COMPACT_SOME:
        return compact(act, table, error);
    case ACT_SPLIT:
        return split(table, (unsigned)act->first_run, error);
    case ACT_MERGE:
        return merge(table, act->first_run, error);
    case ACT_ROTATE:
        return fixture_rotate_log(db, error);
    case ACT_SPARE:
        wal_make_spare(db);
        return PETAL_OK;
    case ACT_CHECKPOINT:
        return petal_checkpoint(db, act->path, error);
    default:
        return world_read(db, true, &world, &wrong, error);
    }
}

enum petal_status
act_do(const struct act *act, petal_db *db, const struct world *world, petal_error *error)
{
    petal_write_options options = {.durability = act->durability};
    petal_table *table = NULL, *made;
    enum petal_status status = PETAL_OK;

    switch (act->kind) {
    case ACT_PUT:
        return put(act, db, &options, error);
    case ACT_BATCH:
    case ACT_MUTATE_ROW:
        return write_batch(act, db, world, &options, error);
    case ACT_BULK:
        return clock_is_behind(db) ? write_batch(act, db, world, &options, error)
                                   : load_bulk(act, db, error);
    case ACT_CREATE:
    case ACT_ALTER_TABLE:
    case ACT_ALTER_FAMILY:
    case ACT_DROP_FAMILY:
        return change_schema(act, db, world, error);
    case ACT_SNAPSHOT:
    case ACT_CLONE:
    case ACT_RESTORE:
    case ACT_FORGET:
        return change_snapshots(act, db, error);
    default:
        break;
    }
    if (act->table < WORLD_TABLES)
        status = petal_table_open(db, world_table_name(act->table), &table, error);
    if (status != PETAL_OK)
        return status;
    if (act->kind == ACT_DROP)
        return petal_table_drop(table, error);
    if (act->kind == ACT_TRUNCATE)
        return petal_table_truncate(table, &made, error);
    return do_neutral(act, db, table, error);
}
