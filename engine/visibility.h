/*
 * visibility.h -- what a reader sees of a row: the one place that decides it. Get and scan show it the cells of a
 * row in cell order, and it says of each whether it belongs to the answer.
 *
 * THE RULES, along one column, newest to oldest. A cell is a point (timestamp, sequence); points compare by
 * timestamp, then by sequence, and cell order goes down:
 *
 *     (40,9) put   (30,8) DELETE_COLUMN   (30,5) put   (20,7) DELETE   (20,6) put   (20,3) put   (10,1) put
 *     visible      hides all below it     hidden       hides (20,6)                              hidden
 *                                                      and (20,3)
 *
 *   - Cells above the read point do not exist.
 *   - A DELETE_COLUMN (12) or DELETE_FAMILY (14) at (T, S) hides puts at points below it.
 *   - A DELETE (8) or DELETE_FAMILY_VERSION (10) at (T, S) hides puts at exactly T with a sequence below S.
 *   - Of puts at one timestamp the one with the greatest sequence is the version; the others are superseded.
 *   - Time range: a put outside of it is not in the answer and does not count as a version. A marker works wherever it stands.
 *   - Of what is left the newest `versions` are the answer.
 *
 * Every marker that can hide a put sorts before it: family markers stand before all columns, and in a column a marker at a
 * greater point comes first. So one pass with a little memory decides. Source: HBase's ScanQueryMatcher and
 * ScanDeleteTracker, with sequence instead of type at equal timestamps (petal.h, caveats).
 */
#ifndef PETAL_ENGINE_VISIBILITY_H
#define PETAL_ENGINE_VISIBILITY_H

#include "base/cell.h"
#include "base/mem.h"

/* A place on the time line of a column. */
struct version_point {
    int64_t timestamp;
    uint64_t sequence;
};

static inline bool
version_point_below(struct version_point a, struct version_point b)
{
    return a.timestamp != b.timestamp ? a.timestamp < b.timestamp : a.sequence < b.sequence;
}

enum visibility_verdict {
    VISIBILITY_SHOW,       /* part of the answer */
    VISIBILITY_HIDE,       /* not part of it */
    VISIBILITY_COLUMN_DONE /* not part of it, and nothing of this column that follows is */
};

struct visibility {
    /* The question; set by visibility_init. */
    const petal_allocator *allocator;
    uint64_t read_point;
    int64_t time_min, time_limit;
    uint32_t versions;
    /* The row. */
    bool has_family_delete;
    struct version_point family_delete;    /* the greatest of kind 14 */
    struct version_point *family_versions; /* of kind 10, in cell order */
    size_t family_version_count, family_version_capacity;
    /* The column. */
    bool in_column;
    uint8_t *qualifier; /* a copy: the source's bytes go when it steps on */
    size_t qualifier_bytes, qualifier_capacity;
    bool has_column_delete, has_version_delete, has_put;
    struct version_point column_delete,
        version_delete;    /* the greatest of kind 12; the latest of kind 8 */
    int64_t put_timestamp; /* of the latest put that was not hidden */
    uint32_t shown;
};

void visibility_init(struct visibility *visibility, const petal_allocator *allocator,
                     uint64_t read_point, int64_t time_min, int64_t time_limit, uint32_t versions);
void visibility_fini(struct visibility *visibility);

/* Begin with another row. */
void visibility_start_row(struct visibility *visibility);

/*
 * Judge the row's next cell. PETAL_NO_MEMORY when a long qualifier or many kind 10 markers cannot be remembered.
 */
enum petal_status visibility_judge(struct visibility *visibility, const struct cell *cell,
                                   enum visibility_verdict *verdict);

#endif
