/*
 * bloom_writer.h -- builds the compound Bloom filter of a store file while it is written.
 *
 * KEYS, in cell order: of each row the row itself (ROW, ROW_ROWCOL), the fact that it has family
 * markers, if it has, and each of its columns (ROWCOL, ROW_ROWCOL); of rows that begin alike their
 * prefix, of fixed length, or the whole of a shorter row (ROW_PREFIX); delete markers count as
 * cells.  Their hashes are gathered until they fill a chunk, whose size follows from their number,
 * so the error rate is the wanted one in every chunk, the last included.  A chunk is then built,
 * probed with every hash that went into it, and given to the Bloom index, which keeps it back
 * (index_writer.h): chunks are written by regions, between data blocks or after them, and named by
 * their first keys (prefixes, base/cell.h).
 *
 * SIZE.  A chunk is at most as large as an average data block of the file, as stored, less the part
 * that the error rate is of it: so that fetching one costs no more than the read it can save, those
 * included that are in vain because it errs.
 *
 * Belongs to one thread.
 */
#ifndef PETAL_SSTABLE_FILTER_BLOOM_WRITER_H
#define PETAL_SSTABLE_FILTER_BLOOM_WRITER_H

#include "base/cell.h"
#include "bloom/bloom.h"
#include "sstable/file/sst_options.h"
#include "sstable/index/index_writer.h"

#define BLOOM_CHUNK_MIN_BYTES 512

struct bloom_writer {
    struct block_sink *sink;
    const struct sst_options *options;
    struct bloom_plan plan;
    struct index_writer index;
    uint64_t row_hash; /* of the current row */
    uint64_t *hashes;  /* of the chunk at hand */
    size_t hash_count, hash_capacity;
    uint64_t chunk_keys; /* close the chunk at this number */
    uint8_t *first_key;  /* of the chunk at hand */
    size_t first_key_bytes, first_key_capacity;
    uint8_t *prefix; /* with ROW_PREFIX: of the current row; none has 0 bytes */
    size_t current_prefix_bytes, prefix_capacity;
    uint8_t *chunk; /* memory to build in */
    size_t chunk_capacity;
    void *work; /* what building RIBBON chunks takes besides */
    size_t work_capacity;
    uint64_t data_blocks, data_bytes; /* written so far: their average bounds the chunks */
    uint64_t keys, chunks;            /* built so far */
};

/* `options` of the file, which has a filter, are borrowed, its defaults filled in.  Allocates
 * nothing. */
void bloom_writer_init(struct bloom_writer *writer, struct block_sink *sink,
                       const struct sst_options *options);
void bloom_writer_fini(struct bloom_writer *writer);

/* The cell begins a column, or the family markers of its row, and with `new_row` the row. */
enum petal_status bloom_writer_add(struct bloom_writer *writer, const struct cell *cell,
                                   bool new_row, petal_error *error);

/* A data block of so many stored bytes was written. */
void bloom_writer_note_block(struct bloom_writer *writer, uint32_t stored_bytes);

/* Write what is left but for the root of the index.  REQUIRES: at least one cell. */
enum petal_status bloom_writer_finish_chunks(struct bloom_writer *writer, petal_error *error);

/* Write the root.  REQUIRES: the chunks are finished. */
enum petal_status bloom_writer_finish_root(struct bloom_writer *writer, struct block_handle *root,
                                           petal_error *error);

/* Bytes that are not written yet, about. */
static inline uint64_t
bloom_writer_pending_bytes(const struct bloom_writer *writer)
{
    return 2 * writer->hash_count + index_writer_pending_bytes(&writer->index);
}

#endif
