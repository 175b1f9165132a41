/*
 * lines.h -- lines of BLOCKED (bloom/bloom.h) that many threads add to and ask at once.
 *
 * A KEY THAT IS NEW. Threads that add one key at once each set the bits that they find clear; who
 * sets one is told that the key was new. So of those threads one is told at least, or all bits were
 * set by other keys, and the key passed before. What is there already is only read: its cache line
 * stays with all cores that ask.
 */
#ifndef PETAL_BLOOM_FILTER_LINES_H
#define PETAL_BLOOM_FILTER_LINES_H

#include "base/inline.h"
#include "base/mem.h"
#include "bloom/filter/array.h"

static inline uint64_t
filter_line_bit(const filter_word *line, uint64_t *walk)
{
    unsigned position = bloom_line_next(walk);

    return filter_word_load(&line[position / 64]) >> position % 64;
}

/* As bloom_line_may_contain, of words that change meanwhile. */
static inline bool
filter_line_may_contain(const filter_word *line, unsigned probes, uint64_t hash)
{
    uint64_t walk = hash, set = 1;

    for (; probes >= 4; probes -= 4) {
        set &= filter_line_bit(line, &walk);
        set &= filter_line_bit(line, &walk);
        set &= filter_line_bit(line, &walk);
        set &= filter_line_bit(line, &walk);
        if ((set & 1) == 0)
            return false;
    }
    for (; probes > 0; probes--)
        set &= filter_line_bit(line, &walk);
    return (set & 1) != 0;
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

/* The line of a hash in `words`. */
static inline const filter_word *
filter_line_const(const filter_word *words, uint64_t lines, uint64_t hash)
{
    return words + FILTER_LINE_WORDS * bloom_line(hash, lines);
}

static inline filter_word *
filter_line(filter_word *words, uint64_t lines, uint64_t hash)
{
    return words + FILTER_LINE_WORDS * bloom_line(hash, lines);
}

static ALWAYS_INLINE void
filter_line_prefetch(const filter_word *words, uint64_t lines, uint64_t hash)
{
    mem_prefetch(filter_line_const(words, lines, hash), 1);
}

#endif
