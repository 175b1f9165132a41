/* mem.c -- see mem.h. */
#include "base/mem.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define MAP_BYTES       ((size_t)128 << 10)

/*
 * Who asks for memory on the border of a huge page wants huge pages: one entry of the processor's
 * translation cache then covers 2 MiB instead of 4 KiB.  Most systems give them only where they are
 * asked for.  A refusal costs speed, nothing else.
 */
static void
advise_huge_pages(void *memory, size_t size, bool wanted)
{
#if defined(MADV_HUGEPAGE) && defined(MADV_NOHUGEPAGE)
    (void)madvise(memory, size & ~(HUGE_PAGE_BYTES - 1), wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
    (void)memory;
    (void)size;
    (void)wanted;
#endif
}

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* Zeroed pages; NULL when there are none. `alignment` above that of pages costs nothing but
 * addresses. `flags`: of mmap, besides. */
static void *
map(size_t alignment, size_t size, int flags)
{
    size_t extra = alignment > MEM_PAGE_BYTES ? alignment : 0, before;
    uint8_t *memory;

    assert(size % MEM_PAGE_BYTES == 0);
    if (size > SIZE_MAX / 2 || extra > SIZE_MAX / 4)
        return NULL;
    memory = mmap(NULL, size + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
                  -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (extra == 0)
        return memory;
    before = (size_t)(-(uintptr_t)memory & (alignment - 1));
    if (before > 0)
        (void)munmap(memory, before);
    if (extra > before)
        (void)munmap(memory + before + size, extra - before);
    return memory + before;
}

static void
unmap(void *memory, size_t size)
{
    /* It fails when the system keeps too many mappings to split one: then at least the memory
     * goes. */
    if (munmap(memory, size) != 0)
        (void)madvise(memory, size, MADV_DONTNEED);
}

static size_t
whole_pages(size_t size)
{
    return (size + MEM_PAGE_BYTES - 1) & ~(size_t)(MEM_PAGE_BYTES - 1);
}

static void *
default_allocate(void *context, size_t alignment, size_t size)
{
    void *memory = NULL;

    (void)context;
    if (size >= MAP_BYTES && size <= SIZE_MAX / 2) {
        memory = map(alignment, whole_pages(size), 0);
        if (memory != NULL && alignment >= HUGE_PAGE_BYTES && size >= HUGE_PAGE_BYTES)
            advise_huge_pages(memory, size, true);
        return memory;
    }
    if (alignment <= alignof(max_align_t))
        return malloc(size);
    return posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void
default_release(void *context, void *memory, size_t size)
{
    (void)context;
    if (size >= MAP_BYTES && size <= SIZE_MAX / 2)
        unmap(memory, whole_pages(size));
    else
        free(memory);
}

const petal_allocator mem_default_allocator = {NULL, default_allocate, default_release};

void *
mem_alloc_aligned(const petal_allocator *allocator, size_t alignment, size_t size)
{
    assert(alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0);
    assert(size > 0);
    return allocator->allocate(allocator->context, alignment, size);
}

void *
mem_alloc(const petal_allocator *allocator, size_t size)
{
    return mem_alloc_aligned(allocator, alignof(max_align_t), size);
}

static bool
is_default(const petal_allocator *allocator)
{
    return allocator->allocate == default_allocate;
}

void *
mem_zalloc_aligned(const petal_allocator *allocator, size_t alignment, size_t size)
{
    void *memory;

    /* More than the machine has may be asked for, of which little is used. */
    if (is_default(allocator) && size >= MAP_BYTES && size <= SIZE_MAX / 2)
        return map(alignment, whole_pages(size), MAP_NORESERVE);
    memory = mem_alloc_aligned(allocator, alignment, size);
    if (memory != NULL)
        memset(memory, 0, size);
    return memory;
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

void *
mem_alloc_pages(const petal_allocator *allocator, size_t size)
{
    void *memory;

    assert(size > 0 && size % MEM_PAGE_BYTES == 0);
    if (!is_default(allocator))
        return mem_alloc_aligned(allocator, CACHE_LINE_BYTES, size);
    memory = map(MEM_PAGE_BYTES, size, 0);
#ifdef MADV_NOHUGEPAGE
    /* Else the system may make a huge page of what lies beside each other, of which no part goes
     * back alone. */
    if (memory != NULL)
        (void)madvise(memory, size, MADV_NOHUGEPAGE);
#endif
    return memory;
}

void
mem_free_pages(const petal_allocator *allocator, void *memory, size_t size)
{
    assert(memory != NULL && size > 0 && size % MEM_PAGE_BYTES == 0);
    if (is_default(allocator))
        unmap(memory, size);
    else
        mem_free(allocator, memory, size);
}

bool
mem_is_discardable(const petal_allocator *allocator)
{
    return is_default(allocator);
}

bool
mem_discard_pages(const petal_allocator *allocator, void *memory, size_t size)
{
    assert(size % MEM_PAGE_BYTES == 0);
    return is_default(allocator) && madvise(memory, size, MADV_DONTNEED) == 0;
}

void
mem_advise_huge_pages(const petal_allocator *allocator, void *memory, size_t size, bool wanted)
{
    assert((uintptr_t)memory % HUGE_PAGE_BYTES == 0);
    if (is_default(allocator))
        advise_huge_pages(memory, size, wanted);
}

bool
mem_grow_further(const petal_allocator *allocator, void **array, size_t *capacity, size_t used,
                 size_t need, size_t element_size)
{
    size_t grown = *capacity < 16 ? 16 : *capacity;
    void *memory;

    assert(need > *capacity && used <= *capacity && element_size > 0);
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
