/* expect.c -- what the model says to each operation; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

#include <stdlib.h>

/* ---- writes ---- */

static void
add_status(struct model_text *text, enum petal_status status)
{
    engine_add_status(text, status, NULL);
}

/* False: which of two reasons is told? */
static bool
expect_load(struct model_database *database, const struct operation *operation,
            struct model_text *text)
{
    enum petal_status status = model_database_load(database, operation->table, operation->items,
                                                   operation->item_count, operation->below);

    for (size_t i = 0; i < operation->item_count; i++) {
        enum petal_status own = model_database_check_items(database, &operation->items[i], 1);

        if (own != PETAL_OK && own != status)
            return false;
    }
    add_status(text, status);
    return true;
}

/* False: the engine must not be asked. */
static bool
expect_write(struct expectation *expectation, const struct operation *operation,
             struct model_text *text)
{
    struct model_database *database = &expectation->database;
    struct model_results results = {.count = 0};
    const struct model_cell *judged = NULL;
    bool conditional = operation->changes_row && operation->has_condition, holds = true, unsure;
    enum petal_status status = PETAL_OK;

    if (operation->bulk)
        return expect_load(database, operation, text);
    if (conditional &&
        (operation->condition.filter.kind != MODEL_FILTER_NONE
             ? !database->tables[operation->table].exists
             : !model_table_has_family(database, operation->table, operation->condition.family)))
        status = PETAL_NOT_FOUND;
    if (status == PETAL_OK && conditional)
        holds = model_condition_holds(&database->tables[operation->table].content,
                                      &operation->condition, &judged);
    /* What the batch names is looked at when it is written, if there are handles. */
    if (!holds &&
        model_database_check_items(database, operation->items, operation->item_count) != PETAL_OK)
        return false;
    if (status == PETAL_OK && holds) {
        status = model_database_write(database, operation->items, operation->item_count, judged,
                                      &results, &unsure);
        if (unsure)
            return false;
    }
    add_status(text, status);
    if (!holds)
        model_text_add(text, "condition does not hold\n");
    for (size_t i = 0; i < results.count; i++)
        model_text_add_model_cell(text, &results.cells[i]);
    return true;
}

/* ---- reads ---- */

/* Append the cells, in pieces of a row as a cursor gives them. */
static void
add_pieces(const struct model_answer *answer, const struct operation *operation,
           struct model_text *text)
{
    uint64_t piece = 0;

    for (size_t i = 0; i < answer->count; i++) {
        bool new_row = i == 0 || !slice_equal(model_slice(&answer->cells[i]->row),
                                              model_slice(&answer->cells[i - 1]->row));

        piece = new_row || piece == operation->batch ? 1 : piece + 1;
        if (operation->by_rows && (new_row || (piece == 1 && operation->batch > 0)))
            model_text_add(text, "result\n");
        model_text_add_model_cell(text, answer->cells[i]);
    }
}

bool
expect_is_there(const struct model_database *database, unsigned table,
                const struct model_read *read)
{
    for (size_t i = 0; i < read->column_count; i++) {
        if (!model_table_has_family(database, table, read->columns[i].family))
            return false;
    }
    return database->tables[table].exists;
}

bool
expect_cells(const struct model *content, const struct operation *operation, uint64_t read_point,
             struct model_answer *answer, struct model_text *text)
{
    struct model_read read = operation->read;
    size_t rows = operation->kind == OPERATION_GET_ROWS ? OPERATION_ROWS : 1;

    read.read_point = read_point;
    answer->count = 0;
    if (operation->kind == OPERATION_SCAN) {
        model_scan(content, &read, &operation->scan, answer);
        add_pieces(answer, operation, text);
        add_status(text, PETAL_OK);
        return true;
    }
    add_status(text, read.versions < 0 ? PETAL_INVALID : PETAL_OK);
    for (size_t row = 0; read.versions >= 0 && row < rows; row++) {
        answer->count = 0;
        model_get(content, &read, model_slice(&operation->rows[row]), answer);
        if (operation->kind == OPERATION_GET_ROWS)
            model_text_add(text, "result\n");
        for (size_t i = 0; i < answer->count; i++)
            model_text_add_model_cell(text, answer->cells[i]);
    }
    return read.versions >= 0;
}

