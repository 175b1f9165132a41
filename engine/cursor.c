/*
 * cursor.c -- the public cursor: a scan over the asked families of a table, row by row, family by family in a row, from one view
 * that it pins for its life.
 */
#include "engine/get.h"
#include "engine/receipt.h"
#include "engine/store_scan.h"

struct petal_cursor {
    petal_table *table;
    struct view *view; /* referenced */
    petal_scan_options options;
    petal_slice start_row, stop_row; /* copies, in `bounds` */
    uint8_t *bounds;
    struct store_scan *stores; /* of the asked families, by name */
    size_t store_count;
    struct store_scan
        *current; /* the one whose cell was returned; NULL before the first and at the end */
    petal_cell cell;
    uint64_t rows; /* begun since the last seek */
    uint8_t *row;  /* of the cell returned, when rows are counted or families merged */
    size_t row_bytes, row_capacity;
    bool positioned, ended;
};

/* ---- open and close ---- */

static enum petal_status
copy_bounds(petal_cursor *cursor, const petal_scan_options *options)
{
    size_t start = options->start_row.size, stop = options->stop_row.size;

    cursor->start_row = slice_make(NULL, 0);
    cursor->stop_row = slice_make(NULL, 0);
    if (start + stop == 0)
        return PETAL_OK;
    cursor->bounds = mem_alloc(cursor->table->db->env.allocator, start + stop);
    if (cursor->bounds == NULL)
        return PETAL_NO_MEMORY;
    if (start > 0)
        memcpy(cursor->bounds, options->start_row.data, start);
    if (stop > 0)
        memcpy(cursor->bounds + start, options->stop_row.data, stop);
    cursor->start_row = slice_make(cursor->bounds, start);
    cursor->stop_row = slice_make(cursor->bounds + start, stop);
    return PETAL_OK;
}

static enum petal_status
open_stores(petal_cursor *cursor, uint64_t sequence, petal_error *error)
{
    petal_table *table = cursor->table;
    const petal_read_options *read = &cursor->options.read;
    const petal_allocator *allocator = table->db->env.allocator;
    petal_slice *qualifiers = NULL;
    enum petal_status status = PETAL_OK;

    cursor->stores = mem_zalloc(allocator, table->family_count * sizeof *cursor->stores);
    if (read->column_count > 0)
        qualifiers = mem_alloc(allocator, read->column_count * sizeof *qualifiers);
    if (cursor->stores == NULL || (read->column_count > 0 && qualifiers == NULL))
        status = error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < table->family_count; i++) {
        const petal_family *family = table->families[i];
        size_t count;

        if (!read_asks_family(read, family, qualifiers, &count))
            continue;
        status = store_scan_open(&cursor->stores[cursor->store_count++], family,
                                 view_store(cursor->view, family), sequence, read,
                                 cursor->start_row, cursor->stop_row, qualifiers, count, error);
    }
    mem_free(allocator, qualifiers, read->column_count * sizeof *qualifiers);
    return status;
}

static enum petal_status
open_cursor(petal_cursor *cursor, petal_error *error)
{
    petal_db *db = cursor->table->db;
    struct read_point point;
    enum petal_status status;

    read_begin(db, &point);
    view_ref(point.view);
    cursor->view = point.view;
    if (cursor->options.read.receipt != NULL)
        receipt_start(cursor->options.read.receipt, point.view);
    read_end(db, &point);
    status = open_stores(cursor, point.sequence, error);
    /* The columns and their slices were borrowed for this call. */
    cursor->options.read.columns = NULL;
    cursor->options.read.column_count = 0;
    return status;
}

enum petal_status
petal_cursor_open(petal_table *table, const petal_scan_options *given, petal_cursor **cursor,
                  petal_error *error)
{
    petal_scan_options options = {0};
    petal_cursor *made;
    enum petal_status status;

    *cursor = NULL;
    error_clear(error);
    if (given != NULL)
        options = *given;
    read_options_init(&options.read, given != NULL ? &given->read : NULL);
    status = table_check_alive(table, error);
    if (status == PETAL_OK)
        status = read_check_options(table, &options.read, error);
    if (status == PETAL_OK && (options.start_row.size > PETAL_MAX_ROW_BYTES ||
                               options.stop_row.size > PETAL_MAX_ROW_BYTES))
        status = error_set(error, PETAL_INVALID, "a bound of the scan is longer than %d bytes",
                           PETAL_MAX_ROW_BYTES);
    if (status != PETAL_OK)
        return status;
    made = mem_zalloc(table->db->env.allocator, sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->table = table;
    made->options = options;
    status =
        copy_bounds(made, &options) == PETAL_OK ? open_cursor(made, error) : error_no_memory(error);
    if (status != PETAL_OK) {
        petal_cursor_close(made);
        return status;
    }
    *cursor = made;
    return PETAL_OK;
}

void
petal_cursor_close(petal_cursor *cursor)
{
    const petal_allocator *allocator;

    if (cursor == NULL)
        return;
    allocator = cursor->table->db->env.allocator;
    for (size_t i = 0; i < cursor->store_count; i++)
        store_scan_close(&cursor->stores[i]);
    mem_free(allocator, cursor->stores, cursor->table->family_count * sizeof *cursor->stores);
    mem_free(allocator, cursor->bounds, cursor->start_row.size + cursor->stop_row.size);
    mem_free(allocator, cursor->row, cursor->row_capacity);
    view_unref(cursor->view);
    mem_free(allocator, cursor, sizeof *cursor);
}

/* ---- moving ---- */

static enum petal_status
seek_stores(petal_cursor *cursor, petal_slice row, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; status == PETAL_OK && i < cursor->store_count; i++)
        status = store_scan_seek(&cursor->stores[i], row, error);
    cursor->positioned = true;
    cursor->ended = false;
    cursor->current = NULL;
    cursor->rows = 0;
    return status;
}

