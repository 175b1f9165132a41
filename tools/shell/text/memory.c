/* memory.c -- see tools/shell/text/memory.h. */
#include "tools/shell/text/memory.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_CHUNK_BYTES = 64, CHUNK_BYTES = 16384 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t size;
    max_align_t bytes[];
};

static void
out_of_memory(void)
{
    fputs("kv-shell: out of memory\n", stderr);
    exit(3);
}

void *
memory_allocate(size_t size)
{
    return memory_grow(NULL, size);
}

void *
memory_grow(void *memory, size_t size)
{
    void *grown = realloc(memory, size > 0 ? size : 1);

    if (grown == NULL)
        out_of_memory();
    return grown;
}

void *
memory_room(void *items, size_t count, size_t *capacity, size_t item_bytes)
{
    if (count < *capacity)
        return items;
    *capacity = 2 * *capacity + 16;
    return memory_grow(items, *capacity * item_bytes);
}

/* As many bytes as there are already, so that a small arena stays small, up to a bound. */
static size_t
chunk_room(const struct arena *arena, size_t wanted)
{
    size_t room = arena->bytes < LEAST_CHUNK_BYTES ? LEAST_CHUNK_BYTES : arena->bytes;

    if (room > CHUNK_BYTES)
        room = CHUNK_BYTES;
    return wanted > room ? wanted : room;
}

void *
arena_allocate(struct arena *arena, size_t size)
{
    size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct arena_chunk *chunk = arena->chunks;
    void *memory;

    if (rounded < size)
        out_of_memory();
    if (chunk == NULL || chunk->size - arena->used < rounded) {
        size_t room = chunk_room(arena, rounded);

        chunk = memory_allocate(sizeof(*chunk) + room);
        chunk->older = arena->chunks;
        chunk->size = room;
        arena->chunks = chunk;
        arena->used = 0;
        arena->bytes += room;
    }
    memory = (char *)chunk->bytes + arena->used;
    arena->used += rounded;
    return memory;
}

void *
arena_copy(struct arena *arena, const void *bytes, size_t size)
{
    void *copy = arena_allocate(arena, size);

    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

void *
arena_room(struct arena *arena, void *items, size_t count, size_t *capacity, size_t item_bytes)
{
    void *grown;

    if (count < *capacity)
        return items;
    *capacity = 2 * *capacity + 8;
    grown = arena_allocate(arena, *capacity * item_bytes);
    if (count > 0)
        memcpy(grown, items, count * item_bytes);
    return grown;
}

void
arena_clear(struct arena *arena)
{
    while (arena->chunks != NULL) {
        struct arena_chunk *chunk = arena->chunks;

        arena->chunks = chunk->older;
        free(chunk);
    }
    arena->used = arena->bytes = 0;
}
