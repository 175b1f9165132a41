/* arena.c -- see arena.h. */
#include "memtable/arena.h"

#include <assert.h>

/*
 * A memtable of a few cells stays small; a large one asks rarely, and each chunk at most doubles
 * what is held.  The greatest is a huge page of common machines, for allocators that know about
 * them.
 */
#define FIRST_CHUNK_BYTES ((size_t)2 << 10)
#define MAX_CHUNK_BYTES   ((size_t)2 << 20)

void
arena_init(struct arena *arena, const petal_allocator *allocator)
{
    arena->allocator = allocator;
    arena->chunks = NULL;
    arena->spare = NULL;
    arena->front = NULL;
    arena->back = NULL;
    atomic_init(&arena->held, 0);
}

void
arena_fini(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunks;

    while (chunk != NULL) {
        struct arena_chunk *older = chunk->next;

        mem_free(arena->allocator, chunk, chunk->size);
        chunk = older;
    }
    if (arena->spare != NULL)
        mem_free(arena->allocator, arena->spare, arena->spare->size);
    arena_init(arena, arena->allocator);
}

size_t
arena_bytes(const struct arena *arena)
{
    return atomic_load_explicit(&arena->held, memory_order_relaxed);
}

/* Size of a chunk with `bytes` free; 0 when no chunk can be so large. */
static size_t
chunk_size_for(const struct arena *arena, size_t bytes)
{
    size_t size = arena_bytes(arena);

    if (size < FIRST_CHUNK_BYTES)
        size = FIRST_CHUNK_BYTES;
    if (size > MAX_CHUNK_BYTES)
        size = MAX_CHUNK_BYTES;
    if (bytes > SIZE_MAX / 2)
        return 0;
    bytes += sizeof(struct arena_chunk);
    if (size < bytes)
        size = bytes;
    return (size + CACHE_LINE_BYTES - 1) & ~(size_t)(CACHE_LINE_BYTES - 1);
}

bool
arena_reserve(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk;
    size_t held, size, alignment;

    if (arena_has_room(arena, bytes))
        return true;
    if (arena->spare != NULL && arena->spare->size - sizeof *chunk >= bytes)
        return true;
    size = chunk_size_for(arena, bytes);
    /* On the border of a huge page where a chunk is one: fewer page faults while filling, fewer
     * misses afterwards. */
    alignment = size >= MAX_CHUNK_BYTES ? MAX_CHUNK_BYTES : CACHE_LINE_BYTES;
    chunk = size == 0 ? NULL : mem_alloc_aligned(arena->allocator, alignment, size);
    if (chunk == NULL)
        return false;
    assert(size - sizeof *chunk >= bytes);
    chunk->size = size;
    held = arena_bytes(arena) + size;
    if (arena->spare != NULL) {
        held -= arena->spare->size;
        mem_free(arena->allocator, arena->spare, arena->spare->size);
    }
    arena->spare = chunk;
    atomic_store_explicit(&arena->held, held, memory_order_relaxed);
    return true;
}

void
arena_use_spare(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = arena->spare;

    assert(chunk != NULL && chunk->size - sizeof *chunk >= bytes);
    (void)bytes;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->spare = NULL;
    arena->front = (uint8_t *)(chunk + 1);
    arena->back = (uint8_t *)chunk + chunk->size;
}

void
arena_return_record(struct arena *arena, const void *record, size_t size)
{
    size = arena_record_bytes(size);
    /* No chunk ends where the room of another begins: that is after its header. */
    if ((const uint8_t *)record + size == arena->front)
        arena->front -= size;
}

void *
arena_take_lines(struct arena *arena, size_t size)
{
    assert(size % CACHE_LINE_BYTES == 0);
    if (!arena_has_room(arena, size))
        arena_use_spare(arena, size);
    arena->back -= size;
    assert(arena->front <= arena->back && (uintptr_t)arena->back % CACHE_LINE_BYTES == 0);
    return arena->back;
}
