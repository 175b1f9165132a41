/*
 * trailer.h -- the last bytes of a store file: what it is, and where its roots and facts stand.
 *
 * TRAILER (little endian), TRAILER_BYTES long:
 *
 *     offset size
 *      0     8   checksum (base/checksum.h) of all that follows, for this identity and the
 *                trailer's offset
 *      8     8   file identity, random
 *     16     8   bytes of the whole file
 *     24     8   facts block: offset
 *     32     4                size with frame
 *     36     4   0
 *     40     8   root of the data index: offset
 *     48     4                           size with frame
 *     52     4   0
 *     56     8   root of the Bloom index: offset  } all 0 when there is no filter
 *     64     4                             size    }
 *     68     4   0
 *     72     8   shift, of a bulk's file: how much greater its cells' sequences are than those that
 *                stand in it, plus 1; 0: the file does not say
 *     80    32   0
 *    112     4   format version, 1
 *    116     4   0
 *    120     8   magic: 89 50 45 54 41 4C 53 46 ("\x89PETALSF")
 *
 * Version and magic stand at these distances from the file's end in every version.
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
