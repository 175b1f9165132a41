/* arena.c -- see arena.h. */
#include "tools/hfile/exchange/arena.h"

#include "tools/hfile/format/memory.h"

#include <stddef.h>
#include <string.h>

struct arena_piece {
    struct arena_piece *next;
    size_t size;
    max_align_t bytes[];
};

void *
arena_allocate(struct arena *arena, size_t size)
{
    size_t whole = sizeof(struct arena_piece) + size;
    struct arena_piece *piece =
        whole < size ? NULL : hfile_allocate_zeroed(&hfile_default_allocator, whole);

    if (piece == NULL)
        return NULL;
    piece->next = arena->pieces;
    piece->size = whole;
    arena->pieces = piece;
    return piece->bytes;
}

char *
arena_copy(struct arena *arena, petal_slice bytes)
{
    char *copy = arena_allocate(arena, bytes.size + 1);

    if (copy != NULL && bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return copy;
}

void *
arena_room(struct arena *arena, void *items, size_t count, size_t *capacity, size_t item_bytes)
{
    size_t wanted = *capacity == 0 ? 8 : 2 * *capacity;
    void *moved;

    if (count < *capacity)
        return items;
    moved = wanted > SIZE_MAX / item_bytes ? NULL : arena_allocate(arena, wanted * item_bytes);
    if (moved == NULL)
        return NULL;
    if (count > 0)
        memcpy(moved, items, count * item_bytes);
    *capacity = wanted;
    return moved;
}

void
arena_free(struct arena *arena)
{
    while (arena->pieces != NULL) {
        struct arena_piece *piece = arena->pieces;

        arena->pieces = piece->next;
        hfile_release(&hfile_default_allocator, piece, piece->size);
    }
}
