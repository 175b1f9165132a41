/* by_value.c -- filters by value and by timestamp; HBase's classes of the same names. */
#include "engine/filter/node.h"

#include <stdlib.h>

/* strings: family, qualifier. */
static bool
is_column(const petal_filter *filter, const petal_cell *cell)
{
    return slice_equal(cell->family, filter->strings[0]) &&
           slice_equal(cell->qualifier, filter->strings[1]);
}

static bool
in_family(const petal_filter *filter, petal_slice family)
{
    return slice_equal(filter->strings[0], family);
}

/* ---- ValueFilter ---- */

static enum filter_code
value_filter_cell(struct filter_node *node, const petal_cell *cell)
{
    return node_accepts(node, cell->value) ? FILTER_INCLUDE : FILTER_SKIP;
}

const struct filter_kind value_filter = {
    .name = "ValueFilter",
    .signature = "=c",
    .in_language = true,
    .cell = value_filter_cell,
};

/* ---- ColumnValueFilter ---- */

static enum filter_code
column_value_cell(struct filter_node *node, const petal_cell *cell)
{
    assert(node->filter->string_count == 2);
    if (!is_column(node->filter, cell))
        return node->found ? FILTER_NEXT_ROW : FILTER_NEXT_COLUMN;
    node->found = true;
    return node_accepts(node, cell->value) ? FILTER_INCLUDE : FILTER_SKIP;
}

const struct filter_kind column_value_filter = {
    .name = "ColumnValueFilter",
    .signature = "ss=c",
    .in_language = true,
    .keeps_cells = true,
    .needs_family = in_family,
    .cell = column_value_cell,
};

/* ---- SingleColumnValueFilter, SingleColumnValueExcludeFilter ---- */

static enum petal_status
single_column_value_fill(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
                         struct filter_mistake *mistake)
{
    (void)mistake;
    assert(filter->string_count == 2 && (count == 4 || count == 6));
    filter->if_missing = count > 4 && arguments[4].number != 0;
    filter->latest_only = count <= 4 || arguments[5].number != 0;
    return PETAL_OK;
}

static bool
single_column_value_needs_family(const petal_filter *filter, petal_slice family)
{
    return !filter->if_missing || in_family(filter, family);
}

static enum filter_code
single_column_value_cell(struct filter_node *node, const petal_cell *cell)
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

static bool
single_column_value_drops_row(struct filter_node *node)
{
    return node->found ? !node->matched : node->filter->if_missing;
}

const struct filter_kind single_column_value_filter = {
    .name = "SingleColumnValueFilter",
    .signature = "ss=c|bb",
    .in_language = true,
    .keeps_cells = true,
    .needs_rows = true,
    .fill = single_column_value_fill,
    .needs_family = single_column_value_needs_family,
    .cell = single_column_value_cell,
    .drops_row = single_column_value_drops_row,
};

static void
single_column_value_exclude_row_cells(struct filter_node *node, petal_cell *cells, size_t *count)
{
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        if (!is_column(node->filter, &cells[i]))
            cells[kept++] = cells[i];
    }
    *count = kept;
}

const struct filter_kind single_column_value_exclude_filter = {
    .name = "SingleColumnValueExcludeFilter",
    .signature = "ss=c|bb",
    .in_language = true,
    .keeps_cells = true,
    .needs_rows = true,
    .fill = single_column_value_fill,
    .needs_family = single_column_value_needs_family,
    .cell = single_column_value_cell,
    .row_cells = single_column_value_exclude_row_cells,
    .drops_row = single_column_value_drops_row,
};

/* ---- TimestampsFilter ---- */

static int
compare_numbers(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;

    return first < second ? -1 : first > second;
}

static enum petal_status
timestamps_fill(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
                struct filter_mistake *mistake)
{
    (void)mistake;
    for (size_t i = 0; i < count; i++)
        filter->timestamps[i] = arguments[i].number;
    filter->timestamp_count = count;
    if (count > 0)
        qsort(filter->timestamps, count, sizeof *filter->timestamps, compare_numbers);
    return PETAL_OK;
}

