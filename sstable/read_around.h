/*
 * read_around.h -- what lies around a block that is read by itself is begun to be read as well.
 *
 * Gets in no order wait for the medium once for each block, and in the time of one such read it
 * would have given some thirty blocks that stand side by side.  So a file is divided into AREAS.
 * Before the first block of an area is read, the area is read ahead (petal_vfs, read_ahead), and
 * the others come from the page cache then.
 *
 * WHAT IT COSTS.  The first blocks of a file, a 16th as many as it has areas, are read alone: few
 * gets, and those of absent rows, whose filter errs now and then, cost nothing more.  From then on
 * each block that is read earns CREDIT.  The first one of an area earns that area, which is about
 * what the medium gives in the time of one read: so gets that are far between take at most twice as
 * long.  The next ones, which wait for nothing, show that gets are dense: they earn several, and
 * what is begun next is that much larger.  So a file is in memory after about half as many gets as
 * it has areas, most of which waited for nothing.
 *
 * ONCE.  An area is read ahead once while the file is open: what the system dropped since, it has
 * no memory for.  Nothing is where the open files together are larger than the limit: they would
 * drive one another out of memory.
 *
 * Threads: any number at once, without locks.
 */
#ifndef PETAL_SSTABLE_READ_AROUND_H
#define PETAL_SSTABLE_READ_AROUND_H

#include "sstable/block_io.h"

#include <stdatomic.h>

#define READ_AROUND_AREA_BYTES (128u << 10)
#define READ_AROUND_MOST_AREAS 16 /* at once, and kept as credit */
#define READ_AROUND_ALONE      16 /* so many-th of the areas: blocks that are read alone at first */

/* What all open files share. */
struct read_around_limit {
    uint64_t most;          /* bytes; */
    _Atomic(uint64_t) open; /* those of the open files */
};

static inline void
read_around_limit_init(struct read_around_limit *limit, uint64_t most)
{
    limit->most = most;
    atomic_init(&limit->open, 0);
}

/* Of one open file. */
struct read_around {
    struct read_around_limit *limit; /* NULL: nothing is read around its blocks */
    uint64_t file_bytes;
    uint64_t areas;
    _Atomic(uint64_t) *begun; /* a bit for each area */
    _Atomic(int64_t) credit;  /* in areas; below 0: of blocks that are to be read alone */
};

/* `limit` NULL: nothing is read.  False: there is no memory; then fini is a no-op, as it is on one
 * that is all zero. */
bool read_around_init(struct read_around *around, struct read_around_limit *limit,
                      uint64_t file_bytes, const petal_allocator *allocator);
void read_around_fini(struct read_around *around, const petal_allocator *allocator);

/* Bytes of memory. */
size_t read_around_memory(const struct read_around *around);

/* A block of the source is about to be read by itself, outside of the epoch. */
void read_around_block(struct read_around *around, const struct block_source *source,
                       struct block_handle handle);

#endif
