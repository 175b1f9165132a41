/* commands.h -- the commands of kv-hfile. */
#ifndef PETAL_HFILE_COMMANDS_COMMANDS_H
#define PETAL_HFILE_COMMANDS_COMMANDS_H

#include "tools/command/command.h"

extern const struct command hfile_print;
extern const struct command hfile_check;
extern const struct command hfile_import;
extern const struct command hfile_export;

#endif
