/*
 * mem.h -- all memory of the library comes through these calls, from the allocator of the
 * petal_env.  So a caller can account for it, and a test can make the n-th call fail.
 */
#ifndef PETAL_BASE_MEM_H
#define PETAL_BASE_MEM_H

#include "engine/petal.h"

#define CACHE_LINE_BYTES 64

/* Aligned malloc and free.  What is aligned to 2 MiB and as large is backed by huge pages, where the system has them. */
extern const petal_allocator mem_default_allocator;

/* Memory for any type, uninitialised; NULL when there is none.  size > 0. */
void *mem_alloc(const petal_allocator *allocator, size_t size);

/* The same, zeroed. */
void *mem_zalloc(const petal_allocator *allocator, size_t size);

/* `alignment` is a power of two, at least sizeof(void *). */
void *mem_alloc_aligned(const petal_allocator *allocator, size_t alignment, size_t size);

/* `size` is what was asked for.  NULL memory: no-op. */
void mem_free(const petal_allocator *allocator, void *memory, size_t size);

/*
 * Make room for `need` elements of `element_size` in a growing array of *capacity elements
 * at *array, doubling, the first `used` kept.  False when there is no memory: array unchanged.
 */
bool mem_grow(const petal_allocator *allocator, void **array, size_t *capacity, size_t used,
              size_t need, size_t element_size);

#endif
