/*
 * ribbon.c -- see ribbon.h for the equations and the bytes.
 *
 * BUILDING is Gaussian elimination while the keys come: `rows` has for each slot at most one
 * equation, whose first coefficient is that slot's.  A key's equation that finds its slot taken is
 * added to the one there, which takes its first coefficient away, and moves on to its next.  If
 * none is left, it says 0 = 0, as of a key that is there twice, or 0 = 1: then the seed is no good.
 * The solution follows from the last slot to the first.
 */
#include "bloom/ribbon.h"

#include "bloom/little_endian.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define BLOCK_SLOTS  BLOOM_RIBBON_BLOCK_SLOTS
#define COLUMN_BYTES (BLOCK_SLOTS / 8)
#define LEAST_SLOTS  (BLOCK_SLOTS + 8)

/* Starts that are drawn beyond each end come to lie at it. */
#define BEYOND_END (BLOCK_SLOTS / 4)

#define MOST_SEEDS 64

/* ---- shapes ---- */

static uint64_t
block_count(const struct bloom_ribbon *ribbon)
{
    return (ribbon->slots + BLOCK_SLOTS - 1) / BLOCK_SLOTS;
}

/* Where a block begins among the bits; that after the last one would begin at their end. */
static uint64_t
block_offset(const struct bloom_ribbon *ribbon, uint64_t block)
{
    uint64_t slots = block * BLOCK_SLOTS, wide = 0;

    if (slots > ribbon->slots)
        slots = ribbon->slots;
    if (block > ribbon->narrow)
        wide = slots - (uint64_t)ribbon->narrow * BLOCK_SLOTS;
    return slots / 8 * ribbon->columns + wide / 8;
}

static unsigned
columns_of_block(const struct bloom_ribbon *ribbon, uint64_t block)
{
    return block < ribbon->narrow ? ribbon->columns : ribbon->columns + 1u;
}

/* Starts that hashes can have. */
static uint64_t
start_count(const struct bloom_ribbon *ribbon)
{
    return ribbon->slots - BLOCK_SLOTS;
}

/* From this one on keys have one column more. */
static uint64_t
first_wide_start(const struct bloom_ribbon *ribbon)
{
    return (uint64_t)ribbon->narrow * BLOCK_SLOTS + 8 * (uint64_t)ribbon->fewer;
}

/* The probability that a key has `columns` columns, not one more. */
static double
share_of_narrow(const struct bloom_ribbon *ribbon)
{
    double starts = (double)start_count(ribbon), narrow = (double)first_wide_start(ribbon);

    if (first_wide_start(ribbon) == 0)
        return 0;
    return narrow >= starts ? 1 : (narrow + BEYOND_END) / (starts + 2 * BEYOND_END);
}

double
bloom_ribbon_expected_rate(const struct bloom_ribbon *ribbon)
{
    return ldexp(1 + share_of_narrow(ribbon), -(int)ribbon->columns - 1);
}

/*
 * Slots with which about four of five seeds fit.  Up to some thousand keys hardly more than keys,
 * since crowds of starts are shorter than 128.  For many keys 0.44 % more for each time that they
 * double, as the longest crowd grows, and what stays empty at both ends.
 */
static uint64_t
slots_for(uint64_t keys, unsigned size)
{
    double count = (double)keys;
    double crowds = fmax(0.0044 * log2(count / 2500), 0) * count;
    double ends = fmin(fmax((count - 2000) / 100, 0), 2 * BEYOND_END - 8) + 8;
    double slots = count + crowds + ends + size * (0.015 * count + 8);

    return slots < LEAST_SLOTS ? LEAST_SLOTS : (uint64_t)ceil(slots / 8) * 8;
}

