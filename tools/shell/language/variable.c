/* variable.c -- see tools/shell/language/variable.h. */
#include "tools/shell/language/variable.h"

#include "tools/shell/language/value_hash.h"
#include "tools/shell/language/value_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

static petal_slice
name_of(const struct variable *variable)
{
    return (petal_slice){variable->name, variable->name_size};
}

/* The head of the chain on which variables of that name are; there are chains. */
static size_t *
chain_of(const struct variables *variables, petal_slice name)
{
    return &variables->chains[slice_hash(name) & (variables->chains_count - 1)];
}

static struct variable *
find(const struct variables *variables, petal_slice name)
{
    size_t at = variables->chains_count > 0 ? *chain_of(variables, name) : 0;

    while (at > 0 && !slices_equal(name_of(&variables->items[at - 1]), name))
        at = variables->items[at - 1].below;
    return at > 0 ? &variables->items[at - 1] : NULL;
}

static void
link_variable(struct variables *variables, size_t place)
{
    struct variable *variable = &variables->items[place];
    size_t *chain = chain_of(variables, name_of(variable));

    variable->below = *chain;
    *chain = place + 1;
}

/* At least as many chains as there is room for variables. */
static void
add_chains(struct variables *variables)
{
    if (variables->chains_count >= variables->capacity)
        return;
    while (variables->chains_count < variables->capacity)
        variables->chains_count = 2 * variables->chains_count + (variables->chains_count == 0);
    variables->chains =
        memory_grow(variables->chains, variables->chains_count * sizeof(*variables->chains));
    memset(variables->chains, 0, variables->chains_count * sizeof(*variables->chains));
    for (size_t i = 0; i < variables->count; i++)
        link_variable(variables, i);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static size_t
size_of(const struct value *value)
{
    return value->kind == VALUE_STRING ? value->as.bytes.size : value->count;
}

static void
copy_pairs(struct arena *arena, struct value *copy, const struct value *hash, size_t room)
{
    copy->as.pairs = arena_allocate(arena, room * sizeof(struct value_pair));
    copy->as.index = room >= VALUE_INDEX_LEAST ? value_index_new(arena, room) : NULL;
    for (size_t i = 0; i < hash->count; i++) {
        copy->as.pairs[i].key = value_copy(arena, &hash->as.pairs[i].key);
        copy->as.pairs[i].value = value_copy(arena, &hash->as.pairs[i].value);
        if (copy->as.index != NULL)
            value_index_add(copy->as.index, copy->as.pairs, sizeof(struct value_pair), i);
    }
}

/* A copy that can grow to so many items, pairs or bytes. */
static struct value
copy_with_room(struct arena *arena, const struct value *value, size_t room)
{
    struct value copy = *value;
    char *bytes;

    if (value->kind == VALUE_HASH) {
        copy_pairs(arena, &copy, value, room);
    } else if (value->kind == VALUE_ARRAY) {
        copy.as.items = arena_allocate(arena, room * sizeof(struct value));
        for (size_t i = 0; i < value->count; i++)
            copy.as.items[i] = value_copy(arena, &value->as.items[i]);
    } else if (value->kind == VALUE_STRING) {
        bytes = arena_allocate(arena, room);
        if (value->as.bytes.size > 0)
            memcpy(bytes, value->as.bytes.data, value->as.bytes.size);
        copy.as.bytes.data = bytes;
    } else {
        copy = value_copy(arena, value);
    }
    return copy;
}

/* `value` may be the one that the variable has. */
static void
set_value(struct variable *variable, const struct value *value, size_t room)
{
    struct arena older = variable->arena;

    variable->arena = (struct arena){.chunks = NULL};
    variable->value = copy_with_room(&variable->arena, value, room);
    variable->room = room;
    variable->settled = variable->arena.bytes;
    arena_clear(&older);
}

/* The one of that name, with room for so much more, and without what values that are gone have
 * left behind, once that is most of it. */
static struct variable *
open_to_change(struct variables *variables, petal_slice name, size_t more)
{
    struct variable *variable = find(variables, name);
    size_t wanted;

    assert(variable != NULL);
    wanted = size_of(&variable->value) + more;
    if (wanted > variable->room)
        set_value(variable, &variable->value, 2 * wanted);
    else if (variable->arena.bytes > 2 * variable->settled)
        set_value(variable, &variable->value, variable->room);
    return variable;
}

void
variables_free(struct variables *variables)
{
    variables_pop_to(variables, 0);
    free(variables->items);
    free(variables->chains);
    *variables = (struct variables){0};
}

void
variables_push(struct variables *variables, petal_slice name, const struct value *value)
{
    struct variable pushed = {.name = memory_allocate(name.size), .name_size = name.size};

    memcpy(pushed.name, name.data, name.size);
    set_value(&pushed, value, size_of(value));
    variables->items = memory_room(variables->items, variables->count, &variables->capacity,
                                   sizeof(*variables->items));
    variables->items[variables->count] = pushed;
    add_chains(variables);
    link_variable(variables, variables->count++);
}

void
variables_set(struct variables *variables, petal_slice name, const struct value *value)
{
    struct variable *variable = find(variables, name);

    if (variable == NULL)
        variables_push(variables, name, value);
    else
        set_value(variable, value, size_of(value));
}

void
variables_append(struct variables *variables, petal_slice name, const struct value *value)
{
    const struct variable *found = find(variables, name);
    bool text = found->value.kind == VALUE_STRING;
    struct variable *variable = open_to_change(variables, name, text ? value->as.bytes.size : 1);
    struct value *grown = &variable->value;

    assert(text ? value->kind == VALUE_STRING : grown->kind == VALUE_ARRAY);
    if (!text) {
        grown->as.items[grown->count++] = value_copy(&variable->arena, value);
    } else if (value->as.bytes.size > 0) {
        memcpy((char *)(uintptr_t)grown->as.bytes.data + grown->as.bytes.size, value->as.bytes.data,
               value->as.bytes.size);
        grown->as.bytes.size += value->as.bytes.size;
    }
}

void
variables_set_item(struct variables *variables, petal_slice name, size_t place,
                   const struct value *value)
{
    size_t count = find(variables, name)->value.count;
    struct variable *variable =
        open_to_change(variables, name, place < count ? 0 : place + 1 - count);
    struct value *list = &variable->value;

    assert(list->kind == VALUE_ARRAY);
    while (list->count <= place)
        list->as.items[list->count++] = value_nil();
    list->as.items[place] = value_copy(&variable->arena, value);
}

void
variables_set_pair(struct variables *variables, petal_slice name, const struct value *key,
                   const struct value *value)
{
    size_t place = value_hash_place(&find(variables, name)->value, key);
    struct variable *variable = open_to_change(variables, name, place == SIZE_MAX);
    struct value *hash = &variable->value;

    assert(hash->kind == VALUE_HASH);
    if (place == SIZE_MAX) {
        place = hash->count++;
        hash->as.pairs[place].key = value_copy(&variable->arena, key);
        if (hash->as.index != NULL)
            value_index_add(hash->as.index, hash->as.pairs, sizeof(struct value_pair), place);
    }
    hash->as.pairs[place].value = value_copy(&variable->arena, value);
}

void
variables_pop_to(struct variables *variables, size_t count)
{
    while (variables->count > count) {
        struct variable *newest = &variables->items[--variables->count];

        *chain_of(variables, name_of(newest)) = newest->below;
        free(newest->name);
        arena_clear(&newest->arena);
    }
}

const struct value *
variables_get(const struct variables *variables, petal_slice name)
{
    const struct variable *variable = find(variables, name);

    return variable != NULL ? &variable->value : NULL;
}