/* Is it one of the filter's timestamps? *below: the greatest lesser one, or NULL. */
static bool
asks_timestamp(const petal_filter *filter, int64_t timestamp, const int64_t **below)
{
    size_t low = 0, high = filter->timestamp_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (filter->timestamps[middle] < timestamp)
            low = middle + 1;
        else
            high = middle;
    }
    *below = low > 0 ? &filter->timestamps[low - 1] : NULL;
    return low < filter->timestamp_count && filter->timestamps[low] == timestamp;
}

static enum filter_code
timestamps_cell(struct filter_node *node, const petal_cell *cell)
{
    const int64_t *below;

    if (asks_timestamp(node->filter, cell->timestamp, &below))
        return FILTER_INCLUDE;
    return below == NULL ? FILTER_NEXT_COLUMN : FILTER_SKIP;
}

static bool
timestamps_ahead(const struct filter_node *node, const petal_cell *cell, struct filter_ahead *ahead)
{
    const int64_t *below;

    if (node->filter->timestamp_count == 0)
        return ahead_none(ahead);
    return !asks_timestamp(node->filter, cell->timestamp, &below) &&
           ahead_at(ahead, cell->qualifier, below != NULL ? *below : INT64_MIN);
}

const struct filter_kind timestamps_filter = {
    .name = "TimestampsFilter",
    .signature = "*N",
    .in_language = true,
    .fill = timestamps_fill,
    .cell = timestamps_cell,
    .ahead = timestamps_ahead,
};

/* ---- DependentColumnFilter ---- */

static enum petal_status
dependent_column_fill(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
                      struct filter_mistake *mistake)
{
    (void)mistake;
    assert(filter->string_count == 2);
    filter->drop = count > 2 && arguments[2].number != 0;
    return PETAL_OK;
}

static void
dependent_column_end(struct filter_node *node)
{
    mem_free(node->allocator, node->state.dependent.timestamps,
             node->state.dependent.capacity * sizeof(int64_t));
}

static void
dependent_column_reset(struct filter_node *node)
{
    node->state.dependent.count = 0;
}

/* The place of the timestamp in the array, in descending order, or where it belongs. */
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

/* Versions come from new to old: each belongs at the end. */
static void
add_timestamp(struct filter_node *node, int64_t timestamp)
{
    struct dependent_state *state = &node->state.dependent;
    size_t place = find_timestamp(state, timestamp);
    void *array = state->timestamps;

    if (place < state->count && state->timestamps[place] == timestamp)
        return;
    if (!mem_grow(node->allocator, &array, &state->capacity, state->count, state->count + 1,
                  sizeof *state->timestamps)) {
        node_fail(node, PETAL_NO_MEMORY, 0);
        return;
    }
    state->timestamps = array;
    memmove(&state->timestamps[place + 1], &state->timestamps[place],
            (state->count - place) * sizeof *state->timestamps);
    state->timestamps[place] = timestamp;
    state->count++;
    assert(place == 0 || state->timestamps[place - 1] > timestamp);
    assert(place + 1 == state->count || state->timestamps[place + 1] < timestamp);
}

static enum filter_code
dependent_column_cell(struct filter_node *node, const petal_cell *cell)
{
    const petal_filter *filter = node->filter;

    if (!is_column(filter, cell))
        return FILTER_INCLUDE;
    if (filter->comparator.kind != COMPARATOR_NONE && !node_accepts(node, cell->value))
        return FILTER_SKIP;
    add_timestamp(node, cell->timestamp);
    return filter->drop ? FILTER_SKIP : FILTER_INCLUDE;
}

static void
dependent_column_row_cells(struct filter_node *node, petal_cell *cells, size_t *count)
{
    const struct dependent_state *state = &node->state.dependent;
    size_t kept = 0;

    for (size_t i = 0; i < *count; i++) {
        size_t place = find_timestamp(state, cells[i].timestamp);

        if (place < state->count && state->timestamps[place] == cells[i].timestamp)
            cells[kept++] = cells[i];
    }
    *count = kept;
}

const struct filter_kind dependent_column_filter = {
    .name = "DependentColumnFilter",
    .signature = "ss|b|=C",
    .in_language = true,
    .keeps_cells = true,
    .needs_rows = true,
    .fill = dependent_column_fill,
    .end = dependent_column_end,
    .reset = dependent_column_reset,
    .cell = dependent_column_cell,
    .row_cells = dependent_column_row_cells,
};
