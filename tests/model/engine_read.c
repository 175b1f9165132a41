/* engine_read.c -- reads of the lists as calls of the engine; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"
#include "engine/state/db.h"

struct read_memory {
    petal_filter *filter; /* to be freed */
    petal_column columns[4];
    petal_family_time_range ranges[MODEL_FAMILIES];
};

static enum petal_status
make_read(struct engine *engine, const struct operation *operation, unsigned without,
          petal_read_options *options, struct read_memory *memory, petal_error *error)
{
    const struct model_read *read = &operation->read;
    const struct engine_table *table = &engine->tables[operation->table];
    enum petal_status status =
        engine_make_filter(engine->db, &read->filter, &memory->filter, error);

    *options = (petal_read_options){
        .columns = memory->columns,
        .column_count = read->column_count,
        .has_time_range = read->has_time_range,
        .time_min = read->has_time_range ? read->time_min : 0,
        .time_limit = read->has_time_range ? read->time_limit : 0,
        .keep_out_of_cache = operation->keep_out_of_cache,
        .without = without,
        .receipt = operation->has_receipt ? engine->receipt : NULL,
        .filter = memory->filter,
        .versions = read->versions,
        .family_time_ranges = memory->ranges,
        .family_cell_limit = read->family_cell_limit,
        .family_cell_offset = read->family_cell_offset,
        .snapshot = operation->in_transaction ? NULL : engine->snapshots[operation->snapshot]};
    for (size_t i = 0; i < read->column_count; i++)
        memory->columns[i] = (petal_column){.family = table->families[read->columns[i].family],
                                            .qualifier = model_slice(&read->columns[i].qualifier),
                                            .whole_family = read->columns[i].whole_family};
    for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
        if (read->has_family_range[family] && table->families[family] != NULL)
            memory->ranges[options->family_time_range_count++] =
                (petal_family_time_range){.family = table->families[family],
                                          .time_min = read->family_min[family],
                                          .time_limit = read->family_limit[family]};
    }
    return status;
}

void
engine_get(struct engine *engine, const struct operation *operation, unsigned without,
           struct model_text *text)
{
    struct read_memory memory;
    petal_read_options options;
    petal_error error;
    enum petal_status status;

    status = make_read(engine, operation, without, &options, &memory, &error);
    if (status == PETAL_OK && operation->in_transaction)
        status = petal_transaction_get(engine->transaction, engine->tables[operation->table].table,
                                       model_slice(&operation->rows[0]), &options, engine->result,
                                       &error);
    else if (status == PETAL_OK)
        status = petal_get(engine->tables[operation->table].table, model_slice(&operation->rows[0]),
                           &options, engine->result, &error);
    petal_filter_free(memory.filter);
    engine_add_status(text, status, &error);
    if (status == PETAL_OK)
        engine_add_result(text, engine->result);
    if (status == PETAL_OK && operation->has_receipt)
        engine_check_receipt(engine, without, engine->result, text);
}

void
engine_get_rows(struct engine *engine, const struct operation *operation, unsigned without,
                struct model_text *text)
{
    petal_slice rows[OPERATION_ROWS];
    petal_result *results[OPERATION_ROWS];
    struct read_memory memory;
    petal_read_options options;
    petal_error error;
    enum petal_status status;

    for (size_t i = 0; i < OPERATION_ROWS; i++) {
        rows[i] = model_slice(&operation->rows[i]);
        results[i] = i == 0 ? engine->result : engine->more[i - 1];
    }
    status = make_read(engine, operation, without, &options, &memory, &error);
    if (status == PETAL_OK && operation->in_transaction)
        status =
            petal_transaction_multi_get(engine->transaction, engine->tables[operation->table].table,
                                        rows, OPERATION_ROWS, &options, results, &error);
    else if (status == PETAL_OK)
        status = petal_multi_get(engine->tables[operation->table].table, rows, OPERATION_ROWS,
                                 &options, results, &error);
    petal_filter_free(memory.filter);
    engine_add_status(text, status, &error);
    for (size_t i = 0; status == PETAL_OK && i < OPERATION_ROWS; i++) {
        model_text_add(text, "result\n");
        engine_add_result(text, results[i]);
    }
    if (status == PETAL_OK && operation->has_receipt)
        engine_check_receipt(engine, without, NULL, text);
}

/* `times` 0: to the end. */
static enum petal_status
read_rows(struct engine *engine, petal_cursor *cursor, size_t times, struct model_text *text,
          petal_error *error)
{
    for (size_t i = 0; times == 0 || i < times; i++) {
        enum petal_status status;

        /* Without a deadline it is never late. */
        do {
            status = petal_cursor_next_row(cursor, engine->result, error);
        } while (status == PETAL_TIMEOUT);
        if (status != PETAL_OK || petal_result_count(engine->result) == 0)
            return status;
        model_text_add(text, "result\n");
        engine_add_result(text, engine->result);
    }
    return PETAL_OK;
}

