/*
 * bound.c -- which row can be the next to pass, by the filter's arguments alone, so that a scan can seek it. Where
 * that is not known for certain, nothing is said. A bound may be early, never late.
 */
#include "engine/filter/node.h"

/* Of two rows: is `a` met before `b`? */
static bool
comes_before(const struct filter_node *node, petal_slice a, petal_slice b)
{
    int order = slice_compare(a, b);

    return node->run_reversed ? order > 0 : order < 0;
}

/* ---- MultiRowRangeFilter ---- */

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

/* The number of ranges that end before they reach above the row. */
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

bool
ranges_contain(const petal_filter *filter, petal_slice row)
{
    size_t index = count_below(filter, row, true);

    return index < filter->range_count && reaches_below(&filter->ranges[index], row, true);
}

static enum bound_answer
ranges_bound_above(const petal_filter *filter, const struct row_bound *from, petal_slice *row)
{
    size_t index = from->open ? 0 : count_below(filter, from->row, from->inclusive);

    if (index == filter->range_count)
        return BOUND_NONE;
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

enum bound_answer
ranges_bound(const struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    return node->run_reversed ? ranges_bound_below(node->filter, from, row)
                              : ranges_bound_above(node->filter, from, row);
}

/* ---- FuzzyRowFilter ---- */

/* How many bytes of the row, from its beginning, are as the pattern wants them. */
static size_t
matching_bytes(petal_slice pattern, petal_slice mask, petal_slice row)
{
    size_t common = row.size < pattern.size ? row.size : pattern.size, i = 0;

    while (i < common &&
           (slice_bytes(mask)[i] != 0 || slice_bytes(pattern)[i] == slice_bytes(row)[i]))
        i++;
    return i;
}

bool
fuzzy_matches(const petal_filter *filter, petal_slice row)
{
    for (size_t i = 0; i < filter->string_count; i += 2) {
        if (matching_bytes(filter->strings[i], filter->strings[i + 1], row) ==
            filter->strings[i].size)
            return true;
    }
    return false;
}

/* Write the first bytes of the row, and behind them the pattern with its free bytes at the end that is met first. */
static petal_slice
fill_pattern(petal_slice pattern, petal_slice mask, petal_slice row, size_t from_row, bool reversed,
             uint8_t *to)
{
    if (from_row > 0)
        memcpy(to, row.data, from_row);
    for (size_t i = from_row; i < pattern.size; i++)
        to[i] = slice_bytes(mask)[i] == 0 ? slice_bytes(pattern)[i] : reversed ? 0xFF : 0;
    return slice_make(to, pattern.size);
}

/*
 * The first bytes of the rows that match and come next behind `row`, which does not match. Up to the byte that is wrong the
 * row can stay; if the right byte does not lie behind the wrong one, the last free byte before it has to move on.
 */
static bool
next_pattern(petal_slice pattern, petal_slice mask, petal_slice row, bool reversed, uint8_t *to,
             petal_slice *made)
{
    size_t wrong = matching_bytes(pattern, mask, row), at = wrong;
    const uint8_t *bytes = row.data;
    uint8_t last = reversed ? 0 : 0xFF;

    if (wrong == row.size ? !reversed : (slice_bytes(pattern)[wrong] > bytes[wrong]) != reversed) {
        *made = fill_pattern(pattern, mask, row, wrong, reversed, to);
        return true;
    }
    while (at > 0 && (slice_bytes(mask)[at - 1] == 0 || bytes[at - 1] == last))
        at--;
    if (at == 0)
        return false;
    *made = fill_pattern(pattern, mask, row, at, reversed, to);
    to[at - 1] = (uint8_t)(reversed ? bytes[at - 1] - 1 : bytes[at - 1] + 1);
    return true;
}

/* The first row above all that begin with `prefix`, made in its place. False: there is none. */
static bool
step_above(uint8_t *bytes, petal_slice *prefix)
{
    while (prefix->size > 0 && bytes[prefix->size - 1] == 0xFF)
        prefix->size--;
    if (prefix->size == 0)
        return false;
    bytes[prefix->size - 1]++;
    return true;
}

static enum bound_answer
pattern_bound(const struct filter_node *node, size_t index, const struct row_bound *from,
              uint8_t *to, petal_slice *row)
{
    petal_slice pattern = node->filter->strings[index], mask = node->filter->strings[index + 1];
    petal_slice start = from->open ? slice_make("", 0) : from->row;
    bool reversed = node->run_reversed;

    if (!from->open && matching_bytes(pattern, mask, start) == pattern.size) {
        *row = start;
        return BOUND_ROW;
    }
    if (from->open)
        *row = fill_pattern(pattern, mask, start, 0, reversed, to);
    else if (!next_pattern(pattern, mask, start, reversed, to, row))
        return BOUND_NONE;
    return !reversed || step_above(to, row) ? BOUND_ROW : BOUND_UNKNOWN;
}

enum bound_answer
fuzzy_bound(struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    const petal_filter *filter = node->filter;
    size_t half = filter->longest;
    uint8_t *best = node->state.row, *trial = best + half;
    bool found = false;

    for (size_t i = 0; i < filter->string_count; i += 2) {
        petal_slice candidate = {NULL, 0};
        enum bound_answer answer = pattern_bound(node, i, from, trial, &candidate);

        if (answer == BOUND_UNKNOWN)
            return BOUND_UNKNOWN;
        if (answer == BOUND_NONE || (found && !comes_before(node, candidate, *row)))
            continue;
        *row = candidate;
        found = true;
        if (candidate.data == trial) {
            trial = best;
            best = (uint8_t *)(uintptr_t)candidate.data;
        }
    }
    return found ? BOUND_ROW : BOUND_NONE;
}

/* ---- other filters ---- */

static enum bound_answer
at_or_behind(const struct filter_node *node, const struct row_bound *from, petal_slice wanted,
             petal_slice *row)
{
    *row = !from->open && comes_before(node, wanted, from->row) ? from->row : wanted;
    return BOUND_ROW;
}

/* Rows that begin with the prefix. Their upper end has no name, so a reversed run learns only that it is past them. */
static enum bound_answer
prefix_bound(const struct filter_node *node, const struct row_bound *from, petal_slice prefix,
             petal_slice *row)
{
    petal_slice start = from->row;
    int order;

    if (from->open)
        start = slice_make("", 0);
    if (start.size > prefix.size)
        start.size = prefix.size;
    order = slice_compare(start, prefix);
    if (node->run_reversed)
        return !from->open && order < 0 ? BOUND_NONE : BOUND_UNKNOWN;
    if (order > 0)
        return BOUND_NONE;
    return order < 0 ? at_or_behind(node, from, prefix, row) : BOUND_UNKNOWN;
}

/* Does every row that `from` leaves lie behind `edge`? */
static bool
is_past(const struct filter_node *node, const struct row_bound *from, petal_slice edge)
{
    if (from->open)
        return false;
    return from->inclusive ? comes_before(node, edge, from->row)
                           : !comes_before(node, from->row, edge);
}

/* Rows from `edge` on, or up to it, by the direction of the run. */
static enum bound_answer
edge_bound(const struct filter_node *node, const struct row_bound *from, petal_slice edge,
           bool rows_above, petal_slice *row)
{
    if (rows_above != node->run_reversed)
        return at_or_behind(node, from, edge, row);
    return is_past(node, from, edge) ? BOUND_NONE : BOUND_UNKNOWN;
}

static enum bound_answer
row_filter_bound(const struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    const petal_filter *filter = node->filter;
    petal_slice bytes = filter->comparator.bytes;

    if (filter->comparator.kind == COMPARATOR_BINARY_PREFIX && filter->compare == PETAL_EQUAL)
        return prefix_bound(node, from, bytes, row);
    if (filter->comparator.kind != COMPARATOR_BINARY)
        return BOUND_UNKNOWN;
    switch (filter->compare) {
    case PETAL_EQUAL:
        if (is_past(node, from, bytes))
            return BOUND_NONE;
        return at_or_behind(node, from, bytes, row);
    case PETAL_GREATER:
    case PETAL_GREATER_OR_EQUAL:
        return edge_bound(node, from, bytes, true, row);
    case PETAL_LESS:
    case PETAL_LESS_OR_EQUAL:
        return edge_bound(node, from, bytes, false, row);
    default:
        return BOUND_UNKNOWN;
    }
}

/* ---- lists ---- */

/* AND: the last of the bounds. OR: the first, if all members have one. */
static enum bound_answer
list_bound(struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    bool is_and = node->filter->kind == FILTER_KIND_AND, found = false;

    for (size_t i = 0; i < node->filter->member_count; i++) {
        petal_slice bound = {NULL, 0};
        enum bound_answer answer = node_bound(&node->members[i], from, &bound);

        if (is_and ? answer == BOUND_NONE : answer == BOUND_UNKNOWN)
            return answer;
        if (answer == BOUND_ROW && (!found || comes_before(node, *row, bound) == is_and)) {
            *row = bound;
            found = true;
        }
    }
    if (found)
        return BOUND_ROW;
    return is_and || node->filter->member_count == 0 ? BOUND_UNKNOWN : BOUND_NONE;
}

enum bound_answer
node_bound(struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    const petal_filter *filter = node->filter;

    switch (filter->kind) {
    case FILTER_KIND_AND:
    case FILTER_KIND_OR:
        return list_bound(node, from, row);
    case FILTER_KIND_PREFIX:
        return prefix_bound(node, from, filter->strings[0], row);
    case FILTER_KIND_ROW:
        return row_filter_bound(node, from, row);
    case FILTER_KIND_INCLUSIVE_STOP:
        return edge_bound(node, from, filter->strings[0], node->run_reversed, row);
    case FILTER_KIND_FUZZY_ROW:
        return fuzzy_bound(node, from, row);
    case FILTER_KIND_MULTI_ROW_RANGE:
        return ranges_bound(node, from, row);
    default:
        return BOUND_UNKNOWN;
    }
}
