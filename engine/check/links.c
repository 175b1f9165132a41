/* links.c -- see links.h. */
#include "engine/check/links.h"

#include "engine/check/whole_cells.h"

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

/* The first link that is whole, else any. A file that has no other link is not looked at. */
static enum petal_status
choose(const struct plan *plan, const struct plan_table *table, const struct plan_family *family,
       struct plan_file *file, petal_error *error)
{
    bool there = check_place_find(plan->place, FILENAME_STORE_FILE, file->number) != NULL;
    bool is_all = false;
    uint64_t best = 0, index;
    size_t place = 0;

    while (!is_all && number_map_next(&plan->links, file->identity, &place, &index)) {
        struct plan_file link = *file;
        enum petal_status status;

        link.number = plan->place->files[index].number;
        if (link.number == file->number)
            continue;
        if (there && best == 0) {
            status = whole_cells_are_all(plan, table, family, file, &is_all, error);
            if (status != PETAL_OK || is_all)
                return status;
        }
        status = whole_cells_are_all(plan, table, family, &link, &is_all, error);
        if (status != PETAL_OK)
            return status;
        if (is_all || best == 0)
            best = link.number;
    }
    if (best == 0 || (there && !is_all))
        return PETAL_OK;
    tell_taken(plan, table, family, file->number, best);
    file->number = best;
    return PETAL_OK;
}

enum petal_status
links_choose(const struct plan *plan, const struct plan_table *table,
             const struct plan_family *family, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < family->file_count; i++)
        status = choose(plan, table, family, &family->files[i], error);
    return status;
}
