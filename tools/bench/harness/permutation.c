/* permutation.c -- see tools/bench/harness/permutation.h: a Feistel network, walked until it is
 * back in the range. */
#include "tools/bench/harness/permutation.h"

#include "tools/bench/harness/util.h"

#define ROUNDS 4

void
bench_permutation_init(struct bench_permutation *permutation, uint64_t range, uint64_t seed)
{
    *permutation = (struct bench_permutation){.range = range, .seed = seed, .half_bits = 1};
    while (permutation->half_bits < 32 && (uint64_t)1 << (2 * permutation->half_bits) < range)
        permutation->half_bits++;
}

static uint64_t
mix(const struct bench_permutation *permutation, unsigned round, uint64_t half)
{
    uint64_t mask = ((uint64_t)1 << permutation->half_bits) - 1;

    return bench_scramble(half ^ permutation->seed ^ (uint64_t)round << 60) & mask;
}

static uint64_t
walk_once(const struct bench_permutation *permutation, uint64_t number)
{
    unsigned bits = permutation->half_bits;
    uint64_t left = number >> bits, right = number & (((uint64_t)1 << bits) - 1);

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t kept = right;

        right = left ^ mix(permutation, i, right);
        left = kept;
    }
    return left << bits | right;
}

uint64_t
bench_permutation_at(const struct bench_permutation *permutation, uint64_t position)
{
    do
        position = walk_once(permutation, position);
    while (position >= permutation->range);
    return position;
}
