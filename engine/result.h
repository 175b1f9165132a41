/*
 * result.h -- the inside of a result: the answer's cells and bytes, and the scratch memory of a get. All of it grows and
 * stays, so a warm result makes a get without allocation.
 */
#ifndef PETAL_ENGINE_RESULT_H
#define PETAL_ENGINE_RESULT_H

#include "engine/db.h"
#include "engine/row_collect.h"

struct petal_result {
    petal_db *db;
    petal_cell *cells;
    size_t count, capacity;
    uint8_t *bytes; /* row, then qualifiers and values of the cells */
    size_t byte_count, byte_capacity;
    struct row_collect collect;
};

/* Forget the answer and begin one for `row`. */
enum petal_status result_start(petal_result *result, petal_slice row);

/* Append the `count` cells of `family` with copies of their bytes. */
enum petal_status result_add(petal_result *result, const petal_family *family,
                             const struct cell *const *cells, size_t count);

#endif
