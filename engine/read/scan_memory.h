/*
 * scan_memory.h -- the one allocation that a cursor and what it has of each store and each source
 * lie in. How much there is to be is known when the view is; parts are taken from it in turn, not
 * zeroed, and go with it. Belongs to one thread.
 */
#ifndef PETAL_ENGINE_READ_SCAN_MEMORY_H
#define PETAL_ENGINE_READ_SCAN_MEMORY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define SCAN_MEMORY_ALIGNMENT _Alignof(max_align_t)

struct scan_memory {
    uint8_t *next, *end;
};

/* What `count` elements of `size` bytes take. */
static inline size_t
scan_memory_bytes(size_t count, size_t size)
{
    return (count * size + SCAN_MEMORY_ALIGNMENT - 1) & ~(SCAN_MEMORY_ALIGNMENT - 1);
}

/* REQUIRES: so many were counted in. */
static inline void *
scan_memory_take(struct scan_memory *memory, size_t count, size_t size)
{
    uint8_t *taken = memory->next;

    assert(scan_memory_bytes(count, size) <= (size_t)(memory->end - taken));
    memory->next += scan_memory_bytes(count, size);
    return taken;
}

#endif
