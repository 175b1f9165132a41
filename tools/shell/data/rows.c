/* rows.c -- see tools/shell/data/rows.h; and transaction, without its block. */
#include "tools/shell/data/rows.h"

#include "tools/shell/data/commands.h"
#include "tools/shell/session/interrupt.h"

enum petal_status
rows_get(struct session *session, petal_table *table, petal_slice row,
         const petal_read_options *options, petal_error *error)
{
    if (session->transaction != NULL)
        return petal_transaction_get(session->transaction, table, row, options, session->result,
                                     error);
    return petal_get(table, row, options, session->result, error);
}

enum petal_status
rows_scan(struct session *session, petal_table *table, const petal_scan_options *options,
          petal_cursor **cursor, petal_error *error)
{
    if (session->transaction != NULL)
        return petal_transaction_scan(session->transaction, table, options, cursor, error);
    return petal_cursor_open(table, options, cursor, error);
}

/* Of a write in the transaction. */
static enum petal_status
note_write(struct session *session, enum petal_status outcome)
{
    session->transaction_writes |= outcome == PETAL_OK;
    return outcome;
}

enum petal_status
rows_put(struct session *session, const struct target *target, petal_slice value,
         petal_error *error)
{
    const petal_write_options *options = &target->options;
    const petal_mutation_options of_cell = {
        .size = sizeof(of_cell), .has_ttl = options->has_ttl, .ttl_ms = options->ttl_ms};

    if (session->transaction != NULL)
        return note_write(session,
                          petal_transaction_put(session->transaction, target->family, target->row,
                                                target->qualifier, target->timestamp, value,
                                                &of_cell, error));
    return petal_put(target->family, target->row, target->qualifier, target->timestamp, value,
                     options, error);
}

/* In the library's transactions only puts have a time to live. */
static enum petal_status
refuse_ttl(const struct session *session, const struct target *target, petal_error *error)
{
    if (!target->options.has_ttl)
        return PETAL_OK;
    *error = (petal_error){.status = PETAL_INVALID};
    (void)snprintf(error->text, sizeof(error->text),
                   "%s takes no TTL in a transaction, only put does", session->running->name);
    return PETAL_INVALID;
}

enum petal_status
rows_delete(struct session *session, const struct target *target, enum petal_cell_type type,
            petal_error *error)
{
    petal_transaction *transaction = session->transaction;
    bool whole_row = target->family == NULL;

    if (transaction != NULL && refuse_ttl(session, target, error) != PETAL_OK)
        return PETAL_INVALID;
    if (transaction != NULL && whole_row)
        return note_write(session,
                          petal_transaction_delete_row(transaction, target->table, target->row,
                                                       target->timestamp, error));
    if (transaction != NULL)
        return note_write(session, petal_transaction_delete(transaction, target->family,
                                                            target->row, target->qualifier,
                                                            target->timestamp, type, error));
    if (whole_row)
        return petal_delete_row(target->table, target->row, target->timestamp, &target->options,
                                error);
    return petal_delete(target->family, target->row, target->qualifier, target->timestamp, type,
                        &target->options, error);
}

enum petal_status
rows_increment(struct session *session, const struct target *target, int64_t amount, int64_t *sum,
               petal_error *error)
{
    if (session->transaction == NULL)
        return petal_increment(target->family, target->row, target->qualifier, amount,
                               &target->options, sum, error);
    if (refuse_ttl(session, target, error) != PETAL_OK)
        return PETAL_INVALID;
    return note_write(session,
                      petal_transaction_increment(session->transaction, target->family, target->row,
                                                  target->qualifier, amount, sum, error));
}

enum petal_status
rows_append(struct session *session, const struct target *target, petal_slice value,
            petal_error *error)
{
    const petal_column column = {target->family, target->qualifier, false};
    const petal_read_options newest = {
        .size = sizeof(newest), .columns = &column, .column_count = 1};
    petal_write_options options = target->options;
    enum petal_status outcome;

    options.result = session->result;
    if (session->transaction == NULL)
        return petal_append(target->family, target->row, target->qualifier, value, &options, error);
    outcome = refuse_ttl(session, target, error);
    if (outcome == PETAL_OK)
        outcome = note_write(session, petal_transaction_append(session->transaction, target->family,
                                                               target->row, target->qualifier,
                                                               value, error));
    return outcome == PETAL_OK ? rows_get(session, target->table, target->row, &newest, error)
                               : outcome;
}

void
rows_abort(struct session *session)
{
    petal_transaction_abort(session->transaction);
    if (session->transaction != NULL && session->transaction_writes) {
        output_finish(&session->output);
        output_flush(&session->output);
        (void)fputs("kv-shell: the transaction ended early: nothing of it is stored\n", stderr);
    }
    session->transaction = NULL;
}

/* ---- transaction { .. } ---------------------------------------------------------------------- */

COMMAND_FUNCTION(command_transaction)
{
    petal_error error;

    if (petal_transaction_begin(session->db, NULL, &session->transaction, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    session->transaction_writes = false;
    *result = value_boolean(true);
    return SHELL_FINE;
}

COMMAND_FUNCTION(command_commit)
{
    petal_transaction *transaction = session->transaction;
    petal_error error;
    enum shell_status status = interrupt_check(session);

    if (status != SHELL_FINE)
        return status;
    if (transaction == NULL)
        return session_fail(session, SHELL_USAGE,
                            "the transaction ended with the input that began it; nothing of it is "
                            "written");
    session->transaction = NULL;
    if (petal_transaction_commit(transaction, &error) != PETAL_OK)
        return session_fail_petal(session, &error);
    return SHELL_FINE;
}
