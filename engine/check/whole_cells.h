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
    struct sst_walk *walk; /* NULL: nothing of the file can be read */
    struct data_block_cursor cursor;
    uint64_t shift; /* added to the sequences */
    bool in_block;
    uint64_t file_cells;   /* as the manifest tells; 0: it does not */
    uint64_t shown;        /* of them */
    bool quiet;            /* faults are not told, nothing is counted: they were before */
    bool lost;             /* some of the cells may be */
    bool is_link;          /* the caller's: another link of a file that is read as well */
    uint64_t number;       /* of the file */
    struct kept_cell last; /* after which the next one must sort */
};

/* A file of the family. One that is missing or unreadable is told, and gives no cells. */
enum petal_status whole_cells_open(struct whole_cells *cells, const struct plan *plan,
                                   const struct plan_table *table, const struct plan_family *family,
                                   const struct plan_file *file, bool quiet, petal_error *error);
void whole_cells_close(struct whole_cells *cells); /* all zero: no-op */

#endif
