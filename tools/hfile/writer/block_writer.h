/*
 * block_writer.h -- blocks go to the sink: header, compressed payload, checksums, one after the
 * other, each by one call.
 */
#ifndef PETAL_HFILE_WRITER_BLOCK_WRITER_H
#define PETAL_HFILE_WRITER_BLOCK_WRITER_H

#include "tools/hfile/format/buffer.h"
#include "tools/hfile/format/codec.h"
#include "tools/hfile/format/format.h"

#define HFILE_BLOCK_KINDS (PETAL_HFILE_BLOCK_DELETE_FAMILY_BLOOM_META + 1)

/* The last payload that the reader takes, whatever a codec adds to it. */
#define HFILE_MOST_PAYLOAD_BYTES (HFILE_MOST_BLOCK_BYTES / 8 * 7)

struct hfile_block_writer {
    petal_hfile_sink sink;
    struct hfile_codec codec;
    enum petal_hfile_checksum checksum;
    uint32_t bytes_per_checksum;
    uint64_t offset;                     /* of what is written next */
    uint64_t uncompressed_bytes;         /* as the trailer counts them */
    int64_t previous[HFILE_BLOCK_KINDS]; /* offset of the last block of each kind; -1: none */
    struct hfile_buffer stored;          /* a block, compressed */
};

/* Where a block was written. */
struct hfile_block_place {
    uint64_t offset;
    uint32_t stored_bytes;
};

/* `options` without defaults left open. */
void hfile_block_writer_init(struct hfile_block_writer *writer, const petal_hfile_sink *sink,
                             const petal_hfile_write_options *options);
void hfile_block_writer_free(struct hfile_block_writer *writer);

/* Begin a payload in `block`, whose first HFILE_BLOCK_HEADER_BYTES are left for the header. False:
 * there is no memory. */
bool hfile_block_begin(struct hfile_buffer *block);

/*
 * Write `block`, which hfile_block_begin or hfile_encoder_begin has begun; it is not to be used
 * afterwards, but to begin another. `place` may be NULL. PETAL_INVALID: it is too large.
 */
enum petal_status hfile_block_writer_write(struct hfile_block_writer *writer,
                                           enum petal_hfile_block_kind kind,
                                           struct hfile_buffer *block,
                                           struct hfile_block_place *place, petal_error *error);

/* Bytes that are no block. */
enum petal_status hfile_block_writer_put(struct hfile_block_writer *writer, petal_slice bytes,
                                         petal_error *error);

#endif
