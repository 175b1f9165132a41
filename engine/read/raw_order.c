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

/* The order of what is held: later timestamps first, of one the types from the greatest on, of each
 * the latest write first. */
static int
compare_shown(const void *a, const void *b)
{
    const struct cell *first = a, *second = b;

    if (first->timestamp != second->timestamp)
        return first->timestamp > second->timestamp ? -1 : 1;
    if (first->type != second->type)
        return first->type > second->type ? -1 : 1;
    return (first->sequence < second->sequence) - (first->sequence > second->sequence);
}

static void
sort(struct cell *cells, size_t count)
{
    if (count > 1)
        qsort(cells, count, sizeof *cells, compare_shown);
}

static enum petal_status
step_source(struct raw_order *order, petal_error *error)
{
    enum petal_status status = order->source->ops->next(order->source, error);

    return status == PETAL_OK ? load_source(order, error) : status;
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
        if (!mem_grow_array(order->allocator, &order->markers, &order->marker_capacity,
                            order->marker_count, order->marker_count + 1, sizeof *order->markers))
            return error_no_memory(error);
        order->markers[order->marker_count] = source->cell;
        order->markers[order->marker_count++].value = slice_make(NULL, 0);
        status = step_source(order, error);
    }
    sort(order->markers, order->marker_count);
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

/* The cells of the source's column at its timestamp. */
static enum petal_status
fill_group(struct raw_order *order, petal_error *error)
{
    const struct cell *next = &order->source->cell;
    int64_t timestamp = next->timestamp;
    size_t qualifier_bytes = next->qualifier.size;
    enum petal_status status = PETAL_OK;

    order->group_count = 0;
    order->group_next = 0;
    if (!mem_grow_array(order->allocator, &order->bytes, &order->byte_capacity, 0, qualifier_bytes,
                        1))
        return error_no_memory(error);
    if (qualifier_bytes > 0)
        memcpy(order->bytes, next->qualifier.data, qualifier_bytes);
    order->byte_count = qualifier_bytes;
    while (status == PETAL_OK && source_in_row(order) && next->timestamp == timestamp &&
           slice_equal(next->qualifier, slice_make(order->bytes, qualifier_bytes))) {
        status = take_into_group(order, next, error);
        if (status == PETAL_OK)
            status = step_source(order, error);
    }
    for (size_t i = 0; i < order->group_count; i++) {
        struct cell *cell = &order->group[i];

        cell->qualifier = slice_make(order->bytes, qualifier_bytes);
        cell->value.data = order->bytes + (uintptr_t)cell->value.data;
    }
    sort(order->group, order->group_count);
    return status;
}

/* Of the row's markers and the group at hand show what comes first: the markers stand beside the
 * empty qualifier. */
static enum petal_status
show_next(struct raw_order *order, petal_error *error)
{
    const struct cell *marker, *cell;
    enum petal_status status = PETAL_OK;

    order->iter.valid = false;
    if (order->group_next == order->group_count && order->marker_next == order->marker_count &&
        !source_in_row(order)) {
        if (!order->source->valid)
            return PETAL_OK;
        status = enter_row(order, error);
    }
    if (status == PETAL_OK && order->group_next == order->group_count && source_in_row(order))
        status = fill_group(order, error);
    if (status != PETAL_OK)
        return status;
    marker = order->marker_next < order->marker_count ? &order->markers[order->marker_next] : NULL;
    cell = order->group_next < order->group_count ? &order->group[order->group_next] : NULL;
    assert(marker != NULL || cell != NULL);
    if (marker != NULL &&
        (cell == NULL || cell->qualifier.size > 0 || compare_shown(marker, cell) < 0)) {
        cell = marker;
        order->marker_next++;
    } else {
        order->group_next++;
    }
    order->iter.cell = *cell;
    order->iter.cell.row = row_of(order);
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
