/* bounds.c -- see engine/read/bounds.h. */
#include "engine/read/bounds.h"

#include "base/cell.h"

#include <assert.h>

/* The first row after all those that begin with `prefix`, in place: its size, 0 when there is
 * none. */
static size_t
make_successor(uint8_t *prefix, size_t size)
{
    while (size > 0 && prefix[size - 1] == 0xff)
        size--;
    if (size > 0)
        prefix[size - 1]++;
    return size;
}

static petal_slice
copy_to(uint8_t *to, petal_slice row)
{
    if (row.size > 0)
        memcpy(to, row.data, row.size);
    return slice_make(to, row.size);
}

petal_slice
scan_bounds_behind_prefix(uint8_t *room, petal_slice prefix)
{
    copy_to(room, prefix);
    return slice_make(room, make_successor(room, prefix.size));
}

void
scan_bounds_init(struct scan_bounds *bounds, const petal_scan_options *options,
                 struct scan_memory *memory)
{
    bool by_prefix = options->prefix.size > 0;
    petal_slice first = by_prefix ? options->prefix : options->start_row;
    petal_slice second = by_prefix ? options->prefix : options->stop_row;
    uint8_t *start = scan_memory_take(memory, scan_bounds_bytes(options), 1);
    uint8_t *behind = start + first.size;

    *bounds = (struct scan_bounds){
        .start_exclusive = by_prefix ? options->reversed : options->start_exclusive,
        .stop_inclusive = by_prefix ? options->reversed : options->stop_inclusive,
        .reversed = options->reversed,
    };
    bounds->start = copy_to(start, first);
    bounds->stop = copy_to(behind, second);
    if (by_prefix) {
        bounds->prefix = bounds->start;
        bounds->stop.size = make_successor(behind, second.size);
        if (options->reversed) {
            bounds->start = bounds->stop;
            bounds->stop = bounds->prefix;
        }
    }
}

bool
scan_bounds_one_row(const struct scan_bounds *bounds)
{
    return bounds->start.size > 0 && slice_equal(bounds->start, bounds->stop) &&
           bounds->stop_inclusive && !bounds->start_exclusive;
}

petal_slice
scan_bounds_shared(const struct scan_bounds *bounds)
{
    if (bounds->prefix.size > 0)
        return bounds->prefix;
    return slice_make(bounds->start.data, slice_common_prefix(bounds->start, bounds->stop));
}

bool
scan_bounds_before(const struct scan_bounds *bounds, petal_slice row)
{
    int order;

    if (bounds->start.size == 0)
        return false;
    assert(row.size > 0);
    order = slice_compare(row, bounds->start);
    if (order == 0)
        return bounds->start_exclusive;
    return bounds->reversed ? order > 0 : order < 0;
}

bool
scan_bounds_behind_stop(const struct scan_bounds *bounds, petal_slice row)
{
    int order = slice_compare(row, bounds->stop);

    assert(bounds->stop.size > 0);
    if (order == 0)
        return !bounds->stop_inclusive;
    return bounds->reversed ? order < 0 : order > 0;
}
