/* process.h -- what this process uses: memory, processor time, disk. */
#ifndef PETAL_TOOLS_BENCH_HARNESS_PROCESS_H
#define PETAL_TOOLS_BENCH_HARNESS_PROCESS_H

#include <stdint.h>

struct bench_process {
    uint64_t resident, resident_peak;    /* bytes; 0 where /proc is not */
    double user_seconds, system_seconds; /* of processor time */
};

void bench_process_get(struct bench_process *process);

/* Let resident_peak begin anew; without effect where the kernel does not let us. */
void bench_process_reset_peak(void);

/* What the files below a directory take on the disk. */
uint64_t bench_disk_bytes(const char *directory);

#endif
