/*
 * bloom_writer.h -- a Bloom filter of a file: chunks go between the data blocks when they are full,
 * the list of them to the end. Memory: the chunk that is being filled, those that became full in
 * one data block, and an entry for each chunk.
 */
#ifndef PETAL_HFILE_WRITER_BLOOM_WRITER_H
#define PETAL_HFILE_WRITER_BLOOM_WRITER_H

#include "tools/hfile/format/bloom.h"
#include "tools/hfile/writer/index_chunk.h"

/* A chunk with its first key. */
struct hfile_bloom_chunk {
    struct hfile_bloom_shape shape;
    uint64_t keys;
    struct hfile_buffer first_key;
    struct hfile_buffer block; /* room for a header, and the bits */
};

struct hfile_bloom_writer {
    struct hfile_block_writer *blocks;
    const petal_allocator *allocator;
    bool is_rowcol;
    struct hfile_bloom_shape shape; /* of a new chunk */
    /* Chunks in order: `full` ones wait, the next is being filled, others are spare. */
    struct hfile_bloom_chunk *chunks;
    size_t full, capacity;
    bool is_filling;
    struct hfile_buffer last_key;
    uint64_t keys, most_keys, bytes;
    struct hfile_index_chunk written;
};

/* REQUIRES: there is such a shape (hfile_bloom_shape_of). */
void hfile_bloom_writer_init(struct hfile_bloom_writer *writer, struct hfile_block_writer *blocks,
                             bool is_rowcol, const petal_hfile_write_options *options);
void hfile_bloom_writer_free(struct hfile_bloom_writer *writer);

/* The next key, unless it is the last one again. False: there is no memory. */
bool hfile_bloom_writer_add(struct hfile_bloom_writer *writer, petal_slice key);

/* Write the chunks that are full and, at the end, the one that is not. */
enum petal_status hfile_bloom_writer_write_chunks(struct hfile_bloom_writer *writer, bool is_end,
                                                  petal_error *error);

/* Write what describes the filter, a block of this kind. REQUIRES: it has keys, and all chunks are
 * written. */
enum petal_status hfile_bloom_writer_finish(struct hfile_bloom_writer *writer,
                                            enum petal_hfile_block_kind kind, petal_error *error);

#endif
