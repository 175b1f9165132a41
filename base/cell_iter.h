/*
 * cell_iter.h -- yields cells in cell order (base/cell.h) from one source: a memtable, a store
 * file, or a merge of others.  To implement one, make struct cell_iter the first member.
 *
 * Errors come back from the step itself, so end and error cannot be confused; after an
 * error `valid` is false.  `valid` and `cell` are fields so that a merge compares without
 * indirect calls.  Not safe for use by two threads at once.
 */
#ifndef PETAL_BASE_CELL_ITER_H
#define PETAL_BASE_CELL_ITER_H

#include "base/cell.h"

/* A place a few cells ahead, such as the end of a narrow row, is nearer by steps than by a seek:
 * so many are tried first. */
#define STEPS_BEFORE_SEEK 4

/*
 * Cells that stand one after the other in a source, with nothing to decide about any of them: what
 * is asked for, and room for them.
 */
struct cell_run {
    /* None of them is above the read point, outside of [time_min, time_limit), a marker, or has a
     * time to live of its own; none has the column of another one. */
    uint64_t read_point;
    int64_t time_min, time_limit;
    petal_slice before; /* all rows are below it; empty: no bound */
    /* Of a column only the newest is wanted: others may be passed over, else a run ends there. */
    bool one_version;
    petal_slice family; /* what the cells are to say */
    /* The room.  Rows and qualifiers that do not lie in the source in one piece, or not for long,
     * are put together in `keys`, which moves on. */
    petal_cell *cells;
    size_t most;
    uint8_t *keys;
    size_t key_bytes;
    size_t
        row_changes; /* how many of those that were given begin another row than the one before */
};

struct cell_iter {
    const struct cell_iter_ops *ops;
    bool valid; /* positioned at a cell; false at the end, before a seek and after an error */
    /* With valid: only the place of `cell` is known (row, qualifier, timestamp, sequence, and the
     * class of its type), not its value and type; `load` fetches them.  Set only by sources that
     * were asked to be lazy: a merge loads a source when it reaches the top.  Some do not know
     * whether there is a cell at the place: loading may take them further on, or to their end. */
    bool pending;
    struct cell cell; /* the current cell; its memory is good until the next seek, next or close */
};

struct cell_iter_ops {
    /* Position at the first cell at or after `key`, which is borrowed for the call; forwards or
     * back. */
    enum petal_status (*seek)(struct cell_iter *iter, const struct cell_key *key,
                              petal_error *error);
    /* Position at the source's first cell. */
    enum petal_status (*seek_first)(struct cell_iter *iter, petal_error *error);
    /* Position at the last cell before `key`, which is borrowed for the call; NULL: at the source's
     * last cell.  Not valid when there is none.  `next` then goes forward from there.  For reversed
     * scans, which find the row before with it, seek its beginning, and read it forward; iterators
     * that serve only them may want that seek before a `next`. */
    enum petal_status (*seek_before)(struct cell_iter *iter, const struct cell_key *key,
                                     petal_error *error);
    /* Step to the following cell.  REQUIRES: iter->valid. */
    enum petal_status (*next)(struct cell_iter *iter, petal_error *error);
    /* Complete the current cell; where the place held none, go on to the next one, or its place.
     * REQUIRES: iter->valid && iter->pending.  NULL for sources that are never pending. */
    enum petal_status (*load)(struct cell_iter *iter, petal_error *error);
    /* Step as `next` does where that reads nothing, cannot fail, and leaves the values of the cells
     * passed where they are; false: it would not, nothing has changed.  REQUIRES: iter->valid and
     * not pending.  NULL: never. */
    bool (*step)(struct cell_iter *iter);
    /* Give the cell at hand and those after it, as many as can be had without reading; the
     * iterator then stands at the last one given, and what they point to is good as long as it
     * does.  0: there is no such run, nothing has changed.  REQUIRES: iter->valid and not pending;
     * the cell at hand is in another column than the one before.  NULL: never. */
    size_t (*take_run)(struct cell_iter *iter, struct cell_run *run);
    /* Go back to a cell of the run that was taken last, `back` cells before its last one.
     * REQUIRES: no step since.  NULL without take_run. */
    void (*go_back)(struct cell_iter *iter, size_t back, const petal_cell *cell);
    /* How many cells, from the one at hand on, are of its row and in memory, and as the run's
     * limits ask: each the only one of its column.  0: it is not known of any.  REQUIRES as
     * take_run. NULL: never known. */
    size_t (*plain_in_row)(const struct cell_iter *iter, const struct cell_run *run);
    /* Step as `next` does, but keep what the cells passed point to, until `forget`.  *stepped is
     * false when no more can be kept: nothing has changed then.  NULL: `step` can all that `next`
     * can. */
    enum petal_status (*next_kept)(struct cell_iter *iter, bool *stepped, petal_error *error);
    void (*forget)(struct cell_iter *iter); /* NULL as next_kept */
    /* Release what the iterator holds; not the struct itself. */
    void (*close)(struct cell_iter *iter);
};

#endif