static void
expect_read(struct expectation *expectation, const struct operation *operation,
            struct model_text *text)
{
    const struct model_database *database = &expectation->database;

    if (expect_is_there(database, operation->table, &operation->read))
        (void)expect_cells(&database->tables[operation->table].content, operation,
                           model_database_read_point(database, operation->snapshot),
                           &expectation->answer, text);
    else
        add_status(text, PETAL_NOT_FOUND);
}

static void
close_cursors(struct expectation *expectation)
{
    for (size_t i = 0; i < OPERATION_CURSORS; i++)
        model_cursor_close(&expectation->cursors[i]);
}

/* `times` 0: to the end. */
static void
read_cells(struct model_cursor *cursor, size_t times, struct model_text *text)
{
    for (size_t i = 0; times == 0 || i < times; i++) {
        const struct model_cell *cell = model_cursor_next(cursor);

        if (cell == NULL)
            return;
        model_text_add_model_cell(text, cell);
    }
}

static void
read_rows(struct model_cursor *cursor, uint64_t batch, size_t times, struct model_text *text)
{
    for (size_t i = 0; times == 0 || i < times; i++) {
        size_t count;
        const struct model_cell **cells = model_cursor_next_row(cursor, batch, &count);

        if (count == 0)
            return;
        model_text_add(text, "result\n");
        for (size_t k = 0; k < count; k++)
            model_text_add_model_cell(text, cells[k]);
    }
}

static void
move_cursor(struct model_cursor *cursor, uint64_t batch, const struct operation *operation,
            struct model_text *text)
{
    for (size_t i = 0; cursor->open && i < operation->move_count; i++) {
        const struct operation_move *move = &operation->moves[i];

        if (move->kind == MOVE_SEEK) {
            struct model_place place = move->place;

            place.in_row = place.in_row && !cursor->model.families[place.family].absent;
            model_cursor_seek(cursor, &place);
        } else if (move->kind == MOVE_NEXT_ROW)
            read_rows(cursor, batch, move->times, text);
        else
            read_cells(cursor, move->times, text);
    }
}

void
expect_cursor(const struct model *model, struct model_cursor *cursor, const struct operation **scan,
              const struct operation *operation, uint64_t read_point, struct model_text *text)
{
    struct model_read read = operation->read;

    if (operation->kind == OPERATION_OPEN_CURSOR) {
        read.read_point = read_point;
        model_cursor_open(cursor, model, &read, &operation->scan);
        *scan = operation;
    } else if (operation->kind == OPERATION_MOVE_CURSOR) {
        move_cursor(cursor, cursor->open ? (*scan)->batch : 0, operation, text);
    } else if (cursor->open) {
        if ((*scan)->by_rows)
            read_rows(cursor, (*scan)->batch, 0, text);
        else
            read_cells(cursor, 0, text);
        model_cursor_close(cursor);
    }
    add_status(text, PETAL_OK);
}

static void
expect_on_cursor(struct expectation *expectation, const struct operation *operation,
                 struct model_text *text)
{
    const struct model_database *database = &expectation->database;
    struct model_cursor *cursor = &expectation->cursors[operation->cursor];

    if (operation->kind == OPERATION_OPEN_CURSOR &&
        !expect_is_there(database, operation->table, &operation->read)) {
        model_cursor_close(cursor);
        add_status(text, PETAL_NOT_FOUND);
        return;
    }
    expect_cursor(&database->tables[operation->table].content, cursor,
                  &expectation->cursor_scans[operation->cursor], operation,
                  model_database_read_point(database, operation->snapshot), text);
}

/* ---- all that there is ---- */

static void
dump_table(const struct model_database *database, unsigned table, bool raw,
           struct model_answer *answer, struct model_text *text)
{
    struct model_read read = {.versions = PETAL_ALL_VERSIONS, .read_point = UINT64_MAX, .raw = raw};
    struct model_scan scan = {.reversed = false};

