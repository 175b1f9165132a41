/*
 * node.h -- private to the room: the functions of a kind of filter, and the state of a filter in
 * one read: a tree of nodes, one for each filter in it.
 *
 * Each kind is one piece of code, with its arguments, functions and struct filter_kind:
 *     engine/filter/list.c       AND, OR, SKIP, WHILE: filters that hold filters
 *     engine/filter/by_row.c     by the row key, and those that count rows
 *     engine/filter/fuzzy_row.c  FuzzyRowFilter
 *     engine/filter/row_range.c  MultiRowRangeFilter
 *     engine/filter/by_column.c  by family and qualifier, and those that count cells
 *     engine/filter/by_value.c   by value and timestamp
 * engine/filter/filter.c runs the tree, engine/filter/make.c makes one filter,
 * engine/filter/parser.c several from a text.
 */
#ifndef PETAL_ENGINE_FILTER_NODE_H
#define PETAL_ENGINE_FILTER_NODE_H

#include "base/slice.h"
#include "engine/filter/filter_spec.h"

#include <assert.h>

struct filter_node;

/* A place, as struct filter_hint, with the family that it is in. */
struct filter_place {
    petal_slice row;
    bool row_only;
    petal_slice family, qualifier;
};

/* The rows after `row`, in the run's direction; `row` itself only if inclusive. */
struct row_bound {
    bool open; /* everything; `row` means nothing */
    petal_slice row;
    bool inclusive;
};

/* By the filter's arguments alone, for a scan to seek the row. A bound may be early, never late. */
enum bound_answer {
    BOUND_UNKNOWN, /* the next row may pass */
    BOUND_ROW,     /* nothing before *row can */
    BOUND_NONE     /* nothing can */
};

/* The functions of a kind of filter: HBase's Filter, and the class of its name. NULL: the default
 * in parentheses. */
struct filter_kind {
    const char *name;
    /* Of its arguments, a letter for each (engine/filter/make.c); NULL: it holds other filters. */
    const char *signature;
    bool in_language;           /* of petal_filter_parse */
    bool needs_rows;            /* HBase's hasFilterRow */
    bool watches_excluded_rows; /* filter_watches_excluded_rows */
    bool keeps_cells;           /* what it is shown of a row changes what it says of the rest */
    bool is_list;               /* its members are told that a run is reversed */
    bool counts_rows;           /* its count is of the whole read */

    /* Of the filter: take what the signature does not say from the arguments (nothing);
     * isFamilyEssential (true). */
    enum petal_status (*fill)(petal_filter *filter, const petal_filter_argument *arguments,
                              size_t count, struct filter_mistake *mistake);
    bool (*needs_family)(const petal_filter *filter, petal_slice family);

    /* Of the node's state: PETAL_NO_MEMORY (nothing); its end, also of one that could not begin
     * (nothing); before a row (nothing but what all kinds have). */
    enum petal_status (*begin)(struct filter_node *node);
    void (*end)(struct filter_node *node);
    void (*reset)(struct filter_node *node);

    bool (*done)(const struct filter_node *node);                 /* filterAllRemaining (done) */
    bool (*skips_row)(struct filter_node *node, petal_slice row); /* filterRowKey (is it done?) */
    /* filterCell (FILTER_INCLUDE). What fails is told to node_fail; then the code does not
     * count. */
    enum filter_code (*cell)(struct filter_node *node, const petal_cell *cell);
    bool (*hint)(struct filter_node *node, petal_slice row, petal_slice family,
                 struct filter_place *place); /* getNextCellHint (none) */
    /* By the filter's arguments alone: as filter_run_ahead, but for any cell, and false for one
     * that passes (unknown) */
    bool (*ahead)(const struct filter_node *node, const petal_cell *cell,
                  struct filter_ahead *ahead);
    void (*transform)(struct filter_node *node, petal_cell *cell); /* transformCell (as it is) */
    /* filterRowCells (all stay) */
    void (*row_cells)(struct filter_node *node, petal_cell *cells, size_t *count);
    bool (*drops_row)(struct filter_node *node); /* filterRow (row_out) */
    enum bound_answer (*bound)(const struct filter_node *node, const struct row_bound *from,
                               petal_slice *row); /* (unknown) */
};

/* By petal_filter_operation. */
extern const struct filter_kind *const filter_list_kinds[];

extern const struct filter_kind column_count_get_filter, column_pagination_filter,
    column_prefix_filter, column_range_filter, family_filter, first_key_only_filter,
    key_only_filter, multiple_column_prefix_filter, qualifier_filter;
extern const struct filter_kind column_value_filter, dependent_column_filter,
    single_column_value_filter, single_column_value_exclude_filter, timestamps_filter, value_filter;
extern const struct filter_kind inclusive_stop_filter, page_filter, prefix_filter,
    random_row_filter, row_filter;
extern const struct filter_kind fuzzy_row_filter, multi_row_range_filter;

/* ---- the tree ---- */

