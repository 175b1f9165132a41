/*
 * shell_command.h -- the commands of the shell.
 *
 * A command is handed its evaluated arguments, their number checked already.  It prints what it has
 * to say and returns how it ended; *result, nil before, is what an echo shows.
 */
#ifndef PETAL_SHELL_COMMAND_H
#define PETAL_SHELL_COMMAND_H

#include "tools/shell_session.h"

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

/* shell_help.c */
COMMAND_FUNCTION(command_help);
COMMAND_FUNCTION(command_table_help);

/* shell_tables.c */
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

/* shell_many.c */
COMMAND_FUNCTION(command_disable_all);
COMMAND_FUNCTION(command_enable_all);
COMMAND_FUNCTION(command_drop_all);

/* shell_namespace.c */
COMMAND_FUNCTION(command_create_namespace);
COMMAND_FUNCTION(command_alter_namespace);
COMMAND_FUNCTION(command_drop_namespace);
COMMAND_FUNCTION(command_describe_namespace);
COMMAND_FUNCTION(command_list_namespace);
COMMAND_FUNCTION(command_list_namespace_tables);

/* shell_cluster.c */
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

/* shell_write.c */
COMMAND_FUNCTION(command_put);
COMMAND_FUNCTION(command_delete);
COMMAND_FUNCTION(command_deleteall);
COMMAND_FUNCTION(command_flush);

/* shell_counter.c */
COMMAND_FUNCTION(command_incr);
COMMAND_FUNCTION(command_append);
COMMAND_FUNCTION(command_get_counter);

/* shell_read.c */
COMMAND_FUNCTION(command_get);
COMMAND_FUNCTION(command_scan);
COMMAND_FUNCTION(command_count);

/* shell_compact.c */
COMMAND_FUNCTION(command_compact);
COMMAND_FUNCTION(command_compaction_state);

/* shell_snapshot.c */
COMMAND_FUNCTION(command_snapshot);
COMMAND_FUNCTION(command_clone_snapshot);
COMMAND_FUNCTION(command_restore_snapshot);
COMMAND_FUNCTION(command_delete_snapshot);
COMMAND_FUNCTION(command_checkpoint);

/* shell_snapshot_list.c */
COMMAND_FUNCTION(command_list_snapshots);
COMMAND_FUNCTION(command_list_table_snapshots);
COMMAND_FUNCTION(command_delete_all_snapshot);
COMMAND_FUNCTION(command_delete_table_snapshots);

/* shell_export.c, shell_import.c */
COMMAND_FUNCTION(command_export);
COMMAND_FUNCTION(command_import);

/* shell_explain.c, shell_stats.c */
COMMAND_FUNCTION(command_explain);
COMMAND_FUNCTION(command_stats);
COMMAND_FUNCTION(command_verify);

/* shell_time.c, shell_advise.c */
COMMAND_FUNCTION(command_time);
COMMAND_FUNCTION(command_advise);

#endif
