/*
 * cursor_run.c -- runs: cells that a cursor takes from its store at one go and then gives one
 * by one, or as they are. Nothing is decided about a single one of them.
 *
 * WHY NOTHING NEEDS TO BE. In a row without family markers that were heeded, a put that has no time
 * to live of its own, is at or below the read point, within the time range and not past the
 * family's TTL is visible if it is the first of its column: what could hide it sorts before it. So
 * a run takes the first put of each column, and ends where there is anything else: before a marker
 * above all. With one version asked, what follows in the column is passed over. A block whose facts
 * say all of that of all its cells is decoded as a whole, if the other sources' next rows, the stop
 * row and the limit of rows lie after it. Else cells are taken as they come first in the merge of
 * the sources: for a long run each source decodes some ahead, into its window (base/merge_iter.h),
 * if its block says that of them; what is left there when the run ends is given back. For short
 * runs the windows cost more than they save.
 *
 * WHAT A RUN LEAVES. No block goes while cells of a run point into it. So a run ends where its
 * source needs the next block; of a merge each source may leave one, which it keeps until the next
 * run. What fails after the cells of a run is told when they were given. Cursor, store and
 * visibility are left as steps to the run's last cell leave them: whoever goes on does not know of
 * it. The inputs stand at a cell that was given or passed over (SCAN_STEP), or they were brought to
 * one that nobody looked at (SCAN_SHOW); to show that one may read, so it waits until the run was
 * given.
 *
 * HOW LONG. As long as the last run was of use, up to RUN_CELLS: who seeks and takes ten cells
 * shall not pay for more. Where runs come to nothing they are not tried for a while.
 */
#include "base/inline.h"
#include "base/short_bytes.h"
#include "engine/read/cursor.h"

#define RUN_CELLS       128 /* of long runs; RUN_FEW_CELLS: of short ones */
#define RUN_KEY_BYTES   8192
#define RUN_FIRST_CELLS 8
#define RUN_FEW         4  /* a run of fewer cells costs more than the steps */
#define RUN_PAUSE       64 /* so many cells are given by steps then */

/* Row and qualifier of a cell that may go to the room for a few: decoding wants some bytes more. */
#define RUN_SHORT_KEY_BYTES (RUN_FEW_BYTES / RUN_FEW_CELLS - 32)

/* Cells passed over in one column, before it is left to a seek. */
#define MOST_PASSED STEPS_BEFORE_SEEK

/* Sources that decode cells ahead at most, and how many. */
#define MOST_WINDOWS 16
#define WINDOW_CELLS 16
#define LEAST_MERGED 32 /* cells of a run; shorter ones do not pay for it */

/* Of long runs; only they have windows. */
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
    struct merge_source *first, alone;
    size_t windows;      /* that were given to sources */
    struct cell_run run; /* limits and room */
    uint8_t *keys_end;
    size_t count; /* cells taken */
    /* Of the cell taken last, or before the run the place of the cursor. */
    petal_slice row, qualifier;
    uint64_t row_head; /* as in the merge */
    bool may_end;      /* rows after the one at hand have to be asked about, see ends_before */
    bool in_column;    /* there is such a column */
    unsigned passed;   /* cells of it that were passed over since */
    bool refused;      /* the run ended before a cell that is none for runs */
};

bool
cursor_run_fits(const petal_cursor *cursor)
{
    const petal_db *db = cursor->table->db;

    if (cursor->options.reversed || cursor->options.read.receipt != NULL ||
        atomic_load_explicit(&db->general_reads, memory_order_relaxed))
        return false;
    for (size_t i = 0; i < cursor->store_count; i++) {
        const struct store_scan *store = &cursor->stores[i];
        const struct visibility_rules *rules = &store->visibility.rules;

        if (!store->plain || rules->purpose != VISIBILITY_READ || rules->new_version_behavior ||
            rules->versions == 0 || store->inputs.qualifier_count > 0)
            return false;
    }
    return true;
}

