/*
 * history.h -- the lives of the versions of one column under NEW_VERSION_BEHAVIOR
 * (engine/rules/visibility.h draws them).
 *
 * It is shown the family markers of a row, then column by column the markers and puts in cell
 * order. Of every marker at or above a put's timestamp it knows the moment it was written, and how
 * many puts with greater timestamps lived then.
 *
 * Memory grows with the markers of a row and the stored versions of a column.
 */
#ifndef PETAL_ENGINE_RULES_HISTORY_H
#define PETAL_ENGINE_RULES_HISTORY_H

#include "base/cell.h"
#include "base/mem.h"
#include "engine/rules/point.h"

/* The moment at which a marker was written. */
struct version_event {
    struct version_point point;
    enum petal_cell_type type;
    uint32_t living; /* puts of the column, of those seen, that lived and were not surplus then */
};

/* A put that was seen: it counts at moments in (born, ends]. */
struct version_life {
    uint64_t born, ends;
};

struct version_history {
    struct version_event *events; /* of the column, by sequence; the family markers' are copies */
    size_t event_count, event_capacity;
    struct version_event *family; /* of the row, by sequence */
    size_t family_count, family_capacity;
    struct version_life *lives; /* of the column */
    size_t life_count, life_capacity;
    uint32_t living_now;
    bool has_put;
    struct version_point put; /* the latest one seen */
};

void version_history_fini(struct version_history *history, const petal_allocator *allocator);

void version_history_start_row(struct version_history *history);
enum petal_status version_history_start_column(struct version_history *history,
                                               const petal_allocator *allocator);

/* A marker of the row (before the first column) or of the column. */
enum petal_status version_history_add_marker(struct version_history *history,
                                             const petal_allocator *allocator,
                                             const struct cell *marker);

enum version_fate {
    VERSION_LIVES,
    VERSION_ENDED,
    VERSION_SURPLUS,    /* since a marker was written, for good */
    VERSION_SURPLUS_NOW /* by what lives now */
};

/* What became of a put, by a store that keeps `versions`. */
enum petal_status version_history_judge(struct version_history *history,
                                        const petal_allocator *allocator, struct version_point put,
                                        uint32_t versions, enum version_fate *fate);

/* The least timestamp of a marker that was written after the put and matches it; INT64_MAX: there
 * is none. */
int64_t version_history_least_end(const struct version_history *history, struct version_point put);

#endif
