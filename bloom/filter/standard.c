/*
 * standard.c -- filters of kind STANDARD: one array of m bits, of which a key's lie anywhere. Of
 * keys that are new, and of threads, what lines.h says holds.
 */
#include "base/inline.h"
#include "base/mem.h"
#include "bloom/filter/fill.h"
#include "bloom/filter/walk_rate.h"

#include <assert.h>
#include <math.h>

/* An absent key mostly misses one of so many. */
#define FIRST_PROBES 2

/* So many hashes are asked for together. */
#define CHUNK 256

/* A key that is added wants a line for each probe. */
#define ADD_AHEAD 8

static inline uint64_t
bit_at(const filter_word *words, uint64_t position)
{
    return filter_word_load(&words[position / 64]) >> position % 64;
}

/* Two probes, then the others, without a branch between them, as bloom_standard_may_contain. */
static inline bool
may_contain(const struct filter_array *array, uint64_t hash)
{
    struct bloom_standard_walk walk = bloom_standard_walk_from(hash);
    uint64_t bits = array->shape.positions, set = 1;
    unsigned probes = array->shape.probes, first = probes < FIRST_PROBES ? probes : FIRST_PROBES;

    for (unsigned i = 0; i < first; i++)
        set &= bit_at(array->words, bloom_standard_next(&walk, bits));
    if ((set & 1) == 0)
        return false;
    for (unsigned i = first; i < probes; i++)
        set &= bit_at(array->words, bloom_standard_next(&walk, bits));
    return (set & 1) != 0;
}

static bool
standard_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    return may_contain(filter_array_of_const(bloom), hash);
}

/* The hashes of a chunk that every probe so far has let pass. */
struct open_hashes {
    size_t count;
    uint16_t index[CHUNK];
    uint64_t position[CHUNK]; /* of the probe under way */
};

/* Ask for the line of each one's probe. */
static ALWAYS_INLINE void
begin_probe(const struct filter_array *array, const uint64_t *hashes, struct open_hashes *open,
            unsigned probe)
{
    for (size_t i = 0; i < open->count; i++) {
        uint64_t position =
            bloom_standard_position(hashes[open->index[i]], probe, array->shape.positions);

        open->position[i] = position;
        mem_prefetch(&array->words[position / 64], 1);
    }
}

/* Look at it, and keep those whose bit is set. */
static inline void
end_probe(const struct filter_array *array, struct open_hashes *open)
{
    size_t left = 0;

    for (size_t i = 0; i < open->count; i++) {
        uint64_t set = bit_at(array->words, open->position[i]) & 1;

        open->index[left] = open->index[i];
        left += set;
    }
    open->count = left;
}

/*
 * Probe by probe through the whole chunk: so no line is loaded for a hash that an earlier probe has
 * ruled out, of absent ones two on average, and the loads of one probe do not wait for each other.
 */
static size_t
ask_chunk(const struct filter_array *array, const uint64_t *hashes, size_t count, bool *answers)
{
    struct open_hashes open;

    assert(count <= CHUNK);
    open.count = count;
    for (size_t i = 0; i < count; i++) {
        open.index[i] = (uint16_t)i;
        answers[i] = false;
    }
    for (unsigned probe = 0; probe < array->shape.probes && open.count > 0; probe++) {
        begin_probe(array, hashes, &open, probe);
        end_probe(array, &open);
    }
    for (size_t i = 0; i < open.count; i++)
        answers[open.index[i]] = true;
    return open.count;
}

static size_t
standard_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                            bool *answers)
{
    const struct filter_array *array = filter_array_of_const(bloom);
    size_t passed = 0;

    for (size_t i = 0; i < count; i += CHUNK)
        passed += ask_chunk(array, hashes + i, count - i < CHUNK ? count - i : CHUNK, answers + i);
    return passed;
}

static ALWAYS_INLINE void
prefetch(const struct filter_array *array, uint64_t hash)
{
    struct bloom_standard_walk walk = bloom_standard_walk_from(hash);

    for (unsigned i = 0; i < array->shape.probes; i++)
        mem_prefetch(&array->words[bloom_standard_next(&walk, array->shape.positions) / 64], 1);
}

static inline bool
add(struct filter_array *array, uint64_t hash)
{
    struct bloom_standard_walk walk = bloom_standard_walk_from(hash);
    bool was_new = false;

    for (unsigned i = 0; i < array->shape.probes; i++) {
        uint64_t position = bloom_standard_next(&walk, array->shape.positions);
        uint64_t bit = little_endian_word(UINT64_C(1) << position % 64);
        filter_word *word = &array->words[position / 64];

        if ((atomic_load_explicit(word, memory_order_relaxed) & bit) == 0)
            was_new |= (atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit) == 0;
    }
    return was_new;
}

static enum petal_status
standard_add_hashes(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
                    petal_error *error)
{
    struct filter_array *array = filter_array_of(bloom);

    (void)error;
    for (size_t i = 0; i < count && i < ADD_AHEAD; i++)
        prefetch(array, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        bool was_new;

        if (count - i > ADD_AHEAD)
            prefetch(array, hashes[i + ADD_AHEAD]);
        was_new = add(array, hashes[i]);
        if (were_new != NULL)
            were_new[i] = was_new;
    }
    return PETAL_OK;
}

static double
bits_set(const struct filter_array *array)
{
    uint64_t set = 0;

    for (uint64_t i = 0; i < array->bytes / 8; i++)
        set += count_bits(filter_word_load(&array->words[i]));
    return (double)set;
}

static double
count_keys(const struct filter_array *array, double set)
{
    return filter_line_keys(set, (double)array->shape.positions, array->shape.probes);
}

static double
standard_present_rate(const petal_bloom *bloom)
{
    const struct filter_array *array = filter_array_of_const(bloom);
    struct bloom_shape shape = {BLOOM_STANDARD, array->shape.probes, array->shape.positions};
    double set = bits_set(array), part = set / (double)shape.bits;

    return filter_walk_rate_at(&shape, count_keys(array, set), fmin(part, 1));
}

static uint64_t
standard_count(const petal_bloom *bloom)
{
    const struct filter_array *array = filter_array_of_const(bloom);

    return (uint64_t)llround(count_keys(array, bits_set(array)));
}

const struct filter_kind filter_standard = {
    .plan = filter_array_plan,
    .create = filter_array_create,
    .free = filter_array_free,
    .add_hashes = standard_add_hashes,
    .clear = filter_array_clear,
    .may_contain_hash = standard_may_contain_hash,
    .may_contain_hashes = standard_may_contain_hashes,
    .extent = filter_array_extent,
    .expected_rate = filter_array_expected_rate,
    .present_rate = standard_present_rate,
    .count = standard_count,
    .unite = filter_array_unite,
    .intersect = filter_array_intersect,
    .save = filter_array_save,
    .open = filter_array_open,
};
