/* commands.h -- the table of the shell's commands, above all rooms, since it names them all. */
#ifndef PETAL_TOOLS_SHELL_COMMANDS_H
#define PETAL_TOOLS_SHELL_COMMANDS_H

#include "tools/shell/session/command.h"

/* The last one has no name. */
const struct command *shell_commands(void);

#endif
