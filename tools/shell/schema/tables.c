/* tables.c -- the commands about one table as such, its disabled state in this session included,
 * and list. */
#include "tools/shell/schema/commands.h"
#include "tools/shell/schema/describe.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/schema/notes.h"
#include "tools/shell/schema/schema.h"
#include "tools/shell/session/names.h"
#include "tools/shell/session/opening.h"

#include <string.h>

COMMAND_FUNCTION(command_create)
{
    struct schema schema = {.table.size = sizeof(schema.table)};
    enum shell_status status;
    enum petal_status outcome;
    petal_table *table;
    petal_error error;

    if (arguments[0].kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "Table name must be of type String");
    status = session_table_name(session, &arguments[0], &schema.table.name);
    if (status == SHELL_FINE)
        status = schema_read_create(session, arguments + 1, count - 1, &schema);
    if (status != SHELL_FINE)
        return status;
    if (schema.table.family_count == 0)
        return session_fail(session, SHELL_USAGE, "Table must have at least one column family");
    status = namespace_check_table(session, schema.table.name);
    if (status == SHELL_FINE && petal_table_check(&schema.table, &error) != PETAL_OK)
        status = session_fail_petal(session, &error);
    if (status == SHELL_FINE)
        status = session_make_database(session);
    if (status != SHELL_FINE)
        return status;
    outcome = petal_table_create(session->db, &schema.table, &table, &error);
    if (outcome == PETAL_EXISTS)
        return session_fail(session, SHELL_USAGE, "Table already exists: %.*s!",
                            SLICE(schema.table.name));
    if (outcome != PETAL_OK)
        return session_fail_petal(session, &error);
    session_set_disabled(session, schema.table.name, false);
    output_plain(&session->output, "Created table %.*s", SLICE(schema.table.name));
    notes_tell(session, NULL, &schema);
    *result = (struct value){.kind = VALUE_TABLE, .as.bytes = schema.table.name};
    return SHELL_FINE;
}

/* The attributes of a family whose files are damaged are known nevertheless: standard error says
 * what is the matter with them. */
static void
tell_damage(struct session *session, const petal_table *table)
{
    struct text text = {0};
    petal_error error;

    output_flush(&session->output);
    for (size_t i = 0; i < petal_table_family_count(table); i++) {
        if (petal_family_check(petal_table_family_at(table, i), &error) != PETAL_CORRUPT)
            continue;
        text_clear(&text);
        session_describe_error(session, &text, &error);
        (void)fprintf(stderr, "kv-shell: %s\n", text_string(&text));
    }
    text_free(&text);
}

COMMAND_FUNCTION(command_describe)
{
    struct output *output = &session->output;
    struct text *text = &session->scratch;
    petal_table_options options = {.size = sizeof(options)};
    petal_table *table;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Table ", " does not exist.", &table);

    if (status != SHELL_FINE)
        return status;
    if (format_is_on(&output->format)) {
        petal_table_describe(table, &options);
        describe_records(&output->format, &options,
                         !session_is_disabled(session, petal_table_name(table)));
        tell_damage(session, table);
        return SHELL_FINE;
    }
    text_clear(text);
    text_add_string(text, "Table ");
    text_add_slice(text, petal_table_name(table));
    text_add_string(text, session_is_disabled(session, petal_table_name(table)) ? " is DISABLED"
                                                                                : " is ENABLED");
    output_header(output, text_string(text), NULL);
    text_clear(text);
    petal_table_describe(table, &options);
    describe_table(text, &options);
    output_line(output, text_slice(text));
    output_line(output, slice_of_string("COLUMN FAMILIES DESCRIPTION"));
    for (size_t i = 0; i < options.family_count; i++) {
        text_clear(text);
        describe_family(text, &options.families[i]);
        output_line(output, text_slice(text));
        output_plain(output, "%s", "");
    }
    output_plain(output, "%zu row(s)", options.family_count);
    tell_damage(session, table);
    return SHELL_FINE;
}

