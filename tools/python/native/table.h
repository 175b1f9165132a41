/*
 * Tables and key-value maps by name, and what describes them.
 *
 * A table's handle finds its table by name when first used, and again when the table that it had is
 * no longer there: a dropped table that was made anew is found, as with HBase's tables.
 */
#ifndef TOOLS_PYTHON_NATIVE_TABLE_H
#define TOOLS_PYTHON_NATIVE_TABLE_H

#include "tools/python/native/database.h"

typedef struct py_table py_table;

/* A handle of the table, which need not exist. */
int py_table_new(py_database *database, const char *name, size_t size, py_table **table,
                 petal_error *error);
void py_table_free(py_table *table);

/* Open the key-value map of that name, and make it if there is none: petal_kv_open. */
int py_map_open(py_database *database, const char *name, size_t size,
                const petal_family_options *options, py_table **map, petal_error *error);

int py_table_create(py_database *database, const petal_table_options *options, petal_error *error);
int py_table_alter(py_table *table, const petal_table_options *options, petal_error *error);
int py_table_drop(py_table *table, petal_error *error);
int py_table_truncate(py_table *table, petal_error *error);
int py_table_flush(py_table *table, petal_error *error);
int py_table_compact(py_table *table, petal_error *error);

/* PETAL_OK: the table exists. */
int py_table_check(py_table *table, petal_error *error);

/* Describe the table's families: call->families has their attributes, call->number how many there
 * are, and the answer is the pickled list of their names. */
int py_table_describe(py_table *table, py_call *call);

/* The answer: a pickled list of the regions, each a list of id, first row, first row after it, files,
 * their bytes, those in memory, cells: petal_region_info. */
int py_table_regions(py_table *table, py_call *call);

/* petal_table_split, petal_table_merge. */
int py_table_split(py_table *table, const char *row, size_t row_size, uint32_t region,
                   petal_error *error);
int py_table_merge(py_table *table, uint32_t region, uint32_t other, petal_error *error);

/* A disabled table refuses reads and writes. The mark is the handle's. */
void py_table_disable(py_table *table, bool disabled);
bool py_table_is_disabled(const py_table *table);

#endif
