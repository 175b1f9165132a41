/* filter_object.c -- see tools/shell/data/filter_object.h. */
#include "tools/shell/data/filter_object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum petal_compare compare;
} comparisons[] = {
    {"LESS", PETAL_LESS},
    {"LESS_OR_EQUAL", PETAL_LESS_OR_EQUAL},
    {"EQUAL", PETAL_EQUAL},
    {"NOT_EQUAL", PETAL_NOT_EQUAL},
    {"GREATER_OR_EQUAL", PETAL_GREATER_OR_EQUAL},
    {"GREATER", PETAL_GREATER},
};

static petal_filter_argument
argument_of(const struct value *value)
{
    petal_filter_argument argument = {.kind = PETAL_FILTER_OPEN};

    switch (value->kind) {
    case VALUE_STRING:
        argument.kind = PETAL_FILTER_BYTES;
        argument.bytes = value->as.bytes;
        break;
    case VALUE_INTEGER:
        argument.kind = PETAL_FILTER_NUMBER;
        argument.number = value->as.integer;
        break;
    case VALUE_BOOLEAN:
        argument.kind = PETAL_FILTER_BOOLEAN;
        argument.number = value->as.boolean;
        break;
    case VALUE_SYMBOL:
        argument.kind = PETAL_FILTER_COMPARE;
        for (size_t i = 0; i < COUNT_OF(comparisons); i++)
            if (slice_is(value->as.bytes, comparisons[i].name))
                argument.number = comparisons[i].compare;
        break;
    case VALUE_NIL:
    case VALUE_FLOAT:
    case VALUE_ARRAY:
    case VALUE_HASH:
    case VALUE_TABLE:
    case VALUE_FILTER:
    case VALUE_OTHER:
        break;
    }
    return argument;
}

static enum shell_status
make_one(struct session *session, const struct value *object, petal_filter **filter)
{
    petal_filter_argument *arguments =
        arena_allocate(&session->arena, object->count * sizeof(*arguments));
    struct value name = value_string(value_filter_name(object));
    petal_error error;

    for (size_t i = 1; i < object->count; i++)
        arguments[i - 1] = argument_of(&object->as.items[i]);
    if (petal_filter_make(session->db, value_to_string(&session->arena, &name), arguments,
                          object->count - 1, filter, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

static enum shell_status
make_combination(struct session *session, const struct value *object, petal_filter **filter)
{
    bool list = slice_is(value_filter_name(object), "FilterList");
    size_t first = list ? 2 : 1, made = 0;
    petal_filter **members =
        arena_allocate(&session->arena, object->count * sizeof(petal_filter *));
    enum shell_status status = SHELL_FINE;
    petal_error error;

    if (list && (object->count < 2 || object->as.items[1].kind != VALUE_SYMBOL))
        return session_fail(session, SHELL_USAGE, "FilterList lacks its operator");
    for (size_t i = first; i < object->count && status == SHELL_FINE; i++) {
        status = filter_object_make(session, &object->as.items[i], &members[made]);
        made += status == SHELL_FINE;
    }
    if (status == SHELL_FINE &&
        petal_filter_combine(
            session->db,
            !list ? (slice_is(value_filter_name(object), "SkipFilter") ? PETAL_FILTER_SKIP
                                                                       : PETAL_FILTER_WHILE)
            : slice_is(object->as.items[1].as.bytes, "MUST_PASS_ALL") ? PETAL_FILTER_AND
                                                                      : PETAL_FILTER_OR,
            members, made, filter, &error) != PETAL_OK)
        status = session_fail_petal(session, &error);
    while (made > 0)
        petal_filter_free(members[--made]); /* the combination keeps them */
    return status;
}

enum shell_status
filter_object_make(struct session *session, const struct value *object, petal_filter **filter)
{
    petal_slice name;

    if (object->kind != VALUE_FILTER)
        return session_fail(session, SHELL_USAGE, "%.*s is no filter",
                            SLICE_UP_TO(80, value_to_bytes(&session->arena, object)));
    name = value_filter_name(object);
    if (slice_is(name, "FilterList") || slice_is(name, "SkipFilter") ||
        slice_is(name, "WhileMatchFilter"))
        return make_combination(session, object, filter);
    return make_one(session, object, filter);
}
