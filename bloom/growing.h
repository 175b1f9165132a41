/*
 * growing.h -- a Bloom filter that grows with the keys that are added, and is asked while they are.
 *
 * A chain of SEGMENTS, each a blocked filter (bloom/bloom.h): a key's bits lie in one line of 64
 * bytes.  The first segment has 4 KiB, each following one is eight times larger.  A key's bits go
 * into the newest segment, and count unless they are all there already: so a key that is added
 * again and again counts once in each segment.  A question goes to the segments, newest first;
 * there are few.  At 12 bits a key and 6 probes a full segment lets about 0.6 % of absent keys
 * pass, a large filter all in all about 1.2 %, since all but the newest segment are full.
 *
 * MEMORY is the caller's: bloom_growing_wants says how much a reservation takes, bloom_growing_give
 * hands it over, bloom_growing_take_back returns it piece by piece.
 *
 * VISIBILITY.  Bits are only ever added, and a word that is read too late misses keys that were
 * added of late. Who publishes something of a key after bloom_growing_add, with release, and is
 * seen with acquire, is sure that the reader finds the key.
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

/* Bytes of memory without which there is no room for `keys` more keys.  0: there is; SIZE_MAX: that
 * is no number of bytes.  WRITER. */
size_t bloom_growing_wants(const struct bloom_growing *bloom, size_t keys);

/* Is there room for one more, without a look at memory?  False: bloom_growing_wants says.
 * WRITER. */
static inline bool
bloom_growing_has_room(const struct bloom_growing *bloom)
{
    return bloom->keys < bloom->capacity;
}

/* Hand over what was wanted, on a border of BLOOM_GROWING_ALIGNMENT.  Returns memory of *replaced
 * bytes that is not needed any more, or NULL with 0.  WRITER. */
void *bloom_growing_give(struct bloom_growing *bloom, void *memory, size_t bytes, size_t *replaced);

/* The memory of one segment and its bytes, until there is none: NULL.  REQUIRES: nobody asks any
 * more. */
void *bloom_growing_take_back(struct bloom_growing *bloom, size_t *bytes);

/* Ask for the cache line that bloom_growing_add will look at.  WRITER. */
void bloom_growing_prefetch(const struct bloom_growing *bloom, uint64_t hash);

/* REQUIRES: there is room.  WRITER. */
void bloom_growing_add(struct bloom_growing *bloom, uint64_t hash);

/* False only if no key with this hash was added. */
bool bloom_growing_may_contain(const struct bloom_growing *bloom, uint64_t hash);

#endif
