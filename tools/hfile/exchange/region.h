/*
 * region.h -- regions whose files are found, and which of them count.
 *
 * A region that was split or merged stays on disk, and in snapshots, until HBase's catalog janitor
 * takes it away, while its rows are those of the regions that came of it: there cells may have been
 * deleted, and compacted away, that it still has. So of regions that count each row is in one.
 */
#ifndef PETAL_HFILE_EXCHANGE_REGION_H
#define PETAL_HFILE_EXCHANGE_REGION_H

#include "tools/hfile/exchange/arena.h"

#include <sys/types.h>

struct region {
    const char *name;        /* in errors: its folder, or that of a snapshot and the start key */
    const char *encoded;     /* the name of its folder; "" in a snapshot */
    petal_slice start, end;  /* rows from `start` to before `end`; empty: no bound */
    bool is_split;           /* it was split or merged: others have its rows */
    bool is_replica, is_mob; /* it has no files of its own; its files are values of other cells */
    dev_t device;            /* of its folder, which several paths may name */
    ino_t inode;
};

/* HBase's message RegionInfo. Slices are copied to `arena`. `file` stands in errors. */
enum petal_status region_parse(struct region *region, struct arena *arena, petal_slice message,
                               const char *file, petal_error *error);

/* A file .regioninfo: "PBUF", the message's length as a varint, the message. */
enum petal_status region_parse_file(struct region *region, struct arena *arena, petal_slice bytes,
                                    const char *file, petal_error *error);

/*
 * Do regions that count lie apart, and have the rows of each one that was split or merged? Else
 * PETAL_INVALID names two that overlap, PETAL_NOT_FOUND one whose successors are not all here.
 */
enum petal_status regions_check(const struct region *regions, size_t count, struct arena *arena,
                                petal_error *error);

#endif
