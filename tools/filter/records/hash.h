/* hash.h -- the hash of a record, under the salt of the job. */
#ifndef PETAL_TOOLS_FILTER_RECORDS_HASH_H
#define PETAL_TOOLS_FILTER_RECORDS_HASH_H

#include "tools/filter/job/job.h"

#include "engine/petal.h"

/* hashes[i] of records[i]. */
void hash_records(const struct job *job, const petal_slice *records, size_t count,
                  uint64_t *hashes);

#endif
