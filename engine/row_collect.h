/*
 * row_collect.h -- the cells of one row in one store that may matter to a get, gathered source by source; when all sources that
 * matter were asked, they are put in order and judged (engine/visibility.h).
 *
 * It also knows when enough is known: a column is settled against a point when nothing at or below that point can
 * change its answer, so a source whose greatest point that is need not be read ("found newer").
 */
#ifndef PETAL_ENGINE_ROW_COLLECT_H
#define PETAL_ENGINE_ROW_COLLECT_H

#include "base/cell_iter.h"
#include "base/error.h"
#include "engine/visibility.h"

/* A column that the get names. */
struct collect_column {
    struct cell_key key; /* of its first possible cell; bytes in the collector's key memory */
    uint64_t hash;       /* bloom_hash_column; valid when the query's `has_hashes` */
    bool asked;          /* of the source at hand */
    bool has_delete;
    struct version_point column_delete; /* the greatest of kind 12 */
    uint32_t put_count;                 /* of `puts` */
    struct version_point
        *puts; /* the greatest of the time range, one a timestamp, greatest first */
};

struct collected_cell {
    struct cell cell;        /* row and value borrowed from the source: good inside the epoch */
    size_t qualifier_offset; /* of a copy in `qualifiers`, when no column is named */
};

struct row_collect {
    const petal_allocator *allocator;
    petal_receipt *receipt; /* is told of what is hidden; NULL: nobody is */
    petal_slice family;     /* for it */
    /* The question. */
    petal_slice row;
    uint64_t row_hash;
    bool
        every_version; /* markers of single versions exist, so an older version may become the answer */
    uint64_t
        markers_elsewhere; /* with every_version: set before each source: how many markers of single versions the
                                   others hold at most */
    uint32_t tracked;        /* versions of a column that settle it; 0: nothing but a marker does */
    struct cell_key row_key; /* the place of the row's family markers: its first possible cell */
    struct collect_column *columns; /* sorted by qualifier; none: the whole family */
    size_t column_count, column_capacity;
    /* What was found. */
    struct collected_cell *cells;
    size_t count, capacity;
    uint32_t sources;         /* that gave cells */
    uint64_t family_versions; /* markers of kind 10 that the source at hand gave */
    bool has_family_delete;
    struct version_point family_delete;
    /* Memory. */
    uint8_t *keys; /* encoded keys */
    size_t key_capacity;
    struct version_point *points; /* `tracked` for each column */
    size_t point_capacity;
    uint8_t *qualifiers;
    size_t qualifier_bytes, qualifier_capacity;
    const struct cell **shown; /* the answer, after row_collect_finish */
    size_t shown_count, shown_capacity;
    struct visibility visibility; /* its rules are the question's */
};

void row_collect_init(struct row_collect *collect, const petal_allocator *allocator);
void row_collect_fini(struct row_collect *collect);

/*
 * Begin with a row; `qualifiers` (any order, twice allowed; count 0: whole family) are borrowed until the finish.
 * REQUIRES: collect->visibility.rules are those of the read: of purpose READ, without NEW_VERSION_BEHAVIOR.
 */
enum petal_status row_collect_start(struct row_collect *collect, petal_slice row, uint64_t row_hash,
                                    const petal_slice *qualifiers, size_t count,
                                    bool every_version);

/* Take what matters from one source: the family markers if `family_markers`, and the columns that are `asked`. */
enum petal_status row_collect_source(struct row_collect *collect, struct cell_iter *source,
                                     bool family_markers, petal_error *error);

/* Nothing at or below `point` can change the answer. */
bool row_collect_settled(const struct row_collect *collect, struct version_point point);
bool row_collect_column_settled(const struct row_collect *collect,
                                const struct collect_column *column, struct version_point point);

/* Order and judge; the answer is collect->shown. */
enum petal_status row_collect_finish(struct row_collect *collect);

#endif
