/*
 * scan.h -- the cells of a family that belong to a scan, row by row, from one pinned view: of the
 * inputs (engine/read/inputs.h), judged (engine/rules/visibility.h) and filtered. A cursor has one
 * for each family asked, and decides which row comes next.
 *
 * PLACE.  Between rows a scan stands at its next row, which can be asked for and entered. Entered,
 * it gives that row's cells, until the row is left. A scan that has no cell of the row that the
 * others are in stays between rows: what it holds of a row that it was in before means nothing.
 * Each function asserts the places that it is for. Belongs to one thread.
 */
#ifndef PETAL_ENGINE_READ_SCAN_H
#define PETAL_ENGINE_READ_SCAN_H

#include "base/short_bytes.h"
#include "engine/filter/filter.h"
#include "engine/read/inputs.h"

#include <assert.h>

enum scan_place {
    SCAN_NOWHERE,      /* before the first seek, and when one failed */
    SCAN_BETWEEN_ROWS, /* before its next row */
    SCAN_IN_ROW,       /* in the row at hand, more of its cells may come */
    SCAN_ROW_OVER,     /* no more of its cells come; the input stands in it or after it */
    SCAN_BEHIND_ROW    /* no more of its cells come; the input stands at the next row */
};

/* Where the input goes before it gives another cell. */
enum scan_move {
    SCAN_STAY,
    SCAN_BEGIN, /* stay, at the first cell of the row just entered */
    SCAN_SHOW,  /* stay, at the cell that merge_iter_top_stepped has brought it to */
    SCAN_STEP,
    SCAN_VERSION, /* past the column's versions that are later than `latest` */
    SCAN_NEXT_COLUMN,
    SCAN_NEXT_ROW
};

#define SCAN_SHORT_KEY_BYTES 192

struct store_scan {
    petal_db *db;
    const petal_family *family;
    const petal_scan_options *options; /* the cursor's */
    struct filter_run *filter;         /* the cursor's; NULL: none */
    uint64_t *patience;                /* the cursor's */
    bool needed;                       /* the filter needs the family to decide on a row */
    bool plain;                        /* what is visible is shown: no filter, no limits in a row */
    bool skips_later;                  /* nothing later than the time range matters in a column */
    bool skips_versions;               /* no version matters to older ones of its column */
    int64_t latest;                    /* with SCAN_VERSION */
    uint8_t *key;                      /* of a place sought, in `short_key` if it is short */
    size_t key_capacity;
    /* The next row; reversed scans keep a copy, since the input stands in the row at hand. */
    bool has_next;
    uint8_t *next_row;
    size_t next_row_bytes, next_row_capacity;
    enum scan_place place;
    /* The row at hand, from entering it to leaving it; its bytes are the cursor's. */
    petal_slice row;
    bool begun; /* the filter, if there is one, knows that the row's cells come */
    enum scan_move move;
    uint64_t row_cells; /* included, those of the offset as well */
    uint8_t *column;    /* the column of the latest cell that the filter let pass */
    size_t column_bytes, column_capacity;
    uint32_t column_passed;
    uint64_t shown;
    /* What begins itself. */
    struct visibility visibility;
    struct scan_inputs inputs;
    uint8_t short_key[SCAN_SHORT_KEY_BYTES];
};

/* `qualifiers` are copied. Without cells, until a region is entered; `region`: the first that will
 * be. On failure store_scan_close has to be called all the same. */
enum petal_status store_scan_open(struct store_scan *scan, const petal_family *family,
                                  const petal_family_options *attributes,
                                  const struct region_store *region, uint64_t sequence,
                                  const petal_scan_options *options,
                                  const struct scan_bounds *bounds, struct filter_run *filter,
                                  const petal_slice *qualifiers, size_t qualifier_count,
                                  petal_error *error);
void store_scan_close(struct store_scan *scan);

/* Have the cells of the region's store (NULL: none), within the bounds, which are the region's by
 * now; not positioned yet. The memory is the scan's until it leaves the region. */
enum petal_status store_scan_enter_region(struct store_scan *scan,
                                          const struct region_store *region,
                                          struct scan_memory *memory, petal_error *error);
