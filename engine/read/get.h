/* get.h -- the general get: one row, whatever is asked of it. */
#ifndef PETAL_ENGINE_READ_GET_H
#define PETAL_ENGINE_READ_GET_H

#include "engine/read/options.h"

/* Where a get starts: inside the epoch, with all that is known of its row. */
struct get_start {
    struct read_point point;
    bool counted;                /* with a count on the view, which the get gives up */
    uint64_t row_hash, row_head; /* bloom_hash_row; slice_head from the first byte on */
};

/* Make the rest from the read point and the row. */
void get_start_at(struct get_start *start, const petal_db *db, petal_slice row);

/* Without an answer, or once it is made. */
static inline void
get_leave(petal_db *db, const struct get_start *start)
{
    epoch_leave(db->epoch, start->point.slot);
    if (start->counted)
        view_unref(start->point.view);
}

/* Fill in the options of a get and check them. */
enum petal_status get_options_init(petal_read_options *options, const petal_table *table,
                                   const petal_read_options *given, petal_error *error);

/*
 * Read the row from the start, and leave the epoch. The descriptor was loaded after the view: so it
 * has the attributes that the view's stores were written under, or later ones; a family that is
 * newer than the view has no store there. *walk is set, and there is no answer, when only a walk
 * through the row gives it (cursor_get_row): with a filter, limits, or versions in the order of
 * writes; or where a marker of a single version was written after the version and stands in a file
 * of older timestamps, or after many others of the row.
 */
enum petal_status get_row(petal_table *table, const struct table_descriptor *descriptor,
                          const struct get_start *start, petal_slice row,
                          const petal_read_options *options, petal_result *result, bool *walk,
                          petal_error *error);

/* petal_get from the start, where the fast get (engine/read/fast_get.h) does not answer. */
enum petal_status get_general(petal_table *table, const struct get_start *start, petal_slice row,
                              const petal_read_options *given, petal_result *result,
                              petal_error *error);

/* Read one row by walking through it; the options have been checked. */
enum petal_status cursor_get_row(petal_table *table, petal_slice row,
                                 const petal_read_options *options, petal_result *result,
                                 petal_error *error);

#endif
