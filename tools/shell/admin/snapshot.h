/*
 * snapshot.h -- the list of table snapshots, or of some of them.
 */
#ifndef PETAL_TOOLS_SHELL_ADMIN_SNAPSHOT_H
#define PETAL_TOOLS_SHELL_ADMIN_SNAPSHOT_H

#include "tools/shell/session/pattern.h"

struct snapshot_list {
    petal_table_snapshot_info *items; /* by name; they and what they point to live in the arena */
    size_t count, capacity;
};

/* The snapshots whose names and tables match; NULL: all do. */
enum shell_status snapshot_list_read(struct session *session, const struct pattern *names,
                                     const struct pattern *tables, struct snapshot_list *list);

#endif
