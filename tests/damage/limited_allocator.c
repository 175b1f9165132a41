/* limited_allocator.c -- see limited_allocator.h. */
#include "tests/damage/limited_allocator.h"

#include <stdlib.h>

#define PLAIN_ALIGNMENT 16

static bool
take(struct limited_allocator *allocator, size_t size)
{
    uint64_t bytes = atomic_fetch_add(&allocator->bytes, size) + size;
    uint64_t peak = atomic_load(&allocator->peak);

    if (size > allocator->limit || bytes > allocator->limit) {
        atomic_fetch_sub(&allocator->bytes, size);
        atomic_fetch_add(&allocator->refused, 1);
        return false;
    }
    while (bytes > peak && !atomic_compare_exchange_weak(&allocator->peak, &peak, bytes))
        ;
    atomic_fetch_add(&allocator->blocks, 1);
    return true;
}

static void
give_back(struct limited_allocator *allocator, size_t size)
{
    atomic_fetch_sub(&allocator->bytes, size);
    atomic_fetch_sub(&allocator->blocks, 1);
}

static void *
limited_allocate(void *context, size_t alignment, size_t size)
{
    void *memory;

    if (!take(context, size))
        return NULL;
    memory = alignment <= PLAIN_ALIGNMENT
                 ? malloc(size)
                 : aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
    if (memory == NULL)
        give_back(context, size);
    return memory;
}

static void
limited_release(void *context, void *memory, size_t size)
{
    if (memory == NULL)
        return;
    give_back(context, size);
    free(memory);
}

void
limited_allocator_init(struct limited_allocator *allocator, uint64_t limit)
{
    allocator->table = (petal_allocator){allocator, limited_allocate, limited_release};
    allocator->limit = limit;
    atomic_init(&allocator->bytes, 0);
    atomic_init(&allocator->blocks, 0);
    atomic_init(&allocator->peak, 0);
    atomic_init(&allocator->refused, 0);
}
