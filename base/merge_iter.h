/*
 * merge_iter.h -- several sorted sources as one, in cell order. Cells of different sources never
 * compare equal, since each has its own sequence.
 *
 * The sources that have cells stand in the order of these.  A step compares the first one's next
 * cell with those of the ones after it, as far as it goes back: so while one source holds the next
 * cells alone a step costs one comparison.  Of many sources the place is searched by halves, so a
 * step costs as many comparisons as in a heap.  A source whose cell is pending (cell_iter.h) is
 * loaded when it comes first, so blocks of sources that never get there stay unread.
 *
 * REVERSED scans go down row by row: seek_before finds a row, a seek goes to its beginning, further
 * ones ahead in it.  After seek_before each source stands at its own last cell before the key, the
 * greatest of them is shown, and a seek comes next.  What sources meet after the place of
 * seek_before does not matter to such scans.  So a source whose last cell before that place lies
 * before the row stays there, out of the order, until a row of its own comes: a row costs the
 * sources that have it.
 *
 * Borrows the sources. Not safe for use by two threads at once.
 */
#ifndef PETAL_BASE_MERGE_ITER_H
#define PETAL_BASE_MERGE_ITER_H

#include "base/cell_iter.h"
#include "base/coding.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>

struct merge_source {
    struct cell_iter *iter;
    /* Its window: cells it has decoded ahead, [next, end), and stands at the last of. None: its own
     * cell comes next. */
    const petal_cell *next, *end;
    petal_cell *room; /* for them; NULL: none was given */
    /* Reversed: false: it stands at its last cell before `place`. */
    bool ordered;
};

/* A source's place in the order: most comparisons end at the first bytes of the rows, kept beside
 * each other. */
struct merge_lane {
    uint64_t row_head; /* slice_head of its next cell's row, after what all rows share */
    struct merge_source *source;
};

struct merge_iter {
    struct cell_iter iter; /* first member */
    const petal_allocator *allocator;
    struct merge_source *sources; /* all of them */
    struct merge_lane *lanes;     /* of those that have cells, in their order */
    size_t source_count, lane_count;
    bool reversed; /* may be set until the first seek */
    /* All rows of the sources begin alike, with so many bytes: what tells them apart follows. May
     * be set until the first seek; where it does not hold, the order is not that of the cells. */
    size_t shared_row_bytes;
    /* Reversed: the key of the latest seek_before, then of the seek to a row; none: everything is
     * sought anew. */
    uint8_t *place;
    size_t place_bytes, place_capacity;
    struct cell_iter *before; /* the source shown since seek_before; NULL: the first lane's is */
};

/*
 * Passing cells without showing each, begun by merge_iter_leave: the source that comes first is
 * stepped by its own `step`, or its window was filled, or taken from, then merge_iter_passed brings
 * the one that comes first now to the front, which may be pending, or there may be none.  The merge
 * is at no cell until merge_iter_show; the windows are given back before it.  REQUIRES: what
 * seek_before showed is not at hand.
 */
static inline struct merge_source *
merge_iter_first(const struct merge_iter *merge)
{
    return merge->lane_count > 0 ? merge->lanes[0].source : NULL;
}
static inline void
merge_iter_leave(struct merge_iter *merge)
{
    assert(merge->before == NULL && merge->lane_count > 0);
    merge->iter.valid = false;
}
enum petal_status merge_iter_show(struct merge_iter *merge, petal_error *error);

/* Bring the source back to the next cell of its window, which is the last one then. */
void merge_source_cut(struct merge_source *source);

/* The first one's source was moved but still comes first: show its cell. */
static inline void
merge_iter_show_first_again(struct merge_iter *merge)
{
    merge->iter.cell = merge->lanes[0].source->iter->cell;
    merge->iter.valid = true;
}

/* The row of the source that comes second; empty: the others are at their ends. */
static inline petal_slice
merge_iter_rival_row(const struct merge_iter *merge)
{
    return merge->lane_count < 2 ? slice_make(NULL, 0) : merge->lanes[1].source->iter->cell.row;
}

/* Of two whose rows have equal heads. */
bool merge_source_comes_before(struct merge_source *a, struct merge_source *b);

static inline bool
merge_lane_comes_before(const struct merge_lane *lane, uint64_t row_head,
                        struct merge_source *source)
{
    return lane->row_head < row_head ||
           (lane->row_head == row_head && merge_source_comes_before(lane->source, source));
}

/* slice_head of the row of the source's next cell, after what all rows share. */
static inline uint64_t
merge_iter_row_head(const struct merge_iter *merge, const struct merge_source *source)
{
    petal_slice row = source->next < source->end ? source->next->row : source->iter->cell.row;
    size_t shared = merge->shared_row_bytes;

    return row.size >= shared + 8 ? get_be64(slice_bytes(row) + shared) : slice_head(row, shared);
}

/* Among more lanes the first one's place is searched by halves, out of line. */
#define MERGE_FEW_LANES 8
void merge_iter_passed_among_many(struct merge_iter *merge);

static inline void
merge_iter_passed(struct merge_iter *merge)
{
    struct merge_lane first = {0, merge->lanes[0].source};
    size_t at = 0;

    if (merge->lane_count > MERGE_FEW_LANES) {
        merge_iter_passed_among_many(merge);
        return;
    }
    if (first.source->next == first.source->end && !first.source->iter->valid) {
        memmove(merge->lanes, merge->lanes + 1, --merge->lane_count * sizeof *merge->lanes);
        return;
    }
    first.row_head = merge_iter_row_head(merge, first.source);
    for (; at + 1 < merge->lane_count; at++) {
        if (!merge_lane_comes_before(&merge->lanes[at + 1], first.row_head, first.source))
            break;
        merge->lanes[at] = merge->lanes[at + 1];
    }
    merge->lanes[at] = first;
}

enum petal_status merge_iter_init(struct merge_iter *merge, const petal_allocator *allocator,
                                  struct cell_iter *const *sources, size_t count);

#endif