struct bloom_ribbon
bloom_ribbon_shape(uint64_t keys, double rate, unsigned size)
{
    struct bloom_ribbon ribbon = {.slots = slots_for(keys > 0 ? keys : 1, size), .columns = 1};

    assert(keys <= UINT32_MAX && size < BLOOM_RIBBON_SIZES);
    assert(rate >= BLOOM_RIBBON_MIN_RATE && rate <= BLOOM_RIBBON_MAX_RATE);
    while (ldexp(1, -(int)ribbon.columns - 1) > rate)
        ribbon.columns++;
    ribbon.narrow = (uint32_t)block_count(&ribbon);
    if (ldexp(1, -(int)ribbon.columns) > rate) {
        uint64_t starts = start_count(&ribbon);
        double share = ldexp(rate, (int)ribbon.columns + 1) - 1;
        double narrow = share * ((double)starts + 2 * BEYOND_END) - BEYOND_END;
        uint64_t eights = (uint64_t)fmin(fmax(narrow, 0), (double)(starts - 1)) / 8;

        if (eights > 0) {
            ribbon.narrow = (uint32_t)(eights / (BLOCK_SLOTS / 8));
            ribbon.fewer = eights % (BLOCK_SLOTS / 8);
        } else {
            ribbon.columns++;
        }
    }
    assert(ribbon.columns <= BLOOM_RIBBON_MAX_COLUMNS);
    assert(bloom_ribbon_expected_rate(&ribbon) <= rate * (1 + 1e-9));
    return ribbon;
}

size_t
bloom_ribbon_bytes(const struct bloom_ribbon *ribbon)
{
    return (size_t)block_offset(ribbon, block_count(ribbon)) + BLOOM_RIBBON_FOOTER_BYTES;
}

/* ---- keys ---- */

/* What a key asks of the columns.  The two halves of the coefficients are in the order of slots,
 * the lowest bit first. */
struct key {
    uint64_t start;
    uint64_t first, second;
    uint32_t expected;
};

static inline struct key
key_of(uint64_t slots, unsigned seed, uint64_t hash)
{
    uint64_t x = hash ^ (seed + UINT64_C(1)) * 0x9E3779B97F4A7C15u;
    uint64_t last = slots - BLOCK_SLOTS - 1;
    struct key key;

    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 32;
    key.start = (uint64_t)(((unsigned __int128)x * (slots - 2 * BEYOND_END)) >> 64);
    key.start = key.start < BEYOND_END ? 0 : key.start - BEYOND_END;
    key.start = key.start > last ? last : key.start;
    key.first = x * 0xC28F82822B650BEDu;
    key.first = (key.first ^ key.first >> 32) | 1;
    key.second = x * 0xD1B54A32D192ED03u;
    key.second ^= key.second >> 32;
    key.expected = (uint32_t)(x * 0xA24BAED4963EE407u >> 32);
    return key;
}

/* ---- building ---- */

/* The equation of a slot; no coefficients: it has none. */
struct row {
    uint64_t first, second;
};

/* In the work memory. */
struct banding {
    struct row *rows;
    uint32_t *sides; /* the other side of each equation: a bit for each column */
};

static struct banding
banding_in(void *work, const struct bloom_ribbon *ribbon)
{
    struct row *rows = work;

    assert((uintptr_t)work % sizeof(uint64_t) == 0);
    return (struct banding){rows, (uint32_t *)(void *)(rows + ribbon->slots)};
}

size_t
bloom_ribbon_work_bytes(const struct bloom_ribbon *ribbon)
{
    return (size_t)ribbon->slots * (sizeof(struct row) + sizeof(uint32_t));
}

/* Whether a block has its columns in reverse: see ribbon.h. */
static bool
is_reversed(const struct bloom_ribbon *ribbon, uint64_t block)
{
    return ((block ^ ribbon->narrow) & 1) != 0;
}

/* Columns are numbered as the blocks have them that are not in reverse.  From the block where it
 * starts a question looks at them from the last on. */
