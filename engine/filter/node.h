/*
 * node.h -- what one read keeps of a filter: a tree of nodes, one for each filter in it. The functions of a node are those
 * of HBase's Filter. Each is told in one place for all kinds (engine/filter/filter.c), which hands on to those of a group:
 * engine/filter/list.c (AND, OR, SKIP, WHILE), engine/filter/by_row.c, engine/filter/by_column.c, engine/filter/by_value.c.
 */
#ifndef PETAL_ENGINE_FILTER_NODE_H
#define PETAL_ENGINE_FILTER_NODE_H

#include "base/slice.h"
#include "engine/filter/made.h"

struct filter_node;

/* A place, as struct filter_hint, with the family that it is in. */
struct filter_place {
    petal_slice row;
    bool row_only;
    petal_slice family, qualifier;
};

/* What the OR keeps of one member: what it said last of this row. */
struct filter_memory {
    bool has_code;
    enum filter_code code;
    bool included; /* it takes the cell at hand: its transform is asked */
};

struct list_state {
    struct filter_memory *memories; /* OR: for each member */
    /* OR: the column of the cell shown last, when any member has to compare the next with it. */
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
    /* Rows come from high to low. HBase does not tell what stands in a SKIP or WHILE; only filters that it gets wrong then
     * (FuzzyRowFilter, MultiRowRangeFilter) ask run_reversed. */
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

/* ---- all kinds (engine/filter/filter.c) ---- */

/* Does its comparator let the bytes pass? What it fails with fails the run. */
bool node_accepts(struct filter_node *node, petal_slice bytes);
bool node_done(const struct filter_node *node);                 /* filterAllRemaining */
bool node_skips_row(struct filter_node *node, petal_slice row); /* filterRowKey */
enum petal_status node_cell(struct filter_node *node, const petal_cell *cell,
                            enum filter_code *code); /* filterCell */
bool node_hint(struct filter_node *node, petal_slice row, petal_slice family,
               struct filter_place *place);                      /* getNextCellHint */
void node_transform(struct filter_node *node, petal_cell *cell); /* transformCell */
void node_row_cells(struct filter_node *node, petal_cell *cells, size_t *count);
bool node_drops_row(struct filter_node *node); /* filterRow */
void node_reset(struct filter_node *node);

static inline bool
filter_code_includes(enum filter_code code)
{
    return code <= FILTER_INCLUDE_AND_NEXT_ROW;
}

static inline bool
filter_is_list(const petal_filter *filter)
{
    return filter->kind <= FILTER_KIND_OR;
}

static inline bool
filter_is_combination(const petal_filter *filter)
{
    return filter->kind <= FILTER_KIND_WHILE;
}

/* ---- combinations (engine/filter/list.c) ---- */

bool list_done(const struct filter_node *node);
bool list_skips_row(struct filter_node *node, petal_slice row);
enum petal_status list_cell(struct filter_node *node, const petal_cell *cell,
                            enum filter_code *code);
bool list_hint(struct filter_node *node, petal_slice row, petal_slice family,
               struct filter_place *place);
void list_transform(struct filter_node *node, petal_cell *cell);
bool list_drops_row(struct filter_node *node);

/* ---- by the row (engine/filter/by_row.c) ---- */

bool row_filter_skips_row(struct filter_node *node, petal_slice row);
enum filter_code row_filter_cell(struct filter_node *node, petal_slice row);
bool row_filter_hint(struct filter_node *node, petal_slice row, struct filter_place *place);

/* ---- by family, qualifier and number of cells (engine/filter/by_column.c) ---- */

enum filter_code column_filter_cell(struct filter_node *node, const petal_cell *cell);
bool column_filter_hint(const struct filter_node *node, petal_slice row, petal_slice family,
                        struct filter_place *place);

/* ---- by value and timestamp (engine/filter/by_value.c) ---- */

enum petal_status value_filter_cell(struct filter_node *node, const petal_cell *cell,
                                    enum filter_code *code);
void value_filter_row_cells(const struct filter_node *node, petal_cell *cells, size_t *count);
bool value_filter_drops_row(const struct filter_node *node);

/* ---- rows that can pass (engine/filter/bound.c) ---- */

/* Rows seen from one end: `row` and what lies behind it, `row` itself only when inclusive. In a reversed run behind is below. */
struct row_bound {
    bool open; /* everything; `row` means nothing */
    petal_slice row;
    bool inclusive;
};

enum bound_answer {
    BOUND_UNKNOWN, /* the next row may pass */
    BOUND_ROW,     /* nothing before *row can */
    BOUND_NONE     /* nothing can */
};

enum bound_answer node_bound(struct filter_node *node, const struct row_bound *from,
                             petal_slice *row);

/* The first row that matches a pattern of FuzzyRowFilter at or behind `from`, or a bound before it (reversed). Uses node->state.row. */
enum bound_answer fuzzy_bound(struct filter_node *node, const struct row_bound *from,
                              petal_slice *row);
bool fuzzy_matches(const petal_filter *filter, petal_slice row);

/* The same for MultiRowRangeFilter. */
enum bound_answer ranges_bound(const struct filter_node *node, const struct row_bound *from,
                               petal_slice *row);
bool ranges_contain(const petal_filter *filter, petal_slice row);

#endif
