/* raw_order.c -- see raw_order.h. */
#include "engine/read/raw_order.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>

static petal_slice
row_of(const struct raw_order *order)
{
    return slice_make(order->row, order->row_bytes);
}

static enum petal_status
load_source(struct raw_order *order, petal_error *error)
{
    struct cell_iter *source = order->source;

    return source->valid && source->pending ? source->ops->load(source, error) : PETAL_OK;
}

static bool
source_in_row(const struct raw_order *order)
{
    return order->source->valid && slice_equal(order->source->cell.row, row_of(order));
}

/* Begin with the source's row: take its family markers. */
static enum petal_status
enter_row(struct raw_order *order, petal_error *error)
{
    struct cell_iter *source = order->source;
    petal_slice row = source->cell.row;
    enum petal_status status;

    assert(source->valid && order->marker_next == order->marker_count);
    if (!mem_grow_array(order->allocator, &order->row, &order->row_capacity, 0, row.size, 1))
        return error_no_memory(error);
    memcpy(order->row, row.data, row.size);
    order->row_bytes = row.size;
    order->marker_count = 0;
    order->marker_next = 0;
    status = load_source(order, error);
    while (status == PETAL_OK && source_in_row(order) && cell_is_family_marker(source->cell.type)) {
        struct cell marker = source->cell;

        if (!mem_grow_array(order->allocator, &order->markers, &order->marker_capacity,
                            order->marker_count, order->marker_count + 1, sizeof *order->markers))
            return error_no_memory(error);
        marker.row = slice_make(NULL, 0);
        marker.qualifier = slice_make(NULL, 0);
        marker.value = slice_make(NULL, 0);
        order->markers[order->marker_count++] = marker;
        status = source->ops->next(source, error);
        if (status == PETAL_OK)
            status = load_source(order, error);
    }
    return status;
}

/* Values are noted by their offsets until the group is complete. */
static enum petal_status
take_into_group(struct raw_order *order, const struct cell *cell, petal_error *error)
{
    struct cell kept = *cell;

    if (!mem_grow_array(order->allocator, &order->group, &order->group_capacity, order->group_count,
                        order->group_count + 1, sizeof *order->group) ||
        !mem_grow_array(order->allocator, &order->bytes, &order->byte_capacity, order->byte_count,
                        order->byte_count + cell->value.size, 1))
        return error_no_memory(error);
    if (cell->value.size > 0)
        memcpy(order->bytes + order->byte_count, cell->value.data, cell->value.size);
    kept.value.data = (const void *)(uintptr_t)order->byte_count;
    order->byte_count += cell->value.size;
    order->group[order->group_count++] = kept;
    return PETAL_OK;
}

/* The cells of the source's column at its timestamp. The qualifier has been copied to the front
 * of the bytes. */
static enum petal_status
take_from_source(struct raw_order *order, size_t qualifier_bytes, int64_t timestamp,
                 petal_error *error)
{
    struct cell_iter *source = order->source;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && source_in_row(order) && source->cell.timestamp == timestamp &&
           slice_equal(source->cell.qualifier, slice_make(order->bytes, qualifier_bytes))) {
        status = take_into_group(order, &source->cell, error);
        if (status == PETAL_OK)
            status = source->ops->next(source, error);
        if (status == PETAL_OK)
            status = load_source(order, error);
    }
    return status;
}

static enum petal_status
begin_group(struct raw_order *order, petal_slice qualifier, petal_error *error)
{
    order->group_count = 0;
    order->group_next = 0;
    order->byte_count = 0;
    if (!mem_grow_array(order->allocator, &order->bytes, &order->byte_capacity, 0, qualifier.size,
                        1))
        return error_no_memory(error);
    if (qualifier.size > 0)
        memcpy(order->bytes, qualifier.data, qualifier.size);
    order->byte_count = qualifier.size;
    return PETAL_OK;
}

/* The types from the greatest on, of each the latest write first. */
static int
compare_shown(const void *a, const void *b)
{
    const struct cell *first = a, *second = b;

    if (first->type != second->type)
        return first->type > second->type ? -1 : 1;
    return (first->sequence < second->sequence) - (first->sequence > second->sequence);
}

