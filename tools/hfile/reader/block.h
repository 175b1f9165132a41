/*
 * block.h -- blocks of a file, read one after the other: verified and unpacked.
 *
 * Bytes are read through a window, which reaches beyond the block that is asked for when the caller
 * expects to go on there. A payload that is not compressed stays in the window; others are unpacked
 * next to it. No memory is taken for what a header claims before the file is known to have it.
 *
 * A reader of blocks belongs to one thread at a time.
 */
#ifndef PETAL_HFILE_READER_BLOCK_H
#define PETAL_HFILE_READER_BLOCK_H

#include "tools/hfile/format/codec.h"
#include "tools/hfile/reader/file.h"

struct hfile_block_reader {
    const petal_hfile *file;
    struct hfile_codec codec;
    struct hfile_buffer window;
    uint64_t window_offset;
    size_t read_ahead; /* bytes that are read at least, if there are as many */
    struct hfile_buffer unpacked;
};

struct hfile_block {
    petal_hfile_block header;
    petal_slice payload; /* good until the reader is used again */
};

void hfile_block_reader_init(struct hfile_block_reader *reader, const petal_hfile *file);
void hfile_block_reader_free(struct hfile_block_reader *reader);

/*
 * The header at `offset`, of a block that ends at or before `limit`, which lies in the file. Other
 * than with the others, a block's own bytes are not looked at.
 */
enum petal_status hfile_block_read_header(struct hfile_block_reader *reader, uint64_t offset,
                                          uint64_t limit, petal_hfile_block *header,
                                          petal_error *error);

/*
 * The block at `offset` as it is stored: the payload is that which the file has. Checksums are
 * compared, a wrong one is told in the header. stored_bytes 0: as the header says; else the block
 * has so many bytes, or is damaged.
 */
enum petal_status hfile_block_read_stored(struct hfile_block_reader *reader, uint64_t offset,
                                          uint32_t stored_bytes, uint64_t limit,
                                          struct hfile_block *block, petal_error *error);

/* The same, its payload unpacked; a wrong checksum is an error. */
enum petal_status hfile_block_read(struct hfile_block_reader *reader, uint64_t offset,
                                   uint32_t stored_bytes, uint64_t limit, struct hfile_block *block,
                                   petal_error *error);

/* The same, and it is of this kind. */
enum petal_status hfile_block_read_kind(struct hfile_block_reader *reader,
                                        enum petal_hfile_block_kind kind, uint64_t offset,
                                        uint32_t stored_bytes, uint64_t limit,
                                        struct hfile_block *block, petal_error *error);

#endif
