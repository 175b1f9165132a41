/* cursor.c -- moving a cursor, see cursor.h. It drives the filter as HBase's region scanner
 * does. */
#include "engine/read/cursor.h"

#include "base/argument.h"
#include "base/inline.h"
#include "engine/read/options.h"
#include "engine/read/range.h"
#include "engine/read/receipt.h"
#include "engine/read/result.h"

static petal_slice
row_of(const petal_cursor *cursor)
{
    return slice_make(cursor->row, cursor->row_bytes);
}

/* ---- from row to row ---- */

static enum petal_status
seek_stores(petal_cursor *cursor, petal_slice row, bool exclusive, petal_error *error)
{
    enum petal_status status = cursor_enter_region_of(cursor, row, error);

    for (size_t i = 0; status == PETAL_OK && i < cursor->store_count; i++)
        status = store_scan_seek(&cursor->stores[i], row, exclusive, error);
    cursor->state = CURSOR_BETWEEN;
    return status;
}

/* To the first row of the next region. */
static enum petal_status
seek_next_region(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status = cursor_enter_next_region(cursor, error);
    const struct scan_bounds *bounds = &cursor->region_bounds;

    for (size_t i = 0; status == PETAL_OK && i < cursor->store_count; i++)
        status = store_scan_seek(&cursor->stores[i], bounds->start, bounds->start_exclusive, error);
    return status;
}

/* Begin where the bounds do, or further on when the filter lets nothing before pass. */
static enum petal_status
seek_start(petal_cursor *cursor, petal_error *error)
{
    petal_slice row = cursor->bounds.start, first;
    bool exclusive = cursor->bounds.start_exclusive && row.size > 0, none = false;

    if (cursor->filter != NULL && filter_run_first_row(cursor->filter, &first, &none) && !none &&
        (row.size == 0 || (cursor->options.reversed ? slice_compare(first, row) < 0
                                                    : slice_compare(first, row) > 0))) {
        row = first;
        exclusive = false;
    }
    if (none) {
        cursor->state = CURSOR_ENDED;
        return PETAL_OK;
    }
    return seek_stores(cursor, row, exclusive, error);
}

/* The row that comes first among the stores' next rows, and the first store at it, if there is
 * one. */
static inline bool
next_row(const petal_cursor *cursor, petal_slice *row, size_t *first)
{
    bool found = false;

    *row = slice_make(NULL, 0);
    for (size_t i = 0; i < cursor->store_count; i++) {
        petal_slice candidate;

        if (!store_scan_next_row(&cursor->stores[i], &candidate))
            continue;
        if (found && (cursor->options.reversed ? slice_compare(candidate, *row) <= 0
                                               : slice_compare(candidate, *row) >= 0))
            continue;
        *row = candidate;
        *first = i;
        found = true;
    }
    return found;
}

static enum petal_status
leave_row(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert(cursor->state == CURSOR_IN_ROW);
    for (size_t i = 0; status == PETAL_OK && i < cursor->store_count; i++) {
        struct store_scan *store = &cursor->stores[i];

        if (store->place == SCAN_BEHIND_ROW)
            store->place = SCAN_BETWEEN_ROWS;
        else if (store_scan_entered(store))
            status = store_scan_leave_row(store, error);
    }
    if (cursor->filter != NULL)
        filter_run_reset(cursor->filter);
    cursor->state = CURSOR_BETWEEN;
    return status;
}

/* The stores before `first` do not have the row. */
static ALWAYS_INLINE enum petal_status
enter_row(petal_cursor *cursor, size_t first, petal_error *error)
{
    enum petal_status status = store_scan_enter_row(&cursor->stores[first], row_of(cursor), error);

    assert(cursor->state == CURSOR_BETWEEN);
    for (size_t i = first + 1; status == PETAL_OK && i < cursor->store_count; i++) {
        if (store_scan_next_row_is(&cursor->stores[i], row_of(cursor)))
            status = store_scan_enter_row(&cursor->stores[i], row_of(cursor), error);
    }
    cursor->state = CURSOR_IN_ROW;
    cursor->store = first;
    cursor->row_shown = cursor->row_excluded = false;
    cursor->fill = FILL_NEEDED;
    return status;
}