/* One by one and several at once in turn, which must come to the same. */
static enum petal_status
read_cells(petal_cursor *cursor, size_t times, struct model_text *text, petal_error *error)
{
    size_t count = 0;

    for (size_t i = 0; times == 0 || i < times; i += count) {
        const petal_cell *cells;
        enum petal_status status;

        do {
            if (i % 4 == 0) {
                status = petal_cursor_next(cursor, &cells, error);
                count = cells != NULL;
            } else {
                status = petal_cursor_next_many(cursor, times == 0 ? 6 : times - i, &cells, &count,
                                                error);
            }
        } while (status == PETAL_TIMEOUT);
        if (status != PETAL_OK || count == 0)
            return status;
        for (size_t k = 0; k < count; k++)
            engine_add_cell(text, &cells[k]);
    }
    return PETAL_OK;
}

static enum petal_status
open_cursor(struct engine *engine, const struct operation *operation, unsigned without,
            petal_receipt *receipt, petal_cursor **cursor, petal_error *error)
{
    const struct model_scan *scan = &operation->scan;
    petal_scan_options options = {.start_row = model_slice(&scan->start_row),
                                  .stop_row = model_slice(&scan->stop_row),
                                  .row_limit = scan->row_limit,
                                  .start_exclusive = scan->start_exclusive,
                                  .stop_inclusive = scan->stop_inclusive,
                                  .prefix = model_slice(&scan->prefix),
                                  .reversed = scan->reversed,
                                  .raw = operation->read.raw,
                                  .batch = operation->batch};
    struct read_memory memory;
    enum petal_status status;

    *cursor = NULL;
    status = make_read(engine, operation, without, &options.read, &memory, error);
    options.read.receipt = receipt;
    options.read.deadline_ms = atomic_load(&engine->db->hasty_reads) > 0 ? 1 : 0;
    if (status == PETAL_OK && operation->in_transaction)
        status = petal_transaction_scan(engine->transaction, engine->tables[operation->table].table,
                                        &options, cursor, error);
    else if (status == PETAL_OK)
        status = petal_cursor_open(engine->tables[operation->table].table, &options, cursor, error);
    petal_filter_free(memory.filter);
    return status;
}

void
engine_scan(struct engine *engine, const struct operation *operation, unsigned without,
            struct model_text *text)
{
    petal_cursor *cursor;
    petal_error error;
    enum petal_status status =
        open_cursor(engine, operation, without, operation->has_receipt ? engine->receipt : NULL,
                    &cursor, &error);

    if (status == PETAL_OK)
        status = operation->by_rows ? read_rows(engine, cursor, 0, text, &error)
                                    : read_cells(cursor, 0, text, &error);
    petal_cursor_close(cursor);
    engine_add_status(text, status, &error);
    if (status == PETAL_OK && operation->has_receipt)
        engine_check_receipt(engine, without, NULL, text);
}

void
engine_open_cursor(struct engine *engine, const struct operation *operation, unsigned without,
                   struct model_text *text)
{
    petal_cursor **cursor = &engine->cursors[operation->cursor];
    petal_error error;

    petal_cursor_close(*cursor);
    *cursor = NULL;
    engine->cursor_scans[operation->cursor] = operation;
    for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
        petal_family *family = engine->tables[operation->table].families[i];
        bool is_there = family != NULL && petal_family_check(family, &error) == PETAL_OK;

        engine->cursor_families[operation->cursor][i] = is_there ? family : NULL;
    }
    engine_add_status(text, open_cursor(engine, operation, without, NULL, cursor, &error), &error);
}

void
engine_move_cursor(struct engine *engine, const struct operation *operation,
                   struct model_text *text)
{
    petal_cursor *cursor = engine->cursors[operation->cursor];
    petal_error error;
    enum petal_status status = PETAL_OK;

    for (size_t i = 0; cursor != NULL && status == PETAL_OK && i < operation->move_count; i++) {
        const struct operation_move *move = &operation->moves[i];

        if (move->kind == MOVE_SEEK)
            status = petal_cursor_seek(
                cursor, model_slice(&move->place.row),
                move->place.in_row ? engine->cursor_families[operation->cursor][move->place.family]
                                   : NULL,
                model_slice(&move->place.qualifier), &error);
        else if (move->kind == MOVE_NEXT_ROW)
            status = read_rows(engine, cursor, move->times, text, &error);
        else
            status = read_cells(cursor, move->times, text, &error);
    }
    engine_add_status(text, status, &error);
}

void
engine_close_cursor(struct engine *engine, const struct operation *operation,
                    struct model_text *text)
{
    petal_cursor **cursor = &engine->cursors[operation->cursor];
    petal_error error;
    enum petal_status status = PETAL_OK;

    if (*cursor != NULL)
        status = engine->cursor_scans[operation->cursor]->by_rows
                     ? read_rows(engine, *cursor, 0, text, &error)
                     : read_cells(*cursor, 0, text, &error);
    petal_cursor_close(*cursor);
    *cursor = NULL;
    engine_add_status(text, status, &error);
}
