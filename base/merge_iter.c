/* merge_iter.c -- see merge_iter.h. */
#include "base/merge_iter.h"

#include "base/error.h"

#include <assert.h>

void
merge_source_cut(struct merge_source *source)
{
    if (source->next == source->end || source->next + 1 == source->end)
        return;
    source->iter->ops->go_back(source->iter, (size_t)(source->end - 1 - source->next),
                               source->next);
    source->end = source->next + 1;
}

/* Before a cell in a window of its row? */
static bool
is_in_family_class(const struct merge_source *source)
{
    return source->next == source->end && cell_is_family_marker(source->iter->cell.type);
}

/* Windows do not know sequences: of one place in two sources each stands at its cell, after its
 * window was cut. */
bool
merge_source_comes_before(struct merge_source *a, struct merge_source *b)
{
    bool decoded_a = a->next < a->end, decoded_b = b->next < b->end;
    const struct cell *x = &a->iter->cell, *y = &b->iter->cell;
    int64_t first, second;
    int order;

    if (!decoded_a && !decoded_b)
        return cell_compare(x, y) < 0;
    order = slice_compare(decoded_a ? a->next->row : x->row, decoded_b ? b->next->row : y->row);
    if (order == 0 && (is_in_family_class(a) || is_in_family_class(b)))
        return is_in_family_class(a);
    if (order == 0)
        order = slice_compare(decoded_a ? a->next->qualifier : x->qualifier,
                              decoded_b ? b->next->qualifier : y->qualifier);
    if (order != 0)
        return order < 0;
    first = decoded_a ? a->next->timestamp : x->timestamp;
    second = decoded_b ? b->next->timestamp : y->timestamp;
    if (first != second)
        return first > second;
    merge_source_cut(a);
    merge_source_cut(b);
    return x->sequence > y->sequence;
}

/* Put the source, of a cell, where it belongs among the lanes from `at` on, of which that one is
 * free. */
static void
place(struct merge_iter *merge, size_t at, struct merge_source *source)
{
    uint64_t head = merge_iter_row_head(merge, source);
    size_t low = at + 1, high = merge->lane_count;

    /* Mostly it comes first. */
    if (low < high && !merge_lane_comes_before(&merge->lanes[low], head, source))
        high = low;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (merge_lane_comes_before(&merge->lanes[middle], head, source))
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&merge->lanes[at], &merge->lanes[at + 1], (low - 1 - at) * sizeof *merge->lanes);
    merge->lanes[low - 1] = (struct merge_lane){head, source};
}

void
merge_iter_passed_among_many(struct merge_iter *merge)
{
    struct merge_source *first = merge->lanes[0].source;

    if (first->next < first->end || first->iter->valid)
        place(merge, 0, first);
    else
        memmove(merge->lanes, merge->lanes + 1, --merge->lane_count * sizeof *merge->lanes);
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

/* A source that is loaded may turn out to stand further on: then another one may come first. */
static enum petal_status
show_first(struct merge_iter *merge, petal_error *error)
{
    merge->iter.valid = false;
    while (merge->lane_count > 0 && merge->lanes[0].source->iter->pending) {
        struct cell_iter *first = merge->lanes[0].source->iter;
        enum petal_status status = first->ops->load(first, error);

        if (status != PETAL_OK)
            return status;
        merge_iter_passed(merge);
    }
    return merge->lane_count == 0 ? PETAL_OK : show(merge, merge->lanes[0].source->iter, error);
}

enum petal_status
merge_iter_show(struct merge_iter *merge, petal_error *error)
{
    assert(merge->before == NULL);
    return show_first(merge, error);
}

static enum petal_status
build(struct merge_iter *merge, petal_error *error)
{
    merge->before = NULL;
    merge->lane_count = 0;
    for (size_t i = 0; i < merge->source_count; i++) {
        struct merge_source *source = &merge->sources[i];

        source->next = source->end = source->room = NULL;
        merge->lane_count += source->iter->valid && source->ordered;
    }
    /* From the last on: files of one bulk or compaction lie by their rows, and each comes first. */
    for (size_t i = merge->source_count, free = merge->lane_count; i-- > 0;) {
        struct merge_source *source = &merge->sources[i];

        if (source->iter->valid && source->ordered)
            place(merge, --free, source);
    }
    return show_first(merge, error);
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
        struct cell_iter *source = merge->sources[i].iter;

        if (merge->sources[i].ordered &&
            (!forward || (source->valid && cell_compare_key(&source->cell, key) < 0)))
            status = source->ops->seek(source, key, error);
    }
    return status == PETAL_OK ? build(merge, error) : status;
}

