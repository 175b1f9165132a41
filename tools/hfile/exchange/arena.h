/*
 * arena.h -- memory that is given back all at once. Not for use by several threads.
 */
#ifndef PETAL_HFILE_EXCHANGE_ARENA_H
#define PETAL_HFILE_EXCHANGE_ARENA_H

#include "engine/petal.h"

struct arena_piece;

struct arena {
    struct arena_piece *pieces;
};

/* Aligned for any type, zeroed; NULL: there is none. */
void *arena_allocate(struct arena *arena, size_t size);

/* A copy of the bytes, with a 0 after them; NULL: no memory. */
char *arena_copy(struct arena *arena, petal_slice bytes);

/*
 * Room for one more of `items`, of which there are `count`: where they are now, NULL without
 * memory. *capacity is 0 at first.
 */
void *arena_room(struct arena *arena, void *items, size_t count, size_t *capacity,
                 size_t item_bytes);

void arena_free(struct arena *arena);

#endif
