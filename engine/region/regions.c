/* regions.c -- the public calls about a table's regions. */
#include "base/argument.h"
#include "engine/flush/flush.h"
#include "engine/region/middle.h"
#include "engine/region/split.h"
#include "engine/state/read_point.h"

/* ---- telling ---- */

/* Of a file that other regions have, too, as much as its index tells; where that is damaged, what
 * the view guesses. Fails for want of memory or descriptors alone. */
static enum petal_status
add_file(petal_region_info *info, const struct file_entry *file, petal_error *error)
{
    uint64_t bytes = file->bytes;
    petal_error cause;

    if (file->shared &&
        sst_reader_part(file->reader, file_entry_low(file, info->start), info->end, &bytes,
                        &cause) != PETAL_OK &&
        error_passes(&cause))
        return error_copy(error, &cause);
    info->file_bytes += bytes;
    info->cells +=
        (uint64_t)((double)file->facts->cells * (double)bytes / (double)file->facts->file_bytes);
    return PETAL_OK;
}

static enum petal_status
add_store(petal_region_info *info, const struct store_view *store, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    info->files += store->file_count;
    for (uint32_t i = 0; status == PETAL_OK && i < store->file_count; i++)
        status = add_file(info, &store->files[i], error);
    info->memtable_bytes += store_view_memtable_bytes(store);
    for (uint32_t i = 0; i < store->memtable_count; i++)
        info->cells += memtable_count(store->memtables[i]->memtable);
    return status;
}

static enum petal_status
describe(petal_region_info *info, const petal_table *table, const struct view *view,
         const struct region_list *list, uint32_t place, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    enum petal_status status = PETAL_OK;

    *info = (petal_region_info){.size = sizeof *info,
                                .id = region_at(list, place)->store->region,
                                .start = region_at(list, place)->start,
                                .end = region_end(list, place)};
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++) {
        const struct region_list *own = view_regions(view, descriptor->families[i]);

        if (own != NULL)
            status = add_store(info, region_at(own, place)->view, error);
    }
    return status;
}

enum petal_status
petal_table_regions(petal_table *table,
                    bool (*visit)(void *argument, const petal_region_info *info), void *argument,
                    petal_error *error)
{
    RETURN_IF_NULL(table, error);
    RETURN_IF_NULL(visit, error);

    const struct region_list *list;
    struct view *view;
    bool go_on = true;
    enum petal_status status;

    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    view = table_pin_regions(table, &list);
    status = table_check_alive(table, error);
    for (uint32_t i = 0; status == PETAL_OK && go_on && list != NULL && i < list->count; i++) {
        petal_region_info info;

        status = describe(&info, table, view, list, i, error);
        go_on = status == PETAL_OK && visit(argument, &info);
    }
    view_unref(view);
    return status;
}

/* ---- splitting ---- */

static enum petal_status
error_no_region(const petal_table *table, uint32_t region, petal_error *error)
{
    char quoted[160];

    return error_set(error, PETAL_NOT_FOUND, "table %s has no region %u",
                     error_quote(table->name, quoted, sizeof quoted), region);
}

/* A region that is to be split. */
struct choice {
    uint32_t region;  /* 0: there is none */
    size_t row_bytes; /* of the row in its middle; 0: it has no middle */
    petal_slice next; /* where the region after it starts, which stays; empty: it is the last */
};

/* The region of that id, or if it is 0, the first one that starts at `from` or after it. The view,
 * which keeps memtables in memory, is held no longer than that. */
