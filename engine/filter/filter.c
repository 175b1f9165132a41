/* filter.c -- runs a filter in one read: the tree of its nodes, and the calls of filter.h. */
#include "base/error.h"
#include "engine/filter/node.h"
#include "engine/filter/regex.h"

struct filter_run {
    const petal_allocator *allocator;
    petal_filter *filter; /* a reference */
    bool reversed;
    struct filter_node *nodes; /* the root first; the members of a node stand together */
    size_t node_count;
    /* Names of families that are ended (filter_run_cell), each after its size in one byte. */
    uint8_t *ended;
    size_t ended_size, ended_capacity;
    struct filter_place place; /* the last one sought */
    /* The first that failed (node_fail). */
    const struct filter_node *failed;
    enum petal_status failure;
    size_t failed_bytes;
};

/* ---- nodes ---- */

void
node_fail(struct filter_node *node, enum petal_status status, size_t bytes)
{
    struct filter_run *run = node->run;

    assert(status != PETAL_OK);
    if (run->failed != NULL)
        return;
    run->failed = node;
    run->failure = status;
    run->failed_bytes = bytes;
}

bool
node_accepts(struct filter_node *node, petal_slice bytes)
{
    const petal_filter *filter = node->filter;
    enum petal_status status;
    bool found;

    assert((node->search != NULL) == (filter->comparator.kind == COMPARATOR_REGEX));
    if (node->search == NULL)
        return comparator_accepts(&filter->comparator, filter->compare, bytes);
    status = regex_search_find(node->search, bytes, &found);
    if (status != PETAL_OK)
        node_fail(node, status, bytes.size);
    return compare_holds(filter->compare, found ? 0 : 1);
}

void
node_reset(struct filter_node *node)
{
    const struct filter_kind *kind = node->filter->kind;

    node->row_out = false;
    node->found = false;
    node->matched = false;
    if (!kind->counts_rows)
        node->count = 0;
    if (kind->reset != NULL)
        kind->reset(node);
}

/* ---- making a run ---- */

/* Fill the node, which is already counted, and the nodes below it. */
static enum petal_status
init_node(struct filter_run *run, struct filter_node *node, const petal_filter *filter,
          bool reversed)
{
    const struct filter_kind *kind = filter->kind;
    enum petal_status status;

    assert(filter->depth <= FILTER_MOST_DEPTH && filter->filter_count > filter->member_count);
    node->filter = filter;
    node->run = run;
    node->allocator = run->allocator;
    node->reversed = reversed;
    node->run_reversed = run->reversed;
    status = kind->begin != NULL ? kind->begin(node) : PETAL_OK;
    if (status == PETAL_OK && filter->comparator.kind == COMPARATOR_REGEX)
        status = regex_search_new(&node->search, node->allocator, filter->comparator.regex);
    node->members = &run->nodes[run->node_count];
    run->node_count += filter->member_count;
    assert(run->node_count <= run->filter->filter_count);
    /* So that all that are counted can be freed. */
    for (size_t i = 0; i < filter->member_count; i++)
        node->members[i].filter = filter->members[i];
    for (size_t i = 0; status == PETAL_OK && i < filter->member_count; i++)
        status = init_node(run, &node->members[i], filter->members[i], kind->is_list && reversed);
    return status;
}

enum petal_status
filter_run_new(struct filter_run **run, const petal_allocator *allocator,
               const petal_filter *filter, bool reversed)
{
    struct filter_run *made = mem_zalloc(allocator, sizeof *made);
    enum petal_status status = PETAL_NO_MEMORY;

    *run = NULL;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->allocator = allocator;
    made->filter = (petal_filter *)(uintptr_t)filter;
    made->reversed = reversed;
    filter_ref(filter);
    made->nodes = mem_zalloc(allocator, filter->filter_count * sizeof *made->nodes);
    if (made->nodes != NULL) {
        made->node_count = 1;
        made->nodes[0].filter = filter;
        status = init_node(made, &made->nodes[0], filter, reversed);
    }
    if (status == PETAL_OK) {
        node_reset(&made->nodes[0]);
        *run = made;
    } else {
        filter_run_free(made);
    }
    return status;
}

void
filter_run_free(struct filter_run *run)
{
    const petal_allocator *allocator;

    if (run == NULL)
        return;
    allocator = run->allocator;
    assert(run->node_count <= run->filter->filter_count);
    for (size_t i = 0; i < run->node_count; i++) {
        struct filter_node *node = &run->nodes[i];

        if (node->allocator == NULL)
            continue; /* nothing of it was begun */
        regex_search_free(node->search);
        if (node->filter->kind->end != NULL)
            node->filter->kind->end(node);
    }
    mem_free(allocator, run->nodes, run->filter->filter_count * sizeof *run->nodes);
    mem_free(allocator, run->ended, run->ended_capacity);
    petal_filter_free(run->filter);
    mem_free(allocator, run, sizeof *run);
}

void
filter_run_restart(struct filter_run *run)
{
    for (size_t i = 0; i < run->node_count; i++) {
        run->nodes[i].done = false;
        run->nodes[i].count = 0;
    }
    run->ended_size = 0;
    run->failed = NULL;
    filter_run_reset(run);
}

/* ---- rows ---- */

