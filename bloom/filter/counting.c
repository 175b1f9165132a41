/*
 * counting.c -- filters of kind COUNTING: as BLOCKED, with a counter of 4 bits in place of each
 * bit, so that keys can be removed. A line of 64 bytes has 128 counters; position i = 0..k-1 of a
 * hash h is the highest 7 bits of h * G^(i+1) (bloom/bloom.h). Counter c of a line is bits 4 * (c %
 * 16) up of word c / 16. Positions that coincide are one counter.
 *
 * A counter that has come to 15 stays there, since nobody knows how many it stands for.
 *
 * THREADS. Each word is changed as a whole, by compare-and-swap, so no counter loses a step. As
 * long as each remove takes back an add that has returned, no counter of a key that is in comes to
 * 0, at any moment: what was added is found, whatever other threads add and remove. Of threads that
 * remove one key together as many take it as it was added, since all begin with the same word. A
 * remove of a key that is not in, and passes by chance, may find that out half way, when another
 * thread removes a key that it shares counters with, and puts back what it has taken: in between,
 * keys of those counters may be missed. Who removes keys that were never added has given up more
 * than that (bloom/petal_bloom.h).
 */
#include "base/mem.h"
#include "bloom/filter/fill.h"

#include <assert.h>
#include <math.h>

#define LOWEST_BITS UINT64_C(0x1111111111111111)

/* ---- one line ---- */

static inline unsigned
next_counter(uint64_t *walk)
{
    return bloom_line_next(walk) >> 2;
}

/* The lowest bit of each counter that is a key's. */
struct key_counters {
    uint64_t words[FILTER_LINE_WORDS];
};

static inline void
find_counters(struct key_counters *counters, unsigned probes, uint64_t hash)
{
    uint64_t walk = hash;

    *counters = (struct key_counters){{0}};
    for (; probes > 0; probes--) {
        unsigned counter = next_counter(&walk);

        counters->words[counter / 16] |= UINT64_C(1) << counter % 16 * 4;
    }
}

/* The lowest bit of each counter that is 15. */
static inline uint64_t
counters_full(uint64_t word)
{
    word &= word >> 2;
    return word & word >> 1 & LOWEST_BITS;
}

static inline bool
swap_word(filter_word *word, uint64_t *before, uint64_t after)
{
    uint64_t stored = little_endian_word(*before);
    bool swapped = atomic_compare_exchange_weak_explicit(
        word, &stored, little_endian_word(after), memory_order_relaxed, memory_order_relaxed);

    *before = little_endian_word(stored);
    return swapped;
}

/* Returns the counters that were 0. */
static inline uint64_t
count_up(filter_word *word, uint64_t counters)
{
    uint64_t before = filter_word_load(word), up;

    do {
        up = counters & ~counters_full(before);
    } while (up != 0 && !swap_word(word, &before, before + up));
    return counters & ~filter_counters_set(before);
}

/* False: one of the counters is 0, and nothing was changed. */
static inline bool
count_down(filter_word *word, uint64_t counters)
{
    uint64_t before = filter_word_load(word), down;

    do {
        if ((counters & ~filter_counters_set(before)) != 0)
            return false;
        down = counters & ~counters_full(before);
    } while (down != 0 && !swap_word(word, &before, before - down));
    return true;
}

static inline uint64_t
counter_bit(const filter_word *line, uint64_t *walk)
{
    unsigned counter = next_counter(walk);
    uint64_t word = filter_word_load(&line[counter / 16]) >> counter % 16 * 4;

    word |= word >> 2;
    return word | word >> 1;
}

/* As filter_line_may_contain (lines.h). */
static inline bool
line_may_contain(const filter_word *line, unsigned probes, uint64_t hash)
{
    uint64_t walk = hash, set = 1;

    for (; probes >= 4; probes -= 4) {
        set &= counter_bit(line, &walk);
        set &= counter_bit(line, &walk);
        set &= counter_bit(line, &walk);
        set &= counter_bit(line, &walk);
        if ((set & 1) == 0)
            return false;
    }
    for (; probes > 0; probes--)
        set &= counter_bit(line, &walk);
    return (set & 1) != 0;
}

static inline bool
line_add(filter_word *line, unsigned probes, uint64_t hash)
{
    struct key_counters counters;
    uint64_t were_clear = 0;

    find_counters(&counters, probes, hash);
    for (unsigned i = 0; i < FILTER_LINE_WORDS; i++)
        if (counters.words[i] != 0)
            were_clear |= count_up(&line[i], counters.words[i]);
    return were_clear != 0;
}

/* ---- the filter ---- */