static uint32_t
side_of(const struct bloom_ribbon *ribbon, const struct key *key)
{
    uint64_t block = key->start / BLOCK_SLOTS;
    unsigned columns = columns_of_block(ribbon, block);
    uint32_t side = 0;

    if (is_reversed(ribbon, block))
        return key->expected & ((UINT32_C(1) << columns) - 1);
    for (unsigned i = 0; i < columns; i++)
        side |= (key->expected >> i & 1) << (columns - 1 - i);
    return side;
}

/* Add a key's equations.  False: they contradict those that are there. */
static bool
add_key(const struct banding *banding, const struct key *key, uint32_t side)
{
    uint64_t slot = key->start, first = key->first, second = key->second;

    for (;;) {
        struct row *row = &banding->rows[slot];
        unsigned zeros;

        assert((first & 1) != 0);
        if (row->first == 0) {
            *row = (struct row){first, second};
            banding->sides[slot] = side;
            return true;
        }
        first ^= row->first;
        second ^= row->second;
        side ^= banding->sides[slot];
        if (first == 0) {
            if (second == 0)
                return side == 0;
            first = second;
            second = 0;
            slot += 64;
        }
        zeros = (unsigned)__builtin_ctzll(first);
        slot += zeros;
        if (zeros > 0)
            first = first >> zeros | second << (64 - zeros);
        second >>= zeros;
    }
}

static bool
add_all(const struct banding *banding, const struct bloom_ribbon *ribbon, const uint64_t *hashes,
        size_t count)
{
    memset(banding->rows, 0, ribbon->slots * sizeof *banding->rows);
    for (size_t i = 0; i < count; i++) {
        struct key key = key_of(ribbon->slots, ribbon->seed, hashes[i]);

        if (!add_key(banding, &key, side_of(ribbon, &key)))
            return false;
    }
    return true;
}

/* The solution of one column from a slot on: its bit first. */
struct solved {
    uint64_t first, second;
};

/* Put the slot's bits before those that follow it. */
static inline void
solve_slot(const struct row *row, uint32_t side, struct solved *solved, unsigned columns)
{
    for (unsigned column = 0; column < columns; column++, side >>= 1) {
        struct solved *bits = &solved[column];

        bits->second = bits->second << 1 | bits->first >> 63;
        bits->first <<= 1;
        if (row->first != 0)
            bits->first |= ((unsigned)__builtin_parityll((row->first & bits->first) ^
                                                         (row->second & bits->second)) ^
                            side) &
                           1;
    }
}

static void
store_block(const struct bloom_ribbon *ribbon, uint64_t block, const struct solved *solved,
            uint8_t *bytes)
{
    uint64_t left = ribbon->slots - block * BLOCK_SLOTS;
    unsigned column_bytes = left < BLOCK_SLOTS ? (unsigned)left / 8 : COLUMN_BYTES;
    unsigned columns = columns_of_block(ribbon, block);
    uint8_t *to = bytes + block_offset(ribbon, block);

    for (unsigned i = 0; i < columns; i++, to += column_bytes) {
        const struct solved *bits = &solved[is_reversed(ribbon, block) ? columns - 1 - i : i];

        store_little_endian(to, column_bytes < 8 ? column_bytes : 8, bits->first);
        if (column_bytes > 8)
            store_little_endian(to + 8, column_bytes - 8, bits->second);
    }
}

static void
solve(const struct banding *banding, const struct bloom_ribbon *ribbon, uint8_t *bytes)
{
    struct solved solved[BLOOM_RIBBON_MAX_COLUMNS] = {{0, 0}};

    for (uint64_t block = block_count(ribbon); block-- > 0;) {
        unsigned columns = columns_of_block(ribbon, block);
        uint64_t slot = (block + 1) * BLOCK_SLOTS;

        if (slot > ribbon->slots)
            slot = ribbon->slots;
        while (slot-- > block * BLOCK_SLOTS)
            solve_slot(&banding->rows[slot], banding->sides[slot], solved, columns);
        store_block(ribbon, block, solved, bytes);
    }
}

