/* point.h -- a place on the time line of a column: by it cells hide each other, and sources
 * settle an answer. */
#ifndef PETAL_ENGINE_RULES_POINT_H
#define PETAL_ENGINE_RULES_POINT_H

#include <stdbool.h>
#include <stdint.h>

struct version_point {
    int64_t timestamp;
    uint64_t sequence;
};

static inline bool
version_point_below(struct version_point a, struct version_point b)
{
    return a.timestamp != b.timestamp ? a.timestamp < b.timestamp : a.sequence < b.sequence;
}

#endif
