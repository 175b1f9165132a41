/* commands.h -- the commands of kv-check. */
#ifndef PETAL_TOOLS_CHECK_COMMANDS_H
#define PETAL_TOOLS_CHECK_COMMANDS_H

#include "tools/command/command.h"

extern const struct command check_verify;
extern const struct command check_dump;
extern const struct command check_salvage;

#endif
