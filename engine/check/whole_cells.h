/*
 * whole_cells.h -- the cells of all whole blocks of a store file, in cell order (base/cell_iter.h);
 * damaged blocks are skipped and told.
 *
 * Goes forward once, from the first cell: seek_first and next. May be placed anywhere and is not
 * moved.
 */
#ifndef PETAL_ENGINE_CHECK_WHOLE_CELLS_H
#define PETAL_ENGINE_CHECK_WHOLE_CELLS_H

#include "base/cell_iter.h"
#include "base/kept_cell.h"
#include "engine/check/plan.h"
#include "sstable/block/data_block.h"
#include "sstable/sst_walk.h"

struct whole_cells {
    struct cell_iter iter; /* first member */
    const struct plan *plan;
    const struct plan_table *table;
    const struct plan_family *family;
    const struct plan_file *file;
    struct sst_walk *walk; /* NULL: nothing of the file can be read */
    struct data_block_cursor cursor;
    bool in_block;
    bool has_taken, takes; /* the rows at hand, up to `taken_end` (empty: open), are taken or not */
    petal_slice taken_end;
    uint64_t shown;        /* cells */
    bool again;            /* the file was read before: of faults those alone are told that lose
                            * cells of a file that had lost none, and nothing is counted */
    bool lost;             /* some of the cells may be */
    uint64_t losses;       /* before which cells and how much, in one number; 0: nothing */
    struct kept_cell last; /* after which the next one must sort */
};

/* A file of the family. One that is missing or unreadable is told, and gives no cells. */
enum petal_status whole_cells_open(struct whole_cells *cells, const struct plan *plan,
                                   const struct plan_table *table, const struct plan_family *family,
                                   const struct plan_file *file, bool again, petal_error *error);
void whole_cells_close(struct whole_cells *cells); /* all zero: no-op */

#endif
