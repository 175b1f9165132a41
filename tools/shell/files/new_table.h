/*
 * new_table.h -- a table that import --create makes for the families of a file.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_NEW_TABLE_H
#define PETAL_TOOLS_SHELL_FILES_NEW_TABLE_H

#include "tools/shell/text/text.h"

/* A table of these families, each with so many VERSIONS (0: as create makes them). */
struct new_table {
    petal_slice name;
    const petal_slice *families;
    size_t family_count;
    uint32_t versions;
};

/* Can there be such a table? */
enum petal_status new_table_check(const struct new_table *new_table, petal_error *error);
enum petal_status new_table_create(petal_db *db, const struct new_table *new_table,
                                   petal_table **table, petal_error *error);

/* One more family. */
enum petal_status new_table_add_family(petal_table *table, petal_slice family, uint32_t versions,
                                       petal_error *error);

/* "Created table t with the families a, b" */
void new_table_tell(struct text *text, const petal_table *table);

#endif
