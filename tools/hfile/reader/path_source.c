/* path_source.c -- see path_source.h. */
#include "tools/hfile/reader/path_source.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct path_source {
    const petal_allocator *allocator;
    size_t bytes; /* of this struct and its name */
    int descriptor;
    char name[];
};

static enum petal_status
read_at(void *context, uint64_t offset, void *buffer, size_t size, petal_error *error)
{
    const struct path_source *source = context;
    uint8_t *to = buffer;

    while (size > 0) {
        ssize_t got = pread(source->descriptor, to, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return hfile_error_io(error, source->name, errno, "read");
        if (got == 0)
            return hfile_error_corrupt(error, source->name, offset,
                                       "the file has become shorter while it is read");
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return PETAL_OK;
}

static void
close_source(void *context)
{
    struct path_source *source = context;

    close(source->descriptor);
    hfile_release(source->allocator, source, source->bytes);
}

/* What is not a plain file has no size, and reading it might wait for ever. */
static enum petal_status
open_plain_file(const char *path, int *descriptor, uint64_t *size, petal_error *error)
{
    struct stat facts;

    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*descriptor < 0)
        return hfile_error_io(error, path, errno, "open");
    if (fstat(*descriptor, &facts) != 0) {
        int reason = errno;

        close(*descriptor);
        return hfile_error_io(error, path, reason, "look at");
    }
    if (!S_ISREG(facts.st_mode)) {
        close(*descriptor);
        return hfile_error_set(error, PETAL_INVALID, path, "%s is not a file", path);
    }
    *size = (uint64_t)facts.st_size;
    return PETAL_OK;
}

enum petal_status
hfile_path_source_open(const char *path, const petal_allocator *allocator,
                       petal_hfile_source *source, petal_error *error)
{
    size_t name_bytes = strlen(path) + 1, bytes = sizeof(struct path_source) + name_bytes;
    struct path_source *made;
    enum petal_status status;
    uint64_t size = 0;
    int descriptor;

    status = open_plain_file(path, &descriptor, &size, error);
    if (status != PETAL_OK)
        return status;
    made = hfile_allocate(allocator, bytes);
    if (made == NULL) {
        close(descriptor);
        return hfile_error_no_memory(error);
    }
    made->allocator = allocator;
    made->bytes = bytes;
    made->descriptor = descriptor;
    memcpy(made->name, path, name_bytes);
    *source = (petal_hfile_source){.context = made,
                                   .name = made->name,
                                   .size = size,
                                   .read_at = read_at,
                                   .close = close_source};
    return PETAL_OK;
}
