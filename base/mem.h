/*
 * mem.h -- all memory of the library comes through these calls, from the allocator of the
 * petal_env.  So a caller can account for it, and a test can make the n-th call fail.
 */
#ifndef PETAL_BASE_MEM_H
#define PETAL_BASE_MEM_H

#include "engine/petal.h"

#include <string.h>

#define CACHE_LINE_BYTES 64

/*
 * Begin to load so many cache lines from `memory` on, which may be any address.  Inlined in any
 * case: GCC takes a function that does nothing else for one without effects, and drops its calls.
 */
#if defined(__GNUC__)
__attribute__((always_inline))
#endif
static inline void
mem_prefetch(const void *memory, unsigned lines)
{
#if defined(__GNUC__)
#if !defined(__clang__) /* which does so by itself */
#pragma GCC unroll 16
#endif
    for (unsigned line = 0; line < lines; line++)
        __builtin_prefetch((const void *)((uintptr_t)memory + line * CACHE_LINE_BYTES));
#else
    (void)memory;
    (void)lines;
#endif
}

/* Aligned malloc and free; from 128 KiB on pages of their own, which go back to the system at
 * once.  What is aligned to 2 MiB and as large is backed by huge pages, where the system has
 * them. */
extern const petal_allocator mem_default_allocator;

/* Memory for any type, uninitialised; NULL when there is none.  size > 0. */
void *mem_alloc(const petal_allocator *allocator, size_t size);

/* The same, zeroed. */
void *mem_zalloc(const petal_allocator *allocator, size_t size);

/* `alignment` is a power of two, at least sizeof(void *). */
void *mem_alloc_aligned(const petal_allocator *allocator, size_t alignment, size_t size);

/* The same, zeroed. Of the default allocator, from 128 KiB on, it is not touched: what is never
 * written to takes no memory from the system. */
void *mem_zalloc_aligned(const petal_allocator *allocator, size_t alignment, size_t size);

/* `size` is what was asked for.  NULL memory: no-op. */
void mem_free(const petal_allocator *allocator, void *memory, size_t size);

/*
 * Whole pages: memory that is taken and given back all the time in sizes that differ a little, of
 * which malloc would keep much more than is in use.  `size` is a multiple of MEM_PAGE_BYTES.  On a
 * cache line's border at least.
 */
#define MEM_PAGE_BYTES 4096
void *mem_alloc_pages(const petal_allocator *allocator, size_t size);
void mem_free_pages(const petal_allocator *allocator, void *memory, size_t size);

/* Give the memory behind pages back but keep their place: what is stored there next takes memory
 * anew.  False: the allocator (see mem_is_discardable) or the system cannot; nothing was done. */
bool mem_is_discardable(const petal_allocator *allocator);
bool mem_discard_pages(const petal_allocator *allocator, void *memory, size_t size);

/* For memory of mem_alloc_aligned on the border of a huge page: are huge pages wanted after it?
 * It begins so.  Another allocator is not told. */
void mem_advise_huge_pages(const petal_allocator *allocator, void *memory, size_t size,
                           bool wanted);

/* The part of mem_grow that allocates.  REQUIRES: need > *capacity. */
bool mem_grow_further(const petal_allocator *allocator, void **array, size_t *capacity, size_t used,
                      size_t need, size_t element_size);

/*
 * Make room for `need` elements of `element_size` in a growing array of *capacity elements
 * at *array, doubling, the first `used` kept.  False when there is no memory: array unchanged.
 */
static inline bool
mem_grow(const petal_allocator *allocator, void **array, size_t *capacity, size_t used, size_t need,
         size_t element_size)
{
    return need <= *capacity ||
           mem_grow_further(allocator, array, capacity, used, need, element_size);
}

/* The same, given the address of the pointer to the array, whatever its type. */
static inline bool
mem_grow_array(const petal_allocator *allocator, void *array_address, size_t *capacity, size_t used,
               size_t need, size_t element_size)
{
    void *array;
    bool grown;

    if (need <= *capacity)
        return true;
    memcpy(&array, array_address, sizeof array);
    grown = mem_grow_further(allocator, &array, capacity, used, need, element_size);
    if (grown)
        memcpy(array_address, &array, sizeof array);
    return grown;
}

/* memcpy of what is mostly short, without a call up to 32 bytes. */
static inline void
mem_copy_short(void *to, const void *from, size_t size)
{
    uint8_t *target = to;
    const uint8_t *source = from;

    if (size > 32) {
        memcpy(to, from, size);
    } else if (size >= 16) { /* the halves may overlap */
        memcpy(target, source, 16);
        memcpy(target + size - 16, source + size - 16, 16);
    } else if (size >= 8) {
        memcpy(target, source, 8);
        memcpy(target + size - 8, source + size - 8, 8);
    } else {
        for (; size > 0; size--)
            target[size - 1] = source[size - 1];
    }
}

#endif
