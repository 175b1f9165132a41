/*
 * salvage.c -- petal_salvage: writes what can still be read of a database into a new one.
 *
 * Cells keep their sequences, so the order of writes stays: the readable cells of each family, from
 * store files and logs, are merged into new store files. The manifest of the new database comes
 * last: until then petal_open refuses the directory.
 */
#include "base/argument.h"
#include "engine/check/judge.h"
#include "engine/check/logs.h"
#include "engine/check/whole_cells.h"

#include "base/mem.h"
#include "base/merge_iter.h"
#include "bloom/hash.h"
#include "engine/db/lock.h"
#include "sstable/sst_writer.h"

#include <assert.h>
#include <errno.h>

#define FILE_BYTES ((uint64_t)1 << 30) /* then another one is begun, at the next row */

struct salvage {
    struct place *place;
    struct plan *plan;
    struct directory directory; /* the new one */
    petal_file *lock;
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
    const petal_allocator *allocator = salvage->place->env.allocator;
    const struct cell *cell = &logged->cell;
    struct plan_family *family;
    struct memtable **kept;
    enum petal_status status =
        plan_find(salvage->plan, logged->table_id, logged->family_id, &family, error);

    if (logged->assigned)
        note_timestamp(salvage, cell->timestamp);
    if (status != PETAL_OK || family == NULL)
        return status;
    if (logged->ahead && cell->timestamp > family->ahead && cell->timestamp != PETAL_LATEST)
        family->ahead = cell->timestamp;
    /* Sequences ascend, or they are forged. */
    if (cell->sequence <= family->logged_sequence)
        return PETAL_OK;
    kept = cell->sequence <= family->flushed ? &family->flushed_logged : &family->logged;
    if (*kept == NULL && memtable_new(kept, allocator) != PETAL_OK)
        return error_no_memory(error);
    if (memtable_reserve(*kept, 1, cell->row.size + cell->qualifier.size + cell->value.size,
                         NULL) != PETAL_OK ||
        memtable_add(*kept, cell, bloom_hash_row(salvage->salt, cell->row.data, cell->row.size)) !=
            PETAL_OK)
        return error_no_memory(error);
    family->logged_sequence = cell->sequence;
    return PETAL_OK;
}

/* ---- one family ---- */

struct output {
    struct salvage *salvage;
    const struct plan_table *table;
    struct plan_family *family;
    struct sst_writer *writer; /* NULL: no file is begun */
    struct manifest_file described;
    struct kept_cell last; /* that was written */
};

static enum petal_status
begin_file(struct output *output, petal_error *error)
{
    struct salvage *salvage = output->salvage;
    const petal_family_options *family = &output->family->options;
    const struct env *env = &salvage->place->env;
    const struct sst_options options = {
        .block_bytes = family->block_bytes,
        .compression = family->compression,
        .bloom = family->bloom,
        .bloom_prefix_bytes = family->bloom_prefix_bytes,
        .bloom_error_rate = family->bloom_error_rate,
        .salt = salvage->salt,
        .file_identity = env_random(env),
        .origin = FILE_ORIGIN_MINOR,
        .written_ms = env_clock_ms(env),
        .owner = {plan_new_id(salvage->plan, output->table),
                  (uint16_t)(output->family - output->table->families), output->table->options.name,
                  family->name},
    };
    char path[PETAL_PATH_BYTES];

    output->described =
        (struct manifest_file){.number = salvage->next_number++, .identity = options.file_identity};
    output->described.run =
        output->family->made_count > 0 ? output->family->made[0].run : output->described.number;
    filename_store_file(path, salvage->directory.path, output->described.number);
    return sst_writer_open(&output->writer, &salvage->directory, path, &options, error);
}

