/*
 * find.h -- which HFiles paths lead to, and what is known of their table. A path is a file, or a
 * folder: a family's, a region's or a table's as HBase has them, one as completebulkload wants it,
 * or one with a snapshot: .hbase-snapshot/NAME, or what holds that, with archive/ or data/ next to
 * it.
 *
 * A family's folder that lies in a region's is looked at as part of that; a single file is taken as
 * it is.
 *
 * Links and references are followed to the files that they stand for (target.h). What begins with
 * '.' or '_' is passed over, as HBase does. MOB files are refused by name: they are read through
 * the cells that point at them. Not among the files that count, though they are there:
 * - those of a region that was split or merged (region.h): regions that came of it have its cells;
 * - in a folder, those that a compaction has made another file of, which names them, until HBase
 *   takes them away.
 */
#ifndef PETAL_HFILE_EXCHANGE_FIND_H
#define PETAL_HFILE_EXCHANGE_FIND_H

#include "tools/hfile/exchange/descriptor.h"
#include "tools/hfile/exchange/region.h"
#include "tools/hfile/exchange/target.h"

#define FOUND_NO_REGION SIZE_MAX

struct found_file {
    const char *path;      /* the HFile */
    const char *entry;     /* it, or a link or reference to it, in a folder; NULL: of a snapshot */
    const char *of_region; /* folder of the region whose file a link or reference means */
    enum half half;
    petal_slice split_row; /* with a half */
    size_t region;         /* of `regions`, or FOUND_NO_REGION */
};

/* Edits of a region that a server which broke off left, and no server has brought into a file. */
struct found_edits {
    const char *path;
    size_t region;
    dev_t device; /* of the file, which several paths may lead to */
    ino_t inode;
};

struct found_files {
    struct arena arena;
    struct found_file *files;
    size_t count, capacity;
    struct region *regions;
    size_t region_count, region_capacity;
    struct found_edits *edits;
    size_t edits_count, edits_capacity;
    size_t region; /* the one whose folder, or part of a manifest, is looked through */
    struct descriptor descriptor;
    /* The path that is looked through, and the table or snapshot that it has led to, or NULL. */
    const char *path, *table;
    bool has_descriptor; /* a .tableinfo or a snapshot's manifest was there */
    /* Since the last path. */
    bool is_settled;
    size_t split_regions, compacted_files; /* whose files do not count; which do not */
};

void found_init(struct found_files *found);
void found_free(struct found_files *found);

/* May be called for several paths; PETAL_NOT_FOUND where one leads to no file at all. */
enum petal_status found_add(struct found_files *found, const char *path, petal_error *error);

/*
 * To be called after the last path: the files that count, by their paths in order, each once, or
 * once for each half. Fails where regions overlap (regions_check). Then, too, the files are in
 * order.
 */
enum petal_status found_settle(struct found_files *found, petal_error *error);

#endif
