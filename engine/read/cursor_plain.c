/*
 * cursor_plain.c -- the short way of the most frequent scans: forward, and nothing but visibility
 * decides what is shown. A step takes half the instructions of one by step() in cursor.c.
 *
 * It comes to the same cells as step() in cursor.c, without its stations at a row's end: nobody is
 * to be asked there, and the stores' inputs stand at their next rows already. Both leave the cursor
 * so that the other one can go on.
 */
#include "engine/read/cursor.h"

/* The row at hand is over: make `row` the next one; the state is ENDED if it is not wanted. */
static inline enum petal_status
begin_row(petal_cursor *cursor, petal_slice row, petal_error *error)
{
    cursor->rows += cursor->row_shown;
    if ((cursor->row_shown && cursor->rows == cursor->options.row_limit) ||
        scan_bounds_behind(&cursor->bounds, row)) {
        cursor->state = CURSOR_ENDED;
        return PETAL_OK;
    }
    if (cursor_copy_row(cursor, row) != PETAL_OK)
        return error_no_memory(error);
    cursor->row_shown = false;
    return PETAL_OK;
}

/* ---- several stores ---- */

/* The store at hand is done with the row: is there another one that has cells of it? */
static bool
goes_on_in_row(petal_cursor *cursor)
{
    cursor->stores[cursor->store].place = SCAN_BEHIND_ROW;
    return cursor_find_store(cursor);
}

/* Leave the row with all stores; *row is the next one, empty when there is none. */
static enum petal_status
leave_row(petal_cursor *cursor, petal_slice *row, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    *row = slice_make(NULL, 0);
    for (size_t i = 0; status == PETAL_OK && i < cursor->store_count; i++) {
        struct store_scan *store = &cursor->stores[i];
        const struct cell_iter *input = store->inputs.cells;

        if (store->place == SCAN_BEHIND_ROW)
            store->place = SCAN_BETWEEN_ROWS;
        else if (store_scan_entered(store))
            status = store_scan_leave_row(store, error);
        if (status == PETAL_OK && input->valid &&
            (row->size == 0 || slice_compare(input->cell.row, *row) < 0))
            *row = input->cell.row;
    }
    return status;
}

/* Enter the row with the stores that have it; the first of them becomes the one at hand. */
static enum petal_status
enter_row(petal_cursor *cursor, petal_slice row, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = cursor->store_count; status == PETAL_OK && i-- > 0;) {
        struct store_scan *store = &cursor->stores[i];
        const struct cell_iter *input = store->inputs.cells;

        if (!input->valid || !slice_equal(input->cell.row, row))
            continue;
        status = store_scan_enter_row(store, row, error);
        cursor->store = i;
    }
    return status;
}

/* ---- cells ---- */

/* The store at hand is done with the row, and its input stands behind it: go on with the row's
 * next store, or the next row. */
static inline enum petal_status
follow(petal_cursor *cursor, struct store_scan *store, petal_error *error)
{
    bool several = cursor->store_count > 1;
    enum petal_status status = PETAL_OK;
    petal_slice row = store->inputs.cells->cell.row;

    if (several && goes_on_in_row(cursor))
        return PETAL_OK;
    if (several)
        status = leave_row(cursor, &row, error);
    if (status == PETAL_OK && (several ? row.size == 0 : !store->inputs.cells->valid))
        cursor->state = CURSOR_ENDED;
    else if (status == PETAL_OK)
        status = begin_row(cursor, row, error);
    if (status != PETAL_OK || cursor->state == CURSOR_ENDED)
        return status;
    row = slice_make(cursor->row, cursor->row_bytes);
    if (several)
        return enter_row(cursor, row, error);
    store->row = row;
    visibility_start_row(&store->visibility);
    return PETAL_OK;
}

static void
show(petal_cursor *cursor, struct store_scan *store)
{
    store_scan_make_cell(store, &cursor->cell);
    cursor->run.next = &cursor->cell;
    cursor->run.end = &cursor->cell + 1;
    cursor->row_shown = true;
    store->shown++;
    store->move = SCAN_STEP;
}

/* From the input's cell, which is complete: judge it, and if it is hidden move on. */
static enum petal_status
consider(petal_cursor *cursor, struct store_scan *store, petal_error *error)
{
    struct cell_iter *input = store->inputs.cells;
    enum visibility_verdict verdict;

    if (visibility_judge(&store->visibility, &input->cell, &verdict) != PETAL_OK)
        return error_no_memory(error);
    if (verdict == VISIBILITY_SHOW) {
        show(cursor, store);
        return PETAL_OK;
    }
    store->move = store_scan_move_behind(store, verdict);
    return store_scan_move_on(store, error);
}

/* From the input's cell on, which is of the row at hand if `in_row`, else of any, to the next one
 * that is shown. */
static inline enum petal_status
find_shown(petal_cursor *cursor, struct store_scan *store, bool in_row, petal_error *error)
{
    struct cell_iter *input = store->inputs.cells;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && cursor->run.next == cursor->run.end) {
        if (!in_row && (!input->valid || !slice_equal(input->cell.row, store->row))) {
            status = follow(cursor, store, error);
            if (status != PETAL_OK || cursor->state == CURSOR_ENDED)
                return status;
            if (cursor->store_count > 1) {
                store = &cursor->stores[cursor->store];
                input = store->inputs.cells;
            }
        }
        in_row = false;
        if (input->pending)
            status = input->ops->load(input, error);
        if (status == PETAL_OK && cursor_may_take_run(cursor, store))
            status = cursor_take_run(cursor, store, error);
        if (status == PETAL_OK && cursor->run.next == cursor->run.end) {
            status = consider(cursor, store, error);
            /* The input stands at a cell that was not judged, of this row or of the next. */
            if (cursor->run.next == cursor->run.end && --cursor->patience == 0)
                return status;
        }
    }
    return status;
}

enum petal_status
cursor_begin_plain(petal_cursor *cursor, petal_error *error)
{
    struct store_scan *store = &cursor->stores[0];
    const struct cell_iter *input = store->inputs.cells;
    enum petal_status status;

    assert(cursor->state == CURSOR_BETWEEN && cursor->store_count == 1);
    assert(store->place == SCAN_BETWEEN_ROWS);
    cursor->row_shown = false;
    if (!input->valid) {
        cursor->state = CURSOR_ENDED;
        return PETAL_OK;
    }
    status = begin_row(cursor, input->cell.row, error);
    if (status != PETAL_OK || cursor->state == CURSOR_ENDED)
        return status;
    store->row = slice_make(cursor->row, cursor->row_bytes);
    store->place = SCAN_IN_ROW;
    store->begun = true; /* no filter is to be told of it */
    store->move = SCAN_STAY;
    visibility_start_row(&store->visibility);
    cursor->state = CURSOR_IN_ROW;
    cursor->store = 0;
    return find_shown(cursor, store, true, error);
}

enum petal_status
cursor_next_plain(petal_cursor *cursor, petal_error *error)
{
    struct store_scan *store = &cursor->stores[cursor->store];
    struct cell_iter *input = store->inputs.cells;
    enum petal_status status;

    assert(store->place == SCAN_IN_ROW && cursor->run.next == cursor->run.end);
    status = store->move == SCAN_STEP ? input->ops->next(input, error)
                                      : store_scan_move_on(store, error);
    return status == PETAL_OK ? find_shown(cursor, store, false, error) : status;
}
