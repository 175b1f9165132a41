/* filter.c -- a filter at work in one read: making its nodes, and the functions of a node by its kind; see filter.h. */
#include "base/error.h"
#include "engine/filter/node.h"
#include "engine/filter/regex.h"

struct filter_run {
    const petal_allocator *allocator;
    petal_filter *filter; /* a reference */
    bool reversed;
    struct filter_node *nodes; /* the root first; the members of a node stand together */
    size_t node_count;
    /* Names of families that are ended (filter_run_cell), each behind its size in one byte. */
    uint8_t *ended;
    size_t ended_size, ended_capacity;
    struct filter_place place; /* the last one sought */
    /* The first comparison that failed, and on how many bytes. Nothing that the run says afterwards counts. */
    const struct filter_node *failed;
    enum petal_status failure;
    size_t failed_bytes;
};

/* ---- by kind ---- */

enum group { GROUP_LIST, GROUP_ROW, GROUP_COLUMN, GROUP_VALUE };

static enum group
group_of(const petal_filter *filter)
{
    switch (filter->kind) {
    case FILTER_KIND_AND:
    case FILTER_KIND_OR:
    case FILTER_KIND_SKIP:
    case FILTER_KIND_WHILE:
        return GROUP_LIST;
    case FILTER_KIND_FUZZY_ROW:
    case FILTER_KIND_INCLUSIVE_STOP:
    case FILTER_KIND_MULTI_ROW_RANGE:
    case FILTER_KIND_PAGE:
    case FILTER_KIND_PREFIX:
    case FILTER_KIND_RANDOM_ROW:
    case FILTER_KIND_ROW:
        return GROUP_ROW;
    case FILTER_KIND_COLUMN_VALUE:
    case FILTER_KIND_DEPENDENT_COLUMN:
    case FILTER_KIND_SINGLE_COLUMN_VALUE:
    case FILTER_KIND_SINGLE_COLUMN_VALUE_EXCLUDE:
    case FILTER_KIND_TIMESTAMPS:
    case FILTER_KIND_VALUE:
        return GROUP_VALUE;
    default:
        return GROUP_COLUMN;
    }
}

bool
node_accepts(struct filter_node *node, petal_slice bytes)
{
    struct filter_run *run = node->run;
    bool accepts = false;
    enum petal_status status = comparator_accepts(&node->filter->comparator, node->search,
                                                  node->filter->compare, bytes, &accepts);

    if (status != PETAL_OK && run->failed == NULL) {
        run->failed = node;
        run->failure = status;
        run->failed_bytes = bytes.size;
    }
    return accepts;
}

bool
node_done(const struct filter_node *node)
{
    switch (node->filter->kind) {
    case FILTER_KIND_AND:
    case FILTER_KIND_OR:
    case FILTER_KIND_SKIP:
    case FILTER_KIND_WHILE:
        return list_done(node);
    case FILTER_KIND_PAGE:
        return node->count >= node->filter->count;
    case FILTER_KIND_COLUMN_COUNT_GET:
        return node->count > node->filter->count;
    default:
        return node->done;
    }
}

bool
node_skips_row(struct filter_node *node, petal_slice row)
{
    switch (group_of(node->filter)) {
    case GROUP_LIST:
        return list_skips_row(node, row);
    case GROUP_ROW:
        return row_filter_skips_row(node, row);
    default:
        return node_done(node);
    }
}

enum petal_status
node_cell(struct filter_node *node, const petal_cell *cell, enum filter_code *code)
{
    switch (group_of(node->filter)) {
    case GROUP_LIST:
        return list_cell(node, cell, code);
    case GROUP_VALUE:
        return value_filter_cell(node, cell, code);
    case GROUP_ROW:
        *code = row_filter_cell(node, cell->row);
        return PETAL_OK;
    default:
        *code = column_filter_cell(node, cell);
        return PETAL_OK;
    }
}

bool
node_hint(struct filter_node *node, petal_slice row, petal_slice family, struct filter_place *place)
{
    switch (group_of(node->filter)) {
    case GROUP_LIST:
        return list_hint(node, row, family, place);
    case GROUP_ROW:
        return row_filter_hint(node, row, place);
    case GROUP_COLUMN:
        return column_filter_hint(node, row, family, place);
    default:
        return false;
    }
}

void
node_transform(struct filter_node *node, petal_cell *cell)
{
    uint8_t *length = node->state.length_bytes;

    if (filter_is_combination(node->filter)) {
        list_transform(node, cell);
    } else if (node->filter->kind == FILTER_KIND_KEY_ONLY) {
        for (unsigned i = 0; i < 4; i++)
            length[i] = (uint8_t)(cell->value.size >> (24 - 8 * i));
        cell->value = slice_make(length, node->filter->length_as_value ? 4 : 0);
    }
}

void
node_row_cells(struct filter_node *node, petal_cell *cells, size_t *count)
{
    if (filter_is_list(node->filter)) {
        for (size_t i = 0; i < node->filter->member_count; i++)
            node_row_cells(&node->members[i], cells, count);
    } else if (!filter_is_combination(node->filter)) {
        value_filter_row_cells(node, cells, count);
    }
}

bool
node_drops_row(struct filter_node *node)
{
    switch (group_of(node->filter)) {
    case GROUP_LIST:
        return list_drops_row(node);
    case GROUP_VALUE:
        return value_filter_drops_row(node);
    default:
        if (node->filter->kind == FILTER_KIND_PAGE)
            return ++node->count > node->filter->count;
        return node->row_out;
    }
}

