/* growing_test.c -- no key is missed while the filter grows, few others pass, and the caller's
 * memory comes back whole. */

#include "bloom/growing.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct bloom_growing bloom;
    size_t held;
    unsigned segments;
};

static void
give(struct fixture *fixture, size_t bytes)
{
    size_t replaced;
    void *memory = aligned_alloc(BLOOM_GROWING_ALIGNMENT, bytes);

    assert_non_null(memory);
    memset(memory, 0xFF, bytes); /* it need not be zeroed */
    fixture->held += bytes;
    fixture->segments++;
    memory = bloom_growing_give(&fixture->bloom, memory, bytes, &replaced);
    assert_true((memory == NULL) == (replaced == 0));
    if (memory != NULL)
        fixture->segments--;
    fixture->held -= replaced;
    free(memory);
}

static void
reserve(struct fixture *fixture, size_t keys)
{
    size_t bytes = bloom_growing_wants(&fixture->bloom, keys);

    if (bytes == 0)
        return;
    give(fixture, bytes);
    assert_int_equal(bloom_growing_wants(&fixture->bloom, keys), 0);
}

static void
fixture_init(struct fixture *fixture)
{
    *fixture = (struct fixture){.held = 0};
    bloom_growing_init(&fixture->bloom);
}

static void
fixture_fini(struct fixture *fixture)
{
    void *memory;
    size_t bytes;

    while ((memory = bloom_growing_take_back(&fixture->bloom, &bytes)) != NULL) {
        fixture->held -= bytes;
        fixture->segments--;
        free(memory);
    }
    assert_int_equal(fixture->held, 0);
    assert_int_equal(fixture->segments, 0);
}

static uint64_t
key(uint64_t number)
{
    uint64_t x = number * 0x9E3779B97F4A7C15u;

    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

TEST(test_keys_are_found_while_it_grows)
{
    struct fixture fixture;
    unsigned passed = 0;
    const unsigned count = 200000;

    fixture_init(&fixture);
    assert_false(bloom_growing_may_contain(&fixture.bloom, key(1)));
    for (unsigned i = 0; i < count; i++) {
        reserve(&fixture, 1);
        bloom_growing_prefetch(&fixture.bloom, key(i));
        bloom_growing_add(&fixture.bloom, key(i));
        assert_true(bloom_growing_may_contain(&fixture.bloom, key(i)));
    }
    assert_true(fixture.segments > 2);
    for (unsigned i = 0; i < count; i++)
        assert_true(bloom_growing_may_contain(&fixture.bloom, key(i)));
    for (unsigned i = 0; i < count; i++)
        passed += bloom_growing_may_contain(&fixture.bloom, key(count + i));
    assert_true(passed < count / 50);
    fixture_fini(&fixture);
}

TEST(test_a_key_that_is_there_takes_no_room)
{
    struct fixture fixture;
    size_t held;

    fixture_init(&fixture);
    reserve(&fixture, 1);
    held = fixture.held;
    for (unsigned i = 0; i < 100000; i++) {
        assert_int_equal(bloom_growing_wants(&fixture.bloom, 1), 0);
        bloom_growing_add(&fixture.bloom, key(7));
    }
    assert_int_equal(fixture.held, held);
    fixture_fini(&fixture);
}

TEST(test_a_reservation_holds_for_all_its_keys)
{
    const size_t most[] = {1, 341, 342, 10000, 100000};
    struct fixture fixture;
    uint64_t next = 0;

    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        reserve(&fixture, most[i] / 2);
        reserve(&fixture, most[i]); /* a larger one takes the place of the one that was not used */
        for (size_t k = 0; k < most[i]; k++)
            bloom_growing_add(&fixture.bloom, key(next++)); /* asserts that there is room */
    }
    while (next > 0)
        assert_true(bloom_growing_may_contain(&fixture.bloom, key(--next)));
    fixture_fini(&fixture);
}

TEST(test_what_is_no_number_of_bytes)
{
    struct fixture fixture;

    fixture_init(&fixture);
    assert_true(bloom_growing_wants(&fixture.bloom, SIZE_MAX) == SIZE_MAX);
    assert_int_equal(bloom_growing_wants(&fixture.bloom, 0), 0);
    fixture_fini(&fixture);
}
