/* Writes to tables: single ones, counters, and batches. A column is family:qualifier. */
#ifndef TOOLS_PYTHON_NATIVE_WRITE_H
#define TOOLS_PYTHON_NATIVE_WRITE_H

#include "tools/python/native/table.h"

/* Put one cell. */
int py_put(py_table *table, const char *row, size_t row_size, const char *column,
           size_t column_size, int64_t timestamp, const char *value, size_t value_size,
           int durability, uint32_t deadline_ms, py_call *call);

/* Add to a counter, at once or in a transaction: call->number receives the sum. */
int py_increment(py_table *table, py_part *transaction, const char *row, size_t row_size,
                 const char *column, size_t column_size, int64_t amount, uint32_t deadline_ms,
                 py_call *call);

/* Writes that are applied together. Any thread may use it; they take turns. What takes `to` takes a
 * batch or a transaction. */
int py_batch_new(py_database *database, py_part **batch, petal_error *error);

int py_batch_put(py_part *to, py_table *table, const char *row, size_t row_size, const char *column,
                 size_t column_size, int64_t timestamp, const char *value, size_t value_size,
                 petal_error *error);

/* Delete the versions of a column up to the timestamp; without a colon, those of its family. */
int py_batch_delete(py_part *to, py_table *table, const char *row, size_t row_size,
                    const char *column, size_t column_size, int64_t timestamp, petal_error *error);
int py_batch_delete_row(py_part *to, py_table *table, const char *row, size_t row_size,
                        int64_t timestamp, petal_error *error);

/* As petal_kv_batch_put and petal_kv_batch_delete; a time to live only in a transaction. */
int py_batch_map_put(py_part *to, py_table *map, const char *key, size_t key_size,
                     const char *value, size_t value_size, bool has_ttl, int64_t ttl_ms,
                     petal_error *error);
int py_batch_map_delete(py_part *to, py_table *map, const char *key, size_t key_size,
                        petal_error *error);

/* The number of its writes. */
size_t py_batch_count(py_part *batch);

/* Apply the batch and empty it. On failure it stays as it is. */
int py_batch_write(py_part *batch, int durability, uint32_t deadline_ms, petal_error *error);
void py_batch_clear(py_part *batch);

#endif
