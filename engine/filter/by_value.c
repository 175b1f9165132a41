/* by_value.c -- filters by value and by timestamp; HBase's classes of the same names. */
#include "engine/filter/node.h"

/* strings: family, qualifier. */
static bool
is_column(const petal_filter *filter, const petal_cell *cell)
{
    return slice_equal(cell->family, filter->strings[0]) &&
           slice_equal(cell->qualifier, filter->strings[1]);
}

static enum filter_code
single_column_value(struct filter_node *node, const petal_cell *cell)
{
    const petal_filter *filter = node->filter;

    if (node->matched)
        return FILTER_INCLUDE;
    if (filter->latest_only && node->found)
        return FILTER_NEXT_ROW;
    if (!is_column(filter, cell))
        return FILTER_INCLUDE;
    node->found = true;
    node->matched = node_accepts(node, cell->value);
    return node->matched || !filter->latest_only ? FILTER_INCLUDE : FILTER_NEXT_ROW;
}

static enum filter_code
column_value(struct filter_node *node, const petal_cell *cell)
{
    if (!is_column(node->filter, cell))
        return node->found ? FILTER_NEXT_ROW : FILTER_NEXT_COLUMN;
    node->found = true;
    return node_accepts(node, cell->value) ? FILTER_INCLUDE : FILTER_SKIP;
}

static enum filter_code
timestamps(const petal_filter *filter, int64_t timestamp)
{
    size_t low = 0, high = filter->timestamp_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (filter->timestamps[middle] < timestamp)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < filter->timestamp_count && filter->timestamps[low] == timestamp)
        return FILTER_INCLUDE;
    return low == 0 ? FILTER_NEXT_COLUMN : FILTER_SKIP;
}

/* ---- DependentColumnFilter ---- */

/* The place of the timestamp in the array, from great to small, or where it belongs. */
static size_t
find_timestamp(const struct dependent_state *state, int64_t timestamp)
{
    size_t low = 0, high = state->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (state->timestamps[middle] > timestamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool
has_timestamp(const struct dependent_state *state, int64_t timestamp)
{
    size_t place = find_timestamp(state, timestamp);

    return place < state->count && state->timestamps[place] == timestamp;
}

/* Versions come from new to old: each belongs at the end. */
static enum petal_status
add_timestamp(struct filter_node *node, int64_t timestamp)
{
    struct dependent_state *state = &node->state.dependent;
    size_t place = find_timestamp(state, timestamp);
    void *array = state->timestamps;

    if (place < state->count && state->timestamps[place] == timestamp)
        return PETAL_OK;
    if (!mem_grow(node->allocator, &array, &state->capacity, state->count, state->count + 1,
                  sizeof *state->timestamps))
        return PETAL_NO_MEMORY;
    state->timestamps = array;
    memmove(&state->timestamps[place + 1], &state->timestamps[place],
            (state->count - place) * sizeof *state->timestamps);
    state->timestamps[place] = timestamp;
    state->count++;
    return PETAL_OK;
}

static enum petal_status
dependent_column(struct filter_node *node, const petal_cell *cell, enum filter_code *code)
{
    const petal_filter *filter = node->filter;

    *code = FILTER_INCLUDE;
    if (!is_column(filter, cell))
        return PETAL_OK;
    if (filter->comparator.kind != COMPARATOR_NONE && !node_accepts(node, cell->value)) {
        *code = FILTER_SKIP;
        return PETAL_OK;
    }
    if (filter->drop)
        *code = FILTER_SKIP;
    return add_timestamp(node, cell->timestamp);
}

/* ---- all of them ---- */

enum petal_status
value_filter_cell(struct filter_node *node, const petal_cell *cell, enum filter_code *code)
{
    const petal_filter *filter = node->filter;

    switch (filter->kind) {
    case FILTER_KIND_VALUE:
        *code = node_accepts(node, cell->value) ? FILTER_INCLUDE : FILTER_SKIP;
        return PETAL_OK;
    case FILTER_KIND_COLUMN_VALUE:
        *code = column_value(node, cell);
        return PETAL_OK;
    case FILTER_KIND_TIMESTAMPS:
        *code = timestamps(filter, cell->timestamp);
        return PETAL_OK;
    case FILTER_KIND_DEPENDENT_COLUMN:
        return dependent_column(node, cell, code);
    default:
        *code = single_column_value(node, cell);
        return PETAL_OK;
    }
}

void
value_filter_row_cells(const struct filter_node *node, petal_cell *cells, size_t *count)
{
    const petal_filter *filter = node->filter;
    size_t kept = 0;

    if (filter->kind != FILTER_KIND_DEPENDENT_COLUMN &&
        filter->kind != FILTER_KIND_SINGLE_COLUMN_VALUE_EXCLUDE)
        return;
    for (size_t i = 0; i < *count; i++) {
        bool stays = filter->kind == FILTER_KIND_DEPENDENT_COLUMN
                         ? has_timestamp(&node->state.dependent, cells[i].timestamp)
                         : !is_column(filter, &cells[i]);

        if (stays)
            cells[kept++] = cells[i];
    }
    *count = kept;
}

bool
value_filter_drops_row(const struct filter_node *node)
{
    if (node->filter->kind != FILTER_KIND_SINGLE_COLUMN_VALUE &&
        node->filter->kind != FILTER_KIND_SINGLE_COLUMN_VALUE_EXCLUDE)
        return false;
    return node->found ? !node->matched : node->filter->if_missing;
}
