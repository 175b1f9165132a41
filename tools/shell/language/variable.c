/* variable.c -- see tools/shell/language/variable.h. */
#include "tools/shell/language/variable.h"

#include <stdlib.h>

static struct variable *
find(const struct variables *variables, petal_slice name)
{
    for (size_t i = 0; i < variables->count; i++)
        if (slices_equal(variables->items[i].name, name))
            return &variables->items[i];
    return NULL;
}

void
variables_free(struct variables *variables)
{
    for (size_t i = 0; i < variables->count; i++)
        arena_clear(&variables->items[i].arena);
    free(variables->items);
    *variables = (struct variables){0};
}

void
variables_set(struct variables *variables, petal_slice name, const struct value *value)
{
    struct variable *variable = find(variables, name);
    struct variable changed = {.value = value_nil()};

    /* The value may live in the variable's old arena. */
    changed.name = (petal_slice){arena_copy(&changed.arena, name.data, name.size), name.size};
    changed.value = value_copy(&changed.arena, value);
    if (variable == NULL) {
        variables->items =
            memory_grow(variables->items, (variables->count + 1) * sizeof(*variables->items));
        variable = &variables->items[variables->count++];
    } else {
        arena_clear(&variable->arena);
    }
    *variable = changed;
}

void
variables_remove(struct variables *variables, petal_slice name)
{
    struct variable *variable = find(variables, name);

    if (variable == NULL)
        return;
    arena_clear(&variable->arena);
    *variable = variables->items[--variables->count];
}

const struct value *
variables_get(const struct variables *variables, petal_slice name)
{
    const struct variable *variable = find(variables, name);

    return variable != NULL ? &variable->value : NULL;
}
