/* mem.c -- see mem.h. */
#include "base/mem.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/*
 * Who asks for memory on the border of a huge page wants huge pages: one entry of the processor's translation
 * cache then covers 2 MiB instead of 4 KiB.  Most systems give them only where they are asked for.  A refusal
 * costs speed, nothing else.
 */
static void
advise_huge_pages(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, size & ~(HUGE_PAGE_BYTES - 1), MADV_HUGEPAGE);
#else
    (void)memory;
    (void)size;
#endif
}

static void *
default_allocate(void *context, size_t alignment, size_t size)
{
    void *memory = NULL;

    (void)context;
    if (alignment <= alignof(max_align_t))
        return malloc(size);
    if (posix_memalign(&memory, alignment, size) != 0)
        return NULL;
    if (alignment >= HUGE_PAGE_BYTES && size >= HUGE_PAGE_BYTES)
        advise_huge_pages(memory, size);
    return memory;
}

static void
default_release(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

const petal_allocator mem_default_allocator = {NULL, default_allocate, default_release};

void *
mem_alloc_aligned(const petal_allocator *allocator, size_t alignment, size_t size)
{
    return allocator->allocate(allocator->context, alignment, size);
}

void *
mem_alloc(const petal_allocator *allocator, size_t size)
{
    return mem_alloc_aligned(allocator, alignof(max_align_t), size);
}

void *
mem_zalloc(const petal_allocator *allocator, size_t size)
{
    void *memory = mem_alloc(allocator, size);

    if (memory != NULL)
        memset(memory, 0, size);
    return memory;
}

void
mem_free(const petal_allocator *allocator, void *memory, size_t size)
{
    if (memory != NULL)
        allocator->release(allocator->context, memory, size);
}

bool
mem_grow_further(const petal_allocator *allocator, void **array, size_t *capacity, size_t used,
                 size_t need, size_t element_size)
{
    size_t grown = *capacity < 16 ? 16 : *capacity;
    void *memory;

    while (grown < need) {
        if (grown > SIZE_MAX / 2)
            return false;
        grown *= 2;
    }
    if (grown > SIZE_MAX / element_size)
        return false;
    memory = mem_alloc(allocator, grown * element_size);
    if (memory == NULL)
        return false;
    if (used > 0)
        memcpy(memory, *array, used * element_size);
    mem_free(allocator, *array, *capacity * element_size);
    *array = memory;
    *capacity = grown;
    return true;
}
