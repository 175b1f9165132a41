/*
 * file.h -- a petal_vfs with one directory that holds one read-only file: the fuzzer's input.
 *
 * Fuzzers are linked with the library alone, so this stands by itself.  Checksums would turn nearly
 * every input away: each fuzzer puts right ones into a copy of half of its inputs.
 */
#ifndef PETAL_TESTS_FUZZ_FILE_H
#define PETAL_TESTS_FUZZ_FILE_H

#include "base/env.h"

#include <errno.h>
#include <string.h>

struct fuzz_file {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};

static inline int
fuzz_open(void *context, petal_directory *directory, const char *name, unsigned flags,
          petal_file **file)
{
    const struct fuzz_file *only = context;

    (void)directory;
    if (flags != PETAL_FILE_READ)
        return EROFS;
    *file = context;
    return strcmp(name, only->name) == 0 ? 0 : ENOENT;
}

static inline int
fuzz_close(void *context, petal_file *file)
{
    (void)context;
    (void)file;
    return 0;
}

static inline int
fuzz_read_at(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
             size_t *read_bytes)
{
    const struct fuzz_file *only = context;
    size_t left = offset < only->size ? only->size - (size_t)offset : 0;

    (void)file;
    *read_bytes = size < left ? size : left;
    if (*read_bytes > 0)
        memcpy(buffer, only->bytes + offset, *read_bytes);
    return 0;
}

static inline int
fuzz_size(void *context, petal_file *file, uint64_t *size)
{
    (void)file;
    *size = ((const struct fuzz_file *)context)->size;
    return 0;
}

static inline int
fuzz_open_directory(void *context, const char *path, bool create, petal_directory **directory)
{
    (void)path;
    (void)create;
    *directory = context;
    return 0;
}

static inline void
fuzz_close_directory(void *context, petal_directory *directory)
{
    (void)context;
    (void)directory;
}

static inline int
fuzz_list_directory(void *context, petal_directory *directory,
                    void (*visit)(void *argument, const char *name), void *argument)
{
    (void)directory;
    visit(argument, ((const struct fuzz_file *)context)->name);
    return 0;
}

static inline petal_vfs
fuzz_vfs(struct fuzz_file *file)
{
    return (petal_vfs){
        .context = file,
        .open_directory = fuzz_open_directory,
        .close_directory = fuzz_close_directory,
        .open = fuzz_open,
        .close = fuzz_close,
        .read_at = fuzz_read_at,
        .size = fuzz_size,
        .list_directory = fuzz_list_directory,
    };
}

#endif
