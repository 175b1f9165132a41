/*
 * fuzzy_row.c -- FuzzyRowFilter, as HBase's, except that it never accepts a row shorter than its
 * pattern, and accepts the same rows in both directions, also within SKIP and WHILE. It uses the
 * row of each cell, so it need not have been shown the row key.
 */
#include "engine/filter/node.h"

static enum petal_status
fuzzy_fill(petal_filter *filter, const petal_filter_argument *arguments, size_t count,
           struct filter_mistake *mistake)
{
    (void)arguments;
    (void)count;
    assert(count == filter->string_count && count % 2 == 0);
    for (size_t i = 0; i < filter->string_count; i += 2) {
        petal_slice mask = filter->strings[i + 1];

        if (filter->strings[i].size != mask.size)
            return filter_refuse_argument(mistake, i + 1, "the mask is not as long as its pattern");
        if (mask.size > filter->longest)
            filter->longest = mask.size;
        for (size_t k = 0; k < mask.size; k++) {
            if (slice_bytes(mask)[k] > 1)
                return filter_refuse_argument(mistake, i + 1, "a mask may have bytes 0 and 1 only");
        }
    }
    return PETAL_OK;
}

static enum petal_status
fuzzy_begin(struct filter_node *node)
{
    node->state.row = mem_alloc(node->allocator, 2 * node->filter->longest + 1);
    return node->state.row != NULL ? PETAL_OK : PETAL_NO_MEMORY;
}

static void
fuzzy_end(struct filter_node *node)
{
    mem_free(node->allocator, node->state.row, 2 * node->filter->longest + 1);
}

/* The number of bytes from the row's beginning that match the pattern. */
static size_t
matching_bytes(petal_slice pattern, petal_slice mask, petal_slice row)
{
    size_t common = row.size < pattern.size ? row.size : pattern.size, i = 0;

    while (i < common &&
           (slice_bytes(mask)[i] != 0 || slice_bytes(pattern)[i] == slice_bytes(row)[i]))
        i++;
    return i;
}

static bool
fuzzy_matches(const petal_filter *filter, petal_slice row)
{
    for (size_t i = 0; i < filter->string_count; i += 2) {
        if (matching_bytes(filter->strings[i], filter->strings[i + 1], row) ==
            filter->strings[i].size)
            return true;
    }
    return false;
}

/* Write the row's first bytes, then the pattern with the first value, in the run's direction, for
 * its free bytes. */
static petal_slice
fill_pattern(petal_slice pattern, petal_slice mask, petal_slice row, size_t from_row, bool reversed,
             uint8_t *to)
{
    assert(mask.size == pattern.size && from_row <= pattern.size && from_row <= row.size);
    if (from_row > 0)
        memcpy(to, row.data, from_row);
    for (size_t i = from_row; i < pattern.size; i++)
        to[i] = slice_bytes(mask)[i] == 0 ? slice_bytes(pattern)[i] : reversed ? 0xFF : 0;
    return slice_make(to, pattern.size);
}

/* The beginning of the next matching rows after `row`, which does not match. The row stays the same
 * up to its wrong byte; if the right byte does not come after that one, the last free byte before
 * it is advanced. */
static bool
next_pattern(petal_slice pattern, petal_slice mask, petal_slice row, bool reversed, uint8_t *to,
             petal_slice *made)
{
    size_t wrong = matching_bytes(pattern, mask, row), at = wrong;
    const uint8_t *bytes = row.data;
    uint8_t last = reversed ? 0 : 0xFF;

    assert(wrong < pattern.size);
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

/* Turn `prefix` into the first row above all rows that begin with it. False: there is none. */
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

/* The first matching row at or after `from`, or an early bound (reversed), in the node's state. */
static enum bound_answer
fuzzy_bound(const struct filter_node *node, const struct row_bound *from, petal_slice *row)
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
        assert(candidate.size <= half || candidate.data != trial);
        *row = candidate;
        found = true;
        if (candidate.data == trial) {
            trial = best;
            best = (uint8_t *)(uintptr_t)candidate.data;
        }
    }
    return found ? BOUND_ROW : BOUND_NONE;
}

static enum filter_code
fuzzy_cell(struct filter_node *node, const petal_cell *cell)
{
    if (fuzzy_matches(node->filter, cell->row))
        return FILTER_INCLUDE;
    node->row_out = true;
    return FILTER_SEEK;
}

static bool
fuzzy_hint(struct filter_node *node, petal_slice row, petal_slice family,
           struct filter_place *place)
{
    struct row_bound behind = {.row = row};
    enum bound_answer answer;

    (void)family;
    *place = (struct filter_place){.row_only = true};
    answer = fuzzy_bound(node, &behind, &place->row);
    node->done |= answer == BOUND_NONE;
    return answer == BOUND_ROW;
}

const struct filter_kind fuzzy_row_filter = {
    .name = "FuzzyRowFilter",
    .signature = "+ss",
    .fill = fuzzy_fill,
    .begin = fuzzy_begin,
    .end = fuzzy_end,
    .cell = fuzzy_cell,
    .hint = fuzzy_hint,
    .bound = fuzzy_bound,
};