void
filter_run_reset(struct filter_run *run)
{
    node_reset(&run->nodes[0]);
}

bool
filter_run_done(const struct filter_run *run)
{
    return run->failed == NULL && node_done(&run->nodes[0]);
}

bool
filter_run_skips_row(struct filter_run *run, petal_slice row)
{
    return node_skips_row(&run->nodes[0], row) && run->failed == NULL;
}

/* A filter that has to be shown rows that their key excludes allows no skipping. */
static enum bound_answer
bound(struct filter_run *run, const struct row_bound *from, petal_slice *row)
{
    if (run->filter->watches_excluded_rows)
        return BOUND_UNKNOWN;
    return node_bound(&run->nodes[0], from, row);
}

bool
filter_run_next_row(struct filter_run *run, petal_slice row, petal_slice *next, bool *none)
{
    struct row_bound behind = {.row = row};
    enum bound_answer answer = bound(run, &behind, next);
    int order;

    *none = answer == BOUND_NONE;
    if (answer != BOUND_ROW)
        return *none;
    order = slice_compare(*next, row);
    return run->reversed ? order < 0 : order > 0;
}

bool
filter_run_first_row(struct filter_run *run, petal_slice *first, bool *none)
{
    struct row_bound all = {.open = true};
    enum bound_answer answer = bound(run, &all, first);

    *none = answer == BOUND_NONE;
    return *none || (answer == BOUND_ROW && first->size > 0);
}

/* ---- cells ---- */

static bool
is_ended(const struct filter_run *run, petal_slice family)
{
    for (size_t at = 0; at < run->ended_size; at += 1u + run->ended[at]) {
        if (slice_equal(slice_make(run->ended + at + 1, run->ended[at]), family))
            return true;
    }
    return false;
}

static enum petal_status
end_family(struct filter_run *run, petal_slice family)
{
    void *ended = run->ended;

    if (is_ended(run, family) || family.size > PETAL_MAX_FAMILY_BYTES)
        return PETAL_OK;
    if (!mem_grow(run->allocator, &ended, &run->ended_capacity, run->ended_size,
                  run->ended_size + family.size + 1, 1))
        return PETAL_NO_MEMORY;
    run->ended = ended;
    run->ended[run->ended_size] = (uint8_t)family.size;
    if (family.size > 0)
        memcpy(run->ended + run->ended_size + 1, family.data, family.size);
    run->ended_size += family.size + 1;
    assert(run->ended_size <= run->ended_capacity);
    return PETAL_OK;
}

enum petal_status
filter_run_enter_family(struct filter_run *run, petal_slice family, bool *ended)
{
    *ended = run->ended_size > 0 && is_ended(run, family);
    if (*ended || !filter_run_done(run))
        return PETAL_OK;
    *ended = true;
    return end_family(run, family);
}

/* Either memory was lacking, or a regular expression was given up. */
static enum petal_status
tell_failure(const struct filter_run *run, petal_error *error)
{
    const struct filter_node *node = run->failed;
    char quoted[120];

    assert(node != NULL && run->failure != PETAL_OK);
    if (run->failure == PETAL_NO_MEMORY)
        return error_no_memory(error);
    assert(node->search != NULL);
    return error_set(error, run->failure,
                     "the regular expression %s is given up on %zu bytes of text: %s",
                     error_quote(node->filter->comparator.bytes, quoted, sizeof quoted),
                     run->failed_bytes, regex_search_reason(node->search));
}

enum petal_status
filter_run_cell(struct filter_run *run, const petal_cell *cell, enum filter_code *code,
                petal_error *error)
{
    *code = FILTER_NEXT_ROW;
    if (run->failed == NULL && !node_done(&run->nodes[0]))
        *code = node_cell(&run->nodes[0], cell);
    if (run->failed != NULL)
        return tell_failure(run, error);
    if (node_done(&run->nodes[0]) && end_family(run, cell->family) != PETAL_OK)
        return error_no_memory(error);
    return PETAL_OK;
}

bool
filter_run_hint(struct filter_run *run, const petal_cell *cell, struct filter_hint *hint)
{
    struct filter_place *place = &run->place;
    int order;

    if (!node_hint(&run->nodes[0], cell->row, cell->family, place))
        return false;
    *hint = (struct filter_hint){place->row, place->row_only, place->qualifier, INT64_MAX};
    order = slice_compare(place->row, cell->row);
    if (place->row_only)
        return run->reversed ? order < 0 : order > 0;
    /* Within a row a reversed run goes forward, and HBase's ignores such a hint. */
    return !run->reversed && slice_compare(place->qualifier, cell->qualifier) > 0;
}

bool
filter_run_ahead(struct filter_run *run, const petal_cell *cell, struct filter_ahead *ahead)
{
    return run->failed == NULL && node_ahead(&run->nodes[0], cell, ahead);
}

void
filter_run_transform(struct filter_run *run, petal_cell *cell)
{
    node_transform(&run->nodes[0], cell);
}

void
filter_run_row_cells(struct filter_run *run, petal_cell *cells, size_t *count)
{
    assert(run->filter->needs_rows);
    node_row_cells(&run->nodes[0], cells, count);
}

bool
filter_run_drops_row(struct filter_run *run)
{
    return node_drops_row(&run->nodes[0]);
}
