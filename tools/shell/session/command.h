/*
 * command.h -- the commands of the shell.
 *
 * A command is handed its evaluated arguments, their number checked already.  It prints what it has
 * to say and returns how it ended; *result, nil before, is what an echo shows.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_COMMAND_H
#define PETAL_TOOLS_SHELL_SESSION_COMMAND_H

#include "tools/shell/session/session.h"

#define COMMAND_ANY_NUMBER SIZE_MAX

struct command {
    const char *name;
    const char *main_name; /* differs from the name for an alias */
    size_t least, most;    /* arguments */
    bool
        takes_call; /* its argument is a call that is not run: its name (a symbol), then its arguments */
    enum shell_status (*run)(struct session *session, const struct value *arguments, size_t count,
                             struct value *result);
    const char *usage; /* NULL for an alias */
};

const struct command *command_find(petal_slice name);

/* The command whose name is nearest to a mistyped one, NULL if none is near. */
const char *command_nearest(petal_slice name);

/* Command number `index` in order of name; NULL behind the last.  The absent ones are those of HBase's for what Petal has not: known,
 * and found by command_find, but in a list of their own. */
const struct command *command_at(size_t index);
const struct command *command_absent_at(size_t index);

#define COMMAND_FUNCTION(name)                                                                     \
    enum shell_status name(struct session *session, const struct value *arguments, size_t count,   \
                           struct value *result)

/* tools/shell/session/help.c */
COMMAND_FUNCTION(command_help);
COMMAND_FUNCTION(command_table_help);

/* tools/shell/schema/tables.c */
COMMAND_FUNCTION(command_create);
COMMAND_FUNCTION(command_alter);
COMMAND_FUNCTION(command_alter_async);
COMMAND_FUNCTION(command_alter_status);
COMMAND_FUNCTION(command_clone_table_schema);
COMMAND_FUNCTION(command_describe);
COMMAND_FUNCTION(command_list);
COMMAND_FUNCTION(command_list_enabled_tables);
COMMAND_FUNCTION(command_list_disabled_tables);
COMMAND_FUNCTION(command_exists);
COMMAND_FUNCTION(command_get_table);
COMMAND_FUNCTION(command_drop);
COMMAND_FUNCTION(command_enable);
COMMAND_FUNCTION(command_disable);
COMMAND_FUNCTION(command_is_enabled);
COMMAND_FUNCTION(command_is_disabled);
COMMAND_FUNCTION(command_truncate);

/* tools/shell/schema/many.c */
COMMAND_FUNCTION(command_disable_all);
COMMAND_FUNCTION(command_enable_all);
COMMAND_FUNCTION(command_drop_all);

/* tools/shell/schema/namespace.c */
COMMAND_FUNCTION(command_create_namespace);
COMMAND_FUNCTION(command_alter_namespace);
COMMAND_FUNCTION(command_drop_namespace);
COMMAND_FUNCTION(command_describe_namespace);
COMMAND_FUNCTION(command_list_namespace);
COMMAND_FUNCTION(command_list_namespace_tables);

/* tools/shell/admin/cluster.c */
COMMAND_FUNCTION(command_status);
COMMAND_FUNCTION(command_processlist);
COMMAND_FUNCTION(command_whoami);
COMMAND_FUNCTION(command_get_splits);
COMMAND_FUNCTION(command_list_regions);
COMMAND_FUNCTION(command_locate_region);
COMMAND_FUNCTION(command_clear_block_cache);
COMMAND_FUNCTION(command_compaction_switch);
COMMAND_FUNCTION(command_list_snapshot_sizes);
COMMAND_FUNCTION(command_snapshot_cleanup_enabled);
COMMAND_FUNCTION(command_list_liveservers);

/* tools/shell/data/write.c */
COMMAND_FUNCTION(command_put);
COMMAND_FUNCTION(command_delete);
COMMAND_FUNCTION(command_deleteall);
COMMAND_FUNCTION(command_flush);

/* tools/shell/data/counter.c */
COMMAND_FUNCTION(command_incr);
COMMAND_FUNCTION(command_append);
COMMAND_FUNCTION(command_get_counter);

/* tools/shell/data/read.c */
COMMAND_FUNCTION(command_get);
COMMAND_FUNCTION(command_scan);
COMMAND_FUNCTION(command_count);

/* tools/shell/admin/compact.c */
COMMAND_FUNCTION(command_compact);
COMMAND_FUNCTION(command_compaction_state);

/* tools/shell/admin/snapshot.c */
COMMAND_FUNCTION(command_snapshot);
COMMAND_FUNCTION(command_clone_snapshot);
COMMAND_FUNCTION(command_restore_snapshot);
COMMAND_FUNCTION(command_delete_snapshot);
COMMAND_FUNCTION(command_checkpoint);

/* tools/shell/admin/snapshots.c */
COMMAND_FUNCTION(command_list_snapshots);
COMMAND_FUNCTION(command_list_table_snapshots);
COMMAND_FUNCTION(command_delete_all_snapshot);
COMMAND_FUNCTION(command_delete_table_snapshots);

/* tools/shell/files/export.c, tools/shell/files/import.c */
COMMAND_FUNCTION(command_export);
COMMAND_FUNCTION(command_import);

/* tools/shell/study/explain.c, tools/shell/admin/stats.c */
COMMAND_FUNCTION(command_explain);
COMMAND_FUNCTION(command_stats);
COMMAND_FUNCTION(command_verify);

/* tools/shell/admin/time.c, tools/shell/study/advise.c */
COMMAND_FUNCTION(command_time);
COMMAND_FUNCTION(command_advise);

#endif