/* The store with the smallest row; of several with the same row the first family. */
static struct store_scan *
smallest_store(petal_cursor *cursor)
{
    struct store_scan *smallest = NULL;

    for (size_t i = 0; i < cursor->store_count; i++) {
        struct store_scan *store = &cursor->stores[i];

        if (store->cell != NULL &&
            (smallest == NULL || slice_compare(store->cell->row, smallest->cell->row) < 0))
            smallest = store;
    }
    return smallest;
}

/* Count the row of the next cell if it is a new one. False when the limit is reached. */
static enum petal_status
count_row(petal_cursor *cursor, petal_slice row, bool *within_limit)
{
    void *copy = cursor->row;
    bool grown;

    *within_limit = true;
    if (cursor->options.row_limit == 0)
        return PETAL_OK;
    if (cursor->rows > 0 && slice_equal(row, slice_make(cursor->row, cursor->row_bytes)))
        return PETAL_OK;
    if (cursor->rows == cursor->options.row_limit) {
        *within_limit = false;
        return PETAL_OK;
    }
    grown =
        mem_grow(cursor->table->db->env.allocator, &copy, &cursor->row_capacity, 0, row.size, 1);
    cursor->row = copy;
    if (!grown)
        return PETAL_NO_MEMORY;
    memcpy(cursor->row, row.data, row.size);
    cursor->row_bytes = row.size;
    cursor->rows++;
    return PETAL_OK;
}

/* Show the cell that the stores stand at. */
static enum petal_status
show(petal_cursor *cursor, const petal_cell **shown, petal_error *error)
{
    struct store_scan *store = cursor->store_count == 1 && cursor->stores[0].cell != NULL
                                   ? cursor->stores
                                   : smallest_store(cursor);
    const struct cell *cell;
    bool within_limit = true;

    *shown = NULL;
    cursor->current = NULL;
    if (store != NULL && count_row(cursor, store->cell->row, &within_limit) != PETAL_OK)
        return error_no_memory(error);
    if (store == NULL || !within_limit) {
        cursor->ended = true;
        return PETAL_OK;
    }
    cell = store->cell;
    cursor->cell = (petal_cell){
        .family = store->family->options.name,
        .row = cell->row,
        .qualifier = cell->qualifier,
        .value = cell->value,
        .timestamp = cell->timestamp,
        .type = cell->type,
    };
    cursor->current = store;
    *shown = &cursor->cell;
    return PETAL_OK;
}

enum petal_status
petal_cursor_next(petal_cursor *cursor, const petal_cell **cell, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    *cell = NULL;
    error_clear(error);
    if (cursor->ended)
        return PETAL_OK;
    if (!cursor->positioned)
        status = seek_stores(cursor, cursor->start_row, error);
    else if (cursor->current != NULL)
        status = store_scan_next(cursor->current, error);
    if (status == PETAL_OK)
        status = show(cursor, cell, error);
    if (status != PETAL_OK)
        cursor->ended = true;
    return status;
}

enum petal_status
petal_cursor_seek(petal_cursor *cursor, petal_slice row, const petal_family *family,
                  petal_slice qualifier, petal_error *error)
{
    enum petal_status status;

    error_clear(error);
    status = read_check_row(row, error);
    if (status == PETAL_OK && family != NULL && family->table != cursor->table)
        status = error_set(error, PETAL_INVALID, "the family belongs to another table");
    if (status != PETAL_OK)
        return status;
    if (slice_compare(row, cursor->start_row) < 0) {
        row = cursor->start_row;
        family = NULL;
    }
    status = seek_stores(cursor, row, error);
    for (size_t i = 0; family != NULL && status == PETAL_OK && i < cursor->store_count; i++) {
        struct store_scan *store = &cursor->stores[i];
        int order = slice_compare(store->family->options.name, family->options.name);

        /* Families before the named one go on with the next row, the named one with the column. */
        if (order == 0)
            status = store_scan_seek_column(store, row, qualifier, error);
        while (order < 0 && status == PETAL_OK && store->cell != NULL &&
               slice_equal(store->cell->row, row))
            status = store_scan_next(store, error);
    }
    if (status != PETAL_OK)
        cursor->ended = true;
    return status;
}
