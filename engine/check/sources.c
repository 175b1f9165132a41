/* sources.c -- see sources.h. */
#include "engine/check/sources.h"

/* ---- choosing ---- */

/* Read the file from its beginning to its end; what it lacks is noted in *file, and in the place
 * for others who have the file. */
static enum petal_status
look_at(const struct plan *plan, const struct plan_table *table, const struct plan_family *family,
        struct plan_file *file, bool again, petal_error *error)
{
    struct place_file *there = check_place_find(plan->place, FILENAME_STORE_FILE, file->number);
    struct whole_cells cells;
    struct cell_iter *iter = &cells.iter;
    enum petal_status status = whole_cells_open(&cells, plan, table, family, file, again, error);

    if (status == PETAL_OK)
        status = iter->ops->seek_first(iter, error);
    while (status == PETAL_OK && iter->valid)
        status = iter->ops->next(iter, error);
    file->lost = cells.lost;
    file->losses = cells.losses;
    if (there != NULL && status == PETAL_OK) {
        there->was_read = true;
        there->lost = cells.lost;
        there->losses = cells.losses;
    }
    whole_cells_close(&cells);
    return status;
}

/* The link has all cells of a file that lost some. */
static void
tell_taken(const struct plan *plan, const struct plan_table *table,
           const struct plan_family *family, uint64_t number, uint64_t link)
{
    char path[PETAL_PATH_BYTES], other[PETAL_PATH_BYTES];
    petal_error error;
    petal_fault fault;

    filename_store_file(path, plan->place->directory.path, number);
    filename_store_file(other, plan->place->directory.path, link);
    error_corrupt(&error, path, 0,
                  "%s is damaged or missing; %s is the same file, and was read in "
                  "its place",
                  path, other);
    fault = plan_fault_of(table, family, &error);
    check_place_tell(plan->place, &fault);
}

/* A link that is whole takes the place of the family's file `at`; if there is none, all links that
 * are damaged elsewhere are added to the family's files.  Each link is read once, however many
 * tables and snapshots share the file. */
static enum petal_status
take_links(struct plan *plan, const struct plan_table *table, struct plan_family *family, size_t at,
           petal_error *error)
{
    const struct place *place = plan->place;
    const struct plan_file file = family->files[at];
    size_t file_count = family->file_count;

    for (size_t i = 0; file.identity != 0 && i < place->file_count; i++) {
        const struct place_file *there = &place->files[i];
        struct plan_file link = file;
        enum petal_status status = PETAL_OK;

        link.number = there->number;
        if (there->kind != FILENAME_STORE_FILE || there->identity != file.identity ||
            link.number == file.number)
            continue;
        if (there->was_read) {
            link.lost = there->lost;
            link.losses = there->losses;
        } else {
            status = look_at(plan, table, family, &link, true, error);
        }
        if (status != PETAL_OK)
            return status;
        if (!link.lost) {
            tell_taken(plan, table, family, file.number, link.number);
            family->file_count = file_count;
            family->files[at] = link;
            return PETAL_OK;
        }
        if (link.losses != file.losses && !plan_add_file(plan, family, link))
            return error_no_memory(error);
    }
    family->lost = true;
    return PETAL_OK;
}

static enum petal_status
choose(struct plan *plan, const struct plan_table *table, struct plan_family *family,
       petal_error *error)
{
    size_t file_count = family->file_count;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < file_count; i++) {
        status = look_at(plan, table, family, &family->files[i], false, error);
        if (status == PETAL_OK && family->files[i].lost)
            status = take_links(plan, table, family, i, error);
    }
    return status;
}

enum petal_status
sources_choose(struct plan *plan, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t t = 0; t < plan->table_count; t++) {
        struct plan_table *table = &plan->tables[t];

        for (size_t f = 0; status == PETAL_OK && f < table->family_count; f++)
            status = choose(plan, table, &table->families[f], error);
    }
    return status;
}

/* ---- reading ---- */

enum petal_status
sources_open(struct sources *sources, const struct plan *plan, const struct plan_table *table,
             const struct plan_family *family, petal_error *error)
{
    const petal_allocator *allocator = plan->place->env.allocator;
    enum petal_status status = PETAL_OK;

    *sources = (struct sources){.allocator = allocator, .most = family->file_count + 1};
    sources->files = mem_zalloc(allocator, sources->most * sizeof *sources->files);
    sources->list = mem_zalloc(allocator, sources->most * sizeof *sources->list);
    if (sources->files == NULL || sources->list == NULL)
        return error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < family->file_count; i++) {
        struct whole_cells *cells = &sources->files[sources->file_count++];

        sources->list[sources->count++] = &cells->iter;
        status = whole_cells_open(cells, plan, table, family, &family->files[i], true, error);
    }
    if (status == PETAL_OK && family->logged != NULL) {
        memtable_iter_init(&sources->logged, family->logged);
        sources->list[sources->count++] = &sources->logged.iter;
    }
    return status;
}

void
sources_close(struct sources *sources)
{
    for (size_t i = 0; i < sources->file_count; i++)
        whole_cells_close(&sources->files[i]);
    for (size_t i = sources->file_count; i < sources->count; i++)
        sources->list[i]->ops->close(sources->list[i]);
    mem_free(sources->allocator, sources->files, sources->most * sizeof *sources->files);
    mem_free(sources->allocator, sources->list, sources->most * sizeof *sources->list);
}
