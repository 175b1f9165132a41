/*
 * column_iter.h -- of one source, only the cells of named columns (and family markers), for scans that name columns.
 *
 * It walks the source row by row: at a row it seeks each named column in turn, then the next row. For a store file with a
 * ROWCOL filter it asks the filter before each seek in a row: a column that is not there costs no seek. Finding the
 * file's next row still reads its blocks. Backwards it goes from a cell of another column to the end of the last named
 * one before it.
 *
 * A file may have none of the columns for many rows. So it does not look behind the scan's last row; and if it is lazy it
 * stands before each row, pending, at a place at or before the row's first named cell: `load` looks for that cell, and
 * where the row has none goes on to stand before the next row. A merge thus asks no source about rows that no other one has
 * come to.
 *
 * Borrows the source. Not safe for use by two threads at once.
 */
#ifndef PETAL_ENGINE_COLUMN_ITER_H
#define PETAL_ENGINE_COLUMN_ITER_H

#include "base/cell_iter.h"
#include "base/epoch.h"
#include "engine/scan_bounds.h"
#include "sstable/sst_reader.h"

struct column_iter {
    struct cell_iter iter; /* first member */
    struct cell_iter *source;
    const petal_allocator *allocator;
    const petal_slice *qualifiers; /* sorted; borrowed */
    size_t qualifier_count;
    const struct scan_bounds
        *bounds;     /* what lies behind them is not wanted; NULL: all is. Borrowed */
    bool lazy;       /* may be set until the first seek */
    bool before_row; /* pending at a row in which nothing was sought yet */
    /* The filter to ask; reader NULL: none. */
    struct sst_reader *reader;
    struct epoch *epoch;
    uint64_t salt;
    struct read_context context;
    uint32_t seeks_saved;
    /* The row at hand, and the column sought in it: qualifier_count when all were. */
    uint8_t *row;
    size_t row_bytes, row_capacity;
    uint64_t row_hash;
    bool in_family_markers;
    size_t column;
    uint8_t *key;
    size_t key_capacity;
};

void column_iter_init(struct column_iter *columns, const petal_allocator *allocator,
                      struct cell_iter *source, const petal_slice *qualifiers, size_t count,
                      const struct scan_bounds *bounds);

/* Ask `reader`'s column filter; EPOCH is entered for each question. */
void column_iter_use_filter(struct column_iter *columns, struct sst_reader *reader,
                            struct epoch *epoch, const struct read_context *context);

#endif
