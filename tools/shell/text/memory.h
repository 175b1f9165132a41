/*
 * memory.h -- memory of the shell: allocation that ends the program when there is none,
 * and an arena for all that lives as long as one input.
 *
 * An arena's memory is aligned for any type and is given back by arena_clear, all at once.
 * Not for use by several threads.
 */
#ifndef PETAL_TOOLS_SHELL_TEXT_MEMORY_H
#define PETAL_TOOLS_SHELL_TEXT_MEMORY_H

#include <stddef.h>

/* Never NULL: without memory they print one line and exit with status 3. */
void *memory_allocate(size_t size);
void *memory_grow(void *memory, size_t size);

/* The list with room for one item after `count`; it doubles where *capacity, 0 at first, is
 * full. */
void *memory_room(void *items, size_t count, size_t *capacity, size_t item_bytes);

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first; only the newest has room left */
    size_t used;                /* of the newest chunk */
    size_t bytes;               /* of all chunks */
};

void *arena_allocate(struct arena *arena, size_t size);
void *arena_room(struct arena *arena, void *items, size_t count, size_t *capacity,
                 size_t item_bytes); /* as memory_room */
void *arena_copy(struct arena *arena, const void *bytes, size_t size);
void arena_clear(struct arena *arena);

#endif
