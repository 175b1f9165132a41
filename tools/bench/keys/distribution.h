/*
 * distribution.h -- which item comes next, skewed as YCSB has it.
 *
 * Zipf: the item of rank i (from 0) has a share of 1 / ((i + 1)^0.99 zeta), by the method of Gray
 * et al., "Quickly generating billion-record synthetic databases" (1994): exact for the first two
 * ranks, near for the others. Zeta is computed in constant time, so the number of items may be
 * large and may grow.
 *
 * Threads: a distribution belongs to one thread; its items depend on the random source alone.
 */
#ifndef PETAL_TOOLS_BENCH_KEYS_DISTRIBUTION_H
#define PETAL_TOOLS_BENCH_KEYS_DISTRIBUTION_H

#include "tools/bench/harness/util.h"

#define BENCH_ZIPF_THETA 0.99

/* Ranks that a scrambled zipf draws from, however few the items are: YCSB's number. */
#define BENCH_SCRAMBLED_RANKS UINT64_C(10000000000)

enum bench_distribution_kind {
    BENCH_SCRAMBLED, /* zipf's ranks, hashed over all items: hot items lie anywhere */
    BENCH_LATEST     /* rank i is the i-th from the end: the newest items are hot */
};

struct bench_distribution {
    enum bench_distribution_kind kind;
    uint64_t ranks; /* that the numbers below are for; 0: none yet */
    double zeta_head, zeta, eta, share_of_two;
};

/* The sum of 1 / i^0.99 for i = 1 .. items. */
double bench_zeta(uint64_t items);

/* YCSB's hash of a number: FNV-1a over its 8 bytes, and its absolute value as a signed number. */
uint64_t bench_fnv(uint64_t number);

void bench_distribution_init(struct bench_distribution *distribution,
                             enum bench_distribution_kind kind);

/* An item of 0 .. items - 1; `items`, at least 1, may differ from call to call. */
uint64_t bench_distribution_next(struct bench_distribution *distribution,
                                 struct bench_random *random, uint64_t items);

#endif
