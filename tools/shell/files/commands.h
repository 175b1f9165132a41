/*
 * commands.h -- the commands of the room files.
 *
 * The room files: cells and records come from files and go to files: import, export, compare; and
 * whole databases: backup, restore.
 */
#ifndef PETAL_TOOLS_SHELL_FILES_COMMANDS_H
#define PETAL_TOOLS_SHELL_FILES_COMMANDS_H

#include "tools/shell/session/command.h"

/* tools/shell/files/backup.c */
COMMAND_FUNCTION(command_backup);

/* tools/shell/files/export.c */
COMMAND_FUNCTION(command_export);

/* tools/shell/files/import.c */
COMMAND_FUNCTION(command_import);

/* tools/shell/files/hfiles.c */
COMMAND_FUNCTION(command_export_hfiles);
COMMAND_FUNCTION(command_import_hfiles);

#endif
