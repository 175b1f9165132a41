/* shell_compact.c -- compact, major_compact and compaction_state. */
#include "tools/shell_command.h"

/* The table of a name, disabled or not. */
static enum shell_status
find_table(struct session *session, const struct value *argument, petal_table **table)
{
    enum petal_status outcome;
    petal_error error;
    petal_slice name;

    if (session_table_name(session, argument, &name) != SHELL_FINE)
        return SHELL_USAGE;
    outcome = petal_table_open(session->db, name, table, &error);
    if (outcome == PETAL_NOT_FOUND)
        return session_fail(session, SHELL_NOT_FOUND, "Unknown table %.*s!", (int)name.size,
                            (const char *)name.data);
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

/* The third argument: HBase compacts MOB files apart, which there are not. */
static enum shell_status
check_type(struct session *session, const struct value *type)
{
    petal_slice text = value_to_bytes(&session->arena, type);

    if (type->kind == VALUE_NIL || slice_is(text, "NORMAL"))
        return SHELL_FINE;
    return session_fail(session, SHELL_USAGE, "Unknown compaction type %.*s; there is NORMAL",
                        (int)text.size, (const char *)text.data);
}

/* All files of the table or family become one; when the command returns it is done. */
COMMAND_FUNCTION(command_compact)
{
    petal_table *table;
    petal_family *family = NULL;
    petal_error error;
    enum shell_status status = find_table(session, &arguments[0], &table);

    (void)result;
    if (status == SHELL_FINE && count > 1 && arguments[1].kind != VALUE_NIL)
        status =
            session_family(session, table, value_to_bytes(&session->arena, &arguments[1]), &family);
    if (status == SHELL_FINE && count > 2)
        status = check_type(session, &arguments[2]);
    if (status != SHELL_FINE)
        return status;
    /* As in HBase nothing happens to a disabled table, in silence. */
    if (session_is_disabled(session, petal_table_name(table)))
        return SHELL_FINE;
    if (petal_compact(table, family, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

/* No compaction of this shell outlives its command. */
COMMAND_FUNCTION(command_compaction_state)
{
    petal_table *table;
    enum shell_status status = find_table(session, &arguments[0], &table);

    (void)count;
    if (status != SHELL_FINE)
        return status;
    output_plain(&session->output, "NONE");
    *result = value_string(slice_of_string("NONE"));
    return SHELL_FINE;
}
