/* many.c -- disable_all, enable_all and drop_all: show the tables that match, ask, and do it. */
#include "tools/shell/schema/commands.h"
#include "tools/shell/session/names.h"

#include <string.h>

struct change {
    const char *title, *done; /* "Disable", "disabled" */
    bool disables, drops;
};

/* As in HBase only disabled tables can be dropped. */
static enum petal_status
make_change(struct session *session, const struct change *change, petal_table *table,
            petal_error *error)
{
    petal_slice name = petal_table_name(table);
    enum petal_status outcome = PETAL_OK;

    if (change->drops)
        outcome =
            session_is_disabled(session, name) ? petal_table_drop(table, error) : PETAL_INVALID;
    if (outcome == PETAL_OK)
        session_set_disabled(session, name, change->disables);
    return outcome;
}

/* Change each table; those that could not be are named after the others' number. */
static enum shell_status
change_tables(struct session *session, const struct change *change, const struct name_list *list)
{
    enum shell_status status = SHELL_FINE;
    struct text failed = {0};
    size_t failures = 0;

    for (size_t i = 0; i < list->count; i++) {
        petal_table *table;
        petal_error error;
        enum petal_status outcome = petal_table_open(session->db, list->items[i], &table, &error);

        if (outcome == PETAL_OK)
            outcome = make_change(session, change, table, &error);
        if (outcome == PETAL_OK)
            continue;
        if (shell_status_of(outcome) > status)
            status = shell_status_of(outcome);
        text_add_string(&failed, failures++ == 0 ? "" : ",");
        text_add_slice(&failed, list->items[i]);
    }
    output_plain(&session->output, "%zu tables successfully %s", list->count - failures,
                 change->done);
    if (failures > 0)
        output_plain(&session->output, "%zu tables not %s due to an exception: %s", failures,
                     change->done, text_string(&failed));
    text_free(&failed);
    return status;
}

static enum shell_status
change_matching(struct session *session, const struct value *argument, const struct change *change)
{
    struct name_list list;
    enum shell_status status = name_list_matching(session, argument, &list);
    bool yes;

    if (status != SHELL_FINE)
        return status;
    if (list.count == 0) {
        output_plain(&session->output, "No tables matched the regex %.*s",
                     SLICE(argument->as.bytes));
        return SHELL_FINE;
    }
    for (size_t i = 0; i < list.count; i++)
        output_line(&session->output, list.items[i]);
    output_plain(&session->output, "\n%s the above %zu tables (y/n)?", change->title, list.count);
    status = session_ask(session, &yes);
    return status == SHELL_FINE && yes ? change_tables(session, change, &list) : status;
}

COMMAND_FUNCTION(command_disable_all)
{
    static const struct change change = {"Disable", "disabled", .disables = true};

    return change_matching(session, &arguments[0], &change);
}

COMMAND_FUNCTION(command_enable_all)
{
    static const struct change change = {"Enable", "enabled", .disables = false};

    return change_matching(session, &arguments[0], &change);
}

COMMAND_FUNCTION(command_drop_all)
{
    static const struct change change = {"Drop", "dropped", .drops = true};

    return change_matching(session, &arguments[0], &change);
}
