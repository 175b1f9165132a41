/* engine.c -- the operations of the lists as calls of the engine; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

void
engine_add_status(struct model_text *text, enum petal_status status, const petal_error *error)
{
    static const char *const words[] = {[PETAL_OK] = "ok\n",
                                        [PETAL_INVALID] = "refused\n",
                                        [PETAL_NOT_FOUND] = "not found\n",
                                        [PETAL_EXISTS] = "exists\n",
                                        [PETAL_READ_ONLY] = "read-only\n"};
    bool told =
        status == PETAL_OK || error == NULL || (error->status == status && error->text[0] != '\0');

    if ((size_t)status < sizeof words / sizeof *words && words[status] != NULL && told) {
        model_text_add(text, words[status]);
        return;
    }
    model_text_add(text, petal_status_text(status));
    model_text_add(text, ": ");
    model_text_add(text, told ? error->text : "the error does not tell");
    model_text_add(text, "\n");
}

/* ---- handles ---- */

/* What is not there leaves the handle as it was. */
static enum petal_status
attach_table(petal_db *db, unsigned number, struct engine_table *table, petal_error *error)
{
    petal_table *found;
    enum petal_status status = petal_table_open(db, model_table_name(number), &found, error);

    if (status != PETAL_OK)
        return status == PETAL_NOT_FOUND ? PETAL_OK : status;
    if (found != table->table)
        *table = (struct engine_table){.table = found};
    for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
        petal_family *family;

        status = petal_table_family(found, model_text_family_name(i), &family, error);
        if (status == PETAL_OK)
            table->families[i] = family;
        else if (status != PETAL_NOT_FOUND)
            return status;
    }
    return PETAL_OK;
}

enum petal_status
engine_attach(struct engine *engine, petal_error *error)
{
    enum petal_status status = PETAL_OK;

    for (unsigned i = 0; status == PETAL_OK && i < MODEL_TABLES; i++)
        status = attach_table(engine->db, i, &engine->tables[i], error);
    if (status == PETAL_OK && engine->result == NULL)
        status = petal_result_new(engine->db, &engine->result, error);
    for (size_t i = 0; status == PETAL_OK && i < OPERATION_ROWS - 1; i++) {
        if (engine->more[i] == NULL)
            status = petal_result_new(engine->db, &engine->more[i], error);
    }
    return status;
}

void
engine_detach(struct engine *engine)
{
    for (unsigned i = 1; i <= MODEL_READ_POINTS; i++)
        petal_snapshot_free(engine->snapshots[i]);
    for (size_t i = 0; i < OPERATION_CURSORS; i++)
        petal_cursor_close(engine->cursors[i]);
    for (size_t i = 0; i < OPERATION_ROWS - 1; i++)
        petal_result_free(engine->more[i]);
    petal_result_free(engine->result);
    *engine = (struct engine){.db = NULL};
}

static bool
knows_columns(const struct engine_table *table, const struct model_read *read)
{
    for (size_t i = 0; i < read->column_count; i++) {
        if (table->families[read->columns[i].family] == NULL)
            return false;
    }
    return true;
}

bool
engine_knows(const struct engine *engine, const struct operation *operation)
{
    const struct engine_table *table = &engine->tables[operation->table];

    switch (operation->kind) {
    case OPERATION_WRITE:
        for (size_t i = 0; i < operation->item_count; i++) {
            const struct model_item *item = &operation->items[i];

            if (engine->tables[item->table].families[item->family] == NULL)
                return false;
        }
        return !operation->changes_row || !operation->has_condition ||
               table->families[operation->condition.family] != NULL;
    case OPERATION_FLUSH:
        return operation->whole_database || table->table != NULL;
    case OPERATION_COMPACT:
        return table->table != NULL &&
               (operation->family == MODEL_FAMILIES || table->families[operation->family] != NULL);
    case OPERATION_DROP_TABLE:
    case OPERATION_TRUNCATE_TABLE:
    case OPERATION_ALTER_TABLE:
    case OPERATION_TAKE_TABLE_SNAPSHOT:
        return table->table != NULL;
    case OPERATION_GET:
    case OPERATION_GET_ROWS:
    case OPERATION_SCAN:
    case OPERATION_OPEN_CURSOR:
        return table->table != NULL && knows_columns(table, &operation->read);
    default:
        return true;
    }
}

/* ---- long values ---- */

