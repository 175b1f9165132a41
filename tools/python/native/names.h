/* Lists of names, and columns in them; see read.h. */
#ifndef TOOLS_PYTHON_NATIVE_NAMES_H
#define TOOLS_PYTHON_NATIVE_NAMES_H

#include <stdbool.h>

#include "engine/petal.h"

/* Take the first name off the list; false when it is empty. */
bool names_take(petal_slice *list, petal_slice *name);
size_t names_count(petal_slice list);

/*
 * Split family:qualifier and find the family. Without a colon *qualifier is empty and
 * *has_qualifier is false.
 */
int column_find(petal_table *table, petal_slice column, petal_family **family,
                petal_slice *qualifier, bool *has_qualifier, petal_error *error);

/* The columns of a list, with room for them in *columns, which the caller frees. */
int columns_find(petal_table *table, petal_slice list, bool colon_counts, petal_column **columns,
                 size_t *count, petal_error *error);

#endif
