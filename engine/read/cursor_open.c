/* cursor_open.c -- opening and closing cursors, see cursor.h; and the get that walks through its
 * row. */
#include "base/argument.h"
#include "base/options.h"
#include "engine/read/cursor.h"
#include "engine/read/get.h"
#include "engine/read/options.h"
#include "engine/read/own.h"
#include "engine/read/range.h"
#include "engine/read/receipt.h"
#include "engine/read/result.h"
#include "engine/state/read_point.h"

#include <assert.h>

/* Bytes of the cursor and of all that lies after it in its memory, in this order: its room, its
 * bounds, its stores, the inputs of each: those of the first region, as far as the options tell
 * which that is. */
static size_t
memory_bytes(const struct table_descriptor *descriptor, const struct view *view,
             const petal_scan_options *options)
{
    size_t bytes = scan_memory_bytes(1, sizeof(petal_cursor)) +
                   scan_memory_bytes(1, sizeof(struct cursor_room)) +
                   scan_memory_bytes(scan_bounds_bytes(options), 1) +
                   scan_memory_bytes(descriptor->family_count, sizeof(struct store_scan));

    for (size_t i = 0; i < descriptor->family_count; i++) {
        const petal_family *family = descriptor->families[i];
        const struct region_list *list = view_regions(view, family);
        size_t named;

        if (list != NULL && read_asks_family(&options->read, family, &named))
            bytes += scan_inputs_memory(
                region_at(list, cursor_place_of(list, options->start_row, options->reversed)));
    }
    return bytes;
}

static enum petal_status
open_stores(petal_cursor *cursor, uint64_t sequence, struct scan_memory *memory, petal_error *error)
{
    const petal_read_options *read = &cursor->options.read;
    const petal_allocator *allocator = cursor->table->db->env.allocator;
    petal_slice *qualifiers = NULL;
    enum petal_status status = PETAL_OK;

    assert(cursor->view != NULL && cursor->stores == NULL);
    cursor->stores =
        scan_memory_take(memory, cursor->descriptor->family_count, sizeof *cursor->stores);
    if (read->column_count > 0) {
        qualifiers = mem_alloc(allocator, read->column_count * sizeof *qualifiers);
        if (qualifiers == NULL)
            status = error_no_memory(error);
    }
    for (size_t i = 0; status == PETAL_OK && i < cursor->descriptor->family_count; i++) {
        const petal_family *family = cursor->descriptor->families[i];
        size_t named, count = 0;

        if (!read_asks_family(read, family, &named))
            continue;
        for (size_t k = 0; count < named; k++) {
            if (read->columns[k].family == family)
                qualifiers[count++] = read->columns[k].qualifier;
        }
        status = family_check_usable(family, error);
        if (status != PETAL_OK)
            break;
        status = store_scan_open(&cursor->stores[cursor->store_count++], family,
                                 &cursor->descriptor->options.families[i],
                                 cursor_store_at_hand(cursor, family), sequence, &cursor->options,
                                 &cursor->region_bounds, cursor->filter, qualifiers, count, error);
        cursor->stores[cursor->store_count - 1].patience = &cursor->patience;
    }
    mem_free(allocator, qualifiers, read->column_count * sizeof *qualifiers);
    cursor->inputs_memory = memory->next;
    cursor->inputs_bytes = (size_t)(memory->end - memory->next);
    return status == PETAL_OK ? cursor_enter_stores(cursor, error) : status;
}

static enum petal_status
open_filter(petal_cursor *cursor, petal_error *error)
{
    const petal_filter *filter = cursor->options.read.filter;

    if (filter == NULL)
        return PETAL_OK;
    cursor->needs_rows = filter_needs_rows(filter);
    /* HBase's reversed scans step over a row that is excluded by its key without reading it. */
    cursor->watches_excluded_rows =
        filter_watches_excluded_rows(filter) && !cursor->options.reversed;
    if (cursor->needs_rows && cursor->options.batch > 0)
        return error_set(
            error, PETAL_INVALID,
            "batch is set, which cuts rows into pieces, but the filter needs whole rows");
    if (filter_run_new(&cursor->filter, cursor->table->db->env.allocator, filter,
                       cursor->options.reversed) != PETAL_OK)
        return error_no_memory(error);
    return PETAL_OK;
}

