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

static bool
family_filter_ahead(const struct filter_node *node, const petal_cell *cell,
                    struct filter_ahead *ahead)
{
    const petal_filter *filter = node->filter;

    return node->search == NULL &&
           !comparator_accepts(&filter->comparator, filter->compare, cell->family) &&
           ahead_none(ahead);
}

const struct filter_kind family_filter = {
    .name = "FamilyFilter",
    .signature = "=c",
    .in_language = true,
    .cell = family_filter_cell,
    .ahead = family_filter_ahead,
};

static enum filter_code
qualifier_filter_cell(struct filter_node *node, const petal_cell *cell)
{
    return node_accepts(node, cell->qualifier) ? FILTER_INCLUDE : FILTER_SKIP;
}

/* Qualifiers come in order: those below, equal to and above the comparator's bytes; for a
 * BinaryPrefixComparator those that begin with them count as equal. */
static bool
qualifier_filter_ahead(const struct filter_node *node, const petal_cell *cell,
                       struct filter_ahead *ahead)
{
    const struct comparator *comparator = &node->filter->comparator;
    enum petal_compare compare = node->filter->compare;
    petal_slice bytes = comparator->bytes;
    bool is_prefix = comparator->kind == COMPARATOR_BINARY_PREFIX;
    int order = slice_compare(
        is_prefix ? first_bytes(cell->qualifier, bytes.size) : cell->qualifier, bytes);

    if ((comparator->kind != COMPARATOR_BINARY && !is_prefix) || compare_holds(compare, -order))
        return false;
    if (compare <= PETAL_LESS_OR_EQUAL || (compare == PETAL_EQUAL && order > 0))
        return ahead_none(ahead);
    if (compare == PETAL_GREATER || compare == PETAL_NOT_EQUAL) {
        /* After all equal ones: for a prefix the first place there is not known. */
        if (!is_prefix)
            return ahead_at(ahead, bytes, INT64_MIN);
        if (order == 0)
            return false;
    }
    return ahead_at(ahead, bytes, INT64_MAX);
}

const struct filter_kind qualifier_filter = {
    .name = "QualifierFilter",
    .signature = "=c",
    .in_language = true,
    .cell = qualifier_filter_cell,
    .ahead = qualifier_filter_ahead,
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

static bool
column_prefix_ahead(const struct filter_node *node, const petal_cell *cell,
                    struct filter_ahead *ahead)
{
    petal_slice prefix = node->filter->strings[0];

    if (begins_with(cell->qualifier, prefix))
        return false;
    return slice_compare(cell->qualifier, prefix) < 0 ? ahead_at(ahead, prefix, INT64_MAX)
                                                      : ahead_none(ahead);
}

const struct filter_kind column_prefix_filter = {
    .name = "ColumnPrefixFilter",
    .signature = "s",
    .in_language = true,
    .cell = column_prefix_cell,
    .hint = column_prefix_hint,
    .ahead = column_prefix_ahead,
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
 * hide each other. *next: the first one above. */
static bool
has_any_prefix(const petal_filter *filter, petal_slice qualifier, size_t *next)
{
    size_t low = 0, high = filter->string_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slice_compare(filter->strings[middle], qualifier) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    *next = low;
    return filter->string_count == 0 ||
           (low > 0 && begins_with(qualifier, filter->strings[low - 1]));
}

static enum filter_code
multiple_column_prefix_cell(struct filter_node *node, const petal_cell *cell)
{
    size_t next;

    if (has_any_prefix(node->filter, cell->qualifier, &next))
        return FILTER_INCLUDE;
    if (next == node->filter->string_count)
        return FILTER_NEXT_ROW;
    assert(next < node->filter->string_count);
    node->state.next_prefix = next;
    return FILTER_SEEK;
}

static bool
multiple_column_prefix_ahead(const struct filter_node *node, const petal_cell *cell,
                             struct filter_ahead *ahead)
{
    size_t next;

    if (has_any_prefix(node->filter, cell->qualifier, &next))
        return false;
    return next < node->filter->string_count
               ? ahead_at(ahead, node->filter->strings[next], INT64_MAX)
               : ahead_none(ahead);
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
    .ahead = multiple_column_prefix_ahead,
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

static bool
column_range_ahead(const struct filter_node *node, const petal_cell *cell,
                   struct filter_ahead *ahead)
{
    const petal_filter *filter = node->filter;
    petal_slice qualifier = cell->qualifier;
    int order = filter->has_min ? slice_compare(qualifier, filter->strings[0]) : 1;

    if (order < 0 || (order == 0 && !filter->min_inclusive))
        return ahead_at(ahead, filter->strings[0], filter->min_inclusive ? INT64_MAX : INT64_MIN);
    order = filter->has_max ? slice_compare(qualifier, filter->strings[1]) : -1;
    return (order > 0 || (order == 0 && !filter->max_inclusive)) && ahead_none(ahead);
}

const struct filter_kind column_range_filter = {
    .name = "ColumnRangeFilter",
    .signature = "ebeb",
    .in_language = true,
    .fill = column_range_fill,
    .cell = column_range_cell,
    .hint = column_range_hint,
    .ahead = column_range_ahead,
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
    .keeps_cells = true,
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
    .keeps_cells = true,
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
    .keeps_cells = true,
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
