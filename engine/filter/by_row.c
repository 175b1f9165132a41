/*
 * by_row.c -- filters by the row, and those that count rows; HBase's classes of the same names, but that FuzzyRowFilter
 * never takes a row shorter than its pattern, and that it and MultiRowRangeFilter take the same rows in both directions,
 * under SKIP and WHILE as well. They go by the row of the cell at hand, so that they need not have been shown its key.
 */
#include "engine/filter/node.h"

static bool
skips_by_prefix(struct filter_node *node, petal_slice row)
{
    petal_slice prefix = node->filter->strings[0];
    int order;

    if (node->done || row.size < prefix.size)
        return true;
    row.size = prefix.size;
    order = slice_compare(row, prefix);
    node->done = node->reversed ? order < 0 : order > 0;
    node->row_out = order != 0;
    return node->row_out;
}

static bool
skips_behind_stop(struct filter_node *node, petal_slice row)
{
    int order;

    if (!node->done) {
        order = slice_compare(row, node->filter->strings[0]);
        node->done = node->reversed ? order < 0 : order > 0;
    }
    return node->done;
}

/* The next number of SplitMix64, as a fraction below 1. */
static double
draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(z >> 11) / (double)((uint64_t)1 << 53);
}

bool
row_filter_skips_row(struct filter_node *node, petal_slice row)
{
    const petal_filter *filter = node->filter;

    switch (filter->kind) {
    case FILTER_KIND_PREFIX:
        return skips_by_prefix(node, row);
    case FILTER_KIND_INCLUSIVE_STOP:
        return skips_behind_stop(node, row);
    case FILTER_KIND_ROW:
        if (!node_accepts(node, row))
            node->row_out = true;
        return node->row_out;
    case FILTER_KIND_RANDOM_ROW:
        node->row_out = filter->chance < 0 ||
                        (filter->chance <= 1 && draw(&node->state.random) >= filter->chance);
        return node->row_out;
    default:
        return node_done(node);
    }
}

/* A row outside of all ranges: is there one to seek? */
static enum filter_code
code_outside(struct filter_node *node, petal_slice row)
{
    struct row_bound behind = {.row = row};
    petal_slice next;

    switch (ranges_bound(node, &behind, &next)) {
    case BOUND_NONE:
        node->done = true;
        return FILTER_NEXT_ROW;
    case BOUND_ROW:
        return slice_equal(next, row) ? FILTER_NEXT_ROW : FILTER_SEEK;
    default:
        return FILTER_NEXT_ROW;
    }
}

enum filter_code
row_filter_cell(struct filter_node *node, petal_slice row)
{
    const petal_filter *filter = node->filter;

    switch (filter->kind) {
    case FILTER_KIND_PREFIX:
    case FILTER_KIND_ROW:
    case FILTER_KIND_RANDOM_ROW:
        return node->row_out ? FILTER_NEXT_ROW : FILTER_INCLUDE;
    case FILTER_KIND_INCLUSIVE_STOP:
        return node->done ? FILTER_NEXT_ROW : FILTER_INCLUDE;
    case FILTER_KIND_FUZZY_ROW:
        if (fuzzy_matches(filter, row))
            return FILTER_INCLUDE;
        node->row_out = true;
        return FILTER_SEEK;
    case FILTER_KIND_MULTI_ROW_RANGE:
        return ranges_contain(filter, row) ? FILTER_INCLUDE : code_outside(node, row);
    default:
        return FILTER_INCLUDE;
    }
}

bool
row_filter_hint(struct filter_node *node, petal_slice row, struct filter_place *place)
{
    struct row_bound behind = {.row = row};
    enum bound_answer answer;

    memset(place, 0, sizeof *place);
    place->row_only = true;
    if (node->filter->kind == FILTER_KIND_MULTI_ROW_RANGE)
        return ranges_bound(node, &behind, &place->row) == BOUND_ROW;
    if (node->filter->kind != FILTER_KIND_FUZZY_ROW)
        return false;
    answer = fuzzy_bound(node, &behind, &place->row);
    node->done |= answer == BOUND_NONE;
    return answer == BOUND_ROW;
}
