/* method.c -- see tools/shell/eval/method.h. */
#include "tools/shell/eval/method.h"

#include "tools/shell/eval/java.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/run.h"

#include <string.h>

/* The commands that take a table first.  As in HBase an echo stands behind the duration of those
 * of cells, in one line. */
static const struct {
    const char *name;
    bool glued;
} table_commands[] = {
    {"append", true},    {"count", true},    {"delete", true},      {"deleteall", true},
    {"describe", false}, {"disable", false}, {"drop", false},       {"enable", false},
    {"flush", false},    {"get", true},      {"get_counter", true}, {"get_splits", true},
    {"incr", true},      {"put", true},      {"scan", true},        {"snapshot", false}};

const char *
method_of_table(size_t index)
{
    static const char *const others[] = {"get_all_columns", "help", "name"};
    size_t commands = COUNT_OF(table_commands);

    if (index < commands)
        return table_commands[index].name;
    return index - commands < COUNT_OF(others) ? others[index - commands] : NULL;
}

/* All its families, as HBase names columns without a qualifier. */
static struct value
table_columns(struct session *session, const struct value *receiver)
{
    struct value columns = {.kind = VALUE_ARRAY};
    petal_table *table;
    petal_error error;

    if (petal_table_open(session->db, receiver->as.bytes, &table, &error) != PETAL_OK)
        return columns;
    columns.as.items =
        arena_allocate(&session->arena, petal_table_family_count(table) * sizeof(struct value));
    for (size_t i = 0; i < petal_table_family_count(table); i++) {
        petal_slice family = petal_family_name(petal_table_family_at(table, i));
        char *name = arena_allocate(&session->arena, family.size + 1);

        memcpy(name, family.data, family.size);
        name[family.size] = ':';
        columns.as.items[columns.count++] = value_string((petal_slice){name, family.size + 1});
    }
    return columns;
}

/* False: a table has no such method. */
static bool
call_on_table(struct call *call)
{
    struct session *session = call->session;
    const struct value *receiver = call->receiver, *arguments = call->arguments;
    petal_slice name = call->name;
    size_t count = call->count;
    struct value *value = call->value;
    const struct command *command = command_find(session, name);

    for (size_t i = 0; i < COUNT_OF(table_commands); i++) {
        if (command != NULL && slice_is(name, table_commands[i].name)) {
            struct value *all = arena_allocate(&session->arena, (count + 1) * sizeof(*all));

            all[0] = value_string(receiver->as.bytes);
            if (count > 0)
                memcpy(all + 1, arguments, count * sizeof(*all));
            run_command(session, command, all, count + 1, table_commands[i].glued, value);
            return true;
        }
    }
    if (slice_is(name, "help")) {
        command = command_find(session, slice_of_string(count == 0 ? "table_help" : "help"));
        run_command(session, command, arguments, count, false, value);
        return true;
    }
    if (count > 0)
        return false;
    if (slice_is(name, "name"))
        *value = value_string(receiver->as.bytes);
    else if (slice_is(name, "get_all_columns"))
        *value = table_columns(session, receiver);
    else
        return false;
    return true;
}

/* ---- Any value ------------------------------------------------------------------------------- */

static const struct method *
methods_of(const struct value *value)
{
    switch (value->kind) {
    case VALUE_STRING:
    case VALUE_SYMBOL:
        return methods_of_texts;
    case VALUE_INTEGER:
    case VALUE_FLOAT:
        return methods_of_numbers;
    case VALUE_ARRAY:
        return methods_of_lists;
    case VALUE_RANGE:
        return methods_of_ranges;
    case VALUE_HASH:
        return methods_of_hashes;
    case VALUE_NIL:
    case VALUE_BOOLEAN:
    case VALUE_TABLE:
    case VALUE_CLASS:
    case VALUE_OBJECT:
        break;
    }
    return NULL;
}

/* What every value has. */
static bool
call_on_any(struct call *call)
{
    struct text text = {0};

    if (call->count > 0)
        return false;
    if (slice_is(call->name, "nil?"))
        return call_gives_boolean(call, call->receiver->kind == VALUE_NIL);
    if (slice_is(call->name, "class"))
        text_add_string(&text, value_class(call->receiver));
    else if (slice_is(call->name, "inspect"))
        value_inspect(&text, call->receiver);
    else if (slice_is(call->name, "to_s"))
        value_to_text(&text, call->receiver);
    else
        return false;
    (void)call_gives_bytes(call, text.bytes, text.size);
    text_free(&text);
    return true;
}

static bool
complain_of_method(struct call *call, const struct method *methods)
{
    const char *nearest = NULL;
    unsigned least = 0;

    for (size_t i = 0; call->receiver->kind == VALUE_TABLE && method_of_table(i) != NULL; i++)
        near_consider(call->name, method_of_table(i), &nearest, &least);
    for (size_t i = 0; methods != NULL && methods[i].name != NULL; i++)
        near_consider(call->name, methods[i].name, &nearest, &least);
    return complain(&call->complaint, "NameError", "unknown method '%.*s'%s%s%s",
                    SLICE_UP_TO(80, call->name), nearest != NULL ? "; did you mean '" : "",
                    nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

bool
method_call(struct call *call)
{
    const struct method *methods = methods_of(call->receiver), *method;

    *call->value = value_nil();
    if (call->receiver->kind == VALUE_TABLE && call_on_table(call))
        return true;
    if (call->receiver->kind == VALUE_CLASS || call->receiver->kind == VALUE_OBJECT)
        return java_call(call);
    method = method_find(methods, call->name);
    if (method != NULL)
        return method_run(method, call);
    return call_on_any(call) || complain_of_method(call, methods);
}
