/*
 * commands.h -- the commands of the room study.
 *
 * The room study: what would make reads cost less: advise.
 */
#ifndef PETAL_TOOLS_SHELL_STUDY_COMMANDS_H
#define PETAL_TOOLS_SHELL_STUDY_COMMANDS_H

#include "tools/shell/session/command.h"

/* tools/shell/study/advise.c */
COMMAND_FUNCTION(command_advise);

#endif
