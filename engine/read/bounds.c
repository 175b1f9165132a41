/* bounds.c -- see engine/read/bounds.h. */
#include "engine/read/bounds.h"

#include "base/cell.h"
#include "engine/read/range.h"

#include <assert.h>

static petal_slice
copy_to(uint8_t *to, petal_slice row)
{
    if (row.size > 0)
        memcpy(to, row.data, row.size);
    return slice_make(to, row.size);
}

/* The first row after all those that begin with `prefix`, made in `room` for as many bytes; empty:
 * there is none. */
static petal_slice
behind_prefix(uint8_t *room, petal_slice prefix)
{
    size_t size = prefix.size;

    copy_to(room, prefix);
    while (size > 0 && room[size - 1] == 0xff)
        size--;
    if (size > 0)
        room[size - 1]++;
    return slice_make(room, size);
}

petal_slice
row_behind(uint8_t *room, petal_slice row)
{
    assert(row.size > 0 && row.size <= PETAL_MAX_ROW_BYTES);
    if (row.size == PETAL_MAX_ROW_BYTES)
        return behind_prefix(room, row);
    copy_to(room, row);
    room[row.size] = 0;
    return slice_make(room, row.size + 1);
}

/* Cut the ends to the rows that begin with the prefix: from that on, up to `behind`. */
static void
cut_to_prefix(struct scan_bounds *bounds, petal_slice behind)
{
    petal_slice *low = bounds->reversed ? &bounds->stop : &bounds->start;
    petal_slice *high = bounds->reversed ? &bounds->start : &bounds->stop;

    if (slice_compare(*low, bounds->prefix) < 0) {
        *low = bounds->prefix;
        *(bounds->reversed ? &bounds->stop_inclusive : &bounds->start_exclusive) = bounds->reversed;
    }
    if (behind.size > 0 && (high->size == 0 || slice_compare(*high, behind) >= 0)) {
        *high = behind;
        *(bounds->reversed ? &bounds->start_exclusive : &bounds->stop_inclusive) = bounds->reversed;
    }
}

void
scan_bounds_init(struct scan_bounds *bounds, const petal_scan_options *options,
                 struct scan_memory *memory)
{
    uint8_t *start = scan_memory_take(memory, scan_bounds_bytes(options), 1);
    uint8_t *stop = start + options->start_row.size;
    uint8_t *prefix = stop + options->stop_row.size;

    *bounds = (struct scan_bounds){
        .start = copy_to(start, options->start_row),
        .stop = copy_to(stop, options->stop_row),
        .prefix = copy_to(prefix, options->prefix),
        .start_exclusive = options->start_exclusive,
        .stop_inclusive = options->stop_inclusive,
        .reversed = options->reversed,
    };
    if (options->prefix.size > 0)
        cut_to_prefix(bounds, behind_prefix(prefix + options->prefix.size, options->prefix));
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
    size_t common = slice_common_prefix(bounds->start, bounds->stop);

    return common > bounds->prefix.size ? slice_make(bounds->start.data, common) : bounds->prefix;
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

bool
scan_bounds_cut(struct scan_bounds *cut, const struct scan_bounds *bounds, petal_slice low,
                petal_slice high)
{
    bool starts_before, goes_on;

    *cut = *bounds;
    if (bounds->reversed) {
        starts_before =
            high.size > 0 && (bounds->start.size == 0 || slice_compare(bounds->start, high) >= 0);
        goes_on = low.size > 0 && (bounds->stop.size == 0 || slice_compare(bounds->stop, low) < 0);
    } else {
        starts_before =
            low.size > 0 && (bounds->start.size == 0 || slice_compare(bounds->start, low) < 0);
        goes_on = high.size > 0 && (bounds->stop.size == 0 || slice_compare(bounds->stop, high) >=
                                                                  (bounds->stop_inclusive ? 0 : 1));
    }
    if (starts_before) {
        cut->start = bounds->reversed ? high : low;
        cut->start_exclusive = bounds->reversed;
    }
    if (goes_on) {
        cut->stop = bounds->reversed ? low : high;
        cut->stop_inclusive = bounds->reversed;
    }
    return goes_on;
}
