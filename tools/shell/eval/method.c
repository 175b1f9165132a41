/* method.c -- see tools/shell/eval/method.h. */
#include "tools/shell/eval/method.h"

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

static bool
call_on_table(struct session *session, const struct value *receiver, petal_slice name,
              const struct value *arguments, size_t count, struct value *value)
{
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

/* ---- Other values ---------------------------------------------------------------------------- */

static bool
call_on_string(struct session *session, const struct value *receiver, petal_slice name,
               struct value *value)
{
    petal_slice rest = receiver->as.bytes;

    if (slice_is(name, "upcase")) {
        char *letters = arena_copy(&session->arena, rest.data, rest.size);

        for (size_t i = 0; i < rest.size; i++)
            if (letters[i] >= 'a' && letters[i] <= 'z')
                letters[i] ^= 0x20;
        *value = value_string((petal_slice){letters, rest.size});
        return true;
    }
    if (!slice_is(name, "size") && !slice_is(name, "length"))
        return false;
    *value = value_integer((int64_t)text_characters(rest));
    return true;
}

bool
method_call(struct session *session, const struct value *receiver, petal_slice name,
            const struct value *arguments, size_t count, struct value *value)
{
    if (receiver->kind == VALUE_TABLE &&
        call_on_table(session, receiver, name, arguments, count, value))
        return true;
    if (count > 0)
        return false;
    if (receiver->kind == VALUE_STRING && call_on_string(session, receiver, name, value))
        return true;
    if ((receiver->kind == VALUE_ARRAY || receiver->kind == VALUE_HASH) &&
        (slice_is(name, "size") || slice_is(name, "length"))) {
        *value = value_integer((int64_t)receiver->count);
        return true;
    }
    if (!slice_is(name, "inspect"))
        return false;
    text_clear(&session->scratch);
    value_inspect(&session->scratch, receiver);
    *value = value_string(
        (petal_slice){arena_copy(&session->arena, session->scratch.bytes, session->scratch.size),
                      session->scratch.size});
    return true;
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* Each item of an array in a line of its own. */
static void
show_value(struct session *session, const struct value *value)
{
    if (value->kind == VALUE_ARRAY && value->count > 0) {
        for (size_t i = 0; i < value->count; i++)
            show_value(session, &value->as.items[i]);
        return;
    }
    text_clear(&session->scratch);
    if (value->kind != VALUE_ARRAY)
        value_to_text(&session->scratch, value);
    output_plain_slice(&session->output, text_slice(&session->scratch));
}

bool
function_is_known(petal_slice name)
{
    return slice_is(name, "puts") || slice_is(name, "raise");
}

bool
function_call(struct session *session, petal_slice name, const struct value *arguments,
              size_t count)
{
    struct text message = {0};

    if (slice_is(name, "puts")) {
        for (size_t i = 0; i < count; i++)
            show_value(session, &arguments[i]);
        if (count == 0)
            output_plain(&session->output, "%s", "");
    }
    if (!slice_is(name, "raise"))
        return true;
    if (count > 0)
        value_to_text(&message, &arguments[count - 1]);
    run_raise(session, "RuntimeError", count > 0 ? text_string(&message) : "unhandled exception");
    text_free(&message);
    return false;
}
