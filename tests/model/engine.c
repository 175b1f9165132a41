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
                                        [PETAL_READ_ONLY] = "read-only\n",
                                        [PETAL_CONFLICT] = "conflict\n"};
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
    if (status == PETAL_OK && engine->receipt == NULL)
        status = petal_receipt_new(engine->db, &engine->receipt, error);
    for (size_t i = 0; status == PETAL_OK && i < OPERATION_ROWS - 1; i++) {
        if (engine->more[i] == NULL)
            status = petal_result_new(engine->db, &engine->more[i], error);
    }
    return status;
}

void
engine_detach(struct engine *engine)
{
    petal_transaction_abort(engine->transaction);
    for (unsigned i = 1; i <= MODEL_READ_POINTS; i++)
        petal_snapshot_free(engine->snapshots[i]);
    for (size_t i = 0; i < OPERATION_CURSORS; i++)
        petal_cursor_close(engine->cursors[i]);
    for (size_t i = 0; i < OPERATION_ROWS - 1; i++)
        petal_result_free(engine->more[i]);
    petal_result_free(engine->result);
    petal_receipt_free(engine->receipt);
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
        if (!operation->changes_row || !operation->has_condition)
            return true;
        return operation->condition.filter.kind != MODEL_FILTER_NONE
                   ? table->table != NULL
                   : table->families[operation->condition.family] != NULL;
    case OPERATION_FLUSH:
        return operation->whole_database || table->table != NULL;
    case OPERATION_COMPACT:
        return table->table != NULL &&
               (operation->family == MODEL_FAMILIES || table->families[operation->family] != NULL);
    case OPERATION_DELETE_ROWS:
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
