/*
 * run_making.h -- a run while it is made: what engine/read/cursor_run.c, which begins and ends it,
 * and engine/read/cursor_merge.c, which merges several sources for it, share. Why a run may be
 * taken and what it leaves stands in the first. Belongs to the cursor's thread.
 */
#ifndef PETAL_ENGINE_READ_RUN_MAKING_H
#define PETAL_ENGINE_READ_RUN_MAKING_H

#include "base/short_bytes.h"
#include "engine/read/cursor.h"

#define RUN_CELLS     128 /* of long runs; RUN_FEW_CELLS: of short ones */
#define RUN_KEY_BYTES 8192
#define RUN_FEW       4  /* a run of fewer cells costs more than the steps */
#define RUN_PAUSE     64 /* so many cells are given by steps then */

/* Cells passed over in one column, before it is left to a seek. */
#define MOST_PASSED STEPS_BEFORE_SEEK

/* Sources that are merged by windows at most, and how many cells each decodes ahead. */
#define MOST_WINDOWS 16
#define WINDOW_CELLS 16

/* Of long runs; only they are merged by windows. */
struct run_memory {
    petal_error error; /* of run.status */
    petal_cell cells[RUN_CELLS];
    petal_cell windows[MOST_WINDOWS][WINDOW_CELLS];
    uint8_t keys[RUN_KEY_BYTES];
};

/* A run under way. */
struct making {
    petal_cursor *cursor;
    struct store_scan *store;
    struct merge_iter *merge; /* NULL: one source alone */
    struct cell_run run;      /* limits and room */
    uint32_t versions;
    size_t count; /* cells taken */
    /* Of the cell taken last, or before the run the place of the cursor. */
    petal_slice row, qualifier;
    uint64_t row_head; /* of windows */
    bool may_end;      /* rows after the one at hand have to be asked about, see ends_before */
    bool in_column;    /* there is such a column */
    unsigned passed;   /* cells of it that were passed over since */
    bool refused;      /* the run ended before a cell that is none for runs */
    uint8_t *keys_end;
};

enum taking { TAKEN, PASSED, NOT_TAKEN };

/* Does the scan end before a row after the one at hand? With several stores it is not asked: the
 * others may have cells of the row at hand. */
static inline bool
ends_before(const struct making *making, petal_slice row)
{
    const petal_cursor *cursor = making->cursor;

    return cursor->store_count > 1 || scan_bounds_behind(&cursor->bounds, row) ||
           cursor->rows + making->run.row_changes + 1 == cursor->options.row_limit;
}

static inline bool
same_key(petal_slice a, petal_slice b)
{
    return a.size == b.size && short_bytes_equal(slice_bytes(a), slice_bytes(b), a.size);
}

/* Take cells of several sources, if all that have cells can decode ahead: making->count of them;
 * with none nothing has changed. Else the store's move is set. */
void take_merged(struct making *making);

#endif
