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
 * row and the limit of rows lie after it. Several sources decode a few cells ahead each, into
 * windows, which are merged; what is left in them is given back when the run ends. Where there is
 * no such stretch, the sources are stepped and merged cell by cell.
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
#include "engine/read/run_making.h"

#define RUN_FIRST_CELLS 8
#define LEAST_MERGED    32 /* cells of a run; shorter ones do not pay for the windows */

/* Row and qualifier of a cell that may go to the room for a few: decoding wants some bytes more. */
#define RUN_SHORT_KEY_BYTES (RUN_FEW_BYTES / RUN_FEW_CELLS - 32)

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
    run->merges_paused = 0;
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

/* ---- what a run is made of ---- */

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

static inline bool
has_room(const struct making *making, const struct cell *cell)
{
    return making->count < making->run.most &&
           cell->row.size + cell->qualifier.size <= (size_t)(making->keys_end - making->run.keys);
}

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
        .versions = rules->versions,
        .row = store->row,
        .qualifier = visibility_column(visibility),
        .in_column = visibility->in_column,
    };
    size_t count;

    assert(cursor->runs && run->next == run->end && store->place == SCAN_IN_ROW);
    assert(inputs->cells->valid && !inputs->cells->pending);
    if (!make_room(&making))
        return error_no_memory(error);
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
    store->shown += count;
    run->next = making.run.cells;
    run->end = making.run.cells + count;
    run->last = run->end - 1;
    run->row_changes = making.run.row_changes;
    return PETAL_OK;
}
