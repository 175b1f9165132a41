/*
 * own.h -- what a transaction adds to reads: cells of its own, which nobody else sees, and an
 * account of what its cursors have read. A read that names a snapshot with own cells puts them in
 * front of the stores in a view of its own; their sequences, which the transaction has to itself,
 * are below the read point.
 *
 * The object outlives the cursors in its list: own_fini lets them go. Views keep the cells as long
 * as they need them. Belongs to one thread, with the cursors.
 */
#ifndef PETAL_ENGINE_READ_OWN_H
#define PETAL_ENGINE_READ_OWN_H

#include "engine/state/db.h"

/* The rows from `low` to `high`; empty: open. */
struct own_range {
    petal_table *table;
    petal_slice low, high;
    bool excludes_low, excludes_high;
};

struct own_store {
    petal_family *family;
    struct store_memtable *memtable;
    int64_t ahead; /* the transaction's: the greatest timestamp that it gave ahead of the clock */
};

struct own_cells {
    const petal_allocator *allocator;
    struct own_store *stores;
    size_t count, capacity;
    petal_cursor *newest; /* that read with these cells */
    /* Takes note of what a cursor has read; the slices are borrowed. */
    void (*note)(void *argument, const struct own_range *range);
    void *argument;
};

/* The cells of the family; made if there are none. *store is valid until the next call. */
enum petal_status own_store(struct own_cells *own, petal_family *family, struct own_store **store);

/* Put the cells of the table's families in front in *view, whose reference is passed on to the new
 * one. After PETAL_NO_MEMORY it is as it was. */
enum petal_status own_add_to_view(const struct own_cells *own, const petal_table *table,
                                  struct view **view);

/* Read as of the snapshot. PETAL_INVALID: the options name one. */
enum petal_status own_set_snapshot(petal_read_options *options, const petal_snapshot *snapshot,
                                   petal_error *error);

/* As petal_cursor_open, at the snapshot. */
enum petal_status own_cursor_open(petal_table *table, const petal_scan_options *options,
                                  const petal_snapshot *snapshot, petal_cursor **cursor,
                                  petal_error *error);

void own_enter_cursor(struct own_cells *own, petal_cursor *cursor);

/* Note what the cursor has read. REQUIRES: it is in the list. */
void own_leave_cursor(petal_cursor *cursor);

/* Note what the cursors in the list have read, and let them go. */
void own_leave_all(struct own_cells *own);

/* REQUIRES: no cursor in the list. */
void own_fini(struct own_cells *own);

#endif
