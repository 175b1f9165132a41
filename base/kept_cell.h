/*
 * kept_cell.h -- a copy of a cell's key, to compare with the next cell. All zeros: none is kept.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_BASE_KEPT_CELL_H
#define PETAL_BASE_KEPT_CELL_H

#include "base/cell.h"
#include "base/mem.h"

struct kept_cell {
    struct cell cell; /* but its value, which is empty; its row and qualifier lie in `memory` */
    bool is_kept;
    uint8_t *memory;
    size_t capacity;
};

/* In place of the one before. False: there is no memory, and that one stays. */
bool kept_cell_keep(struct kept_cell *kept, const petal_allocator *allocator,
                    const struct cell *cell);
void kept_cell_fini(struct kept_cell *kept, const petal_allocator *allocator);

#endif