/*
 * Rows go through a buffer when the filter decides on whole rows, or when a get reads the families
 * first that it needs. HBase's gets do the latter; its scans do so only when told to, and the
 * recorded ones were not.
 */
static enum petal_status
open_buffer(petal_cursor *cursor, bool get, petal_error *error)
{
    const petal_filter *filter = cursor->options.read.filter;

    for (size_t i = 0; get && filter != NULL && i < cursor->store_count; i++) {
        struct store_scan *store = &cursor->stores[i];

        store->needed = filter_needs_family(filter, store->family->name);
        cursor->reads_needed_first = cursor->reads_needed_first || !store->needed;
    }
    if (!cursor->needs_rows && !cursor->reads_needed_first)
        return PETAL_OK;
    return petal_result_new(cursor->table->db, &cursor->buffer, error);
}

static enum petal_status
open_cursor(petal_cursor *cursor, uint64_t sequence, struct scan_memory *memory, bool get,
            petal_error *error)
{
    petal_read_options *read = &cursor->options.read;
    enum petal_status status = open_filter(cursor, error);

    if (status != PETAL_OK)
        return status;
    scan_bounds_init(&cursor->bounds, &cursor->options, memory);
    cursor_find_regions(cursor);
    if (read->receipt != NULL)
        receipt_start(read->receipt, cursor->view);
    status = read_check_alive(cursor->table, read, error);
    if (status == PETAL_OK)
        status = open_stores(cursor, sequence, memory, error);
    if (status == PETAL_OK && read->receipt != NULL && read->receipt->incomplete)
        status = error_no_memory(error);
    if (status == PETAL_OK)
        status = open_buffer(cursor, get, error);
    /* What a transaction's cursor has given is known by its row, which a run leaves behind. */
    cursor->runs = status == PETAL_OK && cursor->own == NULL && cursor_run_fits(cursor);
    cursor_run_begin(cursor);
    /* What was borrowed for this call. */
    read->columns = NULL;
    read->column_count = 0;
    read->family_time_ranges = NULL;
    read->family_time_range_count = 0;
    read->snapshot = NULL;
    if (read->versions < 0)
        cursor->state = CURSOR_ENDED;
    return status;
}

static enum petal_status
make_cursor(petal_table *table, const petal_scan_options *options, bool get, petal_cursor **cursor,
            petal_error *error)
{
    struct read_pin pin = read_pin(table->db, options->read.snapshot);
    /* After the view, as in a get. */
    const struct table_descriptor *descriptor = table_descriptor(table);
    struct own_cells *own = options->read.snapshot != NULL ? options->read.snapshot->own : NULL;
    size_t bytes;
    uint8_t *allocated;
    struct scan_memory memory;
    petal_cursor *made;
    enum petal_status status;

    if (own != NULL && own_add_to_view(own, table, &pin.view) != PETAL_OK) {
        view_unref(pin.view);
        return error_no_memory(error);
    }
    bytes = memory_bytes(descriptor, pin.view, options);
    allocated = mem_alloc(table->db->env.allocator, bytes);
    memory = (struct scan_memory){allocated, allocated + bytes};
    if (allocated == NULL) {
        view_unref(pin.view);
        return error_no_memory(error);
    }
    made = scan_memory_take(&memory, 1, sizeof *made);
    *made = (petal_cursor){
        .table = table,
        .process = table->db->process,
        .turn = 1,
        .memory_bytes = bytes,
        .room = scan_memory_take(&memory, 1, sizeof *made->room),
        .descriptor = descriptor,
        .view = pin.view,
        .options = *options,
        .row_capacity = CURSOR_ROW_BYTES,
        .patience = UINT64_MAX,
        .deadline_us = CLOCK_NEVER,
    };
    made->row = made->room->row;
    if (own != NULL && !get)
        own_enter_cursor(own, made);
    status = open_cursor(made, pin.sequence, &memory, get, error);
    if (status != PETAL_OK) {
        petal_cursor_close(made);
        return status;
    }
    *cursor = made;
    return PETAL_OK;
}

