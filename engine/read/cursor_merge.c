/*
 * cursor_merge.c -- a run of cells of several sources, see engine/read/cursor_run.c: each source
 * decodes a few cells ahead, into a window, and the windows are merged; what is left in them when
 * the run ends is given back. So a cell costs its decoding and a place among few numbers: in a scan
 * of four files of pairs 275 instructions, 453 if the merge goes step by step (pair/scan/4-files of
 * tests/cost/main.c). For short runs the windows cost more than they save: a seek and ten cells
 * take 11,800 with them, 9,600 without (pair/seek+10/4-files).
 */
#include "base/coding.h"
#include "engine/read/run_making.h"

/* Cells that a source has decoded ahead: [next, end) are still to come, and the source stands at
 * the last of all. None: it is pending, or its next cell is none for runs, or is not known. */
struct window {
    struct cell_iter *source;
    const petal_cell *next, *end;
    petal_cell *cells;
};

/* Windows in the order of their next cells. */
struct lane {
    uint64_t row_head; /* slice_head of the row */
    struct window *window;
};

static inline uint64_t
row_head(petal_slice row)
{
    return row.size >= 8 ? get_be64(row.data) : slice_head(row, 0);
}

static inline petal_slice
next_row_of(const struct window *window)
{
    return window->next < window->end ? window->next->row : window->source->cell.row;
}

/* Decode the cells from the source's own on. False: there is no run. */
static bool
fill(struct making *making, struct window *window)
{
    struct cell_run run = making->run;
    size_t count = 0;

    run.before = slice_make(NULL, 0);
    run.cells = window->cells;
    run.most = WINDOW_CELLS;
    run.key_bytes = (size_t)(making->keys_end - run.keys);
    if (!window->source->pending && window->source->ops->take_run != NULL)
        count = window->source->ops->take_run(window->source, &run);
    making->run.keys = run.keys;
    window->next = window->cells;
    window->end = window->cells + count;
    return count > 0;
}

/* What comes first of two windows whose rows have equal heads. In one row the one that is pending,
 * which may have anything there. */
static NEVER_INLINE bool
comes_before_in_row(const struct window *a, const struct window *b)
{
    int order = slice_compare(next_row_of(a), next_row_of(b));

    if (order == 0 && (a->next == a->end || b->next == b->end))
        return a->next == a->end;
    if (order == 0)
        order = slice_compare(a->next->qualifier, b->next->qualifier);
    return order != 0 ? order < 0 : a->next->timestamp > b->next->timestamp;
}

/* Put the window where it belongs among the lanes [from, count). */
static inline void
place(struct lane *lanes, size_t from, size_t count, struct window *window)
{
    uint64_t head = row_head(next_row_of(window));

    for (; from + 1 < count && (lanes[from + 1].row_head < head ||
                                (lanes[from + 1].row_head == head &&
                                 comes_before_in_row(lanes[from + 1].window, window)));
         from++)
        lanes[from] = lanes[from + 1];
    lanes[from] = (struct lane){head, window};
}

/* The first two are of one place, but for their sequences, which windows do not know. */
static NEVER_INLINE bool
is_tie(const struct window *a, const struct window *b)
{
    return a->next < a->end && b->next < b->end && a->next->timestamp == b->next->timestamp &&
           slice_equal(a->next->row, b->next->row) &&
           slice_equal(a->next->qualifier, b->next->qualifier);
}

/* As `take`, of a cell that is known to be plain and whose bytes stay. */
static inline enum taking
take_decoded(struct making *making, const petal_cell *cell, uint64_t head)
{
    petal_cell *taken = &making->run.cells[making->count];

    if (making->count == making->run.most)
        return NOT_TAKEN;
    if (head == making->row_head && same_key(cell->row, making->row)) {
        if (making->in_column && same_key(cell->qualifier, making->qualifier))
            return making->versions == 1 && ++making->passed < MOST_PASSED ? PASSED : NOT_TAKEN;
    } else {
        if (making->may_end && ends_before(making, cell->row))
            return NOT_TAKEN;
        making->run.row_changes++;
        making->row_head = head;
        making->row = cell->row;
    }
    making->count++;
    *taken = *cell;
    making->qualifier = taken->qualifier;
    making->in_column = true;
    making->passed = 0;
    return TAKEN;
}

