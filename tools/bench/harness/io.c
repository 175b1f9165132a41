/* io.c -- see tools/bench/harness/io.h. */
#include "tools/bench/harness/io.h"

#include <stdio.h>

void
bench_io_get(struct bench_io *io)
{
    FILE *file = fopen("/proc/self/io", "r");
    unsigned long long bytes;
    char line[128];

    *io = (struct bench_io){0};
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "rchar: %llu", &bytes) == 1)
            io->read = bytes;
        else if (sscanf(line, "wchar: %llu", &bytes) == 1)
            io->written = bytes;
        else if (sscanf(line, "read_bytes: %llu", &bytes) == 1)
            io->device_read = bytes;
        else if (sscanf(line, "write_bytes: %llu", &bytes) == 1)
            io->device_written = bytes;
    }
    fclose(file);
}

struct bench_io
bench_io_between(const struct bench_io *before, const struct bench_io *after)
{
    return (struct bench_io){.written = after->written - before->written,
                             .read = after->read - before->read,
                             .device_written = after->device_written - before->device_written,
                             .device_read = after->device_read - before->device_read};
}

uint64_t
bench_io_written(const struct bench_io *io)
{
    return io->written > io->device_written ? io->written : io->device_written;
}

uint64_t
bench_io_read(const struct bench_io *io)
{
    return io->read > io->device_read ? io->read : io->device_read;
}
