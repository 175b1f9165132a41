/* scan.c -- see engine/read/scan.h. */
#include "engine/read/scan.h"

#include "base/inline.h"
#include "engine/read/options.h"
#include "engine/read/receipt.h"

/* ---- open and close ---- */

/* Is there, or may there be, a deletion of all older versions of a column? */
static bool
has_column_deletes(const struct store_view *store)
{
    uint32_t kinds = 0;

    for (uint32_t i = 0; i < store->memtable_count; i++)
        kinds |= atomic_load_explicit(&store->memtables[i]->marker_kinds, memory_order_relaxed);
    for (uint32_t i = 0; i < store->file_count; i++)
        kinds |= store->files[i].marker_kinds;
    return (kinds & marker_kind(PETAL_DELETE_COLUMN)) != 0;
}

/*
 * Puts later than the time range are not asked for, and of the markers there only those of kind 12
 * reach into it, unless deleted cells are kept. In the order of writes later versions make those of
 * the range surplus.
 */
static bool
skips_later(const struct store_view *store, const struct visibility_rules *rules)
{
    bool skips = rules->purpose == VISIBILITY_READ && !rules->new_version_behavior &&
                 rules->time_limit < INT64_MAX && rules->time_limit > INT64_MIN;

    if (!skips || rules->keep_deleted > PETAL_KEEP_DELETED_FALSE)
        return skips;
    return !has_column_deletes(store);
}

/* With no VERSIONS or MIN_VERSIONS to count, a version hides no older one. */
static bool
skips_versions(const struct store_view *store, const struct visibility_rules *rules)
{
    return rules->purpose == VISIBILITY_READ && !rules->new_version_behavior &&
           rules->versions >= PETAL_ALL_VERSIONS && rules->min_versions == 0 &&
           !has_column_deletes(store);
}

enum petal_status
store_scan_open(struct store_scan *scan, const petal_family *family,
                const petal_family_options *attributes, const struct region_store *region,
                uint64_t sequence, const petal_scan_options *options,
                const struct scan_bounds *bounds, struct filter_run *filter,
                const petal_slice *qualifiers, size_t qualifier_count, petal_error *error)
{
    const struct store_view *store = region != NULL ? region->view : NULL;
    struct visibility_rules rules = {0};

    memset(scan, 0, offsetof(struct store_scan, visibility));
    scan->db = family->table->db;
    scan->family = family;
    scan->options = options;
    scan->filter = filter;
    scan->needed = true;
    scan->key = scan->short_key;
    scan->key_capacity = sizeof scan->short_key;
    scan->plain = filter == NULL && options->read.family_cell_limit == 0 &&
                  options->read.family_cell_offset == 0;
    if (store != NULL)
        read_rules(&options->read, family, attributes, store, options->raw, sequence, &rules);
    visibility_init(&scan->visibility, scan->db->env.allocator, &rules);
    if (scan_inputs_open(&scan->inputs, family, &rules, options, bounds, qualifiers,
                         qualifier_count) != PETAL_OK)
        return error_no_memory(error);
    return PETAL_OK;
}

void
store_scan_leave_region(struct store_scan *scan)
{
    scan_inputs_leave(&scan->inputs, scan->shown);
    scan->shown = 0;
    scan->place = SCAN_NOWHERE;
    scan->has_next = false;
}

enum petal_status
store_scan_enter_region(struct store_scan *scan, const struct region_store *region,
                        struct scan_memory *memory, petal_error *error)
{
    struct visibility_rules *rules = &scan->visibility.rules;

    if (region != NULL) {
        /* One time holds for all regions, once one is needed. */
        if (rules->now_ms == 0 && read_has_ttl_cells(region->view))
            rules->now_ms = scan->inputs.rules.now_ms = env_clock_ms(&scan->db->env);
        scan->skips_later = skips_later(region->view, rules);
        scan->skips_versions = scan->filter != NULL && skips_versions(region->view, rules);
    }
    return scan_inputs_enter(&scan->inputs, region, memory) == PETAL_OK ? PETAL_OK
                                                                        : error_no_memory(error);
}

