#include "tools/python/native/write.h"

#include <stdlib.h>

#include "tools/python/native/inside.h"
#include "tools/python/native/names.h"
#include "tools/python/native/table_inside.h"

/* One write, of any kind; the kind takes what it needs. */
struct change {
    petal_slice row, column, value;
    int64_t timestamp;
    petal_write_options options;
    int64_t amount, sum;
    py_part *to;                    /* a batch or a transaction; NULL: at once */
    table_operation *write;         /* into it, */
    petal_batch *batch;             /* which is this */
    petal_transaction *transaction; /* or this */
};

/* The column that a put or an increment names. */
static int
column_of(const struct target *target, const struct change *change, petal_family **family,
          petal_slice *qualifier, petal_error *error)
{
    bool has_qualifier;
    int status =
        column_find(target->table, change->column, family, qualifier, &has_qualifier, error);
    if (!status && !has_qualifier)
        status = fail(error, PETAL_INVALID, "a column is family:qualifier, and this has no colon");
    return status;
}

static int
put(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    petal_family *family;
    petal_slice qualifier;
    int status = column_of(target, change, &family, &qualifier, error);
    if (!status)
        status = (int)petal_put(family, change->row, qualifier, change->timestamp, change->value,
                                &change->options, error);
    return status;
}

int
py_put(py_table *table, const char *row, size_t row_size, const char *column, size_t column_size,
       int64_t timestamp, const char *value, size_t value_size, int durability,
       uint32_t deadline_ms, py_call *call)
{
    struct change change = {
        .row = {row, row_size},
        .column = {column, column_size},
        .value = {value, value_size},
        .timestamp = timestamp,
        .options = {.size = sizeof change.options,
                    .durability = (enum petal_durability)durability,
                    .deadline_ms = deadline_ms},
    };
    return table_run(table, put, &change, &call->error);
}

static int
increment(const struct target *target, void *argument, petal_error *error)
{
    struct change *change = argument;
    petal_family *family;
    petal_slice qualifier;
    int status = column_of(target, change, &family, &qualifier, error);
    if (!status && change->transaction)
        status = (int)petal_transaction_increment(change->transaction, family, change->row,
                                                  qualifier, change->amount, &change->sum, error);
    else if (!status)
        status = (int)petal_increment(family, change->row, qualifier, change->amount,
                                      &change->options, &change->sum, error);
    return status;
}

/* ---- batches and transactions ---- */

static void
close_batch(void *batch)
{
    petal_batch_free(batch);
}

const struct part_kind batch_kind = {"batch", false, close_batch};

int
py_batch_new(py_database *database, py_part **batch, petal_error *error)
{
    petal_batch *made;
    *batch = NULL;
    int status = database_enter(database, error);
    if (status)
        return status;
    status = (int)petal_batch_new(database_db(database), &made, error);
    if (!status)
        status = part_new(database, &batch_kind, made, NULL, batch, error);
    database_leave(database);
    return status;
}

static int
add_inside(const struct target *target, void *argument, petal_error *error)
{
    struct change *change = argument;
    void *object = part_lock(change->to, part_database(change->to), error);
    if (!object)
        return PY_CLOSED;
    if (part_is(change->to, &transaction_kind))
        change->transaction = object;
    else
        change->batch = object;
    int status = change->write(target, change, error);
    part_unlock(change->to);
    return status;
}

/* Add the change to the batch or transaction, by `write`. They copy the bytes. */
static int
add(py_part *to, py_table *table, table_operation *write, struct change *change, petal_error *error)
{
    if (!to || !table)
        return fail_closed(error);
    if (table_database(table) != part_database(to))
        return fail(error, PETAL_INVALID, "the batch and the table are of different databases");
    change->to = to;
    change->write = write;
    return table_run(table, add_inside, change, error);
}

int
py_increment(py_table *table, py_part *transaction, const char *row, size_t row_size,
             const char *column, size_t column_size, int64_t amount, uint32_t deadline_ms,
             py_call *call)
{
    struct change change = {
        .row = {row, row_size},
        .column = {column, column_size},
        .amount = amount,
        .options = {.size = sizeof change.options, .deadline_ms = deadline_ms},
    };
    int status = transaction ? add(transaction, table, increment, &change, &call->error)
                             : table_run(table, increment, &change, &call->error);
    call->number = change.sum;
    return status;
}

static int
add_put(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    petal_family *family;
    petal_slice qualifier;
    int status = column_of(target, change, &family, &qualifier, error);
    if (!status && change->transaction)
        status = (int)petal_transaction_put(change->transaction, family, change->row, qualifier,
                                            change->timestamp, change->value, NULL, error);
    else if (!status)
        status = (int)petal_batch_put(change->batch, family, change->row, qualifier,
                                      change->timestamp, change->value, error);
    return status;
}