/* An OR's state of one member: its last answer in this row. */
struct filter_memory {
    bool has_code;
    enum filter_code code;
    bool included; /* it takes the cell at hand: its transform is asked */
};

struct list_state {
    struct filter_memory *memories; /* OR: for each member */
    /* OR: the column of the last cell, if any member has to compare the next with it. */
    bool has_column;
    uint8_t *column;
    size_t column_capacity, family_size, qualifier_size;
    struct filter_node *seeker; /* AND: the member that said FILTER_SEEK */
};

struct dependent_state {
    int64_t *timestamps;
    size_t count, capacity;
};

struct filter_node {
    const petal_filter *filter;
    struct filter_run *run;
    struct regex_search *search; /* of its comparator; NULL: that is no regular expression */
    const petal_allocator *allocator;
    /* Rows come from high to low. HBase does not tell the filters in a SKIP or WHILE; only those
     * that it gets wrong (FuzzyRowFilter, MultiRowRangeFilter) use run_reversed. */
    bool reversed, run_reversed;
    bool row_out;  /* the row at hand is out */
    bool done;     /* nothing more can pass */
    bool found;    /* of this row: the column, the first cell */
    bool matched;  /* of this row: the value */
    int64_t count; /* cells of this row, or rows (PageFilter) */
    struct filter_node *members;
    union {
        struct list_state list;
        struct dependent_state dependent;
        size_t next_prefix;      /* MultipleColumnPrefixFilter: the one to seek */
        uint8_t length_bytes[4]; /* KeyOnlyFilter */
        uint64_t random;         /* RandomRowFilter */
        uint8_t *row;            /* FuzzyRowFilter: twice the longest pattern, to make rows in */
    } state;
};

/* The run has failed: its later answers do not count. `bytes`: the size of the compared text. */
void node_fail(struct filter_node *node, enum petal_status status, size_t bytes);

/* Does the comparator accept the bytes? A failure fails the run. */
bool node_accepts(struct filter_node *node, petal_slice bytes);

/* Before a row. */
void node_reset(struct filter_node *node);

static inline bool
node_done(const struct filter_node *node)
{
    const struct filter_kind *kind = node->filter->kind;

    return kind->done != NULL ? kind->done(node) : node->done;
}

static inline bool
node_skips_row(struct filter_node *node, petal_slice row)
{
    const struct filter_kind *kind = node->filter->kind;

    return kind->skips_row != NULL ? kind->skips_row(node, row) : node_done(node);
}

static inline enum filter_code
node_cell(struct filter_node *node, const petal_cell *cell)
{
    const struct filter_kind *kind = node->filter->kind;

    return kind->cell != NULL ? kind->cell(node, cell) : FILTER_INCLUDE;
}

static inline bool
node_hint(struct filter_node *node, petal_slice row, petal_slice family, struct filter_place *place)
{
    const struct filter_kind *kind = node->filter->kind;

    return kind->hint != NULL && kind->hint(node, row, family, place);
}

static inline bool
node_ahead(const struct filter_node *node, const petal_cell *cell, struct filter_ahead *ahead)
{
    const struct filter_kind *kind = node->filter->kind;

    *ahead = (struct filter_ahead){.none = false};
    return kind->ahead != NULL && kind->ahead(node, cell, ahead);
}

/* Answers of `ahead`. */
static inline bool
ahead_none(struct filter_ahead *ahead)
{
    *ahead = (struct filter_ahead){.none = true};
    return true;
}

static inline bool
ahead_at(struct filter_ahead *ahead, petal_slice qualifier, int64_t timestamp)
{
    *ahead = (struct filter_ahead){false, qualifier, timestamp};
    return true;
}

static inline void
node_transform(struct filter_node *node, petal_cell *cell)
{
    const struct filter_kind *kind = node->filter->kind;

    if (kind->transform != NULL)
        kind->transform(node, cell);
}

static inline void
node_row_cells(struct filter_node *node, petal_cell *cells, size_t *count)
{
    const struct filter_kind *kind = node->filter->kind;

    if (kind->row_cells != NULL)
        kind->row_cells(node, cells, count);
}

static inline bool
node_drops_row(struct filter_node *node)
{
    const struct filter_kind *kind = node->filter->kind;

    return kind->drops_row != NULL ? kind->drops_row(node) : node->row_out;
}

static inline enum bound_answer
node_bound(const struct filter_node *node, const struct row_bound *from, petal_slice *row)
{
    const struct filter_kind *kind = node->filter->kind;

    return kind->bound != NULL ? kind->bound(node, from, row) : BOUND_UNKNOWN;
}

static inline bool
filter_code_includes(enum filter_code code)
{
    return code <= FILTER_INCLUDE_AND_NEXT_ROW;
}

/* Of two rows: is `a` met before `b`? */
static inline bool
comes_before(const struct filter_node *node, petal_slice a, petal_slice b)
{
    int order = slice_compare(a, b);

    return node->run_reversed ? order > 0 : order < 0;
}

#endif
