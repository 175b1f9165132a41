/* variable.c -- see tools/shell/language/variable.h. */
#include "tools/shell/language/variable.h"

#include <stdlib.h>

static struct variable *
find(const struct variables *variables, petal_slice name)
{
    for (size_t i = variables->count; i > 0; i--)
        if (slices_equal(variables->items[i - 1].name, name))
            return &variables->items[i - 1];
    return NULL;
}

static struct variable
make(petal_slice name, const struct value *value)
{
    struct variable variable = {.value = value_nil()};

    variable.name = (petal_slice){arena_copy(&variable.arena, name.data, name.size), name.size};
    variable.value = value_copy(&variable.arena, value);
    return variable;
}

void
variables_free(struct variables *variables)
{
    variables_pop_to(variables, 0);
    free(variables->items);
    *variables = (struct variables){0};
}

void
variables_push(struct variables *variables, petal_slice name, const struct value *value)
{
    struct variable pushed = make(name, value);

    variables->items = memory_room(variables->items, variables->count, &variables->capacity,
                                   sizeof(*variables->items));
    variables->items[variables->count++] = pushed;
}

void
variables_set(struct variables *variables, petal_slice name, const struct value *value)
{
    struct variable *variable = find(variables, name);
    struct variable changed;

    if (variable == NULL) {
        variables_push(variables, name, value);
        return;
    }
    changed = make(name, value); /* the value may live in the variable's old arena */
    arena_clear(&variable->arena);
    *variable = changed;
}

void
variables_pop_to(struct variables *variables, size_t count)
{
    while (variables->count > count)
        arena_clear(&variables->items[--variables->count].arena);
}

const struct value *
variables_get(const struct variables *variables, petal_slice name)
{
    const struct variable *variable = find(variables, name);

    return variable != NULL ? &variable->value : NULL;
}
