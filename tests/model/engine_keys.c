/* engine_keys.c -- operations on key-value tables, and deletions of whole rows, as calls of the
 * engine; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

/* ---- keys and values ---- */

static enum petal_status
open_keys(struct engine *engine, unsigned table, petal_kv **kv, petal_error *error)
{
    enum petal_status status = petal_kv_open(engine->db, model_table_name(table), NULL, kv, error);

    if (status == PETAL_OK && petal_kv_table(*kv) != engine->tables[table].table) {
        *error = (petal_error){.status = PETAL_CORRUPT, .text = "the table is another one"};
        return PETAL_CORRUPT;
    }
    return status;
}

static enum petal_status
write_batch(struct engine *engine, petal_kv *kv, const struct model_item *item, petal_slice value,
            petal_error *error)
{
    petal_slice key = model_slice(&item->row);
    petal_batch *batch;
    enum petal_status status = petal_batch_new(engine->db, &batch, error);

    if (status == PETAL_OK)
        status = item->kind == MODEL_DELETE ? petal_kv_batch_delete(batch, kv, key, error)
                                            : petal_kv_batch_put(batch, kv, key, value, error);
    if (status == PETAL_OK)
        status = petal_write(engine->db, batch, NULL, error);
    petal_batch_free(batch);
    return status;
}

static enum petal_status
put_value(struct engine *engine, const struct operation *operation, petal_kv *kv, bool *done,
          petal_error *error)
{
    const struct model_item *item = operation->items;
    const struct model_condition *condition = &operation->condition;
    uint8_t bytes[ENGINE_LONG_BYTES], expected_bytes[ENGINE_LONG_BYTES];
    petal_slice key = model_slice(&item->row);
    petal_slice value = engine_lengthen(engine, &item->value, bytes);
    petal_slice expected = engine_lengthen(engine, &condition->value, expected_bytes);

    *done = true;
    switch (operation->way) {
    case WAY_BATCH:
        return write_batch(engine, kv, item, value, error);
    case WAY_IF_ABSENT:
        return petal_kv_put_if_absent(kv, key, value, done, error);
    case WAY_SWAP:
        return petal_kv_compare_and_swap(kv, key, condition->absent ? NULL : &expected,
                                         item->kind == MODEL_DELETE ? NULL : &value, done, error);
    default:
        return item->kind == MODEL_DELETE ? petal_kv_delete(kv, key, error)
                                          : petal_kv_put(kv, key, value, NULL, error);
    }
}

static void
add_pair(struct model_text *text, petal_slice key, petal_slice value)
{
    petal_cell shown = {.row = key, .value = value, .type = PETAL_PUT};

    engine_add_cell(text, &shown);
}

static enum petal_status
get_values(struct engine *engine, const struct operation *operation, petal_kv *kv,
           struct model_text *text, petal_error *error)
{
    size_t count = operation->kind == OPERATION_GET_VALUES ? OPERATION_ROWS : 1;
    petal_slice keys[OPERATION_ROWS], values[OPERATION_ROWS];
    bool found[OPERATION_ROWS];
    enum petal_status status;

    for (size_t i = 0; i < count; i++)
        keys[i] = model_slice(count > 1 ? &operation->rows[i] : &operation->items[0].row);
    status = count > 1
                 ? petal_kv_multi_get(kv, keys, count, NULL, engine->result, found, values, error)
                 : petal_kv_get(kv, keys[0], engine->result, found, values, error);
    engine_add_status(text, status, error);
    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        if (found[i])
            add_pair(text, keys[i], values[i]);
    }
    return status;
}

static enum petal_status
scan_values(const struct operation *operation, petal_kv *kv, struct model_text *text,
            petal_error *error)
{
    const struct model_scan *range = &operation->scan;
    petal_kv_cursor_options options = {.from = model_slice(&range->start_row),
                                       .to = model_slice(&range->stop_row),
                                       .prefix = model_slice(&range->prefix),
                                       .reversed = range->reversed};
    petal_kv_cursor *cursor;
    petal_slice key, value;
    bool found = true;
    enum petal_status status = petal_kv_cursor_open(kv, &options, &cursor, error);

    engine_add_status(text, status, error);
    for (size_t i = 0; status == PETAL_OK && i < operation->move_count; i++) {
        status = petal_kv_cursor_next(cursor, &found, &key, &value, error);
        if (status == PETAL_OK)
            status = petal_kv_cursor_seek(cursor, model_slice(&operation->rows[0]), error);
    }
    for (found = true; status == PETAL_OK && found;) {
        status = petal_kv_cursor_next(cursor, &found, &key, &value, error);
        if (status == PETAL_OK && found)
            add_pair(text, key, value);
    }
    petal_kv_cursor_close(cursor);
    if (status != PETAL_OK)
        engine_add_status(text, status, error);
    return status;
}

