/* commands.h -- the table of the shell's commands, above all rooms, since it names them all. */
#ifndef PETAL_TOOLS_SHELL_COMMANDS_H
#define PETAL_TOOLS_SHELL_COMMANDS_H

#include "tools/shell/session/command.h"

const struct command_table *shell_commands(void);

#endif