static void
free_key(struct store_scan *scan)
{
    if (scan->key != scan->short_key)
        mem_free(scan->db->env.allocator, scan->key, scan->key_capacity);
}

/* Give up the key for one of so many bytes. */
static NEVER_INLINE bool
grow_key(struct store_scan *scan, size_t bytes)
{
    uint8_t *key = mem_alloc(scan->db->env.allocator, bytes);

    assert(bytes > scan->key_capacity);
    if (key == NULL)
        return false;
    free_key(scan);
    scan->key = key;
    scan->key_capacity = bytes;
    return true;
}

void
store_scan_close(struct store_scan *scan)
{
    const petal_allocator *allocator;

    if (scan->db == NULL)
        return;
    allocator = scan->db->env.allocator;
    store_scan_leave_region(scan);
    scan_inputs_close(&scan->inputs);
    visibility_fini(&scan->visibility);
    free_key(scan);
    mem_free(allocator, scan->next_row, scan->next_row_capacity);
    mem_free(allocator, scan->column, scan->column_capacity);
    scan->db = NULL;
}

/* ---- between rows ---- */

/* The first place of a column, or with `family_class` of a row; `suffixed`: with one zero byte
 * after row or column, so the first place after it. */
static enum petal_status
place_key(struct store_scan *scan, struct cell_key *key, petal_slice row, petal_slice qualifier,
          bool family_class, bool suffixed)
{
    size_t extra = row.size + qualifier.size + 1;
    size_t bound = cell_key_bound(row.size + 1, qualifier.size + 1);
    petal_slice *longer = family_class ? &row : &qualifier;

    if (bound + extra > scan->key_capacity && !grow_key(scan, bound + extra))
        return PETAL_NO_MEMORY;
    if (suffixed) {
        uint8_t *copy = scan->key + bound;

        if (longer->size > 0)
            memcpy(copy, longer->data, longer->size);
        copy[longer->size] = 0;
        *longer = slice_make(copy, longer->size + 1);
    }
    cell_key_make(key, scan->key, row, qualifier, family_class, INT64_MAX, CELL_SEQUENCE_MAX);
    return PETAL_OK;
}

static enum petal_status
seek_place(struct store_scan *scan, petal_slice row, petal_slice qualifier, bool family_class,
           bool suffixed, petal_error *error)
{
    struct cell_key key;

    if (place_key(scan, &key, row, qualifier, family_class, suffixed) != PETAL_OK)
        return error_no_memory(error);
    return scan->inputs.cells->ops->seek(scan->inputs.cells, &key, error);
}

/* The greatest row below the place becomes the next one. An empty row: the last of the store. */
static enum petal_status
find_row_below(struct store_scan *scan, petal_slice row, bool suffixed, petal_error *error)
{
    struct cell_iter *input = scan->inputs.cells;
    struct cell_key key;
    enum petal_status status;

    assert(scan->options->reversed);
    scan->has_next = false;
    if (row.size > 0 && place_key(scan, &key, row, slice_make(NULL, 0), true, suffixed) != PETAL_OK)
        return error_no_memory(error);
    status = input->ops->seek_before(input, row.size > 0 ? &key : NULL, error);
    if (status != PETAL_OK || !input->valid)
        return status;
    if (!mem_grow_array(scan->db->env.allocator, &scan->next_row, &scan->next_row_capacity, 0,
                        input->cell.row.size, 1))
        return error_no_memory(error);
    memcpy(scan->next_row, input->cell.row.data, input->cell.row.size);
    scan->next_row_bytes = input->cell.row.size;
    scan->has_next = true;
    return PETAL_OK;
}

