/*
 * names.h -- lists of names, and the tables that users see.
 *
 * Tables of the namespace hbase are the database's own and stand in no list; whoever knows their
 * names can read them.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_NAMES_H
#define PETAL_TOOLS_SHELL_SESSION_NAMES_H

#include "tools/shell/session/pattern.h"

struct name_list {
    petal_slice *items; /* they and their bytes live in the arena */
    size_t count, capacity;
};

void name_list_add(struct session *session, struct name_list *list, petal_slice name);

/* The namespace of a checked table name, "default" if it names none; what stands after it. */
petal_slice table_namespace(petal_slice table);
petal_slice table_qualifier(petal_slice table);

/* Which of the users' tables: those that match the pattern (NULL: all) .. */
enum name_list_state { LIST_ANY, LIST_ENABLED, LIST_DISABLED };
enum shell_status name_list_tables(struct session *session, const struct pattern *pattern,
                                   enum name_list_state state, struct name_list *list);

/* .. or a regular expression that an argument gives. */
enum shell_status name_list_matching(struct session *session, const struct value *argument,
                                     struct name_list *list);

/* The full names of all tables in a namespace, hbase included. */
enum shell_status name_list_namespace(struct session *session, petal_slice name_space,
                                      struct name_list *list);

/* A line for each and their number; *result (may be NULL) becomes the array of them. */
void name_list_show(struct session *session, const struct name_list *list, struct value *result);

#endif