/* The next group of the row. REQUIRES: a marker or a cell of it is left. */
static enum petal_status
fill_group(struct raw_order *order, petal_error *error)
{
    const struct cell *next = source_in_row(order) ? &order->source->cell : NULL;
    bool markers_left = order->marker_next < order->marker_count;
    petal_slice qualifier = markers_left || next == NULL ? slice_make(NULL, 0) : next->qualifier;
    bool from_source = next != NULL && slice_equal(next->qualifier, qualifier);
    int64_t timestamp;
    enum petal_status status;
    size_t qualifier_bytes = qualifier.size;

    assert(markers_left || next != NULL);
    if (markers_left &&
        (!from_source || order->markers[order->marker_next].timestamp >= next->timestamp))
        timestamp = order->markers[order->marker_next].timestamp;
    else
        timestamp = next->timestamp;
    status = begin_group(order, qualifier, error);
    while (status == PETAL_OK && order->marker_next < order->marker_count &&
           order->markers[order->marker_next].timestamp == timestamp)
        status = take_into_group(order, &order->markers[order->marker_next++], error);
    if (status == PETAL_OK && from_source)
        status = take_from_source(order, qualifier_bytes, timestamp, error);
    for (size_t i = 0; status == PETAL_OK && i < order->group_count; i++) {
        struct cell *cell = &order->group[i];

        cell->row = row_of(order);
        cell->qualifier = slice_make(order->bytes, qualifier_bytes);
        cell->value.data = order->bytes + (uintptr_t)cell->value.data;
    }
    if (status == PETAL_OK && order->group_count > 1)
        qsort(order->group, order->group_count, sizeof *order->group, compare_shown);
    return status;
}

static enum petal_status
show_next(struct raw_order *order, petal_error *error)
{
    order->iter.valid = false;
    if (order->group_next == order->group_count) {
        enum petal_status status = PETAL_OK;

        if (order->marker_next == order->marker_count && !source_in_row(order)) {
            if (!order->source->valid)
                return PETAL_OK;
            status = enter_row(order, error);
        }
        if (status == PETAL_OK)
            status = fill_group(order, error);
        if (status != PETAL_OK)
            return status;
    }
    order->iter.cell = order->group[order->group_next++];
    order->iter.valid = true;
    return PETAL_OK;
}

static enum petal_status
begin_anew(struct raw_order *order, enum petal_status status, petal_error *error)
{
    order->iter.valid = false;
    order->group_count = 0;
    order->group_next = 0;
    order->marker_count = 0;
    order->marker_next = 0;
    order->row_bytes = 0; /* no row is empty */
    return status == PETAL_OK ? show_next(order, error) : status;
}

static enum petal_status
raw_seek(struct cell_iter *iter, const struct cell_key *key, petal_error *error)
{
    struct raw_order *order = (struct raw_order *)iter;

    return begin_anew(order, order->source->ops->seek(order->source, key, error), error);
}

static enum petal_status
raw_seek_first(struct cell_iter *iter, petal_error *error)
{
    struct raw_order *order = (struct raw_order *)iter;

    return begin_anew(order, order->source->ops->seek_first(order->source, error), error);
}

/* Shows the source's cell, for its row: reversed scans seek the beginning of that next. */
static enum petal_status
raw_seek_before(struct cell_iter *iter, const struct cell_key *key, petal_error *error)
{
    struct raw_order *order = (struct raw_order *)iter;
    enum petal_status status = order->source->ops->seek_before(order->source, key, error);

    iter->valid = status == PETAL_OK && order->source->valid;
    if (iter->valid)
        iter->cell = order->source->cell;
    return status;
}

static enum petal_status
raw_next(struct cell_iter *iter, petal_error *error)
{
    assert(iter->valid);
    return show_next((struct raw_order *)iter, error);
}

static void
raw_close(struct cell_iter *iter)
{
    struct raw_order *order = (struct raw_order *)iter;

    mem_free(order->allocator, order->row, order->row_capacity);
    mem_free(order->allocator, order->markers, order->marker_capacity * sizeof *order->markers);
    mem_free(order->allocator, order->group, order->group_capacity * sizeof *order->group);
    mem_free(order->allocator, order->bytes, order->byte_capacity);
    iter->valid = false;
}

static const struct cell_iter_ops raw_ops = {
    .seek = raw_seek,
    .seek_first = raw_seek_first,
    .seek_before = raw_seek_before,
    .next = raw_next,
    .load = NULL,
    .close = raw_close,
};

void
raw_order_init(struct raw_order *order, const petal_allocator *allocator, struct cell_iter *source)
{
    *order = (struct raw_order){.iter.ops = &raw_ops, .allocator = allocator, .source = source};
}
