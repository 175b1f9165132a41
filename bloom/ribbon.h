/*
 * ribbon.h -- ribbon filters over 64-bit hashes, in bytes and work memory that the caller holds.
 * Built once, from all keys; within some per cent of the fewest bits that there can be (Dillinger
 * and Walzer 2021: standard ribbon, 128 coefficients a key, solutions interleaved).  As a layout of
 * bloom.h, whose bloom_open and bloom_may_contain ask them; knows nothing of the others.
 *
 * A filter is a matrix of bits: `slots` rows, some columns.  A key's hash names a START among the
 * rows, 128 COEFFICIENTS for the rows from there on, of which the first is 1, and for each column a
 * bit that is EXPECTED.  Building solves for each column the linear equations "the rows that the
 * coefficients take, added modulo 2, are the expected bit".  A key that is not in the filter passes
 * where all its equations happen to hold, which for c columns is one time in 2^c.
 *
 * Any rate comes of two numbers of columns: the rows are cut into BLOCKS of 128, the last one of
 * fewer; the first `narrow` blocks have `columns` columns, those after one more.  A key has the
 * columns of the block that it starts in; but in the first block after the narrow ones keys that
 * start in the first 8 * `fewer` rows do without the last of them, so that small filters, too, meet
 * the rate.
 *
 * In 64-bit arithmetic that wraps, for the hash h, with the filter's seed:
 *     x         h ^ (seed + 1) * 9E3779B97F4A7C15;  x ^= x >> 32;  x *= D6E8FEB86659FD93;
 *               x ^= x >> 32
 *     start     x * (slots - 64) / 2^64, less 32, but at least 0 and at most slots - 129: both ends
 *               get more keys, without which they would stay half empty
 *     coeffi-   y = x * C28F82822B650BED;  y ^= y >> 32;  bit 0 of y is set: those of the rows
 *      cients   start to start + 63, bit 0 first;  of the rows after: the same of
 *               x * D1B54A32D192ED03, but that no bit is set
 *     expected  bit i of the highest 32 of x * A24BAED4963EE407: that of the column which a
 *               question looks at as its i-th
 *
 * Bytes of a filter: the bits, then a footer of 16 bytes (little endian):
 *     0  u32  keys     number of keys it was built for
 *     4  u8   layout   3
 *     5  u8   columns  of the narrow blocks, 1..20; 20 only if all blocks are narrow
 *     6  u8   seed
 *     7  u8   fewer    0..15; 0 if all blocks are narrow
 *     8  u32  slots / 8; slots are 136 or more
 *    12  u32  narrow   at most the number of blocks, slots / 128 rounded up
 * The bits of a block are its columns, one after the other, of 16 bytes each; in the last block of
 * as many as its slots take, 8 in each; a column's bit b is bit b % 8 of its byte b / 8 and that of
 * row b of the block.  A question starts in a block, ends in the next one, and looks outward from
 * where they meet: its i-th column is the last but i of the first block and the i-th from 0 of the
 * second.  So 32 bytes that lie side by side are a column, 64 are two, which three of four absent
 * keys do not pass: a cache line or two.  (Which column of one block goes on in which of the next
 * follows: in narrow blocks, and in the others, every second one has them in reverse.)
 *
 * SIZE of what bloom_ribbon_shape gives, above keys * log2(1 / rate) bits, in per cent, footer
 * included (build/tests/bloom/ribbon_test prints it):
 *
 *        keys   rate 0.1    0.01   0.005   0.001  0.0001
 *        1000        9.8     6.2     5.5     2.4     3.3
 *        2000        7.4     2.9     2.6     1.4     1.9
 *        4000        5.2     3.0     2.8     1.7     2.1
 *       10000        4.5     3.1     2.9     1.9     2.2
 *       32000        4.4     3.1     3.0     2.0     2.5
 *      100000        4.9     3.6     3.5     2.5     3.0
 *     1000000        6.3     5.0     4.9     3.9     4.4
 *    10000000        7.7     6.5     6.3     5.4     5.9
 *
 * Three parts: the slots that no key needs, which grow with the logarithm of the keys, so that many
 * are better cut into several filters; up to 64 slots at the ends; and of rates between two powers
 * of two up to 0.09 bits a key, since a mixture of two rates takes more than the one between, which
 * above a rate of 0.2 is more than 5 per cent.
 *
 * Threads: all functions are pure but for what they write through their arguments.
 */