static enum petal_status
end_file(struct output *output, petal_error *error)
{
    struct plan_family *family = output->family;
    const struct file_facts *facts;
    enum petal_status status = sst_writer_finish(output->writer, &facts, error);

    if (status != PETAL_OK)
        return status;
    output->described.file_bytes = facts->file_bytes;
    output->described.sequence_min = facts->sequence_min;
    output->described.sequence_max = facts->sequence_max;
    output->described.cells = facts->cells;
    if (facts->sequence_max > output->salvage->last_sequence)
        output->salvage->last_sequence = facts->sequence_max;
    sst_writer_free(output->writer);
    output->writer = NULL;
    if (!mem_grow_array(output->salvage->place->env.allocator, &family->made,
                        &family->made_capacity, family->made_count, family->made_count + 1,
                        sizeof *family->made))
        return error_no_memory(error);
    family->made[family->made_count++] = output->described;
    return PETAL_OK;
}

/* A cell of two sources is written once. */
static enum petal_status
write_cell(struct output *output, const struct cell *cell, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (output->last.is_kept && cell_compare(&output->last.cell, cell) >= 0)
        return PETAL_OK;
    if (output->writer != NULL && sst_writer_bytes(output->writer) >= FILE_BYTES &&
        !slice_equal(output->last.cell.row, cell->row))
        status = end_file(output, error);
    if (status == PETAL_OK && output->writer == NULL)
        status = begin_file(output, error);
    if (status == PETAL_OK)
        status = sst_writer_add(output->writer, cell, error);
    if (status == PETAL_OK &&
        !kept_cell_keep(&output->last, output->salvage->place->env.allocator, cell))
        status = error_no_memory(error);
    return status;
}

static enum petal_status
write_all(struct output *output, struct cell_iter *const *sources, size_t count, petal_error *error)
{
    struct merge_iter merge;
    enum petal_status status =
        merge_iter_init(&merge, output->salvage->place->env.allocator, sources, count);

    if (status != PETAL_OK)
        return error_no_memory(error);
    status = merge.iter.ops->seek_first(&merge.iter, error);
    while (status == PETAL_OK && merge.iter.valid) {
        status = write_cell(output, &merge.iter.cell, error);
        if (status == PETAL_OK)
            status = merge.iter.ops->next(&merge.iter, error);
    }
    if (status == PETAL_OK && output->writer != NULL)
        status = end_file(output, error);
    merge.iter.ops->close(&merge.iter);
    return status;
}

/* Where the cells of a family come from. Each step has those of the steps before it, and is taken
 * if they had lost cells. */
enum salvage_step {
    SALVAGE_FILES, /* the family's files, and logged cells that are in none */
    SALVAGE_LINKS, /* other links of the files: they may have become copies since */
    SALVAGE_LOGS,  /* logged cells that were flushed: whole files have them, except dropped ones,
                    * which must not come back */
    SALVAGE_STEPS
};

/* The cells that are to be written. */
struct sources {
    struct cell_iter **list;
    struct whole_cells *files; /* each file of the family, and after it its other links */
    size_t count, file_count, most;
    struct memtable_iter logged, flushed;
};

static enum petal_status
add_source(struct sources *sources, const struct output *output, const struct plan_file *file,
           bool quiet, bool is_link, petal_error *error)
{
    struct whole_cells *cells = &sources->files[sources->file_count++];
    enum petal_status status = whole_cells_open(cells, output->salvage->plan, output->table,
                                                output->family, file, quiet, error);

    assert(sources->file_count <= sources->most);
    cells->is_link = is_link;
    note_file_timestamp(output->salvage, cells);
    sources->list[sources->count++] = &cells->iter;
    return status;
}

/* All other links of the family's file. */
static enum petal_status
add_links(struct sources *sources, const struct output *output, const struct plan_file *file,
          petal_error *error)
{
    const struct plan *plan = output->salvage->plan;
    enum petal_status status = PETAL_OK;
    size_t place = 0;
    uint64_t index;

    while (status == PETAL_OK && number_map_next(&plan->links, file->identity, &place, &index)) {
        struct plan_file link = *file;

        link.number = plan->place->files[index].number;
        if (link.number != file->number)
            status = add_source(sources, output, &link, true, true, error);
    }
    return status;
}

