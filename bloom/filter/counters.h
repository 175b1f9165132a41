/*
 * counters.h -- one line of a COUNTING filter: as of BLOCKED, with a counter of 4 bits in place of
 * each bit, so that keys can be removed. A line of 64 bytes has 128 counters; position i = 0..k-1
 * of a hash h is the highest 7 bits of h * G^(i+1) (bloom/bloom.h). Counter c of a line is bits 4 *
 * (c % 16) up of word c / 16. Positions that coincide are one counter.
 *
 * A counter that has come to 15 stays there, since nobody knows how many it stands for.
 *
 * THREADS. Each word is changed as a whole, by compare-and-swap, so no counter loses a step. As
 * long as each remove takes back an add that has returned, no counter of a key that is in comes to
 * 0, at any moment: what was added is found, whatever other threads add and remove. Of threads that
 * remove one key together as many take it as it was added, since all begin with the same word. A
 * remove of a key that is not in, and passes by chance, may find that out half way, when another
 * thread removes a key that it shares counters with, and puts back what it has taken: in between,
 * keys of those counters may be missed. A caller that removes keys that were never added has given
 * up more than that (bloom/petal_bloom.h).
 */
#ifndef PETAL_BLOOM_FILTER_COUNTERS_H
#define PETAL_BLOOM_FILTER_COUNTERS_H

#include "bloom/filter/lines.h"

#define COUNTERS_LOWEST UINT64_C(0x1111111111111111)

static inline unsigned
counters_next(uint64_t *walk)
{
    return bloom_line_next(walk) >> 2;
}

/* The lowest bit of each counter that is a key's. */
struct counters_of_key {
    uint64_t words[FILTER_LINE_WORDS];
};

static inline void
counters_find(struct counters_of_key *counters, unsigned probes, uint64_t hash)
{
    uint64_t walk = hash;

    *counters = (struct counters_of_key){{0}};
    for (; probes > 0; probes--) {
        unsigned counter = counters_next(&walk);

        counters->words[counter / 16] |= UINT64_C(1) << counter % 16 * 4;
    }
}

/* The lowest bit of each counter that is 15. */
static inline uint64_t
counters_full(uint64_t word)
{
    word &= word >> 2;
    return word & word >> 1 & COUNTERS_LOWEST;
}

static inline bool
counters_swap(filter_word *word, uint64_t *before, uint64_t after)
{
    uint64_t stored = little_endian_word(*before);
    bool swapped = atomic_compare_exchange_weak_explicit(
        word, &stored, little_endian_word(after), memory_order_relaxed, memory_order_relaxed);

    *before = little_endian_word(stored);
    return swapped;
}

/* Returns the counters that were 0. */
static inline uint64_t
counters_up(filter_word *word, uint64_t counters)
{
    uint64_t before = filter_word_load(word), up;

    do {
        up = counters & ~counters_full(before);
    } while (up != 0 && !counters_swap(word, &before, before + up));
    return counters & ~filter_counters_set(before);
}

/* False: one of the counters is 0, and nothing was changed. */
static inline bool
counters_down(filter_word *word, uint64_t counters)
{
    uint64_t before = filter_word_load(word), down;

    do {
        if ((counters & ~filter_counters_set(before)) != 0)
            return false;
        down = counters & ~counters_full(before);
    } while (down != 0 && !counters_swap(word, &before, before - down));
    return true;
}

static inline uint64_t
counters_bit(const void *line, uint64_t *walk)
{
    unsigned counter = counters_next(walk);
    uint64_t word = filter_word_load((const filter_word *)line + counter / 16) >> counter % 16 * 4;

    word |= word >> 2;
    return word | word >> 1;
}

static inline bool
counters_may_contain(const filter_word *line, unsigned probes, uint64_t hash)
{
    return bloom_line_ask(line, probes, hash, counters_bit);
}

/* Was it new? */
static inline bool
counters_add(filter_word *line, unsigned probes, uint64_t hash)
{
    struct counters_of_key counters;
    uint64_t were_clear = 0;

    counters_find(&counters, probes, hash);
    for (unsigned i = 0; i < FILTER_LINE_WORDS; i++)
        if (counters.words[i] != 0)
            were_clear |= counters_up(&line[i], counters.words[i]);
    return were_clear != 0;
}

/* False: it is certainly not in. */
static inline bool
counters_remove(filter_word *line, unsigned probes, uint64_t hash)
{
    struct counters_of_key counters;
    unsigned taken = 0;

    if (!counters_may_contain(line, probes, hash))
        return false;
    counters_find(&counters, probes, hash);
    while (taken < FILTER_LINE_WORDS &&
           (counters.words[taken] == 0 || counters_down(&line[taken], counters.words[taken])))
        taken++;
    if (taken == FILTER_LINE_WORDS)
        return true;
    while (taken-- > 0)
        if (counters.words[taken] != 0)
            (void)counters_up(&line[taken], counters.words[taken]);
    return false;
}

/* The sum of each pair of counters of two words; what is 15 or would be more is 15. */
static inline uint64_t
counters_sum(uint64_t a, uint64_t b)
{
    const uint64_t even = UINT64_C(0x0F0F0F0F0F0F0F0F);
    uint64_t low = (a & even) + (b & even), high = (a >> 4 & even) + (b >> 4 & even);
    uint64_t low_over = low >> 4 & COUNTERS_LOWEST, high_over = high >> 4 & COUNTERS_LOWEST;

    low = (low | low_over * 15) & even;
    high = (high | high_over * 15) & even;
    return low | high << 4;
}

#endif
