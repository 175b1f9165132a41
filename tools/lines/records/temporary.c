/* temporary.c -- see temporary.h. */
#include "tools/lines/records/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the file system has no files without names: one that loses its name at once. */
static int
open_unlinked(const char *directory)
{
    static const char name[] = "/kv-filter.XXXXXX";
    size_t size = strlen(directory) + sizeof name;
    char *path = malloc(size);
    int descriptor;

    if (path == NULL)
        return -1;
    (void)snprintf(path, size, "%s%s", directory, name);
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        (void)unlink(path);
    free(path);
    return descriptor;
}

int
temporary_open(struct job *job)
{
    int descriptor = open(job->temporary, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

    if (descriptor < 0)
        descriptor = open_unlinked(job->temporary);
    if (descriptor < 0)
        (void)job_fail(job, "cannot make a temporary file in %s: %s", job->temporary,
                       strerror(errno));
    return descriptor;
}

static bool
end_at_signal(struct job *job)
{
    return job_is_interrupted() && !job_fail(job, "interrupted at work on temporary files");
}

static bool
cannot_write(struct job *job)
{
    return job_fail(job, "cannot write a temporary file in %s: %s", job->temporary,
                    strerror(errno));
}

bool
temporary_resize(struct job *job, int descriptor, uint64_t size)
{
    return ftruncate(descriptor, (off_t)size) == 0 || cannot_write(job);
}

bool
temporary_write(struct job *job, int descriptor, const void *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t put = pwrite(descriptor, bytes, size, (off_t)offset);

        if (put < 0 && errno != EINTR)
            return cannot_write(job);
        if (end_at_signal(job))
            return false;
        if (put > 0) {
            bytes = (const char *)bytes + put;
            size -= (size_t)put;
            offset += (uint64_t)put;
        }
    }
    return true;
}

bool
temporary_read(struct job *job, int descriptor, void *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t got = pread(descriptor, bytes, size, (off_t)offset);

        if (got == 0 || (got < 0 && errno != EINTR))
            return job_fail(job, "cannot read a temporary file in %s: %s", job->temporary,
                            got == 0 ? "it was cut" : strerror(errno));
        if (end_at_signal(job))
            return false;
        if (got > 0) {
            bytes = (char *)bytes + got;
            size -= (size_t)got;
            offset += (uint64_t)got;
        }
    }
    return true;
}
