/* options.h -- what callers ask of a filter, checked; and the shape that follows from it. */
#ifndef PETAL_BLOOM_FILTER_OPTIONS_H
#define PETAL_BLOOM_FILTER_OPTIONS_H

#include "base/error.h"
#include "bloom/petal_bloom.h"

/* What was given, defaults filled in, each field checked by itself and with the others. With bits
 * and probes the rate may stay 0. */
enum petal_status filter_options_resolve(petal_bloom_options *options,
                                         const petal_bloom_options *given, petal_error *error);

/* Where a key's bits or counters lie. */
struct filter_shape {
    uint64_t positions; /* bits, or counters */
    unsigned probes;
    uint64_t line_positions; /* k of them lie in one line of so many; 0: there are no lines */
    unsigned position_bits;  /* 1, or of a counter 4 */
};

/* The fewest lines that hold the rate, of the fewest probes for which they do. REQUIRES: keys are
 * at most FILTER_MOST_KEYS, at least 1. */
#define FILTER_MOST_KEYS (UINT64_C(1) << 52)
void filter_shape_lines(struct filter_shape *shape, uint64_t keys, double rate);

/* The part that is the same in all filters of the kind; the others 0. */
void filter_shape_of_kind(struct filter_shape *shape, enum petal_bloom_kind kind);

/* The shape of STANDARD, BLOCKED or COUNTING. PETAL_INVALID: too few keys, or too many for any
 * memory. */
enum petal_status filter_shape_init(struct filter_shape *shape, const petal_bloom_options *options,
                                    petal_error *error);

/* Whole words of 8 bytes. */
uint64_t filter_shape_bytes(const struct filter_shape *shape);

/* By theory, with so many different keys. */
double filter_shape_rate(const struct filter_shape *shape, uint64_t keys);

#endif
