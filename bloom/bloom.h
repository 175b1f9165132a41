/*
 * bloom.h -- Bloom filters over 64-bit hashes, in bytes that the caller holds.  Knows nothing of
 * files, cells or caches; a filter's bytes are complete in themselves and the same on every
 * machine.
 *
 * Three layouts:
 *   STANDARD  one array of m bits, m any number.  The reference: its error rate is that of theory.
 *   BLOCKED   the array is cut into lines of 512 bits (a cache line); a key's k bits lie in one
 *             line (Putze, Sanders, Singler 2007).  One cache miss a probe, for more bits: 0.6 %
 *             more at an error rate of 0.1, 3.4 % at 0.01, 8 % at 0.001, 15 % at 0.0001.
 *   RIBBON    no Bloom filter, but as one it answers for the keys it was built of, all at once, in
 *             about 30 % fewer bits than they take; slower to build and to ask: bloom/ribbon.h.
 *
 * Position i = 0..k-1 of a hash h, in 64-bit arithmetic that wraps; G = 0x9E3779B97F4A7C15:
 *   STANDARD  multiply-shift of  h1 + i * h2 + G * (i^3 - i) / 6  to 0..m-1, where h1 is h and h2
 *             is h with its halves exchanged.  Double hashing (Kirsch and Mitzenmacher 2006), each
 *             half filled up below by the other, so that large m find enough bits; and the cubic
 *             term of enhanced double hashing (Dillinger and Manolios 2004): progressions that
 *             share two places share many, and without it 1,000 keys at 0.0001 would let 12 % more
 *             pass.
 *   BLOCKED   line: multiply-shift of h, which is its high bits; position in the line: the highest
 *             9 bits of h * G^(i+1), to which all bits of h contribute.
 * Multiply-shift of x to 0..n-1 is x * n / 2^64.
 *
 * Bytes of a filter: bits, then a footer of 16 bytes (little endian), of which RIBBON shares the
 * first two fields:
 *     0  u32  keys    number of keys it was built for
 *     4  u8   layout
 *     5  u8   k       1..30
 *     6  u16  0
 *     8  u64  m       number of bits, from 1; STANDARD: they fill ceil(m / 8) bytes, BLOCKED: m is
 *                     a multiple of 512
 * Bit b is bit (b % 8) of byte b / 8.  BLOCKED bytes should lie on a 64-byte border (speed only).
 *
 * Threads: all functions are pure but for what they write through their arguments.
 */
#ifndef PETAL_BLOOM_BLOOM_H
#define PETAL_BLOOM_BLOOM_H

#include "bloom/little_endian.h"
#include "bloom/ribbon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Stored numbers: never changed, never used again for something else. */
enum bloom_layout { BLOOM_STANDARD = 1, BLOOM_BLOCKED = 2, BLOOM_RIBBON = BLOOM_RIBBON_LAYOUT };

#define BLOOM_FOOTER_BYTES 16
#define BLOOM_LINE_BYTES   64
#define BLOOM_LINE_BITS    512
#define BLOOM_MAX_PROBES   30
#define BLOOM_MAX_KEYS     UINT32_MAX
#define BLOOM_MIN_RATE     BLOOM_RIBBON_MIN_RATE
#define BLOOM_MAX_RATE     BLOOM_RIBBON_MAX_RATE

/* ---- shapes ---- */

/* How a filter is laid out; of RIBBON not all of it. */
struct bloom_shape {
    enum bloom_layout layout;
    unsigned probes; /* k; of RIBBON the columns of its narrow blocks */
    uint64_t bits;   /* m; of RIBBON all its bits */
};

/*
 * The probability that a filter of this shape with `keys` keys lets an absent key pass, by theory.
 * Of STANDARD with few keys more pass, by keys whose place and step are nearly those of another: of
 * one key at 0.0001 1.7 times as many, of 10 keys 1.1 times, at 0.000001 13 and 2.4 times; at 0.01
 * it is not seen.
 * Not for RIBBON: bloom_ribbon_expected_rate.
 */
