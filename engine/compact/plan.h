/*
 * plan.h -- how the inputs of a compaction become one run: which files enter it as they are, and
 * which are rewritten together. A pure function of their rows and sizes.
 *
 * Files whose rows overlap, each with the next, are rewritten together, since a row is never split
 * over files of a run. A file that overlaps no other, and of which nothing is to be gained, is
 * linked: the manifest names it as a file of the run, and not a byte of it is read. So what is
 * loaded in the order of its keys, ascending or descending, is written once.
 *
 * Each file costs every reader something. So neighbours below `small_bytes` are merged, and if more
 * than PLAN_MOST_FILES would be linked, the smallest neighbours are, until half as many are left: a
 * byte is rewritten once while the run grows about thirtyfold. Files of more than half of
 * `part_bytes` do not count, and stay: two of them would become two again.
 *
 * The files to be rewritten are divided into parts without common rows. A part ends after
 * part_bytes: then its inputs go before the next one begins.
 *
 * Threads: pure.
 */
#ifndef PETAL_ENGINE_COMPACT_PLAN_H
#define PETAL_ENGINE_COMPACT_PLAN_H

#include "engine/petal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_MOST_FILES 64
/* plan_limits.part_bytes, after which files of a run are cut at row borders, too; the part of a
 * memtable that is small_bytes. */
#define PLAN_FILE_BYTES  ((uint64_t)2 << 30)
#define PLAN_SMALL_FILES 8

struct plan_file {
    petal_slice row_min, row_max;
    uint64_t bytes;
    bool settled; /* there is nothing to gain from rewriting it alone */
    size_t input; /* which one it is: the caller's */
};

/* Neighbours in the order of rows. */
struct plan_part {
    size_t first, count;
    uint64_t bytes;
    bool linked; /* one file, which enters the run as it is */
};

struct plan_limits {
    uint64_t small_bytes; /* files below it are merged with their neighbours */
    uint64_t part_bytes;  /* a part takes no more files once it has so many bytes */
};

/* Sorts `files` by their rows. `parts` has room for `count`; returns how many there are. */
size_t plan_parts(struct plan_file *files, size_t count, const struct plan_limits *limits,
                  struct plan_part *parts);

#endif
