/*
 * index_writer.h -- the index of data blocks: leaves between these, then intermediate levels as the
 * root's size asks for them, then the root. Memory: one leaf, and an entry for each leaf.
 */
#ifndef PETAL_HFILE_WRITER_INDEX_WRITER_H
#define PETAL_HFILE_WRITER_INDEX_WRITER_H

#include "tools/hfile/writer/index_chunk.h"

struct hfile_index_writer {
    struct hfile_block_writer *blocks;
    uint64_t most_bytes;  /* of a block of the index, before it is cut */
    size_t least_entries; /* that an intermediate level is made for, and of its blocks */
    struct hfile_index_chunk leaf, root;
    struct hfile_buffer sums; /* u64 for each entry of the root: of data blocks up to its end */
    uint64_t data_blocks;
    uint32_t levels;
    uint64_t payload_bytes; /* of all that was written */
    struct hfile_buffer block;
};

void hfile_index_writer_init(struct hfile_index_writer *writer, struct hfile_block_writer *blocks,
                             const petal_hfile_write_options *options);
void hfile_index_writer_free(struct hfile_index_writer *writer);

/* The next data block; false: there is no memory. */
bool hfile_index_writer_add(struct hfile_index_writer *writer, petal_slice key,
                            const struct hfile_block_place *place);

/* Write a leaf if there is enough for one or, at the end, if there are others: else its entries are
 * the root's. */
enum petal_status hfile_index_writer_write_leaf(struct hfile_index_writer *writer, bool is_end,
                                                petal_error *error);

/* After the last leaf and what is not scanned: what is above the leaves. *root_offset and
 * *root_entries are the root's. */
enum petal_status hfile_index_writer_finish(struct hfile_index_writer *writer,
                                            uint64_t *root_offset, uint32_t *root_entries,
                                            petal_error *error);

#endif
