/* cell.h -- one cell of a write, as the caller gave it. */
#ifndef PETAL_ENGINE_WRITE_CELL_H
#define PETAL_ENGINE_WRITE_CELL_H

#include "engine/wal/record.h"

/*
 * Check one cell against the limits and fill *write, which borrows the slices. Computes the row's
 * hash. The beginning of a public call (db_enter), of those that write one cell and of those that
 * add one to a batch.
 */
enum petal_status write_cell_make(struct write_cell *write, petal_family *family, petal_slice row,
                                  petal_slice qualifier, int64_t timestamp, petal_slice value,
                                  enum petal_cell_type type, petal_error *error);

#endif