    answer->count = 0;
    model_scan(&database->tables[table].content, &read, &scan, answer);
    for (size_t i = 0; i < answer->count; i++)
        model_text_add_model_cell(text, answer->cells[i]);
}

void
expect_dump(const struct model_database *database, enum dump_depth depth, struct model_text *text)
{
    struct model_answer answer = {0};

    for (unsigned table = 0; table < MODEL_TABLES; table++) {
        const struct model_table *shown = &database->tables[table];

        if (!shown->exists)
            continue;
        model_text_add(text, "table ");
        model_text_add_bytes(text, model_table_name(table));
        model_text_add(text, shown->read_only ? " read-only " : " ");
        model_text_add_number(text, shown->durability);
        for (unsigned i = 0; i < MODEL_FAMILIES; i++) {
            if (!shown->content.families[i].absent)
                model_text_add_family(text, i, &shown->content.families[i]);
        }
        model_text_add(text, "\n");
        if (depth >= DUMP_VERSIONS)
            dump_table(database, table, false, &answer, text);
        if (depth >= DUMP_STORED)
            dump_table(database, table, true, &answer, text);
    }
    for (unsigned i = 0; i < MODEL_TABLE_SNAPSHOTS; i++) {
        if (!model_database_has_snapshot(database, i))
            continue;
        model_text_add(text, "snapshot ");
        model_text_add_bytes(text, model_table_snapshot_name(i));
        model_text_add(text, " of ");
        model_text_add_bytes(text, model_table_name(database->snapshots[i].table));
        model_text_add(text, "\n");
    }
    model_answer_free(&answer);
}

/* What was in memory is in files, in the copy as in the original. */
static void
expect_checkpoint(struct model_database *database, bool raw, struct model_text *text)
{
    model_database_flush(database, MODEL_TABLES);
    add_status(text, PETAL_OK);
    expect_dump(database, raw ? DUMP_STORED : DUMP_VERSIONS, text);
}

/* ---- operations ---- */

/* False: it is another operation. */
static bool
expect_table_change(struct model_database *database, const struct operation *operation,
                    struct model_text *text)
{
    switch (operation->kind) {
    case OPERATION_CREATE_TABLE:
        add_status(text, model_database_create(database, operation->table, &operation->schema));
        return true;
    case OPERATION_DROP_TABLE:
        add_status(text, model_database_drop(database, operation->table));
        return true;
    case OPERATION_TRUNCATE_TABLE:
        add_status(text, model_database_truncate(database, operation->table));
        return true;
    case OPERATION_ALTER_TABLE:
        add_status(text, model_database_alter(database, operation->table, &operation->schema));
        return true;
    case OPERATION_TAKE_TABLE_SNAPSHOT:
        add_status(text, model_database_take(database, operation->table, operation->table_snapshot,
                                             operation->skip_flush, operation->ttl_seconds));
        return true;
    case OPERATION_CLONE_TABLE:
        add_status(text,
                   model_database_clone(database, operation->table_snapshot, operation->table));
        return true;
    case OPERATION_RESTORE_TABLE:
        add_status(text, model_database_restore(database, operation->table_snapshot));
        return true;
    case OPERATION_DELETE_TABLE_SNAPSHOT:
        add_status(text, model_database_forget(database, operation->table_snapshot));
        return true;
    default:
        return false;
    }
}

static enum petal_status
expect_compaction(struct model_database *database, const struct operation *operation)
{
    struct model *content = &database->tables[operation->table].content;
    uint64_t oldest = model_database_oldest(database), newest = model_database_newest(database);

    if (!database->tables[operation->table].exists ||
        (operation->family < MODEL_FAMILIES &&
         !model_table_has_family(database, operation->table, operation->family)))
        return PETAL_NOT_FOUND;
    if (operation->run_count > 0) {
        model_compact_runs(content, operation->family, operation->first_run, operation->run_count,
                           oldest, newest);
        return PETAL_OK;
    }
    for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
        if (operation->family == family || operation->family == MODEL_FAMILIES)
            model_compact(content, family, oldest, newest);
    }
    return PETAL_OK;
}

