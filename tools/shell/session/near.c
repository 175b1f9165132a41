/* near.c -- see tools/shell/session/near.h. */
#include "tools/shell/session/near.h"

#include <string.h>

void
near_suggest(struct session *session, petal_slice nearest)
{
    struct text *message = &session->message;
    bool sentence = message->size > 0 && strchr("!.", message->bytes[message->size - 1]) != NULL;

    if (nearest.data == NULL || !session_gives_reasons(session))
        return;
    if (!session->output.terminal)
        text_add_string(message, "\nDid you mean ");
    else
        text_add_string(message, sentence ? " Did you mean " : "; did you mean ");
    text_add_literal(message, nearest);
    text_add_string(message, "?");
}

struct search {
    petal_slice name, nearest;
    unsigned least;
};

static bool
consider_table(void *argument, petal_table *table)
{
    struct search *search = argument;

    near_consider_bytes(search->name, petal_table_name(table), &search->nearest, &search->least);
    return true;
}

void
near_suggest_table(struct session *session, petal_slice name)
{
    struct search search = {.name = name};
    petal_error error;

    if (petal_table_list(session->db, consider_table, &search, &error) == PETAL_OK)
        near_suggest(session, search.nearest);
}

void
near_suggest_family(struct session *session, petal_table *table, petal_slice name)
{
    petal_slice nearest = {NULL, 0};
    unsigned least = 0;

    for (size_t i = 0; i < petal_table_family_count(table); i++)
        near_consider_bytes(name, petal_family_name(petal_table_family_at(table, i)), &nearest,
                            &least);
    near_suggest(session, nearest);
}
