/*
 * schema.h -- tables and their families in the words of the shell: what the arguments of create and
 * alter say.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_SCHEMA_H
#define PETAL_TOOLS_SHELL_SCHEMA_SCHEMA_H

#include "tools/shell/session/session.h"

/* A table to be, or as it shall be; all slices and lists live in the session's arena, or in the
 * library. */
struct schema {
    petal_table_options table;
    petal_family_options *families; /* room for `capacity` */
    size_t capacity;
    bool splits; /* create was given split points */
};

/* Read the arguments of create after the table's name: names, lists of names, hashes. */
enum shell_status schema_read_create(struct session *session, const struct value *arguments,
                                     size_t count, struct schema *schema);

/* Begin with the table as it is. */
void schema_describe(struct session *session, const petal_table *table, struct schema *schema);

/* Apply the arguments of alter after the table's name. */
enum shell_status schema_read_alter(struct session *session, const struct value *arguments,
                                    size_t count, struct schema *schema);

#endif
