/* checksum.c -- see checksum.h. */
#include "base/checksum.h"

#include <xxhash.h>

uint64_t
checksum_at(uint64_t file_identity, uint64_t offset, const void *bytes, size_t size)
{
    /* Multiplying by an odd constant keeps different offsets of one file at different seeds. */
    return XXH3_64bits_withSeed(bytes, size, file_identity ^ (offset * 0x9E3779B97F4A7C15u));
}
