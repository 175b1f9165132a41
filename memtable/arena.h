/*
 * arena.h -- memory of a memtable: handed out in pieces, given back whole.
 *
 * Pieces are cut from chunks.  Small ones of any size (records) come from the front of the chunk,
 * whole cache lines (tree nodes) from its back, so that neither pays for the alignment of the
 * other and nodes lie side by side:
 *
 *     | chunk header | record record record ->      free      <- node node node |
 *
 * RESERVING.  Only arena_reserve asks the allocator.  After it has succeeded for `bytes`, pieces
 * that together take at most `bytes` (record sizes rounded up as arena_record_bytes says) cannot
 * fail: either they fit into the free space of the current chunk, or an unused spare chunk is at
 * hand that holds all of them, to which the arena moves when the first piece does not fit.  So
 * only less than one piece is lost at the end of a chunk.
 *
 * Threads: one writer; arena_bytes from any thread.
 */
#ifndef PETAL_MEMTABLE_ARENA_H
#define PETAL_MEMTABLE_ARENA_H

#include "base/mem.h"

#include <assert.h>
#include <stdatomic.h>

#define ARENA_RECORD_ALIGNMENT 4

struct arena_chunk {
    struct arena_chunk *next; /* older chunk */
    size_t size;              /* of the whole chunk, header included */
};

struct arena {
    const petal_allocator *allocator;
    struct arena_chunk *chunks; /* in use; the current one first */
    struct arena_chunk *spare;  /* untouched, or NULL */
    uint8_t *front, *back;      /* the free space of the current chunk */
    _Atomic(size_t) held;       /* bytes of all chunks; written by the writer only */
};

/* Allocates nothing.  The allocator outlives the arena. */
void arena_init(struct arena *arena, const petal_allocator *allocator);
void arena_fini(struct arena *arena);

/* Whether `bytes` of pieces fit into the current chunk.  WRITER. */
static inline bool
arena_has_room(const struct arena *arena, size_t bytes)
{
    return (size_t)(arena->back - arena->front) >= bytes;
}

/* See RESERVING.  False when there is no memory; the arena is then as it was.  WRITER. */
bool arena_reserve(struct arena *arena, size_t bytes);

/* What a record of `size` bytes counts towards a reservation. */
static inline size_t
arena_record_bytes(size_t size)
{
    return (size + ARENA_RECORD_ALIGNMENT - 1) & ~(size_t)(ARENA_RECORD_ALIGNMENT - 1);
}

/* Leave the current chunk for the spare one.  REQUIRES: reserved, and `bytes` do not fit.
 * WRITER. */
void arena_use_spare(struct arena *arena, size_t bytes);

/* Uninitialised memory on a 4-byte border.  REQUIRES: reserved.  WRITER. */
static inline void *
arena_take_record(struct arena *arena, size_t size)
{
    void *record;

    size = arena_record_bytes(size);
    if (!arena_has_room(arena, size))
        arena_use_spare(arena, size);
    record = arena->front;
    arena->front += size;
    assert(arena->front <= arena->back);
    return record;
}

/*
 * Give back what the record that was taken last does not need.  REQUIRES: nothing was taken since.
 */
static inline void
arena_trim_record(struct arena *arena, void *record, size_t size)
{
    uint8_t *end = (uint8_t *)record + arena_record_bytes(size);

    assert(end <= arena->front && (uint8_t *)record >= (uint8_t *)arena->chunks);
    arena->front = end;
}

/* Give a record of `size` bytes back that nobody uses.  Where another one, or another chunk, was
 * taken since, it stays behind. WRITER. */
void arena_return_record(struct arena *arena, const void *record, size_t size);

/* Uninitialised memory on a cache line's border; `size` is a multiple of CACHE_LINE_BYTES.
 * REQUIRES: reserved.  WRITER. */
void *arena_take_lines(struct arena *arena, size_t size);

/* Bytes got from the allocator.  Any thread. */
size_t arena_bytes(const struct arena *arena);

#endif
