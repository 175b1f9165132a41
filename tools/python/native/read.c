#include "tools/python/native/read.h"

#include <stdlib.h>
#include <string.h>

#include "tools/python/native/inside.h"
#include "tools/python/native/names.h"
#include "tools/python/native/pickle.h"
#include "tools/python/native/table_inside.h"

/* Results that a call keeps for reading several rows; above it the rows are read in turns. */
#define ROWS_AT_ONCE 128

/* ---- answers ---- */

static void
write_value(struct pickle *pickle, const petal_cell *cell, int shape)
{
    pickle_bytes(pickle, cell->value);
    if (shape & PY_TIMESTAMPS) {
        pickle_number(pickle, cell->timestamp);
        pickle_pair(pickle);
    }
}

static void
write_row(struct pickle *pickle, const petal_result *result, int shape, bool again)
{
    pickle_dict_begin(pickle);
    for (size_t i = 0; i < petal_result_count(result); i++) {
        const petal_cell *cell = petal_result_cell(result, i);
        pickle_column(pickle, cell, again);
        write_value(pickle, cell, shape);
    }
    pickle_dict_end(pickle);
}

/* ---- options ---- */

/* The library's options for a read at that view. The caller calls options_free in any case. */
static int
options_make(petal_table *table, const py_database *database, const py_read *read,
             petal_read_options *options, struct view *view, petal_error *error)
{
    petal_column *columns;
    *view = (struct view){NULL, NULL, NULL};
    *options = (petal_read_options){
        .size = sizeof *options, .versions = read->versions, .deadline_ms = read->deadline_ms};
    if (read->time_limit != PETAL_LATEST) {
        options->has_time_range = true;
        options->time_limit = read->time_limit;
    }
    int status =
        columns_find(table, (petal_slice){read->columns, read->columns_size},
                     (read->shape & PY_ONE_COLUMN) != 0, &columns, &options->column_count, error);
    options->columns = columns;
    if (!status)
        status = view_lock(read->view, database, view, error);
    options->snapshot = view->snapshot;
    return status;
}

static void
options_free(petal_read_options *options, const struct view *view)
{
    view_unlock(view);
    free((void *)(size_t)options->columns);
}

/* ---- one row, several rows ---- */

struct get {
    py_database *database;
    petal_slice rows; /* a row, or a list of them */
    const py_read *read;
    py_call *call;
    bool cells; /* the answer is a list of values, not a dict */
};

/* Inside, since cells refer to the names of families. */
static void
write_answer(const struct get *get)
{
    struct pickle *pickle = get->call->pickle;
    const petal_result *result = get->call->result;
    pickle_begin(pickle);
    if (get->cells) {
        pickle_list_begin(pickle);
        for (size_t i = 0; i < petal_result_count(result); i++)
            write_value(pickle, petal_result_cell(result, i), get->read->shape);
        pickle_list_end(pickle);
    } else
        write_row(pickle, result, get->read->shape, false);
    pickle_end(pickle);
}

static int
get_row(const struct target *target, void *argument, petal_error *error)
{
    const struct get *get = argument;
    petal_read_options options;
    struct view view;
    int status = options_make(target->table, get->database, get->read, &options, &view, error);
    if (!status)
        status = call_result(get->call, get->database);
    if (!status && view.transaction)
        status = (int)petal_transaction_get(view.transaction, target->table, get->rows, &options,
                                            get->call->result, error);
    else if (!status)
        status = (int)petal_get(target->table, get->rows, &options, get->call->result, error);
    if (!status)
        write_answer(get);
    options_free(&options, &view);
    return status;
}

int
py_get(py_table *table, const char *row, size_t size, py_part *view, const char *columns,
       size_t columns_size, int64_t time_limit, uint32_t deadline_ms, int shape, py_call *call)
{
    py_read read = {view, columns, columns_size, time_limit, 1, deadline_ms, shape};
    struct get get = {table_database(table), {row, size}, &read, call, false};
    int status = table_run(table, get_row, &get, &call->error);
    return status ? status : call_answer(call);
}

int
py_cells(py_table *table, const char *row, size_t size, py_part *view, const char *columns,
         size_t columns_size, int64_t time_limit, int32_t versions, uint32_t deadline_ms, int shape,
         py_call *call)
{
    py_read read = {view, columns, columns_size, time_limit, versions, deadline_ms, shape};
    struct get get = {table_database(table), {row, size}, &read, call, true};
    int status = table_run(table, get_row, &get, &call->error);
    return status ? status : call_answer(call);
}

/* Make the call's results at least `count`. */
static int
have_results(struct get *get, size_t count)
{
    py_call *call = get->call;
    if (call->other_count >= count)
        return PETAL_OK;
    petal_result **others = realloc(call->others, count * sizeof *others);
    if (!others)
        return fail(&call->error, PETAL_NO_MEMORY, "out of memory");
    for (call->others = others; call->other_count < count; call->other_count++) {
        int status = (int)petal_result_new(database_db(get->database), &others[call->other_count],
                                           &call->error);
        if (status)
            return status;
    }
    return PETAL_OK;
}

