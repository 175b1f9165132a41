/* memory.c -- see memory.h. */
#include "tools/hfile/format/memory.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static void *
default_allocate(void *context, size_t alignment, size_t size)
{
    (void)context;
    assert(alignment <= alignof(max_align_t));
    (void)alignment;
    return malloc(size);
}

static void
default_release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

const petal_allocator hfile_default_allocator = {NULL, default_allocate, default_release};

static size_t
least_one(size_t size)
{
    return size == 0 ? 1 : size;
}

void *
hfile_allocate(const petal_allocator *allocator, size_t size)
{
    return allocator->allocate(allocator->context, alignof(max_align_t), least_one(size));
}

void *
hfile_allocate_zeroed(const petal_allocator *allocator, size_t size)
{
    void *memory = hfile_allocate(allocator, size);

    if (memory != NULL)
        memset(memory, 0, size);
    return memory;
}

void
hfile_release(const petal_allocator *allocator, void *memory, size_t size)
{
    if (memory != NULL)
        allocator->release(allocator->context, memory, least_one(size));
}