/* The row's next cell as its stores give it, or a run that begins with it. */
static inline enum petal_status
next_stored(petal_cursor *cursor, bool *found, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    *found = false;
    while (status == PETAL_OK && !*found && cursor->run.next == cursor->run.end &&
           cursor->store < cursor->store_count && cursor->patience > 0) {
        struct store_scan *store = &cursor->stores[cursor->store];

        if (store->place == SCAN_IN_ROW)
            status = store_scan_reach(store, error);
        if (status != PETAL_OK)
            break;
        if (store->place != SCAN_IN_ROW) {
            cursor_find_store(cursor);
            continue;
        }
        if (cursor_may_take_run(cursor, store))
            status = cursor_take_run(cursor, store, error);
        if (status == PETAL_OK && cursor->run.next == cursor->run.end)
            status = store_scan_decide(store, &cursor->cell, found, error);
    }
    return status;
}

/* Pass over the row that its key excludes, and over those that follow as far as the filter
 * knows. */
static enum petal_status
pass_excluded_row(petal_cursor *cursor, size_t first, petal_error *error)
{
    petal_slice next = row_of(cursor);
    bool none = false, known;
    enum petal_status status = PETAL_OK;

    assert(cursor->filter != NULL && cursor->state == CURSOR_BETWEEN);
    if (filter_run_done(cursor->filter)) {
        cursor->state = CURSOR_ENDED;
        return PETAL_OK;
    }
    if (cursor->watches_excluded_rows) {
        enum petal_status entered = enter_row(cursor, first, error);

        cursor->row_excluded = true;
        return entered;
    }
    known = filter_run_next_row(cursor->filter, row_of(cursor), &next, &none);
    if (none) {
        cursor->state = CURSOR_ENDED;
        return PETAL_OK;
    }
    if (known && scan_bounds_behind(&cursor->region_bounds, next)) {
        filter_run_reset(cursor->filter);
        return seek_stores(cursor, next, false, error);
    }
    for (size_t i = 0; status == PETAL_OK && i < cursor->store_count; i++) {
        petal_slice candidate;
        int order;

        if (!store_scan_next_row(&cursor->stores[i], &candidate))
            continue;
        order = slice_compare(candidate, known ? next : row_of(cursor));
        if (cursor->options.reversed ? order > 0 : order < 0)
            status = store_scan_seek(&cursor->stores[i], next, false, error);
        else if (order == 0 && !known)
            status = store_scan_seek(&cursor->stores[i], row_of(cursor), true, error);
    }
    filter_run_reset(cursor->filter);
    return status;
}

/* Go on to the next row and enter it; the state is ENDED when there is none, BETWEEN when the
 * filter excluded it, and does not want to see it. */
static enum petal_status
begin_row(petal_cursor *cursor, petal_error *error)
{
    petal_slice row;
    size_t first = 0;

    assert(cursor->state == CURSOR_BETWEEN);
    while (!next_row(cursor, &row, &first) || scan_bounds_behind(&cursor->region_bounds, row)) {
        enum petal_status status;

        if (!cursor->more_regions) {
            cursor->state = CURSOR_ENDED;
            return PETAL_OK;
        }
        status = seek_next_region(cursor, error);
        if (status != PETAL_OK)
            return status;
    }
    if (cursor_copy_row(cursor, row) != PETAL_OK)
        return error_no_memory(error);
    if (cursor->filter != NULL && filter_run_skips_row(cursor->filter, row_of(cursor)))
        return pass_excluded_row(cursor, first, error);
    return enter_row(cursor, first, error);
}

/* The row is over. */
static enum petal_status
end_row(petal_cursor *cursor, petal_error *error)
{
    bool shown = cursor->row_shown;
    enum petal_status status = leave_row(cursor, error);

    if (!shown)
        return status;
    cursor->rows++;
    if ((cursor->options.row_limit > 0 && cursor->rows == cursor->options.row_limit) ||
        (cursor->filter != NULL && filter_run_done(cursor->filter)))
        cursor->state = CURSOR_ENDED;
    return status;
}

/* Append the cells of the stores whose families the filter needs, or does not need, to the
 * buffer. */