#ifndef PETAL_BLOOM_RIBBON_H
#define PETAL_BLOOM_RIBBON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOOM_RIBBON_LAYOUT       3 /* stored */
#define BLOOM_RIBBON_FOOTER_BYTES 16
#define BLOOM_RIBBON_MAX_COLUMNS  20
#define BLOOM_RIBBON_BLOCK_SLOTS  128
#define BLOOM_RIBBON_MIN_RATE     1e-6
#define BLOOM_RIBBON_MAX_RATE     0.5

/* How a filter is laid out. */
struct bloom_ribbon {
    uint64_t slots;
    uint32_t narrow;
    uint8_t columns;
    uint8_t seed;
    uint8_t fewer;
};

/* Sizes that are tried, each a little larger, before building is given up. */
#define BLOOM_RIBBON_SIZES 8

/*
 * The shape for `keys` keys (0 counts as 1; at most UINT32_MAX) with the expected rate nearest
 * to `rate`, which is 1e-6 to 0.5, but not above it.  `size`: 0; where building failed 1, and so on
 * up to BLOOM_RIBBON_SIZES - 1.
 */
struct bloom_ribbon bloom_ribbon_shape(uint64_t keys, double rate, unsigned size);

/* The probability that a filter of this shape, whatever its keys are, lets an absent key pass. */
double bloom_ribbon_expected_rate(const struct bloom_ribbon *ribbon);

/* Bytes of a filter of this shape, footer included. */
size_t bloom_ribbon_bytes(const struct bloom_ribbon *ribbon);

/* Bytes of work memory that building takes. */
size_t bloom_ribbon_work_bytes(const struct bloom_ribbon *ribbon);

/*
 * Build the filter of `ribbon` over hashes[0..count), in any order, equal ones included, in `bytes`
 * (bloom_ribbon_bytes of them, overwritten) with `work` (bloom_ribbon_work_bytes, on a border of 8;
 * what it holds is no matter).  Up to 64 seeds are tried; ribbon->seed is that which fits.  False:
 * none does, the bytes are none of a filter; of the shapes that bloom_ribbon_shape gives for so
 * many keys less than one in five times a seed does not.
 * REQUIRES: count <= UINT32_MAX, a shape that bloom_ribbon_open would take.
 */
bool bloom_ribbon_build(struct bloom_ribbon *ribbon, const uint64_t *hashes, size_t count,
                        void *work, uint8_t *bytes);

/* Read a footer that is kept apart: bloom_ribbon_bytes says how many bytes belong to it.  False
 * when it is none of such a filter: then that is not to be asked. */
bool bloom_ribbon_read_footer(struct bloom_ribbon *ribbon, const uint8_t *footer);

/* The same of a filter in one piece; the footer is the last of the `size` bytes. */
bool bloom_ribbon_open(struct bloom_ribbon *ribbon, const uint8_t *bytes, size_t size);

/* False only if no key with this hash was built in.  `bytes` are those of the filter, its footer
 * included, which may be read; where that is kept apart, any 16 bytes after the others may. */
bool bloom_ribbon_may_contain(const struct bloom_ribbon *ribbon, const uint8_t *bytes,
                              uint64_t hash);

/* A question that was begun: where it goes on looking, what the columns there are added up under,
 * and what is expected of them. */
struct bloom_ribbon_question {
    const uint8_t *low, *middle, *high;
    ptrdiff_t middle_step, high_step;
    uint64_t coefficients[3];
    uint32_t expected;
    uint32_t columns;
};

/* A question in two steps, between which others can be begun: what it looks at first is loaded
 * meanwhile.  The answer is that of bloom_ribbon_may_contain. */
void bloom_ribbon_begin(struct bloom_ribbon_question *question, const struct bloom_ribbon *ribbon,
                        const uint8_t *bytes, uint64_t hash);
bool bloom_ribbon_answer(const struct bloom_ribbon_question *question);

#endif
