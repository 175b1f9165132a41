/* spool.c -- see spool.h. */
#include "tools/filter/records/spool.h"

#include "tools/filter/records/temporary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 256 << 10 };

bool
spool_open(struct spool *spool, struct job *job)
{
    *spool = (struct spool){.job = job, .capacity = job->memory_bytes / 64};
    if (spool->capacity > BUFFER)
        spool->capacity = BUFFER;
    spool->descriptor = temporary_open(job);
    if (spool->descriptor < 0)
        return false;
    spool->buffer = malloc(spool->capacity);
    if (spool->buffer != NULL)
        return true;
    spool_close(spool);
    return job_fail(job, "out of memory: no buffer for a temporary file");
}

void
spool_close(struct spool *spool)
{
    if (spool->descriptor >= 0)
        (void)close(spool->descriptor);
    free(spool->buffer);
    spool->descriptor = -1;
    spool->buffer = NULL;
}

static bool
put(struct spool *spool, const char *bytes, size_t size)
{
    uint64_t at = spool->bytes;

    spool->bytes += size;
    return temporary_write(spool->job, spool->descriptor, bytes, size, at);
}

bool
spool_put(struct spool *spool, const char *bytes, size_t size)
{
    if (size > spool->capacity - spool->used && !spool_seal(spool))
        return false;
    if (size > spool->capacity)
        return put(spool, bytes, size);
    memcpy(spool->buffer + spool->used, bytes, size);
    spool->used += size;
    return true;
}

bool
spool_seal(struct spool *spool)
{
    size_t size = spool->used;

    spool->used = 0;
    return put(spool, spool->buffer, size);
}