static enum shell_status
alter_table(struct session *session, const struct value *arguments, size_t count,
            petal_table **altered)
{
    petal_table_options before = {.size = sizeof(before)};
    struct schema schema;
    petal_table *table;
    petal_error error;
    enum shell_status status;

    if (arguments[0].kind != VALUE_STRING)
        return session_fail(session, SHELL_USAGE, "Table name must be of type String");
    status = session_any_table(session, &arguments[0], "Can't find a table: ", "", &table);
    if (status != SHELL_FINE)
        return status;
    if (count == 1)
        return session_fail(session, SHELL_USAGE,
                            "There should be at least one argument but the table name");
    schema_describe(session, table, &schema);
    status = schema_read_alter(session, arguments + 1, count - 1, &schema);
    if (status != SHELL_FINE)
        return status;
    *altered = table;
    petal_table_describe(table, &before);
    if (petal_table_alter(table, &schema.table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    notes_tell_new_families(session, &before, &schema);
    notes_tell(session, &before, &schema);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_alter)
{
    petal_table *table;
    enum shell_status status = alter_table(session, arguments, count, &table);

    if (status != SHELL_FINE)
        return status;
    output_plain(&session->output, "Updating all regions with the new schema...");
    output_plain(&session->output, session_is_disabled(session, petal_table_name(table))
                                       ? "All regions updated."
                                       : "1/1 regions updated.");
    output_plain(&session->output, "Done.");
    return SHELL_FINE;
}

/* Without a word about regions; it is done just so when the command returns. */
COMMAND_FUNCTION(command_alter_async)
{
    petal_table *table;

    return alter_table(session, arguments, count, &table);
}

/* An alteration is done when alter returns. */
COMMAND_FUNCTION(command_alter_status)
{
    petal_table *table;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Can't find a table: ", "", &table);

    if (status != SHELL_FINE)
        return status;
    output_plain(&session->output, "1/1 regions updated.");
    output_plain(&session->output, "Done.");
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_list)
{
    struct name_list list;
    enum shell_status status;

    output_header(&session->output, "TABLE", NULL);
    status = count == 0 ? name_list_tables(session, NULL, LIST_ANY, &list)
                        : name_list_matching(session, &arguments[0], &list);
    if (status == SHELL_FINE)
        name_list_show(session, &list, result);
    return status;
}

static enum shell_status
list_by_state(struct session *session, enum name_list_state state, struct value *result)
{
    struct name_list list;
    enum shell_status status;

    output_header(&session->output, "TABLE", NULL);
    status = name_list_tables(session, NULL, state, &list);
    if (status == SHELL_FINE)
        name_list_show(session, &list, result);
    return status;
}

COMMAND_FUNCTION(command_list_enabled_tables)
{
    return list_by_state(session, LIST_ENABLED, result);
}

COMMAND_FUNCTION(command_list_disabled_tables)
{
    return list_by_state(session, LIST_DISABLED, result);
}

COMMAND_FUNCTION(command_exists)
{
    enum petal_status outcome;
    petal_table *table;
    petal_error error;
    petal_slice name;

    if (session_table_name(session, &arguments[0], &name) != SHELL_FINE)
        return SHELL_USAGE;
    outcome = petal_table_open(session->db, name, &table, &error);
    if (outcome != PETAL_OK && outcome != PETAL_NOT_FOUND && outcome != PETAL_INVALID)
        return session_fail_petal(session, &error);
    text_clear(&session->scratch);
    text_add_string(&session->scratch, "Table ");
    text_add_slice(&session->scratch, name);
    text_add_string(&session->scratch, outcome == PETAL_OK ? " does exist" : " does not exist");
    if (output_begin_records(&session->output, "exists"))
        format_boolean(&session->output.format, outcome == PETAL_OK);
    else
        output_line(&session->output, text_slice(&session->scratch));
    *result = value_boolean(outcome == PETAL_OK);
    return outcome == PETAL_OK ? SHELL_FINE : SHELL_NOT_FOUND;
}

/* Whether there is such a table shows when it is used. */
COMMAND_FUNCTION(command_get_table)
{
    petal_slice name;

    if (session_table_name(session, &arguments[0], &name) != SHELL_FINE)
        return SHELL_USAGE;
    *result = (struct value){.kind = VALUE_TABLE, .as.bytes = name};
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_drop)
{
    petal_table *table;
    petal_error error;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Table ", " does not exist.", &table);
    petal_slice name;

    if (status != SHELL_FINE)
        return status;
    name = petal_table_name(table);
    if (!session_is_disabled(session, name))
        return session_fail(session, SHELL_USAGE, "Table %.*s is enabled. Disable it first.",
                            SLICE(name));
    if (petal_table_drop(table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    session_set_disabled(session, name, false);
    return SHELL_FINE;
}

/* Without hbase:namespace the namespaces were gone. */
static enum shell_status
check_users_table(struct session *session, petal_slice name, const char *done)
{
    if (!slice_is(table_namespace(name), "hbase"))
        return SHELL_FINE;
    return session_fail(session, SHELL_USAGE,
                        "Tables of the namespace hbase are the database's own and cannot be %s",
                        done);
}

static enum shell_status
change_state(struct session *session, const struct value *argument, bool disabled)
{
    petal_table *table;
    enum shell_status status =
        session_any_table(session, argument, "Table ", " does not exist.", &table);

    if (status == SHELL_FINE && disabled)
        status = check_users_table(session, petal_table_name(table), "disabled");
    if (status == SHELL_FINE)
        session_set_disabled(session, petal_table_name(table), disabled);
    return status;
}

COMMAND_FUNCTION(command_enable)
{
    return change_state(session, &arguments[0], false);
}

COMMAND_FUNCTION(command_disable)
{
    return change_state(session, &arguments[0], true);
}

static enum shell_status
show_state(struct session *session, const struct value *argument, bool wanted, struct value *result)
{
    petal_table *table;
    enum shell_status status = session_any_table(session, argument, "Unknown table ", "!", &table);

    if (status != SHELL_FINE)
        return status;
    *result = value_boolean(session_is_disabled(session, petal_table_name(table)) == wanted);
    output_truth(&session->output, wanted ? "disabled" : "enabled", result->as.boolean);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_is_enabled)
{
    return show_state(session, &arguments[0], false, result);
}

COMMAND_FUNCTION(command_is_disabled)
{
    return show_state(session, &arguments[0], true, result);
}

/* Deletions go with all other cells: they hide no later put.  With one region there is nothing that
 * truncate_preserve would preserve beyond that. */
COMMAND_FUNCTION(command_truncate)
{
    petal_table *table;
    petal_error error;
    petal_slice name;
    enum shell_status status;

    if (session_table_name(session, &arguments[0], &name) != SHELL_FINE)
        return SHELL_USAGE;
    output_plain(&session->output, "Truncating '%.*s' table (it may take a while):", SLICE(name));
    status = session_any_table(session, &arguments[0], "Unknown table ", "!", &table);
    if (status == SHELL_FINE)
        status = check_users_table(session, name, "truncated");
    if (status != SHELL_FINE)
        return status;
    if (!session_is_disabled(session, name))
        output_plain(&session->output, "Disabling table...");
    output_plain(&session->output, "Truncating table...");
    if (petal_table_truncate(table, &table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    session_set_disabled(session, name, false);
    return SHELL_FINE;
}

/* A third argument says whether splits are preserved: there are none. */
COMMAND_FUNCTION(command_clone_table_schema)
{
    petal_table_options options = {.size = sizeof(options)};
    enum petal_status outcome;
    enum shell_status status;
    petal_table *table;
    petal_error error;
    petal_slice name;

    status = session_any_table(session, &arguments[0], "Unknown table ", "!", &table);
    if (status == SHELL_FINE)
        status = session_table_name(session, &arguments[1], &name);
    if (status == SHELL_FINE)
        status = namespace_check_table(session, name);
    if (status != SHELL_FINE)
        return status;
    petal_table_describe(table, &options);
    options.name = name;
    outcome = petal_table_create(session->db, &options, &table, &error);
    if (outcome == PETAL_EXISTS)
        return session_fail(session, SHELL_USAGE, "Table already exists: %.*s!", SLICE(name));
    if (outcome != PETAL_OK)
        return session_fail_petal(session, &error);
    session_set_disabled(session, name, false);
    return SHELL_FINE;
}
