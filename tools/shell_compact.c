/* shell_compact.c -- compact, major_compact and compaction_state. */
#include "tools/shell_command.h"

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
    enum shell_status status =
        session_any_table(session, &arguments[0], "Unknown table ", "!", &table);

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

COMMAND_FUNCTION(command_compaction_state)
{
    static const char *const names[] = {
        [PETAL_COMPACTION_NONE] = "NONE",
        [PETAL_COMPACTION_MINOR] = "MINOR",
        [PETAL_COMPACTION_MAJOR] = "MAJOR",
        [PETAL_COMPACTION_MAJOR_AND_MINOR] = "MAJOR_AND_MINOR",
    };
    petal_table *table;
    const char *name;
    enum shell_status status =
        session_any_table(session, &arguments[0], "Unknown table ", "!", &table);

    (void)count;
    if (status != SHELL_FINE)
        return status;
    name = names[petal_table_compaction_state(table)];
    output_plain(&session->output, "%s", name);
    *result = value_string(slice_of_string(name));
    return SHELL_FINE;
}
