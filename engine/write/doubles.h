/*
 * doubles.h -- cells of one write that are the same cell: of one store, row, qualifier, type and
 * timestamp.
 *
 * In HBase all cells of one write have one sequence, so the later of two doubles takes the place of
 * the earlier in the memstore. Here each has its own, and the later one hides the earlier; but once
 * it is past a time to live of its own it hides nothing, and the earlier would come to light. So of
 * doubles in a write with such a time to live only the last is written.
 *
 * What is written is known only when the write leader has given out timestamps. Before, each writer
 * looks for cells that can become doubles and takes the memory that the leader will need, if there
 * are any.
 */
#ifndef PETAL_ENGINE_WRITE_DOUBLES_H
#define PETAL_ENGINE_WRITE_DOUBLES_H

#include "engine/wal/record.h"

struct doubles {
    const petal_allocator *allocator;
    struct write_cell **order; /* all cells, sorted; NULL: no two can be doubles */
    struct write_cell *kept;
    size_t count;
};

/* Look for possible doubles among `count` > 0 cells, which stay where they are. PETAL_NO_MEMORY
 * leaves nothing to release. */
enum petal_status doubles_init(struct doubles *doubles, struct write_cell *cells, size_t count,
                               petal_error *error);
void doubles_fini(struct doubles *doubles); /* zeroed: no-op */

/* REQUIRES: doubles->order. Exchange the cells given to doubles_init, whose timestamps are final,
 * for those that are to be written, in the same order. They lie in `doubles`; the others are not
 * touched but for their sequences. */
void doubles_drop(struct doubles *doubles, struct write_cell **cells, size_t *count);

#endif