static enum petal_status
choose(petal_table *table, uint32_t region, petal_slice from, uint8_t *row, struct choice *choice,
       petal_error *error)
{
    const struct region_list *list;
    struct view *view = table_pin_regions(table, &list);
    uint32_t first = region == 0 && list != NULL ? region_place(list, from) : 0;
    enum petal_status status = PETAL_OK;

    *choice = (struct choice){0};
    for (uint32_t i = first; choice->region == 0 && list != NULL && i < list->count; i++) {
        const struct region_store *at = region_at(list, i);

        if (region != 0 ? at->store->region != region : slice_compare(at->start, from) < 0)
            continue;
        choice->region = at->store->region;
        choice->next = region_end(list, i);
        status = region_middle(table, view, i, 0, row, &choice->row_bytes, error);
    }
    view_unref(view);
    return status;
}

/* The region of that id, or all that have a middle: which files tell, so memtables are flushed
 * before. */
static enum petal_status
split_regions(petal_table *table, uint32_t region, petal_error *error)
{
    const petal_allocator *allocator = table->db->env.allocator;
    uint8_t *row = mem_alloc(allocator, PETAL_MAX_ROW_BYTES);
    struct choice choice = {0};
    uint32_t last = 0;
    bool has_middle = false;
    char quoted[160];
    enum petal_status status;

    if (row == NULL)
        return error_no_memory(error);
    status = flush_and_wait(table->db, table, region, error);
    while (status == PETAL_OK) {
        status = choose(table, region, choice.next, row, &choice, error);
        if (choice.region != 0)
            last = choice.region;
        if (status == PETAL_OK && choice.row_bytes > 0) {
            has_middle = true;
            status = region_split(table, slice_make(row, choice.row_bytes), false, error);
            /* Another thread has split it there. */
            if (status == PETAL_INVALID)
                status = PETAL_OK;
        }
        if (region != 0 || choice.next.size == 0)
            break;
    }
    mem_free(allocator, row, PETAL_MAX_ROW_BYTES);
    if (status != PETAL_OK || has_middle)
        return status;
    if (last == 0)
        return error_no_region(table, region, error);
    return error_set(error, PETAL_INVALID,
                     "region %u of table %s has no middle: it has at most one row, or all in one "
                     "block of a file; give the row that it is to be split before",
                     last, error_quote(table->name, quoted, sizeof quoted));
}

enum petal_status
petal_table_split(petal_table *table, petal_slice row, uint32_t region, petal_error *error)
{
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(row, error);

    enum petal_status status;

    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = region_check_table(table, error);
    if (status != PETAL_OK)
        return status;
    return row.size > 0 ? region_split(table, row, false, error)
                        : split_regions(table, region, error);
}

/* ---- merging ---- */

/* In the order of their rows: the second comes right after the first. */
static enum petal_status
find_neighbours(const petal_table *table, uint32_t region, uint32_t other, uint32_t ids[2],
                petal_error *error)
{
    const struct region_list *list;
    struct view *view = table_pin_regions(table, &list);
    uint32_t count = list != NULL ? list->count : 0, found = 0, places[2];
    char quoted[160];

    for (uint32_t i = 0; found < 2 && i < count; i++) {
        uint32_t id = region_at(list, i)->store->region;

        if (id == region || id == other) {
            ids[found] = id;
            places[found++] = i;
        }
    }
    view_unref(view);
    if (found == 2 && places[1] == places[0] + 1)
        return PETAL_OK;
    if (found == 2 || region == other)
        return error_set(error, PETAL_INVALID, "regions %u and %u of table %s are no neighbours",
                         region, other, error_quote(table->name, quoted, sizeof quoted));
    return error_no_region(table, found == 1 && ids[0] == region ? other : region, error);
}

enum petal_status
petal_table_merge(petal_table *table, uint32_t region, uint32_t other, petal_error *error)
{
    RETURN_IF_NULL(table, error);

    uint32_t ids[2];
    enum petal_status status;

    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = table_check_alive(table, error);
    if (status == PETAL_OK)
        status = db_check_writable(table->db, error);
    if (status == PETAL_OK)
        status = find_neighbours(table, region, other, ids, error);
    return status == PETAL_OK ? region_merge(table, ids[0], ids[1], NULL, error) : status;
}
