/*
 * list.c -- AND, OR, SKIP and WHILE at work, as HBase's FilterListWithAND, FilterListWithOR, SkipFilter and
 * WhileMatchFilter. An AND shows a cell to its members until one turns it away; an OR shows it to all, but to none that
 * has said of an earlier cell where it wants to go on and has not come there. SKIP and WHILE hand on less than one
 * might think: neither asks its member for a place to seek or for the cells of the row, and SKIP shows it no rows.
 */
#include "engine/filter/node.h"

static size_t
count_of(const struct filter_node *node)
{
    return node->filter->member_count;
}

/* ---- rows ---- */

bool
list_done(const struct filter_node *node)
{
    switch (node->filter->kind) {
    case FILTER_KIND_SKIP:
        return false;
    case FILTER_KIND_WHILE:
        return node->done || node_done(&node->members[0]);
    case FILTER_KIND_AND:
        for (size_t i = 0; i < count_of(node); i++) {
            if (node_done(&node->members[i]))
                return true;
        }
        return false;
    default:
        for (size_t i = 0; i < count_of(node); i++) {
            if (!node_done(&node->members[i]))
                return false;
        }
        return count_of(node) > 0;
    }
}

/* Every member that is not done is shown the row: it may keep something of it. */
bool
list_skips_row(struct filter_node *node, petal_slice row)
{
    bool is_and = node->filter->kind == FILTER_KIND_AND;
    bool skips = !is_and && count_of(node) > 0;

    switch (node->filter->kind) {
    case FILTER_KIND_SKIP:
        return false;
    case FILTER_KIND_WHILE:
        if (node_done(node))
            return true;
        skips = node_skips_row(&node->members[0], row);
        node->done |= skips;
        return skips;
    default:
        for (size_t i = 0; i < count_of(node); i++) {
            struct filter_node *member = &node->members[i];
            bool out = node_done(member) || node_skips_row(member, row);

            skips = is_and ? skips || out : skips && out;
        }
        return skips;
    }
}

bool
list_drops_row(struct filter_node *node)
{
    bool drops;

    switch (node->filter->kind) {
    case FILTER_KIND_SKIP:
        return node->row_out;
    case FILTER_KIND_WHILE:
        drops = node_drops_row(&node->members[0]);
        node->done |= drops;
        return drops;
    case FILTER_KIND_AND:
        for (size_t i = 0; i < count_of(node); i++) {
            if (node_drops_row(&node->members[i]))
                return true;
        }
        return false;
    default:
        for (size_t i = 0; i < count_of(node); i++) {
            if (!node_drops_row(&node->members[i]))
                return false;
        }
        return count_of(node) > 0;
    }
}

/* ---- codes ---- */

/* How far a code goes: none, to the next column, to the next row, to a place. */
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

    return includes ? taken[distance] : left[distance];
}

/* The longer way; taken only by both. */
static enum filter_code
merge_and(enum filter_code a, enum filter_code b)
{
    int way = reach(a) > reach(b) ? reach(a) : reach(b);

    return code_of(way < 3 && filter_code_includes(a) && filter_code_includes(b), way);
}

/* The shorter way; taken by either. A place to seek beside anything else is no way at all: who knows how far it is. */
static enum filter_code
merge_or(enum filter_code a, enum filter_code b)
{
    int first = reach(a), second = reach(b);
    int way = first < second ? first : second;

    if (first != second && (first == 3 || second == 3))
        way = 0;
    return code_of(filter_code_includes(a) || filter_code_includes(b), way);
}

/* ---- places ---- */

/* HBase's order of keys, turned around in a reversed run (within rows as well, where cells come forward all the same). */
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

/* Does the cell come before the place? A place is the beginning of its column, so a cell in the column does not. */
static bool
is_before(const struct filter_node *node, const petal_cell *cell, const struct filter_place *place)
{
    struct filter_place at = {cell->row, false, cell->family, cell->qualifier};
    int order = compare_places(node, &at, place);

    return order < 0 || (order == 0 && node->reversed);
}

/* ---- AND ---- */