enum petal_status
store_scan_seek(struct store_scan *scan, petal_slice row, bool exclusive, petal_error *error)
{
    enum petal_status status;

    scan->place = SCAN_NOWHERE;
    if (scan->options->reversed)
        status = find_row_below(scan, row, !exclusive, error);
    else if (row.size == 0)
        status = scan->inputs.cells->ops->seek_first(scan->inputs.cells, error);
    else
        status = seek_place(scan, row, slice_make(NULL, 0), true, exclusive, error);
    if (status == PETAL_OK)
        scan->place = SCAN_BETWEEN_ROWS;
    return status;
}

enum petal_status
store_scan_enter_row(struct store_scan *scan, petal_slice row, petal_error *error)
{
    assert(scan->place == SCAN_BETWEEN_ROWS);
    scan->place = SCAN_IN_ROW;
    scan->begun = scan->filter == NULL;
    scan->row = row;
    scan->move = scan->options->reversed ? SCAN_STAY : SCAN_BEGIN;
    scan->row_cells = 0;
    scan->column_passed = 0;
    visibility_start_row(&scan->visibility);
    if (scan->options->reversed)
        return seek_place(scan, row, slice_make(NULL, 0), true, false, error);
    return PETAL_OK;
}

static bool
at_row(const struct store_scan *scan)
{
    return store_scan_input_at(scan, scan->row);
}

enum petal_status
store_scan_leave_row(struct store_scan *scan, petal_error *error)
{
    struct cell_iter *input = scan->inputs.cells;

    assert(store_scan_entered(scan) && scan->place != SCAN_BEHIND_ROW);
    scan->place = SCAN_BETWEEN_ROWS;
    if (scan->options->reversed)
        return find_row_below(scan, scan->row, false, error);
    for (int step = 0; step < STEPS_BEFORE_SEEK && at_row(scan); step++) {
        enum petal_status status = input->ops->next(input, error);

        if (status != PETAL_OK)
            return status;
    }
    return at_row(scan) ? seek_place(scan, scan->row, slice_make(NULL, 0), true, true, error)
                        : PETAL_OK;
}

/* ---- in a row ---- */

/* From a cell of the row to a place ahead in it: the first of a column's versions that are not
 * later than `latest`, or what comes `behind` the column. A few steps, then a seek, but in raw
 * order, which knows no places of columns. */
static enum petal_status
go_ahead(struct store_scan *scan, petal_slice qualifier, int64_t latest, bool behind,
         petal_error *error)
{
    struct cell_iter *input = scan->inputs.cells;
    struct cell_key key;

    assert(!behind || latest == INT64_MAX);
    for (int step = 0; step < STEPS_BEFORE_SEEK || scan->options->raw; step++) {
        enum petal_status status = input->ops->next(input, error);
        int order;

        if (status != PETAL_OK || !at_row(scan))
            return status;
        order = slice_compare(input->cell.qualifier, qualifier);
        if (order > 0 || (order == 0 && !behind && input->cell.timestamp <= latest))
            return PETAL_OK;
    }
    if (place_key(scan, &key, scan->row, qualifier, false, behind) != PETAL_OK)
        return error_no_memory(error);
    if (latest < INT64_MAX)
        cell_key_make(&key, scan->key, scan->row, qualifier, false, latest, CELL_SEQUENCE_MAX);
    return input->ops->seek(input, &key, error);
}

enum petal_status
store_scan_move_on(struct store_scan *scan, petal_error *error)
{
    enum scan_move move = scan->move;

    scan->move = SCAN_STAY;
    switch (move) {
    case SCAN_SHOW:
        return scan_inputs_show(&scan->inputs, error);
    case SCAN_VERSION:
        assert(scan->skips_later || scan->skips_versions);
        return go_ahead(scan, visibility_column(&scan->visibility), scan->latest, false, error);
    case SCAN_NEXT_COLUMN:
        return go_ahead(scan, visibility_column(&scan->visibility), INT64_MAX, true, error);
    case SCAN_NEXT_ROW:
        scan->place = SCAN_ROW_OVER;
        return PETAL_OK;
    case SCAN_STAY:
    case SCAN_BEGIN:
    case SCAN_STEP:
        assert(false); /* store_scan_reach makes them */
        break;
    }
    return PETAL_OK;
}

