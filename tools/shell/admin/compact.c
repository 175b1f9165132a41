/* compact.c -- compact, major_compact and compaction_state. */
#include "tools/shell/admin/commands.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/progress.h"

#include <stdlib.h>

/* A compaction that is waited for; it may outlive the command. */
struct waiting {
    petal_db *db;
    petal_table *table;
    petal_family *family;
    struct progress progress;
};

static enum petal_status
run_compaction(void *argument, petal_error *error)
{
    const struct waiting *waiting = argument;

    return petal_compact(waiting->table, waiting->family, error);
}

static void
watch_compaction(void *argument, bool last)
{
    struct waiting *waiting = argument;
    petal_stats stats;

    if (last) {
        progress_end(&waiting->progress);
        return;
    }
    petal_stats_get(waiting->db, &stats);
    if (stats.compacting_cells > 0)
        progress_update(&waiting->progress, stats.compacting_done, stats.compacting_cells,
                        stats.compacting_done);
}

/* All files of the table or family become one; when the command returns it is done. */
COMMAND_FUNCTION(command_compact)
{
    petal_table *table;
    petal_family *family = NULL;
    struct waiting *waiting;
    struct background_work work = {
        .run = run_compaction, .watch = watch_compaction, .release = free};
    enum shell_status status =
        session_any_table(session, &arguments[0], "Unknown table ", "!", &table);

    if (status == SHELL_FINE && count > 1 && arguments[1].kind != VALUE_NIL)
        status =
            session_family(session, table, value_to_bytes(&session->arena, &arguments[1]), &family);
    if (status != SHELL_FINE)
        return status;
    /* HBase compacts MOB files apart, which there are not. */
    if (count > 2 && arguments[2].kind != VALUE_NIL &&
        !slice_is(value_to_bytes(&session->arena, &arguments[2]), "NORMAL"))
        return session_fail(session, SHELL_USAGE, "Unknown compaction type %.*s; there is NORMAL",
                            SLICE(value_to_bytes(&session->arena, &arguments[2])));
    /* As in HBase nothing happens to a disabled table, in silence. */
    if (session_is_disabled(session, petal_table_name(table)))
        return SHELL_FINE;
    work.argument = waiting = memory_allocate(sizeof(*waiting));
    *waiting = (struct waiting){.db = session->db, .table = table, .family = family};
    progress_begin(&waiting->progress, "compaction", "cells");
    status = interrupt_wait(session, &work);
    if (status != SHELL_FINE && interrupt_pending())
        return session_fail(session, status,
                            "Interrupted: the compaction goes on in the background");
    return status;
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

    if (status != SHELL_FINE)
        return status;
    name = names[petal_table_compaction_state(table)];
    if (output_begin_records(&session->output, "state"))
        format_string(&session->output.format, name);
    else
        output_plain(&session->output, "%s", name);
    *result = value_string(slice_of_string(name));
    return SHELL_FINE;
}
