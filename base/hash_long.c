/*
 * hash_long.c -- see hash_long.h.  A file of its own, since it asks the library, whose header gives
 * a file either its functions or inlined ones.
 */
#include "base/hash_long.h"

#include <xxhash.h>

/*
 * The library's own function uses what every processor has, this one, which some builds of the
 * library have beside it, what the processor at hand has: of blocks it is several times as fast.
 * Its header promises that it is there, so it is asked for here, as something that may be missing.
 * It looks at the processor at the first call; threads that do so at once store the same.
 *
 * Linkers that leave out libraries which nobody needs count only what must not be missing: so the
 * other way has to be the library's function, or neither would be there.
 */
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__)
#define HAS_DISPATCH
__attribute__((weak)) XXH64_hash_t XXH3_64bits_withSeed_dispatch(const void *bytes, size_t size,
                                                                 XXH64_hash_t seed);
#endif

uint64_t
hash_long(const void *bytes, size_t size, uint64_t seed)
{
#ifdef HAS_DISPATCH
    if (XXH3_64bits_withSeed_dispatch != NULL)
        return XXH3_64bits_withSeed_dispatch(bytes, size, seed);
#endif
    return XXH3_64bits_withSeed(bytes, size, seed);
}
