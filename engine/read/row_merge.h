/*
 * row_merge.h -- the newest version of each column of one row, out of several sources in which
 * nothing but newer versions hides a version: each decodes a few cells ahead, into a window, and of
 * the windows the least column is taken, from where it is newest.
 *
 * What a source has that needs more to be decided (cells above the read point, markers, times to
 * live, equal timestamps in two of them, ..) ends it: the merge was of no use, and the general get
 * reads the row.
 *
 * Belongs to one thread, inside the epoch, which it leaves now and then in a wide row.
 */
#ifndef PETAL_ENGINE_READ_ROW_MERGE_H
#define PETAL_ENGINE_READ_ROW_MERGE_H

#include "base/epoch.h"
#include "engine/read/result.h"

#define ROW_MERGE_SOURCES 6

/* Of a window; keys of cells that do not lie in a source in one piece take room of their own. */
#define ROW_WINDOW_CELLS     16
#define ROW_WINDOW_KEY_BYTES 1024

/* Qualifiers and rows beyond so many bytes together are left to the general get. */
#define ROW_MERGE_KEY_BYTES 512

struct row_source {
    const struct memtable *memtable; /* NULL: it is `file` */
    const struct file_entry *file;
    union { /* while the merge reads */
        struct cell_iter iter;
        struct memtable_iter memtable_iter;
        struct sst_iter file_iter;
    };
    bool gave; /* a cell of the row, seen or not */
    bool ended;
    const petal_cell *next, *end; /* of the window that are still to come */
    size_t last_bytes;            /* of the qualifier below, which the window ended with */
    uint8_t last[ROW_MERGE_KEY_BYTES];
    petal_cell cells[ROW_WINDOW_CELLS];
    uint8_t keys[ROW_WINDOW_KEY_BYTES];
};

/* After so many cells of the answer the stay inside the epoch is interrupted. */
#define ROW_MERGE_STAY_CELLS 1024

struct row_merge {
    const petal_family *family;
    petal_slice row;
    uint64_t sequence; /* the read point */
    struct epoch_stay *stay;
    size_t stay_cells; /* of the answer, since it began */
    uint32_t count, file_count;
    struct row_source sources[ROW_MERGE_SOURCES];
};

/* `stay`: who holds it calls row_merge_hold. */
void row_merge_init(struct row_merge *merge, const petal_family *family, petal_slice row,
                    uint64_t sequence, struct epoch_stay *stay);

/* One of the two is NULL. False: there are too many. REQUIRES: no markers, no times to live of
 * cells in it. */
bool row_merge_add(struct row_merge *merge, const struct memtable *memtable,
                   const struct file_entry *file);

/* The stay is about to be interrupted, while the merge reads. */
void row_merge_hold(struct row_merge *merge);

/* The answer into the empty result.  False: it was of no use, or failed. */
bool row_merge_read(struct row_merge *merge, const struct read_context *context,
                    petal_result *result);

#endif