/* Before a row. */
void
node_reset(struct filter_node *node)
{
    struct list_state *list = &node->state.list;

    /* A PrefixFilter that is not shown the row's key lets nothing pass. */
    node->row_out = node->filter->kind == FILTER_KIND_PREFIX;
    node->found = false;
    node->matched = false;
    if (node->filter->kind != FILTER_KIND_PAGE)
        node->count = 0;
    if (node->filter->kind == FILTER_KIND_DEPENDENT_COLUMN)
        node->state.dependent.count = 0;
    if (!filter_is_combination(node->filter))
        return;
    list->has_column = false;
    list->seeker = NULL;
    for (size_t i = 0; i < node->filter->member_count; i++) {
        if (list->memories != NULL)
            list->memories[i] = (struct filter_memory){0};
        node_reset(&node->members[i]);
    }
}

/* ---- making a run ---- */

static enum petal_status
init_state(struct filter_node *node)
{
    const petal_filter *filter = node->filter;
    petal_filter *counted = (petal_filter *)(uintptr_t)filter;

    switch (filter->kind) {
    case FILTER_KIND_OR:
        if (filter->member_count == 0)
            return PETAL_OK;
        node->state.list.memories =
            mem_zalloc(node->allocator, filter->member_count * sizeof(struct filter_memory));
        return node->state.list.memories != NULL ? PETAL_OK : PETAL_NO_MEMORY;
    case FILTER_KIND_FUZZY_ROW:
        node->state.row = mem_alloc(node->allocator, 2 * filter->longest + 1);
        return node->state.row != NULL ? PETAL_OK : PETAL_NO_MEMORY;
    case FILTER_KIND_MULTIPLE_COLUMN_PREFIX:
        node->state.next_prefix = filter->string_count;
        return PETAL_OK;
    case FILTER_KIND_RANDOM_ROW:
        node->state.random =
            filter->seed + atomic_fetch_add_explicit(&counted->run_count, 1, memory_order_relaxed);
        return PETAL_OK;
    default:
        return PETAL_OK;
    }
}

static void
fini_state(struct filter_node *node)
{
    const petal_filter *filter = node->filter;

    regex_search_free(node->search);
    if (filter->kind == FILTER_KIND_OR) {
        mem_free(node->allocator, node->state.list.memories,
                 filter->member_count * sizeof(struct filter_memory));
        mem_free(node->allocator, node->state.list.column, node->state.list.column_capacity);
    } else if (filter->kind == FILTER_KIND_FUZZY_ROW) {
        mem_free(node->allocator, node->state.row, 2 * filter->longest + 1);
    } else if (filter->kind == FILTER_KIND_DEPENDENT_COLUMN) {
        mem_free(node->allocator, node->state.dependent.timestamps,
                 node->state.dependent.capacity * sizeof(int64_t));
    }
}

/* Fill the node, which is counted already, and those below it. */
static enum petal_status
init_node(struct filter_run *run, struct filter_node *node, const petal_filter *filter,
          bool reversed)
{
    bool tells = filter_is_list(filter) && reversed;
    enum petal_status status;

    node->filter = filter;
    node->run = run;
    node->allocator = run->allocator;
    node->reversed = reversed;
    node->run_reversed = run->reversed;
    status = init_state(node);
    if (status == PETAL_OK && filter->comparator.kind == COMPARATOR_REGEX)
        status = regex_search_new(&node->search, node->allocator, filter->comparator.regex);
    if (!filter_is_combination(filter))
        return status;
    node->members = &run->nodes[run->node_count];
    run->node_count += filter->member_count;
    /* So that all that are counted can be freed. */
    for (size_t i = 0; i < filter->member_count; i++)
        node->members[i].filter = filter->members[i];
    for (size_t i = 0; status == PETAL_OK && i < filter->member_count; i++)
        status = init_node(run, &node->members[i], filter->members[i], tells);
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
    for (size_t i = 0; i < run->node_count; i++) {
        if (run->nodes[i].allocator != NULL)
            fini_state(&run->nodes[i]);
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

/* A filter that has to see rows which its key excludes cannot be led around them. */
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

/* Why a comparison failed: only those of regular expressions can. */
static enum petal_status
tell_failure(const struct filter_run *run, petal_error *error)
{
    const struct filter_node *node = run->failed;
    char quoted[120];

    if (run->failure == PETAL_NO_MEMORY)
        return error_no_memory(error);
    return error_set(error, run->failure,
                     "the regular expression %s is given up on %zu bytes of text: %s",
                     error_quote(node->filter->comparator.bytes, quoted, sizeof quoted),
                     run->failed_bytes, regex_search_reason(node->search));
}

enum petal_status
filter_run_cell(struct filter_run *run, const petal_cell *cell, enum filter_code *code,
                petal_error *error)
{
    enum petal_status status = PETAL_OK;

    *code = FILTER_NEXT_ROW;
    if (run->failed == NULL && !filter_run_done(run))
        status = node_cell(&run->nodes[0], cell, code);
    if (run->failed != NULL)
        return tell_failure(run, error);
    if (status == PETAL_OK && filter_run_done(run))
        status = end_family(run, cell->family);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
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
    /* Within a row a reversed run goes forward, and HBase's takes no such place from a filter. */
    return !run->reversed && slice_compare(place->qualifier, cell->qualifier) > 0;
}

void
filter_run_transform(struct filter_run *run, petal_cell *cell)
{
    node_transform(&run->nodes[0], cell);
}

void
filter_run_row_cells(struct filter_run *run, petal_cell *cells, size_t *count)
{
    node_row_cells(&run->nodes[0], cells, count);
}

bool
filter_run_drops_row(struct filter_run *run)
{
    return node_drops_row(&run->nodes[0]);
}
