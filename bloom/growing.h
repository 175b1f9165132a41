/*
 * growing.h -- a Bloom filter that grows while keys are added and asked for.
 *
 * A chain of SEGMENTS, each a blocked filter (bloom/bloom.h): a key's bits are in one line of 64
 * bytes. The first segment has 1 KiB, so that a few keys take little, the second 32 KiB, each
 * following one eight times as much. A key's bits go into the newest segment, and count unless all
 * are set already: so a key that is added repeatedly counts once in each segment. Questions go to
 * the few segments, newest first. At 12 bits a key and 6 probes a full segment lets about 0.6 % of
 * absent keys pass, a large filter about 1.2 %, since all but the newest segment are full.
 *
 * MEMORY is the caller's: bloom_growing_wants says how much a reservation takes, bloom_growing_give
 * hands it over, bloom_growing_take_back returns it piece by piece.
 *
 * VISIBILITY.  Bits are only added; a stale word misses the latest keys. A reader that acquires
 * what the writer released after bloom_growing_add finds the key.
 *
 * Threads: one WRITER; bloom_growing_may_contain from any thread.
 */
#ifndef PETAL_BLOOM_GROWING_H
#define PETAL_BLOOM_GROWING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOOM_GROWING_ALIGNMENT 64

struct bloom_segment;

struct bloom_growing {
    _Atomic(struct bloom_segment *) newest; /* NULL: no keys */
    /* The writer's: */
    struct bloom_segment *spare; /* reserved, not in the chain yet */
    size_t keys;                 /* entered into the newest segment */
    size_t capacity;             /* of it; 0: there is none */
};

void bloom_growing_init(struct bloom_growing *bloom);

/* The bytes that `keys` more keys need; 0: there is room, SIZE_MAX: too many.  WRITER. */
size_t bloom_growing_wants(const struct bloom_growing *bloom, size_t keys);

/* Is there room for one more key, surely?  False: ask bloom_growing_wants.  WRITER. */
static inline bool
bloom_growing_has_room(const struct bloom_growing *bloom)
{
    return bloom->keys < bloom->capacity;
}

/* Hand over the memory, aligned to BLOOM_GROWING_ALIGNMENT.  Returns memory of *replaced bytes that
 * is no longer needed, or NULL with 0.  WRITER. */
void *bloom_growing_give(struct bloom_growing *bloom, void *memory, size_t bytes, size_t *replaced);

/* Take back the memory of one segment; NULL: there is none left.  REQUIRES: no more questions. */
void *bloom_growing_take_back(struct bloom_growing *bloom, size_t *bytes);

/* Prefetch the line that bloom_growing_add needs.  WRITER. */
void bloom_growing_prefetch(const struct bloom_growing *bloom, uint64_t hash);

/* REQUIRES: there is room.  WRITER. */
void bloom_growing_add(struct bloom_growing *bloom, uint64_t hash);

/* False only if no key with this hash was added. */
bool bloom_growing_may_contain(const struct bloom_growing *bloom, uint64_t hash);

#endif
