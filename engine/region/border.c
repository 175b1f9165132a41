/* border.c -- see border.h. */
#include "engine/region/border.h"

#include "base/slice.h"

#include <stdlib.h>

static int
compare_first(const void *left, const void *right)
{
    const struct border_file *a = left, *b = right;

    return slice_compare(a->row_min, b->row_min);
}

static int
compare_last(const void *left, const void *right)
{
    const struct border_file *a = left, *b = right;

    return slice_compare(a->row_max, b->row_max);
}

static int
compare_middle(const void *left, const void *right)
{
    const struct border_file *a = left, *b = right;

    return slice_compare(a->row_middle, b->row_middle);
}

/* Of no files nothing is sorted: their array may be NULL. */
static void
sort(struct border_file *files, size_t count, int (*compare)(const void *left, const void *right))
{
    if (count > 1)
        qsort(files, count, sizeof *files, compare);
}

petal_slice
border_between_files(struct border_file *files, size_t count, struct border_file *ends)
{
    petal_slice best = {0};
    uint64_t all = 0, begun = 0, below = 0, best_shared = 0, best_smaller = 0;
    size_t ended = 0;

    for (size_t i = 0; i < count; i++) {
        ends[i] = files[i];
        all += files[i].bytes;
    }
    sort(files, count, compare_first);
    sort(ends, count, compare_last);
    for (size_t i = 0; i < count; begun += files[i++].bytes) {
        uint64_t above = all - begun, smaller, shared;

        while (ended < count && slice_compare(ends[ended].row_max, files[i].row_min) < 0)
            below += ends[ended++].bytes;
        shared = begun - below;
        smaller = below < above ? below : above;
        if (smaller == 0 || smaller < all / 2 - all / 8)
            continue;
        if (best_smaller == 0 || shared < best_shared ||
            (shared == best_shared && smaller > best_smaller)) {
            best = files[i].row_min;
            best_shared = shared;
            best_smaller = smaller;
        }
    }
    return best;
}

petal_slice
border_among_middles(struct border_file *files, size_t count)
{
    uint64_t all = 0, below = 0;
    petal_slice middle = {0};

    sort(files, count, compare_middle);
    for (size_t i = 0; i < count; i++)
        all += files[i].row_middle.size > 0 ? files[i].bytes : 0;
    for (size_t i = 0; i < count && (middle.size == 0 || below < all - all / 2); i++) {
        if (files[i].row_middle.size == 0)
            continue;
        middle = files[i].row_middle;
        below += files[i].bytes;
    }
    return middle;
}
