/* filter.c -- which cells a list of filters lets pass; see tests/model/model.h. */
#include "tests/model/model.h"

#include "base/slice.h"
#include "tests/model/text.h"

static bool
holds(enum petal_compare compare, int order)
{
    switch (compare) {
    case PETAL_LESS:
        return order < 0;
    case PETAL_LESS_OR_EQUAL:
        return order <= 0;
    case PETAL_EQUAL:
        return order == 0;
    case PETAL_NOT_EQUAL:
        return order != 0;
    case PETAL_GREATER_OR_EQUAL:
        return order >= 0;
    case PETAL_GREATER:
        return order > 0;
    }
    return false;
}

static bool
begins_with(petal_slice bytes, petal_slice prefix)
{
    return bytes.size >= prefix.size && slice_equal(slice_make(bytes.data, prefix.size), prefix);
}

static bool
contains(petal_slice bytes, petal_slice part)
{
    for (size_t i = 0; i + part.size <= bytes.size; i++) {
        if (slice_equal(slice_make(slice_bytes(bytes) + i, part.size), part))
            return true;
    }
    return false;
}

static bool
in_range(const struct model_leaf *leaf, petal_slice qualifier)
{
    int from = slice_compare(qualifier, model_slice(&leaf->bytes));
    int to = slice_compare(qualifier, model_slice(&leaf->more));

    /* An empty end is open. */
    return (leaf->bytes.size == 0 || from > 0 || (from == 0 && leaf->flag)) &&
           (leaf->more.size == 0 || to < 0 || (to == 0 && leaf->flag));
}

static bool
leaf_passes(const struct model_leaf *leaf, const struct model_cell *cell)
{
    petal_slice row = model_slice(&cell->row), qualifier = model_slice(&cell->qualifier);
    petal_slice value = model_slice(&cell->value), bytes = model_slice(&leaf->bytes);

    switch (leaf->kind) {
    case MODEL_LEAF_ROW:
        return holds(leaf->compare, slice_compare(row, bytes));
    case MODEL_LEAF_ROW_PREFIX:
        return begins_with(row, bytes);
    case MODEL_LEAF_FAMILY:
        return holds(leaf->compare, slice_compare(model_text_family_name(cell->family), bytes));
    case MODEL_LEAF_QUALIFIER:
        return holds(leaf->compare, slice_compare(qualifier, bytes));
    case MODEL_LEAF_QUALIFIER_PREFIX:
        if (qualifier.size > bytes.size)
            qualifier.size = bytes.size;
        return holds(leaf->compare, slice_compare(qualifier, bytes));
    case MODEL_LEAF_COLUMN_PREFIX:
        return begins_with(qualifier, bytes);
    case MODEL_LEAF_COLUMN_RANGE:
        return in_range(leaf, qualifier);
    case MODEL_LEAF_VALUE:
        return holds(leaf->compare, slice_compare(value, bytes));
    case MODEL_LEAF_VALUE_PREFIX:
        if (value.size > bytes.size)
            value.size = bytes.size;
        return holds(leaf->compare, slice_compare(value, bytes));
    case MODEL_LEAF_VALUE_CONTAINS:
        return contains(value, bytes) == (leaf->compare == PETAL_EQUAL);
    case MODEL_LEAF_TIMESTAMPS:
        return cell->timestamp == leaf->number || cell->timestamp == leaf->number + 1;
    case MODEL_LEAVES:
        break;
    }
    return false;
}

bool
model_filter_passes(const struct model_filter *filter, const struct model_cell *cell)
{
    for (size_t i = 0; i < filter->leaf_count; i++) {
        if (leaf_passes(&filter->leaves[i], cell) == filter->one_of)
            return filter->one_of;
    }
    return !filter->one_of;
}
