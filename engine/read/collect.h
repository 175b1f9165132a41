/*
 * collect.h -- the cells of one row in one store that may matter to a get, gathered source by
 * source; when all sources that matter were asked, they are put in order and judged
 * (engine/rules/visibility.h).
 *
 * It also knows when enough is known: a column is settled against a point when nothing at or below
 * that point can change its answer, so a source whose greatest point that is need not be read
 * ("found newer").
 */
#ifndef PETAL_ENGINE_READ_COLLECT_H
#define PETAL_ENGINE_READ_COLLECT_H

#include "base/cell_iter.h"
#include "base/epoch.h"
#include "base/error.h"
#include "engine/rules/visibility.h"

/* A column that the get names. */
struct collect_column {
    struct cell_key key; /* of its first possible cell; bytes in the collector's key memory */
    uint64_t hash;       /* bloom_hash_column; made by skip_begin, for files that ask for it */
    bool asked;          /* of the source at hand */
    bool has_delete;     /* a marker of kind 12 was taken */
    uint64_t versions;   /* that were taken, those of one timestamp of two sources twice */
    /* Of what was judged (row_collect.judged). */
    uint32_t shown;
    bool settled; /* below this point nothing can change the answer */
    struct version_point settled_at;
};

struct collected_cell {
    struct cell cell; /* value borrowed from the source, good inside the epoch, or held */
    bool cut;         /* its source may have more versions of the column, which were not taken */
};

struct row_collect {
    const petal_allocator *allocator;
    petal_receipt *receipt;  /* is told of what is hidden; NULL: nobody is */
    petal_slice family;      /* for it */
    struct epoch_stay *stay; /* of who asks, interrupted now and then; NULL: it need not be */
    /* The question. */
    petal_slice row;
    bool skips_later; /* of the source at hand: nothing above the time range matters in a column */
    struct cell_key row_key; /* the place of the row's family markers: its first possible cell */
    struct collect_column *columns; /* sorted by qualifier; none: the whole family */
    size_t column_count, column_capacity;
    /* What was found. */
    struct collected_cell *cells;
    size_t count, capacity;
    size_t *order; /* the first `ordered` cells in cell order, by their numbers */
    size_t ordered, order_capacity;
    size_t judged;      /* so many were in order when it was judged what settles the columns */
    bool failed;        /* memory ran out meanwhile; row_collect_finish says so */
    size_t shown_count; /* after row_collect_finish: the first of `order` are the answer */
    uint64_t column_versions_deleted; /* markers of kind 8 among the cells */
    uint64_t family_versions_deleted; /* of kind 10 */
    bool family_versions_left;        /* some source has more of them than were taken */
    bool has_family_delete;
    struct version_point family_delete;
    uint64_t cells_read; /* of all sources: looked at */
    uint64_t stay_ends;  /* by that count */
    uint32_t seeks;      /* likewise */
    /* Memory. */
    uint8_t *keys; /* encoded keys */
    size_t key_capacity;
    uint8_t *place; /* the one that a source is sent to */
    size_t place_capacity;
    uint8_t *qualifiers; /* of the cells, when no column is named */
    size_t qualifier_bytes, qualifier_capacity;
    uint8_t *values; /* of the first `held` cells */
    size_t value_bytes, value_capacity, held;
    struct visibility visibility; /* its rules are the question's */
};

void row_collect_init(struct row_collect *collect, const petal_allocator *allocator);
void row_collect_fini(struct row_collect *collect);

/*
 * Begin with a row. Of the options' columns those of the family are asked, `named` of them, in any
 * order and as often as they like; 0: the whole family. They are borrowed until the finish.
 * REQUIRES: collect->visibility.rules are those of the read: of purpose READ, without
 * NEW_VERSION_BEHAVIOR.
 */
enum petal_status row_collect_start(struct row_collect *collect, petal_slice row,
                                    const petal_read_options *options, const petal_family *family,
                                    size_t named);

/* One of the cells in order. */
static inline const struct cell *
row_collect_cell(const struct row_collect *collect, size_t i)
{
    assert(i < collect->ordered);
    return &collect->cells[collect->order[i]].cell;
}

/* Of a set of kinds of markers: bits (1 << type). */
#define COLLECT_FAMILY_MARKERS                                                                     \
    (UINT32_C(1) << PETAL_DELETE_FAMILY_VERSION | UINT32_C(1) << PETAL_DELETE_FAMILY)

/* Take what matters from one source, which may hold such kinds of markers: the row's family
 * markers, and the columns that are `asked`. */
enum petal_status row_collect_source(struct row_collect *collect, struct cell_iter *source,
                                     uint32_t marker_kinds, petal_error *error);

/* Copy the values that are borrowed as yet, so that what was collected outlives the stay in the
 * epoch. */
enum petal_status row_collect_hold(struct row_collect *collect);

/* Nothing at or below `point` can change the answer. */
bool row_collect_settled(struct row_collect *collect, struct version_point point);
bool row_collect_column_settled(struct row_collect *collect, const struct collect_column *column,
                                struct version_point point);

/*
 * Judge; the answer is the first shown_count of `order`, if it is *complete. It is not where
 * markers of single versions hid some of what was taken of a source that was asked before they were
 * known, and the source has more: then only a walk through the row answers.
 */
enum petal_status row_collect_finish(struct row_collect *collect, bool *complete);

/*
 * After a finish with family_versions_left: search a source for a marker of kind 10 that hides a
 * cell of the answer, with a seek for each cell. *found is set if there is one: then the answer is
 * wrong, and only a walk through the row is right.
 */
enum petal_status row_collect_check_family_versions(struct row_collect *collect,
                                                    struct cell_iter *source, bool *found,
                                                    petal_error *error);

#endif
