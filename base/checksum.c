/* checksum.c -- see checksum.h. */
#include "base/checksum.h"

#include "base/inline.h"

/* The short inputs of records in a log are hashed in line. */
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Up to here the hash takes the same way on every processor. */
#define SHORT_BYTES 240

/*
 * Of more than that the library's own function uses what every processor has, this one, which some
 * builds of the library have beside it, what the processor at hand has: of blocks it is several
 * times as fast.  Its header promises that it is there, so it is asked for here, as something that
 * may be missing.  It looks at the processor at the first call; threads that do so at once store
 * the same.
 */
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__)
#define HAS_DISPATCH
__attribute__((weak)) XXH64_hash_t XXH3_64bits_withSeed_dispatch(const void *bytes, size_t size,
                                                                 XXH64_hash_t seed);
#endif

static NEVER_INLINE XXH64_hash_t
hash_long(const void *bytes, size_t size, XXH64_hash_t seed)
{
#ifdef HAS_DISPATCH
    if (XXH3_64bits_withSeed_dispatch != NULL)
        return XXH3_64bits_withSeed_dispatch(bytes, size, seed);
#endif
    return XXH3_64bits_withSeed(bytes, size, seed);
}

uint64_t
checksum_at(uint64_t file_identity, uint64_t offset, const void *bytes, size_t size)
{
    /* Multiplying by an odd constant keeps different offsets of one file at different seeds. */
    XXH64_hash_t seed = file_identity ^ (offset * 0x9E3779B97F4A7C15u);

    return size <= SHORT_BYTES ? XXH3_64bits_withSeed(bytes, size, seed)
                               : hash_long(bytes, size, seed);
}
