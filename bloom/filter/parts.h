/*
 * parts.h -- filters of kind RIBBON: built once of all keys, and cut into PARTS by the hashes'
 * highest bits, each a filter of bloom/ribbon.h that is built separately, so that building takes
 * the memory of one part. A hash h is one of part h * parts / 2^64.
 *
 * Body of a file, and bytes in memory: the parts without their footers, one after the other; then
 * the footers. How long a part is follows from its footer. A question may read some bytes past a
 * part: they are the next one's, or footers.
 */
#ifndef PETAL_BLOOM_FILTER_PARTS_H
#define PETAL_BLOOM_FILTER_PARTS_H

#include "bloom/filter/kind.h"
#include "bloom/ribbon.h"

/* Keys of a part. From half as many on it takes about the fewest bits a key: with fewer the ends
 * count, with more the slots that no key needs. */
#define FILTER_PART_KEYS (UINT64_C(1) << 15)

/* A head's parameter: how many parts there are. */
#define FILTER_PARTS FILTER_OWN_PARAMETERS

static inline uint64_t
filter_part_of(uint64_t hash, uint64_t count)
{
    return (uint64_t)(((unsigned __int128)hash * count) >> 64);
}

/* How many parts so many keys are cut into. */
uint64_t filter_parts_for(uint64_t keys);

/* Make the filter of a body that was built in `body_memory` bytes, which it then owns. `like` has
 * what its head says. On an error the body stays the caller's. */
enum petal_status filter_parts_new(const petal_bloom *like, uint8_t *body, uint64_t body_bytes,
                                   uint64_t body_memory, uint64_t count, petal_bloom **bloom,
                                   petal_error *error);

#endif