static enum petal_status
buffer_stores(petal_cursor *cursor, bool needed, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < cursor->store_count; i++) {
        struct store_scan *store = &cursor->stores[i];
        bool found = store->needed == needed && store_scan_entered(store);

        while (status == PETAL_OK && found && cursor->patience > 0) {
            petal_cell cell;

            status = store_scan_next(store, &cell, &found, error);
            if (status == PETAL_OK && found && result_append(cursor->buffer, &cell, 1) != PETAL_OK)
                status = error_no_memory(error);
        }
    }
    return status;
}

/* Bring cells that came family by family into the order of the families. */
static enum petal_status
sort_by_family(petal_cursor *cursor, petal_error *error)
{
    const petal_allocator *allocator = cursor->table->db->env.allocator;
    petal_result *buffer = cursor->buffer;
    size_t count = 0;
    petal_cell *sorted;

    if (buffer->count == 0)
        return PETAL_OK;
    sorted = mem_alloc(allocator, buffer->count * sizeof *sorted);
    if (sorted == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < cursor->store_count; i++) {
        for (size_t k = 0; k < buffer->count; k++) {
            if (slice_equal(buffer->cells[k].family, cursor->stores[i].family->name))
                sorted[count++] = buffer->cells[k];
        }
    }
    assert(count == buffer->count);
    memcpy(buffer->cells, sorted, count * sizeof *sorted);
    mem_free(allocator, sorted, buffer->count * sizeof *sorted);
    return PETAL_OK;
}

/* All cells of the needed families are in the buffer: let the filter decide on the row. */
static void
decide_on_row(petal_cursor *cursor)
{
    petal_result *buffer = cursor->buffer;

    cursor->fill = FILL_DONE;
    if (buffer->count == 0)
        return;
    if (cursor->needs_rows) {
        filter_run_row_cells(cursor->filter, buffer->cells, &buffer->count);
        if (buffer->count > 0 && filter_run_drops_row(cursor->filter)) {
            buffer->count = 0;
            return;
        }
    }
    if (cursor->reads_needed_first)
        cursor->fill = FILL_OTHERS;
}

/*
 * Read the row's needed families and let the filter decide on the row; what stays is in the buffer.
 * The other families follow, if the row has cells in the needed ones and is kept. Where the
 * cursor's patience ends before the row, the next call goes on: a store whose cells have all come
 * gives none again.
 */
static enum petal_status
fill_buffer(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status;

    assert(cursor->buffer != NULL && cursor->state == CURSOR_IN_ROW && !cursor->row_excluded);
    if (cursor->fill == FILL_NEEDED) {
        status = buffer_stores(cursor, true, error);
        if (status != PETAL_OK || cursor->patience == 0)
            return status;
        decide_on_row(cursor);
    }
    if (cursor->fill == FILL_DONE)
        return PETAL_OK;
    status = buffer_stores(cursor, false, error);
    if (status != PETAL_OK || cursor->patience == 0)
        return status;
    cursor->fill = FILL_DONE;
    return sort_by_family(cursor, error);
}

/* To the first cell of the row just entered. */
static enum petal_status
begin_buffer(petal_cursor *cursor, petal_error *error)
{
    cursor->buffer_next = 0;
    return result_start(cursor->buffer, row_of(cursor)) == PETAL_OK ? PETAL_OK
                                                                    : error_no_memory(error);
}

/* Not found with patience left: the row is over. */
static enum petal_status
next_in_row(petal_cursor *cursor, bool *found, petal_error *error)
{
    enum petal_status status;

    *found = false;
    if (cursor->buffer == NULL || cursor->row_excluded)
        return next_stored(cursor, found, error);
    if (cursor->fill != FILL_DONE) {
        status = fill_buffer(cursor, error);
        if (status != PETAL_OK || cursor->fill != FILL_DONE)
            return status;
    }
    *found = cursor->buffer_next < cursor->buffer->count;
    assert(cursor->buffer_next <= cursor->buffer->count);
    if (*found)
        cursor->cell = cursor->buffer->cells[cursor->buffer_next++];
    return PETAL_OK;
}

