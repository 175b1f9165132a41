/*
 * block_header.h -- the 33 bytes at the beginning of each block:
 *
 *     0   8  magic
 *     8   4  bytes after the header: stored payload and checksums
 *     12  4  bytes of the payload, uncompressed, still encoded
 *     16  8  offset of the block of the same kind before, -1 if there is none
 *     24  1  checksum type
 *     25  4  bytes per checksum
 *     29  4  bytes of header and stored payload
 */
#ifndef PETAL_HFILE_FORMAT_BLOCK_HEADER_H
#define PETAL_HFILE_FORMAT_BLOCK_HEADER_H

#include "tools/hfile/petal_hfile.h"

/*
 * All of `block` but its offset and checksum_is_right. False, with a fixed text in *wrong: it is no
 * header, or its sizes do not agree with each other.
 */
bool hfile_block_header_parse(const uint8_t *bytes, petal_hfile_block *block, const char **wrong);

/* Writes HFILE_BLOCK_HEADER_BYTES bytes. REQUIRES: stored_bytes is data_bytes and its checksums. */
void hfile_block_header_write(const petal_hfile_block *block, uint8_t *bytes);

#endif