/* Go where the filter's hint says, if that is ahead. */
static enum petal_status
follow_hint(struct store_scan *scan, const petal_cell *cell, petal_error *error)
{
    struct filter_hint hint;
    int order;

    assert(scan->filter != NULL && scan->place == SCAN_IN_ROW);
    scan->move = SCAN_STEP;
    if (!filter_run_hint(scan->filter, cell, &hint))
        return PETAL_OK;
    order = slice_compare(hint.row, scan->row);
    if (order == 0 && !hint.row_only && slice_compare(hint.qualifier, cell->qualifier) > 0) {
        scan->move = SCAN_STAY;
        return go_ahead(scan, hint.qualifier, INT64_MAX, false, error);
    }
    if (scan->options->reversed ? order >= 0 : order <= 0)
        return PETAL_OK;
    scan->place = SCAN_BEHIND_ROW;
    return scan->options->reversed
               ? find_row_below(scan, hint.row, true, error)
               : seek_place(scan, hint.row, slice_make(NULL, 0), true, false, error);
}

/* After a cell that the filter turned away: go as far as it turns away what follows, too. */
static enum petal_status
pass_turned_away(struct store_scan *scan, const petal_cell *cell, petal_error *error)
{
    struct filter_ahead ahead;
    int order;

    assert(scan->move == SCAN_STEP);
    if (scan->options->raw || !filter_run_ahead(scan->filter, cell, &ahead))
        return PETAL_OK;
    if (ahead.none) {
        scan->move = SCAN_NEXT_ROW;
        return PETAL_OK;
    }
    order = slice_compare(ahead.qualifier, cell->qualifier);
    if (order == 0 && ahead.timestamp == INT64_MIN) {
        scan->move = SCAN_NEXT_COLUMN;
    } else if (order == 0 && ahead.timestamp < cell->timestamp && scan->skips_versions) {
        scan->move = SCAN_VERSION;
        scan->latest = ahead.timestamp;
    } else if (order > 0) {
        scan->move = SCAN_STAY;
        /* A marker above the timestamp that is wanted may hide what is below it. */
        return go_ahead(scan, ahead.qualifier, INT64_MAX, ahead.timestamp == INT64_MIN, error);
    }
    return PETAL_OK;
}

/* The versions that pass the filter are counted after it. False: the column has enough of them. */
static enum petal_status
count_passed(struct store_scan *scan, const petal_cell *cell, bool *wanted)
{
    if (scan->column_passed == 0 || scan->column_bytes != cell->qualifier.size ||
        (cell->qualifier.size > 0 &&
         memcmp(scan->column, cell->qualifier.data, cell->qualifier.size) != 0)) {
        if (!mem_grow_array(scan->db->env.allocator, &scan->column, &scan->column_capacity, 0,
                            cell->qualifier.size, 1))
            return PETAL_NO_MEMORY;
        if (cell->qualifier.size > 0)
            memcpy(scan->column, cell->qualifier.data, cell->qualifier.size);
        scan->column_bytes = cell->qualifier.size;
        scan->column_passed = 0;
    }
    scan->column_passed++;
    *wanted = scan->column_passed <= (uint32_t)scan->options->read.versions;
    return PETAL_OK;
}

/* The input's cell, which could be seen, is left out: tell the receipt. */
static void
note_left_out(const struct store_scan *scan, enum petal_hidden by)
{
    if (scan->options->read.receipt != NULL)
        receipt_hide(scan->options->read.receipt, scan->family->name, &scan->inputs.cells->cell,
                     by);
}

