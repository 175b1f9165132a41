/*
 * pairs.h -- the keys and values of db_bench's workloads, each made from its number.
 *
 * The room keys: keys and values that follow from numbers, how numbers are drawn, and which are
 * in a store.
 *
 * Key of number n: 2 n in decimal digits with zeros in front, so keys lie in the order of their
 * numbers and the odd ones between them are never written. The value of a number is always the
 * same, in every run: a piece of a pool that compresses to the ratio wanted.
 *
 * Threads: pure, once made.
 */
#ifndef PETAL_TOOLS_BENCH_KEYS_PAIRS_H
#define PETAL_TOOLS_BENCH_KEYS_PAIRS_H

#include "tools/bench/harness/util.h"

struct bench_pairs {
    size_t key_bytes, value_bytes;
    bool spread;     /* keys are bench_key's, values bench_value's (tools/bench/harness/util.h) */
    uint64_t pieces; /* of value_bytes, in the pool */
    uint8_t *pool;
};

/* `ratio` 0..1: what is left of a value after compression. */
void bench_pairs_init(struct bench_pairs *pairs, size_t key_bytes, size_t value_bytes,
                      double ratio);

/* The other way: keys of BENCH_KEY_BYTES spread evenly over one range, so that rising numbers are a
 * random order; values made one by one. */
void bench_pairs_init_spread(struct bench_pairs *pairs, size_t value_bytes);
void bench_pairs_free(struct bench_pairs *pairs);

/* Whether keys are long enough for the numbers 0 .. count - 1. */
bool bench_pairs_fit(size_t key_bytes, uint64_t count);

/* Key of number n, or, when `absent`, of another one that is never written; `key` has key_bytes and
 * one more. */
petal_slice bench_pairs_key(const struct bench_pairs *pairs, uint64_t number, bool absent,
                            char *key);

/* Good as long as the pairs are; of spread ones in `room`, of value_bytes. */
petal_slice bench_pairs_value(const struct bench_pairs *pairs, uint64_t number, uint8_t *room);

/* Whether that is the value of that number, by its size, its first bytes and its last. */
bool bench_pairs_is_right(const struct bench_pairs *pairs, uint64_t number, petal_slice value);

#endif