static inline filter_word *
line_of(const struct filter_array *array, uint64_t hash)
{
    return array->words + FILTER_LINE_WORDS * bloom_line(hash, array->lines);
}

static bool
counting_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    const struct filter_array *array = filter_array_of_const(bloom);

    return line_may_contain(line_of(array, hash), bloom->probes, hash);
}

static size_t
counting_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                            bool *answers)
{
    const struct filter_array *array = filter_array_of_const(bloom);
    size_t passed = 0;

    for (size_t i = 0; i < count && i < FILTER_AHEAD; i++)
        mem_prefetch(line_of(array, hashes[i]), 1);
    for (size_t i = 0; i < count; i++) {
        if (count - i > FILTER_AHEAD)
            mem_prefetch(line_of(array, hashes[i + FILTER_AHEAD]), 1);
        answers[i] = line_may_contain(line_of(array, hashes[i]), bloom->probes, hashes[i]);
        passed += answers[i];
    }
    return passed;
}

static enum petal_status
counting_add_hashes(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
                    petal_error *error)
{
    const struct filter_array *array = filter_array_of(bloom);

    (void)error;
    for (size_t i = 0; i < count && i < FILTER_AHEAD; i++)
        mem_prefetch(line_of(array, hashes[i]), 1);
    for (size_t i = 0; i < count; i++) {
        bool was_new;

        if (count - i > FILTER_AHEAD)
            mem_prefetch(line_of(array, hashes[i + FILTER_AHEAD]), 1);
        was_new = line_add(line_of(array, hashes[i]), bloom->probes, hashes[i]);
        if (were_new != NULL)
            were_new[i] = was_new;
    }
    return PETAL_OK;
}

static bool
counting_remove_hash(petal_bloom *bloom, uint64_t hash)
{
    filter_word *line = line_of(filter_array_of(bloom), hash);
    struct key_counters counters;
    unsigned taken = 0;

    if (!line_may_contain(line, bloom->probes, hash))
        return false;
    find_counters(&counters, bloom->probes, hash);
    while (taken < FILTER_LINE_WORDS &&
           (counters.words[taken] == 0 || count_down(&line[taken], counters.words[taken])))
        taken++;
    if (taken == FILTER_LINE_WORDS)
        return true;
    while (taken-- > 0)
        if (counters.words[taken] != 0)
            (void)count_up(&line[taken], counters.words[taken]);
    return false;
}

static double
counting_present_rate(const petal_bloom *bloom)
{
    const struct filter_array *array = filter_array_of_const(bloom);
    struct filter_fill fill;

    filter_fill_init(&fill, &array->shape, array->words);
    return filter_fill_rate(&fill);
}

static uint64_t
counting_count(const petal_bloom *bloom)
{
    const struct filter_array *array = filter_array_of_const(bloom);
    struct filter_fill fill;

    filter_fill_init(&fill, &array->shape, array->words);
    return (uint64_t)llround(filter_fill_keys(&fill));
}

/* ---- two filters ---- */

/* The sum of each pair of counters; what is 15 or would be more is 15. */
static inline uint64_t
sum_of_counters(uint64_t a, uint64_t b)
{
    const uint64_t even = UINT64_C(0x0F0F0F0F0F0F0F0F);
    uint64_t low = (a & even) + (b & even), high = (a >> 4 & even) + (b >> 4 & even);
    uint64_t low_over = low >> 4 & LOWEST_BITS, high_over = high >> 4 & LOWEST_BITS;

    low = (low | low_over * 15) & even;
    high = (high | high_over * 15) & even;
    return low | high << 4;
}

static void
counting_unite(petal_bloom *bloom, const petal_bloom *other)
{
    struct filter_array *to = filter_array_of(bloom);
    const struct filter_array *from = filter_array_of_const(other);

    assert(to->bytes == from->bytes);
    for (uint64_t i = 0; i < to->bytes / 8; i++) {
        uint64_t sum =
            sum_of_counters(filter_word_load(&to->words[i]), filter_word_load(&from->words[i]));

        atomic_store_explicit(&to->words[i], little_endian_word(sum), memory_order_relaxed);
    }
}

const struct filter_kind filter_counting = {
    .plan = filter_array_plan,
    .create = filter_array_create,
    .free = filter_array_free,
    .add_hashes = counting_add_hashes,
    .remove_hash = counting_remove_hash,
    .clear = filter_array_clear,
    .may_contain_hash = counting_may_contain_hash,
    .may_contain_hashes = counting_may_contain_hashes,
    .extent = filter_array_extent,
    .expected_rate = filter_array_expected_rate,
    .present_rate = counting_present_rate,
    .count = counting_count,
    .unite = counting_unite,
    .save = filter_array_save,
    .open = filter_array_open,
};
