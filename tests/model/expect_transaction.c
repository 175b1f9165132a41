/* expect_transaction.c -- what the model says to the operations of a transaction; see
 * tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

/* What of its range a scan has read. */
static struct model_range
range_of_scan(const struct operation *operation, const struct model_answer *answer)
{
    bool filtered = operation->read.filter.kind != MODEL_FILTER_NONE;
    struct model_range range = {.table = operation->table, .scan = operation->scan};
    uint64_t rows = 0;

    for (size_t i = 0; i < answer->count; i++) {
        rows += i == 0 || !slice_equal(model_slice(&answer->cells[i]->row),
                                       model_slice(&answer->cells[i - 1]->row));
        range.last = answer->cells[i]->row;
    }
    range.is_cut = rows > 0 && rows == operation->scan.row_limit;
    range.may_be_more = operation->read.versions < 0 || (filtered && range.is_cut);
    return range;
}

static bool
note_ranges(struct expectation *expectation, const struct operation *operation)
{
    struct model_database *database = &expectation->database;
    size_t rows = operation->kind == OPERATION_GET_ROWS ? OPERATION_ROWS : 1;
    struct model_range range = range_of_scan(operation, &expectation->answer);

    if (operation->kind == OPERATION_SCAN)
        return model_transaction_read(database, &range);
    for (size_t i = 0; i < rows; i++) {
        range = (struct model_range){.table = operation->table,
                                     .scan = {.start_row = operation->rows[i],
                                              .stop_row = operation->rows[i],
                                              .stop_inclusive = true}};
        if (!model_transaction_read(database, &range))
            return false;
    }
    return true;
}

static bool
read_in_it(struct expectation *expectation, const struct operation *operation,
           struct model_text *text)
{
    struct model_database *database = &expectation->database;
    struct model seen[MODEL_TABLES];
    bool asked = true;

    if (!expect_is_there(database, operation->table, &operation->read)) {
        engine_add_status(text, PETAL_NOT_FOUND, NULL);
        return !database->tables[operation->table].exists; /* else: is the table used? */
    }
    model_transaction_see(database, seen);
    if (expect_cells(&seen[operation->table], operation, UINT64_MAX, &expectation->answer, text))
        asked = model_transaction_use(database, operation->table) &&
                note_ranges(expectation, operation);
    for (unsigned i = 0; i < MODEL_TABLES; i++)
        model_free(&seen[i]);
    return asked;
}

/* The markers of all families that there are. */
static size_t
items_of_deletion(const struct model_database *database, const struct operation *operation,
                  struct model_item items[MODEL_FAMILIES])
{
    size_t count = 0;

    for (unsigned family = 0; family < MODEL_FAMILIES; family++) {
        if (model_table_has_family(database, operation->table, family))
            items[count++] = (struct model_item){.kind = MODEL_DELETE,
                                                 .type = PETAL_DELETE_FAMILY,
                                                 .table = operation->table,
                                                 .family = family,
                                                 .row = operation->rows[0],
                                                 .timestamp = operation->items[0].timestamp};
    }
    return count;
}

static bool
write_in_it(struct model_database *database, const struct operation *operation,
            struct model_text *text)
{
    struct model_item items[MODEL_FAMILIES] = {operation->items[0]};
    enum petal_status status = PETAL_NOT_FOUND;
    size_t count = 1;
    bool asked = true;

    if (operation->kind == OPERATION_DELETE_ROWS)
        count = items_of_deletion(database, operation, items);
    if (count > 0)
        asked = model_transaction_write(database, items, count, &status);
    engine_add_status(text, status, NULL);
    return asked;
}

bool
expect_transaction(struct expectation *expectation, const struct operation *operation,
                   struct model_text *text)
{
    struct model_database *database = &expectation->database;
    enum petal_status status = PETAL_OK;
    bool unsure = false;

    if (operation->kind != OPERATION_BEGIN && !database->transaction.open) {
        engine_add_status(text, PETAL_NOT_FOUND, NULL);
        return true;
    }
    if (operation->in_transaction)
        return operation->kind >= OPERATION_GET ? read_in_it(expectation, operation, text)
                                                : write_in_it(database, operation, text);
    if (operation->kind == OPERATION_COMMIT)
        status = model_transaction_commit(database, &unsure);
    else if (operation->kind == OPERATION_BEGIN)
        unsure = !model_transaction_begin(database, operation->durability);
    else
        model_transaction_abort(database);
    engine_add_status(text, status, NULL);
    return !unsure;
}
