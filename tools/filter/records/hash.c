/* hash.c -- see hash.h. */
#include "tools/filter/records/hash.h"

#include "bloom/petal_bloom.h"

void
hash_records(const struct job *job, const petal_slice *records, size_t count, uint64_t *hashes)
{
    for (size_t i = 0; i < count; i++)
        hashes[i] = petal_bloom_hash(records[i], job->salt);
}
