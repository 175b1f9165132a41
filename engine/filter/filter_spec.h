/*
 * filter_spec.h -- struct petal_filter: one filter with its arguments, or a combination of others.
 * Immutable and reference counted, allocated by its database. The state that a read keeps for it
 * is engine/filter/node.h.
 */
#ifndef PETAL_ENGINE_FILTER_FILTER_SPEC_H
#define PETAL_ENGINE_FILTER_FILTER_SPEC_H

#include "engine/filter/comparator.h"
#include "engine/filter/filter.h"

#include <stdatomic.h>

#define FILTER_MOST_DEPTH   100     /* of nested combinations; walks of a filter recurse as deep */
#define FILTER_MOST_FILTERS 100000u /* in one filter, counted as often as they stand in it */

struct filter_kind;

/* Rows from start to stop; an empty start or stop is an open end. */
struct row_range {
    petal_slice start, stop;
    bool start_inclusive, stop_inclusive;
};

struct petal_filter {
    const petal_allocator *allocator;
    _Atomic(uint32_t) references;
    size_t size; /* of this block: strings, ranges, timestamps and members follow the struct */
    const struct filter_kind *kind;
    unsigned depth;             /* 1 for one filter */
    uint32_t filter_count;      /* it and all below it */
    bool needs_rows;            /* HBase's hasFilterRow */
    bool watches_excluded_rows; /* a WHILE or a ColumnCountGetFilter is in it */
    bool keeps_cells;           /* a kind that does is in it */

    petal_filter **members;
    size_t member_count;
    petal_slice *strings;
    size_t string_count;
    struct row_range *ranges;
    size_t range_count;
    int64_t *timestamps;
    size_t timestamp_count;
    char *free_bytes; /* after the strings copied so far */

    struct comparator comparator;
    enum petal_compare compare;
    int64_t count, offset;
    bool has_min, min_inclusive, has_max, max_inclusive; /* ColumnRangeFilter */
    bool drop;                                           /* DependentColumnFilter */
    bool length_as_value;                                /* KeyOnlyFilter */
    bool if_missing, latest_only; /* SingleColumnValueFilter: filterIfMissing .. */
    double chance;                /* RandomRowFilter */
    uint64_t seed;
    size_t longest;              /* FuzzyRowFilter: bytes of its longest pattern */
    _Atomic(uint64_t) run_count; /* of RandomRowFilter, so that each run draws others */
};

/* Room for each after the struct. Strings are copied there by filter_add_string. */
struct filter_room {
    size_t members, strings, string_bytes, ranges, timestamps;
};

/* A filter with one reference and nothing in it yet; NULL: no memory. */
petal_filter *filter_new(const petal_allocator *allocator, const struct filter_kind *kind,
                         const struct filter_room *room);

/* Copies of slices that fit the room given at filter_new. */
petal_slice filter_copy(petal_filter *filter, petal_slice bytes);
void filter_add_string(petal_filter *filter, petal_slice bytes);

/* Why filter_make refused. */
struct filter_mistake {
    bool unknown_name;
    bool has_argument; /* `argument` is the number of the one that is wrong */
    size_t argument;
    char reason[COMPARATOR_REASON_BYTES];
};

/* Say why; PETAL_INVALID. */
enum petal_status filter_refuse(struct filter_mistake *mistake, const char *reason);
enum petal_status filter_refuse_argument(struct filter_mistake *mistake, size_t argument,
                                         const char *reason);

/* petal_filter_make without the error texts. `seed` is for RandomRowFilter. PETAL_INVALID or
 * PETAL_NO_MEMORY. */
enum petal_status filter_make(const petal_allocator *allocator, uint64_t seed, petal_slice name,
                              const petal_filter_argument *arguments, size_t count,
                              petal_filter **filter, struct filter_mistake *mistake);

/* petal_filter_combine for members and counts that are known to be right, but for the limits:
 * PETAL_INVALID beyond them. */
enum petal_status filter_combine(const petal_allocator *allocator,
                                 enum petal_filter_operation operation,
                                 petal_filter *const *members, size_t count, petal_filter **filter);

#endif
