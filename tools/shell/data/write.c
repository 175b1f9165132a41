/*
 * write.c -- put, delete, deleteall and flush.
 *
 * A write without a timestamp gets the store's, in a millisecond that no other command of the
 * session has written in.
 */
#include "tools/shell/data/commands.h"
#include "tools/shell/data/query.h"
#include "tools/shell/data/target.h"

enum { ROWS_AT_ONCE = 1000 }; /* that a deletion by prefix writes in one batch */

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
    if (petal_put(target.family, target.row, target.qualifier, target.timestamp, value,
                  &target.options, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

/* ---- Deletions ------------------------------------------------------------------------------- */

/* What a deletion is about: no column is the whole row.  Its timestamp and hash stand behind the
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

/* Add what deletes all versions of the target in `row`: in every family, or in the one it names. */
static enum petal_status
add_deletion(petal_batch *batch, const struct target *target, petal_slice row, petal_error *error)
{
    size_t families = target->family == NULL ? petal_table_family_count(target->table) : 1;
    petal_mutation_options options = {.size = sizeof(options),
                                      .has_ttl = target->options.has_ttl,
                                      .ttl_ms = target->options.ttl_ms};
    enum petal_status outcome = petal_batch_mutation(batch, &options, error);

    for (size_t i = 0; i < families && outcome == PETAL_OK; i++) {
        petal_family *family =
            target->family == NULL ? petal_table_family_at(target->table, i) : target->family;

        outcome = petal_batch_delete(
            batch, family, row, target->qualifier, target->timestamp,
            target->has_qualifier ? PETAL_DELETE_COLUMN : PETAL_DELETE_FAMILY, error);
    }
    return outcome;
}

/* All of it or nothing. */
static enum shell_status
delete_all(struct session *session, const struct target *target)
{
    petal_batch *batch;
    petal_error error;
    enum petal_status outcome = petal_batch_new(session->db, &batch, &error);

    if (outcome == PETAL_OK)
        outcome = add_deletion(batch, target, target->row, &error);
    if (outcome == PETAL_OK)
        outcome = petal_write(session->db, batch, NULL, &error);
    petal_batch_free(batch);
    return outcome == PETAL_OK ? SHELL_FINE : session_fail_petal(session, &error);
}

COMMAND_FUNCTION(command_delete)
{
    struct target target;
    petal_error error;
    enum shell_status status = target_read_table(session, &arguments[0], &target);

    if (status == SHELL_FINE)
        status = target_read_row(session, &arguments[1], &target);
    if (status == SHELL_FINE)
        status = read_deleted(session, arguments + 2, count - 2, &target);
    if (status != SHELL_FINE)
        return status;
    if (target.family == NULL)
        return delete_all(session, &target);
    if (petal_delete(target.family, target.row, target.qualifier, target.timestamp,
                     target.has_qualifier ? PETAL_DELETE : PETAL_DELETE_FAMILY_VERSION,
                     &target.options, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}

/* Delete in each row that the cursor has; it sees the table as it was before. */
static enum petal_status
delete_rows(struct session *session, const struct target *target, petal_cursor *cursor,
            petal_batch *batch, petal_error *error)
{
    const petal_cell *cell;
    struct text row = {0};
    size_t rows = 0;
    enum petal_status outcome;

    while ((outcome = petal_cursor_next(cursor, &cell, error)) == PETAL_OK && cell != NULL) {
        if (rows > 0 && slices_equal(text_slice(&row), cell->row))
            continue;
        text_clear(&row);
        text_add_slice(&row, cell->row);
        outcome = add_deletion(batch, target, cell->row, error);
        if (outcome == PETAL_OK && ++rows % ROWS_AT_ONCE == 0) {
            outcome = petal_write(session->db, batch, NULL, error);
            petal_batch_clear(batch);
        }
        if (outcome != PETAL_OK)
            break;
    }
    text_free(&row);
    return outcome == PETAL_OK ? petal_write(session->db, batch, NULL, error) : outcome;
}

static enum shell_status
delete_prefix(struct session *session, const struct value *hash, const struct target *target)
{
    const struct value *prefix = query_given(hash, "ROWPREFIXFILTER");
    petal_scan_options options = {.read.size = sizeof(options.read),
                                  .read.keep_out_of_cache = true};
    petal_cursor *cursor = NULL;
    petal_batch *batch = NULL;
    petal_error error;
    enum petal_status outcome;

    if (prefix == NULL || prefix->kind != VALUE_STRING || prefix->as.bytes.size == 0)
        return session_fail(session, SHELL_USAGE, "{ROWPREFIXFILTER => 'prefix'} is wanted");
    options.prefix = prefix->as.bytes;
    outcome = petal_batch_new(session->db, &batch, &error);
    if (outcome == PETAL_OK)
        outcome = petal_cursor_open(target->table, &options, &cursor, &error);
    if (outcome == PETAL_OK)
        outcome = delete_rows(session, target, cursor, batch, &error);
    petal_cursor_close(cursor);
    petal_batch_free(batch);
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
    return by_prefix ? delete_prefix(session, &arguments[1], &target)
                     : delete_all(session, &target);
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
