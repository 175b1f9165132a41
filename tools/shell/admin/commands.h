/*
 * commands.h -- the commands of the room admin.
 *
 * The room admin: what the database is and does: status, statistics, compactions, snapshots of
 * tables.
 */
#ifndef PETAL_TOOLS_SHELL_ADMIN_COMMANDS_H
#define PETAL_TOOLS_SHELL_ADMIN_COMMANDS_H

#include "tools/shell/session/command.h"

/* tools/shell/admin/absent.c: by name, the last one has none; for one thread. */
const struct command *absent_commands(void);

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

/* tools/shell/admin/stats.c */
COMMAND_FUNCTION(command_stats);

/* tools/shell/admin/time.c */
COMMAND_FUNCTION(command_time);

/* tools/shell/admin/verify.c */
COMMAND_FUNCTION(command_verify);

#endif
