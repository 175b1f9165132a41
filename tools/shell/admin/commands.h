/*
 * commands.h -- the commands of the room admin.
 *
 * The room admin: compactions, verification and times: work of the database that is waited for and
 * watched.
 */
#ifndef PETAL_TOOLS_SHELL_ADMIN_COMMANDS_H
#define PETAL_TOOLS_SHELL_ADMIN_COMMANDS_H

#include "tools/shell/session/command.h"

/* tools/shell/admin/compact.c */
COMMAND_FUNCTION(command_compact);
COMMAND_FUNCTION(command_compaction_state);

/* tools/shell/admin/time.c */
COMMAND_FUNCTION(command_time);

/* tools/shell/admin/verify.c */
COMMAND_FUNCTION(command_verify);

#endif
