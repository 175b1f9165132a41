/* process.c -- see tools/bench/harness/process.h. */
#include "tools/bench/harness/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number after `name` in a file of /proc; 0: there is none. */
static uint64_t
read_number(const char *path, const char *name)
{
    FILE *file = fopen(path, "r");
    size_t size = strlen(name);
    uint64_t number = 0;
    char line[256];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, size) == 0)
            number = strtoull(line + size, NULL, 10);
    }
    if (file != NULL)
        fclose(file);
    return number;
}

uint64_t
bench_resident_peak(void)
{
    return read_number("/proc/self/status", "VmHWM:") << 10;
}

void
bench_io_get(struct bench_io *io)
{
    io->read = read_number("/proc/self/io", "rchar:");
    io->written = read_number("/proc/self/io", "wchar:");
    io->device_read = read_number("/proc/self/io", "read_bytes:");
    io->device_written = read_number("/proc/self/io", "write_bytes:");
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
