/* by_column.c -- filters by family and qualifier, and those that count cells; HBase's classes of
 * the same names. */
#include "engine/filter/node.h"

#include <stdlib.h>

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

/* A place in the family of the cell at hand. */
static bool
seek_qualifier(petal_slice row, petal_slice family, petal_slice qualifier,
               struct filter_place *place)
{
    *place = (struct filter_place){row, false, family, qualifier};
    return true;
}

/* ---- FamilyFilter, QualifierFilter ---- */

static enum filter_code
family_filter_cell(struct filter_node *node, const petal_cell *cell)
{
    return node_accepts(node, cell->family) ? FILTER_INCLUDE : FILTER_NEXT_ROW;
}

const struct filter_kind family_filter = {
    .name = "FamilyFilter",
    .signature = "=c",
    .in_language = true,
    .cell = family_filter_cell,
};

static enum filter_code
qualifier_filter_cell(struct filter_node *node, const petal_cell *cell)
{
    return node_accepts(node, cell->qualifier) ? FILTER_INCLUDE : FILTER_SKIP;
}

const struct filter_kind qualifier_filter = {
    .name = "QualifierFilter",
    .signature = "=c",
    .in_language = true,
    .cell = qualifier_filter_cell,
};

/* ---- ColumnPrefixFilter, MultipleColumnPrefixFilter ---- */

static enum filter_code
column_prefix_cell(struct filter_node *node, const petal_cell *cell)
{
    petal_slice prefix = node->filter->strings[0];

    if (begins_with(cell->qualifier, prefix))
        return FILTER_INCLUDE;
    return slice_compare(cell->qualifier, prefix) < 0 ? FILTER_SEEK : FILTER_NEXT_ROW;
}

static bool
column_prefix_hint(struct filter_node *node, petal_slice row, petal_slice family,
                   struct filter_place *place)
{
    return seek_qualifier(row, family, node->filter->strings[0], place);
}

const struct filter_kind column_prefix_filter = {
    .name = "ColumnPrefixFilter",
    .signature = "s",
    .in_language = true,
    .cell = column_prefix_cell,
    .hint = column_prefix_hint,
};

static int
compare_slices(const void *a, const void *b)
{
    return slice_compare(*(const petal_slice *)a, *(const petal_slice *)b);
}

static enum petal_status
multiple_column_prefix_fill(petal_filter *filter, const petal_filter_argument *arguments,
                            size_t count, struct filter_mistake *mistake)
{
    (void)arguments;
    (void)count;
    assert(count == filter->string_count);
    if (filter->string_count > 0)
        qsort(filter->strings, filter->string_count, sizeof *filter->strings, compare_slices);
    for (size_t i = 1; i < filter->string_count; i++) {
        if (slice_equal(filter->strings[i - 1], filter->strings[i]))
            return filter_refuse(mistake, "prefixes must be distinct");
    }
    return PETAL_OK;
}

static enum petal_status
multiple_column_prefix_begin(struct filter_node *node)
{
    node->state.next_prefix = node->filter->string_count;
    return PETAL_OK;
}

/* Only the greatest prefix that is not above the qualifier is tried, as in HBase: prefixes can
 * hide each other. */
static enum filter_code
multiple_column_prefix_cell(struct filter_node *node, const petal_cell *cell)
{
    petal_slice qualifier = cell->qualifier;
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
    assert(low < filter->string_count);
    node->state.next_prefix = low;
    return FILTER_SEEK;
}

static bool
multiple_column_prefix_hint(struct filter_node *node, petal_slice row, petal_slice family,
                            struct filter_place *place)
{
    size_t next = node->state.next_prefix;

    return next < node->filter->string_count &&
           seek_qualifier(row, family, node->filter->strings[next], place);
}