/* Whether blocks are read for the run that is made: but for short ones, which may be all that is
 * wanted. */
static bool
reads_on(const struct making *making)
{
    return making->run.most == RUN_CELLS && making->count < RUN_CELLS;
}

/* To the source's next block, the one at hand being kept for the run. */
static bool
leave_block(struct making *making, struct cell_iter *source)
{
    struct cursor_run *run = &making->cursor->run;
    bool stepped = false;

    if (reads_on(making) && source->ops->next_kept != NULL)
        run->status = source->ops->next_kept(source, &stepped, &run->memory->error);
    return stepped;
}

/* The window's cells were taken: decode the next ones. False: the source stands at the last of
 * them. */
static bool
fill_again(struct making *making, struct window *window)
{
    struct cell_iter *source = window->source;

    window->next = window->end;
    do {
        if (!source->ops->step(source))
            return leave_block(making, source);
    } while (source->cell.sequence > making->run.read_point);
    (void)fill(making, window);
    return true;
}

/* The window that comes first is empty: if its source is pending, read its block. */
static NEVER_INLINE bool
load_and_fill(struct making *making, struct window *window)
{
    struct cursor_run *run = &making->cursor->run;
    struct cell_iter *source = window->source;

    if (!source->pending || !reads_on(making))
        return false;
    run->status = source->ops->load(source, &run->memory->error);
    return run->status == PETAL_OK && source->valid && fill(making, window);
}

/* Each source goes back to the first cell that is left in its window. */
static void
give_back(struct making *making, struct window *windows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct window *window = &windows[i];

        if (window->next + 1 < window->end)
            window->source->ops->go_back(window->source, (size_t)(window->end - 1 - window->next),
                                         window->next);
    }
    merge_iter_reorder(making->merge);
}

static void
drop_first(struct lane *lanes, size_t *count)
{
    (*count)--;
    memmove(lanes, lanes + 1, *count * sizeof *lanes);
}

/* Merge the windows until one is empty whose source cannot go on, or there is a cell that is not to
 * be taken. */
static enum scan_move
merge_windows(struct making *making, struct lane *lanes, size_t count)
{
    for (;;) {
        struct window *first = lanes[0].window;

        if (first->next == first->end) {
            if (!load_and_fill(making, first))
                return SCAN_SHOW;
            place(lanes, 0, count, first);
            continue;
        }
        if ((count > 1 && lanes[1].row_head == lanes[0].row_head &&
             is_tie(first, lanes[1].window)) ||
            take_decoded(making, first->next, lanes[0].row_head) == NOT_TAKEN) {
            making->refused = making->count < making->run.most;
            return SCAN_SHOW;
        }
        if (++first->next == first->end && !fill_again(making, first))
            return making->cursor->run.status == PETAL_OK ? SCAN_STEP : SCAN_SHOW;
        if (first->next == first->end && !first->source->valid)
            drop_first(lanes, &count);
        else
            place(lanes, 0, count, first);
        if (count == 0 || making->cursor->run.status != PETAL_OK)
            return SCAN_SHOW;
    }
}

/* From several sources, if all that have cells can decode ahead. */
void
take_merged(struct making *making)
{
    struct run_memory *memory = making->cursor->run.memory;
    const struct merge_iter *merge = making->merge;
    struct window windows[MOST_WINDOWS];
    struct lane lanes[MOST_WINDOWS];
    size_t count = merge->heap_count, filled;
    bool all = count <= MOST_WINDOWS;
    enum scan_move move;

    assert(memory != NULL && making->run.cells == memory->cells);
    for (filled = 0; all && filled < count; filled += all) {
        struct window *window = &windows[filled];

        *window = (struct window){merge->heap[filled].source, .cells = memory->windows[filled]};
        all = fill(making, window) || window->source->pending;
    }
    for (size_t i = filled; all && i-- > 0;)
        place(lanes, i, filled, &windows[i]);
    making->row_head = row_head(making->row);
    making->may_end = making->cursor->store_count > 1 || making->cursor->bounds.stop.size > 0 ||
                      making->cursor->options.row_limit > 0;
    move = all ? merge_windows(making, lanes, count) : SCAN_SHOW;
    give_back(making, windows, filled);
    if (making->count == 0 || move == SCAN_STEP)
        merge_iter_show_top_again(making->merge);
    if (making->count > 0)
        making->store->move = move;
}