/* Another link has all cells of a file that lost some. */
static void
tell_taken(const struct output *output, const struct whole_cells *file,
           const struct whole_cells *link)
{
    struct place *place = output->salvage->place;
    char path[PETAL_PATH_BYTES], other[PETAL_PATH_BYTES];
    petal_error error;
    petal_fault fault;

    filename_store_file(path, place->directory.path, file->number);
    filename_store_file(other, place->directory.path, link->number);
    error_corrupt(&error, path, 0,
                  "%s is damaged or missing; %s is the same file, and was read in "
                  "its place",
                  path, other);
    fault = plan_fault_of(output->table, output->family, &error);
    check_place_tell(place, &fault);
}

/* Are there files of which neither they nor a link of them gave all cells? */
static bool
have_lost(const struct output *output, const struct sources *sources, enum salvage_step step)
{
    const struct whole_cells *file = NULL;
    bool lost = false, whole = true;

    for (size_t i = 0; i < sources->file_count; i++) {
        const struct whole_cells *cells = &sources->files[i];

        if (!cells->is_link) {
            lost = lost || !whole;
            file = cells;
            whole = !cells->lost;
        } else if (!whole && !cells->lost) {
            if (step == SALVAGE_LINKS)
                tell_taken(output, file, cells);
            whole = true;
        }
    }
    return lost || !whole;
}

static void
close_sources(struct sources *sources, const petal_allocator *allocator)
{
    for (size_t i = 0; i < sources->file_count; i++)
        whole_cells_close(&sources->files[i]);
    for (size_t i = sources->file_count; i < sources->count; i++)
        sources->list[i]->ops->close(sources->list[i]);
    mem_free(allocator, sources->files, sources->most * sizeof *sources->files);
    mem_free(allocator, sources->list, sources->most * sizeof *sources->list);
}

/* Write the readable cells of the step's sources. *lost: the next step is needed. */
static enum petal_status
write_family(struct output *output, enum salvage_step step, bool *lost, petal_error *error)
{
    const petal_allocator *allocator = output->salvage->place->env.allocator;
    struct plan_family *family = output->family;
    struct sources sources = {.most = family->file_count + 2};
    enum petal_status status = PETAL_OK;

    if (step >= SALVAGE_LINKS)
        sources.most += output->salvage->place->file_count;
    sources.files = mem_zalloc(allocator, sources.most * sizeof *sources.files);
    sources.list = mem_zalloc(allocator, sources.most * sizeof *sources.list);
    if (sources.files == NULL || sources.list == NULL)
        status = error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < family->file_count; i++) {
        status =
            add_source(&sources, output, &family->files[i], step > SALVAGE_FILES, false, error);
        if (status == PETAL_OK && step >= SALVAGE_LINKS)
            status = add_links(&sources, output, &family->files[i], error);
    }
    if (status == PETAL_OK && family->logged != NULL) {
        memtable_iter_init(&sources.logged, family->logged);
        sources.list[sources.count++] = &sources.logged.iter;
    }
    if (status == PETAL_OK && step >= SALVAGE_LOGS && family->flushed_logged != NULL) {
        memtable_iter_init(&sources.flushed, family->flushed_logged);
        sources.list[sources.count++] = &sources.flushed.iter;
    }
    if (status == PETAL_OK)
        status = write_all(output, sources.list, sources.count, error);
    *lost = status == PETAL_OK && have_lost(output, &sources, step);
    close_sources(&sources, allocator);
    return status;
}

