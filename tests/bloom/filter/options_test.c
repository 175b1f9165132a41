/* options_test.c -- what cannot be meant is refused, and the text says what is wrong. */

#include "bloom/petal_bloom.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <math.h>
#include <string.h>

#define KEYS(...) ((petal_bloom_options){.keys = 100, __VA_ARGS__})

/* Both calls refuse it, for the same reason. */
static void
assert_refused(const petal_bloom_options *options, enum petal_status status, const char *text)
{
    petal_bloom_plan plan = {.size = sizeof plan, .bits = 7};
    petal_bloom *bloom = (petal_bloom *)&plan;
    petal_error error;

    assert_int_equal(petal_bloom_create(options, &bloom, &error), status);
    assert_null(bloom);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, text);
    assert_int_equal(petal_bloom_create(options, &bloom, NULL), status);
    if (status != PETAL_INVALID)
        return;
    assert_int_equal(petal_bloom_plan_for(options, &plan, &error), status);
    assert_true(strstr(error.text, text) != NULL || options == NULL || options->keys == 0);
    assert_int_equal(plan.bits, 0);
    assert_int_equal(plan.size, sizeof plan);
}

TEST(rates_are_checked)
{
    static const struct {
        double rate;
        const char *text;
    } wrong[] = {
        {-0.25, "rate is -0.25; it must lie between 0 and 1"},
        {1, "rate is 1; it must lie between 0 and 1"},
        {1.5, "rate is 1.5; it must lie between 0 and 1"},
        {0.75, "rate is 0.75; it must be 1e-06 to 0.5"},
        {1e-7, "rate is 1e-07; it must be 1e-06 to 0.5"},
        {NAN, "nan; it must lie between 0 and 1"},
        {INFINITY, "rate is inf; it must lie between 0 and 1"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_COUNTING; kind++)
            assert_refused(&KEYS(.rate = wrong[i].rate, .kind = (enum petal_bloom_kind)kind),
                           PETAL_INVALID, wrong[i].text);
}

TEST(numbers_are_checked)
{
    assert_refused(NULL, PETAL_INVALID, "options is NULL");
    assert_refused(&(petal_bloom_options){.kind = PETAL_BLOOM_KIND_COUNTING}, PETAL_INVALID,
                   "keys is 0; kind COUNTING is made for a known number of keys, at least 1");
    assert_refused(&KEYS(.size = 9), PETAL_INVALID, "the size of petal_bloom_options is 9");
    assert_refused(&KEYS(.kind = (enum petal_bloom_kind)6), PETAL_INVALID, "kind is 6");
    assert_refused(&KEYS(.kind = (enum petal_bloom_kind) - 1), PETAL_INVALID, "kind is -1");
    /* It is within store files only. */
    assert_refused(&KEYS(.kind = PETAL_BLOOM_KIND_STANDARD), PETAL_INVALID, "kind is 1");
}

/* What addresses cannot name is one error, what there is not another. */
TEST(memory_is_an_error_of_its_own)
{
    struct test_allocator allocator;
    petal_env env = {.size = sizeof env};

    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_COUNTING; kind++) {
        petal_bloom_options options = {.kind = (enum petal_bloom_kind)kind, .keys = UINT64_MAX};

        assert_refused(&options, PETAL_INVALID,
                       "keys is 18446744073709551615; at a rate of 0.01 they need more memory than "
                       "can be addressed");
        options.keys = UINT64_C(1) << 50;
        assert_refused(&options, PETAL_NO_MEMORY, "bytes was asked for");
    }
    test_allocator_init(&allocator);
    env.allocator = &allocator.table;
    for (uint64_t n = 1; n <= 2; n++) {
        test_allocator_fail_at(&allocator, n, true);
        assert_refused(&KEYS(.env = &env), PETAL_NO_MEMORY, "out of memory");
        test_allocator_fail_at(&allocator, 0, false);
    }
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

TEST(what_is_planned_is_made)
{
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 0.0001, 1e-6};
    static const uint64_t keys[] = {1, 2, 10, 100, 1000, 54321, 1000000};

    for (int kind = PETAL_BLOOM_KIND_BLOCKED; kind <= PETAL_BLOOM_KIND_COUNTING; kind++)
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
            for (size_t j = 0; j < sizeof keys / sizeof *keys; j++) {
                petal_bloom_options options = {
                    .kind = (enum petal_bloom_kind)kind, .rate = rates[i], .keys = keys[j]};
                petal_bloom_plan plan = {.size = sizeof plan};
                petal_bloom_info info = {.size = sizeof info};
                petal_bloom *bloom;

                assert_int_equal(petal_bloom_plan_for(&options, &plan, NULL), PETAL_OK);
                assert_int_equal(petal_bloom_create(&options, &bloom, NULL), PETAL_OK);
                petal_bloom_get_info(bloom, &info);
                assert_int_equal(info.bits, plan.bits);
                assert_int_equal(info.bytes, plan.bytes);
                assert_int_equal(info.probes, plan.probes);
                assert_int_equal(info.keys, keys[j]);
                assert_true(info.rate == rates[i]);
                assert_int_equal(info.kind, kind);
                assert_int_equal(info.segments, 1);
                assert_false(info.is_read_only);
                assert_true(plan.rate > 0 && plan.rate <= rates[i] * 1.0001);
                assert_true(petal_bloom_expected_rate(bloom, keys[j]) == plan.rate);
                petal_bloom_free(bloom);
            }
}
