/*
 * cursor_run.c -- runs: cells that a plain cursor takes from its store at one go and then gives one
 * by one, or as they are. Nothing is decided about a single one of them.
 *
 * WHY NOTHING NEEDS TO BE. In a row without family markers that were heeded, a put that has no time
 * to live of its own, is at or below the read point, within the time range and not past the
 * family's TTL is visible if it is the first of its column: what could hide it sorts before it. So
 * a run takes the first put of each column, and ends where there is anything else: before a marker
 * above all. With one version asked, what follows in the column is passed over. A block whose facts
 * say all of that of all its cells is decoded as a whole, if the other sources' next rows, the stop
 * row and the limit of rows lie behind it. Several sources decode a few cells ahead each, into
 * windows, which are merged; what is left in them is given back when the run ends. Where there is
 * no such stretch, the sources are stepped and merged cell by cell.
 *
 * WHAT A RUN LEAVES. No block is left while cells of a run point into it, so a run ends at the
 * latest where a source needs its next block. Cursor, store and visibility are left as steps to the
 * run's last cell leave them: whoever goes on does not know of it. The inputs stand at a cell that
 * was given or passed over (SCAN_STEP), or they were brought to one that nobody looked at
 * (SCAN_SHOW); to show that one may read, so it waits until the run was given.
 *
 * HOW LONG. As long as the last run was of use, up to RUN_CELLS: who seeks and takes ten cells
 * shall not pay for more. Where runs come to nothing they are not tried for a while.
 */
#include "base/coding.h"
#include "base/inline.h"
#include "engine/read/cursor.h"

#define RUN_CELLS       128
#define RUN_KEY_BYTES   8192
#define RUN_FIRST_CELLS 8
#define RUN_FEW         4  /* a run of fewer cells costs more than the steps */
#define RUN_PAUSE       64 /* so many cells are given by steps then */

/* Cells passed over in one column, before it is left to a seek. */
#define MOST_PASSED STEPS_BEFORE_SEEK

/* Sources that are merged by windows at most, and how many cells each decodes ahead. */
#define MOST_WINDOWS 16
#define WINDOW_CELLS 16
#define LEAST_MERGED 32 /* cells of a run; shorter ones do not pay for the windows */

struct run_memory {
    petal_error error; /* of run.status */
    petal_cell cells[RUN_CELLS];
    petal_cell windows[MOST_WINDOWS][WINDOW_CELLS];
    uint8_t keys[RUN_KEY_BYTES];
};

bool
cursor_run_fits(const petal_cursor *cursor)
{
    if (!cursor->plain)
        return false;
    for (size_t i = 0; i < cursor->store_count; i++) {
        const struct store_scan *store = &cursor->stores[i];
        const struct visibility_rules *rules = &store->visibility.rules;

        if (rules->purpose != VISIBILITY_READ || rules->new_version_behavior ||
            rules->versions == 0 || store->inputs.qualifier_count > 0)
            return false;
    }
    return true;
}

void
cursor_run_free(petal_cursor *cursor)
{
    mem_free(cursor->table->db->env.allocator, cursor->run.memory, sizeof *cursor->run.memory);
    cursor->run.memory = NULL;
}

void
cursor_run_begin(petal_cursor *cursor)
{
    struct cursor_run *run = &cursor->run;
    uint32_t unused = (uint32_t)(run->end - run->next);

    /* What was given since the last seek is what is likely to be asked behind this one. */
    run->size = run->given > unused ? run->given - unused : RUN_FIRST_CELLS;
    if (run->size > RUN_CELLS)
        run->size = RUN_CELLS;
    run->given = 0;
    run->pause = 0;
    run->merges_paused = 0;
    run->next = run->end = NULL;
    run->status = PETAL_OK;
}

enum petal_status
cursor_run_failure(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status = cursor->run.status;

    if (status != PETAL_OK && error != NULL)
        *error = cursor->run.memory->error;
    cursor->run.status = PETAL_OK;
    return status;
}

