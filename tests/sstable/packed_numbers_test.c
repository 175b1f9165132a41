/*
 * packed_numbers_test.c -- arrays of numbers come back, take the bits they need, and damage to them
 * stays within bounds.
 */
#include "sstable/packed_numbers.h"
#include "tests/support/test_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the numbers take; read again they are the same. */
static size_t
taken(const uint64_t *numbers, size_t count, enum packed_hint hint)
{
    uint8_t bytes[8 * PACKED_GROUP + PACKED_GROUP_EXTRA];
    uint64_t read[PACKED_GROUP];
    size_t size = (size_t)(packed_numbers_put(bytes, numbers, count, hint) - bytes);
    uint8_t *exact = test_allocate(size);

    assert_in_range(size, 3, 8 * count + PACKED_GROUP_EXTRA);
    memcpy(exact, bytes, size);
    assert_ptr_equal(packed_numbers_get(exact, exact + size, read, count), exact + size);
    assert_memory_equal(read, numbers, count * sizeof *read);
    assert_ptr_equal(packed_numbers_skip(exact, exact + size, count), exact + size);
    for (size_t less = 0; less < size; less++) {
        assert_null(packed_numbers_get(exact, exact + less, read, count));
        assert_null(packed_numbers_skip(exact, exact + less, count));
    }
    free(exact);
    return size;
}

static void
numbers_of_all_widths_come_back(void **state)
{
    struct test_random random;

    (void)state;
    test_random_init(&random, test_seed());
    for (unsigned width = 0; width <= 64; width++) {
        for (size_t count = 1; count <= PACKED_GROUP; count += 1 + count / 3) {
            uint64_t numbers[PACKED_GROUP], base = test_random_next(&random) >> 1;

            for (size_t i = 0; i < count; i++)
                numbers[i] = base + (width == 0 ? 0 : test_random_next(&random) >> (64 - width));
            assert_in_range(taken(numbers, count, PACKED_ANY), 3, 14 + (width * count + 7) / 8 + 8);
            if (width == 64)
                continue;
            for (size_t i = 1; i < count; i++)
                numbers[i] = numbers[i - 1] + (test_random_next(&random) & 1);
            if (numbers[count - 1] >= numbers[0])
                taken(numbers, count, PACKED_ASCENDING);
        }
    }
}

static void
numbers_take_the_bits_they_need(void **state)
{
    uint64_t numbers[100];

    (void)state;
    /* All equal, and equally far from one another: no bits. */
    for (size_t i = 0; i < 100; i++)
        numbers[i] = 5;
    assert_int_equal(taken(numbers, 100, PACKED_ANY), 3);
    for (size_t i = 0; i < 100; i++)
        numbers[i] = 1000000 + 77 * i;
    assert_int_equal(taken(numbers, 100, PACKED_ANY), 2 + 3 + 1);
    assert_int_equal(taken(numbers, 100, PACKED_ASCENDING), 2 + 3 + 1);
    /* From 0 to 1023 to and fro: 10 bits each. */
    for (size_t i = 0; i < 100; i++)
        numbers[i] = 1 + i * 619 % 1024;
    numbers[7] = 1;
    numbers[8] = 1024;
    assert_int_equal(taken(numbers, 100, PACKED_ANY), 3 + 125);
    /* One far one costs its own bits alone. */
    numbers[50] = (uint64_t)1 << 50;
    assert_in_range(taken(numbers, 100, PACKED_ANY), 3 + 125 + 7, 3 + 125 + 8);
    /* Ten times the same, then another: the steps to others are the exceptions. */
    for (size_t i = 0; i < 100; i++)
        numbers[i] = 1 + i / 10 * 7919 % 10000;
    assert_in_range(taken(numbers, 100, PACKED_ANY), 10, 60);
}

static void
damaged_numbers_stay_in_bounds(void **state)
{
    unsigned rounds = test_long() ? 1000000 : 50000;
    struct test_random random;
    uint64_t numbers[PACKED_GROUP];
    uint8_t bytes[8 * PACKED_GROUP + PACKED_GROUP_EXTRA];

    (void)state;
    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        size_t count = 1 + test_random_below(&random, PACKED_GROUP);
        size_t size = test_random_below(&random, 300);
        uint8_t *exact = test_allocate(size + 1);
        const uint8_t *end;

        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)test_random_next(&random);
        bytes[0] &= (uint8_t)(round % 2 != 0 ? 0xff : 0x0f);
        bytes[1] &= (uint8_t)(round % 3 != 0 ? 0x0f : 0x7f);
        memcpy(exact, bytes, size);
        end = packed_numbers_get(exact, exact + size, numbers, count);
        assert_ptr_equal(packed_numbers_skip(exact, exact + size, count), end);
        assert_true(end == NULL || end <= exact + size);
        free(exact);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_all_widths_come_back),
        cmocka_unit_test(numbers_take_the_bits_they_need),
        cmocka_unit_test(damaged_numbers_stay_in_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