void
engine_use_key_value(struct engine *engine, const struct operation *operation,
                     struct model_text *text)
{
    petal_kv *kv;
    petal_error error;
    bool done = true;
    enum petal_status status = open_keys(engine, operation->items[0].table, &kv, &error);

    if (status == PETAL_OK && operation->kind == OPERATION_SCAN_VALUES) {
        (void)scan_values(operation, kv, text, &error);
    } else if (status == PETAL_OK && operation->kind != OPERATION_PUT_VALUE) {
        (void)get_values(engine, operation, kv, text, &error);
    } else {
        if (status == PETAL_OK)
            status = put_value(engine, operation, kv, &done, &error);
        engine_add_status(text, status, &error);
        if (status == PETAL_OK && !done)
            model_text_add(text, "condition does not hold\n");
    }
}

/* ---- rows that are deleted ---- */

static enum petal_status
delete_row(struct engine *engine, const struct operation *operation, petal_error *error)
{
    petal_table *table = engine->tables[operation->table].table;
    petal_slice row = model_slice(&operation->rows[0]);
    int64_t timestamp = operation->items[0].timestamp;
    petal_batch *batch;
    enum petal_status status;

    if (operation->single)
        return petal_delete_row(table, row, timestamp, NULL, error);
    status = petal_batch_new(engine->db, &batch, error);
    if (status == PETAL_OK)
        status = petal_batch_delete_row(batch, table, row, timestamp, error);
    if (status == PETAL_OK)
        status = petal_write(engine->db, batch, NULL, error);
    petal_batch_free(batch);
    return status;
}

/* In calls that end after each batch, and go on there. */
static bool
stop(void *argument, const petal_deleted_rows *done)
{
    (void)argument;
    (void)done;
    return false;
}

static enum petal_status
delete_range(struct engine *engine, const struct operation *operation, uint64_t *rows,
             petal_error *error)
{
    petal_slice to = model_slice(&operation->rows[1]);
    petal_delete_rows_options options = {.prefix = model_slice(&operation->scan.prefix),
                                         .has_timestamp = true,
                                         .timestamp = operation->items[0].timestamp,
                                         .snapshot = engine->snapshots[operation->snapshot],
                                         .batch_rows = (uint32_t)operation->batch};
    petal_deleted_rows deleted = {.next = model_slice(&operation->rows[0])};
    petal_kv *kv = NULL;
    enum petal_status status = PETAL_BUSY;

    /* Each call sees rows as of its own beginning: those that are done are no rows any more, but
     * for what the markers do not hide. */
    if (operation->single && operation->batch > 0)
        options.watch = stop;
    if (operation->of_keys && open_keys(engine, operation->table, &kv, error) != PETAL_OK)
        return error->status;
    for (*rows = 0; status == PETAL_BUSY; *rows += deleted.rows)
        status = operation->of_keys
                     ? petal_kv_delete_range(kv, deleted.next, to, &options, &deleted, error)
                     : petal_delete_rows(engine->tables[operation->table].table, deleted.next, to,
                                         &options, &deleted, error);
    return status;
}

void
engine_delete_rows(struct engine *engine, const struct operation *operation,
                   struct model_text *text)
{
    uint64_t rows = 1;
    petal_error error;
    enum petal_status status =
        operation->in_transaction ? engine_transaction_write(engine, operation, &error)
        : operation->one_row      ? delete_row(engine, operation, &error)
                                  : delete_range(engine, operation, &rows, &error);

    engine_add_status(text, status, &error);
    if (status == PETAL_OK && !operation->in_transaction) {
        model_text_add_number(text, (int64_t)rows);
        model_text_add(text, " rows\n");
    }
}
