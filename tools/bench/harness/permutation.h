/*
 * permutation.h -- a computed permutation of 0 .. range - 1: a random order that costs no memory.
 *
 * Threads: pure.
 */
#ifndef PETAL_TOOLS_BENCH_HARNESS_PERMUTATION_H
#define PETAL_TOOLS_BENCH_HARNESS_PERMUTATION_H

#include <stdint.h>

struct bench_permutation {
    uint64_t range, seed;
    unsigned half_bits; /* of the power of four at or above the range */
};

void bench_permutation_init(struct bench_permutation *permutation, uint64_t range, uint64_t seed);
uint64_t bench_permutation_at(const struct bench_permutation *permutation, uint64_t position);

#endif
