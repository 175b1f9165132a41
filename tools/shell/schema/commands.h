/*
 * commands.h -- the commands of the room schema.
 *
 * The room schema: tables, families and namespaces with their attributes, in the words of
 * create, alter and describe.
 */
#ifndef PETAL_TOOLS_SHELL_SCHEMA_COMMANDS_H
#define PETAL_TOOLS_SHELL_SCHEMA_COMMANDS_H

#include "tools/shell/session/command.h"

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

#endif