/* Show the cell to the filter; it decides whether it is included and how to go on. */
static enum petal_status
ask_filter(struct store_scan *scan, const petal_cell *cell, bool *included, petal_error *error)
{
    enum filter_code code;
    enum petal_status status = filter_run_cell(scan->filter, cell, &code, error);

    assert(scan->inputs.cells->valid);
    if (status != PETAL_OK)
        return status;
    *included = code <= FILTER_INCLUDE_AND_NEXT_ROW;
    if (!*included)
        note_left_out(scan, PETAL_HIDDEN_FILTER); /* before a hint moves the input */
    switch (code) {
    case FILTER_INCLUDE:
    case FILTER_SKIP:
        scan->move = SCAN_STEP;
        break;
    case FILTER_INCLUDE_AND_NEXT_COLUMN:
    case FILTER_NEXT_COLUMN:
        scan->move = SCAN_NEXT_COLUMN;
        break;
    case FILTER_INCLUDE_AND_NEXT_ROW:
    case FILTER_NEXT_ROW:
        scan->move = SCAN_NEXT_ROW;
        break;
    case FILTER_SEEK:
        status = follow_hint(scan, cell, error);
        if (status != PETAL_OK || scan->place != SCAN_IN_ROW || scan->move != SCAN_STEP)
            return status;
        break;
    }
    if (*included) {
        status = count_passed(scan, cell, included);
        if (status == PETAL_OK && !*included)
            note_left_out(scan, PETAL_HIDDEN_VERSIONS);
        if (!*included && scan->move == SCAN_STEP)
            scan->move = SCAN_NEXT_COLUMN;
    }
    /* HBase, which keeps family markers there, never leaves the empty qualifier but cell by
     * cell, and shows them to the filter. */
    if (scan->move == SCAN_NEXT_COLUMN && cell->qualifier.size == 0 &&
        scan->inputs.qualifier_count == 0)
        scan->move = SCAN_STEP;
    if (status == PETAL_OK && code >= FILTER_SKIP && scan->move == SCAN_STEP)
        return pass_turned_away(scan, cell, error);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

/* Count an included cell against offset and limit of the row. */
static bool
inside_limits(struct store_scan *scan)
{
    const petal_read_options *read = &scan->options->read;

    assert(!scan->plain);
    scan->row_cells++;
    if (read->family_cell_limit > 0 && scan->row_cells >= read->family_cell_offset &&
        scan->row_cells - read->family_cell_offset >= read->family_cell_limit)
        scan->move = SCAN_NEXT_ROW;
    return scan->row_cells > read->family_cell_offset;
}

/* Is a visible cell part of the answer? By the filter and the row's limits. */
static enum petal_status
include(struct store_scan *scan, petal_cell *cell, bool *included, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    if (scan->filter != NULL)
        status = ask_filter(scan, cell, included, error);
    if (status == PETAL_OK && *included) {
        *included = inside_limits(scan);
        if (!*included)
            note_left_out(scan, PETAL_HIDDEN_FILTER);
    } else {
        *included = false;
    }
    if (*included && scan->filter != NULL)
        filter_run_transform(scan->filter, cell);
    return status;
}

enum petal_status
store_scan_begin_cells(struct store_scan *scan, petal_error *error)
{
    bool ended = false;

    assert(!scan->begun && scan->filter != NULL);
    scan->begun = true;
    if (filter_run_enter_family(scan->filter, scan->family->name, &ended) != PETAL_OK)
        return error_no_memory(error);
    if (ended)
        scan->place = SCAN_ROW_OVER;
    return PETAL_OK;
}

/* The move past the input's cell, which is not shown. */
static enum scan_move
move_past(struct store_scan *scan, enum visibility_verdict verdict)
{
    const struct cell *cell = &scan->inputs.cells->cell;

    if (verdict == VISIBILITY_COLUMN_DONE)
        return SCAN_NEXT_COLUMN;
    if (!scan->skips_later || cell->type != PETAL_PUT ||
        cell->timestamp < scan->visibility.rules.time_limit)
        return SCAN_STEP;
    /* One above the read point may not have begun its column. */
    if (!slice_equal(cell->qualifier, visibility_column(&scan->visibility)))
        return SCAN_STEP;
    scan->latest = scan->visibility.rules.time_limit - 1;
    return SCAN_VERSION;
}

/* The input's cell, of the row at hand, as the caller of a cursor sees it. */
static void
make_cell(const struct store_scan *scan, petal_cell *made)
{
    const struct cell *cell = &scan->inputs.cells->cell;

    *made = (petal_cell){
        .family = scan->family->name,
        .row = scan->row,
        .qualifier = cell->qualifier,
        .value = cell->value,
        .timestamp = cell->timestamp,
        .type = cell->type,
        .has_ttl = cell->has_ttl,
        .ttl_ms = cell->ttl_ms,
    };
}

static inline enum petal_status
consider(struct store_scan *scan, petal_cell *cell, bool *found, petal_error *error)
{
    struct cell_iter *input = scan->inputs.cells;
    const petal_slice *next;
    enum visibility_verdict verdict;
    enum petal_status status;

    *found = false;
    if (scan->inputs.all_columns && !cell_is_family_marker(input->cell.type) &&
        !scan_inputs_ask_column(&scan->inputs, input->cell.qualifier, &next)) {
        scan->move = next != NULL ? SCAN_STAY : SCAN_NEXT_ROW;
        return next != NULL ? go_ahead(scan, *next, INT64_MAX, false, error) : PETAL_OK;
    }
    status = visibility_judge(&scan->visibility, &input->cell, &verdict);
    scan->move = SCAN_STEP;
    if (status != PETAL_OK)
        return error_no_memory(error);
    if (verdict != VISIBILITY_SHOW) {
        scan->move = move_past(scan, verdict);
        if (scan->options->read.receipt != NULL)
            receipt_hide_judged(scan->options->read.receipt, scan->family->name, &scan->visibility,
                                &input->cell);
        return PETAL_OK;
    }
    make_cell(scan, cell);
    *found = true;
    if (!scan->plain)
        status = include(scan, cell, found, error);
    scan->shown += *found;
    return status;
}

enum petal_status
store_scan_decide(struct store_scan *scan, petal_cell *cell, bool *found, petal_error *error)
{
    enum petal_status status = consider(scan, cell, found, error);

    assert(*scan->patience > 0);
    *scan->patience -= !*found;
    return status;
}

enum petal_status
store_scan_next(struct store_scan *scan, petal_cell *cell, bool *found, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    assert(store_scan_entered(scan));
    *found = false;
    while (status == PETAL_OK && scan->place == SCAN_IN_ROW && !*found && *scan->patience > 0) {
        status = store_scan_reach(scan, error);
        if (status == PETAL_OK && scan->place == SCAN_IN_ROW)
            status = store_scan_decide(scan, cell, found, error);
    }
    if (status != PETAL_OK)
        scan->place = SCAN_NOWHERE;
    return status;
}

enum petal_status
store_scan_seek_column(struct store_scan *scan, petal_slice qualifier, petal_error *error)
{
    struct cell_iter *input = scan->inputs.cells;
    enum petal_status status = PETAL_OK;

    assert(scan->place == SCAN_IN_ROW && scan->move <= SCAN_BEGIN);
    scan->move = SCAN_STAY;
    /* Raw: nothing is hidden, and family markers stand beside the empty qualifier. */
    if (scan->options->raw)
        return qualifier.size > 0 ? seek_place(scan, scan->row, qualifier, false, false, error)
                                  : PETAL_OK;
    while (status == PETAL_OK && at_row(scan)) {
        enum visibility_verdict verdict;

        if (input->pending)
            status = input->ops->load(input, error);
        if (status != PETAL_OK || !cell_is_family_marker(input->cell.type))
            break;
        if (visibility_judge(&scan->visibility, &input->cell, &verdict) != PETAL_OK)
            return error_no_memory(error);
        status = input->ops->next(input, error);
    }
    if (status != PETAL_OK)
        return status;
    return seek_place(scan, scan->row, qualifier, false, false, error);
}