#define FILLER_BYTES 1000
#define LONG_BYTES   (MODEL_BYTES + FILLER_BYTES)

/* A number stays one. */
static petal_slice
lengthen(const struct engine *engine, const struct model_bytes *value, uint8_t bytes[LONG_BYTES])
{
    if (!engine->long_values || value->size == 8)
        return model_slice(value);
    memcpy(bytes, value->bytes, value->size);
    memset(bytes + value->size, 1, FILLER_BYTES);
    return slice_make(bytes, value->size + FILLER_BYTES);
}

/* What was appended to stands on both sides of its filler. */
static petal_slice
shorten(petal_slice value, struct model_bytes *bytes)
{
    size_t fillers = value.size / FILLER_BYTES * FILLER_BYTES;

    bytes->size = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (slice_bytes(value)[i] != 1 && bytes->size < MODEL_BYTES)
            bytes->bytes[bytes->size++] = slice_bytes(value)[i];
    }
    return bytes->size + fillers == value.size ? model_slice(bytes) : value;
}

void
engine_add_cell(struct model_text *text, const petal_cell *cell)
{
    petal_cell shown = *cell;
    struct model_bytes bytes;

    if (cell->value.size >= FILLER_BYTES)
        shown.value = shorten(cell->value, &bytes);
    model_text_add_cell(text, &shown);
}

static void
add_result(struct model_text *text, const petal_result *result)
{
    for (size_t i = 0; i < petal_result_count(result); i++)
        engine_add_cell(text, petal_result_cell(result, i));
}

/* ---- writes ---- */

static enum petal_status
write_single(struct engine *engine, const struct operation *operation, petal_error *error)
{
    const struct model_item *item = operation->items;
    petal_family *family = engine->tables[item->table].families[item->family];
    petal_slice row = model_slice(&item->row), qualifier = model_slice(&item->qualifier);
    petal_write_options options = {.has_ttl = item->has_ttl,
                                   .ttl_ms = item->has_ttl ? item->ttl_ms : 0,
                                   .durability = operation->durability,
                                   .result = engine->result};
    uint8_t bytes[LONG_BYTES];

    switch (item->kind) {
    case MODEL_PUT:
        return petal_put(family, row, qualifier, item->timestamp,
                         lengthen(engine, &item->value, bytes), &options, error);
    case MODEL_DELETE:
        return petal_delete(family, row, qualifier, item->timestamp, item->type, &options, error);
    case MODEL_APPEND:
        return petal_append(family, row, qualifier, model_slice(&item->value), &options, error);
    case MODEL_INCREMENT:
        return petal_increment(family, row, qualifier, item->amount, &options, NULL, error);
    }
    return PETAL_INVALID;
}

static enum petal_status
add_to_batch(struct engine *engine, petal_batch *batch, const struct model_item *item,
             petal_error *error)
{
    petal_family *family = engine->tables[item->table].families[item->family];
    petal_slice row = model_slice(&item->row), qualifier = model_slice(&item->qualifier);
    petal_mutation_options options = {.has_ttl = item->has_ttl,
                                      .ttl_ms = item->has_ttl ? item->ttl_ms : 0,
                                      .has_time_range = item->has_time_range,
                                      .time_min = item->has_time_range ? item->time_min : 0,
                                      .time_limit = item->has_time_range ? item->time_limit : 0,
                                      .no_results = item->no_results};
    uint8_t bytes[LONG_BYTES];
    enum petal_status status = PETAL_OK;

    if (item->begins_mutation)
        status = petal_batch_mutation(batch, &options, error);
    if (status != PETAL_OK)
        return status;
    switch (item->kind) {
    case MODEL_PUT:
        return petal_batch_put(batch, family, row, qualifier, item->timestamp,
                               lengthen(engine, &item->value, bytes), error);
    case MODEL_DELETE:
        return petal_batch_delete(batch, family, row, qualifier, item->timestamp, item->type,
                                  error);
    case MODEL_APPEND:
        return petal_batch_append(batch, family, row, qualifier, model_slice(&item->value), error);
    case MODEL_INCREMENT:
        return petal_batch_increment(batch, family, row, qualifier, item->amount, error);
    }
    return PETAL_INVALID;
}

