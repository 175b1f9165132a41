/*
 * commands.h -- the commands of the room study.
 *
 * The room study: why a read cost what it did, and what would make it cost less: explain,
 * advise.
 */
#ifndef PETAL_TOOLS_SHELL_STUDY_COMMANDS_H
#define PETAL_TOOLS_SHELL_STUDY_COMMANDS_H

#include "tools/shell/session/command.h"

/* tools/shell/study/explain.c */
COMMAND_FUNCTION(command_explain);

/* tools/shell/study/advise.c */
COMMAND_FUNCTION(command_advise);

#endif
