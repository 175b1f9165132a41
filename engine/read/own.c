/* own.c -- see engine/read/own.h. */
#include "engine/read/own.h"

#include "engine/read/cursor.h"

#include <assert.h>

enum petal_status
own_store(struct own_cells *own, petal_family *family, struct own_store **store)
{
    struct own_store made = {.family = family};
    void *stores = own->stores;

    for (size_t i = 0; i < own->count; i++) {
        *store = &own->stores[i];
        if ((*store)->family == family)
            return PETAL_OK;
    }
    if (!mem_grow(own->allocator, &stores, &own->capacity, own->count, own->count + 1, sizeof made))
        return PETAL_NO_MEMORY;
    own->stores = stores;
    if (store_memtable_new(&made.memtable, own->allocator) != PETAL_OK)
        return PETAL_NO_MEMORY;
    own->stores[own->count] = made;
    *store = &own->stores[own->count++];
    return PETAL_OK;
}

/* In front of the store of the region. */
static enum petal_status
add_to_region(struct view *view, const struct own_store *store, const struct region_store *region)
{
    struct store_change change = {.add_memtable = store->memtable};
    struct store_view *made;
    enum petal_status status = store_view_new(&made, view->allocator, region->view, &change);

    return status == PETAL_OK ? view_set_store(view, region->store, made) : status;
}

/* Go to the first cell of the row or behind it. */
static enum petal_status
seek_row(struct cell_iter *iter, petal_slice row, const petal_allocator *allocator)
{
    size_t bytes = cell_key_bound(row.size, 0);
    uint8_t *memory = mem_alloc(allocator, bytes);
    struct cell_key key;
    enum petal_status status;

    if (memory == NULL)
        return PETAL_NO_MEMORY;
    cell_key_make(&key, memory, row, slice_make(NULL, 0), true, INT64_MAX, CELL_SEQUENCE_MAX);
    status = iter->ops->seek(iter, &key, NULL);
    mem_free(allocator, memory, bytes);
    return status;
}

/* In front of those stores of the family that have rows of its own. */
static enum petal_status
add_store(struct view *view, const struct own_store *store, const struct view *base)
{
    const struct region_list *list = view_regions(base, store->family);
    struct memtable_iter iter;
    enum petal_status status;

    if (list == NULL) /* the family was dropped */
        return PETAL_OK;
    memtable_iter_init(&iter, store->memtable->memtable);
    status = iter.iter.ops->seek_first(&iter.iter, NULL);
    while (status == PETAL_OK && iter.iter.valid) {
        uint32_t place = region_place(list, iter.iter.cell.row);
        petal_slice end = region_end(list, place);

        status = add_to_region(view, store, region_at(list, place));
        if (status != PETAL_OK || end.size == 0)
            break;
        status = seek_row(&iter.iter, end, view->allocator);
    }
    iter.iter.ops->close(&iter.iter);
    return status;
}

enum petal_status
own_add_to_view(const struct own_cells *own, const petal_table *table, struct view **view)
{
    struct view *made = NULL;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < own->count; i++) {
        if (own->stores[i].family->table != table)
            continue;
        if (made == NULL)
            status = view_new(&made, own->allocator, &table->db->views, *view, 0);
        if (status == PETAL_OK)
            status = add_store(made, &own->stores[i], *view);
    }
    if (status != PETAL_OK || made == NULL) {
        view_unref(made);
        return status;
    }
    view_unref(*view);
    *view = made;
    return PETAL_OK;
}

enum petal_status
own_set_snapshot(petal_read_options *options, const petal_snapshot *snapshot, petal_error *error)
{
    if (options->snapshot != NULL)
        return error_set(error, PETAL_INVALID,
                         "snapshot is set; a transaction reads at its own snapshot");
    options->snapshot = snapshot;
    return PETAL_OK;
}

/* ---- what cursors have read ---- */

void
own_enter_cursor(struct own_cells *own, petal_cursor *cursor)
{
    cursor->own = own;
    cursor->own_older = own->newest;
    if (own->newest != NULL)
        own->newest->own_newer = cursor;
    own->newest = cursor;
}

/* All rows up to the one at hand, in its direction, or if there is no telling all of its bounds. */
static void
note(const petal_cursor *cursor)
{
    const struct scan_bounds *bounds = &cursor->bounds;
    petal_slice row = {cursor->row, cursor->row_bytes};
    struct own_range range = {
        .table = cursor->table,
        .low = scan_bounds_low(bounds),
        .high = scan_bounds_high(bounds),
        .excludes_low = bounds->reversed ? !bounds->stop_inclusive : bounds->start_exclusive,
        .excludes_high = bounds->reversed ? bounds->start_exclusive : !bounds->stop_inclusive};
    bool limited = cursor->options.row_limit > 0 && cursor->rows >= cursor->options.row_limit;

    if (cursor->state == CURSOR_START && !cursor->own_seeks)
        return;
    if (!cursor->own_seeks && row.size > 0 && (cursor->state != CURSOR_ENDED || limited)) {
        *(bounds->reversed ? &range.low : &range.high) = row;
        *(bounds->reversed ? &range.excludes_low : &range.excludes_high) = false;
    }
    cursor->own->note(cursor->own->argument, &range);
}

void
own_leave_cursor(petal_cursor *cursor)
{
    struct own_cells *own = cursor->own;

    note(cursor);
    if (cursor->own_older != NULL)
        cursor->own_older->own_newer = cursor->own_newer;
    if (cursor->own_newer != NULL)
        cursor->own_newer->own_older = cursor->own_older;
    else
        own->newest = cursor->own_older;
    cursor->own = NULL;
}

void
own_leave_all(struct own_cells *own)
{
    while (own->newest != NULL)
        own_leave_cursor(own->newest);
}

void
own_fini(struct own_cells *own)
{
    assert(own->newest == NULL);
    for (size_t i = 0; i < own->count; i++)
        store_memtable_unref(own->stores[i].memtable);
    mem_free(own->allocator, own->stores, own->capacity * sizeof *own->stores);
}
