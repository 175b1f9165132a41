/*
 * mend.h -- right checksums for the blocks of bytes that are to pass for an HFile: without them
 * nearly every change would be found at once, and nothing after the checksums would be tried.
 */
#ifndef PETAL_TESTS_HFILE_MEND_H
#define PETAL_TESTS_HFILE_MEND_H

#include "tools/hfile/format/bytes.h"
#include "tools/hfile/format/checksum.h"
#include "tools/hfile/format/format.h"

/* The checksums of the block at `bytes`, and its size without header; returns the bytes that it
 * takes, 0: it is none, or has no room. */
static inline size_t
mend_hfile_block(uint8_t *bytes, size_t available)
{
    uint32_t data_bytes, bytes_per_checksum;
    uint64_t checksums;

    if (available < HFILE_BLOCK_HEADER_BYTES || bytes[24] > HFILE_CHECKSUM_NUMBER_CRC32C)
        return 0;
    bytes_per_checksum = hfile_get_u32(bytes + 25);
    data_bytes = hfile_get_u32(bytes + 29);
    if (data_bytes < HFILE_BLOCK_HEADER_BYTES || data_bytes > available ||
        bytes_per_checksum < HFILE_LEAST_BYTES_PER_CHECKSUM)
        return 0;
    checksums = hfile_checksums_size(data_bytes, bytes_per_checksum);
    if (checksums > available - data_bytes)
        return 0;
    hfile_put_u32(bytes + 8, (uint32_t)(data_bytes - HFILE_BLOCK_HEADER_BYTES + checksums));
    hfile_checksums_put((enum petal_hfile_checksum)(bytes[24] + 1), bytes_per_checksum, bytes,
                        data_bytes, bytes + data_bytes);
    return data_bytes + (size_t)checksums;
}

/* All blocks, from the first on, up to one that is none. */
static inline void
mend_hfile(uint8_t *bytes, size_t size)
{
    size_t end = size < HFILE_TRAILER_BYTES ? 0 : size - HFILE_TRAILER_BYTES;

    for (size_t at = 0, taken; at < end; at += taken) {
        taken = mend_hfile_block(bytes + at, end - at);
        if (taken == 0)
            return;
    }
}

#endif