/* Reads the rows, in turns if they are many, all with the same options. */
static int
get_turns(const struct target *target, struct get *get, petal_transaction *transaction,
          const petal_read_options *options)
{
    py_call *call = get->call;
    petal_slice rows[ROWS_AT_ONCE];
    petal_slice rest = get->rows;
    int status = PETAL_OK;
    while (!status && rest.size) {
        size_t count = 0;
        while (count < ROWS_AT_ONCE && names_take(&rest, &rows[count]))
            count++;
        status = have_results(get, count);
        if (!status && transaction)
            status = (int)petal_transaction_multi_get(transaction, target->table, rows, count,
                                                      options, call->others, &call->error);
        else if (!status)
            status = (int)petal_multi_get(target->table, rows, count, options, call->others,
                                          &call->error);
        for (size_t i = 0; !status && i < count; i++) {
            if (!petal_result_count(call->others[i]))
                continue;
            pickle_bytes(call->pickle, rows[i]);
            write_row(call->pickle, call->others[i], get->read->shape, true);
            pickle_pair(call->pickle);
        }
    }
    return status;
}

static int
get_rows(const struct target *target, void *argument, petal_error *error)
{
    struct get *get = argument;
    petal_read_options options;
    struct view view;
    petal_snapshot *snapshot = NULL;
    pickle_begin(get->call->pickle);
    pickle_list_begin(get->call->pickle);
    int status = options_make(target->table, get->database, get->read, &options, &view, error);
    petal_read_options same = options;
    /* All turns read as of one moment. */
    if (!status && !view.part && names_count(get->rows) > ROWS_AT_ONCE) {
        status = (int)petal_snapshot_new(target->db, &snapshot, error);
        same.snapshot = snapshot;
    }
    if (!status)
        status = get_turns(target, get, view.transaction, &same);
    petal_snapshot_free(snapshot);
    options_free(&options, &view);
    return status;
}

int
py_rows(py_table *table, const char *rows, size_t size, py_part *view, const char *columns,
        size_t columns_size, int64_t time_limit, uint32_t deadline_ms, int shape, py_call *call)
{
    py_read read = {view, columns, columns_size, time_limit, 1, deadline_ms, shape};
    struct get get = {table_database(table), {rows, size}, &read, call, false};
    int status = table_run(table, get_rows, &get, &call->error);
    if (status)
        return status;
    pickle_list_end(call->pickle);
    pickle_end(call->pickle);
    return call_answer(call);
}

/* ---- scans ---- */

struct scan {
    petal_cursor *cursor;
    petal_result *pieces; /* not NULL: rows come in pieces of some cells, through this */
    int shape;
    uint32_t deadline_ms;    /* of each call; the library's is of each step */
    int64_t begun;           /* when the call did */
    const petal_cell *cells; /* those that the cursor gave and that are not yet written */
    size_t count;
    /* The rows of a call, and what a call that timed out leaves to the next. */
    struct pickle pickle;
    bool continues;       /* the pickle is to be continued */
    bool in_row;          /* its last row is not complete */
    size_t row, row_size; /* that row's key in the pickle */
    size_t complete;      /* its size up to the last complete row */
    size_t rows;          /* complete */
    int failed;           /* comes after the rows before it */
    petal_error error;
};

static void
close_scan(void *object)
{
    struct scan *scan = object;
    petal_cursor_close(scan->cursor);
    petal_result_free(scan->pieces);
    pickle_release(&scan->pickle);
    free(scan);
}

static const struct part_kind scan_kind = {"scan", false, close_scan};

struct opening {
    const py_scan *wanted;
    struct scan *scan; /* NULL once the part has it */
    py_part **part;
    py_database *database;
};

static int
open_scan(const struct target *target, void *argument, petal_error *error)
{
    struct opening *opening = argument;
    const py_scan *wanted = opening->wanted;
    petal_filter *filter = NULL;
    petal_scan_options options = {.size = sizeof options,
                                  .start_row = {wanted->start, wanted->start_size},
                                  .stop_row = {wanted->stop, wanted->stop_size},
                                  .prefix = {wanted->prefix, wanted->prefix_size},
                                  .row_limit = wanted->row_limit,
                                  .batch = wanted->batch,
                                  .reversed = wanted->reversed};
    struct scan *scan = opening->scan;
    struct view view;
    int status =
        options_make(target->table, opening->database, &wanted->read, &options.read, &view, error);
    if (!status && wanted->filter)
        status = (int)petal_filter_parse(
            target->db, (petal_slice){wanted->filter, wanted->filter_size}, &filter, error);
    options.read.filter = filter;
    if (!status && wanted->batch && !scan->pieces)
        status = (int)petal_result_new(target->db, &scan->pieces, error);
    if (!status && view.transaction)
        status = (int)petal_transaction_scan(view.transaction, target->table, &options,
                                             &scan->cursor, error);
    else if (!status)
        status = (int)petal_cursor_open(target->table, &options, &scan->cursor, error);
    petal_filter_free(filter);
    if (!status) {
        opening->scan = NULL;
        status = part_new(opening->database, &scan_kind, scan, view.transaction ? view.part : NULL,
                          opening->part, error);
    }
    options_free(&options.read, &view);
    return status;
}

