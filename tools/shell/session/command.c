/* command.c -- finding commands; exit.  See tools/shell/session/command.h. */
#include "tools/shell/session/command.h"

const struct command *
command_find(const struct session *session, petal_slice name)
{
    for (const struct command *command = session->commands; command->name != NULL; command++)
        if (slice_is(name, command->name))
            return command;
    return NULL;
}

COMMAND_FUNCTION(command_exit)
{
    session->ended = true;
    if (count == 1 && arguments[0].kind == VALUE_INTEGER)
        session->exit_status = (int)(arguments[0].as.integer & 0xff);
    return SHELL_FINE;
}