/* A file that cannot be removed stays: its number is not used again, and no manifest names it. */
static void
remove_written(struct output *output)
{
    struct plan_family *family = output->family;
    char path[PETAL_PATH_BYTES];

    while (family->made_count > 0) {
        filename_store_file(path, output->salvage->directory.path,
                            family->made[--family->made_count].number);
        directory_remove(&output->salvage->directory, path);
    }
}

static enum petal_status
salvage_family(struct salvage *salvage, const struct plan_table *table, struct plan_family *family,
               petal_error *error)
{
    enum petal_status status = PETAL_OK;
    bool lost = true;

    for (enum salvage_step step = 0; status == PETAL_OK && lost && step < SALVAGE_STEPS; step++) {
        struct output output = {.salvage = salvage, .table = table, .family = family};

        remove_written(&output);
        status = write_family(&output, step, &lost, error);
        sst_writer_free(output.writer);
        kept_cell_fini(&output.last, salvage->place->env.allocator);
    }
    for (size_t i = 0; i < family->made_count; i++)
        salvage->place->counts->cells += family->made[i].cells;
    return status;
}

/* ---- the new manifest ---- */

/* Families get the ids 0, 1, .. within their table. */
static enum petal_status
describe_table(const struct salvage *salvage, struct manifest_edit *edit,
               const struct plan_table *table, petal_error *error)
{
    uint32_t id = plan_new_id(salvage->plan, table);
    const petal_allocator *allocator = salvage->place->env.allocator;
    petal_family_options *families =
        mem_alloc(allocator, (table->family_count + 1) * sizeof *families);
    petal_table_options options = table->options;

    if (families == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < table->family_count; i++)
        families[i] = table->families[i].options;
    options.families = families;
    options.family_count = table->family_count;
    if (plan_is_snapshot(table))
        manifest_edit_create_snapshot(edit, id, &options, &table->snapshot);
    else
        manifest_edit_create_table(edit, id, &options);
    mem_free(allocator, families, (table->family_count + 1) * sizeof *families);
    for (size_t f = 0; f < table->family_count; f++) {
        const struct plan_family *family = &table->families[f];

        manifest_edit_ahead(edit, id, (uint16_t)f, family->ahead);
        for (size_t i = 0; i < family->made_count; i++)
            manifest_edit_add_file(edit, id, (uint16_t)f, &family->made[i]);
    }
    return edit->failed ? error_no_memory(error) : PETAL_OK;
}

static enum petal_status
write_manifest(struct salvage *salvage, petal_error *error)
{
    const struct place *place = salvage->place;
    const struct plan *plan = salvage->plan;
    uint64_t sequence = salvage->last_sequence;
    struct manifest *made;
    struct manifest_edit edit;
    enum petal_status status =
        manifest_new(&made, &salvage->directory, env_random(&place->env), salvage->salt, error);

    if (status != PETAL_OK)
        return status;
    if (place->manifest != NULL && place->manifest->last_sequence > sequence)
        sequence = place->manifest->last_sequence;
    if (sequence < CELL_SEQUENCE_FIRST - 1)
        sequence = CELL_SEQUENCE_FIRST - 1;
    if (place->manifest != NULL)
        note_timestamp(salvage, place->manifest->last_timestamp);
    manifest_edit_init(&edit, place->env.allocator);
    for (size_t t = 0; status == PETAL_OK && t < plan->table_count; t++)
        status = describe_table(salvage, &edit, &plan->tables[t], error);
    manifest_edit_counters(&edit, salvage->next_number, sequence, salvage->last_timestamp);
    manifest_edit_oldest_log(&edit, salvage->next_number);
    if (status == PETAL_OK)
        status = manifest_commit(made, &edit, error);
    manifest_edit_fini(&edit);
    manifest_free(made);
    return status;
}

/* ---- the new directory ---- */

static void
note_name(void *argument, const char *name)
{
    bool *empty = argument;

    if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
        *empty = false;
}

