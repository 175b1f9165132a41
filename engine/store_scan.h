/*
 * store_scan.h -- the visible cells of one store in cell order, from one pinned view: the sources that may matter, merged and
 * judged. A cursor has one for each family asked.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_ENGINE_STORE_SCAN_H
#define PETAL_ENGINE_STORE_SCAN_H

#include "engine/column_iter.h"
#include "engine/db.h"
#include "engine/merge_iter.h"
#include "engine/visibility.h"

/* One memtable or store file of a scan. */
struct scan_source {
    struct memtable_iter memtable;
    struct sst_iter file;
    struct column_iter columns;
    struct read_trace trace;
    struct cell_iter *base; /* the memtable's or file's own iterator */
    size_t receipt_index;
};

struct store_scan {
    petal_db *db;
    const petal_family *family;
    const petal_read_options *options; /* the cursor's */
    petal_slice stop_row;              /* the cursor's; empty: none */
    petal_slice *qualifiers;           /* sorted; NULL: the whole family */
    size_t qualifier_count, qualifier_allocated;
    struct scan_source *sources;
    size_t source_count, source_capacity;
    struct merge_iter merge;
    struct cell_iter *input; /* the merge, or the only source */
    struct visibility visibility;
    uint8_t *row; /* the row being judged; its family markers are known */
    size_t row_bytes, row_capacity;
    bool in_row;
    const struct cell *cell; /* the visible cell at hand; NULL at the end */
    uint64_t hidden, shown;
};

/*
 * `qualifiers` are copied. `start_row` and `stop_row` (may be empty) leave files out by their row range. Not positioned
 * yet. On failure store_scan_close has to be called all the same.
 */
enum petal_status store_scan_open(struct store_scan *scan, const petal_family *family,
                                  const struct store_view *store, uint64_t sequence,
                                  const petal_read_options *options, petal_slice start_row,
                                  petal_slice stop_row, const petal_slice *qualifiers,
                                  size_t qualifier_count, petal_error *error);
void store_scan_close(struct store_scan *scan);

/* Position at the first visible cell of `row` (empty: of the store) or behind it. */
enum petal_status store_scan_seek(struct store_scan *scan, petal_slice row, petal_error *error);

/* The same, at or behind a column of `row`; what hides it from the row's head is taken into account. */
enum petal_status store_scan_seek_column(struct store_scan *scan, petal_slice row,
                                         petal_slice qualifier, petal_error *error);

/* Step to the next visible cell. REQUIRES: scan->cell != NULL. */
enum petal_status store_scan_next(struct store_scan *scan, petal_error *error);

#endif
