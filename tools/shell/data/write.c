/*
 * write.c -- put, delete, deleteall and flush.
 *
 * A write without a timestamp gets one of the store's that is later than all of its column
 * (new_version in petal.h), however fast the commands come: two puts are two versions.  A
 * transaction is one moment: of its puts to a column the last one counts.
 */
#include "tools/shell/data/commands.h"
#include "tools/shell/data/query.h"
#include "tools/shell/data/rows.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/text/progress.h"

#include <inttypes.h>

COMMAND_FUNCTION(command_put)
{
    struct target target;
    petal_slice value;
    petal_error error;
    enum shell_status status = target_read_cell(session, arguments, &target);

    if (status == SHELL_FINE)
        status = target_read_rest(session, arguments + 4, count - 4, &target);
    if (status != SHELL_FINE)
        return status;
    value = value_to_bytes(&session->arena, &arguments[3]);
    if (rows_put(session, &target, value, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

/* ---- Deletions ------------------------------------------------------------------------------- */

/* What a deletion is about: no column is the whole row.  Its timestamp and hash stand after the
 * column. */
static enum shell_status
read_deleted(struct session *session, const struct value *arguments, size_t count,
             struct target *target)
{
    bool whole_row = count == 0 || arguments[0].kind == VALUE_NIL ||
                     (arguments[0].kind == VALUE_STRING && arguments[0].as.bytes.size == 0);
    enum shell_status status = SHELL_FINE;

    if (!whole_row)
        status = target_read_column(session, &arguments[0], target);
    if (status == SHELL_FINE)
        status = count > 0 ? target_read_rest(session, arguments + 1, count - 1, target)
                           : target_read_rest(session, NULL, 0, target);
    return status;
}

/* Delete the whole row, or versions of what the target names in it. */
static enum shell_status
delete_from_row(struct session *session, const struct target *target, enum petal_cell_type type)
{
    petal_error error;

    if (rows_delete(session, target, type, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_delete)
{
    struct target target;
    enum shell_status status = target_read_table(session, &arguments[0], &target);

    if (status == SHELL_FINE)
        status = target_read_row(session, &arguments[1], &target);
    if (status == SHELL_FINE)
        status = read_deleted(session, arguments + 2, count - 2, &target);
    if (status != SHELL_FINE)
        return status;
    return delete_from_row(session, &target,
                           target.has_qualifier ? PETAL_DELETE : PETAL_DELETE_FAMILY_VERSION);
}

/* ---- Many rows ------------------------------------------------------------------------------- */

static bool
go_on(void *argument, const petal_deleted_rows *done)
{
    progress_update(argument, 0, 0, done->rows);
    return !interrupt_pending();
}

/* Ctrl-C came between two batches. */
static enum shell_status
fail_interrupted(struct session *session, petal_slice prefix, const petal_deleted_rows *deleted)
{
    struct text text = {0};
    enum shell_status status;

    text_add_string(&text, "Interrupted: ");
    text_add_count(&text, deleted->rows, "row");
    text_add_format(&text, " %s deleted, the others that begin with ",
                    deleted->rows == 1 ? "is" : "are");
    text_add_literal(&text, prefix);
    text_add_string(&text, " are not.  The same command goes on with them");
    status = session_fail(session, SHELL_USAGE, "%s", text_string(&text));
    text_free(&text);
    return status;
}

static enum shell_status
delete_prefix(struct session *session, const struct value *hash, const struct target *target)
{
    const struct value *prefix = query_given(hash, "ROWPREFIXFILTER");
    const petal_column column = {target->family, target->qualifier, !target->has_qualifier};
    const petal_slice all = {NULL, 0};
    struct progress progress;
    petal_delete_rows_options options = {.size = sizeof(options),
                                         .columns = &column,
                                         .column_count = target->family != NULL,
                                         .has_timestamp = target->timestamp != PETAL_LATEST,
                                         .argument = &progress,
                                         .watch = go_on};
    petal_deleted_rows deleted;
    petal_error error;
    enum petal_status outcome;

    if (session->transaction != NULL)
        return session_fail(session, SHELL_USAGE,
                            "deleteall of many rows cannot be part of a transaction: it deletes "
                            "them some at a time");
    if (prefix == NULL || prefix->kind != VALUE_STRING || prefix->as.bytes.size == 0)
        return session_fail(session, SHELL_USAGE,
                            "Say which rows: {ROWPREFIXFILTER => 'what they begin with'}");
    if (target->options.has_ttl)
        return session_fail(session, SHELL_USAGE, "A deletion of many rows takes no TTL");
    options.prefix = prefix->as.bytes;
    if (options.has_timestamp)
        options.timestamp = target->timestamp;
    progress_begin(&progress, "deleteall", "rows");
    outcome = petal_delete_rows(target->table, all, all, &options, &deleted, &error);
    progress_end(&progress);
    if (outcome == PETAL_BUSY)
        return fail_interrupted(session, options.prefix, &deleted);
    output_flush(&session->output);
    (void)fprintf(stderr, "%" PRIu64 " row(s) deleted\n", deleted.rows);
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

COMMAND_FUNCTION(command_deleteall)
{
    bool by_prefix = arguments[1].kind == VALUE_HASH;
    struct target target;
    enum shell_status status = target_read_table(session, &arguments[0], &target);

    if (status == SHELL_FINE && !by_prefix)
        status = target_read_row(session, &arguments[1], &target);
    if (status == SHELL_FINE)
        status = read_deleted(session, arguments + 2, count - 2, &target);
    if (status != SHELL_FINE)
        return status;
    return by_prefix
               ? delete_prefix(session, &arguments[1], &target)
               : delete_from_row(session, &target,
                                 target.has_qualifier ? PETAL_DELETE_COLUMN : PETAL_DELETE_FAMILY);
}

COMMAND_FUNCTION(command_flush)
{
    struct target target;
    petal_error error;
    enum shell_status status = target_read_table(session, &arguments[0], &target);

    if (status != SHELL_FINE)
        return status;
    if (petal_flush(session->db, target.table, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}
