/*
 * process.h -- what this process uses: memory, processor time, disk, and what it moves to and from
 * files.
 *
 * Files that are written or read through a mapping have no calls: of them only what went to or came
 * from the device is counted, a page when it is made dirty, and when it is not in memory. Of one
 * that is in memory nothing is.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_PROCESS_H
#define PETAL_TOOLS_BENCH_HARNESS_PROCESS_H

#include <stdint.h>

/* The most memory that was resident, in bytes; 0 where /proc is not. */
uint64_t bench_resident_peak(void);

/* Bytes moved since the process began, as the kernel counts them; all 0 where /proc is not. */
struct bench_io {
    uint64_t written, read;               /* by calls, in memory or not */
    uint64_t device_written, device_read; /* a page counts when it is made dirty */
};

void bench_io_get(struct bench_io *io);

/* By calls or to the device, what is more: small synced writes cost the device whole pages,
 * mappings need no calls. */
uint64_t bench_io_written(const struct bench_io *io);
uint64_t bench_io_read(const struct bench_io *io);

/* Let bench_resident_peak() begin anew; without effect where the kernel does not let us. */
void bench_process_reset_peak(void);

/* What the files below a directory take on the disk. */
uint64_t bench_disk_bytes(const char *directory);

/* Have the files below a directory in the page cache. */
void bench_read_files(const char *directory);

/*
 * Have none of them there; the share of their pages that stayed, all of a file system that is
 * memory. Needs no privilege: what is not yet on the medium is synced first, and only these files
 * are dropped.
 */
double bench_drop_files(const char *directory);

#endif