static enum petal_status
change_row(struct engine *engine, const struct operation *operation, petal_batch *batch,
           bool *applied, petal_error *error)
{
    const struct model_condition *wanted = &operation->condition;
    const struct engine_table *table = &engine->tables[operation->table];
    petal_write_options options = {.durability = operation->durability, .result = engine->result};
    petal_condition condition = {.family = table->families[wanted->family],
                                 .qualifier = model_slice(&wanted->qualifier),
                                 .absent = wanted->absent,
                                 .compare = wanted->compare,
                                 .value = model_slice(&wanted->value),
                                 .has_time_range = wanted->has_time_range,
                                 .time_min = wanted->time_min,
                                 .time_limit = wanted->time_limit};

    return petal_mutate_row(table->table, model_slice(&operation->items[0].row),
                            operation->has_condition ? &condition : NULL, batch, &options, applied,
                            error);
}

void
engine_write(struct engine *engine, const struct operation *operation, struct model_text *text)
{
    petal_write_options options = {.durability = operation->durability, .result = engine->result};
    bool applied = true;
    petal_batch *batch = NULL;
    petal_error error;
    enum petal_status status;

    if (operation->single) {
        status = write_single(engine, operation, &error);
    } else {
        status = petal_batch_new(engine->db, &batch, &error);
        for (size_t i = 0; status == PETAL_OK && i < operation->item_count; i++)
            status = add_to_batch(engine, batch, &operation->items[i], &error);
        if (status == PETAL_OK && operation->changes_row)
            status = change_row(engine, operation, batch, &applied, &error);
        else if (status == PETAL_OK)
            status = petal_write(engine->db, batch, &options, &error);
        petal_batch_free(batch);
    }
    engine_add_status(text, status, &error);
    if (status == PETAL_OK && !applied)
        model_text_add(text, "condition does not hold\n");
    if (status == PETAL_OK)
        add_result(text, engine->result);
}

/* ---- reads ---- */

struct read_memory {
    petal_column columns[4];
    petal_family_time_range ranges[MODEL_FAMILIES];
};

static void
make_read(struct engine *engine, const struct operation *operation, unsigned without,
          petal_read_options *options, struct read_memory *memory)
{
    const struct model_read *read = &operation->read;
    const struct engine_table *table = &engine->tables[operation->table];

    *options = (petal_read_options){.columns = memory->columns,
                                    .column_count = read->column_count,
                                    .has_time_range = read->has_time_range,
                                    .time_min = read->has_time_range ? read->time_min : 0,
                                    .time_limit = read->has_time_range ? read->time_limit : 0,
                                    .without = without,
                                    .versions = read->versions,
                                    .family_time_ranges = memory->ranges,
                                    .family_cell_limit = read->family_cell_limit,
                                    .family_cell_offset = read->family_cell_offset,
                                    .snapshot = engine->snapshots[operation->snapshot]};
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
}

void
engine_get(struct engine *engine, const struct operation *operation, unsigned without,
           struct model_text *text)
{
    struct read_memory memory;
    petal_read_options options;
    petal_error error;
    enum petal_status status;

    make_read(engine, operation, without, &options, &memory);
    status = petal_get(engine->tables[operation->table].table, model_slice(&operation->rows[0]),
                       &options, engine->result, &error);
    engine_add_status(text, status, &error);
    if (status == PETAL_OK)
        add_result(text, engine->result);
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
    make_read(engine, operation, without, &options, &memory);
    status = petal_multi_get(engine->tables[operation->table].table, rows, OPERATION_ROWS, &options,
                             results, &error);
    engine_add_status(text, status, &error);
    for (size_t i = 0; status == PETAL_OK && i < OPERATION_ROWS; i++) {
        model_text_add(text, "result\n");
        add_result(text, results[i]);
    }
}

/* `times` 0: to the end. */
static enum petal_status
read_rows(struct engine *engine, petal_cursor *cursor, size_t times, struct model_text *text,
          petal_error *error)
{
    for (size_t i = 0; times == 0 || i < times; i++) {
        enum petal_status status = petal_cursor_next_row(cursor, engine->result, error);

        if (status != PETAL_OK || petal_result_count(engine->result) == 0)
            return status;
        model_text_add(text, "result\n");
        add_result(text, engine->result);
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

        if (i % 4 == 0) {
            status = petal_cursor_next(cursor, &cells, error);
            count = cells != NULL;
        } else {
            status =
                petal_cursor_next_many(cursor, times == 0 ? 6 : times - i, &cells, &count, error);
        }
        if (status != PETAL_OK || count == 0)
            return status;
        for (size_t k = 0; k < count; k++)
            engine_add_cell(text, &cells[k]);
    }
    return PETAL_OK;
}