static enum petal_status
check_scan(const petal_scan_options *options, petal_error *error)
{
    RETURN_IF_NO_BYTES(options->start_row, error);
    RETURN_IF_NO_BYTES(options->stop_row, error);
    RETURN_IF_NO_BYTES(options->prefix, error);
    if (options->start_row.size > PETAL_MAX_ROW_BYTES ||
        options->stop_row.size > PETAL_MAX_ROW_BYTES || options->prefix.size > PETAL_MAX_ROW_BYTES)
        return error_set(error, PETAL_INVALID, "a bound of the scan is longer than %d bytes",
                         PETAL_MAX_ROW_BYTES);
    for (size_t i = 0; options->raw && i < options->read.column_count; i++) {
        if (!options->read.columns[i].whole_family)
            return error_set(error, PETAL_INVALID, "a raw scan may name families, but no columns");
    }
    return PETAL_OK;
}

/*
 * Fill `options` with what the caller gave. For a header that knows less of petal_read_options, or
 * more, the members after `read` lie elsewhere: where the size in it says.
 */
static enum petal_status
scan_options_init(petal_scan_options *options, const petal_table *table,
                  const petal_scan_options *given, petal_error *error)
{
    const size_t head = offsetof(petal_scan_options, read);
    const size_t tail = offsetof(petal_scan_options, start_row);
    size_t bytes, read_bytes, most;
    petal_read_options read;
    enum petal_status status;

    static_assert(offsetof(petal_scan_options, start_row) ==
                      offsetof(petal_scan_options, read) + sizeof(petal_read_options),
                  "the rest begins where `read` ends");
    if (given != NULL && (given->size == 0 || given->size == sizeof *given) &&
        (given->read.size == 0 || given->read.size == sizeof read)) {
        *options = *given;
        options->size = sizeof *options;
        return read_options_init(&options->read, table, &given->read, error);
    }
    *options = (petal_scan_options){.size = sizeof *options};
    if (given == NULL)
        return read_options_init(&options->read, table, NULL, error);
    status = options_check_size(given->size, "petal_scan_options", error);
    if (status != PETAL_OK)
        return status;
    bytes = given->size != 0 ? given->size : sizeof *given;
    if (bytes < head + sizeof given->read.size)
        return read_options_init(&options->read, table, NULL, error);
    status = options_check_size(given->read.size, "petal_read_options", error);
    if (status != PETAL_OK)
        return status;
    most = given->size != 0 ? bytes - head : sizeof read;
    if (given->read.size > most)
        return error_set(
            error, PETAL_INVALID,
            "read.size of petal_scan_options is %zu; with its size, %zu, it must be at most %zu",
            given->read.size, given->size, most);
    read_bytes = given->read.size != 0 ? given->read.size : sizeof read;
    if (read_bytes > most)
        read_bytes = most;
    options_copy_known(&read, sizeof read, &given->read, read_bytes);
    if (bytes > head + read_bytes)
        options_copy_known(&options->start_row, sizeof *options - tail,
                           (const uint8_t *)given + head + read_bytes, bytes - head - read_bytes);
    return read_options_init(&options->read, table, &read, error);
}

/* Is this one of the openings that are timed? */
static bool
opening_is_due(petal_db *db)
{
    return atomic_fetch_add_explicit(&db->latencies.cursors, 1, memory_order_relaxed) %
               LATENCY_ONE_OF ==
           0;
}

/* `cuts_prefix`: start and stop row cut a prefix, else they are ignored next to one. `own`: the
 * snapshot of a transaction; NULL: that of the options. */
static enum petal_status
open_counted(petal_table *table, const petal_scan_options *given, bool cuts_prefix,
             const petal_snapshot *own, petal_cursor **cursor, petal_error *error)
{
    petal_scan_options options;
    enum petal_status status;
    uint64_t began;

    if (db_enter(table->db, error) != PETAL_OK)
        return PETAL_INVALID;
    began = opening_is_due(table->db) ? clock_ns() : 0;
    status = scan_options_init(&options, table, given, error);
    if (status == PETAL_OK)
        status = check_scan(&options, error);
    if (status == PETAL_OK && own != NULL)
        status = own_set_snapshot(&options.read, own, error);
    if (status == PETAL_OK && !cuts_prefix && options.prefix.size > 0)
        options.start_row = options.stop_row = slice_make(NULL, 0);
    if (status == PETAL_OK)
        status = make_cursor(table, &options, false, cursor, error);
    if (status != PETAL_OK)
        return status;
    (*cursor)->counted = true;
    if (began != 0)
        latency_end(&table->db->latencies, PETAL_LATENCY_CURSOR_SEEK, began);
    atomic_fetch_add_explicit(&table->db->open.cursor, 1, memory_order_relaxed);
    return PETAL_OK;
}

