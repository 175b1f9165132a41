/* shell_tables.c -- create, alter, describe, list, exists, drop, truncate, and the disabled state of this session. */
#include "tools/shell_command.h"
#include "tools/shell_describe.h"
#include "tools/shell_pattern.h"
#include "tools/shell_schema.h"

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
    status = session_check_namespace(session, schema.table.name);
    if (status != SHELL_FINE)
        return status;
    session_begin_write(session);
    outcome = petal_table_create(session->db, &schema.table, &table, &error);
    if (outcome == PETAL_EXISTS)
        return session_fail(session, SHELL_USAGE, "Table already exists: %.*s!",
                            (int)schema.table.name.size, (const char *)schema.table.name.data);
    if (outcome != PETAL_OK)
        return session_fail_petal(session, &error);
    session_set_disabled(session, schema.table.name, false);
    output_plain(&session->output, "Created table %.*s", (int)schema.table.name.size,
                 (const char *)schema.table.name.data);
    *result = (struct value){.kind = VALUE_TABLE, .as.bytes = schema.table.name};
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_describe)
{
    struct output *output = &session->output;
    struct text *text = &session->scratch;
    petal_table_options options = {.size = sizeof(options)};
    petal_table *table;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Table ", " does not exist.", &table);

    (void)count;
    (void)result;
    if (status != SHELL_FINE)
        return status;
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
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_alter)
{
    struct schema schema;
    petal_table *table;
    petal_error error;
    enum shell_status status;

    (void)result;
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
    if (petal_table_alter(table, &schema.table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    output_plain(&session->output, "Updating all regions with the new schema...");
    output_plain(&session->output, session_is_disabled(session, petal_table_name(table))
                                       ? "All regions updated."
                                       : "1/1 regions updated.");
    output_plain(&session->output, "Done.");
    return SHELL_FINE;
}

/* An alteration is done when alter returns. */
COMMAND_FUNCTION(command_alter_status)
{
    petal_table *table;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Can't find a table: ", "", &table);

    (void)count;
    (void)result;
    if (status != SHELL_FINE)
        return status;
    output_plain(&session->output, "1/1 regions updated.");
    output_plain(&session->output, "Done.");
    return SHELL_FINE;
}

struct listing {
    struct session *session;
    const struct pattern *pattern; /* NULL: every table */
    struct value names;
    size_t capacity;
};

static bool
list_table(void *argument, petal_table *table)
{
    struct listing *listing = argument;
    struct arena *arena = &listing->session->arena;
    petal_slice name = petal_table_name(table);

    if (listing->pattern != NULL && !pattern_matches(listing->pattern, name))
        return true;
    if (listing->names.count == listing->capacity) {
        struct value *old = listing->names.as.items;

        listing->capacity = 2 * listing->capacity + 16;
        listing->names.as.items = arena_allocate(arena, listing->capacity * sizeof(*old));
        if (listing->names.count > 0)
            memcpy(listing->names.as.items, old, listing->names.count * sizeof(*old));
    }
    listing->names.as.items[listing->names.count++] =
        value_string((petal_slice){arena_copy(arena, name.data, name.size), name.size});
    output_line(&listing->session->output, name);
    return true;
}

static enum shell_status
list_matching(struct session *session, const struct pattern *pattern, struct value *result)
{
    struct listing listing = {session, pattern, {.kind = VALUE_ARRAY}, 0};
    petal_error error;

    if (petal_table_list(session->db, list_table, &listing, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    output_plain(&session->output, "%zu row(s)", listing.names.count);
    *result = listing.names;
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_list)
{
    enum shell_status status;
    struct pattern pattern;

    output_header(&session->output, "TABLE", NULL);
    if (count == 0)
        return list_matching(session, NULL, result);
    status = pattern_read(session, &arguments[0], &pattern);
    if (status == SHELL_FINE)
        status = list_matching(session, &pattern, result);
    pattern_free(&pattern);
    return status;
}

COMMAND_FUNCTION(command_exists)
{
    enum petal_status outcome;
    petal_table *table;
    petal_error error;
    petal_slice name;

    (void)count;
    if (session_table_name(session, &arguments[0], &name) != SHELL_FINE)
        return SHELL_USAGE;
    outcome = petal_table_open(session->db, name, &table, &error);
    if (outcome != PETAL_OK && outcome != PETAL_NOT_FOUND && outcome != PETAL_INVALID)
        return session_fail_petal(session, &error);
    text_clear(&session->scratch);
    text_add_string(&session->scratch, "Table ");
    text_add_slice(&session->scratch, name);
    text_add_string(&session->scratch, outcome == PETAL_OK ? " does exist" : " does not exist");
    output_line(&session->output, text_slice(&session->scratch));
    *result = value_boolean(outcome == PETAL_OK);
    return outcome == PETAL_OK ? SHELL_FINE : SHELL_NOT_FOUND;
}

COMMAND_FUNCTION(command_drop)
{
    petal_table *table;
    petal_error error;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Table ", " does not exist.", &table);
    petal_slice name;

    (void)count;
    (void)result;
    if (status != SHELL_FINE)
        return status;
    name = petal_table_name(table);
    if (!session_is_disabled(session, name))
        return session_fail(session, SHELL_USAGE, "Table %.*s is enabled. Disable it first.",
                            (int)name.size, (const char *)name.data);
    if (petal_table_drop(table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    session_set_disabled(session, name, false);
    return SHELL_FINE;
}

static enum shell_status
change_state(struct session *session, const struct value *argument, bool disabled)
{
    petal_table *table;
    enum shell_status status =
        session_any_table(session, argument, "Table ", " does not exist.", &table);

    if (status == SHELL_FINE)
        session_set_disabled(session, petal_table_name(table), disabled);
    return status;
}

COMMAND_FUNCTION(command_enable)
{
    (void)count;
    (void)result;
    return change_state(session, &arguments[0], false);
}

COMMAND_FUNCTION(command_disable)
{
    (void)count;
    (void)result;
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
    output_line(&session->output, slice_of_string(result->as.boolean ? "true" : "false"));
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_is_enabled)
{
    (void)count;
    return show_state(session, &arguments[0], false, result);
}

COMMAND_FUNCTION(command_is_disabled)
{
    (void)count;
    return show_state(session, &arguments[0], true, result);
}

/* Made anew: cells that an old timestamp would hide or show are gone with all others.  With one region there is
 * nothing that truncate_preserve would preserve beyond that. */
COMMAND_FUNCTION(command_truncate)
{
    petal_table_options options = {.size = sizeof(options)};
    petal_table *table;
    petal_error error;
    petal_slice name;
    enum shell_status status;

    (void)count;
    (void)result;
    if (session_table_name(session, &arguments[0], &name) != SHELL_FINE)
        return SHELL_USAGE;
    output_plain(&session->output, "Truncating '%.*s' table (it may take a while):", (int)name.size,
                 (const char *)name.data);
    status = session_any_table(session, &arguments[0], "Unknown table ", "!", &table);
    if (status != SHELL_FINE)
        return status;
    if (!session_is_disabled(session, name))
        output_plain(&session->output, "Disabling table...");
    output_plain(&session->output, "Truncating table...");
    petal_table_describe(table, &options);
    session_begin_write(session);
    if (petal_table_drop(table, &error) != PETAL_OK ||
        petal_table_create(session->db, &options, &table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    session_set_disabled(session, name, false);
    return SHELL_FINE;
}
