/* process.c -- see tools/bench/harness/process.h. */
#include "tools/bench/harness/process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static double
seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

void
bench_process_get(struct bench_process *process)
{
    FILE *status = fopen("/proc/self/status", "r");
    struct rusage usage;
    unsigned long long kib;
    char line[256];

    *process = (struct bench_process){0};
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "VmRSS: %llu", &kib) == 1)
            process->resident = kib << 10;
        else if (sscanf(line, "VmHWM: %llu", &kib) == 1)
            process->resident_peak = kib << 10;
    }
    if (status != NULL)
        fclose(status);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        process->user_seconds = seconds(&usage.ru_utime);
        process->system_seconds = seconds(&usage.ru_stime);
    }
}

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

void
bench_process_reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file == NULL)
        return;
    fputs("5", file);
    fclose(file);
}

uint64_t
bench_disk_bytes(const char *directory)
{
    DIR *list = opendir(directory);
    uint64_t bytes = 0;

    if (list == NULL)
        return 0;
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char path[1024];
        struct stat status;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (lstat(path, &status) != 0)
            continue; /* it went meanwhile */
        bytes +=
            S_ISDIR(status.st_mode) ? bench_disk_bytes(path) : (uint64_t)status.st_blocks * 512;
    }
    closedir(list);
    return bytes;
}
