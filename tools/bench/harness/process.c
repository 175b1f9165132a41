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
