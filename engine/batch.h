/* batch.h -- the inside of a write batch: cells whose bytes lie in chunks of the batch, so their addresses stay. */
#ifndef PETAL_ENGINE_BATCH_H
#define PETAL_ENGINE_BATCH_H

#include "engine/record.h"

struct batch_chunk;

struct petal_batch {
    petal_db *db;
    struct write_cell *cells;
    size_t count, capacity;
    size_t bytes;               /* of all rows, qualifiers and values */
    struct batch_chunk *chunks; /* newest first */
};

/*
 * Check one cell against the limits and fill *write, which borrows the slices. Computes the row's hash.
 * Shared by batches and single writes.
 */
enum petal_status write_cell_make(struct write_cell *write, petal_family *family, petal_slice row,
                                  petal_slice qualifier, int64_t timestamp, petal_slice value,
                                  enum petal_cell_type type, petal_error *error);

#endif
