/*
 * commands.h -- the commands of the room schema.
 *
 * The room schema: namespaces of tables, and the words of attributes.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_COMMANDS_H
#define PETAL_TOOLS_SHELL_SCHEMA_COMMANDS_H

#include "tools/shell/session/command.h"

/* tools/shell/schema/namespace.c */
COMMAND_FUNCTION(command_create_namespace);
COMMAND_FUNCTION(command_alter_namespace);
COMMAND_FUNCTION(command_drop_namespace);
COMMAND_FUNCTION(command_describe_namespace);
COMMAND_FUNCTION(command_list_namespace);
COMMAND_FUNCTION(command_list_namespace_tables);

#endif
