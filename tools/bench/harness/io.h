/*
 * io.h -- what this process moves to and from files, as the kernel counts it (/proc/self/io).
 *
 * Files that are written or read through a mapping have no calls: of them only what went to or came from the device is counted, a page
 * when it is made dirty, and when it is not in memory. Of one that is in memory nothing is.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_IO_H
#define PETAL_TOOLS_BENCH_HARNESS_IO_H

#include <stdint.h>

/* Bytes since the process began; all 0 where /proc is not. */
struct bench_io {
    uint64_t written, read;               /* by calls, in memory or not */
    uint64_t device_written, device_read; /* a page counts when it is made dirty */
};

void bench_io_get(struct bench_io *io);

/* What was moved between two moments. */
struct bench_io bench_io_between(const struct bench_io *before, const struct bench_io *after);

/* By calls or to the device, what is more: small synced writes cost the device whole pages, mappings need no calls. */
uint64_t bench_io_written(const struct bench_io *io);
uint64_t bench_io_read(const struct bench_io *io);

#endif
