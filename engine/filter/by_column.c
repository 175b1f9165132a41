/* by_column.c -- filters by family and qualifier, and those that count cells; HBase's classes of the same names. */
#include "engine/filter/node.h"

static petal_slice
first_bytes(petal_slice slice, size_t size)
{
    return slice_make(slice.data, slice.size < size ? slice.size : size);
}

static bool
begins_with(petal_slice slice, petal_slice prefix)
{
    return slice.size >= prefix.size && slice_equal(first_bytes(slice, prefix.size), prefix);
}

static enum filter_code
column_prefix(petal_slice prefix, petal_slice qualifier)
{
    if (begins_with(qualifier, prefix))
        return FILTER_INCLUDE;
    return slice_compare(qualifier, prefix) < 0 ? FILTER_SEEK : FILTER_NEXT_ROW;
}

/* Only the greatest prefix that is not above the qualifier is tried, as in HBase: prefixes can hide each other. */
static enum filter_code
multiple_column_prefix(struct filter_node *node, petal_slice qualifier)
{
    const petal_filter *filter = node->filter;
    size_t low = 0, high = filter->string_count;

    if (filter->string_count == 0)
        return FILTER_INCLUDE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slice_compare(filter->strings[middle], qualifier) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && begins_with(qualifier, filter->strings[low - 1]))
        return FILTER_INCLUDE;
    if (low == filter->string_count)
        return FILTER_NEXT_ROW;
    node->state.next_prefix = low;
    return FILTER_SEEK;
}

static enum filter_code
column_range(const petal_filter *filter, petal_slice qualifier)
{
    int order = filter->has_min ? slice_compare(qualifier, filter->strings[0]) : 1;

    if (order < 0)
        return FILTER_SEEK;
    if (order == 0 && !filter->min_inclusive)
        return FILTER_NEXT_COLUMN;
    if (!filter->has_max)
        return FILTER_INCLUDE;
    order = slice_compare(qualifier, filter->strings[1]);
    return order < 0 || (order == 0 && filter->max_inclusive) ? FILTER_INCLUDE : FILTER_NEXT_ROW;
}

static enum filter_code
column_pagination(struct filter_node *node)
{
    const petal_filter *filter = node->filter;

    if (node->count >= filter->offset + filter->count)
        return FILTER_NEXT_ROW;
    return node->count++ < filter->offset ? FILTER_NEXT_COLUMN : FILTER_INCLUDE_AND_NEXT_COLUMN;
}

enum filter_code
column_filter_cell(struct filter_node *node, const petal_cell *cell)
{
    const petal_filter *filter = node->filter;

    switch (filter->kind) {
    case FILTER_KIND_FAMILY:
        return node_accepts(node, cell->family) ? FILTER_INCLUDE : FILTER_NEXT_ROW;
    case FILTER_KIND_QUALIFIER:
        return node_accepts(node, cell->qualifier) ? FILTER_INCLUDE : FILTER_SKIP;
    case FILTER_KIND_COLUMN_PREFIX:
        return column_prefix(filter->strings[0], cell->qualifier);
    case FILTER_KIND_MULTIPLE_COLUMN_PREFIX:
        return multiple_column_prefix(node, cell->qualifier);
    case FILTER_KIND_COLUMN_RANGE:
        return column_range(filter, cell->qualifier);
    case FILTER_KIND_COLUMN_PAGINATION:
        return column_pagination(node);
    case FILTER_KIND_COLUMN_COUNT_GET:
        return ++node->count > filter->count ? FILTER_NEXT_COLUMN : FILTER_INCLUDE_AND_NEXT_COLUMN;
    case FILTER_KIND_FIRST_KEY_ONLY:
        if (node->found)
            return FILTER_NEXT_ROW;
        node->found = true;
        return FILTER_INCLUDE;
    default:
        return FILTER_INCLUDE;
    }
}

bool
column_filter_hint(const struct filter_node *node, petal_slice row, petal_slice family,
                   struct filter_place *place)
{
    const petal_filter *filter = node->filter;
    petal_slice qualifier;

    if (filter->kind == FILTER_KIND_COLUMN_PREFIX ||
        (filter->kind == FILTER_KIND_COLUMN_RANGE && filter->has_min))
        qualifier = filter->strings[0];
    else if (filter->kind == FILTER_KIND_MULTIPLE_COLUMN_PREFIX &&
             node->state.next_prefix < filter->string_count)
        qualifier = filter->strings[node->state.next_prefix];
    else
        return false;
    *place = (struct filter_place){row, false, family, qualifier};
    return true;
}