/* Be without cells. */
void store_scan_leave_region(struct store_scan *scan);

/* Stand between rows: before the first row at or after `row`, reversed the last at or below it;
 * without that row itself if `exclusive`. An empty row is the beginning (reversed: the end) of
 * the store. */
enum petal_status store_scan_seek(struct store_scan *scan, petal_slice row, bool exclusive,
                                  petal_error *error);

/* Between rows: the next one; false: there is none. It need not have a cell that is shown. */
static inline bool
store_scan_next_row(const struct store_scan *scan, petal_slice *row)
{
    assert(scan->place == SCAN_BETWEEN_ROWS);
    if (scan->options->reversed) {
        *row = slice_make(scan->next_row, scan->next_row_bytes);
        return scan->has_next;
    }
    *row = scan->inputs.cells->cell.row;
    return scan->inputs.cells->valid;
}

/* Does the input stand at that row? */
static inline bool
store_scan_input_at(const struct store_scan *scan, petal_slice row)
{
    const struct cell_iter *input = scan->inputs.cells;

    return input->valid && input->cell.row.size == row.size &&
           short_bytes_equal(slice_bytes(input->cell.row), slice_bytes(row), row.size);
}

/* Between rows: is that one the next? */
static inline bool
store_scan_next_row_is(const struct store_scan *scan, petal_slice row)
{
    petal_slice next;

    if (!scan->options->reversed)
        return store_scan_input_at(scan, row);
    return store_scan_next_row(scan, &next) && slice_equal(next, row);
}

/* Is the scan in the row that the cursor is in? */
static inline bool
store_scan_entered(const struct store_scan *scan)
{
    return scan->place >= SCAN_IN_ROW;
}

/* Enter the row that comes next; `row` is it, and stays until the row is left. */
enum petal_status store_scan_enter_row(struct store_scan *scan, petal_slice row,
                                       petal_error *error);

/* In a row of which no cell was looked at: go to its first cell at or after a column; what hides
 * it from the row's head is taken into account. */
enum petal_status store_scan_seek_column(struct store_scan *scan, petal_slice qualifier,
                                         petal_error *error);

/* In a row: its next cell; *found is false after the last, or when so many cells were not shown
 * that nothing is left of *patience: the place is still in the row then. Its bytes are good until
 * the scan is moved. */
enum petal_status store_scan_next(struct store_scan *scan, petal_cell *cell, bool *found,
                                  petal_error *error);

/* Parts of store_scan_reach: make the move that the latest cell asked for, which may leave the row;
 * before the row's first cell tell the filter, which may end the family. */
enum petal_status store_scan_move_on(struct store_scan *scan, petal_error *error);
enum petal_status store_scan_begin_cells(struct store_scan *scan, petal_error *error);

/* The two parts of store_scan_next, for a cursor that may take a run between them: go on to the
 * row's next cell, if the place is still SCAN_IN_ROW then; decide on it. */
static inline enum petal_status
store_scan_reach(struct store_scan *scan, petal_error *error)
{
    struct cell_iter *input = scan->inputs.cells;
    bool in_place = scan->move == SCAN_BEGIN;
    enum petal_status status = PETAL_OK;

    if (scan->move == SCAN_STEP)
        status = input->ops->next(input, error);
    else if (scan->move > SCAN_BEGIN)
        status = store_scan_move_on(scan, error);
    if (status != PETAL_OK || scan->place != SCAN_IN_ROW)
        return status;
    if (!in_place && !store_scan_input_at(scan, scan->row)) {
        scan->place = scan->options->reversed ? SCAN_ROW_OVER : SCAN_BEHIND_ROW;
        return PETAL_OK;
    }
    if (!scan->begun)
        status = store_scan_begin_cells(scan, error);
    if (status == PETAL_OK && scan->place == SCAN_IN_ROW && input->pending)
        status = input->ops->load(input, error);
    return status;
}
enum petal_status store_scan_decide(struct store_scan *scan, petal_cell *cell, bool *found,
                                    petal_error *error);

/* In a row: go after it, between rows. */
enum petal_status store_scan_leave_row(struct store_scan *scan, petal_error *error);

#endif
