/*
 * bounds.h -- which rows a scan is for: where it starts, where it stops, and which way it goes. A
 * prefix cuts the two to a pair of its own.
 */
#ifndef PETAL_ENGINE_READ_BOUNDS_H
#define PETAL_ENGINE_READ_BOUNDS_H

#include "base/mem.h"
#include "engine/read/scan_memory.h"

struct scan_bounds {
    /* Copies in the scan's memory; empty: open. In a reversed scan the start is the high end. */
    petal_slice start, stop;
    bool start_exclusive, stop_inclusive, reversed;
    petal_slice prefix; /* all rows begin with it; empty: none was given */
};

/* Bytes that the bounds of the options take of the scan's memory. */
static inline size_t
scan_bounds_bytes(const petal_scan_options *options)
{
    return options->start_row.size + options->stop_row.size + 2 * options->prefix.size;
}

/* Copy them there. */
void scan_bounds_init(struct scan_bounds *bounds, const petal_scan_options *options,
                      struct scan_memory *memory);

/* The least and the greatest row that can be in the scan; empty: open. */
static inline petal_slice
scan_bounds_low(const struct scan_bounds *bounds)
{
    return bounds->reversed ? bounds->stop : bounds->start;
}

static inline petal_slice
scan_bounds_high(const struct scan_bounds *bounds)
{
    return bounds->reversed ? bounds->start : bounds->stop;
}

/* The scan is for one row: a get. */
bool scan_bounds_one_row(const struct scan_bounds *bounds);

/* What all rows of the scan begin with, as far as the bounds tell; empty: nothing is known. */
petal_slice scan_bounds_shared(const struct scan_bounds *bounds);

/* The row lies before the start, in the scan's direction; after its end, when there is one;
 * after its end. */
bool scan_bounds_before(const struct scan_bounds *bounds, petal_slice row);
bool scan_bounds_behind_stop(const struct scan_bounds *bounds, petal_slice row);

/* The bounds cut to the rows from `low` up to `high` (empty: open), which they borrow. Do they
 * reach beyond in their direction? */
bool scan_bounds_cut(struct scan_bounds *cut, const struct scan_bounds *bounds, petal_slice low,
                     petal_slice high);

static inline bool
scan_bounds_behind(const struct scan_bounds *bounds, petal_slice row)
{
    return bounds->stop.size > 0 && scan_bounds_behind_stop(bounds, row);
}

#endif