static enum petal_status
make_directory(struct salvage *salvage, const char *path, petal_error *error)
{
    bool empty = true;
    int failed;
    enum petal_status status;

    failed = directory_open(&salvage->directory, &salvage->place->env, path, true);
    if (failed != 0 && failed != ENOTDIR)
        return error_io(error, path, failed, "make directory");
    if (failed == 0)
        failed = directory_list(&salvage->directory, note_name, &empty);
    if (failed != 0 && failed != ENOTDIR)
        return error_io(error, path, failed, "list directory");
    if (failed != 0)
        return error_file(error, PETAL_EXISTS, path,
                          "%s, or what it would lie in, is not a directory", path);
    if (!empty)
        return error_file(error, PETAL_EXISTS, path, "%s is a directory that is not empty", path);
    status = opener_lock_take(&salvage->directory, false, &salvage->lock, error);
    if (status != PETAL_OK)
        return status;
    failed = directory_sync_parent(&salvage->directory);
    return failed == 0 ? PETAL_OK
                       : error_unknown(error, path, failed, "sync the directory that holds");
}

/* Remove everything that was begun. The manifest is removed first, durably: if it came back after a
 * power cut, it would miss its files. If that fails, they stay. */
static void
remove_made(struct salvage *salvage)
{
    char path[PETAL_PATH_BYTES];

    if (salvage->lock == NULL)
        return;
    filename_manifest_temporary(path, salvage->directory.path);
    directory_remove(&salvage->directory, path);
    filename_manifest(path, salvage->directory.path);
    if (directory_remove(&salvage->directory, path) == 0) {
        directory_forgive_failed_sync(&salvage->directory); /* what counts is removed since */
        if (directory_sync(&salvage->directory) != 0)
            return;
    }
    for (uint64_t number = 1; number < salvage->next_number; number++) {
        filename_store_file(path, salvage->directory.path, number);
        directory_remove(&salvage->directory, path);
    }
    filename_lock(path, salvage->directory.path);
    directory_remove(&salvage->directory, path);
}

static enum petal_status
write_database(struct salvage *salvage, petal_error *error)
{
    struct plan *plan = salvage->plan;
    enum petal_status status = PETAL_OK;
    int failed;

    for (size_t t = 0; t < plan->table_count; t++) {
        if (plan_is_snapshot(&plan->tables[t]))
            salvage->place->counts->snapshots++;
        else
            salvage->place->counts->tables++;
        for (size_t f = 0; status == PETAL_OK && f < plan->tables[t].family_count; f++) {
            salvage->place->counts->families++;
            status = salvage_family(salvage, &plan->tables[t], &plan->tables[t].families[f], error);
        }
    }
    if (status != PETAL_OK)
        return status;
    failed = directory_sync(&salvage->directory);
    if (failed != 0)
        return error_unknown(error, salvage->directory.path, failed, "sync directory");
    status = check_place_confirm(salvage->place, error);
    return status == PETAL_OK ? write_manifest(salvage, error) : status;
}

/* ---- all ---- */

static enum petal_status
salvage_into(struct place *place, const char *destination, petal_error *error)
{
    struct plan plan;
    struct salvage salvage = {.place = place, .plan = &plan, .next_number = 1};
    enum petal_status status;

    plan_init(&plan, place);
    status = judge_manifest(place, error);
    if (status == PETAL_OK)
        status = plan_make(&plan, error);
    salvage.salt = env_random(&place->env);
    if (status == PETAL_OK)
        status = make_directory(&salvage, destination, error);
    if (status == PETAL_OK)
        status = check_logs(place, keep_logged, &salvage, error);
    if (status == PETAL_OK)
        status = plan_settle_names(&plan, error);
    if (status == PETAL_OK)
        status = write_database(&salvage, error);
    if (status != PETAL_OK)
        remove_made(&salvage);
    if (salvage.lock != NULL)
        place->env.vfs->close(place->env.vfs->context, salvage.lock);
    directory_close(&salvage.directory);
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
