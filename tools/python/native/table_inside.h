/* What the functions of this folder do with tables; see table.h. */
#ifndef TOOLS_PYTHON_NATIVE_TABLE_INSIDE_H
#define TOOLS_PYTHON_NATIVE_TABLE_INSIDE_H

#include "tools/python/native/table.h"

/* What a handle stands for. */
struct target {
    petal_db *db;
    petal_table *table;
    petal_kv *map; /* NULL: not opened as one */
};

typedef int table_operation(const struct target *target, void *argument, petal_error *error);

/*
 * Enter the table's database, do the operation, leave. If that finds that the table is gone and
 * another has its name, do it once more with that one; so an operation that returns PETAL_NOT_FOUND
 * has changed nothing.
 */
int table_run(py_table *table, table_operation *operation, void *argument, petal_error *error);

py_database *table_database(const py_table *table);

#endif
