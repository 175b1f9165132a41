/*
 * rows.h -- reads and writes of rows: as part of the session's transaction, or directly if there is
 * none.
 *
 * A transaction ends with the input that began it.
 */
#ifndef PETAL_TOOLS_SHELL_DATA_ROWS_H
#define PETAL_TOOLS_SHELL_DATA_ROWS_H

#include "tools/shell/data/target.h"

enum petal_status rows_get(struct session *session, petal_table *table, petal_slice row,
                           const petal_read_options *options, petal_error *error);
enum petal_status rows_scan(struct session *session, petal_table *table,
                            const petal_scan_options *options, petal_cursor **cursor,
                            petal_error *error);

enum petal_status rows_put(struct session *session, const struct target *target, petal_slice value,
                           petal_error *error);

/* Without a family the whole row, else what `type` says. */
enum petal_status rows_delete(struct session *session, const struct target *target,
                              enum petal_cell_type type, petal_error *error);

enum petal_status rows_increment(struct session *session, const struct target *target,
                                 int64_t amount, int64_t *sum, petal_error *error);

/* The new value is the first cell of session->result, in which rows_get leaves its cells. */
enum petal_status rows_append(struct session *session, const struct target *target,
                              petal_slice value, petal_error *error);

/* End the transaction, if there is one, and write nothing of it: if it wrote, that is said on
 * standard error. */
void rows_abort(struct session *session);

#endif
