/*
 * inputs.h -- the cells of one store that a scan has to look at, in order: which memtables and
 * store files take part, their iterators, narrowed to the named columns, merged, and for raw scans
 * put into HBase's order.
 *
 * Belongs to one thread. The view that `store` is of, and the bounds, must outlive it.
 */
#ifndef PETAL_ENGINE_READ_INPUTS_H
#define PETAL_ENGINE_READ_INPUTS_H

#include "base/merge_iter.h"
#include "engine/read/bounds.h"
#include "engine/read/columns.h"
#include "engine/read/raw_order.h"
#include "engine/read/scan_memory.h"
#include "engine/rules/visibility.h"
#include "engine/state/db.h"

/* One memtable or store file. */
struct scan_source {
    union {
        struct memtable_iter memtable;
        struct sst_iter file;
    };
    struct column_iter columns; /* without ops: the source is not narrowed to columns */
    struct read_trace trace;
    struct cell_iter *base; /* the memtable's or file's own iterator */
    size_t receipt_index;
};

struct scan_inputs {
    petal_db *db;
    const petal_family *family;
    const petal_scan_options *options; /* the cursor's */
    const struct scan_bounds *bounds;  /* the cursor's */
    struct visibility_rules rules;
    petal_slice *qualifiers; /* copies, sorted; NULL: the whole family */
    size_t qualifier_count, qualifier_allocated;
    bool every_row; /* the filter wants to see rows without the qualifiers, too */
    /* The sources are not narrowed to the qualifiers: for that, or since the read has a deadline,
     * and finding a row that has one of them has none. */
    bool all_columns;
    struct scan_source *sources; /* in the scan's memory */
    size_t source_count, source_capacity;
    struct cell_iter *cells; /* the merge or the only source, in raw scans after `raw` */
    /* What begins itself. */
    struct merge_iter merge; /* without ops where there is one source */
    struct raw_order raw;    /* without ops but in raw scans */
};

/* The memory that the inputs of a store take of the scan's; NULL: no cells. */
static inline size_t
scan_inputs_memory(const struct region_store *region)
{
    size_t most =
        region != NULL ? (size_t)region->view->memtable_count + region->view->file_count : 0;

    return scan_memory_bytes(most, sizeof(struct scan_source)) +
           scan_memory_bytes(most, sizeof(struct cell_iter *));
}

/* `qualifiers` are copied. No cells yet. PETAL_NO_MEMORY; scan_inputs_close has to be called all
 * the same. */
enum petal_status scan_inputs_open(struct scan_inputs *inputs, const petal_family *family,
                                   const struct visibility_rules *rules,
                                   const petal_scan_options *options,
                                   const struct scan_bounds *bounds, const petal_slice *qualifiers,
                                   size_t qualifier_count);

/* The cells of a store, from region `region`, within the bounds; NULL: none. `memory`:
 * scan_inputs_memory of it, until scan_inputs_leave. PETAL_NO_MEMORY. */
enum petal_status scan_inputs_enter(struct scan_inputs *inputs, const struct region_store *region,
                                    struct scan_memory *memory);

/* Count what was done, in statistics and receipt, and be without cells. */
void scan_inputs_leave(struct scan_inputs *inputs, uint64_t cells_shown);

/* Show the cell that merge_iter_top_stepped has brought the inputs to. */
enum petal_status scan_inputs_show(struct scan_inputs *inputs, petal_error *error);

/* Is the qualifier one of those asked? Needed when all columns come. If not, *next is the first
 * one asked that is above it, NULL if there is none. */
bool scan_inputs_ask_column(const struct scan_inputs *inputs, petal_slice qualifier,
                            const petal_slice **next);

/* REQUIRES: left, or never entered. */
void scan_inputs_close(struct scan_inputs *inputs);

#endif
