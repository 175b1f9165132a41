/* hash.c -- see hash.h. */
#include "tools/filter/records/hash.h"

#include <xxhash.h>

void
hash_records(const struct job *job, const petal_slice *records, size_t count, uint64_t *hashes)
{
    for (size_t i = 0; i < count; i++)
        hashes[i] = XXH3_64bits_withSeed(records[i].data, records[i].size, job->salt);
}