/* Whether such a filter can have been built; said of shapes from disk, so it must not overflow. */
static bool
is_valid(const struct bloom_ribbon *ribbon)
{
    unsigned most = ribbon->columns;

    if (ribbon->slots < LEAST_SLOTS || ribbon->narrow > block_count(ribbon) ||
        ribbon->fewer >= BLOCK_SLOTS / 8)
        return false;
    if (ribbon->narrow < block_count(ribbon))
        most++;
    else if (ribbon->fewer > 0)
        return false;
    return ribbon->columns >= 1 && most <= BLOOM_RIBBON_MAX_COLUMNS;
}

bool
bloom_ribbon_build(struct bloom_ribbon *ribbon, const uint64_t *hashes, size_t count, void *work,
                   uint8_t *bytes)
{
    struct banding banding = banding_in(work, ribbon);
    uint8_t *footer = bytes + bloom_ribbon_bytes(ribbon) - BLOOM_RIBBON_FOOTER_BYTES;

    assert(count <= UINT32_MAX && (count == 0 || hashes != NULL));
    assert(is_valid(ribbon) && ribbon->slots % 8 == 0 && ribbon->slots / 8 <= UINT32_MAX);
    memset(footer, 0, BLOOM_RIBBON_FOOTER_BYTES);
    for (ribbon->seed = 0; !add_all(&banding, ribbon, hashes, count); ribbon->seed++) {
        if (ribbon->seed == MOST_SEEDS - 1)
            return false;
    }
    solve(&banding, ribbon, bytes);
    store_little_endian(footer, 4, count);
    footer[4] = BLOOM_RIBBON_LAYOUT;
    footer[5] = ribbon->columns;
    footer[6] = ribbon->seed;
    footer[7] = ribbon->fewer;
    store_little_endian(footer + 8, 4, ribbon->slots / 8);
    store_little_endian(footer + 12, 4, ribbon->narrow);
    return true;
}

/* ---- opening and asking ---- */

bool
bloom_ribbon_read_footer(struct bloom_ribbon *ribbon, const uint8_t *footer)
{
    ribbon->slots = (uint64_t)load_le32(footer + 8) * 8;
    ribbon->narrow = load_le32(footer + 12);
    ribbon->columns = footer[5];
    ribbon->seed = footer[6];
    ribbon->fewer = footer[7];
    return footer[4] == BLOOM_RIBBON_LAYOUT && is_valid(ribbon);
}

bool
bloom_ribbon_open(struct bloom_ribbon *ribbon, const uint8_t *bytes, size_t size)
{
    return size >= BLOOM_RIBBON_FOOTER_BYTES &&
           bloom_ribbon_read_footer(ribbon, bytes + size - BLOOM_RIBBON_FOOTER_BYTES) &&
           bloom_ribbon_bytes(ribbon) == size;
}

/* Of a key, of which a filter has all equations that its block has. */
static inline unsigned
columns_asked(const struct bloom_ribbon *ribbon, uint64_t start)
{
    return start < first_wide_start(ribbon) ? ribbon->columns : ribbon->columns + 1u;
}

/* The next column's bits under the coefficients. */
static inline uint64_t
next_column(struct bloom_ribbon_question *walk)
{
    uint64_t bits = (load_word(walk->low) & walk->coefficients[0]) ^
                    (load_word(walk->middle) & walk->coefficients[1]) ^
                    (load_word(walk->high) & walk->coefficients[2]);

    walk->low -= COLUMN_BYTES;
    walk->middle += walk->middle_step;
    walk->high += walk->high_step;
    return bits;
}

/* The parities of the next four columns, in the lowest bits of the result, the first one lowest. */
static inline unsigned
next_four(struct bloom_ribbon_question *walk)
{
    const uint64_t half = 0x00000000FFFFFFFFu, quarter = 0x0000FFFF0000FFFFu;
    uint64_t a = next_column(walk), b = next_column(walk), c = next_column(walk),
             d = next_column(walk);

    a = ((a ^ a >> 32) & half) | ((b ^ b << 32) & ~half);
    c = ((c ^ c >> 32) & half) | ((d ^ d << 32) & ~half);
    a = ((a ^ a >> 16) & quarter) | ((c ^ c << 16) & ~quarter);
    a ^= a >> 8;
    a ^= a >> 4;
    a ^= a >> 2;
    a ^= a >> 1;
    a &= 0x0001000100010001u;
    /* Lanes hold columns 0, 2, 1, 3 */
    return (unsigned)((a * 0x0001000400020008u) >> 48) & 15;
}

