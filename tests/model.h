/*
 * model.h -- the naive store that tests compare with: an array of all cells ever written and the rules written down as they are
 * stated in engine/visibility.h, with no order, no skipping and no state. Slow and obvious.
 */
#ifndef PETAL_TESTS_MODEL_H
#define PETAL_TESTS_MODEL_H

#include "engine/petal.h"

/* Rows, qualifiers and values of the model are short texts of bytes. */
#define MODEL_BYTES 24

struct model_bytes {
    uint8_t bytes[MODEL_BYTES];
    size_t size;
};

struct model_cell {
    unsigned family; /* index of the table's family */
    struct model_bytes row, qualifier, value;
    int64_t timestamp;
    uint64_t sequence;
    enum petal_cell_type type;
};

struct model {
    struct model_cell *cells;
    size_t count, capacity;
    uint64_t sequence;
};

void model_free(struct model *model);

/* Append a cell with the next sequence. */
void model_write(struct model *model, unsigned family, petal_slice row, petal_slice qualifier,
                 petal_slice value, int64_t timestamp, enum petal_cell_type type);

/* The newest visible put of a column in [time_min, time_limit), NULL if there is none. */
const struct model_cell *model_get(const struct model *model, unsigned family, petal_slice row,
                                   petal_slice qualifier, int64_t time_min, int64_t time_limit);

/* Forget all but the first `count` cells. */
void model_truncate(struct model *model, size_t count);

petal_slice model_slice(const struct model_bytes *bytes);

#endif
