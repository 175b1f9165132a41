/* petal.c -- the kinds of bloom/petal_bloom.h as bloom_kinds. */
#include "tools/bench/bloom_kinds/kind.h"

#include "bloom/petal_bloom.h"
#include "tools/bench/harness/util.h"

#include <stdlib.h>

/* So many hashes a call: answers stay in the nearest cache. */
#define BATCH 256

/* GROWING is not told how many keys come: it is made for this share of them, and has then four
 * fifths of the keys that it has taken memory for. */
#define GROWN 24

/* Of one that is built of all keys at once the builder first, then the filter. */
struct petal_filter_set {
    petal_bloom *bloom;
    petal_bloom_builder *builder;
    uint64_t keys;
};

/* ---- making ---- */

static struct petal_filter_set *
new_set(uint64_t keys)
{
    struct petal_filter_set *set = bench_alloc(sizeof *set);

    *set = (struct petal_filter_set){.keys = keys};
    return set;
}

static void *
create(enum petal_bloom_kind kind, uint64_t keys, double rate, uint64_t expected)
{
    struct petal_filter_set *set = new_set(keys);
    petal_bloom_options options = {
        .size = sizeof options, .kind = kind, .keys = expected, .rate = rate};

    BENCH_MUST("make a filter", petal_bloom_create(&options, &set->bloom, &error));
    return set;
}

static void *
begin_blocked(uint64_t keys, double rate)
{
    return create(PETAL_BLOOM_KIND_BLOCKED, keys, rate, keys);
}

static void *
begin_counting(uint64_t keys, double rate)
{
    return create(PETAL_BLOOM_KIND_COUNTING, keys, rate, keys);
}

static void *
begin_growing(uint64_t keys, double rate)
{
    return create(PETAL_BLOOM_KIND_GROWING, keys, rate, keys < GROWN ? 1 : keys / GROWN);
}

static void
add(void *filter, const uint64_t *keys, size_t count)
{
    struct petal_filter_set *set = filter;

    BENCH_MUST("add to a filter", petal_bloom_add_hashes(set->bloom, keys, count, NULL, &error));
}

/* All hashes wait in memory: what is measured is building, not a disk. */
static void *
begin_ribbon(uint64_t keys, double rate)
{
    struct petal_filter_set *set = new_set(keys);
    petal_bloom_builder_options options = {
        .size = sizeof options,
        .filter = {.size = sizeof options.filter, .keys = keys, .rate = rate}};

    BENCH_MUST("make a builder", petal_bloom_builder_create(&options, &set->builder, &error));
    return set;
}

static void
add_to_builder(void *filter, const uint64_t *keys, size_t count)
{
    struct petal_filter_set *set = filter;

    BENCH_MUST("add to a builder",
               petal_bloom_builder_add_hashes(set->builder, keys, count, &error));
}

static void
finish_builder(void *filter)
{
    struct petal_filter_set *set = filter;

    BENCH_MUST("build a filter", petal_bloom_builder_finish(set->builder, &set->bloom, &error));
    petal_bloom_builder_free(set->builder);
    set->builder = NULL;
}

static void
free_set(void *filter)
{
    struct petal_filter_set *set = filter;

    petal_bloom_builder_free(set->builder);
    petal_bloom_free(set->bloom);
    free(set);
}

static void
tell_facts(const void *filter, struct kinds_facts *facts)
{
    const struct petal_filter_set *set = filter;
    petal_bloom_info info = {.size = sizeof info};

    petal_bloom_get_info(set->bloom, &info);
    facts->bytes = (info.bits + 7) / 8;
    facts->expected = petal_bloom_expected_rate(set->bloom, set->keys);
}

/* ---- asking ---- */

static size_t
ask(const void *filter, const uint64_t *hashes, size_t count)
{
    const petal_bloom *bloom = ((const struct petal_filter_set *)filter)->bloom;
    size_t passed = 0;

    for (size_t i = 0; i < count; i++)
        passed += petal_bloom_may_contain_hash(bloom, hashes[i]);
    return passed;
}

static size_t
ask_alone(const void *filter, const uint64_t *hashes, size_t count)
{
    const petal_bloom *bloom = ((const struct petal_filter_set *)filter)->bloom;
    size_t passed = 0;

    for (size_t i = 0; i < count; i++) {
        passed += petal_bloom_may_contain_hash(bloom, hashes[i]);
        kinds_wait();
    }
    return passed;
}

static size_t
ask_batch(const void *filter, const uint64_t *hashes, size_t count)
{
    const petal_bloom *bloom = ((const struct petal_filter_set *)filter)->bloom;
    bool answers[BATCH];
    size_t passed = 0;

    for (size_t i = 0; i < count; i += BATCH) {
        size_t some = count - i < BATCH ? count - i : BATCH;

        passed += petal_bloom_may_contain_hashes(bloom, hashes + i, some, answers);
    }
    return passed;
}

static size_t
ask_bytes(const void *filter, const petal_slice *keys, size_t count)
{
    const petal_bloom *bloom = ((const struct petal_filter_set *)filter)->bloom;
    size_t passed = 0;

    for (size_t i = 0; i < count; i++)
        passed += petal_bloom_may_contain(bloom, keys[i]);
    return passed;
}

/* ---- the kinds ---- */

#define FILLED(text, begins)                                                                       \
    {                                                                                              \
        .store = "petal", .name = text, .begin = begins, .add = add, .free = free_set,             \
        .facts = tell_facts, .ask = ask, .ask_alone = ask_alone, .ask_batch = ask_batch,           \
        .ask_bytes = ask_bytes                                                                     \
    }

#define BUILT(text, begins)                                                                        \
    {                                                                                              \
        .store = "petal", .name = text, .begin = begins, .add = add_to_builder,                    \
        .finish = finish_builder, .free = free_set, .facts = tell_facts, .ask = ask,               \
        .ask_alone = ask_alone, .ask_batch = ask_batch, .ask_bytes = ask_bytes                     \
    }

const struct bloom_kind bloom_kinds_petal[PETAL_KINDS] = {
    FILLED("blocked", begin_blocked),
    FILLED("counting", begin_counting),
    FILLED("growing", begin_growing),
    BUILT("ribbon", begin_ribbon),
};
