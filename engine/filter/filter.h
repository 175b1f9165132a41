/*
 * filter.h -- a filter at work in one read. A petal_filter is immutable; a filter_run is the state
 * that one get or scan keeps for it: counts, facts of the row, the place sought. The read
 * (engine/read/cursor.c) drives it as HBase's region scanner drives a Filter, in this order:
 *
 *     filter_run_done      nothing more can pass: the read ends
 *     filter_run_skips_row by the row key alone: the row is left out
 *     filter_run_enter_family for each family that has cells in the row: whether it is ended
 *     filter_run_cell      for each visible cell, by family, qualifier, newest first: its code
 *     filter_run_ahead     after a cell that was left out: how many that follow are left out, too
 *     filter_run_transform for each included cell: its value as shown (KeyOnlyFilter)
 *     filter_run_row_cells with all included cells of the row, if filter_needs_rows: removes some
 *     filter_run_drops_row at the end of the row: the whole row is left out after all
 *     filter_run_reset     before the next row
 *
 * Source: HBase's Filter, FilterBase and FilterList (FilterListWithAND, FilterListWithOR) and their
 * subclasses, whose answers this follows, except for the defects that are named at each filter.
 *
 * A petal_filter may be used by any number of threads, a filter_run by one.
 */
#ifndef PETAL_ENGINE_FILTER_FILTER_H
#define PETAL_ENGINE_FILTER_FILTER_H

#include "base/mem.h"
#include "engine/petal.h"

/* Whether a cell is included, and where the read goes on. HBase's Filter.ReturnCode. */
enum filter_code {
    FILTER_INCLUDE,
    FILTER_INCLUDE_AND_NEXT_COLUMN,
    FILTER_INCLUDE_AND_NEXT_ROW,
    FILTER_SKIP,
    FILTER_NEXT_COLUMN,
    FILTER_NEXT_ROW, /* in this family; other families of the row are shown still */
    FILTER_SEEK      /* filter_run_hint says where to */
};

/* The first cell that may pass is at or after this place (in a reversed scan: its row is at or
 * below `row`). */
struct filter_hint {
    petal_slice row;       /* good until the run is asked again */
    bool row_only;         /* the beginning of that row; else: */
    petal_slice qualifier; /* in the family of the cell that was judged */
    int64_t timestamp;     /* INT64_MAX: the column's first version */
};

/* The first cell of a row and family that may pass. */
struct filter_ahead {
    bool none;             /* no further cell there can pass; else: */
    petal_slice qualifier; /* the cell's own, or good until the run is asked again */
    int64_t timestamp;     /* INT64_MAX: the column's first cell; INT64_MIN: after its last */
};

struct filter_run;

void filter_ref(const petal_filter *filter);

/* `reversed`: rows come from high to low. */
enum petal_status filter_run_new(struct filter_run **run, const petal_allocator *allocator,
                                 const petal_filter *filter, bool reversed);
void filter_run_free(struct filter_run *run); /* NULL: no-op */

/* Needs all included cells of a row at once (HBase's hasFilterRow). */
bool filter_needs_rows(const petal_filter *filter);

/* Keeps state of rows that were left out by their key or have no visible cell, so that such rows
 * have to be shown to it nevertheless (WhileMatchFilter and ColumnCountGetFilter: HBase's forward
 * scanner skips an excluded row by reading it, and asks about rows without the named columns). */
bool filter_watches_excluded_rows(const petal_filter *filter);

/* May the filter reject by cells of this family? HBase's isFamilyEssential: its scanner shows other
 * families only after filter_run_drops_row has kept the row, and does not see rows with cells in
 * these alone. SKIP and WHILE around ColumnValueFilter or SingleColumnValueFilter reveal that. */
bool filter_needs_family(const petal_filter *filter, petal_slice family);

/* As at the beginning of a read. */
void filter_run_restart(struct filter_run *run);

void filter_run_reset(struct filter_run *run);
bool filter_run_done(const struct filter_run *run);
bool filter_run_skips_row(struct filter_run *run, petal_slice row);

/* After filter_run_skips_row returned true: no row between `row` and *next can pass. False: that is
 * not known. *next is good until the next call. *none: no further row can pass. */
bool filter_run_next_row(struct filter_run *run, petal_slice row, petal_slice *next, bool *none);

/* The first row that can pass (reversed: the last), for the beginning of a scan; as
 * filter_run_next_row. */
bool filter_run_first_row(struct filter_run *run, petal_slice *first, bool *none);

/*
 * Before the first stored cell of a family in a row, hidden or not asked for included. *ended: the
 * row has none of its cells. As in HBase, whose scanner of a family ends for good if the filter is
 * done when it is about to look at a cell: the family's cells are left out of all later rows, even
 * if the filter (ColumnCountGetFilter) is no longer done there. PETAL_NO_MEMORY.
 */
enum petal_status filter_run_enter_family(struct filter_run *run, petal_slice family, bool *ended);

/* Once filter_run_done, the answer is FILTER_NEXT_ROW, and the family is ended. PETAL_NO_MEMORY.
 * PETAL_INVALID: a regular expression was given up, on this cell or earlier on a row key; until
 * this function has returned it, the run is not done and skips no row. */
enum petal_status filter_run_cell(struct filter_run *run, const petal_cell *cell,
                                  enum filter_code *code, petal_error *error);

/* After FILTER_SEEK for `cell`. False: no place is known, go on with the next cell. */
bool filter_run_hint(struct filter_run *run, const petal_cell *cell, struct filter_hint *hint);

/* After filter_run_cell left `cell` out: all cells of its row and family before *ahead are left
 * out, too, and need not be shown: no later answer changes. False: no such place is known. Also for
 * reversed scans, which go forward within a row. */
bool filter_run_ahead(struct filter_run *run, const petal_cell *cell, struct filter_ahead *ahead);

/* Change the value to the one that the filter shows; it is good until the next call. */
void filter_run_transform(struct filter_run *run, petal_cell *cell);

/* REQUIRES: filter_needs_rows. Moves the cells that stay, in order, to the front of the array. */
void filter_run_row_cells(struct filter_run *run, petal_cell *cells, size_t *count);

/* REQUIRES: cells of the row are left. A row without any is out and not asked about: PageFilter
 * does not count it. */
bool filter_run_drops_row(struct filter_run *run);

#endif
