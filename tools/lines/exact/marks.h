/*
 * marks.h -- a set of numbers that is filled in any order and then asked in ascending order: as a
 * bitmap, where that fits, else in ranges, of which one at a time is a bitmap and the others wait
 * in a temporary file. Takes an eighth of the job's memory at most.
 */
#ifndef PETAL_TOOLS_LINES_EXACT_MARKS_H
#define PETAL_TOOLS_LINES_EXACT_MARKS_H

#include "tools/lines/records/spill.h"

struct marks {
    struct job *job;
    uint64_t numbers; /* that there may be: those below */
    uint64_t range;   /* so many in a bitmap; a power of two, up to 2^32 */
    uint64_t at;      /* of which range the bitmap is */
    uint8_t *bitmap;
    bool is_sealed, has_any;
    struct spill spill; /* u32 each, by range; of more than one range */
};

/* Numbers are below `numbers`. */
bool marks_open(struct marks *marks, struct job *job, uint64_t numbers);
/* Of zeros: nothing. */
void marks_close(struct marks *marks);

/* A number may be added again. */
bool marks_add(struct marks *marks, uint64_t number);

/* All are added. */
bool marks_seal(struct marks *marks);

/* answers[i]: is first + i there? Of sealed marks; numbers that were asked do not come again. */
bool marks_ask(struct marks *marks, uint64_t first, size_t count, bool *answers);

#endif
