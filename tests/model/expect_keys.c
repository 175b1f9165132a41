/* expect_keys.c -- what the model says to operations on key-value tables, and to deletions of whole
 * rows; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

#define MOST_ROWS 64

/* The family of a table that has one. */
static unsigned
only_family(const struct model_table *table)
{
    unsigned family = 0;

    while (table->content.families[family].absent)
        family++;
    return family;
}

static bool
is_within(const struct model_cell *cell, petal_slice from, petal_slice to, petal_slice prefix)
{
    petal_slice row = model_slice(&cell->row);

    return slice_compare(row, from) >= 0 && (to.size == 0 || slice_compare(row, to) < 0) &&
           row.size >= prefix.size && slice_compare(slice_make(row.data, prefix.size), prefix) == 0;
}

/* ---- keys and values ---- */

/* False: the engine must not be asked. */
static bool
expect_put(struct expectation *expectation, const struct operation *operation, unsigned family,
           struct model_text *text)
{
    struct model_database *database = &expectation->database;
    struct model_condition condition = operation->condition;
    struct model_item item = operation->items[0];
    struct model_results results;
    const struct model_cell *judged = NULL;
    bool unsure;
    enum petal_status status;

    condition.family = item.family = family;
    item.of_keys = true;
    if (operation->way >= WAY_IF_ABSENT &&
        !model_condition_holds(&database->tables[item.table].content, &condition, &judged)) {
        if (model_database_check_items(database, &item, 1) != PETAL_OK)
            return false;
        engine_add_status(text, PETAL_OK, NULL);
        model_text_add(text, "condition does not hold\n");
        return true;
    }
    status = model_database_write(database, &item, 1, judged, &results, &unsure);
    engine_add_status(text, status, NULL);
    return !unsure;
}

static void
add_pair(struct model_text *text, const struct model_cell *cell)
{
    petal_cell shown = {
        .row = model_slice(&cell->row), .value = model_slice(&cell->value), .type = PETAL_PUT};

    model_text_add_cell(text, &shown);
}

static void
expect_pairs(struct expectation *expectation, const struct operation *operation,
             const struct model *content, const struct model_read *read, struct model_text *text)
{
    const struct model_scan *range = &operation->scan;
    struct model_scan scan = {.reversed = range->reversed};
    struct model_answer *answer = &expectation->answer;

    answer->count = 0;
    model_scan(content, read, &scan, answer);
    for (size_t i = 0; i < answer->count; i++) {
        const struct model_cell *cell = answer->cells[i];
        int order = slice_compare(model_slice(&cell->row), model_slice(&operation->rows[0]));

        if (is_within(cell, model_slice(&range->start_row), model_slice(&range->stop_row),
                      model_slice(&range->prefix)) &&
            (operation->move_count == 0 || (range->reversed ? order <= 0 : order >= 0)))
            add_pair(text, cell);
    }
}

/* Of a table of one family that is there, for it would be made else. */
bool
expect_key_value(struct expectation *expectation, const struct operation *operation,
                 struct model_text *text)
{
    const struct model_table *table = &expectation->database.tables[operation->items[0].table];
    struct model_read read = {.column_count = 1, .read_point = UINT64_MAX};
    size_t keys = operation->kind == OPERATION_GET_VALUES ? OPERATION_ROWS : 1;

    if (!table->exists)
        return false;
    if (model_table_family_count(table) != 1) {
        engine_add_status(text, PETAL_INVALID, NULL);
        return true;
    }
    read.columns[0] = (struct model_column){.family = only_family(table)};
    if (operation->kind == OPERATION_PUT_VALUE)
        return expect_put(expectation, operation, read.columns[0].family, text);
    engine_add_status(text, PETAL_OK, NULL);
    if (operation->kind == OPERATION_SCAN_VALUES) {
        expect_pairs(expectation, operation, &table->content, &read, text);
        return true;
    }
    for (size_t i = 0; i < keys; i++) {
        const struct model_bytes *key = keys > 1 ? &operation->rows[i] : &operation->items[0].row;

        expectation->answer.count = 0;
        model_get(&table->content, &read, model_slice(key), &expectation->answer);
        for (size_t k = 0; k < expectation->answer.count; k++)
            add_pair(text, expectation->answer.cells[k]);
    }
    return true;
}

/* ---- rows that are deleted ---- */

/* In one row, as one batch. */
static enum petal_status
delete_row(struct model_database *database, const struct operation *operation,
           const struct model_bytes *row, bool *unsure)
{
    const struct model_table *table = &database->tables[operation->table];
    struct model_item items[MODEL_FAMILIES];
    struct model_results results;
    size_t count = 0;

    *unsure = false;
    if (!table->exists)
        return PETAL_NOT_FOUND;
    for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
        if (!table->content.families[family].absent)
            items[count++] = (struct model_item){.kind = MODEL_DELETE,
                                                 .type = operation->of_keys ? PETAL_DELETE_COLUMN
                                                                            : PETAL_DELETE_FAMILY,
                                                 .table = operation->table,
                                                 .family = family,
                                                 .of_keys = operation->of_keys,
                                                 .row = *row,
                                                 .timestamp = operation->items[0].timestamp,
                                                 .begins_mutation = true};
    }
    return model_database_write(database, items, count, NULL, &results, unsure);
}

/* The rows of the range that the read shows, each once. */
static size_t
find_rows(struct expectation *expectation, const struct operation *operation,
          struct model_bytes rows[MOST_ROWS])
{
    const struct model_database *database = &expectation->database;
    const struct model_table *table = &database->tables[operation->table];
    struct model_read read = {.read_point =
                                  model_database_read_point(database, operation->snapshot)};
    struct model_scan scan = {.reversed = false};
    struct model_answer *answer = &expectation->answer;
    size_t count = 0;

    if (operation->of_keys) {
        read.columns[0] = (struct model_column){.family = only_family(table)};
        read.column_count = 1;
    }
    answer->count = 0;
    model_scan(&table->content, &read, &scan, answer);
    for (size_t i = 0; i < answer->count && count < MOST_ROWS; i++) {
        const struct model_cell *cell = answer->cells[i];

        if (is_within(cell, model_slice(&operation->rows[0]), model_slice(&operation->rows[1]),
                      model_slice(&operation->scan.prefix)) &&
            (count == 0 || !slice_equal(model_slice(&cell->row), model_slice(&rows[count - 1]))))
            rows[count++] = cell->row;
    }
    return count;
}

bool
expect_deleted_rows(struct expectation *expectation, const struct operation *operation,
                    struct model_text *text)
{
    struct model_database *database = &expectation->database;
    const struct model_table *table = &database->tables[operation->table];
    struct model_bytes rows[MOST_ROWS];
    size_t count = 1;
    bool unsure = false;
    enum petal_status status = PETAL_OK;

    if (operation->of_keys && !table->exists)
        return false;
    if (operation->of_keys && model_table_family_count(table) != 1) {
        engine_add_status(text, PETAL_INVALID, NULL);
        return true;
    }
    if (!table->exists)
        status = PETAL_NOT_FOUND;
    else if (operation->one_row)
        rows[0] = operation->rows[0];
    else
        count = find_rows(expectation, operation, rows);
    for (size_t i = 0; status == PETAL_OK && !unsure && i < count; i++)
        status = delete_row(database, operation, &rows[i], &unsure);
    engine_add_status(text, status, NULL);
    if (status == PETAL_OK) {
        model_text_add_number(text, (int64_t)count);
        model_text_add(text, " rows\n");
    }
    return !unsure;
}