static petal_filter_argument
bytes_argument(petal_slice bytes)
{
    return (petal_filter_argument){.kind = PETAL_FILTER_BYTES, .bytes = bytes};
}

/* NULL: none. */
static enum petal_status
make_filter(struct engine *engine, const struct model_filter *wanted, petal_filter **filter,
            petal_error *error)
{
    static const petal_filter_argument inclusive = {.kind = PETAL_FILTER_BOOLEAN, .number = 1};
    petal_slice bytes = model_slice(&wanted->bytes);
    uint8_t binary[7 + MODEL_BYTES] = "binary:", fuzzy[2] = {0, wanted->bytes.bytes[0]};
    petal_filter_argument compare[] = {
        {.kind = PETAL_FILTER_COMPARE,
         .number = wanted->kind == MODEL_FILTER_SKIP ? PETAL_NOT_EQUAL : PETAL_EQUAL},
        bytes_argument(slice_make(binary, 7 + bytes.size))};
    petal_filter_argument prefix = bytes_argument(bytes);
    petal_filter_argument fuzzy_row[] = {bytes_argument(slice_make(fuzzy, 2)),
                                         bytes_argument(slice_make("\1\0", 2))};
    petal_filter_argument ranges[] = {bytes_argument(bytes),
                                      inclusive,
                                      bytes_argument(bytes),
                                      inclusive,
                                      bytes_argument(model_slice(&wanted->more)),
                                      inclusive,
                                      bytes_argument(slice_make(NULL, 0)),
                                      inclusive};
    petal_filter *member;
    enum petal_status status;

    memcpy(binary + 7, wanted->bytes.bytes, bytes.size);
    *filter = NULL;
    switch (wanted->kind) {
    case MODEL_FILTER_NONE:
        return PETAL_OK;
    case MODEL_FILTER_COLUMN_PREFIX:
        return petal_filter_make(engine->db, "ColumnPrefixFilter", &prefix, 1, filter, error);
    case MODEL_FILTER_FAMILY:
        return petal_filter_make(engine->db, "FamilyFilter", compare, 2, filter, error);
    case MODEL_FILTER_FIRST_KEY:
        return petal_filter_make(engine->db, "FirstKeyOnlyFilter", NULL, 0, filter, error);
    case MODEL_FILTER_ROW_RANGES:
        return petal_filter_make(engine->db, "MultiRowRangeFilter", ranges, 8, filter, error);
    case MODEL_FILTER_FUZZY_ROW:
        return petal_filter_make(engine->db, "FuzzyRowFilter", fuzzy_row, 2, filter, error);
    case MODEL_FILTER_SKIP:
        break;
    }
    status = petal_filter_make(engine->db, "QualifierFilter", compare, 2, &member, error);
    if (status != PETAL_OK)
        return status;
    status = petal_filter_combine(engine->db, PETAL_FILTER_SKIP, &member, 1, filter, error);
    petal_filter_free(member);
    return status;
}

static enum petal_status
open_cursor(struct engine *engine, const struct operation *operation, unsigned without,
            petal_cursor **cursor, petal_error *error)
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
    petal_filter *filter;
    enum petal_status status;

    *cursor = NULL;
    make_read(engine, operation, without, &options.read, &memory);
    status = make_filter(engine, &operation->read.filter, &filter, error);
    options.read.filter = filter;
    if (status == PETAL_OK)
        status = petal_cursor_open(engine->tables[operation->table].table, &options, cursor, error);
    petal_filter_free(filter);
    return status;
}

void
engine_scan(struct engine *engine, const struct operation *operation, unsigned without,
            struct model_text *text)
{
    petal_cursor *cursor;
    petal_error error;
    enum petal_status status = open_cursor(engine, operation, without, &cursor, &error);

    if (status == PETAL_OK)
        status = operation->by_rows ? read_rows(engine, cursor, 0, text, &error)
                                    : read_cells(cursor, 0, text, &error);
    petal_cursor_close(cursor);
    engine_add_status(text, status, &error);
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
    engine_add_status(text, open_cursor(engine, operation, without, cursor, &error), &error);
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