/* ---- what a run is made of ---- */

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
    bool may_end;      /* rows behind the one at hand have to be asked about, see ends_before */
    bool in_column;    /* there is such a column */
    unsigned passed;   /* cells of it that were passed over since */
    bool refused;      /* the run ended before a cell that is none for runs */
    uint8_t *keys_end;
};

static struct cell_iter *
source_of(const struct making *making)
{
    return making->merge != NULL ? merge_iter_top(making->merge) : making->store->inputs.cells;
}

/* The rows of a whole block must lie before this one; empty: wherever they like. */
static petal_slice
bound_of(const struct making *making)
{
    petal_slice stop = making->cursor->bounds.stop, rival = slice_make(NULL, 0);

    if (making->merge != NULL)
        rival = merge_iter_rival_row(making->merge);
    if (rival.size == 0 || (stop.size > 0 && slice_compare(stop, rival) < 0))
        return stop;
    return rival;
}

/* What is left of a block, if nothing of it needs to be looked at. */
static size_t
take_block(struct making *making)
{
    struct cell_iter *source = source_of(making);
    const petal_cursor *cursor = making->cursor;
    uint64_t rows_left = cursor->options.row_limit - cursor->rows;
    size_t count;

    if (source->ops->take_run == NULL || cursor->store_count > 1)
        return 0;
    making->run.before = bound_of(making);
    if (cursor->options.row_limit > 0 && rows_left < making->run.most)
        making->run.most = (size_t)rows_left;
    count = source->ops->take_run(source, &making->run);
    if (count > 0 && making->merge != NULL)
        merge_iter_show_top_again(making->merge);
    return count;
}

/* Is the cell of a kind that a run may have? */
static inline bool
is_plain_put(const struct cell_run *run, const struct cell *cell)
{
    return cell->type == PETAL_PUT && !cell->has_ttl && cell->timestamp >= run->time_min &&
           cell->timestamp < run->time_limit;
}

/* Does the scan end before a row behind the one at hand? With several stores it is not asked: the
 * others may have cells of the row at hand. */
static inline bool
ends_before(const struct making *making, petal_slice row)
{
    const petal_cursor *cursor = making->cursor;

    return cursor->store_count > 1 || scan_bounds_behind(&cursor->bounds, row) ||
           cursor->rows + making->run.row_changes + 1 == cursor->options.row_limit;
}

static NEVER_INLINE void
copy_key(uint8_t *to, petal_slice key)
{
    if (key.size > 0)
        memcpy(to, key.data, key.size);
}

/* A copy in the run's memory, for which there is room. Most keys are of 8 to 16 bytes: two
 * numbers, which may overlap. */
static inline petal_slice
keep_key(struct making *making, petal_slice key)
{
    uint8_t *to = making->run.keys;
    const uint8_t *from = slice_bytes(key);

    if (key.size >= 8 && key.size <= 16) {
        memcpy(to, from, 8);
        memcpy(to + key.size - 8, from + key.size - 8, 8);
    } else {
        copy_key(to, key);
    }
    making->run.keys += key.size;
    return slice_make(to, key.size);
}

static NEVER_INLINE bool
same_long_key(petal_slice a, petal_slice b)
{
    return slice_equal(a, b);
}

/* slice_equal, without a call for keys that differ at their ends, and for those of 8 to 16 bytes. */
static inline bool
same_key(petal_slice a, petal_slice b)
{
    const uint8_t *left = slice_bytes(a), *right = slice_bytes(b);

    if (a.size != b.size)
        return false;
    if (a.size < 8)
        return a.size == 0 || same_long_key(a, b);
    return memcmp(left + a.size - 8, right + a.size - 8, 8) == 0 &&
           (a.size <= 16 ? memcmp(left, right, 8) == 0 : same_long_key(a, b));
}

