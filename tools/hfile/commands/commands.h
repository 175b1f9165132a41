/* commands.h -- the commands of kv-hfile. */
#ifndef PETAL_HFILE_COMMANDS_COMMANDS_H
#define PETAL_HFILE_COMMANDS_COMMANDS_H

#include "tools/command/command.h"

#define HFILE_NOTE_ON_ORDER                                                                        \
    "the order of writes, by which readers of families with NEW_VERSION_BEHAVIOR go, is not kept"

extern const struct command hfile_print;
extern const struct command hfile_check;
extern const struct command hfile_import;
extern const struct command hfile_export;

#endif
