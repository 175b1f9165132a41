/* engine_transaction.c -- the transaction of the lists as calls of the engine; see
 * tests/model/run.h. */
#include "tests/model/run.h"

enum petal_status
engine_transaction_write(struct engine *engine, const struct operation *operation,
                         petal_error *error)
{
    petal_transaction *transaction = engine->transaction;
    const struct model_item *item = operation->items;
    const struct engine_table *table = &engine->tables[operation->table];
    petal_family *family = table->families[item->family];
    petal_slice row = model_slice(&item->row), qualifier = model_slice(&item->qualifier);
    petal_mutation_options options = {.has_ttl = item->has_ttl,
                                      .ttl_ms = item->has_ttl ? item->ttl_ms : 0};
    uint8_t bytes[ENGINE_LONG_BYTES];

    if (operation->kind == OPERATION_DELETE_ROWS)
        return petal_transaction_delete_row(
            transaction, table->table, model_slice(&operation->rows[0]), item->timestamp, error);
    switch (item->kind) {
    case MODEL_PUT:
        return petal_transaction_put(transaction, family, row, qualifier, item->timestamp,
                                     engine_lengthen(engine, &item->value, bytes),
                                     item->has_ttl ? &options : NULL, error);
    case MODEL_DELETE:
        return petal_transaction_delete(transaction, family, row, qualifier, item->timestamp,
                                        item->type, error);
    case MODEL_APPEND:
        return petal_transaction_append(transaction, family, row, qualifier,
                                        model_slice(&item->value), error);
    case MODEL_INCREMENT:
        return petal_transaction_increment(transaction, family, row, qualifier, item->amount, NULL,
                                           error);
    }
    return PETAL_INVALID;
}

void
engine_use_transaction(struct engine *engine, const struct operation *operation,
                       struct model_text *text)
{
    petal_transaction_options options = {.durability = operation->durability};
    petal_transaction *transaction = engine->transaction;
    petal_error error;
    enum petal_status status = PETAL_OK;

    if (operation->kind != OPERATION_BEGIN && transaction == NULL) {
        engine_add_status(text, PETAL_NOT_FOUND, NULL);
        return;
    }
    engine->transaction = NULL;
    if (operation->kind == OPERATION_COMMIT)
        status = petal_transaction_commit(transaction, &error);
    else
        petal_transaction_abort(transaction);
    if (operation->kind == OPERATION_BEGIN)
        status = petal_transaction_begin(engine->db, &options, &engine->transaction, &error);
    engine_add_status(text, status, &error);
}