const struct filter_kind multiple_column_prefix_filter = {
    .name = "MultipleColumnPrefixFilter",
    .signature = "*s",
    .in_language = true,
    .fill = multiple_column_prefix_fill,
    .begin = multiple_column_prefix_begin,
    .cell = multiple_column_prefix_cell,
    .hint = multiple_column_prefix_hint,
};

/* ---- ColumnRangeFilter ---- */

/* An empty string is an open end, too. */
static enum petal_status
column_range_fill(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
                  struct filter_mistake *mistake)
{
    (void)mistake;
    (void)count;
    assert(count == 4 && filter->string_count == 2);
    filter->has_min = arguments[0].bytes.size > 0;
    filter->min_inclusive = arguments[1].number != 0;
    filter->has_max = arguments[2].bytes.size > 0;
    filter->max_inclusive = arguments[3].number != 0;
    return PETAL_OK;
}

static enum filter_code
column_range_cell(struct filter_node *node, const petal_cell *cell)
{
    const petal_filter *filter = node->filter;
    petal_slice qualifier = cell->qualifier;
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

static bool
column_range_hint(struct filter_node *node, petal_slice row, petal_slice family,
                  struct filter_place *place)
{
    return node->filter->has_min && seek_qualifier(row, family, node->filter->strings[0], place);
}

const struct filter_kind column_range_filter = {
    .name = "ColumnRangeFilter",
    .signature = "ebeb",
    .in_language = true,
    .fill = column_range_fill,
    .cell = column_range_cell,
    .hint = column_range_hint,
};

/* ---- those that count cells ---- */

static enum filter_code
column_pagination_cell(struct filter_node *node, const petal_cell *cell)
{
    const petal_filter *filter = node->filter;

    (void)cell;
    if (node->count >= filter->offset + filter->count)
        return FILTER_NEXT_ROW;
    return node->count++ < filter->offset ? FILTER_NEXT_COLUMN : FILTER_INCLUDE_AND_NEXT_COLUMN;
}

const struct filter_kind column_pagination_filter = {
    .name = "ColumnPaginationFilter",
    .signature = "nn",
    .in_language = true,
    .cell = column_pagination_cell,
};

static bool
column_count_get_done(const struct filter_node *node)
{
    return node->count > node->filter->count;
}

static enum filter_code
column_count_get_cell(struct filter_node *node, const petal_cell *cell)
{
    (void)cell;
    return ++node->count > node->filter->count ? FILTER_NEXT_COLUMN
                                               : FILTER_INCLUDE_AND_NEXT_COLUMN;
}

const struct filter_kind column_count_get_filter = {
    .name = "ColumnCountGetFilter",
    .signature = "n",
    .in_language = true,
    .watches_excluded_rows = true,
    .done = column_count_get_done,
    .cell = column_count_get_cell,
};

static enum filter_code
first_key_only_cell(struct filter_node *node, const petal_cell *cell)
{
    (void)cell;
    if (node->found)
        return FILTER_NEXT_ROW;
    node->found = true;
    return FILTER_INCLUDE;
}

const struct filter_kind first_key_only_filter = {
    .name = "FirstKeyOnlyFilter",
    .signature = "",
    .in_language = true,
    .cell = first_key_only_cell,
};

/* ---- KeyOnlyFilter ---- */

static enum petal_status
key_only_fill(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
              struct filter_mistake *mistake)
{
    (void)mistake;
    assert(count <= 1);
    filter->length_as_value = count > 0 && arguments[0].number != 0;
    return PETAL_OK;
}

static void
key_only_transform(struct filter_node *node, petal_cell *cell)
{
    uint8_t *length = node->state.length_bytes;

    for (unsigned i = 0; i < 4; i++)
        length[i] = (uint8_t)(cell->value.size >> (24 - 8 * i));
    cell->value = slice_make(length, node->filter->length_as_value ? 4 : 0);
}

const struct filter_kind key_only_filter = {
    .name = "KeyOnlyFilter",
    .signature = "|b",
    .in_language = true,
    .fill = key_only_fill,
    .transform = key_only_transform,
};
