/* names.h -- lists of names. */
#ifndef PETAL_TOOLS_SHELL_SESSION_NAMES_H
#define PETAL_TOOLS_SHELL_SESSION_NAMES_H

#include "tools/shell/session/session.h"

struct name_list {
    petal_slice *items; /* they and their bytes live in the arena */
    size_t count, capacity;
};

void name_list_add(struct session *session, struct name_list *list, petal_slice name);

/* The namespace of a checked table name, "default" if it names none. */
petal_slice table_namespace(petal_slice table);

#endif