double bloom_expected_rate(const struct bloom_shape *shape, uint64_t keys);

/* The same where a key's positions lie in one of `lines` lines, each of `line_bits`: as BLOCKED has
 * them, or other ones. */
double bloom_lines_rate(unsigned line_bits, unsigned probes, uint64_t lines, uint64_t keys);

/* Bytes of a filter of this shape, footer included. */
size_t bloom_bytes(const struct bloom_shape *shape);

/* What one layout needs to reach an error rate with many keys. */
struct bloom_density {
    unsigned probes;
    double bits_per_key;
};

/*
 * A layout and an error rate, worked out.  Making one takes part of a millisecond, the shapes drawn
 * from it a few microseconds: make one for each file that is written, not for each filter.
 */
struct bloom_plan {
    enum bloom_layout layout;
    double rate;
    struct bloom_density standard;
    struct bloom_density blocked; /* of a BLOCKED plan */
};

/* `rate` is clamped to BLOOM_MIN_RATE..BLOOM_MAX_RATE.  The k of each layout is the one that needs
 * the fewest bits.  A thread remembers the plans that it has found last. */
void bloom_plan_init(struct bloom_plan *plan, enum bloom_layout layout, double rate);

/* How many the calling thread has found and not remembered. */
uint64_t bloom_plans_found(void);

/*
 * The shape for `keys` keys (0 counts as 1; at most BLOOM_MAX_KEYS).  STANDARD: the fewest bits
 * that hold the rate.  BLOCKED: the nearest whole number of lines; but where its expected rate is
 * more than 4 % above the plan's or 15 % below it, as with few keys, the STANDARD shape.  RIBBON:
 * what bloom_ribbon_shape gives at first; but where STANDARD is not larger, as with few keys, that.
 * So ask the shape, not the plan.
 */
struct bloom_shape bloom_plan_shape(const struct bloom_plan *plan, uint64_t keys);

/* The number of keys to cut chunks at: a filter for so many or fewer takes at most `bytes` bytes,
 * footer included, and holds the rate.  At least 1, whatever `bytes` is.  (A RIBBON filter may
 * turn out larger, if building it fails in the size that it has at first.) */
uint64_t bloom_plan_capacity(const struct bloom_plan *plan, size_t bytes);

/* ---- filters ---- */

/*
 * Build the filter of `shape` over hashes[0..count) in `bytes` (bloom_bytes of them, overwritten).
 * REQUIRES: count <= BLOOM_MAX_KEYS, a shape that bloom_open would take, not of RIBBON
 * (bloom_ribbon_build).
 */
void bloom_build(const struct bloom_shape *shape, const uint64_t *hashes, size_t count,
                 uint8_t *bytes);

/* A filter that was checked and can be asked.  Borrows the bytes. */
struct bloom_filter {
    const uint8_t *bits;
    struct bloom_shape shape;
    uint32_t keys;
    struct bloom_ribbon ribbon; /* of layout RIBBON */
};

/* Read the footer, the last of the `size` bytes.  False when these bytes are no filter that this
 * version knows: then nothing may be ruled out, and *filter is not to be used. */
bool bloom_open(struct bloom_filter *filter, const uint8_t *bytes, size_t size);

/* False only if no key with this hash was built in. */
bool bloom_may_contain(const struct bloom_filter *filter, uint64_t hash);

/* The same for the `bits` of a filter of layout STANDARD. */
bool bloom_standard_may_contain(const uint8_t *bits, uint64_t bit_count, unsigned probes,
                                uint64_t hash);

/* ---- positions of STANDARD ---- */

struct bloom_standard_walk {
    uint64_t place, step, bend;
};

static inline struct bloom_standard_walk
bloom_standard_walk_from(uint64_t hash)
{
    return (struct bloom_standard_walk){hash, hash << 32 | hash >> 32, 0};
}

