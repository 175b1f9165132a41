/*
 * index_writer.h -- builds a multi-level index while a file is written: the data index or the Bloom
 * index.
 *
 * Each level gathers its entries in one node, the root to be.  When that passes INDEX_ROOT_BYTES it
 * is split into nodes of INDEX_NODE_BYTES, which are written to the file and named by a level
 * above; from then on the level writes such nodes as they fill.  So small files have one node, and
 * the root of a large one stays small enough to be held in memory, large enough to save a level.
 * Nodes hold at least INDEX_NODE_ENTRIES keys, however long these are, which bounds the number of
 * levels.
 *
 * The lowest nodes are kept back and written as a region (block_region.h), full ones meanwhile, the
 * last one before the levels above; the root is written when the caller says so.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_SSTABLE_INDEX_INDEX_WRITER_H
#define PETAL_SSTABLE_INDEX_INDEX_WRITER_H

#include "sstable/block/block_region.h"
#include "sstable/block/index_block.h"

#define INDEX_NODE_ENTRIES 8

struct index_level {
    struct index_block_builder *builder; /* NULL: the level does not exist */
    bool split;                          /* nodes of this level have been written */
};

struct index_writer {
    struct block_sink *sink;
    enum block_kind kind; /* BLOCK_DATA_INDEX or BLOCK_BLOOM_INDEX */
    bool compress;
    uint64_t bytes;             /* of the nodes written, with frames */
    struct block_region region; /* of level 0 */
    struct index_level levels[INDEX_MAX_LEVELS];
};

/* Allocates nothing. */
void index_writer_init(struct index_writer *writer, struct block_sink *sink, enum block_kind kind,
                       bool compress);
void index_writer_fini(struct index_writer *writer);

/* REQUIRES: key sorts after the one before. */
enum petal_status index_writer_add(struct index_writer *writer, petal_slice key,
                                   struct block_handle handle, petal_error *error);

/*
 * Write the blocks of `kind` that were kept back, and name them in the index at `level`: 0 unless
 * they are nodes.  *bytes: more by theirs, with frames.
 */
enum petal_status index_writer_add_region(struct index_writer *writer, struct block_region *region,
                                          enum block_kind kind, unsigned level, uint64_t *bytes,
                                          petal_error *error);

/* Write what is left but for the root.  REQUIRES: at least one entry. */
enum petal_status index_writer_finish_nodes(struct index_writer *writer, petal_error *error);

/* Write the root.  REQUIRES: the nodes below are finished. */
enum petal_status index_writer_finish_root(struct index_writer *writer, struct block_handle *root,
                                           petal_error *error);

/* Write the nodes that are kept back, and give back their memory. */
enum petal_status index_writer_spill(struct index_writer *writer, petal_error *error);

/* Bytes that are not written yet, about, beside those of nodes that are not full. */
static inline uint64_t
index_writer_pending_bytes(const struct index_writer *writer)
{
    return writer->region.used;
}

#endif
