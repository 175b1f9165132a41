/*
 * index_chunk.h -- entries of an index that wait to be written, in either form (index_block.h).
 */
#ifndef PETAL_HFILE_WRITER_INDEX_CHUNK_H
#define PETAL_HFILE_WRITER_INDEX_CHUNK_H

#include "tools/hfile/writer/block_writer.h"

struct hfile_index_chunk {
    struct hfile_buffer entries; /* in the form of a leaf */
    struct hfile_buffer starts;  /* u32 of each: where it begins there */
    size_t count;
    uint64_t root_bytes; /* of the entries in the form of a root */
};

void hfile_index_chunk_init(struct hfile_index_chunk *chunk, const petal_allocator *allocator);
void hfile_index_chunk_free(struct hfile_index_chunk *chunk);
void hfile_index_chunk_clear(struct hfile_index_chunk *chunk);

/* False: there is no memory, or the chunk has 4 GiB; it is as it was. */
bool hfile_index_chunk_add(struct hfile_index_chunk *chunk, petal_slice key,
                           const struct hfile_block_place *place);

/* REQUIRES: number < count. The key is good until something is added. */
void hfile_index_chunk_get(const struct hfile_index_chunk *chunk, size_t number, petal_slice *key,
                           struct hfile_block_place *place);

/* Bytes of all of it in the form of a leaf. */
uint64_t hfile_index_chunk_leaf_bytes(const struct hfile_index_chunk *chunk);

/* Append all of it. False: there is no memory. */
bool hfile_index_chunk_put_leaf(const struct hfile_index_chunk *chunk,
                                struct hfile_buffer *payload);
bool hfile_index_chunk_put_root(const struct hfile_index_chunk *chunk,
                                struct hfile_buffer *payload);

#endif