/* The next position of 0..bits-1; k calls give a key's k positions. */
static inline uint64_t
bloom_standard_next(struct bloom_standard_walk *walk, uint64_t bits)
{
    uint64_t position = (uint64_t)(((unsigned __int128)walk->place * bits) >> 64);

    walk->bend += 0x9E3779B97F4A7C15u;
    walk->place += walk->step;
    walk->step += walk->bend;
    return position;
}

/* ---- one line of BLOCKED, for filters that grow in memory ---- */

/* The line (0..lines-1) of a hash. */
static inline uint64_t
bloom_line(uint64_t hash, uint64_t lines)
{
    return (uint64_t)(((unsigned __int128)hash * lines) >> 64);
}

/* The next position in the line, 0..511.  `walk` starts as the hash; k calls give its k
 * positions. */
static inline unsigned
bloom_line_next(uint64_t *walk)
{
    *walk *= 0x9E3779B97F4A7C15u;
    return (unsigned)(*walk >> 55);
}

/*
 * The question to one line, whose bits `look` reads: the one at the next position is the lowest of
 * its result; those above it are others. Four probes go without a branch between them: a branch
 * after each is mispredicted half of the time, which costs more than the probes, and one in sixteen
 * absent keys goes on to the next four.
 */
__attribute__((always_inline)) static inline bool
bloom_line_ask(const void *line, unsigned probes, uint64_t hash,
               uint64_t (*look)(const void *line, uint64_t *walk))
{
    uint64_t walk = hash, set = 1;

    for (; probes >= 4; probes -= 4) {
        set &= look(line, &walk);
        set &= look(line, &walk);
        set &= look(line, &walk);
        set &= look(line, &walk);
        if (set == 0)
            return false;
    }
    for (; probes > 0; probes--)
        set &= look(line, &walk);
    return set != 0;
}

/* In a line that nobody changes. */
static inline uint64_t
bloom_line_bit(const void *line, uint64_t *walk)
{
    unsigned position = bloom_line_next(walk);

    return load_word((const uint8_t *)line + 8 * (*walk >> 61)) >> position % 64;
}

static inline bool
bloom_line_may_contain(const uint8_t *line, unsigned probes, uint64_t hash)
{
    return bloom_line_ask(line, probes, hash, bloom_line_bit);
}

/* ---- one hash asked of several filters ---- */

/* So many of a hash's positions are looked at together: most absent keys miss one of them. */
#define BLOOM_FIRST_PROBES 4

/* Two words, which machines that can look at together. */
typedef uint64_t bloom_words __attribute__((vector_size(16)));

/* Their bits as they stand in a line, whichever it is. */
struct bloom_first_bits {
    bloom_words words[BLOOM_LINE_BYTES / sizeof(bloom_words)];
};

static inline void
bloom_first_bits(uint64_t hash, struct bloom_first_bits *bits)
{
    uint64_t walk = hash;

    memset(bits, 0, sizeof *bits);
#pragma GCC unroll 4
    for (unsigned i = 0; i < BLOOM_FIRST_PROBES; i++) {
        unsigned position = bloom_line_next(&walk);
        uint64_t *word = (uint64_t *)bits->words + position / 64;

        *word |= little_endian_word(UINT64_C(1) << position % 64);
    }
}

/* Are all of them set in the line? */
static inline bool
bloom_line_has_first(const uint8_t *line, const struct bloom_first_bits *bits)
{
    bloom_words missing = {0}, words;

#pragma GCC unroll 4
    for (unsigned i = 0; i < sizeof *bits / sizeof words; i++) {
        memcpy(&words, line + i * sizeof words, sizeof words);
        missing |= bits->words[i] & ~words;
    }
    return (missing[0] | missing[1]) == 0;
}

/* Then the line's answer for a filter of more than so many probes follows from the rest of them. */
static inline bool
bloom_line_may_contain_rest(const uint8_t *line, unsigned probes, uint64_t hash)
{
    uint64_t walk = hash;

    for (unsigned i = 0; i < BLOOM_FIRST_PROBES; i++)
        bloom_line_next(&walk);
    return bloom_line_may_contain(line, probes - BLOOM_FIRST_PROBES, walk);
}

#endif