/* A cell of the row at hand is given. */
static void
count_shown(petal_cursor *cursor)
{
    petal_receipt *receipt = cursor->options.read.receipt;

    if (receipt != NULL)
        receipt->bytes_returned += (cursor->row_shown ? 0 : cursor->row_bytes) +
                                   cursor->cell.qualifier.size + cursor->cell.value.size;
    cursor->row_shown = true;
}

/* In the row: its next cells, or its end. */
static enum petal_status
step_in_row(petal_cursor *cursor, petal_error *error)
{
    struct cursor_run *run = &cursor->run;
    bool found;
    enum petal_status status = next_in_row(cursor, &found, error);

    if (found) {
        if (cursor->row_excluded)
            return status;
        count_shown(cursor);
        run->next = &cursor->cell;
        run->end = &cursor->cell + 1;
    }
    if (status != PETAL_OK || run->next < run->end || cursor->patience == 0)
        return status;
    return end_row(cursor, error);
}

/* One step of the state machine. */
static enum petal_status
step(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (cursor->state == CURSOR_START)
        return seek_start(cursor, error);
    if (cursor->state == CURSOR_BETWEEN) {
        status = begin_row(cursor, error);
        if (status == PETAL_OK && cursor->state == CURSOR_IN_ROW && cursor->buffer != NULL)
            status = begin_buffer(cursor, error);
    }
    return status == PETAL_OK && cursor->state == CURSOR_IN_ROW ? step_in_row(cursor, error)
                                                                : status;
}

/* It is of no use any more. */
static NEVER_INLINE enum petal_status
fail(petal_cursor *cursor, enum petal_status status, petal_error *error)
{
    cursor->state = CURSOR_ENDED;
    cursor->run.next = cursor->run.end = cursor->run.last = NULL;
    damage_name_file(cursor->table, cursor->view, error);
    return status;
}

/* One step towards the next cell, or cells. REQUIRES: none lie ready. */
static enum petal_status
advance(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert(cursor->run.next == cursor->run.end);
    if (cursor->run.last != NULL)
        status = cursor_run_settle(cursor, error);
    if (status != PETAL_OK)
        return status;
    if (cursor->run.status != PETAL_OK)
        return cursor_run_failure(cursor, error);
    return step(cursor, error);
}

/* ---- the deadline of a call ---- */

/* So many cells are looked at between two looks at the clock, and fewer where a filter may take
 * long for each of them. */
#define CELLS_PER_LOOK          1024
#define FILTERED_CELLS_PER_LOOK 16

static uint32_t
hasty_cells(const petal_cursor *cursor)
{
    return atomic_load_explicit(&cursor->table->db->hasty_reads, memory_order_relaxed);
}

static void
have_patience(petal_cursor *cursor)
{
    uint32_t hasty = hasty_cells(cursor);
    uint32_t most = cursor->options.read.filter != NULL ? FILTERED_CELLS_PER_LOOK : CELLS_PER_LOOK;

    cursor->patience = hasty > 0 ? hasty : most;
}

/* Before the steps of a call. */
static inline void
begin_time(petal_cursor *cursor)
{
    if (cursor->options.read.deadline_ms == 0)
        return;
    cursor->deadline_us = CLOCK_NEVER;
    have_patience(cursor);
}

/* The patience is over: go on, or end the call? Its time begins with the first look. */
static SELDOM enum petal_status
look_at_clock(petal_cursor *cursor, petal_error *error)
{
    uint64_t now = clock_us();
    uint64_t most_us = (uint64_t)cursor->options.read.deadline_ms * 1000;

    have_patience(cursor);
    if (cursor->deadline_us == CLOCK_NEVER)
        cursor->deadline_us = now + (hasty_cells(cursor) > 0 ? 0 : most_us);
    else if (now >= cursor->deadline_us)
        return read_time_is_up(&cursor->options.read, error);
    return PETAL_OK;
}

/* advance(), within the call's time: PETAL_TIMEOUT after it, and the next call goes on. */
static inline enum petal_status
advance_in_time(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status = advance(cursor, error);

    /* What a step counts itself ends with 0; one that counts nothing counts here. */
    cursor->patience -= cursor->patience > 0;
    if (cursor->patience > 0)
        return status;
    cursor->patience = 1;
    if (status != PETAL_OK || cursor->run.next < cursor->run.end || cursor->state == CURSOR_ENDED)
        return status;
    return look_at_clock(cursor, error);
}

