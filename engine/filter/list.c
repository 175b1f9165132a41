/*
 * list.c -- AND, OR, SKIP and WHILE, as HBase's FilterListWithAND, FilterListWithOR, SkipFilter and
 * WhileMatchFilter. An AND shows a cell to its members until one rejects it; an OR shows it to all
 * members except those whose last code goes past it. SKIP and WHILE pass on little: neither asks
 * its member for a place to seek or for the cells of the row, and SKIP shows it no rows.
 */
#include "engine/filter/node.h"

static size_t
count_of(const struct filter_node *node)
{
    return node->filter->member_count;
}

/* ---- what all four have ---- */

static bool
any_needs_family(const petal_filter *filter, petal_slice family)
{
    for (size_t i = 0; i < filter->member_count; i++) {
        if (filter_needs_family(filter->members[i], family))
            return true;
    }
    return filter->member_count == 0;
}

static void
list_reset(struct filter_node *node)
{
    struct list_state *list = &node->state.list;

    list->has_column = false;
    list->seeker = NULL;
    for (size_t i = 0; i < count_of(node); i++) {
        if (list->memories != NULL)
            list->memories[i] = (struct filter_memory){0};
        node_reset(&node->members[i]);
    }
}

static void
list_transform(struct filter_node *node, petal_cell *cell)
{
    for (size_t i = 0; i < count_of(node); i++)
        node_transform(&node->members[i], cell);
}

/* ---- AND and OR ---- */

/* Every member that is not done is shown the row: it may keep state of it. */
static bool
and_skips_row(struct filter_node *node, petal_slice row)
{
    bool skips = false;

    for (size_t i = 0; i < count_of(node); i++)
        skips |= node_done(&node->members[i]) || node_skips_row(&node->members[i], row);
    return skips;
}

static bool
or_skips_row(struct filter_node *node, petal_slice row)
{
    bool skips = count_of(node) > 0;

    for (size_t i = 0; i < count_of(node); i++)
        skips &= node_done(&node->members[i]) || node_skips_row(&node->members[i], row);
    return skips;
}

static void
list_row_cells(struct filter_node *node, petal_cell *cells, size_t *count)
{
    for (size_t i = 0; i < count_of(node); i++)
        node_row_cells(&node->members[i], cells, count);
}