int
py_batch_put(py_part *to, py_table *table, const char *row, size_t row_size, const char *column,
             size_t column_size, int64_t timestamp, const char *value, size_t value_size,
             petal_error *error)
{
    struct change change = {.row = {row, row_size},
                            .column = {column, column_size},
                            .value = {value, value_size},
                            .timestamp = timestamp};
    return add(to, table, add_put, &change, error);
}

static int
add_delete(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    petal_family *family;
    petal_slice qualifier;
    bool has_qualifier;
    int status =
        column_find(target->table, change->column, &family, &qualifier, &has_qualifier, error);
    enum petal_cell_type type = has_qualifier ? PETAL_DELETE_COLUMN : PETAL_DELETE_FAMILY;
    if (!status && change->transaction)
        status = (int)petal_transaction_delete(change->transaction, family, change->row, qualifier,
                                               change->timestamp, type, error);
    else if (!status)
        status = (int)petal_batch_delete(change->batch, family, change->row, qualifier,
                                         change->timestamp, type, error);
    return status;
}

int
py_batch_delete(py_part *to, py_table *table, const char *row, size_t row_size, const char *column,
                size_t column_size, int64_t timestamp, petal_error *error)
{
    struct change change = {
        .row = {row, row_size}, .column = {column, column_size}, .timestamp = timestamp};
    return add(to, table, add_delete, &change, error);
}

static int
add_delete_row(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    if (change->transaction)
        return (int)petal_transaction_delete_row(change->transaction, target->table, change->row,
                                                 change->timestamp, error);
    return (int)petal_batch_delete_row(change->batch, target->table, change->row, change->timestamp,
                                       error);
}

int
py_batch_delete_row(py_part *to, py_table *table, const char *row, size_t row_size,
                    int64_t timestamp, petal_error *error)
{
    struct change change = {.row = {row, row_size}, .timestamp = timestamp};
    return add(to, table, add_delete_row, &change, error);
}

static int
add_map_put(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    petal_mutation_options options = {.size = sizeof options,
                                      .has_ttl = change->options.has_ttl,
                                      .ttl_ms = change->options.ttl_ms};
    if (change->transaction)
        return (int)petal_transaction_put(
            change->transaction, petal_table_family_at(target->table, 0), change->row,
            (petal_slice){NULL, 0}, PETAL_LATEST, change->value, &options, error);
    return (int)petal_kv_batch_put(change->batch, target->map, change->row, change->value, error);
}

int
py_batch_map_put(py_part *to, py_table *map, const char *key, size_t key_size, const char *value,
                 size_t value_size, bool has_ttl, int64_t ttl_ms, petal_error *error)
{
    struct change change = {.row = {key, key_size},
                            .value = {value, value_size},
                            .options = {.has_ttl = has_ttl, .ttl_ms = ttl_ms}};
    return add(to, map, add_map_put, &change, error);
}

static int
add_map_delete(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    if (change->transaction)
        return (int)petal_transaction_delete(
            change->transaction, petal_table_family_at(target->table, 0), change->row,
            (petal_slice){NULL, 0}, PETAL_LATEST, PETAL_DELETE_COLUMN, error);
    return (int)petal_kv_batch_delete(change->batch, target->map, change->row, error);
}

int
py_batch_map_delete(py_part *to, py_table *map, const char *key, size_t key_size,
                    petal_error *error)
{
    struct change change = {.row = {key, key_size}};
    return add(to, map, add_map_delete, &change, error);
}

size_t
py_batch_count(py_part *part)
{
    petal_error error;
    size_t count = 0;
    if (database_enter(part_database(part), &error))
        return 0;
    petal_batch *batch = part_lock(part, part_database(part), &error);
    if (batch) {
        count = petal_batch_count(batch);
        part_unlock(part);
    }
    database_leave(part_database(part));
    return count;
}

int
py_batch_write(py_part *part, int durability, uint32_t deadline_ms, petal_error *error)
{
    petal_write_options options = {.size = sizeof options,
                                   .durability = (enum petal_durability)durability,
                                   .deadline_ms = deadline_ms};
    py_database *database = part_database(part);
    int status = database_enter(database, error);
    if (status)
        return status;
    petal_batch *batch = part_lock(part, database, error);
    if (batch) {
        status = (int)petal_write(database_db(database), batch, &options, error);
        if (!status)
            petal_batch_clear(batch);
        part_unlock(part);
    } else
        status = PY_CLOSED;
    database_leave(database);
    return status;
}

void
py_batch_clear(py_part *part)
{
    petal_error error;
    if (database_enter(part_database(part), &error))
        return;
    petal_batch *batch = part_lock(part, part_database(part), &error);
    if (batch) {
        petal_batch_clear(batch);
        part_unlock(part);
    }
    database_leave(part_database(part));
}
