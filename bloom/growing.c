/* growing.c -- see growing.h. */
#include "bloom/growing.h"

#include "bloom/bloom.h"

#include <assert.h>
#include <string.h>

enum {
    PROBES = 6,
    BITS_PER_KEY = 12,
    LINE_WORDS = BLOOM_LINE_BYTES / 8,
    FIRST_LINES = 16,
    SECOND_LINES = 512,
    GROWTH = 8
};

struct bloom_segment_line {
    _Alignas(BLOOM_LINE_BYTES) _Atomic(uint64_t) words[LINE_WORDS];
};

struct bloom_segment {
    _Alignas(BLOOM_LINE_BYTES) struct bloom_segment *older; /* constant once published */
    size_t lines;
    size_t capacity; /* keys */
    struct bloom_segment_line bits[];
};

static_assert(BLOOM_GROWING_ALIGNMENT == BLOOM_LINE_BYTES, "lines lie on their borders");

void
bloom_growing_init(struct bloom_growing *bloom)
{
    atomic_init(&bloom->newest, NULL);
    bloom->spare = NULL;
    bloom->keys = 0;
    bloom->capacity = 0;
}

/* ---- memory ---- */

static size_t
segment_bytes(size_t lines)
{
    return sizeof(struct bloom_segment) + lines * sizeof(struct bloom_segment_line);
}

static size_t
capacity_of(size_t lines)
{
    return lines * BLOOM_LINE_BYTES * 8 / BITS_PER_KEY;
}

static size_t
lines_after(size_t lines)
{
    return lines < SECOND_LINES ? SECOND_LINES : lines * GROWTH;
}

size_t
bloom_growing_wants(const struct bloom_growing *bloom, size_t keys)
{
    const struct bloom_segment *newest = atomic_load_explicit(&bloom->newest, memory_order_relaxed);
    size_t room = newest != NULL ? newest->capacity - bloom->keys : 0;
    size_t lines = newest != NULL ? lines_after(newest->lines) : FIRST_LINES;

    if (keys <= room || (bloom->spare != NULL && keys - room <= bloom->spare->capacity))
        return 0;
    if (keys > SIZE_MAX / 64)
        return SIZE_MAX;
    while (capacity_of(lines) < keys - room)
        lines = lines_after(lines);
    return segment_bytes(lines);
}

void *
bloom_growing_give(struct bloom_growing *bloom, void *memory, size_t bytes, size_t *replaced)
{
    struct bloom_segment *before = bloom->spare, *spare = memory;

    assert(bytes > sizeof *spare && (uintptr_t)memory % BLOOM_GROWING_ALIGNMENT == 0);
    memset(memory, 0, bytes);
    spare->lines = (bytes - sizeof *spare) / sizeof *spare->bits;
    spare->capacity = capacity_of(spare->lines);
    assert(segment_bytes(spare->lines) == bytes);
    bloom->spare = spare;
    *replaced = before != NULL ? segment_bytes(before->lines) : 0;
    return before;
}

void *
bloom_growing_take_back(struct bloom_growing *bloom, size_t *bytes)
{
    struct bloom_segment *segment = bloom->spare;

    if (segment != NULL) {
        bloom->spare = NULL;
    } else {
        segment = atomic_load_explicit(&bloom->newest, memory_order_relaxed);
        if (segment == NULL)
            return NULL;
        atomic_store_explicit(&bloom->newest, segment->older, memory_order_relaxed);
    }
    *bytes = segment_bytes(segment->lines);
    return segment;
}

/* ---- keys ---- */

/*
 * All probes without a branch between them: where an absent key's first zero comes cannot be
 * predicted.
 */
static inline bool
segment_has(const struct bloom_segment *segment, uint64_t hash)
{
    const struct bloom_segment_line *line = &segment->bits[bloom_line(hash, segment->lines)];
    uint64_t all = 1, walk = hash;

#pragma GCC unroll 6
    for (unsigned i = 0; i < PROBES; i++) {
        unsigned bit = bloom_line_next(&walk);

        all &= atomic_load_explicit(&line->words[bit / 64], memory_order_relaxed) >> bit % 64;
    }
    return all != 0;
}

bool
bloom_growing_may_contain(const struct bloom_growing *bloom, uint64_t hash)
{
    /* Acquire: the segment's head and its zeroed bits. */
    const struct bloom_segment *segment =
        atomic_load_explicit(&bloom->newest, memory_order_acquire);

    while (segment != NULL && !segment_has(segment, hash))
        segment = segment->older;
    return segment != NULL;
}

void
bloom_growing_prefetch(const struct bloom_growing *bloom, uint64_t hash)
{
    const struct bloom_segment *newest = atomic_load_explicit(&bloom->newest, memory_order_relaxed);

    if (newest != NULL)
        __builtin_prefetch(&newest->bits[bloom_line(hash, newest->lines)]);
}

/* Loads and stores, since nobody else writes; and no branch for a key that is there already. */
static inline void
set_bits(struct bloom_growing *bloom, struct bloom_segment *newest, uint64_t hash)
{
    struct bloom_segment_line *line = &newest->bits[bloom_line(hash, newest->lines)];
    uint64_t there = 1, walk = hash;

#pragma GCC unroll 6
    for (unsigned i = 0; i < PROBES; i++) {
        unsigned position = bloom_line_next(&walk);
        uint64_t word = atomic_load_explicit(&line->words[position / 64], memory_order_relaxed);

        there &= word >> position % 64;
        atomic_store_explicit(&line->words[position / 64], word | (uint64_t)1 << position % 64,
                              memory_order_relaxed);
    }
    bloom->keys += there == 0;
    assert(bloom->keys <= newest->capacity);
}

/* The newest segment is full, or there is none. */
__attribute__((noinline)) static void
add_to_spare(struct bloom_growing *bloom, struct bloom_segment *full, uint64_t hash)
{
    struct bloom_segment *newest = bloom->spare;

    if (full != NULL && segment_has(full, hash))
        return;
    assert(newest != NULL);
    newest->older = full;
    bloom->spare = NULL;
    bloom->keys = 0;
    bloom->capacity = newest->capacity;
    /* Release: the segment's head and its zeroed bits. */
    atomic_store_explicit(&bloom->newest, newest, memory_order_release);
    set_bits(bloom, newest, hash);
}

void
bloom_growing_add(struct bloom_growing *bloom, uint64_t hash)
{
    struct bloom_segment *newest = atomic_load_explicit(&bloom->newest, memory_order_relaxed);

    assert(newest == NULL ? bloom->capacity == 0 : bloom->capacity == newest->capacity);
    if (bloom_growing_has_room(bloom))
        set_bits(bloom, newest, hash);
    else
        add_to_spare(bloom, newest, hash);
}
