/* memory.h -- all memory of the library comes through these calls, from a petal_allocator. */
#ifndef PETAL_HFILE_FORMAT_MEMORY_H
#define PETAL_HFILE_FORMAT_MEMORY_H

#include "engine/petal.h"

/* malloc and free, aligned. */
extern const petal_allocator hfile_default_allocator;

/* Memory for any type, not initialised; NULL when there is none. size 0 counts as 1. */
void *hfile_allocate(const petal_allocator *allocator, size_t size);

/* The same, zeroed. */
void *hfile_allocate_zeroed(const petal_allocator *allocator, size_t size);

/* `size` is what was asked for. NULL memory: no-op. */
void hfile_release(const petal_allocator *allocator, void *memory, size_t size);

#endif
