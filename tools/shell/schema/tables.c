/* tables.c -- the commands about the schema of a table: create, describe, alter, and copies of it. */
#include "tools/shell/schema/commands.h"
#include "tools/shell/schema/describe.h"
#include "tools/shell/schema/namespace.h"
#include "tools/shell/schema/notes.h"
#include "tools/shell/schema/schema.h"
#include "tools/shell/session/opening.h"

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
