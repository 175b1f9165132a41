/*
 * probes_test.c -- no filter denies a key that it holds: many keys of all three domains, in filters
 * of all layouts, of many sizes and rates, and in one that grows. Each probe is of a key that was
 * built in. PETAL_PROBES says how many for each kind; 2 million, or 100 million under PETAL_LONG.
 */
#include "base/mem.h"
#include "bloom/bloom.h"
#include "bloom/growing.h"
#include "bloom/hash.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_KEYS 40000

static uint64_t seed, wanted;

/* Rows of 1 to 40 bytes of both signs, columns of them, and markers. */
static void
make_keys(struct test_random *random, uint64_t *hashes, size_t count)
{
    uint8_t bytes[40];
    uint64_t salt = test_random_next(random);

    for (size_t i = 0; i < count; i++) {
        size_t size = 1 + test_random_below(random, sizeof bytes);
        uint64_t row;

        test_random_bytes(random, bytes, size);
        row = bloom_hash_row(salt, bytes, size);
        hashes[i] = i % 3 == 0   ? row
                    : i % 3 == 1 ? bloom_hash_column(row, bytes, size / 2)
                                 : bloom_hash_family_marker(row);
    }
}

/* The bytes of a filter of the keys, of which the size is *size. */
static uint8_t *
build(const struct bloom_plan *plan, const uint64_t *hashes, size_t count, size_t *size)
{
    struct bloom_shape shape = bloom_plan_shape(plan, count);
    struct bloom_ribbon ribbon = bloom_ribbon_shape(count, plan->rate, 0);
    uint8_t *bytes = test_allocate(*size = bloom_bytes(&shape));
    void *work;

    if (shape.layout != BLOOM_RIBBON) {
        bloom_build(&shape, hashes, count, bytes);
        return bytes;
    }
    assert_int_equal(bloom_ribbon_bytes(&ribbon), *size);
    work = test_allocate(bloom_ribbon_work_bytes(&ribbon));
    assert_true(bloom_ribbon_build(&ribbon, hashes, count, work, bytes));
    free(work);
    return bytes;
}

static void
probe_layout(enum bloom_layout layout)
{
    uint64_t *hashes = test_allocate(MOST_KEYS * sizeof *hashes);
    struct test_random random;
    uint64_t probes = 0;

    test_random_init(&random, seed + layout);
    while (probes < wanted) {
        static const double rates[] = {0.0001, 0.001, 0.01, 0.05, 0.3};
        size_t count =
            1 +
            test_random_below(&random, UINT64_C(1) << test_random_below(&random, 16)) % MOST_KEYS;
        struct bloom_plan plan;
        struct bloom_filter filter;
        uint8_t *bytes;
        size_t size;

        bloom_plan_init(&plan, layout, rates[test_random_below(&random, 5)]);
        make_keys(&random, hashes, count);
        bytes = build(&plan, hashes, count, &size);
        assert_true(bloom_open(&filter, bytes, size));
        for (size_t i = 0; i < count; i++)
            if (!bloom_may_contain(&filter, hashes[i]))
                fail_msg("a key is denied: %" PRIx64 " of %zu, seed %" PRIu64, hashes[i], count,
                         seed);
        probes += count;
        free(bytes);
    }
    free(hashes);
    test_counted("%" PRIu64 " probes, none in vain", probes);
}

TEST(standard_filters_deny_no_key)
{
    probe_layout(BLOOM_STANDARD);
}

TEST(blocked_filters_deny_no_key)
{
    probe_layout(BLOOM_BLOCKED);
}

TEST(ribbon_filters_deny_no_key)
{
    probe_layout(BLOOM_RIBBON);
}

static void
give_room(struct bloom_growing *bloom, size_t keys)
{
    size_t bytes = bloom_growing_wants(bloom, keys), replaced;
    void *before;

    if (bytes == 0)
        return;
    before = bloom_growing_give(
        bloom, mem_alloc_aligned(&mem_default_allocator, BLOOM_GROWING_ALIGNMENT, bytes), bytes,
        &replaced);
    mem_free(&mem_default_allocator, before, replaced);
}

/* All keys so far are asked for while it grows. */
TEST(growing_filters_deny_no_key)
{
    uint64_t *hashes = test_allocate(MOST_KEYS * sizeof *hashes);
    struct test_random random;
    uint64_t probes = 0;

    test_random_init(&random, seed);
    while (probes < wanted) {
        size_t count = 1 + test_random_below(&random, MOST_KEYS), bytes;
        struct bloom_growing bloom;
        void *memory;

        bloom_growing_init(&bloom);
        make_keys(&random, hashes, count);
        for (size_t i = 0; i < count; i++) {
            give_room(&bloom, 1);
            bloom_growing_add(&bloom, hashes[i]);
            if ((i & (i + 1)) != 0 && i + 1 != count)
                continue;
            for (size_t asked = 0; asked <= i; asked++)
                if (!bloom_growing_may_contain(&bloom, hashes[asked]))
                    fail_msg("a key is denied: %" PRIx64 ", seed %" PRIu64, hashes[asked], seed);
            probes += i + 1;
        }
        while ((memory = bloom_growing_take_back(&bloom, &bytes)) != NULL)
            mem_free(&mem_default_allocator, memory, bytes);
    }
    free(hashes);
    test_counted("%" PRIu64 " probes, none in vain", probes);
}

int
main(void)
{
    const char *probes = getenv("PETAL_PROBES");

    seed = test_seed();
    wanted = probes != NULL ? strtoull(probes, NULL, 10)
             : test_long()  ? 100000000
             : test_short() ? 200000
                            : 2000000;
    return test_run();
}
