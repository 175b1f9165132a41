/*
 * namespace.h -- namespaces: default and hbase, which are always there, and those that users make.
 *
 * They are kept as HBase keeps them, as rows of the table hbase:namespace, which is made with the
 * first of them: the row is the namespace, info:d (empty) says that it is there, and each of its
 * properties is a column of the family conf. Every change is one batch that is on the medium when
 * the command returns, as changes of tables are.
 *
 * The room schema: namespaces of tables, and the words of attributes.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_NAMESPACE_H
#define PETAL_TOOLS_SHELL_SCHEMA_NAMESPACE_H

#include "tools/shell/session/names.h"

/* Fail with `before` and the name of a namespace that is not there; with "Unknown namespace ns!" if
 * that is the one of a table that is to be made, or if users make no tables in it. */
enum shell_status namespace_check(struct session *session, petal_slice name, const char *before);
enum shell_status namespace_check_new_table(struct session *session, petal_slice table);

/* All of them, by name. */
enum shell_status namespace_list(struct session *session, struct name_list *list);

/* Set the properties of the hashes, texts; nil takes one away.  `make`: the namespace is new, and so
 * may the database be. */
enum shell_status namespace_write(struct session *session, petal_slice name, bool make,
                                  const struct value *hashes, size_t count);
enum shell_status namespace_drop(struct session *session, petal_slice name);

/* Its properties become cells of the session's result. */
enum shell_status namespace_read(struct session *session, petal_slice name, size_t *count);

#endif
