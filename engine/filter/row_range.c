/*
 * row_range.c -- MultiRowRangeFilter, as HBase's, except that it accepts the same rows in both
 * directions, also within SKIP and WHILE. It uses the row of each cell, so it need not have been
 * shown the row key.
 */
#include "engine/filter/node.h"

#include <stdlib.h>

/* ---- the union of the ranges ---- */

/* The lower start first; of equal ones the inclusive one. */
static int
compare_starts(const void *a, const void *b)
{
    const struct row_range *first = a, *second = b;
    int order = slice_compare(first->start, second->start);

    return order != 0 ? order : second->start_inclusive - first->start_inclusive;
}

/* Does `next`, which does not start before `range`, overlap it or touch it? */
static bool
joins(const struct row_range *range, const struct row_range *next)
{
    int order = slice_compare(next->start, range->stop);

    return range->stop.size == 0 || order < 0 ||
           (order == 0 && (range->stop_inclusive || next->start_inclusive));
}

static void
extend(struct row_range *range, const struct row_range *next)
{
    int order = slice_compare(next->stop, range->stop);

    if (range->stop.size == 0)
        return;
    if (next->stop.size == 0 || order > 0) {
        range->stop = next->stop;
        range->stop_inclusive = next->stop_inclusive;
    } else if (order == 0) {
        range->stop_inclusive |= next->stop_inclusive;
    }
}

/* The union of the ranges, disjoint and in order. HBase merges them as well, but ignores that one
 * of two equal starts may be inclusive. */
static enum petal_status
ranges_fill(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
            struct filter_mistake *mistake)
{
    struct row_range *ranges = filter->ranges;
    size_t used = 0, merged = 0;

    for (size_t i = 0; i < count; i += 4) {
        struct row_range range = {filter_copy(filter, arguments[i].bytes),
                                  filter_copy(filter, arguments[i + 2].bytes),
                                  arguments[i + 1].number != 0, arguments[i + 3].number != 0};
        int order = slice_compare(range.start, range.stop);

        range.start_inclusive |= range.start.size == 0;
        if (range.stop.size > 0 && (order > 0 || (order == 0 && !range.stop_inclusive)))
            return filter_refuse_argument(mistake, i, "the range ends before it begins");
        /* One row that is left out: nothing. */
        if (range.stop.size == 0 || order < 0 || range.start_inclusive)
            ranges[used++] = range;
    }
    if (used > 0)
        qsort(ranges, used, sizeof *ranges, compare_starts);
    for (size_t i = 0; i < used; i++) {
        if (merged > 0 && joins(&ranges[merged - 1], &ranges[i]))
            extend(&ranges[merged - 1], &ranges[i]);
        else
            ranges[merged++] = ranges[i];
    }
    for (size_t i = 1; i < merged; i++)
        assert(slice_compare(ranges[i - 1].stop, ranges[i].start) <= 0);
    filter->range_count = merged;
    return PETAL_OK;
}

/* ---- rows ---- */

/* Does the range hold rows that are above `row`, or `row` itself if `inclusive`? */
static bool
reaches_above(const struct row_range *range, petal_slice row, bool inclusive)
{
    int order = slice_compare(range->stop, row);

    return range->stop.size == 0 || order > 0 || (order == 0 && inclusive && range->stop_inclusive);
}

static bool
reaches_below(const struct row_range *range, petal_slice row, bool inclusive)
{
    int order = slice_compare(range->start, row);

    return order < 0 || (order == 0 && inclusive && range->start_inclusive);
}

/* The number of ranges that end at or before the row. */
static size_t
count_below(const petal_filter *filter, petal_slice row, bool inclusive)
{
    size_t low = 0, high = filter->range_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (reaches_above(&filter->ranges[middle], row, inclusive))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static enum bound_answer
ranges_bound_above(const petal_filter *filter, const struct row_bound *from, petal_slice *row)
{
    size_t index = from->open ? 0 : count_below(filter, from->row, from->inclusive);

    if (index == filter->range_count)
        return BOUND_NONE;
    assert(index < filter->range_count);
    *row = filter->ranges[index].start;
    if (!from->open && slice_compare(*row, from->row) < 0)
        *row = from->row;
    return BOUND_ROW;
}

static enum bound_answer
ranges_bound_below(const petal_filter *filter, const struct row_bound *from, petal_slice *row)
{
    size_t low = 0, high = filter->range_count;
    const struct row_range *range;

    while (!from->open && low < high) {
        size_t middle = low + (high - low) / 2;

        if (reaches_below(&filter->ranges[middle], from->row, from->inclusive))
            low = middle + 1;
        else
            high = middle;
    }
    if (high == 0)
        return BOUND_NONE;
    range = &filter->ranges[high - 1];
    if (from->open && range->stop.size == 0)
        return BOUND_UNKNOWN;
    *row = range->stop;
    if (!from->open && (row->size == 0 || slice_compare(*row, from->row) > 0))
        *row = from->row;
    return BOUND_ROW;
}

static enum bound_answer
ranges_bound(const struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    return node->run_reversed ? ranges_bound_below(node->filter, from, row)
                              : ranges_bound_above(node->filter, from, row);
}

static enum filter_code
ranges_cell(struct filter_node *node, const petal_cell *cell)
{
    const petal_filter *filter = node->filter;
    size_t index = count_below(filter, cell->row, true);
    struct row_bound behind = {.row = cell->row};
    petal_slice next;

    if (index < filter->range_count && reaches_below(&filter->ranges[index], cell->row, true))
        return FILTER_INCLUDE;
    switch (ranges_bound(node, &behind, &next)) {
    case BOUND_NONE:
        node->done = true;
        return FILTER_NEXT_ROW;
    case BOUND_ROW:
        return slice_equal(next, cell->row) ? FILTER_NEXT_ROW : FILTER_SEEK;
    default:
        return FILTER_NEXT_ROW;
    }
}

static bool
ranges_hint(struct filter_node *node, petal_slice row, petal_slice family,
            struct filter_place *place)
{
    struct row_bound behind = {.row = row};

    (void)family;
    *place = (struct filter_place){.row_only = true};
    return ranges_bound(node, &behind, &place->row) == BOUND_ROW;
}

const struct filter_kind multi_row_range_filter = {
    .name = "MultiRowRangeFilter",
    .signature = "+sbsb",
    .fill = ranges_fill,
    .cell = ranges_cell,
    .hint = ranges_hint,
    .bound = ranges_bound,
};
