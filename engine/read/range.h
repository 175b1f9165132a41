/* range.h -- cursors over a range of rows as callers think of one: its ends, low and high, and a
 * prefix, whichever way the cursor goes; and steps of a cursor that do not take long. */
#ifndef PETAL_ENGINE_READ_RANGE_H
#define PETAL_ENGINE_READ_RANGE_H

#include "engine/petal.h"

/* Rows with from <= row < to that begin with `prefix`; each may be empty: no such end, any row. */
struct row_range {
    petal_slice from, to, prefix;
};

/* PETAL_INVALID: one of the three is longer than a row, and the text names it. */
enum petal_status row_range_check(const struct row_range *range, petal_error *error);

/* petal_cursor_open for the rows of the range, with what `options` says but for bounds and prefix.
 * REQUIRES: the range is checked. */
enum petal_status row_range_open(petal_table *table, const petal_scan_options *options,
                                 const struct row_range *range, petal_cursor **cursor,
                                 petal_error *error);

/*
 * As petal_cursor_next, but after `most` hidden cells (of a cursor that is not plain: rows) it
 * returns without one: then *cell is NULL and *at, else empty, the row at hand, good until the next
 * call. No row below it has more to give.
 */
enum petal_status cursor_next_within(petal_cursor *cursor, uint64_t most, const petal_cell **cell,
                                     petal_slice *at, petal_error *error);

/* The first row that can come after `row`, made in `room` of PETAL_MAX_ROW_BYTES; empty: none
 * can. */
petal_slice row_behind(uint8_t *room, petal_slice row);

#endif
