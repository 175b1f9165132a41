/*
 * border.h -- the row at which a region is split: pure functions of the rows and bytes of its store
 * files.
 *
 * The best border divides no file: a divided file stays on the disk as a whole until both regions
 * have rewritten it, and if keys are written in order, nothing else would make them do that. So the
 * border is the first row of a file, if there is one that leaves each region at least three eighths
 * of the bytes; else it is near the middle of all bytes, by the middles of the files.
 *
 * Threads: pure.
 */
#ifndef PETAL_ENGINE_REGION_BORDER_H
#define PETAL_ENGINE_REGION_BORDER_H

#include "engine/petal.h"

#include <stddef.h>
#include <stdint.h>

struct border_file {
    petal_slice row_min, row_max;
    petal_slice row_middle; /* empty: not known */
    uint64_t bytes;         /* that are in the region */
};

/* The first row of a file, such that whole files with at least three eighths of the bytes end
 * before it, and as many begin at it or later. Of several such rows, the one that divides files of
 * the fewest bytes, then the one nearest to the middle. Empty: there is none. Sorts `files`; `ends`
 * has room for as many. */
petal_slice border_between_files(struct border_file *files, size_t count, struct border_file *ends);

/* The middle of a file, such that the files whose middles are not after it have half of the bytes.
 * Only files whose middle is known count. Empty: there is none. Sorts `files`. */
petal_slice border_among_middles(struct border_file *files, size_t count);

#endif