static enum petal_status
and_cell(struct filter_node *node, const petal_cell *cell, enum filter_code *code)
{
    *code = FILTER_INCLUDE;
    node->state.list.seeker = NULL;
    for (size_t i = 0; i < count_of(node); i++) {
        struct filter_node *member = &node->members[i];
        enum filter_code said;
        enum petal_status status;

        if (node_done(member)) {
            *code = FILTER_NEXT_ROW;
            return PETAL_OK;
        }
        status = node_cell(member, cell, &said);
        if (status != PETAL_OK)
            return status;
        if (said == FILTER_SEEK)
            node->state.list.seeker = member;
        *code = merge_and(*code, said);
        /* Those behind count what they are shown: they do not see what is turned away. */
        if (!filter_code_includes(*code))
            return PETAL_OK;
    }
    return PETAL_OK;
}

/* ---- OR ---- */

/* Remember the cell's column for the next cell. */
static enum petal_status
keep_column(struct filter_node *node, const petal_cell *cell)
{
    struct list_state *list = &node->state.list;
    size_t size = cell->family.size + cell->qualifier.size;
    void *column = list->column;

    if (!mem_grow(node->allocator, &column, &list->column_capacity, 0, size + 1, 1))
        return PETAL_NO_MEMORY;
    list->column = column;
    if (cell->family.size > 0)
        memcpy(list->column, cell->family.data, cell->family.size);
    if (cell->qualifier.size > 0)
        memcpy(list->column + cell->family.size, cell->qualifier.data, cell->qualifier.size);
    list->family_size = cell->family.size;
    list->qualifier_size = cell->qualifier.size;
    list->has_column = true;
    return PETAL_OK;
}

/* What the member has said before holds for this cell, too: it is not shown. */
static bool
said_before(struct filter_node *node, size_t index, const petal_cell *cell, enum filter_code *code)
{
    struct list_state *list = &node->state.list;
    const struct filter_memory *memory = &list->memories[index];
    struct filter_place place;
    petal_slice family, qualifier;

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

static enum petal_status
or_cell(struct filter_node *node, const petal_cell *cell, enum filter_code *code)
{
    bool shown = false, compares = false;

    for (size_t i = 0; i < count_of(node); i++) {
        struct filter_memory *memory = &node->state.list.memories[i];
        enum filter_code said;

        memory->included = false;
        if (node_done(&node->members[i]))
            continue;
        if (!said_before(node, i, cell, &said)) {
            enum petal_status status = node_cell(&node->members[i], cell, &said);

            if (status != PETAL_OK)
                return status;
        }
        memory->has_code = true;
        memory->code = said;
        memory->included = filter_code_includes(said);
        compares |= reach(said) > 0;
        *code = shown ? merge_or(*code, said) : said;
        shown = true;
    }
    if (!shown)
        *code = count_of(node) == 0 ? FILTER_INCLUDE : FILTER_SKIP;
    node->state.list.has_column = false;
    return compares ? keep_column(node, cell) : PETAL_OK;
}

/* ---- cells ---- */

enum petal_status
list_cell(struct filter_node *node, const petal_cell *cell, enum filter_code *code)
{
    enum petal_status status;

    if (node->filter->kind == FILTER_KIND_AND)
        return and_cell(node, cell, code);
    if (node->filter->kind == FILTER_KIND_OR)
        return or_cell(node, cell, code);
    status = node_cell(&node->members[0], cell, code);
    if (status == PETAL_OK && *code != FILTER_INCLUDE) {
        if (node->filter->kind == FILTER_KIND_SKIP)
            node->row_out = true;
        else
            node->done = true;
    }
    return status;
}

bool
list_hint(struct filter_node *node, petal_slice row, petal_slice family, struct filter_place *place)
{
    struct filter_node *seeker = node->state.list.seeker;
    bool found = false;

    if (node->filter->kind == FILTER_KIND_AND)
        return seeker != NULL && !node_done(seeker) && node_hint(seeker, row, family, place);
    /* OR: the first of the places, if all members have one. */
    for (size_t i = 0; node->filter->kind == FILTER_KIND_OR && i < count_of(node); i++) {
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

void
list_transform(struct filter_node *node, petal_cell *cell)
{
    for (size_t i = 0; i < count_of(node); i++) {
        if (node->filter->kind != FILTER_KIND_OR || node->state.list.memories[i].included)
            node_transform(&node->members[i], cell);
    }
}
