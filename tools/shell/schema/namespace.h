/*
 * namespace.h -- namespaces: default and hbase, which are always there, and those that users make.
 *
 * They are kept as HBase keeps them, as rows of the table hbase:namespace, which is made with the
 * first of them: the row is the namespace, info:d (empty) says that it is there, and each of its
 * properties is a column of the family conf. Every change is one batch that is on the medium when
 * the command returns, as changes of tables are.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_NAMESPACE_H
#define PETAL_TOOLS_SHELL_SCHEMA_NAMESPACE_H

#include "tools/shell/session/names.h"

/* Fail with "Unknown namespace ns!" if there is none for a table of that name; or with other words
 * before it. */
enum shell_status namespace_check_table(struct session *session, petal_slice table);
enum shell_status namespace_check(struct session *session, petal_slice table, const char *before);

/* All of them, by name, or those that match the pattern (NULL: none is needed). */
enum shell_status namespace_list(struct session *session, const struct pattern *pattern,
                                 struct name_list *list);

#endif
