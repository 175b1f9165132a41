/*
 * checksum.h -- checksums of blocks: one of 4 bytes, big-endian, for every `bytes_per_checksum`
 * bytes of header and stored payload, the last of what is left. Under NULL they are there as zeros.
 */
#ifndef PETAL_HFILE_FORMAT_CHECKSUM_H
#define PETAL_HFILE_FORMAT_CHECKSUM_H

#include "tools/hfile/petal_hfile.h"

/* Of all the bytes; CRC32 or CRC32C. */
uint32_t hfile_checksum(enum petal_hfile_checksum kind, const void *bytes, size_t size);

/* Bytes of the checksums of `size` bytes. REQUIRES: bytes_per_checksum > 0. */
uint64_t hfile_checksums_size(uint64_t size, uint32_t bytes_per_checksum);

/* Write the checksums of `size` bytes to `checksums`, which has room for hfile_checksums_size. */
void hfile_checksums_put(enum petal_hfile_checksum kind, uint32_t bytes_per_checksum,
                         const void *bytes, size_t size, uint8_t *checksums);

/* Are these the checksums? True under NULL, whatever stands there. *wrong receives the number of
 * the first that is none. */
bool hfile_checksums_are_right(enum petal_hfile_checksum kind, uint32_t bytes_per_checksum,
                               const void *bytes, size_t size, const uint8_t *checksums,
                               uint64_t *wrong);

#endif
