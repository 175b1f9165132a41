/*
 * limited_allocator.h -- an allocator that counts, refuses what would pass a limit, and does
 * nothing else: for tests that open databases a hundred thousand times.
 *
 * Threads: may be used by several at once.
 */
#ifndef PETAL_TESTS_DAMAGE_LIMITED_ALLOCATOR_H
#define PETAL_TESTS_DAMAGE_LIMITED_ALLOCATOR_H

#include "engine/petal.h"

#include <stdatomic.h>

struct limited_allocator {
    petal_allocator table; /* give its address to the library */
    uint64_t limit;        /* of bytes held at once */
    _Atomic(uint64_t) bytes, blocks, peak;
    _Atomic(uint64_t) refused; /* calls that would have passed the limit */
};

void limited_allocator_init(struct limited_allocator *allocator, uint64_t limit);

#endif