/* AND: the last of the bounds. OR: the first, if all members have one. */
static enum bound_answer
list_bound(const struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    bool is_and = node->filter->kind == filter_list_kinds[PETAL_FILTER_AND], found = false;

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

/* Does a place come before another one? */
static bool
is_nearer(const struct filter_ahead *a, const struct filter_ahead *b)
{
    int order;

    if (a->none || b->none)
        return b->none && !a->none;
    order = slice_compare(a->qualifier, b->qualifier);
    return order != 0 ? order < 0 : a->timestamp > b->timestamp;
}

/* The last of the members' places. Members after the one that rejects a cell are not shown it; so
 * the search ends at a member that keeps state of cells. */
static bool
and_ahead(const struct filter_node *node, const petal_cell *cell, struct filter_ahead *ahead)
{
    bool found = false;

    for (size_t i = 0; i < count_of(node) && !node->filter->members[i]->keeps_cells; i++) {
        struct filter_ahead other;

        if (!node_ahead(&node->members[i], cell, &other))
            continue;
        if (!found || is_nearer(ahead, &other))
            *ahead = other;
        found = true;
    }
    return found;
}

/* In a reversed run the answer to one cell can hold for later ones (is_before) if the member
 * seeks. */
static bool
may_seek(const struct filter_node *node)
{
    bool may = node->filter->kind->hint != NULL && count_of(node) == 0;

    for (size_t i = 0; !may && i < count_of(node); i++)
        may = may_seek(&node->members[i]);
    return may;
}

/* The first of the members' places, if all have one. */
static bool
or_ahead(const struct filter_node *node, const petal_cell *cell, struct filter_ahead *ahead)
{
    if (node->reversed && may_seek(node))
        return false;
    for (size_t i = 0; i < count_of(node); i++) {
        struct filter_ahead other;

        if (!node_ahead(&node->members[i], cell, &other))
            return false;
        if (i == 0 || is_nearer(&other, ahead))
            *ahead = other;
    }
    return count_of(node) > 0;
}

/* How far a code goes: 0 nowhere, 1 to the next column, 2 to the next row, 3 to a place. */
static int
reach(enum filter_code code)
{
    switch (code) {
    case FILTER_INCLUDE:
    case FILTER_SKIP:
        return 0;
    case FILTER_INCLUDE_AND_NEXT_COLUMN:
    case FILTER_NEXT_COLUMN:
        return 1;
    case FILTER_INCLUDE_AND_NEXT_ROW:
    case FILTER_NEXT_ROW:
        return 2;
    default:
        return 3;
    }
}

static enum filter_code
code_of(bool includes, int distance)
{
    static const enum filter_code taken[] = {FILTER_INCLUDE, FILTER_INCLUDE_AND_NEXT_COLUMN,
                                             FILTER_INCLUDE_AND_NEXT_ROW};
    static const enum filter_code left[] = {FILTER_SKIP, FILTER_NEXT_COLUMN, FILTER_NEXT_ROW,
                                            FILTER_SEEK};

    assert(distance <= 3 && !(includes && distance == 3));
    return includes ? taken[distance] : left[distance];
}

/* The farther one; includes the cell only if both do. */
static enum filter_code
merge_and(enum filter_code a, enum filter_code b)
{
    int way = reach(a) > reach(b) ? reach(a) : reach(b);

    return code_of(way < 3 && filter_code_includes(a) && filter_code_includes(b), way);
}

/* The nearer one; includes the cell if either does. A place to seek combined with anything else
 * goes nowhere, since it is not known how far it is. */
static enum filter_code
merge_or(enum filter_code a, enum filter_code b)
{
    int first = reach(a), second = reach(b);
    int way = first < second ? first : second;

    if (first != second && (first == 3 || second == 3))
        way = 0;
    return code_of(filter_code_includes(a) || filter_code_includes(b), way);
}

/* HBase's order of keys, reversed in a reversed run (also within rows, where cells still come
 * forward). */
static int
compare_places(const struct filter_node *node, const struct filter_place *a,
               const struct filter_place *b)
{
    int order = slice_compare(a->row, b->row);

    if (order == 0)
        order = b->row_only - a->row_only;
    if (order == 0 && !a->row_only)
        order = slice_compare(a->family, b->family);
    if (order == 0 && !a->row_only)
        order = slice_compare(a->qualifier, b->qualifier);
    return node->reversed ? -order : order;
}

/* Does the cell come before the place, which is the beginning of its column? */
static bool
is_before(const struct filter_node *node, const petal_cell *cell, const struct filter_place *place)
{
    struct filter_place at = {cell->row, false, cell->family, cell->qualifier};
    int order = compare_places(node, &at, place);

    return order < 0 || (order == 0 && node->reversed);
}

/* ---- AND ---- */

static bool
and_done(const struct filter_node *node)
{
    for (size_t i = 0; i < count_of(node); i++) {
        if (node_done(&node->members[i]))
            return true;
    }
    return false;
}

static enum filter_code
and_cell(struct filter_node *node, const petal_cell *cell)
{
    enum filter_code code = FILTER_INCLUDE;

    node->state.list.seeker = NULL;
    /* Later members count the cells they are shown: they are not shown rejected ones. */
    for (size_t i = 0; filter_code_includes(code) && i < count_of(node); i++) {
        struct filter_node *member = &node->members[i];
        enum filter_code said;

        if (node_done(member))
            return FILTER_NEXT_ROW;
        said = node_cell(member, cell);
        if (said == FILTER_SEEK)
            node->state.list.seeker = member;
        code = merge_and(code, said);
    }
    return code;
}

static bool
and_hint(struct filter_node *node, petal_slice row, petal_slice family, struct filter_place *place)
{
    struct filter_node *seeker = node->state.list.seeker;

    return seeker != NULL && !node_done(seeker) && node_hint(seeker, row, family, place);
}

static bool
and_drops_row(struct filter_node *node)
{
    for (size_t i = 0; i < count_of(node); i++) {
        if (node_drops_row(&node->members[i]))
            return true;
    }
    return false;
}

static const struct filter_kind and_kind = {
    .name = "AND",
    .is_list = true,
    .needs_family = any_needs_family,
    .reset = list_reset,
    .done = and_done,
    .skips_row = and_skips_row,
    .cell = and_cell,
    .hint = and_hint,
    .ahead = and_ahead,
    .transform = list_transform,
    .row_cells = list_row_cells,
    .drops_row = and_drops_row,
    .bound = list_bound,
};

/* ---- OR ---- */

static enum petal_status
or_begin(struct filter_node *node)
{
    if (count_of(node) == 0)
        return PETAL_OK;
    node->state.list.memories =
        mem_zalloc(node->allocator, count_of(node) * sizeof(struct filter_memory));
    return node->state.list.memories != NULL ? PETAL_OK : PETAL_NO_MEMORY;
}

static void
or_end(struct filter_node *node)
{
    mem_free(node->allocator, node->state.list.memories,
             count_of(node) * sizeof(struct filter_memory));
    mem_free(node->allocator, node->state.list.column, node->state.list.column_capacity);
}

static bool
or_done(const struct filter_node *node)
{
    for (size_t i = 0; i < count_of(node); i++) {
        if (!node_done(&node->members[i]))
            return false;
    }
    return count_of(node) > 0;
}

/* Remember the cell's column for the next cell. */
static void
keep_column(struct filter_node *node, const petal_cell *cell)
{
    struct list_state *list = &node->state.list;
    size_t size = cell->family.size + cell->qualifier.size;
    void *column = list->column;

    if (!mem_grow(node->allocator, &column, &list->column_capacity, 0, size + 1, 1)) {
        node_fail(node, PETAL_NO_MEMORY, 0);
        return;
    }
    list->column = column;
    if (cell->family.size > 0)
        memcpy(list->column, cell->family.data, cell->family.size);
    if (cell->qualifier.size > 0)
        memcpy(list->column + cell->family.size, cell->qualifier.data, cell->qualifier.size);
    list->family_size = cell->family.size;
    list->qualifier_size = cell->qualifier.size;
    list->has_column = true;
}

/* Does the member's last answer hold for this cell, too? Then it is not shown. */
static bool
said_before(struct filter_node *node, size_t index, const petal_cell *cell, enum filter_code *code)
{
    struct list_state *list = &node->state.list;
    const struct filter_memory *memory = &list->memories[index];
    struct filter_place place;
    petal_slice family, qualifier;

    assert(index < count_of(node));
    if (!memory->has_code || !list->has_column)
        return false;
    family = slice_make(list->column, list->family_size);
    qualifier = slice_make(list->column + list->family_size, list->qualifier_size);
    switch (reach(memory->code)) {
    case 1:
        *code = FILTER_NEXT_COLUMN;
        return slice_equal(family, cell->family) && slice_equal(qualifier, cell->qualifier);
    case 2:
        *code = FILTER_NEXT_ROW;
        return slice_equal(family, cell->family);
    case 3:
        *code = FILTER_SEEK;
        return node_hint(&node->members[index], cell->row, family, &place) &&
               is_before(node, cell, &place);
    default:
        return false;
    }
}

static enum filter_code
or_cell(struct filter_node *node, const petal_cell *cell)
{
    enum filter_code code = count_of(node) == 0 ? FILTER_INCLUDE : FILTER_SKIP;
    bool shown = false, compares = false;

    assert(count_of(node) == 0 || node->state.list.memories != NULL);
    for (size_t i = 0; i < count_of(node); i++) {
        struct filter_memory *memory = &node->state.list.memories[i];
        enum filter_code said;

        memory->included = false;
        if (node_done(&node->members[i]))
            continue;
        if (!said_before(node, i, cell, &said))
            said = node_cell(&node->members[i], cell);
        memory->has_code = true;
        memory->code = said;
        memory->included = filter_code_includes(said);
        compares |= reach(said) > 0;
        code = shown ? merge_or(code, said) : said;
        shown = true;
    }
    node->state.list.has_column = false;
    if (compares)
        keep_column(node, cell);
    return code;
}

/* The first of the places, if all members have one. */
static bool
or_hint(struct filter_node *node, petal_slice row, petal_slice family, struct filter_place *place)
{
    bool found = false;

    for (size_t i = 0; i < count_of(node); i++) {
        struct filter_place other;

        if (node_done(&node->members[i]))
            continue;
        if (!node_hint(&node->members[i], row, family, &other))
            return false;
        if (!found || compare_places(node, place, &other) > 0)
            *place = other;
        found = true;
    }
    return found;
}

static void
or_transform(struct filter_node *node, petal_cell *cell)
{
    for (size_t i = 0; i < count_of(node); i++) {
        if (node->state.list.memories[i].included)
            node_transform(&node->members[i], cell);
    }
}

static bool
or_drops_row(struct filter_node *node)
{
    for (size_t i = 0; i < count_of(node); i++) {
        if (!node_drops_row(&node->members[i]))
            return false;
    }
    return count_of(node) > 0;
}

static const struct filter_kind or_kind = {
    .name = "OR",
    .is_list = true,
    .needs_family = any_needs_family,
    .begin = or_begin,
    .end = or_end,
    .reset = list_reset,
    .done = or_done,
    .skips_row = or_skips_row,
    .cell = or_cell,
    .hint = or_hint,
    .ahead = or_ahead,
    .transform = or_transform,
    .row_cells = list_row_cells,
    .drops_row = or_drops_row,
    .bound = list_bound,
};

/* ---- SKIP: a cell that is turned away takes its row with it ---- */

static enum filter_code
skip_cell(struct filter_node *node, const petal_cell *cell)
{
    enum filter_code code = node_cell(&node->members[0], cell);

    assert(count_of(node) == 1);
    node->row_out |= code != FILTER_INCLUDE;
    return code;
}

static const struct filter_kind skip_kind = {
    .name = "SKIP",
    .needs_rows = true,
    .keeps_cells = true,
    .needs_family = any_needs_family,
    .reset = list_reset,
    .cell = skip_cell,
    .transform = list_transform,
};

/* ---- WHILE: the first that is turned away ends the read ---- */

static bool
while_done(const struct filter_node *node)
{
    return node->done || node_done(&node->members[0]);
}

static bool
while_skips_row(struct filter_node *node, petal_slice row)
{
    bool skips;

    assert(count_of(node) == 1);
    if (while_done(node))
        return true;
    skips = node_skips_row(&node->members[0], row);
    node->done |= skips;
    return skips;
}

static enum filter_code
while_cell(struct filter_node *node, const petal_cell *cell)
{
    enum filter_code code = node_cell(&node->members[0], cell);

    assert(count_of(node) == 1);
    node->done |= code != FILTER_INCLUDE;
    return code;
}

static bool
while_drops_row(struct filter_node *node)
{
    bool drops = node_drops_row(&node->members[0]);

    assert(count_of(node) == 1);
    node->done |= drops;
    return drops;
}

static const struct filter_kind while_kind = {
    .name = "WHILE",
    .needs_rows = true,
    .watches_excluded_rows = true,
    .keeps_cells = true,
    .needs_family = any_needs_family,
    .reset = list_reset,
    .done = while_done,
    .skips_row = while_skips_row,
    .cell = while_cell,
    .transform = list_transform,
    .drops_row = while_drops_row,
};

const struct filter_kind *const filter_list_kinds[] = {
    [PETAL_FILTER_AND] = &and_kind,
    [PETAL_FILTER_OR] = &or_kind,
    [PETAL_FILTER_SKIP] = &skip_kind,
    [PETAL_FILTER_WHILE] = &while_kind,
};
