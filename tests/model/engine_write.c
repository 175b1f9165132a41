/* engine_write.c -- writes of the lists as calls of the engine; see tests/model/run.h. */
#include "tests/model/run.h"

#include "base/slice.h"

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
    uint8_t bytes[ENGINE_LONG_BYTES];

    if (operation->in_transaction)
        return engine_transaction_write(engine, operation, error);
    switch (item->kind) {
    case MODEL_PUT:
        return petal_put(family, row, qualifier, item->timestamp,
                         engine_lengthen(engine, &item->value, bytes), &options, error);
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
    uint8_t bytes[ENGINE_LONG_BYTES];
    enum petal_status status = PETAL_OK;

    if (item->begins_mutation)
        status = petal_batch_mutation(batch, &options, error);
    if (status != PETAL_OK)
        return status;
    switch (item->kind) {
    case MODEL_PUT:
        return petal_batch_put(batch, family, row, qualifier, item->timestamp,
                               engine_lengthen(engine, &item->value, bytes), error);
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

/* Of a batch that had something else in it before. */
static enum petal_status
fill_batch(struct engine *engine, const struct operation *operation, petal_batch **batch,
           petal_error *error)
{
    enum petal_status status = petal_batch_new(engine->db, batch, error);

    if (status == PETAL_OK)
        status = add_to_batch(engine, *batch, &operation->items[operation->item_count - 1], error);
    if (status == PETAL_OK)
        petal_batch_clear(*batch);
    for (size_t i = 0; status == PETAL_OK && i < operation->item_count; i++)
        status = add_to_batch(engine, *batch, &operation->items[i], error);
    if (status == PETAL_OK && petal_batch_count(*batch) != operation->item_count) {
        *error = (petal_error){.status = PETAL_CORRUPT, .text = "the batch has other cells"};
        return PETAL_CORRUPT;
    }
    return status;
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
                                 .compare_empty = wanted->compare_empty,
                                 .has_time_range = wanted->has_time_range,
                                 .time_min = wanted->time_min,
                                 .time_limit = wanted->time_limit};
    petal_filter *filter;
    enum petal_status status = engine_make_filter(engine->db, &wanted->filter, &filter, error);

    if (!wanted->absent)
        condition.value = model_slice(&wanted->value);
    if (filter != NULL)
        condition = (petal_condition){.filter = filter,
                                      .has_time_range = wanted->has_time_range,
                                      .time_min = wanted->time_min,
                                      .time_limit = wanted->time_limit};
    if (status == PETAL_OK)
        status = petal_mutate_row(table->table, model_slice(&operation->items[0].row),
                                  operation->has_condition ? &condition : NULL, batch, &options,
                                  applied, error);
    petal_filter_free(filter);
    return status;
}

static enum petal_status
load(struct engine *engine, const struct operation *operation, petal_error *error)
{
    const struct engine_table *table = &engine->tables[operation->table];
    uint8_t bytes[ENGINE_LONG_BYTES];
    petal_bulk_options options = {.place = operation->below ? PETAL_BULK_BELOW : PETAL_BULK_ABOVE};
    petal_bulk *bulk;
    enum petal_status status = petal_bulk_begin(table->table, &options, &bulk, error);

    for (size_t i = 0; status == PETAL_OK && i < operation->item_count; i++) {
        const struct model_item *item = &operation->items[i];
        petal_cell cell = {.row = model_slice(&item->row),
                           .qualifier = model_slice(&item->qualifier),
                           .timestamp = item->timestamp,
                           .type = item->kind == MODEL_PUT ? PETAL_PUT : item->type,
                           .has_ttl = item->has_ttl,
                           .ttl_ms = item->has_ttl ? item->ttl_ms : 0};

        if (item->kind == MODEL_PUT)
            cell.value = engine_lengthen(engine, &item->value, bytes);
        status = petal_bulk_add(bulk, table->families[item->family], &cell, error);
    }
    if (status == PETAL_OK)
        status = petal_bulk_commit(bulk, error);
    petal_bulk_free(bulk);
    return status;
}

void
engine_write(struct engine *engine, const struct operation *operation, struct model_text *text)
{
    petal_write_options options = {.durability = operation->durability, .result = engine->result};
    bool applied = true;
    petal_batch *batch = NULL;
    petal_error error;
    enum petal_status status;

    if (operation->bulk) {
        status = load(engine, operation, &error);
        engine_add_status(text, status, &error);
        return;
    }
    if (operation->single) {
        status = write_single(engine, operation, &error);
    } else {
        status = fill_batch(engine, operation, &batch, &error);
        if (status == PETAL_OK && operation->changes_row)
            status = change_row(engine, operation, batch, &applied, &error);
        else if (status == PETAL_OK)
            status = petal_write(engine->db, batch, &options, &error);
        petal_batch_free(batch);
    }
    engine_add_status(text, status, &error);
    if (status == PETAL_OK && !applied)
        model_text_add(text, "condition does not hold\n");
    if (status == PETAL_OK && !operation->in_transaction)
        engine_add_result(text, engine->result);
}
