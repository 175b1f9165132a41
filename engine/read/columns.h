/*
 * columns.h -- of one source, only the cells of named columns (and family markers), for scans
 * that name columns.
 *
 * It walks the source row by row: at a row it seeks the first named column that may be there, goes
 * on from the cell it finds to the first named one at or after that, and at last seeks the next
 * row. So a row costs what it has of the columns, however many are named. For a store file with a
 * ROWCOL filter it asks the filter before each seek in a row: a column that is not there costs no
 * seek; but it asks about a few in a row only, then one seek passes over all that are not there.
 * Finding the file's next row still reads its blocks.
 *
 * REVERSED scans ask for the row before a place, then for the cells of that row. seek_before shows
 * the source's cell, whatever its column: its row is what counts, and `seek` comes next. That shows
 * cells of the row of its key only: a row that has none of the columns ends it.
 *
 * A file may have none of the columns for many rows. So it does not look beyond the scan's last
 * row; and if it is lazy it stands before each row, pending, at a place at or before the row's
 * first named cell: `load` looks for that cell, and where the row has none goes on to stand before
 * the next row. A merge thus asks no source about rows that no other one has come to.
 *
 * Borrows the source. Not safe for use by two threads at once.
 */
#ifndef PETAL_ENGINE_READ_COLUMNS_H
#define PETAL_ENGINE_READ_COLUMNS_H

#include "base/cell_iter.h"
#include "base/epoch.h"
#include "engine/read/bounds.h"
#include "sstable/sst_reader.h"

struct column_iter {
    struct cell_iter iter; /* first member */
    struct cell_iter *source;
    const petal_allocator *allocator;
    const petal_slice *qualifiers; /* sorted; borrowed */
    size_t qualifier_count;
    const struct scan_bounds *bounds; /* what lies past them is not wanted; NULL: all. Borrowed */
    bool lazy;                        /* may be set until the first seek */
    bool reversed;                    /* the same */
    bool no_family_markers;           /* the source has none; the same */
    bool before_row;                  /* pending at a row in which nothing was sought yet */
    /* The filter to ask; reader NULL: none. */
    struct sst_reader *reader;
    struct epoch_stay stay; /* for its questions */
    uint64_t salt;
    struct read_context context;
    uint32_t absent_saves; /* of the file's bytes: what ruling out a column does */
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

/* Ask `reader`'s column filter, an "absent" of which saves so many of the file's bytes; EPOCH is
 * entered for each question. */
void column_iter_use_filter(struct column_iter *columns, struct sst_reader *reader,
                            struct epoch *epoch, const struct read_context *context,
                            uint32_t absent_saves);

#endif
