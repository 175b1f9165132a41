/* test_support_test.c -- the tools that other tests trust. */
#include "tests/support/test_support.h"

#include "base/mem.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(the_allocator_counts_what_is_not_released)
{
    struct test_allocator allocator;
    void *one, *other;

    test_allocator_init(&allocator);
    one = mem_alloc(&allocator.table, 100);
    other = mem_alloc_aligned(&allocator.table, 4096, 5);
    assert_int_equal((uintptr_t)other % 4096, 0);
    assert_int_equal(test_allocator_live_bytes(&allocator), 105);
    assert_int_equal(test_allocator_live_blocks(&allocator), 2);
    mem_free(&allocator.table, one, 100);
    assert_int_equal(test_allocator_live_bytes(&allocator), 5);
    mem_free(&allocator.table, other, 5);
    mem_free(&allocator.table, NULL, 5);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    assert_int_equal(test_allocator_calls(&allocator), 2);
}

/* Allocate and release `count` times; which of them succeeded, as bits. */
static unsigned
successes(struct test_allocator *allocator, unsigned count)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < count; i++) {
        void *memory = mem_alloc(&allocator->table, 8);

        bits |= memory != NULL ? 1u << i : 0;
        mem_free(&allocator->table, memory, 8);
    }
    return bits;
}

TEST(the_allocator_fails_when_told)
{
    struct test_allocator allocator;

    test_allocator_init(&allocator);
    assert_int_equal(successes(&allocator, 3), 7);
    test_allocator_fail_at(&allocator, 2, false);
    assert_int_equal(successes(&allocator, 4), 1 + 4 + 8);
    test_allocator_fail_at(&allocator, 2, true);
    assert_int_equal(successes(&allocator, 4), 1);
    assert_int_equal(test_allocator_failures(&allocator), 4);
    test_allocator_fail_at(&allocator, 0, true);
    assert_int_equal(successes(&allocator, 4), 15);
    assert_int_equal(test_allocator_live_blocks(&allocator), 0);
}

TEST(equal_seeds_give_equal_numbers)
{
    /* The first numbers of SplitMix64 from seed 1234567, as its author published them. */
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u};
    struct test_random random;
    bool seen[7] = {false};

    test_random_init(&random, 1234567);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(test_random_next(&random), expected[i]);
    for (int i = 0; i < 1000; i++)
        seen[test_random_below(&random, 7)] = true;
    for (size_t i = 0; i < 7; i++)
        assert_true(seen[i]);
    assert_false(test_random_chance(&random, 0));
    assert_true(test_random_chance(&random, 100));
}

TEST(the_clock_stands_where_it_is_set)
{
    struct test_clock clock;

    test_clock_set(&clock, 1000);
    assert_int_equal(test_clock_ms(&clock), 1000);
    test_clock_advance(&clock, -1500);
    assert_int_equal(test_clock_ms(&clock), -500);
}

TEST(a_temporary_directory_goes_with_all_in_it)
{
    char *directory = test_directory_new();
    char *copy = test_strdup(directory);
    char *inner = test_path(directory, "inner");
    char *path = test_path(inner, "file");
    FILE *file;

    assert_int_equal(mkdir(inner, 0700), 0);
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    test_directory_free(directory);
    assert_int_equal(access(copy, F_OK), -1);
    free(copy);
    free(inner);
    free(path);
}