void
cursor_run_begin(petal_cursor *cursor)
{
    struct cursor_run *run = &cursor->run;
    uint32_t unused = (uint32_t)(run->end - run->next);
    uint32_t likely = atomic_load_explicit(&cursor->table->likely_run, memory_order_relaxed);

    /* What was given since the last seek is what is likely to be asked after this one; first, what
     * the cursor before gave. */
    run->size = run->given > unused ? run->given - unused : likely > 0 ? likely : RUN_FIRST_CELLS;
    if (run->size > RUN_CELLS)
        run->size = RUN_CELLS;
    run->given = 0;
    run->pause = 0;
    run->next = run->end = run->last = NULL;
    run->status = PETAL_OK;
}

void
cursor_run_close(petal_cursor *cursor)
{
    const struct cursor_run *run = &cursor->run;
    uint32_t given = run->given - (uint32_t)(run->end - run->next);
    _Atomic(uint32_t) *likely = &cursor->table->likely_run;

    if (given > RUN_FEW_CELLS)
        given = RUN_FEW_CELLS;
    /* Written only when that is news: all who read the table share the line. */
    if (given > 0 && given != atomic_load_explicit(likely, memory_order_relaxed))
        atomic_store_explicit(likely, given, memory_order_relaxed);
    mem_free(cursor->table->db->env.allocator, run->memory, sizeof *run->memory);
}

enum petal_status
cursor_run_failure(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status = cursor->run.status;

    if (status != PETAL_OK)
        error_copy(error, &cursor->run.memory->error);
    cursor->run.status = PETAL_OK;
    return status;
}

/* ---- one source alone ---- */

/* The rows of a whole block must lie before this one; empty: wherever they like. */
static petal_slice
bound_of(const struct making *making)
{
    petal_slice stop = making->cursor->region_bounds.stop, rival = slice_make(NULL, 0);

    if (making->merge != NULL)
        rival = merge_iter_rival_row(making->merge);
    if (rival.size == 0 || (stop.size > 0 && slice_compare(stop, rival) < 0))
        return stop;
    return rival;
}

/* What is left of a block, if nothing of it needs to be looked at: as it is decoded. */
static void
take_block(struct making *making)
{
    const petal_cursor *cursor = making->cursor;
    uint64_t rows_left = cursor->options.row_limit - cursor->rows;
    struct cell_iter *source = making->first->iter;

    if (cursor->store_count > 1)
        return;
    making->run.before = bound_of(making);
    if (cursor->options.row_limit > 0 && rows_left < making->run.most)
        making->run.most = (size_t)rows_left;
    making->count = source->ops->take_run(source, &making->run);
    if (making->count == 0)
        return;
    making->store->move = SCAN_STEP;
    if (making->merge != NULL)
        merge_iter_show_first_again(making->merge);
}

/* ---- cell by cell ---- */

