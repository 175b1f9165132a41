/*
 * parts.h -- the parts of a spill, one after the other, each in memory; one that does not fit is
 * cut into parts of its own, by further bits of its hashes.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_PARTS_H
#define PETAL_TOOLS_LINES_EXACT_PARTS_H

#include "tools/lines/records/spill.h"

enum parts_outcome { PARTS_DONE, PARTS_TOO_LARGE, PARTS_FAILED };

struct parts_work {
    /* A part, from its beginning on. After PARTS_TOO_LARGE its items come again in other parts:
     * what was made of some of them until then must not be wrong. */
    enum parts_outcome (*take)(void *argument, struct spill *spill, unsigned part);
    /* The next item into the part of its hash at this level; *more false: there was none. */
    bool (*copy)(struct spill_stream *from, struct spill *to, unsigned level, bool *more);
};

/* Of a spill into whose parts items were put by the part of their hash at level 0. Seals it. */
bool parts_take(struct spill *spill, const struct parts_work *work, void *argument);

#endif
