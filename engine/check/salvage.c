/*
 * salvage.c -- petal_salvage: writes what can still be read of a database into a new one.
 *
 * Cells keep their sequences, so the order of writes stays: the readable cells of each family, from
 * store files and logs, are merged into new store files.
 */
#include "base/argument.h"
#include "engine/check/judge.h"
#include "engine/check/logs.h"
#include "engine/check/sources.h"

#include "bloom/hash.h"
#include "engine/db/new_database.h"
#include "engine/db/new_files.h"

struct salvage {
    struct place *place;
    struct plan *plan;
    struct new_database made;
    struct manifest_edit edit; /* that makes the state of the new one */
    uint64_t salt;
    uint64_t next_number;
    uint64_t last_sequence;
    int64_t last_timestamp; /* that was assigned, as far as it is known */
};

/* ---- the clock ---- */

/* Timestamps that are assigned later must not be below this one. */
static void
note_timestamp(struct salvage *salvage, int64_t timestamp)
{
    if (timestamp > salvage->last_timestamp)
        salvage->last_timestamp = timestamp;
}

/* A store file does not record which timestamps the store assigned: those up to the time at which
 * it was written are treated as assigned, later ones not. */
static void
note_file_timestamp(struct salvage *salvage, const struct whole_cells *cells)
{
    const struct file_facts *facts = cells->walk != NULL ? sst_walk_facts(cells->walk) : NULL;

    if (facts == NULL || facts->cells == 0)
        return;
    note_timestamp(salvage,
                   facts->time_max < facts->written_ms ? facts->time_max : facts->written_ms);
}

/* ---- logs ---- */

static enum petal_status
keep_logged(void *argument, const struct record_cell *logged, petal_error *error)
{
    struct salvage *salvage = argument;
    const struct cell *cell = &logged->cell;
    struct plan_family *family;
    enum petal_status status =
        plan_find(salvage->plan, logged->table_id, logged->family_id, &family, error);

    if (logged->assigned)
        note_timestamp(salvage, cell->timestamp);
    if (status != PETAL_OK || family == NULL)
        return status;
    if (logged->ahead && cell->timestamp > family->ahead && cell->timestamp != PETAL_LATEST)
        family->ahead = cell->timestamp;
    /* Whole files have the cells that were flushed, except dropped ones, which must not come back.
     * Sequences ascend, or they are forged. */
    if ((cell->sequence <=
             plan_flushed(salvage->plan, logged->table_id, logged->family_id, cell->row) &&
         !family->lost) ||
        cell->sequence <= family->logged_sequence)
        return PETAL_OK;
    if (family->logged == NULL &&
        memtable_new(&family->logged, salvage->place->env.allocator) != PETAL_OK)
        return error_no_memory(error);
    if (memtable_reserve(family->logged, 1,
                         cell->row.size + cell->qualifier.size + cell->value.size,
                         NULL) != PETAL_OK ||
        memtable_add(family->logged, cell,
                     bloom_hash_row(salvage->salt, cell->row.data, cell->row.size)) != PETAL_OK)
        return error_no_memory(error);
    family->logged_sequence = cell->sequence;
    return PETAL_OK;
}

/* ---- one family ---- */

struct output {
    struct salvage *salvage;
    uint32_t table;  /* its id in the new database */
    uint16_t family; /* its place, and its id in the new database */
};

static bool
note_file(void *argument, const struct manifest_file *file)
{
    const struct output *output = argument;
    struct salvage *salvage = output->salvage;

    if (file->sequence_max > salvage->last_sequence)
        salvage->last_sequence = file->sequence_max;
    salvage->place->counts->cells += file->cells;
    manifest_edit_add_file(&salvage->edit, output->table, output->family, file);
    return true; /* an edit that lacks memory is refused */
}

static enum petal_status
write_family(struct salvage *salvage, const struct plan_table *table, uint16_t at,
             petal_error *error)
{
    const struct plan_family *family = &table->families[at];
    struct output output = {salvage, plan_new_id(salvage->plan, table), at};
    struct new_files files = {
        .directory = &salvage->made.directory,
        .options = &family->options,
        .owner = {output.table, at, table->options.name, family->options.name},
        .origin = FILE_ORIGIN_MINOR,
        .salt = salvage->salt,
        .next_number = &salvage->next_number,
        .made = note_file,
        .argument = &output,
    };
    struct sources sources;
    enum petal_status status = sources_open(&sources, salvage->plan, table, family, error);

    for (size_t i = 0; status == PETAL_OK && i < sources.file_count; i++)
        note_file_timestamp(salvage, &sources.files[i]);
    if (status == PETAL_OK)
        status = new_files_write(&files, sources.list, sources.count, error);
    sources_close(&sources);
    new_files_fini(&files);
    return status;
}

