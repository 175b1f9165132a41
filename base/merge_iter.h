/*
 * merge_iter.h -- several sorted sources as one, in cell order. Cells of different sources never
 * compare equal, since each has its own sequence.
 *
 * A binary heap of the sources; the smallest is at the top. Stepping compares the top's next cell
 * with its two children first, so while one source holds the next cells alone a step costs two
 * comparisons. A source whose cell is pending (cell_iter.h) is loaded when it comes to the top, so
 * blocks of sources that never get there stay unread.
 *
 * After seek_before each source stands at its own last cell before the key, and the greatest of
 * them is shown; the heap does not count. They are brought to the other side of the shown cell when
 * a step forward asks for it.
 *
 * REVERSED scans go down row by row: seek_before finds a row, a seek goes to its beginning, further
 * ones ahead in it. What they meet after the place of seek_before does not matter to them. So a
 * source whose last cell before that place lies before the row stays there, beside the heap, until
 * a row of its own comes: a row costs the sources that have it.
 *
 * Borrows the sources. Not safe for use by two threads at once.
 */
#ifndef PETAL_BASE_MERGE_ITER_H
#define PETAL_BASE_MERGE_ITER_H

#include "base/cell_iter.h"
#include "base/mem.h"

/* A valid source in the heap; most comparisons end at the first bytes of the rows, kept beside
 * each other. */
struct merge_entry {
    uint64_t row_head; /* slice_head of its cell's row, after what all rows share */
    struct cell_iter *source;
};

struct merge_iter {
    struct cell_iter iter; /* first member */
    const petal_allocator *allocator;
    struct cell_iter **sources; /* all of them */
    struct merge_entry *heap;
    size_t source_count, heap_count;
    bool reversed; /* may be set until the first seek */
    /* All rows of the sources begin alike, with so many bytes: what tells them apart follows. May
     * be set until the first seek; where it does not hold, the order is not that of the cells. */
    size_t shared_row_bytes;
    /* Reversed, of each source: the others stand at their last cells before `place`. */
    bool *in_heap;
    /* Reversed: the key of the latest seek_before, then of the seek to a row; none: everything is
     * sought anew. */
    uint8_t *place;
    size_t place_bytes, place_capacity;
    struct cell_iter *before; /* the source shown since seek_before; NULL: the heap's top is */
};

/*
 * Passing cells without showing each: the source that comes first is stepped by its own `step`,
 * then merge_iter_top_stepped brings the one that comes first now to the top, which may be pending,
 * or there may be none.  Nothing is shown meanwhile, and the merge is at no cell, until
 * merge_iter_show.  REQUIRES: the top is not what seek_before showed.
 */
static inline struct cell_iter *
merge_iter_top(const struct merge_iter *merge)
{
    return merge->heap_count > 0 ? merge->heap[0].source : NULL;
}
void merge_iter_top_stepped(struct merge_iter *merge);
enum petal_status merge_iter_show(struct merge_iter *merge, petal_error *error);

/* The top's source was moved but still comes first: show its cell. */
static inline void
merge_iter_show_top_again(struct merge_iter *merge)
{
    merge->iter.cell = merge->heap[0].source->cell;
    merge->iter.valid = true;
}

/* The sources that have cells were moved, in any way: put them in order.  Nothing is shown. */
void merge_iter_reorder(struct merge_iter *merge);

/* The least row of the sources but the top's; empty: they are at their ends. */
petal_slice merge_iter_rival_row(const struct merge_iter *merge);

enum petal_status merge_iter_init(struct merge_iter *merge, const petal_allocator *allocator,
                                  struct cell_iter *const *sources, size_t count);

#endif
