/*
 * border.h -- before which row a region is to be split: pure functions of the rows and bytes of its
 * store files.
 *
 * The border that shares no file is the best: a file that reaches over it stays whole on the disk
 * until both regions have rewritten it, and where keys come in order nothing else would ever make
 * them do so. So the border is the first row of a file where one leaves each region three eighths
 * of the bytes or more; else about the middle of all bytes, by the middles of the files.
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
    uint64_t bytes;         /* that are of the region */
};

/* The first row of a file, before which and from which on lie three eighths of the bytes or more,
 * in whole files: of these rows that over which files of the fewest bytes reach, then the nearest
 * to the middle. Empty: there is none. Sorts `files`; `ends` has room for as many. */
petal_slice border_between_files(struct border_file *files, size_t count, struct border_file *ends);

/* The middle of a file, such that the files whose middles are not behind it have half of the bytes:
 * of those whose middle is known. Empty: of none. Sorts `files`. */
petal_slice border_among_middles(struct border_file *files, size_t count);

#endif