static inline bool
has_room(const struct making *making, const struct cell *cell)
{
    return making->count < making->run.most &&
           cell->row.size + cell->qualifier.size <= (size_t)(making->keys_end - making->run.keys);
}

enum taking { TAKEN, PASSED, NOT_TAKEN };

/* Take the cell, or pass over it, or leave it to others. */
static inline enum taking
take(struct making *making, const struct cell *cell)
{
    petal_cell *taken = &making->run.cells[making->count];
    bool same_row;

    if (cell->sequence > making->run.read_point)
        return PASSED;
    if (!is_plain_put(&making->run, cell) || !has_room(making, cell))
        return NOT_TAKEN;
    same_row = same_key(cell->row, making->row);
    if (same_row && making->in_column && same_key(cell->qualifier, making->qualifier))
        return making->versions == 1 && ++making->passed < MOST_PASSED ? PASSED : NOT_TAKEN;
    if (!same_row && ends_before(making, cell->row))
        return NOT_TAKEN;
    making->run.row_changes += !same_row;
    if (!same_row || making->count == 0)
        making->row = keep_key(making, cell->row);
    making->qualifier =
        cell->qualifier.size > 0 ? keep_key(making, cell->qualifier) : cell->qualifier;
    making->in_column = true;
    making->passed = 0;
    /* One by one: compilers would first make all of it zero by a loop. */
    taken->family = making->run.family;
    taken->row = making->row;
    taken->qualifier = making->qualifier;
    taken->value = cell->value;
    taken->timestamp = cell->timestamp;
    taken->type = PETAL_PUT;
    taken->has_ttl = false;
    taken->ttl_ms = 0;
    making->count++;
    return TAKEN;
}

/* Cell by cell. The first must be one that is taken, else nothing is done. */
static void
take_cells(struct making *making)
{
    struct cell_iter *source = source_of(making);
    enum scan_move move = SCAN_SHOW;

    making->refused = source->ops->step == NULL || take(making, &source->cell) != TAKEN;
    if (making->refused) {
        assert(making->count == 0);
        return;
    }
    for (;;) {
        if (!source->ops->step(source)) {
            move = SCAN_STEP;
            break;
        }
        if (making->merge != NULL) {
            merge_iter_top_stepped(making->merge);
            source = merge_iter_top(making->merge);
        }
        if (source == NULL || source->pending)
            break;
        if (source->ops->step == NULL || take(making, &source->cell) == NOT_TAKEN) {
            making->refused = making->count < making->run.most;
            break;
        }
    }
    if (move == SCAN_STEP && making->merge != NULL)
        merge_iter_show_top_again(making->merge);
    making->store->move = move;
}

