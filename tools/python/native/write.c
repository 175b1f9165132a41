#include "tools/python/native/write.h"

#include <pthread.h>
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
    petal_batch *batch;
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
    if (!status)
        status = (int)petal_increment(family, change->row, qualifier, change->amount,
                                      &change->options, &change->sum, error);
    return status;
}

int
py_increment(py_table *table, const char *row, size_t row_size, const char *column,
             size_t column_size, int64_t amount, uint32_t deadline_ms, py_call *call)
{
    struct change change = {
        .row = {row, row_size},
        .column = {column, column_size},
        .amount = amount,
        .options = {.size = sizeof change.options, .deadline_ms = deadline_ms},
    };
    int status = table_run(table, increment, &change, &call->error);
    call->number = change.sum;
    return status;
}

/* ---- batches ---- */

struct py_batch {
    py_database *database;
    petal_batch *batch;
    pthread_mutex_t turn;
};

int
py_batch_new(py_database *database, py_batch **batch, petal_error *error)
{
    py_batch *made = calloc(1, sizeof *made);
    *batch = NULL;
    if (!made)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    int status = database_enter(database, error);
    if (!status) {
        status = (int)petal_batch_new(database_db(database), &made->batch, error);
        database_leave(database);
    }
    if (status) {
        free(made);
        return status;
    }
    pthread_mutex_init(&made->turn, NULL);
    made->database = database_hold(database);
    *batch = made;
    return PETAL_OK;
}

void
py_batch_free(py_batch *batch)
{
    if (!batch || database_is_foreign(batch->database))
        return;
    petal_batch_free(batch->batch);
    pthread_mutex_destroy(&batch->turn);
    py_database_free(batch->database);
    free(batch);
}

/* Add the change to the batch, by `operation`. The batch copies the bytes. */
static int
add(py_batch *batch, py_table *table, table_operation *operation, struct change *change,
    petal_error *error)
{
    if (!batch || !table)
        return fail_closed(error);
    if (database_is_foreign(batch->database))
        return database_enter(batch->database, error);
    if (table_database(table) != batch->database)
        return fail(error, PETAL_INVALID, "the batch and the table are of different databases");
    pthread_mutex_lock(&batch->turn);
    change->batch = batch->batch;
    int status = table_run(table, operation, change, error);
    pthread_mutex_unlock(&batch->turn);
    return status;
}

static int
add_put(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    petal_family *family;
    petal_slice qualifier;
    int status = column_of(target, change, &family, &qualifier, error);
    if (!status)
        status = (int)petal_batch_put(change->batch, family, change->row, qualifier,
                                      change->timestamp, change->value, error);
    return status;
}

int
py_batch_put(py_batch *batch, py_table *table, const char *row, size_t row_size, const char *column,
             size_t column_size, int64_t timestamp, const char *value, size_t value_size,
             petal_error *error)
{
    struct change change = {.row = {row, row_size},
                            .column = {column, column_size},
                            .value = {value, value_size},
                            .timestamp = timestamp};
    return add(batch, table, add_put, &change, error);
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
    if (!status)
        status = (int)petal_batch_delete(
            change->batch, family, change->row, qualifier, change->timestamp,
            has_qualifier ? PETAL_DELETE_COLUMN : PETAL_DELETE_FAMILY, error);
    return status;
}

int
py_batch_delete(py_batch *batch, py_table *table, const char *row, size_t row_size,
                const char *column, size_t column_size, int64_t timestamp, petal_error *error)
{
    struct change change = {
        .row = {row, row_size}, .column = {column, column_size}, .timestamp = timestamp};
    return add(batch, table, add_delete, &change, error);
}

static int
add_delete_row(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    return (int)petal_batch_delete_row(change->batch, target->table, change->row, change->timestamp,
                                       error);
}

int
py_batch_delete_row(py_batch *batch, py_table *table, const char *row, size_t row_size,
                    int64_t timestamp, petal_error *error)
{
    struct change change = {.row = {row, row_size}, .timestamp = timestamp};
    return add(batch, table, add_delete_row, &change, error);
}

static int
add_map_put(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    return (int)petal_kv_batch_put(change->batch, target->map, change->row, change->value, error);
}

int
py_batch_map_put(py_batch *batch, py_table *map, const char *key, size_t key_size,
                 const char *value, size_t value_size, petal_error *error)
{
    struct change change = {.row = {key, key_size}, .value = {value, value_size}};
    return add(batch, map, add_map_put, &change, error);
}

static int
add_map_delete(const struct target *target, void *argument, petal_error *error)
{
    const struct change *change = argument;
    return (int)petal_kv_batch_delete(change->batch, target->map, change->row, error);
}

int
py_batch_map_delete(py_batch *batch, py_table *map, const char *key, size_t key_size,
                    petal_error *error)
{
    struct change change = {.row = {key, key_size}};
    return add(batch, map, add_map_delete, &change, error);
}

size_t
py_batch_count(py_batch *batch)
{
    if (!batch || database_is_foreign(batch->database))
        return 0;
    pthread_mutex_lock(&batch->turn);
    size_t count = petal_batch_count(batch->batch);
    pthread_mutex_unlock(&batch->turn);
    return count;
}

int
py_batch_write(py_batch *batch, int durability, uint32_t deadline_ms, petal_error *error)
{
    petal_write_options options = {.size = sizeof options,
                                   .durability = (enum petal_durability)durability,
                                   .deadline_ms = deadline_ms};
    if (!batch)
        return fail_closed(error);
    if (database_is_foreign(batch->database))
        return database_enter(batch->database, error);
    pthread_mutex_lock(&batch->turn);
    int status = database_enter(batch->database, error);
    if (!status) {
        status = (int)petal_write(database_db(batch->database), batch->batch, &options, error);
        if (!status)
            petal_batch_clear(batch->batch);
        database_leave(batch->database);
    }
    pthread_mutex_unlock(&batch->turn);
    return status;
}

void
py_batch_clear(py_batch *batch)
{
    if (!batch || database_is_foreign(batch->database))
        return;
    pthread_mutex_lock(&batch->turn);
    petal_batch_clear(batch->batch);
    pthread_mutex_unlock(&batch->turn);
}
