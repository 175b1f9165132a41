/* commands.h -- the commands of kv-filter. */
#ifndef PETAL_TOOLS_LINES_COMMANDS_COMMANDS_H
#define PETAL_TOOLS_LINES_COMMANDS_COMMANDS_H

#include "tools/command/command.h"

extern const struct command filter_unique;
extern const struct command filter_common;
extern const struct command filter_missing;
extern const struct command filter_count;
extern const struct command filter_top;
extern const struct command filter_integers;
extern const struct command filter_build;
extern const struct command filter_check;
extern const struct command filter_info;
extern const struct command filter_merge;
extern const struct command filter_plan;

#endif
