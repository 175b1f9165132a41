/* many.c -- disable_all, enable_all and drop_all: show the tables that match, ask, and do it. */
#include "tools/shell/schema/commands.h"
#include "tools/shell/session/names.h"

#include <string.h>

struct change {
    const char *title, *done; /* "Disable", "disabled" */
    enum petal_status (*make)(struct session *session, petal_table *table, petal_error *error);
};

static enum petal_status
disable_table(struct session *session, petal_table *table, petal_error *error)
{
    (void)error;
    session_set_disabled(session, petal_table_name(table), true);
    return PETAL_OK;
}

static enum petal_status
enable_table(struct session *session, petal_table *table, petal_error *error)
{
    (void)error;
    session_set_disabled(session, petal_table_name(table), false);
    return PETAL_OK;
}

static enum petal_status
drop_table(struct session *session, petal_table *table, petal_error *error)
{
    petal_slice name = petal_table_name(table);
    enum petal_status outcome;

    memset(error, 0, sizeof(*error));
    if (!session_is_disabled(session, name)) {
        error->status = PETAL_INVALID;
        return PETAL_INVALID;
    }
    outcome = petal_table_drop(table, error);
    if (outcome == PETAL_OK)
        session_set_disabled(session, name, false);
    return outcome;
}

/* Change each table; those that could not be are named behind the others' number. */
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
            outcome = change->make(session, table, &error);
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
    return change_matching(session, &arguments[0],
                           &(struct change){"Disable", "disabled", disable_table});
}

COMMAND_FUNCTION(command_enable_all)
{
    return change_matching(session, &arguments[0],
                           &(struct change){"Enable", "enabled", enable_table});
}

/* As in HBase only disabled ones can be dropped. */
COMMAND_FUNCTION(command_drop_all)
{
    return change_matching(session, &arguments[0], &(struct change){"Drop", "dropped", drop_table});
}
