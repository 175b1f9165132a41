/*
 * file.h -- a petal_vfs with one directory of a few files that are read only: the fuzzer's input.
 */
#ifndef PETAL_TESTS_FUZZ_FILE_H
#define PETAL_TESTS_FUZZ_FILE_H

#include "base/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_MOST_FILES 4

struct fuzz_file {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};

struct fuzz_directory {
    struct fuzz_file files[FUZZ_MOST_FILES];
    size_t count;
};

static inline int
fuzz_open(void *context, petal_directory *directory, const char *name, unsigned flags,
          petal_file **file)
{
    struct fuzz_directory *all = context;

    (void)directory;
    if (flags != PETAL_FILE_READ)
        return EROFS;
    for (size_t i = 0; i < all->count; i++) {
        *file = (petal_file *)&all->files[i];
        if (strcmp(name, all->files[i].name) == 0)
            return 0;
    }
    return ENOENT;
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
    const struct fuzz_file *from = (const struct fuzz_file *)file;
    size_t left = offset < from->size ? from->size - (size_t)offset : 0;

    (void)context;
    *read_bytes = size < left ? size : left;
    if (*read_bytes > 0)
        memcpy(buffer, from->bytes + offset, *read_bytes);
    return 0;
}

/* A copy, so that who reads after its end is noticed. */
static inline int
fuzz_map(void *context, petal_file *file, uint64_t size, const void **memory)
{
    const struct fuzz_file *from = (const struct fuzz_file *)file;
    void *copy;

    (void)context;
    *memory = NULL;
    if (size == 0 || size > from->size)
        return EINVAL;
    copy = malloc((size_t)size);
    if (copy == NULL)
        return ENOMEM;
    *memory = memcpy(copy, from->bytes, (size_t)size);
    return 0;
}

static inline void
fuzz_unmap(void *context, const void *memory, uint64_t size)
{
    (void)context;
    (void)size;
    free((void *)(uintptr_t)memory);
}

static inline int
fuzz_size(void *context, petal_file *file, uint64_t *size)
{
    (void)context;
    *size = ((const struct fuzz_file *)file)->size;
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
    const struct fuzz_directory *all = context;

    (void)directory;
    for (size_t i = 0; i < all->count; i++)
        visit(argument, all->files[i].name);
    return 0;
}

static inline petal_vfs
fuzz_vfs(struct fuzz_directory *directory)
{
    return (petal_vfs){
        .context = directory,
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
