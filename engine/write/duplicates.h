/*
 * duplicates.h -- duplicate cells within one write: of one store, row, qualifier, type and
 * timestamp.
 *
 * In HBase all cells of one write have one sequence, so the later of two duplicates replaces the
 * earlier in the memstore. Here each has its own sequence, and the later one hides the earlier;
 * but once its own time to live has passed it hides nothing, and the earlier one would reappear.
 * So when a cell of a write has such a time to live, only the last of its duplicates is written.
 *
 * Timestamps are final only after the write leader has assigned them. Before that, each writer
 * looks for cells that can become duplicates, and if there are any allocates the memory that the
 * leader will need.
 */
#ifndef PETAL_ENGINE_WRITE_DUPLICATES_H
#define PETAL_ENGINE_WRITE_DUPLICATES_H

#include "engine/wal/record.h"

struct duplicates {
    const petal_allocator *allocator;
    struct write_cell **order; /* all cells, sorted; NULL: no two can be duplicates */
    struct write_cell *kept;
    size_t count;
};

/* Look for possible duplicates among `count` > 0 cells, which must not move. After PETAL_NO_MEMORY
 * there is nothing to release. */
enum petal_status duplicates_init(struct duplicates *duplicates, struct write_cell *cells,
                                  size_t count, petal_error *error);
void duplicates_fini(struct duplicates *duplicates); /* zeroed: no-op */

/* REQUIRES: duplicates->order. Replace the cells given to duplicates_init, whose timestamps are
 * final, by those to write, in the same order. They are copies in `duplicates`; of the originals
 * only the sequences change. */
void duplicates_drop(struct duplicates *duplicates, struct write_cell **cells, size_t *count);

#endif
