/*
 * fill.h -- what the bits that are set tell: the rate now, and the number of keys.
 *
 * A key that is absent looks at k positions, each any of the line's, so it passes a line of b of
 * which f are set with (f / b)^k, exactly; the rate is the mean over all lines. And f positions
 * are what about ln(1 - f/b) / (k ln(1 - 1/b)) keys set.
 */
#ifndef PETAL_BLOOM_FILTER_FILL_H
#define PETAL_BLOOM_FILTER_FILL_H

#include "bloom/bits.h"
#include "bloom/filter/array.h"

/* The lowest bit of each counter that is not 0. */
static inline uint64_t
filter_counters_set(uint64_t word)
{
    word |= word >> 2;
    return (word | word >> 1) & 0x1111111111111111u;
}

/* How many lines have so many positions set. */
struct filter_fill {
    unsigned line_positions, probes;
    uint64_t lines[BLOOM_LINE_BITS + 1];
};

void filter_fill_init(struct filter_fill *fill, const struct filter_shape *shape,
                      const filter_word *words);
double filter_fill_rate(const struct filter_fill *fill);
double filter_fill_keys(const struct filter_fill *fill);

/* Of one line of any length. */
double filter_line_keys(double set, double positions, unsigned probes);

#endif
