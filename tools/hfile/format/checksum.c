/*
 * checksum.c -- see checksum.h.
 */
#include "tools/hfile/format/checksum.h"

#include "tools/hfile/format/bytes.h"
#include "tools/hfile/format/format.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include <isa-l/crc.h>
#include <zlib.h>

uint32_t
hfile_checksum(enum petal_hfile_checksum kind, const void *bytes, size_t size)
{
    assert(size <= INT_MAX);
    if (kind == PETAL_HFILE_CHECKSUM_CRC32)
        return (uint32_t)crc32(0, bytes, (uInt)size);
    /* It does not write; its type is older than its manners. */
    return ~crc32_iscsi((unsigned char *)(uintptr_t)bytes, (int)size, ~0u);
}

uint64_t
hfile_checksums_size(uint64_t size, uint32_t bytes_per_checksum)
{
    assert(bytes_per_checksum > 0);
    return (size / bytes_per_checksum + (size % bytes_per_checksum != 0)) * HFILE_CHECKSUM_BYTES;
}

void
hfile_checksums_put(enum petal_hfile_checksum kind, uint32_t bytes_per_checksum, const void *bytes,
                    size_t size, uint8_t *checksums)
{
    const uint8_t *from = bytes;

    if (kind == PETAL_HFILE_CHECKSUM_NULL) {
        memset(checksums, 0, hfile_checksums_size(size, bytes_per_checksum));
        return;
    }
    while (size > 0) {
        size_t part = size < bytes_per_checksum ? size : bytes_per_checksum;

        hfile_put_u32(checksums, hfile_checksum(kind, from, part));
        from += part;
        size -= part;
        checksums += HFILE_CHECKSUM_BYTES;
    }
}

bool
hfile_checksums_are_right(enum petal_hfile_checksum kind, uint32_t bytes_per_checksum,
                          const void *bytes, size_t size, const uint8_t *checksums, uint64_t *wrong)
{
    const uint8_t *from = bytes;

    if (kind == PETAL_HFILE_CHECKSUM_NULL)
        return true;
    for (uint64_t number = 0; size > 0; number++) {
        size_t part = size < bytes_per_checksum ? size : bytes_per_checksum;

        if (hfile_checksum(kind, from, part) != hfile_get_u32(checksums)) {
            *wrong = number;
            return false;
        }
        from += part;
        size -= part;
        checksums += HFILE_CHECKSUM_BYTES;
    }
    return true;
}