static void
order_all(struct merge_iter *merge)
{
    for (size_t i = 0; i < merge->source_count; i++)
        merge->sources[i].ordered = true;
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
            order_all(merge);
        return seek_sources(merge, key, error);
    }
    for (size_t i = 0; i < merge->source_count; i++) {
        const struct cell_iter *source = merge->sources[i].iter;

        merge->sources[i].ordered = merge->sources[i].ordered ||
                                    (source->valid && cell_compare_key(&source->cell, key) >= 0);
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
    order_all(merge);
    merge->place_bytes = 0;
    for (size_t i = 0; status == PETAL_OK && i < merge->source_count; i++)
        status = merge->sources[i].iter->ops->seek_first(merge->sources[i].iter, error);
    return status == PETAL_OK ? build(merge, error) : status;
}

/* The source stands at its last cell before the place: out of the order at that before the one
 * noted, which is no further down. */
static bool
stands_before(const struct merge_iter *merge, size_t index, const struct cell_key *key)
{
    const struct cell_iter *source = merge->sources[index].iter;

    return !merge->sources[index].ordered &&
           (!source->valid || cell_compare_key(&source->cell, key) < 0);
}

static enum petal_status
merge_seek_before(struct cell_iter *iter, const struct cell_key *key, petal_error *error)
{
    struct merge_iter *merge = (struct merge_iter *)iter;
    struct cell_iter *greatest = NULL;
    bool on_way = key != NULL && merge->place_bytes > 0 && compare_with_place(merge, key) <= 0;

    assert(merge->reversed);
    iter->valid = false;
    merge->place_bytes = 0;
    for (size_t i = 0; i < merge->source_count; i++) {
        struct cell_iter *source = merge->sources[i].iter;

        if (!on_way || !stands_before(merge, i, key)) {
            enum petal_status status = source->ops->seek_before(source, key, error);

            if (status != PETAL_OK)
                return status;
        }
        merge->sources[i].ordered = false;
        if (source->valid && (greatest == NULL || cell_compare(&source->cell, &greatest->cell) > 0))
            greatest = source;
    }
    merge->before = greatest;
    if (greatest == NULL)
        return PETAL_OK;
    if (note_place(merge, key, error) != PETAL_OK)
        return PETAL_NO_MEMORY;
    return show(merge, greatest, error);
}

static enum petal_status
merge_next(struct cell_iter *iter, petal_error *error)
{
    struct merge_iter *merge = (struct merge_iter *)iter;
    struct cell_iter *first;
    enum petal_status status;

    assert(iter->valid && merge->before == NULL && merge->lane_count > 0);
    first = merge->lanes[0].source->iter;
    status = first->ops->next(first, error);
    if (status != PETAL_OK) {
        iter->valid = false;
        return status;
    }
    merge_iter_passed(merge);
    return show_first(merge, error);
}

/* Bytes of the two arrays, which are one block. */
static size_t
array_bytes(size_t count)
{
    return count * (sizeof(struct merge_source) + sizeof(struct merge_lane));
}

static void
merge_close(struct cell_iter *iter)
{
    struct merge_iter *merge = (struct merge_iter *)iter;

    mem_free(merge->allocator, merge->sources, array_bytes(merge->source_count));
    mem_free(merge->allocator, merge->place, merge->place_capacity);
    merge->sources = NULL;
    merge->lanes = NULL;
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
    merge->sources = mem_alloc(allocator, array_bytes(count));
    if (merge->sources == NULL)
        return PETAL_NO_MEMORY;
    merge->lanes = (struct merge_lane *)(void *)(merge->sources + count);
    merge->source_count = count;
    for (size_t i = 0; i < count; i++)
        merge->sources[i] = (struct merge_source){.iter = sources[i], .ordered = true};
    return PETAL_OK;
}
