/*
 * filter.h -- a filter at work in one read. A petal_filter says what is wanted and never changes; a
 * filter_run is what one get or scan keeps of it: counts, what was seen of the row, the place
 * sought. The read (engine/read/cursor.c) drives it as HBase's region scanner drives a Filter, and
 * asks per row, in this order:
 *
 *     filter_run_done      nothing more can pass: the read ends
 *     filter_run_skips_row by the row key alone: the row is left out
 *     filter_run_enter_family for each family that has cells in the row: whether it is ended
 *     filter_run_cell      for each cell that is visible, by family, qualifier, newest first: its
 *                          code
 *     filter_run_ahead     of a cell that was left out: how far those behind it are, too
 *     filter_run_transform for each cell that is included: what it looks like (KeyOnlyFilter)
 *     filter_run_row_cells with all included cells of the row, if filter_needs_rows: takes some out
 *     filter_run_drops_row at the end of the row: the whole row is left out after all
 *     filter_run_reset     before the next row
 *
 * Source: HBase's Filter, FilterBase and FilterList (FilterListWithAND, FilterListWithOR) and their
 * subclasses, whose answers this follows, but for the defects that are named at each filter.
 *
 * A petal_filter may be used by any number of threads, a filter_run by one.
 */
#ifndef PETAL_ENGINE_FILTER_FILTER_H
#define PETAL_ENGINE_FILTER_FILTER_H

#include "base/mem.h"
#include "engine/petal.h"

/* What becomes of a cell, and where the read goes on. HBase's Filter.ReturnCode. */
enum filter_code {
    FILTER_INCLUDE,
    FILTER_INCLUDE_AND_NEXT_COLUMN,
    FILTER_INCLUDE_AND_NEXT_ROW,
    FILTER_SKIP,
    FILTER_NEXT_COLUMN,
    FILTER_NEXT_ROW, /* in this family; other families of the row are shown still */
    FILTER_SEEK      /* filter_run_hint says where to */
};

/* A place: the first cell that may pass is at or behind it (of a reversed scan: its row is at or
 * below `row`). */
struct filter_hint {
    petal_slice row;       /* good until the run is asked again */
    bool row_only;         /* the beginning of that row; else: */
    petal_slice qualifier; /* in the family of the cell that was judged */
    int64_t timestamp;     /* INT64_MAX: the column's first version */
};

/* Of one row and family: where the first cell stands that may pass. */
struct filter_ahead {
    bool none;             /* no further cell there can pass; else: */
    petal_slice qualifier; /* the cell's own, or good until the run is asked again */
    int64_t timestamp;     /* INT64_MAX: the column's first cell; INT64_MIN: behind its last */
};

struct filter_run;

void filter_ref(const petal_filter *filter);

/* `reversed`: rows come from high to low. */
enum petal_status filter_run_new(struct filter_run **run, const petal_allocator *allocator,
                                 const petal_filter *filter, bool reversed);
void filter_run_free(struct filter_run *run); /* NULL: no-op */

/* Needs all included cells of a row at once (HBase's hasFilterRow). */
bool filter_needs_rows(const petal_filter *filter);

/* Has a memory of rows that were left out by their key or have no cell to show, so that such
 * rows have to be shown to it all the same (WhileMatchFilter and ColumnCountGetFilter: HBase's
 * scanner steps over a row that its key excluded by reading it, if it goes forward, and asks
 * about rows that have none of the named columns). */
bool filter_watches_excluded_rows(const petal_filter *filter);

/*
 * May the filter reject by what stands in this family? HBase's isFamilyEssential: its scanner shows
 * the families that are not needed only after filter_run_drops_row has kept the row, and does not
 * see rows that have cells in no other family. That shows through SKIP and WHILE around
 * ColumnValueFilter or SingleColumnValueFilter.
 */
bool filter_needs_family(const petal_filter *filter, petal_slice family);

/* As at the beginning of a read. */
void filter_run_restart(struct filter_run *run);

void filter_run_reset(struct filter_run *run);
bool filter_run_done(const struct filter_run *run);
bool filter_run_skips_row(struct filter_run *run, petal_slice row);

/* After filter_run_skips_row said true: no row before *next (behind it, when reversed) and
 * behind `row` can pass. False when that is not known. *next is good until the run is asked
 * again. *none: no row at all can pass any more. */
bool filter_run_next_row(struct filter_run *run, petal_slice row, petal_slice *next, bool *none);

/* The first row that can pass (reversed: the last), for the beginning of a scan; as
 * filter_run_next_row. */
bool filter_run_first_row(struct filter_run *run, petal_slice *first, bool *none);

/*
 * Before the first stored cell of a family in a row, be it one that is hidden or not asked for.
 * *ended: the row gives none of it. As in HBase, whose scanner of a family ends for good when it is
 * about to look at a cell and the filter is done: the family's cells then stay out of all later
 * rows, though the filter (ColumnCountGetFilter) may think better of it at the next row.
 * PETAL_NO_MEMORY when that cannot be kept.
 */
enum petal_status filter_run_enter_family(struct filter_run *run, petal_slice family, bool *ended);

/* Once filter_run_done it shows the filter nothing more and says FILTER_NEXT_ROW; the family is
 * ended then. PETAL_NO_MEMORY when a row's state cannot be kept. PETAL_INVALID when a regular
 * expression was given up, on this cell or before, on the key of a row: until this function has
 * told, the run is not done and skips no row. */
enum petal_status filter_run_cell(struct filter_run *run, const petal_cell *cell,
                                  enum filter_code *code, petal_error *error);

/* After filter_run_cell said FILTER_SEEK for `cell`. False: no place is known, go on with the
 * next cell. */
bool filter_run_hint(struct filter_run *run, const petal_cell *cell, struct filter_hint *hint);

/*
 * After filter_run_cell left `cell` out: the filter leaves out all cells of its row and family that
 * come before the place *ahead, and need not be shown them: nothing that it says later changes.
 * False when no place behind the cell is known. Also of a reversed scan, which goes forward within
 * a row.
 */
bool filter_run_ahead(struct filter_run *run, const petal_cell *cell, struct filter_ahead *ahead);

/* Change the value as the filter shows it; it is good until the run is asked again. */
void filter_run_transform(struct filter_run *run, petal_cell *cell);

/* REQUIRES filter_needs_rows. Keeps the cells that stay, in order, at the front of the array. */
void filter_run_row_cells(struct filter_run *run, petal_cell *cells, size_t *count);

/* REQUIRES: cells of the row are left. A row without any is out and not asked about: PageFilter
 * does not count it. */
bool filter_run_drops_row(struct filter_run *run);

#endif
