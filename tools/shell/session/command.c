/* command.c -- finding commands; show_filters, version and exit.  See
 * tools/shell/session/command.h. */
#include "tools/shell/session/command.h"

#include "tools/shell/session/near.h"

const struct command *
command_find(const struct session *session, petal_slice name)
{
    const struct command *const lists[] = {session->commands->list, session->commands->absent};

    for (size_t i = 0; i < 2; i++)
        for (const struct command *command = lists[i]; command->name != NULL; command++)
            if (slice_is(name, command->name))
                return command;
    return NULL;
}

const char *
command_nearest(const struct session *session, petal_slice name)
{
    const char *nearest = NULL;
    unsigned least = 0;

    for (const struct command *command = session->commands->list; command->name != NULL; command++)
        near_consider(name, command->name, &nearest, &least);
    return nearest;
}

/* HBase's names, in order. */
COMMAND_FUNCTION(command_show_filters)
{
    const char *name;
    bool records;

    records = output_begin_records(&session->output, "filter");
    for (size_t i = 0; (name = petal_filter_name(i)) != NULL; i++) {
        if (records)
            format_string(&session->output.format, name);
        else
            output_line(&session->output, slice_of_string(name));
    }
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_version)
{
    if (output_begin_records(&session->output, "version")) {
        format_string(&session->output.format, petal_version());
        return SHELL_FINE;
    }
    output_plain(&session->output, "Petal %s, kv-shell with the language of the HBase 2.6 shell",
                 petal_version());
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_exit)
{
    session->ended = true;
    if (count == 1 && arguments[0].kind == VALUE_INTEGER)
        session->exit_status = (int)(arguments[0].as.integer & 0xff);
    return SHELL_FINE;
}
