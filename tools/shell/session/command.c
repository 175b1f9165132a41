/* command.c -- finding commands; show_filters, version and exit.  See
 * tools/shell/session/command.h. */
#include "tools/shell/session/command.h"

#include <string.h>

enum { LONGEST_NAME = 24, NEAR = 2 };

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

/* Letters to insert, remove or change until `a` is `b` (Levenshtein). */
static unsigned
edit_distance(petal_slice a, petal_slice b)
{
    unsigned row[LONGEST_NAME + 1];
    const char *from = a.data, *to = b.data;

    for (unsigned j = 0; j <= b.size; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.size; i++) {
        unsigned diagonal = row[0];

        row[0] = i;
        for (unsigned j = 1; j <= b.size; j++) {
            unsigned change = diagonal + (from[i - 1] != to[j - 1]);
            unsigned least = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < least ? change : least;
        }
    }
    return row[b.size];
}

const char *
command_nearest(const struct session *session, petal_slice name)
{
    const char *nearest = NULL;
    unsigned least = NEAR + 1;

    if (name.size > LONGEST_NAME)
        return NULL;
    for (const struct command *command = session->commands->list; command->name != NULL;
         command++) {
        unsigned distance = edit_distance(name, slice_of_string(command->name));

        if (distance < least && distance < name.size) {
            least = distance;
            nearest = command->name;
        }
    }
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
    output_plain(&session->output, "kv-shell of Petal, with the language of the HBase 2.6 shell");
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_exit)
{
    session->ended = true;
    if (count == 1 && arguments[0].kind == VALUE_INTEGER)
        session->exit_status = (int)(arguments[0].as.integer & 0xff);
    return SHELL_FINE;
}