/*
 * The coefficients are moved to where the key starts in its block: they cover three of the four
 * words that a column has in two blocks.
 * READS of a column in the last block, which is shorter than 16 bytes, end in the column after it
 * or in the footer; what is not the column's meets no coefficient.
 */
__attribute__((always_inline)) static inline void
begin(struct bloom_ribbon_question *question, const struct bloom_ribbon *ribbon,
      const uint8_t *bytes, uint64_t hash)
{
    struct key key = key_of(ribbon->slots, ribbon->seed, hash);
    uint64_t block = key.start / BLOCK_SLOTS;
    unsigned shift = key.start % 64;
    ptrdiff_t second_word = key.start / 64 % 2;
    uint64_t behind = ribbon->slots - (block + 1) * BLOCK_SLOTS;
    ptrdiff_t stride = behind < BLOCK_SLOTS ? (ptrdiff_t)(behind / 8) : COLUMN_BYTES;
    /* Without a branch, which the place of a key in a filter of both kinds of blocks would
     * mislead. */
    uint64_t wide = block + 1 > ribbon->narrow ? block + 1 : ribbon->narrow;
    const uint8_t *low =
        bytes + ((block + 1) * ribbon->columns + (wide - ribbon->narrow) - 1) * COLUMN_BYTES +
        8 * (uint64_t)second_word;

    *question = (struct bloom_ribbon_question){
        .low = low,
        .middle = low + 8,
        .high = low + 16,
        .middle_step = second_word * (stride + COLUMN_BYTES) - COLUMN_BYTES,
        .high_step = stride,
        .coefficients = {key.first << shift, key.second << shift | key.first >> 1 >> (63 - shift),
                         key.second >> 1 >> (63 - shift)},
        .expected = key.expected,
        .columns = columns_asked(ribbon, key.start),
    };
}

/* In line in any case, as `begin` is: what is in the question then stays in registers. */
__attribute__((always_inline)) static inline bool
answer(struct bloom_ribbon_question *walk)
{
    unsigned missing = 0;

    for (; walk->columns >= 4; walk->columns -= 4, walk->expected >>= 4) {
        if (next_four(walk) != (walk->expected & 15))
            return false;
    }
    for (; walk->columns > 0; walk->columns--, walk->expected >>= 1)
        missing |= (unsigned)__builtin_parityll(next_column(walk)) ^ walk->expected;
    return (missing & 1) == 0;
}

bool
bloom_ribbon_may_contain(const struct bloom_ribbon *ribbon, const uint8_t *bytes, uint64_t hash)
{
    struct bloom_ribbon_question question;

    begin(&question, ribbon, bytes, hash);
    return answer(&question);
}

/* Four columns to either side of where two blocks meet, which is what every question looks at, are
 * 128 bytes. */
void
bloom_ribbon_begin(struct bloom_ribbon_question *question, const struct bloom_ribbon *ribbon,
                   const uint8_t *bytes, uint64_t hash)
{
    uintptr_t middle;

    begin(question, ribbon, bytes, hash);
    middle = (uintptr_t)question->low;
    __builtin_prefetch((const void *)(middle - 3 * COLUMN_BYTES));
    __builtin_prefetch((const void *)(middle + COLUMN_BYTES));
    __builtin_prefetch((const void *)(middle + 5 * COLUMN_BYTES - 9));
}

bool
bloom_ribbon_answer(const struct bloom_ribbon_question *question)
{
    struct bloom_ribbon_question walk = *question;

    return answer(&walk);
}
