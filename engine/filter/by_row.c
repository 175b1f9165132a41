/*
 * by_row.c -- filters by the row key, and those that count rows; HBase's classes of the same names.
 * FuzzyRowFilter and MultiRowRangeFilter have files of their own.
 */
#include "engine/filter/node.h"

/* ---- rows on one side of another ---- */

static enum bound_answer
at_or_behind(const struct filter_node *node, const struct row_bound *from, petal_slice wanted,
             petal_slice *row)
{
    *row = !from->open && comes_before(node, wanted, from->row) ? from->row : wanted;
    return BOUND_ROW;
}

/* Does every row that `from` leaves lie after `edge`? */
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

/* ---- RowFilter ---- */

static bool
row_filter_skips_row(struct filter_node *node, petal_slice row)
{
    node->row_out |= !node_accepts(node, row);
    return node->row_out;
}

static enum filter_code
cell_of_row(struct filter_node *node, const petal_cell *cell)
{
    (void)cell;
    return node->row_out ? FILTER_NEXT_ROW : FILTER_INCLUDE;
}

/* Rows that begin with the prefix. Their upper end is not computed, so a reversed run learns only
 * that it is past them. */
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

const struct filter_kind row_filter = {
    .name = "RowFilter",
    .signature = "=c",
    .in_language = true,
    .skips_row = row_filter_skips_row,
    .cell = cell_of_row,
    .bound = row_filter_bound,
};

/* ---- PrefixFilter ---- */

/* One that is not shown the row's key lets nothing pass. */
static void
prefix_filter_reset(struct filter_node *node)
{
    node->row_out = true;
}

static bool
prefix_filter_skips_row(struct filter_node *node, petal_slice row)
{
    petal_slice prefix = node->filter->strings[0];
    int order;

    assert(node->filter->string_count == 1);
    if (node->done || row.size < prefix.size)
        return true;
    row.size = prefix.size;
    order = slice_compare(row, prefix);
    node->done = node->reversed ? order < 0 : order > 0;
    node->row_out = order != 0;
    return node->row_out;
}

static enum bound_answer
prefix_filter_bound(const struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    return prefix_bound(node, from, node->filter->strings[0], row);
}

const struct filter_kind prefix_filter = {
    .name = "PrefixFilter",
    .signature = "s",
    .in_language = true,
    .reset = prefix_filter_reset,
    .skips_row = prefix_filter_skips_row,
    .cell = cell_of_row,
    .bound = prefix_filter_bound,
};

/* ---- InclusiveStopFilter ---- */

static bool
inclusive_stop_skips_row(struct filter_node *node, petal_slice row)
{
    int order;

    if (!node->done) {
        order = slice_compare(row, node->filter->strings[0]);
        node->done = node->reversed ? order < 0 : order > 0;
    }
    return node->done;
}

static enum filter_code
inclusive_stop_cell(struct filter_node *node, const petal_cell *cell)
{
    (void)cell;
    return node->done ? FILTER_NEXT_ROW : FILTER_INCLUDE;
}

static enum bound_answer
inclusive_stop_bound(const struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    return edge_bound(node, from, node->filter->strings[0], node->run_reversed, row);
}

const struct filter_kind inclusive_stop_filter = {
    .name = "InclusiveStopFilter",
    .signature = "s",
    .in_language = true,
    .skips_row = inclusive_stop_skips_row,
    .cell = inclusive_stop_cell,
    .bound = inclusive_stop_bound,
};

/* ---- RandomRowFilter ---- */

/* A decimal number such as 0.25; without the C library, whose decimal point depends on the
 * locale. */
static enum petal_status
random_row_fill(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
                struct filter_mistake *mistake)
{
    const uint8_t *text = slice_bytes(arguments[0].bytes);
    size_t size = arguments[0].bytes.size, digits = 0;
    bool negative = size > 0 && text[0] == '-';
    double value = 0, place = 0;

    (void)count;
    assert(count == 1);
    for (size_t i = negative ? 1 : 0; i < size; i++) {
        if (text[i] == '.' && place == 0) {
            place = 1;
        } else if (text[i] >= '0' && text[i] <= '9') {
            digits++;
            if (place == 0) {
                value = value * 10 + (text[i] - '0');
            } else {
                place /= 10;
                value += place * (text[i] - '0');
            }
        } else {
            digits = 0;
            break;
        }
    }
    if (digits == 0)
        return filter_refuse_argument(mistake, 0, "the chance is not a decimal number");
    filter->chance = negative ? -value : value;
    return PETAL_OK;
}

/* Each run draws others. */
static enum petal_status
random_row_begin(struct filter_node *node)
{
    petal_filter *counted = (petal_filter *)(uintptr_t)node->filter;

    node->state.random = node->filter->seed +
                         atomic_fetch_add_explicit(&counted->run_count, 1, memory_order_relaxed);
    return PETAL_OK;
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

static bool
random_row_skips_row(struct filter_node *node, petal_slice row)
{
    double chance = node->filter->chance;

    (void)row;
    node->row_out = chance < 0 || (chance <= 1 && draw(&node->state.random) >= chance);
    return node->row_out;
}

const struct filter_kind random_row_filter = {
    .name = "RandomRowFilter",
    .signature = "s",
    .needs_rows = true,
    .fill = random_row_fill,
    .begin = random_row_begin,
    .skips_row = random_row_skips_row,
    .cell = cell_of_row,
};

/* ---- PageFilter ---- */

static bool
page_done(const struct filter_node *node)
{
    return node->count >= node->filter->count;
}

static bool
page_drops_row(struct filter_node *node)
{
    return ++node->count > node->filter->count;
}

const struct filter_kind page_filter = {
    .name = "PageFilter",
    .signature = "N",
    .in_language = true,
    .needs_rows = true,
    .counts_rows = true,
    .done = page_done,
    .drops_row = page_drops_row,
};