/* ---- merging windows ---- */

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
static void
take_merged(struct making *making)
{
    struct run_memory *memory = making->cursor->run.memory;
    const struct merge_iter *merge = making->merge;
    struct window windows[MOST_WINDOWS];
    struct lane lanes[MOST_WINDOWS];
    size_t count = merge->heap_count, filled;
    bool all = count <= MOST_WINDOWS;
    enum scan_move move;

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

/* The same, if it is likely to be worth it: a long run is wanted, and not just before one ended at
 * once. */
static void
try_merged(struct making *making)
{
    struct cursor_run *run = &making->cursor->run;

    if (making->run.most < LEAST_MERGED)
        return;
    if (run->merges_paused > 0) {
        run->merges_paused--;
        return;
    }
    take_merged(making);
    if (making->count >= RUN_FEW || !making->refused)
        return;
    run->merges_paused = RUN_PAUSE;
    making->refused = false;
}

/* ---- before and behind ---- */

/* Leave cursor, store and visibility as a step to the last cell taken does. */
static enum petal_status
come_to(petal_cursor *cursor, struct store_scan *store, const petal_cell *last, size_t count,
        size_t row_changes, petal_error *error)
{
    enum visibility_verdict verdict;
    struct cell cell = {
        .qualifier = last->qualifier,
        .timestamp = last->timestamp,
        .sequence = store->visibility.rules.read_point,
        .type = PETAL_PUT,
    };

    cursor->rows += row_changes;
    cursor->row_shown = true;
    store->shown += count;
    if (row_changes > 0) {
        if (cursor_copy_row(cursor, last->row) != PETAL_OK)
            return error_no_memory(error);
        store->row = slice_make(cursor->row, cursor->row_bytes);
        visibility_start_row(&store->visibility);
    }
    cell.row = store->row;
    if (visibility_judge(&store->visibility, &cell, &verdict) != PETAL_OK)
        return error_no_memory(error);
    assert(verdict == VISIBILITY_SHOW);
    return PETAL_OK;
}

/* How long the next run may be, and whether it is worth trying. */
static void
learn(struct cursor_run *run, size_t count, bool refused)
{
    if (refused && count < RUN_FEW)
        run->pause = RUN_PAUSE;
    run->given += (uint32_t)count;
    /* What a block's end has cut is made up for by the next run; behind that as many again. */
    if (run->given >= RUN_CELLS)
        run->given = run->size = RUN_CELLS;
    else
        run->size = count < run->size ? run->size - (uint32_t)count : run->given;
}

/* The run before was given: its blocks are not needed any more. */
static void
forget_passed(struct scan_inputs *inputs)
{
    for (size_t i = 0; i < inputs->source_count; i++) {
        struct cell_iter *source = inputs->sources[i].base;

        if (source->ops->forget != NULL)
            source->ops->forget(source);
    }
}

enum petal_status
cursor_take_run(petal_cursor *cursor, struct store_scan *store, petal_error *error)
{
    struct scan_inputs *inputs = &store->inputs;
    const struct visibility *visibility = &store->visibility;
    const struct visibility_rules *rules = &visibility->rules;
    struct cursor_run *run = &cursor->run;
    struct making making = {
        .cursor = cursor,
        .store = store,
        .merge = inputs->cells == &inputs->merge.iter ? &inputs->merge : NULL,
        .run = {.read_point = rules->read_point,
                .time_min = rules->time_min > rules->oldest_unexpired ? rules->time_min
                                                                      : rules->oldest_unexpired,
                .time_limit = rules->time_limit,
                .one_version = rules->versions == 1,
                .family = store->family->name,
                .most = run->size,
                .key_bytes = RUN_KEY_BYTES},
        .versions = rules->versions,
        .row = store->row,
        .qualifier = visibility_column(visibility),
        .in_column = visibility->in_column,
    };
    size_t count;

    assert(cursor->runs && run->next == run->end && store->place == SCAN_IN_ROW);
    assert(inputs->cells->valid && !inputs->cells->pending);
    if (run->memory == NULL) {
        run->memory = mem_alloc(store->db->env.allocator, sizeof *run->memory);
        if (run->memory == NULL)
            return error_no_memory(error);
    }
    making.run.cells = run->memory->cells;
    making.run.keys = run->memory->keys;
    making.keys_end = making.run.keys + RUN_KEY_BYTES;
    forget_passed(inputs);
    if (making.in_column && slice_equal(inputs->cells->cell.qualifier, making.qualifier))
        return PETAL_OK; /* the column goes on */
    count = take_block(&making);
    if (count > 0) {
        store->move = SCAN_STEP;
    } else {
        if (making.merge != NULL)
            try_merged(&making);
        if (making.count == 0 && run->status == PETAL_OK)
            take_cells(&making);
        count = making.count;
    }
    learn(run, count, making.refused);
    if (count == 0)
        return cursor_run_failure(cursor, error);
    run->next = making.run.cells;
    run->end = making.run.cells + count;
    return come_to(cursor, store, run->end - 1, count, making.run.row_changes, error);
}
