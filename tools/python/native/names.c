#include "tools/python/native/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tools/python/native/inside.h"

bool
names_take(petal_slice *list, petal_slice *name)
{
    const unsigned char *bytes = list->data;
    if (!list->size)
        return false;
    assert(list->size >= 4);
    size_t size =
        (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
    assert(list->size - 4 >= size);
    *name = (petal_slice){bytes + 4, size};
    *list = (petal_slice){bytes + 4 + size, list->size - 4 - size};
    return true;
}

size_t
names_count(petal_slice list)
{
    size_t count = 0;
    petal_slice name;
    while (names_take(&list, &name))
        count++;
    return count;
}

int
column_find(petal_table *table, petal_slice column, petal_family **family, petal_slice *qualifier,
            bool *has_qualifier, petal_error *error)
{
    const char *bytes = column.data;
    const char *colon = column.size ? memchr(bytes, ':', column.size) : NULL;
    petal_slice name = {bytes, colon ? (size_t)(colon - bytes) : column.size};
    *has_qualifier = colon != NULL;
    *qualifier = colon ? (petal_slice){colon + 1, column.size - name.size - 1} : (petal_slice){0};
    return (int)petal_table_family(table, name, family, error);
}

int
columns_find(petal_table *table, petal_slice list, bool colon_counts, petal_column **columns,
             size_t *count, petal_error *error)
{
    petal_slice name;
    *columns = NULL;
    *count = names_count(list);
    if (!*count)
        return PETAL_OK;
    *columns = calloc(*count, sizeof **columns);
    if (!*columns)
        return fail(error, PETAL_NO_MEMORY, "out of memory");
    for (petal_column *column = *columns; names_take(&list, &name); column++) {
        bool has_qualifier;
        int status =
            column_find(table, name, &column->family, &column->qualifier, &has_qualifier, error);
        if (status) {
            free(*columns);
            *columns = NULL;
            return status;
        }
        column->whole_family = !has_qualifier || (column->qualifier.size == 0 && !colon_counts);
    }
    return PETAL_OK;
}
