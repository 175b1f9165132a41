/* links.c -- see links.h. */
#include "engine/check/links.h"

#include "base/mem.h"
#include "engine/check/whole_cells.h"

#include <stdlib.h>

/* ---- which there are ---- */

static int
compare_files(const void *a, const void *b)
{
    const struct plan_file *first = a, *second = b;

    if (first->identity != second->identity)
        return first->identity < second->identity ? -1 : 1;
    return first->number < second->number ? -1 : first->number > second->number;
}

enum petal_status
links_find(struct links *links, const struct plan *plan, petal_error *error)
{
    const struct place *place = plan->place;

    if (!mem_grow_array(place->env.allocator, &links->files, &links->capacity, 0, place->file_count,
                        sizeof *links->files))
        return error_no_memory(error);
    for (size_t i = 0; i < place->file_count; i++) {
        const struct place_file *file = &place->files[i];

        if (file->kind == FILENAME_STORE_FILE && file->identity != 0)
            links->files[links->count++] =
                (struct plan_file){.number = file->number, .identity = file->identity};
    }
    if (links->count > 0)
        qsort(links->files, links->count, sizeof *links->files, compare_files);
    return PETAL_OK;
}

void
links_fini(struct links *links, const struct plan *plan)
{
    mem_free(plan->place->env.allocator, links->files, links->capacity * sizeof *links->files);
}

/* The place of the first link with that identity, or of what would follow it. */
static size_t
find_first(const struct links *links, uint64_t identity)
{
    size_t from = 0, to = links->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (links->files[middle].identity < identity)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* ---- which is read ---- */

/* One link of the file was taken for the other. */
static void
tell_taken(const struct plan *plan, const struct plan_table *table,
           const struct plan_family *family, uint64_t number, uint64_t taken)
{
    struct place *place = plan->place;
    bool there = check_place_find(place, FILENAME_STORE_FILE, number) != NULL;
    char path[PETAL_PATH_BYTES], other[PETAL_PATH_BYTES];
    petal_error error;
    petal_fault fault;

    filename_store_file(path, place->directory.path, number);
    filename_store_file(other, place->directory.path, taken);
    error_corrupt(&error, path, 0, "%s is %s; %s is the same file, and was read in its place", path,
                  there ? "damaged" : "missing", other);
    fault = plan_fault_of(table, family, &error);
    check_place_tell(place, &fault);
}

static enum petal_status
choose(const struct links *links, struct plan *plan, const struct plan_table *table,
       const struct plan_family *family, struct plan_file *file, petal_error *error)
{
    bool there = check_place_find(plan->place, FILENAME_STORE_FILE, file->number) != NULL;
    uint64_t best = 0;
    bool best_is_all = false;

    for (size_t i = find_first(links, file->identity); !best_is_all && i < links->count; i++) {
        const struct plan_file *link = &links->files[i];
        const struct plan_file candidate = {link->number, link->identity, file->cells, file->shift};
        bool all = false;
        enum petal_status status;

        if (link->identity != file->identity)
            break;
        if (link->number == file->number)
            continue;
        if (there && best == 0) { /* the first: is there need of it? */
            status = whole_cells_are_all(plan, table, family, file, &all, error);
            if (status != PETAL_OK || all)
                return status;
        }
        status = whole_cells_are_all(plan, table, family, &candidate, &all, error);
        if (status != PETAL_OK)
            return status;
        if (all || best == 0)
            best = link->number;
        best_is_all = all;
    }
    if (best == 0 || (there && !best_is_all))
        return PETAL_OK;
    tell_taken(plan, table, family, file->number, best);
    file->number = best;
    return PETAL_OK;
}

enum petal_status
links_choose(const struct links *links, struct plan *plan, const struct plan_table *table,
             const struct plan_family *family, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < family->file_count; i++)
        status = choose(links, plan, table, family, &family->files[i], error);
    return status;
}
