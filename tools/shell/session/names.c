/* names.c -- see tools/shell/session/names.h. */
#include "tools/shell/session/names.h"

#include <string.h>

void
name_list_add(struct session *session, struct name_list *list, petal_slice name)
{
    list->items = arena_room(&session->arena, list->items, list->count, &list->capacity,
                             sizeof(*list->items));
    list->items[list->count++] =
        (petal_slice){arena_copy(&session->arena, name.data, name.size), name.size};
}

static const char *
find_colon(petal_slice table)
{
    return table.size > 0 ? memchr(table.data, ':', table.size) : NULL;
}

petal_slice
table_namespace(petal_slice table)
{
    const char *colon = find_colon(table);

    if (colon == NULL)
        return slice_of_string("default");
    return (petal_slice){table.data, (size_t)(colon - (const char *)table.data)};
}

petal_slice
table_qualifier(petal_slice table)
{
    const char *colon = find_colon(table);

    if (colon == NULL)
        return table;
    return (petal_slice){colon + 1, table.size - (size_t)(colon + 1 - (const char *)table.data)};
}

struct choice {
    struct session *session;
    const struct pattern *pattern;
    const petal_slice *name_space; /* NULL: all but hbase */
    enum name_list_state state;
    struct name_list *list;
};

static bool
choose_table(void *argument, petal_table *table)
{
    const struct choice *choice = argument;
    petal_slice name = petal_table_name(table);
    petal_slice name_space = table_namespace(name);
    bool disabled = session_is_disabled(choice->session, name);

    if (choice->name_space != NULL ? !slices_equal(name_space, *choice->name_space)
                                   : slice_is(name_space, "hbase"))
        return true;
    if (choice->pattern != NULL && !pattern_matches(choice->pattern, name))
        return true;
    if (choice->state == LIST_ANY || (choice->state == LIST_DISABLED) == disabled)
        name_list_add(choice->session, choice->list, name);
    return true;
}

static enum shell_status
list_chosen(struct choice *choice)
{
    petal_error error;

    *choice->list = (struct name_list){0};
    if (petal_table_list(choice->session->db, choose_table, choice, &error) != PETAL_OK)
        return session_fail_petal(choice->session, &error);
    return SHELL_FINE;
}

enum shell_status
name_list_tables(struct session *session, const struct pattern *pattern, enum name_list_state state,
                 struct name_list *list)
{
    return list_chosen(
        &(struct choice){.session = session, .pattern = pattern, .state = state, .list = list});
}

enum shell_status
name_list_matching(struct session *session, const struct value *argument, struct name_list *list)
{
    struct pattern pattern;
    enum shell_status status = pattern_read(session, argument, &pattern);

    if (status == SHELL_FINE)
        status = name_list_tables(session, &pattern, LIST_ANY, list);
    pattern_free(&pattern);
    return status;
}

enum shell_status
name_list_namespace(struct session *session, petal_slice name_space, struct name_list *list)
{
    return list_chosen(
        &(struct choice){.session = session, .name_space = &name_space, .list = list});
}

void
name_list_show(struct session *session, const struct name_list *list, struct value *result)
{
    for (size_t i = 0; i < list->count; i++)
        output_line(&session->output, list->items[i]);
    output_plain(&session->output, "%zu row(s)", list->count);
    if (result == NULL)
        return;
    *result = (struct value){.kind = VALUE_ARRAY, .count = list->count};
    result->as.items = arena_allocate(&session->arena, list->count * sizeof(*result));
    for (size_t i = 0; i < list->count; i++)
        result->as.items[i] = value_string(list->items[i]);
}
