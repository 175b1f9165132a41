/* file_tail.c -- see sstable/file_tail.h. */
#include "sstable/file_tail.h"

#include "base/mem.h"

#include <assert.h>

/* How much of the end holds what opening needs, about: roots grow with the file up to a size. */
static size_t
guess(uint64_t file_bytes)
{
    uint64_t bytes = file_bytes / FILE_TAIL_SHARE;

    if (bytes < FILE_TAIL_LEAST_BYTES)
        bytes = FILE_TAIL_LEAST_BYTES;
    if (bytes > FILE_TAIL_MOST_BYTES)
        bytes = FILE_TAIL_MOST_BYTES;
    return (size_t)(bytes < file_bytes ? bytes : file_bytes);
}

enum petal_status
file_tail_read(struct file_tail *tail, const struct block_source *source, uint64_t file_bytes,
               petal_error *error)
{
    const petal_allocator *allocator = source->env->allocator;
    size_t size = guess(file_bytes);

    *tail = (struct file_tail){.begin = file_bytes - size, .size = size};
    if (size == 0)
        return PETAL_OK;
    assert(source->tail == NULL);
    tail->bytes = mem_alloc(allocator, size);
    if (tail->bytes == NULL)
        return error_no_memory(error);
    if (block_source_read(source, tail->begin, tail->bytes, size, NULL) != PETAL_OK)
        file_tail_free(tail, allocator);
    return PETAL_OK;
}

void
file_tail_free(struct file_tail *tail, const petal_allocator *allocator)
{
    mem_free(allocator, tail->bytes, tail->size);
    *tail = (struct file_tail){0};
}
