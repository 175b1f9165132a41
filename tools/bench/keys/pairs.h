/*
 * pairs.h -- the keys and values of db_bench's workloads, each made from its number.
 *
 * The room keys: keys and values that follow from numbers.
 *
 * Key of number n: 2 n in decimal digits with zeros in front, so keys lie in the order of their
 * numbers and the odd ones between them are never written. The value of a number is always the
 * same, in every run, and compresses to about half.
 *
 * Threads: pure.
 */
#ifndef PETAL_TOOLS_BENCH_KEYS_PAIRS_H
#define PETAL_TOOLS_BENCH_KEYS_PAIRS_H

#include "tools/bench/harness/util.h"

struct bench_pairs {
    size_t key_bytes, value_bytes;
    bool spread; /* keys are bench_key's (tools/bench/harness/util.h), of BENCH_KEY_BYTES, spread
                    evenly over one range, so that rising numbers are a random order */
};

/* Whether keys are long enough for the numbers 0 .. count - 1. */
bool bench_pairs_fit(size_t key_bytes, uint64_t count);

/* Key of number n, or, when `absent`, of another one that is never written; `key` has key_bytes and
 * one more. */
petal_slice bench_pairs_key(const struct bench_pairs *pairs, uint64_t number, bool absent,
                            char *key);

/* In `room`, of value_bytes. */
petal_slice bench_pairs_value(const struct bench_pairs *pairs, uint64_t number, uint8_t *room);

/* Whether that is the value of that number, by its size and its first bytes. */
bool bench_pairs_is_right(const struct bench_pairs *pairs, uint64_t number, petal_slice value);

#endif
