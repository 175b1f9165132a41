/*
 * cursor.h -- the inside of a cursor: a scan over the asked families of a table, row by row, family
 * by family in a row, from one view that it pins for its life. engine/read/cursor_open.c opens and
 * closes it, engine/read/cursor.c and engine/read/cursor_plain.c move it.
 *
 * STATES.  START: not positioned.  BETWEEN: the stores stand at their next rows.  IN_ROW: `row` is
 * being given; `store` gives its cells, or `buffer` when the filter had to see the whole row first.
 * ENDED.
 */
#ifndef PETAL_ENGINE_READ_CURSOR_H
#define PETAL_ENGINE_READ_CURSOR_H

#include "engine/filter/filter.h"
#include "engine/read/bounds.h"
#include "engine/read/scan.h"

enum cursor_state { CURSOR_START, CURSOR_BETWEEN, CURSOR_IN_ROW, CURSOR_ENDED };

struct petal_cursor {
    petal_table *table;
    bool counted; /* in the database's `open`; those that gets use inside are not */
    const struct table_descriptor *descriptor; /* of the table when the cursor was opened */
    struct view *view;                         /* referenced */
    petal_scan_options options;
    struct scan_bounds bounds;
    struct filter_run *filter; /* NULL: none */
    bool needs_rows, watches_excluded_rows;
    bool plain; /* forward, no filter, no limits in a row, no receipt: see cursor_next_plain */
    /* Of a get: families that the filter does not need are read behind the others. */
    bool reads_needed_first;
    struct store_scan *stores; /* of the asked families, by name */
    size_t store_count;
    enum cursor_state state;
    uint8_t *row; /* the row at hand; the stores that are in it borrow it */
    size_t row_bytes, row_capacity;
    uint8_t *sought; /* the qualifier of the latest seek */
    size_t sought_capacity;
    size_t store;   /* IN_ROW without a buffer: the first that is in the row and may have cells;
                     store_count: none */
    bool row_shown; /* a cell of the row at hand was given */
    uint64_t rows;  /* given since the last seek */
    petal_result *buffer; /* NULL: cells go to the caller one by one */
    size_t buffer_next;
    petal_cell cell;
};

/* Of the row's stores go on to the next one, from the one at hand on, that may have cells. False:
 * none has. */
static inline bool
cursor_find_store(petal_cursor *cursor)
{
    while (cursor->store < cursor->store_count &&
           cursor->stores[cursor->store].place != SCAN_IN_ROW)
        cursor->store++;
    return cursor->store < cursor->store_count;
}

/* The next cell of a plain cursor, whose state is IN_ROW and that has a store at hand; the state
 * is ENDED behind the last. */
enum petal_status cursor_next_plain(petal_cursor *cursor, bool *found, petal_error *error);

/* Read one row by walking through it; the options have been checked. */
enum petal_status cursor_get_row(petal_table *table, petal_slice row,
                                 const petal_read_options *options, petal_result *result,
                                 petal_error *error);

#endif