static inline bool
same_key(petal_slice a, petal_slice b)
{
    return a.size == b.size && short_bytes_equal(slice_bytes(a), slice_bytes(b), a.size);
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

/* Does the scan end before a row after the one at hand? With several stores it is not asked: the
 * others may have cells of the row at hand. */
static inline bool
ends_before(const struct making *making, petal_slice row)
{
    const petal_cursor *cursor = making->cursor;

    return cursor->store_count > 1 || scan_bounds_behind(&cursor->region_bounds, row) ||
           cursor->rows + making->run.row_changes + 1 == cursor->options.row_limit;
}

/* Take the cell, whose bytes stay, or pass over it. False: it is left to others. */
static ALWAYS_INLINE bool
take(struct making *making, const petal_cell *cell, bool same_row)
{
    petal_cell *taken = &making->run.cells[making->count];

    if (making->count == making->run.most)
        return false;
    if (same_row) {
        if (making->in_column && same_key(cell->qualifier, making->qualifier))
            return making->run.one_version && ++making->passed < MOST_PASSED;
    } else {
        if (making->may_end && ends_before(making, cell->row))
            return false;
        making->run.row_changes++;
        making->row = cell->row;
    }
    making->count++;
    if (taken != cell)
        *taken = *cell;
    making->qualifier = taken->qualifier;
    making->in_column = true;
    making->passed = 0;
    return true;
}

/* The same with the source's own cell, which is copied but for its value. */
static bool
take_stored(struct making *making, const struct cell *cell)
{
    const struct cell_run *run = &making->run;
    petal_cell *made = &run->cells[making->count];
    bool same_row = same_key(cell->row, making->row);

    if (cell->sequence > run->read_point)
        return making->count > 0;
    if (making->count == run->most || cell->type != PETAL_PUT || cell->has_ttl ||
        cell->timestamp < run->time_min || cell->timestamp >= run->time_limit ||
        cell->row.size + cell->qualifier.size > (size_t)(making->keys_end - run->keys))
        return false;
    /* One by one: compilers would first make all of it zero by a loop. */
    made->family = run->family;
    made->row = same_row ? making->row : keep_key(making, cell->row);
    made->qualifier =
        cell->qualifier.size > 0 ? keep_key(making, cell->qualifier) : cell->qualifier;
    made->value = cell->value;
    made->timestamp = cell->timestamp;
    made->type = PETAL_PUT;
    made->has_ttl = false;
    made->ttl_ms = 0;
    if (making->merge != NULL)
        making->row_head = making->merge->lanes[0].row_head;
    return take(making, made, same_row);
}

/* Of several sources one that comes first decodes some cells ahead, if a long run is wanted. False:
 * its own cell comes next. */
static bool
fill(struct making *making, struct merge_source *first)
{
    struct run_memory *memory = making->cursor->run.memory;
    struct cell_run run = making->run;
    size_t count;

    if (making->run.most < LEAST_MERGED || making->merge == NULL)
        return false;
    if (first->room == NULL) {
        if (making->windows == MOST_WINDOWS)
            return false;
        first->room = memory->windows[making->windows++];
    }
    run.before = slice_make(NULL, 0);
    run.cells = first->room;
    run.most = WINDOW_CELLS;
    run.key_bytes = (size_t)(making->keys_end - run.keys);
    count = first->iter->ops->take_run(first->iter, &run);
    making->run.keys = run.keys;
    first->next = first->room;
    first->end = first->room + count;
    return count > 0;
}

/* Whether blocks are read for the run that is made: but for short ones, which may be all that is
 * wanted. */
static bool
reads_on(const struct making *making)
{
    return making->run.most == RUN_CELLS && making->count < RUN_CELLS;
}

/* Past the source's cell, which was the last of its window: without reading, or to its next block,
 * the one at hand being kept for the run. False: the source is where it was, or failed; *move says
 * where the inputs go then. */
static bool
step(struct making *making, struct cell_iter *source, enum scan_move *move)
{
    struct cursor_run *run = &making->cursor->run;
    bool stepped = source->ops->step(source);

    if (!stepped && reads_on(making) && source->ops->next_kept != NULL)
        run->status = source->ops->next_kept(source, &stepped, &run->memory->error);
    if (!stepped)
        *move = SCAN_STEP;
    return stepped && run->status == PETAL_OK;
}

/* Each source goes back to the first cell that is left in its window. */
static void
give_back(struct making *making)
{
    struct merge_iter *merge = making->merge;

    for (size_t i = 0; merge != NULL && i < merge->lane_count; i++) {
        struct merge_source *source = merge->lanes[i].source;

        merge_source_cut(source);
        source->next = source->end = source->room = NULL;
    }
}

/* Cells of windows, as long as those come first. False: the run ends; *move says where the inputs
 * go then. */
static bool
take_decoded(struct making *making, enum scan_move *move)
{
    struct merge_iter *merge = making->merge;
    struct merge_source *first = making->first;

    while (first != NULL && first->next < first->end) {
        uint64_t head = merge->lanes[0].row_head;
        bool same_row = head == making->row_head && same_key(first->next->row, making->row);

        making->row_head = head;
        if (!take(making, first->next, same_row)) {
            making->refused = making->count < making->run.most;
            return false;
        }
        if (++first->next == first->end && !step(making, first->iter, move))
            return false;
        merge_iter_passed(merge);
        first = merge_iter_first(merge);
    }
    making->first = first;
    return true;
}

/* The cell at hand of the source that comes first, if it is no pending one; or its window, or that
 * cell is all there then. False: as above. */
static bool
take_at_hand(struct making *making, enum scan_move *move)
{
    struct merge_source *first = making->first;
    struct cursor_run *run = &making->cursor->run;

    if (first->iter->pending) {
        if (!reads_on(making))
            return false;
        run->status = first->iter->ops->load(first->iter, &run->memory->error);
    } else if (first->next < first->end || fill(making, first)) {
        return take_decoded(making, move);
    } else if (!take_stored(making, &first->iter->cell)) {
        making->refused = making->count < making->run.most;
        return false;
    } else if (!step(making, first->iter, move)) {
        return false;
    }
    if (making->merge != NULL && run->status == PETAL_OK) {
        merge_iter_passed(making->merge);
        making->first = merge_iter_first(making->merge);
    }
    return true;
}

/* From the first on, without which nothing is done: each cell is taken or passed over, until one is
 * not or its source cannot go on. */
static void
take_cells(struct making *making)
{
    enum scan_move move = SCAN_SHOW;

    if (making->merge != NULL) {
        merge_iter_leave(making->merge);
        making->row_head = making->merge->lanes[0].row_head;
    }
    while (making->cursor->run.status == PETAL_OK && making->first != NULL &&
           making->first->iter->valid && take_at_hand(making, &move))
        ;
    give_back(making);
    if (making->merge != NULL && (making->count == 0 || move == SCAN_STEP))
        merge_iter_show_first_again(making->merge);
    if (making->count > 0)
        making->store->move = move;
}

/* ---- before and after ---- */

enum petal_status
cursor_run_settle(petal_cursor *cursor, petal_error *error)
{
    struct store_scan *store = &cursor->stores[cursor->store];
    const petal_cell *last = cursor->run.last;
    enum visibility_verdict verdict;
    struct cell cell = {
        .qualifier = last->qualifier,
        .timestamp = last->timestamp,
        .sequence = store->visibility.rules.read_point,
        .type = PETAL_PUT,
    };

    assert(cursor->state == CURSOR_IN_ROW && last + 1 == cursor->run.end);
    cursor->run.last = NULL;
    cursor->rows += cursor->run.row_changes;
    cursor->row_shown = true;
    if (cursor->run.row_changes > 0) {
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
    /* What a block's end has cut is made up for by the next run; after that as many again. */
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

/* Memory for the cells and their keys: a few short ones have it. */
static bool
make_room(struct making *making)
{
    struct cursor_run *run = &making->cursor->run;
    struct cursor_room *room = making->cursor->room;
    const struct cell *cell = &making->store->inputs.cells->cell;

    if (run->size <= RUN_FEW_CELLS &&
        cell->row.size + cell->qualifier.size <= RUN_SHORT_KEY_BYTES) {
        making->run.cells = room->cells;
        making->run.keys = room->keys;
        making->run.key_bytes = sizeof room->keys;
    } else {
        if (run->memory == NULL)
            run->memory = mem_alloc(making->cursor->table->db->env.allocator, sizeof *run->memory);
        if (run->memory == NULL)
            return false;
        making->run.cells = run->memory->cells;
        making->run.keys = run->memory->keys;
        making->run.key_bytes = sizeof run->memory->keys;
    }
    making->keys_end = making->run.keys + making->run.key_bytes;
    return true;
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
                .most = run->size},
        .alone = {.iter = inputs->cells},
        .may_end = cursor->store_count > 1 || cursor->region_bounds.stop.size > 0 ||
                   cursor->options.row_limit > 0,
        .row = store->row,
        .qualifier = visibility_column(visibility),
        .in_column = visibility->in_column,
    };

    assert(cursor->runs && run->next == run->end && store->place == SCAN_IN_ROW);
    assert(inputs->cells->valid && !inputs->cells->pending);
    making.first = making.merge != NULL ? merge_iter_first(making.merge) : &making.alone;
    if (!make_room(&making))
        return error_no_memory(error);
    forget_passed(inputs);
    if (making.in_column && slice_equal(inputs->cells->cell.qualifier, making.qualifier))
        return PETAL_OK; /* the column goes on */
    take_block(&making);
    if (making.count == 0)
        take_cells(&making);
    learn(run, making.count, making.refused);
    if (making.count == 0)
        return cursor_run_failure(cursor, error);
    store->shown += making.count;
    run->next = making.run.cells;
    run->end = making.run.cells + making.count;
    run->last = run->end - 1;
    run->row_changes = making.run.row_changes;
    return PETAL_OK;
}
