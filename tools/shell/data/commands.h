/*
 * commands.h -- the commands of the room data.
 *
 * The room data: rows are written and read: put, delete, counters, get, scan, count.
 */
#ifndef PETAL_TOOLS_SHELL_DATA_COMMANDS_H
#define PETAL_TOOLS_SHELL_DATA_COMMANDS_H

#include "tools/shell/session/command.h"

/* tools/shell/data/write.c */
COMMAND_FUNCTION(command_put);
COMMAND_FUNCTION(command_delete);
COMMAND_FUNCTION(command_deleteall);
COMMAND_FUNCTION(command_flush);

/* tools/shell/data/rows.c: the beginning and the end of a transaction */
COMMAND_FUNCTION(command_transaction);
COMMAND_FUNCTION(command_commit);

/* tools/shell/data/counter.c */
COMMAND_FUNCTION(command_incr);
COMMAND_FUNCTION(command_append);
COMMAND_FUNCTION(command_get_counter);

/* tools/shell/data/read.c */
COMMAND_FUNCTION(command_get);
COMMAND_FUNCTION(command_scan);

/* tools/shell/data/count.c */
COMMAND_FUNCTION(command_count);

#endif
