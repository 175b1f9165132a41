/* merge_iter.c -- see merge_iter.h. */
#include "base/merge_iter.h"

#include "base/coding.h"
#include "base/error.h"
#include "base/inline.h"

#include <assert.h>
#include <string.h>

static inline struct merge_entry
entry_of(const struct merge_iter *merge, struct cell_iter *source)
{
    petal_slice row = source->cell.row;
    size_t shared = merge->shared_row_bytes;

    return (struct merge_entry){row.size >= shared + 8 ? get_be64(slice_bytes(row) + shared)
                                                       : slice_head(row, shared),
                                source};
}

static NEVER_INLINE bool
comes_before_by_cell(const struct cell_iter *a, const struct cell_iter *b)
{
    return cell_compare(&a->cell, &b->cell) < 0;
}

static inline bool
comes_before(const struct merge_entry *a, const struct merge_entry *b)
{
    if (a->row_head != b->row_head)
        return a->row_head < b->row_head;
    return comes_before_by_cell(a->source, b->source);
}

/* Put an entry where `at` is, or below: in order. */
static inline void
sift_down(struct merge_iter *merge, size_t at, struct merge_entry sinking)
{
    struct merge_entry *heap = merge->heap;
    size_t count = merge->heap_count;

    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (comes_before(&sinking, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = sinking;
}

/* Show the cell of a valid source, loaded. */
static enum petal_status
show(struct merge_iter *merge, struct cell_iter *source, petal_error *error)
{
    merge->iter.valid = false;
    if (source->pending) {
        enum petal_status status = source->ops->load(source, error);

        if (status != PETAL_OK)
            return status;
        assert(source->valid && !source->pending);
    }
    merge->iter.cell = source->cell;
    merge->iter.valid = true;
    return PETAL_OK;
}

/* Set the top, whose source was moved, right, and let what is the first now rise. */
static void
top_moved(struct merge_iter *merge)
{
    struct cell_iter *top = merge->heap[0].source;

    if (top->valid)
        sift_down(merge, 0, entry_of(merge, top));
    else if (--merge->heap_count > 0)
        sift_down(merge, 0, merge->heap[merge->heap_count]);
}

/* A source that is loaded may turn out to stand further on: then another one may come first. */
static enum petal_status
show_top(struct merge_iter *merge, petal_error *error)
{
    merge->iter.valid = false;
    while (merge->heap_count > 0 && merge->heap[0].source->pending) {
        struct cell_iter *top = merge->heap[0].source;
        enum petal_status status = top->ops->load(top, error);

        if (status != PETAL_OK)
            return status;
        top_moved(merge);
    }
    return merge->heap_count == 0 ? PETAL_OK : show(merge, merge->heap[0].source, error);
}

void
merge_iter_top_stepped(struct merge_iter *merge)
{
    assert(merge->before == NULL && merge->heap_count > 0);
    merge->iter.valid = false;
    top_moved(merge);
}

enum petal_status
merge_iter_show(struct merge_iter *merge, petal_error *error)
{
    assert(merge->before == NULL);
    return show_top(merge, error);
}

petal_slice
merge_iter_rival_row(const struct merge_iter *merge)
{
    const struct merge_entry *heap = merge->heap;

    if (merge->heap_count < 2)
        return slice_make(NULL, 0);
    return merge->heap_count > 2 && comes_before(&heap[2], &heap[1]) ? heap[2].source->cell.row
                                                                     : heap[1].source->cell.row;
}

void
merge_iter_reorder(struct merge_iter *merge)
{
    merge->iter.valid = false;
    merge->heap_count = 0;
    for (size_t i = 0; i < merge->source_count; i++) {
        if (merge->sources[i]->valid && merge->in_heap[i])
            merge->heap[merge->heap_count++] = entry_of(merge, merge->sources[i]);
    }
    for (size_t i = merge->heap_count / 2; i-- > 0;)
        sift_down(merge, i, merge->heap[i]);
}

static enum petal_status
build(struct merge_iter *merge, petal_error *error)
{
    merge->before = NULL;
    merge_iter_reorder(merge);
    return show_top(merge, error);
}

/* Forward a source that stands at or after the place, or at its end, stays there: it has no
 * cell in between. A seek would read the block before, to find out. */
static enum petal_status
seek_sources(struct merge_iter *merge, const struct cell_key *key, petal_error *error)
{
    struct cell_iter *iter = &merge->iter;
    bool forward = iter->valid && merge->before == NULL && cell_compare_key(&iter->cell, key) <= 0;
    enum petal_status status = PETAL_OK;

    iter->valid = false;
    for (size_t i = 0; status == PETAL_OK && i < merge->source_count; i++) {
        struct cell_iter *source = merge->sources[i];

        if (merge->in_heap[i] &&
            (!forward || (source->valid && cell_compare_key(&source->cell, key) < 0)))
            status = source->ops->seek(source, key, error);
    }
    return status == PETAL_OK ? build(merge, error) : status;
}

static void
put_all_in_heap(struct merge_iter *merge)
{
    for (size_t i = 0; i < merge->source_count; i++)
        merge->in_heap[i] = true;
}

/* ---- reversed scans ---- */

static enum petal_status
note_place(struct merge_iter *merge, const struct cell_key *key, petal_error *error)
{
    merge->place_bytes = 0;
    if (key == NULL)
        return PETAL_OK;
    if (!mem_grow_array(merge->allocator, &merge->place, &merge->place_capacity, 0,
                        key->encoded.size, 1))
        return error_no_memory(error);
    memcpy(merge->place, key->encoded.data, key->encoded.size);
    merge->place_bytes = key->encoded.size;
    return PETAL_OK;
}

/* The key against the place that is noted. REQUIRES: one is. */
static int
compare_with_place(const struct merge_iter *merge, const struct cell_key *key)
{
    assert(merge->place_bytes > 0);
    return slice_compare(key->encoded, slice_make(merge->place, merge->place_bytes));
}

/* To the beginning of a row before the place, for the sources that have cells between the two; or
 * ahead in the row. */
static enum petal_status
seek_row(struct merge_iter *merge, const struct cell_key *key, petal_error *error)
{
    if (merge->place_bytes == 0 || compare_with_place(merge, key) > 0) {
        /* Ahead in the row, or from nowhere. */
        if (merge->place_bytes == 0 || merge->before != NULL)
            put_all_in_heap(merge);
        return seek_sources(merge, key, error);
    }
    for (size_t i = 0; i < merge->source_count; i++) {
        const struct cell_iter *source = merge->sources[i];

        merge->in_heap[i] =
            merge->in_heap[i] || (source->valid && cell_compare_key(&source->cell, key) >= 0);
    }
    return note_place(merge, key, error) == PETAL_OK ? seek_sources(merge, key, error)
                                                     : PETAL_NO_MEMORY;
}

static enum petal_status
merge_seek(struct cell_iter *iter, const struct cell_key *key, petal_error *error)
{
    struct merge_iter *merge = (struct merge_iter *)iter;

    return merge->reversed ? seek_row(merge, key, error) : seek_sources(merge, key, error);
}

static enum petal_status
merge_seek_first(struct cell_iter *iter, petal_error *error)
{
    struct merge_iter *merge = (struct merge_iter *)iter;
    enum petal_status status = PETAL_OK;

    iter->valid = false;
    put_all_in_heap(merge);
    merge->place_bytes = 0;
    for (size_t i = 0; status == PETAL_OK && i < merge->source_count; i++)
        status = merge->sources[i]->ops->seek_first(merge->sources[i], error);
    return status == PETAL_OK ? build(merge, error) : status;
}

/* The source stands at its last cell before the place: beside the heap at that before the one
 * noted, which is no further down. */
static bool
stands_before(const struct merge_iter *merge, size_t index, const struct cell_key *key)
{
    const struct cell_iter *source = merge->sources[index];

    return !merge->in_heap[index] && (!source->valid || cell_compare_key(&source->cell, key) < 0);
}

static enum petal_status
merge_seek_before(struct cell_iter *iter, const struct cell_key *key, petal_error *error)
{
    struct merge_iter *merge = (struct merge_iter *)iter;
    struct cell_iter *greatest = NULL;
    bool on_way = key != NULL && merge->place_bytes > 0 && compare_with_place(merge, key) <= 0;

    iter->valid = false;
    merge->place_bytes = 0;
    for (size_t i = 0; i < merge->source_count; i++) {
        struct cell_iter *source = merge->sources[i];

        if (!on_way || !stands_before(merge, i, key)) {
            enum petal_status status = source->ops->seek_before(source, key, error);

            if (status != PETAL_OK)
                return status;
        }
        merge->in_heap[i] = !merge->reversed;
        if (source->valid && (greatest == NULL || cell_compare(&source->cell, &greatest->cell) > 0))
            greatest = source;
    }
    merge->before = greatest;
    if (greatest == NULL)
        return PETAL_OK;
    if (merge->reversed && note_place(merge, key, error) != PETAL_OK)
        return PETAL_NO_MEMORY;
    return show(merge, greatest, error);
}

/* Bring a source from its last cell before a place, if it has one, to its first cell after the
 * one that is shown. */
static enum petal_status
bring_behind(const struct merge_iter *merge, struct cell_iter *source, petal_error *error)
{
    enum petal_status status =
        source->valid ? source->ops->next(source, error) : source->ops->seek_first(source, error);

    /* That was one step, but in a memtable cells may have come in between since. */
    while (status == PETAL_OK && source->valid &&
           cell_compare(&source->cell, &merge->before->cell) < 0)
        status = source->ops->next(source, error);
    return status;
}

/* Step forward from where seek_before went. */
static enum petal_status
turn_forward(struct merge_iter *merge, petal_error *error)
{
    struct cell_iter *shown = merge->before;
    enum petal_status status = PETAL_OK;

    assert(!merge->reversed && shown->valid);
    merge->iter.valid = false;
    for (size_t i = 0; status == PETAL_OK && i < merge->source_count; i++) {
        if (merge->sources[i] != shown)
            status = bring_behind(merge, merge->sources[i], error);
    }
    if (status == PETAL_OK)
        status = shown->ops->next(shown, error);
    return status == PETAL_OK ? build(merge, error) : status;
}

static enum petal_status
merge_next(struct cell_iter *iter, petal_error *error)
{
    struct merge_iter *merge = (struct merge_iter *)iter;
    struct cell_iter *top;
    enum petal_status status;

    assert(iter->valid);
    if (merge->before != NULL)
        return turn_forward(merge, error);
    assert(merge->heap_count > 0);
    top = merge->heap[0].source;
    status = top->ops->next(top, error);
    if (status != PETAL_OK) {
        iter->valid = false;
        return status;
    }
    top_moved(merge);
    return show_top(merge, error);
}

/* Bytes of the three arrays, which are one block. */
static size_t
array_bytes(size_t count)
{
    return count * (sizeof(struct merge_entry) + sizeof(struct cell_iter *) + sizeof(bool));
}

static void
merge_close(struct cell_iter *iter)
{
    struct merge_iter *merge = (struct merge_iter *)iter;

    mem_free(merge->allocator, merge->heap, array_bytes(merge->source_count));
    mem_free(merge->allocator, merge->place, merge->place_capacity);
    merge->heap = NULL;
    merge->sources = NULL;
    merge->in_heap = NULL;
    merge->place = NULL;
    iter->valid = false;
}

static const struct cell_iter_ops merge_ops = {
    .seek = merge_seek,
    .seek_first = merge_seek_first,
    .seek_before = merge_seek_before,
    .next = merge_next,
    .load = NULL,
    .close = merge_close,
};

enum petal_status
merge_iter_init(struct merge_iter *merge, const petal_allocator *allocator,
                struct cell_iter *const *sources, size_t count)
{
    *merge = (struct merge_iter){.iter.ops = &merge_ops, .allocator = allocator};
    assert(count == 0 || sources != NULL);
    if (count == 0)
        return PETAL_OK;
    merge->heap = mem_alloc(allocator, array_bytes(count));
    if (merge->heap == NULL)
        return PETAL_NO_MEMORY;
    merge->sources = (struct cell_iter **)(void *)(merge->heap + count);
    merge->in_heap = (bool *)(merge->sources + count);
    merge->source_count = count;
    memcpy(merge->sources, sources, count * sizeof *merge->sources);
    put_all_in_heap(merge);
    return PETAL_OK;
}