static enum petal_status
expect_flush(struct model_database *database, const struct operation *operation)
{
    unsigned table = operation->whole_database ? MODEL_TABLES : operation->table;

    if (table < MODEL_TABLES && !database->tables[table].exists)
        return PETAL_NOT_FOUND;
    model_database_flush(database, table);
    return PETAL_OK;
}

/* Who opens what a dead process left, for reading, has in memory what that had there. */
static void
expect_restart(struct model_database *database, const struct operation *operation,
               struct model_text *text)
{
    if (operation->is_read_first && operation->kind == OPERATION_CRASH)
        expect_dump(database, DUMP_VERSIONS, text);
    model_database_restart(database);
    if (operation->is_read_first && operation->kind == OPERATION_REOPEN)
        expect_dump(database, DUMP_VERSIONS, text);
}

bool
expect_operation(struct expectation *expectation, const struct operation *operation,
                 struct model_text *text)
{
    struct model_database *database = &expectation->database;
    enum petal_status status = PETAL_OK;

    model_database_set_time(database, operation->now_ms);
    if (expect_table_change(database, operation, text))
        return true;
    if (operation->in_transaction)
        return expect_transaction(expectation, operation, text);
    switch (operation->kind) {
    case OPERATION_WRITE:
        return expect_write(expectation, operation, text);
    case OPERATION_REOPEN:
    case OPERATION_CRASH:
        close_cursors(expectation);
        expect_restart(database, operation, text);
        break;
    case OPERATION_BEGIN:
    case OPERATION_COMMIT:
    case OPERATION_ABORT:
        return expect_transaction(expectation, operation, text);
    case OPERATION_FLUSH:
        status = expect_flush(database, operation);
        break;
    case OPERATION_COMPACT:
        status = expect_compaction(database, operation);
        break;
    case OPERATION_TAKE_SNAPSHOT:
        model_database_hold(database, operation->snapshot);
        break;
    case OPERATION_FREE_SNAPSHOT:
        model_database_let_go(database, operation->snapshot);
        break;
    case OPERATION_PUT_VALUE:
    case OPERATION_GET_VALUE:
    case OPERATION_GET_VALUES:
    case OPERATION_SCAN_VALUES:
        return expect_key_value(expectation, operation, text);
    case OPERATION_DELETE_ROWS:
        return expect_deleted_rows(expectation, operation, text);
    case OPERATION_LOOK:
        model_database_expire(database);
        add_status(text, PETAL_OK);
        expect_dump(database, DUMP_SCHEMA, text);
        return true;
    case OPERATION_CHECKPOINT:
        expect_checkpoint(database, operation->read.raw, text);
        return true;
    case OPERATION_GET:
    case OPERATION_GET_ROWS:
    case OPERATION_SCAN:
        expect_read(expectation, operation, text);
        return true;
    default:
        expect_on_cursor(expectation, operation, text);
        return true;
    }
    add_status(text, status);
    return true;
}

/* ---- lists ---- */

void
expect_begin(struct expectation *expectation, const struct operation_list *list)
{
    *expectation = (struct expectation){.answer = {0}};
    model_database_init(&expectation->database);
    model_database_set_time(&expectation->database, 1000);
    for (unsigned table = 0; table < list->table_count; table++)
        (void)model_database_create(&expectation->database, table, &list->schemas[table]);
}

void
expect_end(struct expectation *expectation)
{
    close_cursors(expectation);
    model_answer_free(&expectation->answer);
    model_database_free(&expectation->database);
}

void
run_model(const struct operation_list *list, struct run_answers *answers)
{
    struct expectation expectation;
    struct model_text text = {0};

    expect_begin(&expectation, list);
    answers->count = list->count;
    answers->texts = test_allocate(list->count * sizeof *answers->texts);
    for (size_t i = 0; i < list->count; i++) {
        model_text_clear(&text);
        answers->texts[i] = expect_operation(&expectation, &list->operations[i], &text)
                                ? test_strdup(text.bytes)
                                : NULL;
    }
    model_text_free(&text);
    expect_end(&expectation);
}

void
run_answers_free(struct run_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        free(answers->texts[i]);
    free(answers->texts);
    *answers = (struct run_answers){0};
}
