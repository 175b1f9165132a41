/* command.c -- finding commands; exit.  See tools/shell/session/command.h. */
#include "tools/shell/session/command.h"

#include "tools/shell/session/near.h"

#include <string.h>
#include <strings.h>

const struct command *
command_find(const struct session *session, petal_slice name)
{
    for (const struct command *command = session->commands; command->name != NULL; command++)
        if (slice_is(name, command->name))
            return command;
    return NULL;
}

const char *
command_nearest(const struct session *session, petal_slice name)
{
    const char *nearest = NULL;
    unsigned least = 0;

    for (const struct command *command = session->commands; command->name != NULL; command++)
        near_consider(name, command->name, &nearest, &least);
    return nearest;
}

const char *
command_in_place_of(petal_slice word)
{
    static const struct {
        const char *word, *instead;
    } words[] = {{"select", "scan reads rows, and get reads one"},
                 {"show", "list shows the tables, and describe one of them"},
                 {"tables", "list shows the tables"},
                 {"insert", "put writes a value"},
                 {"update", "put writes a value"},
                 {"table", "the table's name follows at once, in quotes, as in describe 't'"},
                 {"from", "delete takes a cell, deleteall a row, and truncate all rows"},
                 {"use", "a table's namespace is part of its name, as in 'ns:t'"}};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (word.size == strlen(words[i].word) &&
            strncasecmp(word.data, words[i].word, word.size) == 0)
            return words[i].instead;
    return NULL;
}

COMMAND_FUNCTION(command_exit)
{
    session->ended = true;
    if (count == 1 && arguments[0].kind == VALUE_INTEGER)
        session->exit_status = (int)(arguments[0].as.integer & 0xff);
    return SHELL_FINE;
}