int
py_scan_open(py_table *table, const py_scan *wanted, py_part **part, petal_error *error)
{
    *part = NULL;
    struct opening opening = {wanted, calloc(1, sizeof(struct scan)), part, table_database(table)};
    if (!opening.scan)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    opening.scan->shape = wanted->read.shape;
    opening.scan->deadline_ms = wanted->read.deadline_ms;
    int status = table_run(table, open_scan, &opening, error);
    if (opening.scan)
        close_scan(opening.scan);
    return status;
}

static void
end_row(struct scan *scan)
{
    if (!scan->in_row)
        return;
    pickle_dict_end(&scan->pickle);
    pickle_pair(&scan->pickle);
    scan->in_row = false;
    scan->complete = scan->pickle.size;
    scan->rows++;
}

static void
begin_row(struct scan *scan, petal_slice row)
{
    pickle_bytes(&scan->pickle, row);
    scan->row = scan->pickle.size - row.size;
    scan->row_size = row.size;
    pickle_dict_begin(&scan->pickle);
    scan->in_row = true;
}

static bool
is_in_row(const struct scan *scan, petal_slice row)
{
    return scan->in_row && scan->row_size == row.size &&
           memcmp(scan->pickle.bytes + scan->row, row.data, row.size) == 0;
}

static bool
has_room(const struct scan *scan, size_t most, size_t bytes)
{
    return scan->rows < most && scan->complete < bytes && !scan->pickle.failed &&
           !(scan->rows && clock_is_late(scan->begun, scan->deadline_ms));
}

/* Write whole rows; the first cell of the row after them stays in scan->cells. */
static int
step_rows(struct scan *scan, size_t most, size_t bytes)
{
    while (!scan->pickle.failed) {
        if (!scan->count) {
            int status = (int)petal_cursor_next_many(scan->cursor, 128, &scan->cells, &scan->count,
                                                     &scan->error);
            if (status)
                return status;
            if (!scan->count) {
                end_row(scan);
                return PETAL_OK;
            }
            if (scan->in_row && clock_is_late(scan->begun, scan->deadline_ms))
                return fail(&scan->error, PETAL_TIMEOUT, "the deadline has passed within a row");
        }
        if (!is_in_row(scan, scan->cells->row)) {
            end_row(scan);
            if (!has_room(scan, most, bytes))
                return PETAL_OK;
            begin_row(scan, scan->cells->row);
        }
        pickle_column(&scan->pickle, scan->cells, true);
        write_value(&scan->pickle, scan->cells, scan->shape);
        scan->cells++;
        scan->count--;
    }
    return PETAL_OK;
}

/* The same for rows in pieces, of which each is one to the part. */
static int
step_pieces(struct scan *scan, size_t most, size_t bytes)
{
    while (has_room(scan, most, bytes)) {
        int status = (int)petal_cursor_next_row(scan->cursor, scan->pieces, &scan->error);
        if (status || !petal_result_count(scan->pieces))
            return status;
        pickle_bytes(&scan->pickle, petal_result_cell(scan->pieces, 0)->row);
        write_row(&scan->pickle, scan->pieces, scan->shape, true);
        pickle_pair(&scan->pickle);
        scan->complete = scan->pickle.size;
        scan->rows++;
    }
    return PETAL_OK;
}

static int
scan_next(void *object, size_t most, size_t bytes, py_call *call)
{
    struct scan *scan = object;
    if (scan->failed) {
        call->error = scan->error;
        return scan->failed;
    }
    if (!scan->continues) {
        pickle_begin(&scan->pickle);
        pickle_list_begin(&scan->pickle);
        scan->complete = scan->pickle.size;
        scan->rows = 0;
    }
    scan->begun = clock_begin(scan->deadline_ms);
    int status = scan->pieces ? step_pieces(scan, most, bytes) : step_rows(scan, most, bytes);
    scan->continues = status == PETAL_TIMEOUT;
    if (scan->pickle.failed)
        status = fail(&scan->error, PETAL_NO_MEMORY, "out of memory");
    if (status && status != PETAL_TIMEOUT)
        scan->failed = status;
    if (status && (scan->continues || !scan->rows || scan->pickle.failed)) {
        call->error = scan->error;
        return status;
    }
    /* What is after the last complete row could not be read. */
    scan->pickle.size = scan->complete;
    scan->in_row = false;
    pickle_list_end(&scan->pickle);
    pickle_end(&scan->pickle);
    /* The caller reads the answer after others may have closed the scan. */
    struct pickle answer = *call->pickle;
    *call->pickle = scan->pickle;
    scan->pickle = answer;
    return call_answer(call);
}

int
py_scan_next(py_part *part, size_t most, size_t bytes, py_call *call)
{
    return part_next(part, scan_next, most, bytes, call);
}
