/* process.c -- see tools/bench/harness/process.h. */
#include "tools/bench/harness/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- files ---- */

typedef void visitor(const char *path, const struct stat *status, void *argument);

/* What goes meanwhile is passed by. */
static void
visit_files(const char *directory, visitor *visit, void *argument)
{
    DIR *list = opendir(directory);

    if (list == NULL)
        return;
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char path[1024];
        struct stat status;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (lstat(path, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            visit_files(path, visit, argument);
        else
            visit(path, &status, argument);
    }
    closedir(list);
}

static void
add_blocks(const char *path, const struct stat *status, void *bytes)
{
    (void)path;
    *(uint64_t *)bytes += (uint64_t)status->st_blocks * 512;
}

uint64_t
bench_disk_bytes(const char *directory)
{
    uint64_t bytes = 0;

    visit_files(directory, add_blocks, &bytes);
    return bytes;
}

/* Calls `piece` for each piece of the file that is not a hole: LMDB's is mostly holes. */
static void
visit_pieces(int file, void (*piece)(int file, off_t begin, off_t end, void *argument),
             void *argument)
{
    off_t end = 0;

    for (off_t begin = lseek(file, 0, SEEK_DATA); begin >= 0; begin = lseek(file, end, SEEK_DATA)) {
        end = lseek(file, begin, SEEK_HOLE);
        if (end <= begin)
            return;
        piece(file, begin, end, argument);
    }
}

static void
read_piece(int file, off_t begin, off_t end, void *argument)
{
    char buffer[1 << 16];
    ssize_t count = 1;

    (void)argument;
    for (off_t at = begin; at < end && count > 0; at += count)
        count = pread(file, buffer, sizeof buffer, at);
}

static void
read_file(const char *path, const struct stat *status, void *argument)
{
    int file = open(path, O_RDONLY);

    (void)status;
    if (file < 0)
        return;
    visit_pieces(file, read_piece, argument);
    close(file);
}

void
bench_read_files(const char *directory)
{
    visit_files(directory, read_file, NULL);
}

struct pages {
    uint64_t count, kept;
};

static void
count_pages(int file, off_t begin, off_t end, void *argument)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
    struct pages *pages = argument;
    unsigned char *kept;
    void *mapping;

    begin -= begin % (off_t)page;
    bytes = (size_t)(end - begin);
    kept = calloc(1, bytes / page + 1);
    mapping = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, begin);
    if (kept != NULL && mapping != MAP_FAILED && mincore(mapping, bytes, kept) == 0) {
        pages->count += (bytes + page - 1) / page;
        for (size_t i = 0; i < (bytes + page - 1) / page; i++)
            pages->kept += kept[i] & 1;
    }
    if (mapping != MAP_FAILED)
        munmap(mapping, bytes);
    free(kept);
}

static void
drop_file(const char *path, const struct stat *status, void *pages)
{
    int file = open(path, O_RDONLY);

    (void)status;
    if (file < 0)
        return;
    if (fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0)
        visit_pieces(file, count_pages, pages);
    close(file);
}

double
bench_drop_files(const char *directory)
{
    struct pages pages = {0};

    visit_files(directory, drop_file, &pages);
    return pages.count > 0 ? (double)pages.kept / (double)pages.count : 0;
}
