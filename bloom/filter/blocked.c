/* blocked.c -- filters of kind BLOCKED: a key's bits lie in one cache line (lines.h). */
#include "bloom/filter/fill.h"
#include "bloom/filter/lines.h"

#include <math.h>

static bool
blocked_may_contain_hash(const petal_bloom *bloom, uint64_t hash)
{
    const struct filter_array *array = filter_array_of_const(bloom);

    return filter_line_may_contain(filter_line_const(array->words, array->lines, hash),
                                   bloom->probes, hash);
}

static size_t
blocked_may_contain_hashes(const petal_bloom *bloom, const uint64_t *hashes, size_t count,
                           bool *answers)
{
    const struct filter_array *array = filter_array_of_const(bloom);
    const filter_word *words = array->words;
    uint64_t lines = array->lines;
    size_t passed = 0;

    for (size_t i = 0; i < count && i < FILTER_AHEAD; i++)
        filter_line_prefetch(words, lines, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        if (count - i > FILTER_AHEAD)
            filter_line_prefetch(words, lines, hashes[i + FILTER_AHEAD]);
        answers[i] = filter_line_may_contain(filter_line_const(words, lines, hashes[i]),
                                             bloom->probes, hashes[i]);
        passed += answers[i];
    }
    return passed;
}

static enum petal_status
blocked_add_hashes(petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *were_new,
                   petal_error *error)
{
    struct filter_array *array = filter_array_of(bloom);

    (void)error;
    for (size_t i = 0; i < count && i < FILTER_AHEAD; i++)
        filter_line_prefetch(array->words, array->lines, hashes[i]);
    for (size_t i = 0; i < count; i++) {
        bool was_new;

        if (count - i > FILTER_AHEAD)
            filter_line_prefetch(array->words, array->lines, hashes[i + FILTER_AHEAD]);
        was_new = filter_line_add(filter_line(array->words, array->lines, hashes[i]), bloom->probes,
                                  hashes[i]);
        if (were_new != NULL)
            were_new[i] = was_new;
    }
    return PETAL_OK;
}

static double
blocked_present_rate(const petal_bloom *bloom)
{
    const struct filter_array *array = filter_array_of_const(bloom);
    struct filter_fill fill;

    filter_fill_init(&fill, &array->shape, array->words);
    return filter_fill_rate(&fill);
}

static uint64_t
blocked_count(const petal_bloom *bloom)
{
    const struct filter_array *array = filter_array_of_const(bloom);
    struct filter_fill fill;

    filter_fill_init(&fill, &array->shape, array->words);
    return (uint64_t)llround(filter_fill_keys(&fill));
}

const struct filter_kind filter_blocked = {
    .plan = filter_array_plan,
    .create = filter_array_create,
    .free = filter_array_free,
    .add_hashes = blocked_add_hashes,
    .clear = filter_array_clear,
    .may_contain_hash = blocked_may_contain_hash,
    .may_contain_hashes = blocked_may_contain_hashes,
    .extent = filter_array_extent,
    .expected_rate = filter_array_expected_rate,
    .present_rate = blocked_present_rate,
    .count = blocked_count,
    .unite = filter_array_unite,
    .intersect = filter_array_intersect,
    .save = filter_array_save,
    .open = filter_array_open,
};
