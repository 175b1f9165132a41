/*
 * raw_order.h -- the cells of a store in HBase's order, for raw scans: family markers stand in the
 * column with the empty qualifier, and at one timestamp of a column the types come from 14 down to
 * 4, of one type the latest write first.
 *
 * The source gives cells in the order of base/cell.h. Held in copies: the family markers of a row,
 * and the cells of one column at one timestamp. Seeks are to the beginnings of rows, and of columns
 * after the empty one. Borrows the source. Belongs to one thread.
 */
#ifndef PETAL_ENGINE_READ_RAW_ORDER_H
#define PETAL_ENGINE_READ_RAW_ORDER_H

#include "base/cell_iter.h"
#include "base/mem.h"

struct raw_order {
    struct cell_iter iter; /* first member */
    const petal_allocator *allocator;
    struct cell_iter *source;
    uint8_t *row;
    size_t row_bytes, row_capacity;
    struct cell *markers; /* of the row, as the source gives them; without bytes */
    size_t marker_count, marker_next, marker_capacity;
    struct cell *group; /* of one column and timestamp; their bytes lie in `bytes` */
    size_t group_count, group_next, group_capacity;
    uint8_t *bytes; /* the qualifier, then the values */
    size_t byte_count, byte_capacity;
};

void raw_order_init(struct raw_order *order, const petal_allocator *allocator,
                    struct cell_iter *source);

#endif
