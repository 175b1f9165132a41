/*
 * fast_batch.h -- fast gets (engine/read/fast_get.h) of several rows at once, as a
 * pipeline: each stage is done for all rows before the next begins, and ends by starting to load
 * what that one looks at.  A single get waits for about ten cache misses, one after the other; here
 * those of the other rows pass meanwhile.
 *
 * Nothing is read from a file: a get that would have to is declined as well, and nothing of it was
 * answered or counted.
 */
#ifndef PETAL_ENGINE_READ_FAST_BATCH_H
#define PETAL_ENGINE_READ_FAST_BATCH_H

#include "engine/read/fast_get.h"

/* Rows at once: enough to hide the memory's time, few enough that what they load stays in the
 * first cache. */
#define FAST_BATCH 16

struct fast_question {
    petal_family *family;
    petal_slice qualifier;
    bool keep_out_of_cache;
};

/* results[i], empty before, receives rows[i]; the set of those that were declined, a bit each.
 * REQUIRES: inside the epoch of the point; count <= FAST_BATCH. */
uint32_t fast_batch_get(const struct fast_question *question, const struct read_point *point,
                        const petal_slice *rows, size_t count, petal_result *const *results);

#endif