/* A call has failed; one that was late has not. */
static enum petal_status
end_call(petal_cursor *cursor, enum petal_status status, petal_error *error)
{
    return status == PETAL_OK || status == PETAL_TIMEOUT ? status : fail(cursor, status, error);
}

/* Have at least one cell lie ready, unless the cursor is at its end. */
static ALWAYS_INLINE enum petal_status
find_more(petal_cursor *cursor, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (db_enter(cursor->table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    begin_time(cursor);
    while (status == PETAL_OK && cursor->run.next == cursor->run.end &&
           cursor->state != CURSOR_ENDED)
        status = advance_in_time(cursor, error);
    return end_call(cursor, status, error);
}

enum petal_status
cursor_next_within(petal_cursor *cursor, uint64_t most, const petal_cell **cell, petal_slice *at,
                   petal_error *error)
{
    struct cursor_run *run = &cursor->run;
    enum petal_status status = PETAL_OK;

    assert(most > 0);
    *cell = NULL;
    *at = slice_make(NULL, 0);
    cursor->patience = most;
    /* What advance() itself counts ends with 0; a step of it that counts nothing counts here. */
    while (status == PETAL_OK && run->next == run->end && cursor->state != CURSOR_ENDED &&
           cursor->patience > 0) {
        status = advance(cursor, error);
        cursor->patience -= cursor->patience > 0;
    }
    cursor->patience = UINT64_MAX;
    if (status != PETAL_OK)
        return fail(cursor, status, error);
    if (run->next < run->end)
        *cell = run->next++;
    else if (cursor->state != CURSOR_ENDED)
        *at = row_of(cursor);
    return PETAL_OK;
}

static NEVER_INLINE enum petal_status
find_and_give(petal_cursor *cursor, const petal_cell **cell, petal_error *error)
{
    enum petal_status status = find_more(cursor, error);

    *cell = status == PETAL_OK && cursor->run.next < cursor->run.end ? cursor->run.next++ : NULL;
    return status;
}

enum petal_status
petal_cursor_next(petal_cursor *cursor, const petal_cell **cell, petal_error *error)
{
    RETURN_IF_NULL(cell, error);
    if (cursor == NULL) {
        *cell = NULL; /* not before: most calls write it once */
        return error_null(error, "cursor");
    }

    const petal_cell *ready = cursor->run.next;

    if (ready == cursor->run.end || cursor->process != process_now())
        return find_and_give(cursor, cell, error);
    error_clear(error);
    cursor->run.next = ready + 1;
    *cell = ready;
    return PETAL_OK;
}

enum petal_status
petal_cursor_next_many(petal_cursor *cursor, size_t most, const petal_cell **cells, size_t *count,
                       petal_error *error)
{
    RETURN_IF_NULL(cells, error);
    *cells = NULL;
    RETURN_IF_NULL(count, error);
    *count = 0;
    RETURN_IF_NULL(cursor, error);

    struct cursor_run *run = &cursor->run;
    enum petal_status status;

    status = db_enter(cursor->table->db, error);
    if (status == PETAL_OK && most == 0)
        status = error_set(error, PETAL_INVALID, "most is 0; it must be at least 1");
    if (status == PETAL_OK && run->next == run->end)
        status = find_more(cursor, error);
    if (status != PETAL_OK || run->next == run->end)
        return status;
    *cells = run->next;
    *count = (size_t)(run->end - run->next) < most ? (size_t)(run->end - run->next) : most;
    run->next += *count;
    return PETAL_OK;
}

/* The answers of two results change places. */
static void
swap_answers(petal_result *a, petal_result *b)
{
    petal_result before = *a;

    a->cells = b->cells;
    a->count = b->count;
    a->capacity = b->capacity;
    a->bytes = b->bytes;
    a->byte_count = b->byte_count;
    a->byte_capacity = b->byte_capacity;
    b->cells = before.cells;
    b->count = before.count;
    b->capacity = before.capacity;
    b->bytes = before.bytes;
    b->byte_count = before.byte_count;
    b->byte_capacity = before.byte_capacity;
}

/* The row's rest was not found in time: what was lies ready for the next call, whichever it is. */
static enum petal_status
keep_piece(petal_cursor *cursor, petal_result *result, petal_error *error)
{
    struct cursor_run *run = &cursor->run;
    enum petal_status status = PETAL_OK;

    assert(run->next == run->end);
    if (result->count == 0)
        return PETAL_OK;
    if (cursor->kept == NULL)
        status = petal_result_new(cursor->table->db, &cursor->kept, error);
    if (status == PETAL_OK && run->last != NULL)
        status = cursor_run_settle(cursor, error);
    if (status != PETAL_OK)
        return status;
    cursor->kept->count = 0;
    swap_answers(cursor->kept, result);
    run->next = cursor->kept->cells;
    run->end = run->next + cursor->kept->count;
    return PETAL_OK;
}

/* Take back what was kept, if nothing was given of it: without copying, so that each call comes
 * forward. */
static void
take_kept(petal_cursor *cursor, petal_result *result)
{
    struct cursor_run *run = &cursor->run;
    petal_result *kept = cursor->kept;

    if (kept == NULL || kept->count == 0 || run->next != kept->cells || run->next == run->end)
        return;
    swap_answers(kept, result);
    run->next = run->end = NULL;
}

/* Cells of one row, up to the batch. */
static enum petal_status
collect_piece(petal_cursor *cursor, petal_result *result, petal_error *error)
{
    struct cursor_run *run = &cursor->run;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && (run->next < run->end || cursor->state != CURSOR_ENDED)) {
        if (cursor->options.batch > 0 && result->count == cursor->options.batch) {
            if (cursor->filter != NULL && filter_run_done(cursor->filter))
                cursor->state = CURSOR_ENDED;
            break;
        }
        if (run->next == run->end) {
            if (result->count > 0 && cursor->state == CURSOR_BETWEEN)
                break;
            status = advance_in_time(cursor, error);
            continue;
        }
        if (result->count > 0 && !slice_equal(run->next->row, result->cells[0].row))
            break;
        if ((result->count == 0 && result_start(result, run->next->row) != PETAL_OK) ||
            result_append(result, run->next, 1) != PETAL_OK)
            return error_no_memory(error);
        run->next++;
        if (--cursor->patience == 0 && run->next == run->end)
            status = look_at_clock(cursor, error);
        cursor->patience += cursor->patience == 0;
    }
    return status;
}

enum petal_status
petal_cursor_next_row(petal_cursor *cursor, petal_result *result, petal_error *error)
{
    RETURN_IF_NULL(result, error);

    enum petal_status status;

    result->count = 0;
    result->byte_count = 0;
    RETURN_IF_NULL(cursor, error);
    if (db_enter(cursor->table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    begin_time(cursor);
    take_kept(cursor, result);
    status = collect_piece(cursor, result, error);
    if (status == PETAL_OK)
        return PETAL_OK;
    if (status == PETAL_TIMEOUT) {
        status = keep_piece(cursor, result, error);
        if (status == PETAL_OK)
            status = read_time_is_up(&cursor->options.read, error);
    }
    result->count = 0;
    return end_call(cursor, status, error);
}

/* ---- going on from a place ---- */

/* In the row just entered: stores before the family are done with it, the family's begins at the
 * column. */
static enum petal_status
skip_to_column(petal_cursor *cursor, const petal_family *family, petal_slice qualifier,
               petal_error *error)
{
    petal_slice name = petal_family_name(family);

    while (cursor_find_store(cursor)) {
        struct store_scan *store = &cursor->stores[cursor->store];
        int order = slice_compare(petal_family_name(store->family), name);

        if (order >= 0)
            return order == 0 ? store_scan_seek_column(store, qualifier, error) : PETAL_OK;
        cursor->store++;
    }
    return PETAL_OK;
}

/* In the row just entered, all of whose cells are in the buffer: go on with the first at or
 * after the column. */
static void
skip_in_buffer(petal_cursor *cursor, const petal_family *family, petal_slice qualifier)
{
    const petal_result *buffer = cursor->buffer;

    assert(cursor->buffer_next == 0);
    for (; cursor->buffer_next < buffer->count; cursor->buffer_next++) {
        const petal_cell *cell = &buffer->cells[cursor->buffer_next];
        int order = slice_compare(cell->family, petal_family_name(family));

        if (order > 0 || (order == 0 && slice_compare(cell->qualifier, qualifier) >= 0))
            return;
    }
}

/* Enter `row` if it comes next, at the place in it. A filter that decides on rows is shown all
 * of it. */
static enum petal_status
enter_at(petal_cursor *cursor, petal_slice row, const petal_family *family, petal_slice qualifier,
         petal_error *error)
{
    petal_slice next;
    enum petal_status status;

    if (!next_row(cursor, &next, &(size_t){0}) || !slice_equal(next, row))
        return PETAL_OK;
    status = begin_row(cursor, error);
    if (status != PETAL_OK || cursor->state != CURSOR_IN_ROW || cursor->row_excluded)
        return status;
    if (cursor->buffer == NULL)
        return skip_to_column(cursor, family, qualifier, error);
    status = begin_buffer(cursor, error);
    if (status == PETAL_OK)
        status = fill_buffer(cursor, error);
    if (status == PETAL_OK)
        skip_in_buffer(cursor, family, qualifier);
    return status;
}

/* The place of a seek may be the cursor's own cell, whose bytes go when the first store moves: keep
 * them for others, and for a column. */
static enum petal_status
copy_place(petal_cursor *cursor, petal_slice row, petal_slice *qualifier)
{
    if (!mem_grow_array(cursor->table->db->env.allocator, &cursor->sought, &cursor->sought_capacity,
                        0, qualifier->size, 1))
        return PETAL_NO_MEMORY;
    if (qualifier->size > 0)
        memcpy(cursor->sought, qualifier->data, qualifier->size);
    *qualifier = slice_make(cursor->sought, qualifier->size);
    return cursor_copy_row(cursor, row);
}

/* The call again, between two looks at the clock. */
static SELDOM enum petal_status
time_seek(petal_cursor *cursor, petal_slice row, const petal_family *family, petal_slice qualifier,
          petal_error *error)
{
    uint64_t began = clock_ns();
    enum petal_status status;

    latency_begin(&cursor->turn, LATENCY_ONE_OF);
    status = petal_cursor_seek(cursor, row, family, qualifier, error);
    latency_end(&cursor->table->db->latencies, PETAL_LATENCY_CURSOR_SEEK, began);
    return status;
}

enum petal_status
petal_cursor_seek(petal_cursor *cursor, petal_slice row, const petal_family *family,
                  petal_slice qualifier, petal_error *error)
{
    RETURN_IF_NULL(cursor, error);
    RETURN_IF_NO_BYTES(row, error);
    RETURN_IF_NO_BYTES(qualifier, error);

    enum petal_status status;

    if (latency_is_due(&cursor->turn))
        return time_seek(cursor, row, family, qualifier, error);
    if (db_enter(cursor->table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = read_check_row(row, error);
    if (status == PETAL_OK && family != NULL && family->table != cursor->table)
        status = error_set(error, PETAL_INVALID, "the family belongs to another table");
    if (status != PETAL_OK || cursor->options.read.versions < 0)
        return status;
    if (cursor->store_count > 1 || family != NULL) {
        if (copy_place(cursor, row, &qualifier) != PETAL_OK) {
            cursor->state = CURSOR_ENDED;
            return error_no_memory(error);
        }
        row = row_of(cursor);
    }
    if (cursor->filter != NULL)
        filter_run_restart(cursor->filter);
    cursor->rows = 0;
    cursor->own_seeks = true;
    cursor->patience = UINT64_MAX;
    cursor_run_begin(cursor);
    if (scan_bounds_before(&cursor->bounds, row)) {
        status = seek_stores(cursor, cursor->bounds.start, cursor->bounds.start_exclusive, error);
    } else {
        status = seek_stores(cursor, row, false, error);
        if (status == PETAL_OK && family != NULL)
            status = enter_at(cursor, row, family, qualifier, error);
    }
    return status == PETAL_OK ? PETAL_OK : fail(cursor, status, error);
}
