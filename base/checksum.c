/* checksum.c -- see checksum.h. */
#include "base/checksum.h"

#include "base/hash_long.h"

/* The short inputs of records in a log are hashed in line. */
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Up to here the hash takes the same way on every processor. */
#define SHORT_BYTES 240

uint64_t
checksum_at(uint64_t file_identity, uint64_t offset, const void *bytes, size_t size)
{
    /* Multiplying by an odd constant keeps different offsets of one file at different seeds. */
    XXH64_hash_t seed = file_identity ^ (offset * 0x9E3779B97F4A7C15u);

    return size <= SHORT_BYTES ? XXH3_64bits_withSeed(bytes, size, seed)
                               : hash_long(bytes, size, seed);
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct checksum_stream), "room for the state");
_Static_assert(alignof(XXH3_state_t) <= alignof(struct checksum_stream), "its border");

void
checksum_begin(struct checksum_stream *stream)
{
    XXH3_INITSTATE((XXH3_state_t *)stream->state);
    (void)XXH3_64bits_reset((XXH3_state_t *)stream->state); /* fails for NULL alone */
}

void
checksum_update(struct checksum_stream *stream, const void *bytes, size_t size)
{
    if (size > 0)
        (void)XXH3_64bits_update((XXH3_state_t *)stream->state, bytes, size);
}

uint64_t
checksum_end(const struct checksum_stream *stream)
{
    return XXH3_64bits_digest((const XXH3_state_t *)stream->state);
}
