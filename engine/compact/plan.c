/* plan.c -- see engine/compact/plan.h. */
#include "engine/compact/plan.h"

#include "base/slice.h"

#include <stdlib.h>

static int
compare_files(const void *left, const void *right)
{
    const struct plan_file *a = left, *b = right;
    int order = slice_compare(a->row_min, b->row_min);

    if (order == 0)
        order = slice_compare(a->row_max, b->row_max);
    return order != 0 ? order : (a->input > b->input) - (a->input < b->input);
}

static uint64_t
add_saturated(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Files that overlap, each with the next: one part for each such group. */
static size_t
make_parts(const struct plan_file *files, size_t count, struct plan_part *parts)
{
    size_t made = 0;

    for (size_t i = 0; i < count;) {
        petal_slice last = files[i].row_max;
        struct plan_part part = {.first = i};

        while (i < count && (i == part.first || slice_compare(files[i].row_min, last) <= 0)) {
            if (slice_compare(files[i].row_max, last) > 0)
                last = files[i].row_max;
            part.bytes = add_saturated(part.bytes, files[i++].bytes);
        }
        part.count = i - part.first;
        part.linked = part.count == 1 && files[part.first].settled;
        parts[made++] = part;
    }
    return made;
}

/* Neighbours of at most `bytes` each are linked no more, until there are `fewer` files less, should
 * they be merged. Returns how many of these are still to be found. */
static size_t
unlink_neighbours(struct plan_part *parts, size_t count, uint64_t bytes, size_t fewer)
{
    for (size_t i = 0; i < count && fewer > 0;) {
        size_t first = i;

        while (i < count && parts[i].linked && parts[i].bytes <= bytes && i - first <= fewer)
            i++;
        if (i - first > 1) {
            for (size_t k = first; k < i; k++)
                parts[k].linked = false;
            fewer -= i - first - 1;
        }
        if (i == first)
            i++;
    }
    return fewer;
}

static size_t
count_linked(const struct plan_part *parts, size_t count, uint64_t most_bytes)
{
    size_t linked = 0;

    for (size_t i = 0; i < count; i++)
        linked += parts[i].linked && parts[i].bytes <= most_bytes;
    return linked;
}

/* If there are more than PLAN_MOST_FILES of at most `most_bytes`, the smallest go: those up to a
 * size that half of them do not exceed; if too few of these are neighbours, up to twice that; and
 * so on. */
static void
limit_linked(struct plan_part *parts, size_t count, uint64_t most_bytes)
{
    size_t linked = count_linked(parts, count, most_bytes), fewer;
    uint64_t bytes = 1;

    if (linked <= PLAN_MOST_FILES)
        return;
    fewer = linked - PLAN_MOST_FILES / 2;
    while (count_linked(parts, count, bytes) < fewer)
        bytes = add_saturated(bytes, bytes);
    while (fewer > 0 && bytes < most_bytes) {
        fewer = unlink_neighbours(parts, count, bytes, fewer);
        bytes = add_saturated(bytes, bytes);
    }
    unlink_neighbours(parts, count, most_bytes, fewer);
}

/* Parts that are rewritten and lie side by side become one, up to `part_bytes`. */
static size_t
join_parts(struct plan_part *parts, size_t count, uint64_t part_bytes)
{
    size_t joined = 0;

    for (size_t i = 0; i < count; i++) {
        struct plan_part *last = joined > 0 ? &parts[joined - 1] : NULL;

        if (last != NULL && !last->linked && !parts[i].linked && last->bytes < part_bytes) {
            last->count += parts[i].count;
            last->bytes = add_saturated(last->bytes, parts[i].bytes);
        } else {
            parts[joined++] = parts[i];
        }
    }
    return joined;
}

size_t
plan_parts(struct plan_file *files, size_t count, const struct plan_limits *limits,
           struct plan_part *parts)
{
    size_t made;

    if (count > 1)
        qsort(files, count, sizeof *files, compare_files);
    made = make_parts(files, count, parts);
    unlink_neighbours(parts, made, limits->small_bytes, SIZE_MAX);
    limit_linked(parts, made, limits->part_bytes / 2);
    return join_parts(parts, made, limits->part_bytes);
}
