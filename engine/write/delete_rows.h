/* delete_rows.h -- many rows are deleted: what calls that do so have in common. */
#ifndef PETAL_ENGINE_WRITE_DELETE_ROWS_H
#define PETAL_ENGINE_WRITE_DELETE_ROWS_H

#include "engine/petal.h"

/* Tell (`deleted` may be NULL) that nothing is done from `from` on, before anything can fail. What
 * is returned takes the place of `from`, which may lie in what is written to. */
petal_slice deleted_rows_begin(petal_deleted_rows *deleted, petal_slice from);

/* petal_delete_rows; `of_keys`: of a key-value table, whose markers are above all that the keys
 * have. */
enum petal_status delete_rows(petal_table *table, petal_slice from, petal_slice to,
                              const petal_delete_rows_options *options, bool of_keys,
                              petal_deleted_rows *deleted, petal_error *error);

#endif
