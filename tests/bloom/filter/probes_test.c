/*
 * probes_test.c -- no filter denies a key that was added, by whichever call it was added and is
 * asked for. PETAL_PROBES says how many questions each kind is asked; about 2.5
 * million, or 25 million under PETAL_LONG.
 */

#include "bloom/petal_bloom.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOST_KEYS 100000

static uint64_t seed, wanted;

static void
add_all(struct test_random *random, petal_bloom *bloom, const uint64_t *hashes, size_t count)
{
    for (size_t i = 0, part; i < count; i += part) {
        part = 1 + test_random_below(random, 200);
        if (part > count - i)
            part = count - i;
        assert_int_equal(petal_bloom_add_hashes(bloom, hashes + i, part, NULL, NULL), PETAL_OK);
    }
}

static void
ask_all(const petal_bloom *bloom, const uint64_t *hashes, size_t count, bool *answers)
{
    size_t passed = petal_bloom_may_contain_hashes(bloom, hashes, count, answers);

    for (size_t i = 0; i < count; i++)
        if (!answers[i] || (i % 4 == 0 && !petal_bloom_may_contain_hash(bloom, hashes[i])))
            fail_msg("a key is denied: %" PRIx64 ", %zu of %zu, seed %" PRIu64, hashes[i], i, count,
                     seed);
    assert_int_equal(passed, count);
}

/* A filter that takes keys, made for some number of them. */
static petal_bloom *
filled(struct test_random *random, petal_bloom_options options, const uint64_t *hashes,
       size_t count)
{
    petal_bloom *bloom;

    options.keys = 1 + test_random_below(random, 2 * count);
    assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
    add_all(random, bloom, hashes, count);
    return bloom;
}

/* One that is built once of all keys. */
static petal_bloom *
built(petal_bloom_options filter, const uint64_t *hashes, size_t count)
{
    petal_bloom_builder_options options = {.filter = filter};
    petal_bloom_builder *builder;
    petal_bloom *bloom;

    assert_int_equal(petal_bloom_builder_create(&options, &builder, NULL), PETAL_OK);
    assert_int_equal(petal_bloom_builder_add_hashes(builder, hashes, count, NULL), PETAL_OK);
    assert_int_equal(petal_bloom_builder_finish(builder, &bloom, NULL), PETAL_OK);
    petal_bloom_builder_free(builder);
    return bloom;
}

static void
probe(enum petal_bloom_kind kind)
{
    static const double rates[] = {0.0001, 0.001, 0.01, 0.05, 0.3};
    uint64_t *hashes = test_allocate(MOST_KEYS * sizeof *hashes), probes = 0;
    bool *answers = test_allocate(MOST_KEYS);
    struct test_random random;

    test_random_init(&random, seed + kind);
    while (probes < wanted) {
        size_t count = 1 + test_random_below(&random, MOST_KEYS) %
                               (UINT64_C(1) << (1 + test_random_below(&random, 17)));
        petal_bloom_options options = {.kind = kind, .rate = rates[test_random_below(&random, 5)]};
        petal_bloom *bloom;

        for (size_t i = 0; i < count; i++)
            hashes[i] = test_random_next(&random);
        bloom = kind < PETAL_BLOOM_KIND_RIBBON ? filled(&random, options, hashes, count)
                                               : built(options, hashes, count);
        ask_all(bloom, hashes, count, answers);
        probes += count + count / 4;
        petal_bloom_free(bloom);
    }
    free(answers);
    free(hashes);
    test_counted("kind %d: %" PRIu64 " probes, none in vain", (int)kind, probes);
}

TEST(blocked_filters_deny_no_key)
{
    probe(PETAL_BLOOM_KIND_BLOCKED);
}

TEST(counting_filters_deny_no_key)
{
    probe(PETAL_BLOOM_KIND_COUNTING);
}

TEST(growing_filters_deny_no_key)
{
    probe(PETAL_BLOOM_KIND_GROWING);
}

TEST(ribbon_filters_deny_no_key)
{
    probe(PETAL_BLOOM_KIND_RIBBON);
}

int
main(void)
{
    const char *probes = getenv("PETAL_PROBES");

    seed = test_seed();
    wanted = probes != NULL ? strtoull(probes, NULL, 10)
             : test_long()  ? 25000000
             : test_short() ? 250000
                            : 2500000;
    return test_run();
}
