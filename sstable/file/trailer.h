/*
 * trailer.h -- the last bytes of a store file: what it is, and where its roots and facts stand:
 * sstable/FORMAT.md, "Trailer".
 */
#ifndef PETAL_SSTABLE_FILE_TRAILER_H
#define PETAL_SSTABLE_FILE_TRAILER_H

#include "sstable/block/block_io.h"

#define TRAILER_BYTES      128
#define SST_FORMAT_VERSION 1

struct trailer {
    uint64_t file_identity;
    uint64_t file_bytes;
    struct block_handle facts, data_root, bloom_root; /* bloom_root.size 0: no filter */
    uint64_t stated_shift; /* of its sequences, plus 1; 0: the file does not say */
};

void trailer_encode(const struct trailer *trailer, uint8_t bytes[TRAILER_BYTES]);

/* The trailer of a file of `file_bytes` bytes, any number.  PETAL_CORRUPT, PETAL_UNSUPPORTED for a
 * newer version, or as block_source_read fails. */
enum petal_status trailer_read(struct trailer *trailer, const struct block_source *source,
                               uint64_t file_bytes, petal_error *error);

/* Is it that of the file expected (0: of any)?  PETAL_CORRUPT. */
enum petal_status trailer_check_identity(const struct trailer *trailer, uint64_t expected,
                                         const char *path, petal_error *error);

/* `bytes` are the last of a file of `file_bytes` bytes.  PETAL_UNSUPPORTED for a newer version. */
enum petal_status trailer_decode(struct trailer *trailer, const uint8_t bytes[TRAILER_BYTES],
                                 uint64_t file_bytes, const char *path, petal_error *error);

#endif
