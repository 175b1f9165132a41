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
 * Bloom chunks and the lowest nodes are kept back, so that they stand side by side in the file: a
 * REGION, which readers have by one read (index_region.h).  Full regions are written meanwhile, the
 * last one before the levels above; the root is written when the caller says so.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_SSTABLE_INDEX_INDEX_WRITER_H
#define PETAL_SSTABLE_INDEX_INDEX_WRITER_H

#include "sstable/block/block_io.h"
#include "sstable/block/index_block.h"

#define INDEX_NODE_ENTRIES 8

/* A region that has as much is written: the writer's memory for it is bounded by twice that. */
#define INDEX_REGION_FULL_BYTES (1u << 20)

/* Blocks that are kept back, each with its first key: the level that names them can do so only when
 * they have their places. */
struct kept_blocks {
    uint64_t written; /* bytes of those that are written, with frames */
    uint8_t *bytes;   /* raw blocks and keys */
    size_t used, capacity;
    struct kept_block *blocks;
    size_t count, blocks_capacity;
};

enum index_kept { INDEX_KEPT_CHUNKS, INDEX_KEPT_NODES, INDEX_KEPT }; /* by the level naming them */

struct index_level {
    struct index_block_builder *builder; /* NULL: the level does not exist */
    bool split;                          /* nodes of this level have been written */
};

struct index_writer {
    struct block_sink *sink;
    enum block_kind kind; /* BLOCK_DATA_INDEX or BLOCK_BLOOM_INDEX */
    bool compress;
    uint64_t upper_bytes; /* of the nodes written that were not kept back, with frames */
    struct kept_blocks kept[INDEX_KEPT];
    struct index_level levels[INDEX_MAX_LEVELS];
};

/* Allocates nothing. */
void index_writer_init(struct index_writer *writer, struct block_sink *sink, enum block_kind kind,
                       bool compress);
void index_writer_fini(struct index_writer *writer);

/* REQUIRES: key sorts after the one before. */
enum petal_status index_writer_add(struct index_writer *writer, petal_slice key,
                                   struct block_handle handle, petal_error *error);

/* The same of a Bloom chunk that is to be written, of which a copy is kept back. */
enum petal_status index_writer_add_chunk(struct index_writer *writer, petal_slice chunk,
                                         petal_slice key, petal_error *error);

/* Write what is left but for the root.  REQUIRES: at least one entry. */
enum petal_status index_writer_finish_nodes(struct index_writer *writer, petal_error *error);

/* Write the root.  REQUIRES: the nodes below are finished. */
enum petal_status index_writer_finish_root(struct index_writer *writer, struct block_handle *root,
                                           petal_error *error);

/* Write what is kept back, and give back its memory; how much that is. */
enum petal_status index_writer_spill(struct index_writer *writer, petal_error *error);
size_t index_writer_memory(const struct index_writer *writer);

/* Of the nodes written, with frames. */
static inline uint64_t
index_writer_node_bytes(const struct index_writer *writer)
{
    return writer->upper_bytes + writer->kept[INDEX_KEPT_NODES].written;
}

/* Bytes that are not written yet, about, beside those of nodes that are not full. */
static inline uint64_t
index_writer_pending_bytes(const struct index_writer *writer)
{
    return writer->kept[INDEX_KEPT_CHUNKS].used + writer->kept[INDEX_KEPT_NODES].used;
}

#endif