enum petal_status
petal_cursor_open(petal_table *table, const petal_scan_options *options, petal_cursor **cursor,
                  petal_error *error)
{
    RETURN_IF_NULL(cursor, error);
    *cursor = NULL;
    RETURN_IF_NULL(table, error);
    return open_counted(table, options, false, NULL, cursor, error);
}

enum petal_status
own_cursor_open(petal_table *table, const petal_scan_options *options,
                const petal_snapshot *snapshot, petal_cursor **cursor, petal_error *error)
{
    return open_counted(table, options, false, snapshot, cursor, error);
}

static enum petal_status
check_end(petal_slice end, const char *name, petal_error *error)
{
    return end.size <= PETAL_MAX_ROW_BYTES
               ? PETAL_OK
               : error_set(error, PETAL_INVALID, "`%s` has %zu bytes; a row has at most %d", name,
                           end.size, PETAL_MAX_ROW_BYTES);
}

enum petal_status
row_range_check(const struct row_range *range, petal_error *error)
{
    enum petal_status status = check_end(range->from, "from", error);

    if (status == PETAL_OK)
        status = check_end(range->to, "to", error);
    return status == PETAL_OK ? check_end(range->prefix, "prefix", error) : status;
}

enum petal_status
row_range_open(petal_table *table, const petal_scan_options *options, const struct row_range *range,
               petal_cursor **cursor, petal_error *error)
{
    petal_scan_options scan = *options;

    *cursor = NULL;
    scan.prefix = range->prefix;
    scan.start_row = scan.reversed ? range->to : range->from;
    scan.stop_row = scan.reversed ? range->from : range->to;
    scan.start_exclusive = scan.stop_inclusive = scan.reversed;
    return open_counted(table, &scan, true, NULL, cursor, error);
}

void
petal_cursor_close(petal_cursor *cursor)
{
    const petal_allocator *allocator;
    _Atomic(uint32_t) *counter;

    /* What it shares with others is not touched in another process, where its files must not go,
     * either. */
    if (cursor == NULL || db_is_of_another_process(cursor->table->db))
        return;
    if (cursor->own != NULL)
        own_leave_cursor(cursor);
    allocator = cursor->table->db->env.allocator;
    counter = cursor->counted ? &cursor->table->db->open.cursor : NULL;
    for (size_t i = 0; i < cursor->store_count; i++)
        store_scan_close(&cursor->stores[i]);
    if (cursor->owns_inputs_memory)
        mem_free(allocator, cursor->inputs_memory, cursor->inputs_bytes);
    cursor_run_close(cursor);
    if (cursor->row != cursor->room->row)
        mem_free(allocator, cursor->row, cursor->row_capacity);
    mem_free(allocator, cursor->sought, cursor->sought_capacity);
    filter_run_free(cursor->filter);
    petal_result_free(cursor->buffer);
    petal_result_free(cursor->kept);
    view_unref(cursor->view);
    mem_free(allocator, cursor, cursor->memory_bytes);
    if (counter != NULL)
        atomic_fetch_sub_explicit(counter, 1, memory_order_release);
}

/* ---- a get ---- */

enum petal_status
cursor_get_row(petal_table *table, petal_slice row, const petal_read_options *options,
               petal_result *result, petal_error *error)
{
    petal_scan_options scan = {
        .read = *options,
        .start_row = row,
        .stop_row = row,
        .stop_inclusive = true,
        .row_limit = 1,
    };
    petal_db *db = table->db;
    petal_cursor *cursor;
    unsigned slot;
    enum petal_status status = make_cursor(table, &scan, true, &cursor, error);

    assert(row.size > 0);
    if (status != PETAL_OK)
        return status;
    slot = epoch_enter(db->epoch);
    STATS_ADD(&db->stats[slot], gets, cursor->store_count);
    epoch_leave(db->epoch, slot);
    status = petal_cursor_next_row(cursor, result, error);
    petal_cursor_close(cursor);
    return status;
}
