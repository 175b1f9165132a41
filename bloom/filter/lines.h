/*
 * lines.h -- an array of lines of 64 bytes, each of 512 bits (bloom/bloom.h) or of 128 counters:
 * what a BLOCKED or a COUNTING filter is, and each segment of a GROWING one. Many threads add to it
 * and ask it at once.
 *
 * WORDS are 8 bytes that lie in memory as in a file, lowest byte first; little_endian_word is
 * between one and a number. Each is read and changed by relaxed atomic operations: a word is whole
 * in itself, and says nothing about another.
 *
 * WAS A KEY NEW? Threads that add one key at once each set the bits that they find clear; a thread
 * that sets one is told that the key was new. So at least one of them is, unless all bits were set
 * before. Bits that are set are only read: the cache line stays shared by all cores.
 */
#ifndef PETAL_BLOOM_FILTER_LINES_H
#define PETAL_BLOOM_FILTER_LINES_H

#include "base/env.h"
#include "base/inline.h"
#include "base/mem.h"
#include "bloom/bloom.h"

#include <stdatomic.h>

typedef _Atomic(uint64_t) filter_word;

#define FILTER_LINE_WORDS    (BLOOM_LINE_BYTES / 8)
#define FILTER_LINE_COUNTERS 128

/* So many questions or additions are under way at a time: enough to keep all of a core's loads that
 * may be waited for busy. */
#define FILTER_AHEAD 24

struct filter_lines {
    uint64_t count;
    unsigned probes;
    unsigned positions; /* of a line: BLOOM_LINE_BITS, or FILTER_LINE_COUNTERS */
    filter_word *words;
};

/* ---- shapes, without words ---- */

/* The fewest lines that hold the rate, with the fewest probes for which they do; `positions` is
 * given. REQUIRES: keys are at most FILTER_MOST_KEYS, at least 1. */
#define FILTER_MOST_KEYS (UINT64_C(1) << 52)
void filter_lines_shape(struct filter_lines *lines, uint64_t keys, double rate);

static inline uint64_t
filter_lines_bytes(const struct filter_lines *lines)
{
    return lines->count * BLOOM_LINE_BYTES;
}

/* By theory, with so many different keys. */
double filter_lines_rate(const struct filter_lines *lines, uint64_t keys);

/* ---- words ---- */

/* Zeroed words; of huge pages where they fill some and the system has them. False: there is no
 * memory. */
bool filter_lines_allocate(struct filter_lines *lines, const struct env *env);
void filter_lines_free(struct filter_lines *lines, const struct env *env);

static inline uint64_t
filter_word_load(const filter_word *word)
{
    return little_endian_word(atomic_load_explicit(word, memory_order_relaxed));
}

/* The lowest bit of each counter that is not 0. */
static inline uint64_t
filter_counters_set(uint64_t word)
{
    word |= word >> 2;
    return (word | word >> 1) & 0x1111111111111111u;
}

/*
 * What the positions that are set tell: the rate now, and the number of keys. An absent key looks
 * at k positions, each any of its line's, so it passes a line of b of which f are set with
 * (f / b)^k, exactly; the rate is the mean over all lines. And about ln(1 - f/b) / (k ln(1 - 1/b))
 * keys set f positions.
 */
struct filter_fill {
    double rate, keys;
};

struct filter_fill filter_lines_fill(const struct filter_lines *lines);

/* ---- one line of bits ---- */

static inline filter_word *
filter_line(const struct filter_lines *lines, uint64_t hash)
{
    return lines->words + FILTER_LINE_WORDS * bloom_line(hash, lines->count);
}

static ALWAYS_INLINE void
filter_line_prefetch(const struct filter_lines *lines, uint64_t hash)
{
    mem_prefetch(filter_line(lines, hash), 1);
}

static inline uint64_t
filter_line_bit(const void *line, uint64_t *walk)
{
    unsigned position = bloom_line_next(walk);

    return filter_word_load((const filter_word *)line + position / 64) >> position % 64;
}

static inline bool
filter_line_may_contain(const filter_word *line, unsigned probes, uint64_t hash)
{
    return bloom_line_ask(line, probes, hash, filter_line_bit);
}

/* Was it new? */
static inline bool
filter_line_add(filter_word *line, unsigned probes, uint64_t hash)
{
    uint64_t walk = hash, was_clear = 0;

    if (filter_line_may_contain(line, probes, hash))
        return false;
    for (; probes > 0; probes--) {
        unsigned position = bloom_line_next(&walk);
        uint64_t bit = little_endian_word(UINT64_C(1) << position % 64);

        was_clear |=
            ~atomic_fetch_or_explicit(&line[position / 64], bit, memory_order_relaxed) & bit;
    }
    return was_clear != 0;
}

#endif
