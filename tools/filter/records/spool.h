/* spool.h -- records of a stream that will be read again, in a temporary file. */
#ifndef PETAL_TOOLS_FILTER_RECORDS_SPOOL_H
#define PETAL_TOOLS_FILTER_RECORDS_SPOOL_H

#include "tools/filter/job/job.h"

#include "engine/petal.h"

struct spool {
    struct job *job;
    int descriptor; /* -1: it is closed */
    uint64_t bytes; /* in the file */
    char *buffer;
    size_t capacity, used;
};

bool spool_open(struct spool *spool, struct job *job);
void spool_close(struct spool *spool);

/* Records one behind the other, with their delimiters. */
bool spool_put(struct spool *spool, const char *bytes, size_t size);

/* All is put: the file has `bytes` bytes from its beginning on. */
bool spool_seal(struct spool *spool);

#endif