/* ---- the new database ---- */

/* Families get the ids 0, 1, .. within their table. */
static enum petal_status
write_table(struct salvage *salvage, const struct plan_table *table, petal_error *error)
{
    uint32_t id = plan_new_id(salvage->plan, table);
    enum petal_status status = PETAL_OK;

    if (plan_is_snapshot(table))
        salvage->place->counts->snapshots++;
    else
        salvage->place->counts->tables++;
    manifest_edit_create_table(&salvage->edit, id, &table->options, &table->snapshot);
    for (size_t f = 0; status == PETAL_OK && f < table->family_count; f++) {
        const struct plan_family *family = &table->families[f];

        salvage->place->counts->families++;
        manifest_edit_create_family(&salvage->edit, id, (uint16_t)f, &family->options);
        manifest_edit_ahead(&salvage->edit, id, (uint16_t)f, family->ahead);
        status = write_family(salvage, table, (uint16_t)f, error);
    }
    return status;
}

static enum petal_status
write_database(struct salvage *salvage, petal_error *error)
{
    const struct manifest *old = salvage->place->manifest;
    const struct plan *plan = salvage->plan;
    uint64_t sequence;
    enum petal_status status = PETAL_OK;

    for (size_t t = 0; status == PETAL_OK && t < plan->table_count; t++)
        status = write_table(salvage, &plan->tables[t], error);
    if (status == PETAL_OK)
        status = check_place_confirm(salvage->place, error);
    if (status != PETAL_OK)
        return status;
    sequence = salvage->last_sequence;
    if (old != NULL && old->last_sequence > sequence)
        sequence = old->last_sequence;
    if (sequence < CELL_SEQUENCE_FIRST - 1)
        sequence = CELL_SEQUENCE_FIRST - 1;
    if (old != NULL)
        note_timestamp(salvage, old->last_timestamp);
    manifest_edit_counters(&salvage->edit, salvage->next_number, sequence, salvage->last_timestamp);
    manifest_edit_oldest_log(&salvage->edit, salvage->next_number);
    return new_database_complete(&salvage->made, env_random(&salvage->place->env), salvage->salt,
                                 &salvage->edit, error);
}

/* ---- all ---- */

static enum petal_status
salvage_into(struct place *place, const char *destination, petal_error *error)
{
    struct plan plan;
    struct salvage salvage = {.place = place, .plan = &plan, .next_number = 1};
    enum petal_status status;

    plan_init(&plan, place);
    manifest_edit_init(&salvage.edit, place->env.allocator);
    salvage.salt = env_random(&place->env);
    place->total *= 2; /* files are read twice: to choose them, and to take their cells */
    status = judge_manifest(place, error);
    if (status == PETAL_OK)
        status = plan_make(&plan, error);
    if (status == PETAL_OK)
        status = new_database_begin(&salvage.made, &place->env, destination, error);
    if (status == PETAL_OK)
        status = sources_choose(&plan, error);
    if (status == PETAL_OK)
        status = check_logs(place, keep_logged, &salvage, error);
    if (status == PETAL_OK)
        status = plan_settle_names(&plan, error);
    if (status == PETAL_OK)
        status = write_database(&salvage, error);
    new_database_end(&salvage.made, status == PETAL_OK);
    manifest_edit_fini(&salvage.edit);
    plan_fini(&plan);
    return status;
}

/* Nothing is written into the source. A directory that contains it is not empty. */
static enum petal_status
check_destination(const struct place *place, const char *destination, petal_error *error)
{
    bool contains;
    int failed;

    if (!filename_directory_fits(destination))
        return error_set(error, PETAL_INVALID, "the path of the directory is empty or too long");
    failed = directory_contains(&place->directory, destination, &contains);
    if (failed != 0)
        return error_io(error, destination, failed, "tell the place of");
    if (contains)
        return error_file(error, PETAL_INVALID, destination,
                          "%s lies in %s, the directory that is salvaged, which is never written "
                          "to; name another one",
                          destination, place->directory.path);
    return PETAL_OK;
}

enum petal_status
petal_salvage(const char *directory, const char *destination, const petal_check_options *options,
              petal_check_counts *counts, petal_error *error)
{
    RETURN_IF_NULL(directory, error);
    RETURN_IF_NULL(destination, error);

    struct place place;
    enum petal_status status;

    error_clear(error);
    status = check_place_open(&place, directory, options, counts, error);
    if (status == PETAL_OK)
        status = check_destination(&place, destination, error);
    if (status == PETAL_OK && place.unread.status != PETAL_OK)
        status = error_copy(error, &place.unread);
    if (status == PETAL_OK)
        status = salvage_into(&place, destination, error);
    check_place_close(&place);
    return status;
}
