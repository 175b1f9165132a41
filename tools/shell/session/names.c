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

petal_slice
table_namespace(petal_slice table)
{
    const char *colon = table.size > 0 ? memchr(table.data, ':', table.size) : NULL;

    if (colon == NULL)
        return slice_of_string("default");
    return (petal_slice){table.data, (size_t)(colon - (const char *)table.data)};
}
