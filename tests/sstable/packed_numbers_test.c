/*
 * packed_numbers_test.c -- groups of numbers come back, take the bits they need, and damage to them
 * stays within bounds.
 */
#include "sstable/block/packed_numbers.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

/* The bytes that the numbers take; read again they are the same. */
static size_t
taken(const uint64_t *numbers, size_t count, enum packing packing)
{
    uint8_t bytes[PACKED_GROUP_MOST_BYTES];
    uint64_t read[PACKED_GROUP], before = 12345;
    size_t size = (size_t)(packed_numbers_put(bytes, numbers, count, packing, &before) - bytes);
    uint8_t *exact = test_allocate(size);

    assert_in_range(size, 3, sizeof bytes);
    assert_true(packing == PACKED_AS_THEY_ARE || before == numbers[count - 1]);
    memcpy(exact, bytes, size);
    before = 12345;
    assert_ptr_equal(packed_numbers_get(exact, exact + size, read, count, packing, &before),
                     exact + size);
    assert_memory_equal(read, numbers, count * sizeof *read);
    assert_true(packing == PACKED_AS_THEY_ARE || before == numbers[count - 1]);
    for (size_t less = 0; less < size; less++)
        assert_null(packed_numbers_get(exact, exact + less, read, count, packing, &before));
    free(exact);
    return size;
}

TEST(numbers_of_all_widths_come_back)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned width = 0; width <= 64; width++) {
        for (size_t count = 1; count <= PACKED_GROUP; count += 1 + count / 3) {
            uint64_t numbers[PACKED_GROUP], base = test_random_next(&random) >> 1;
            unsigned bits = width > 57 ? 64 : width;

            for (size_t i = 0; i < count; i++)
                numbers[i] = base + (width == 0 ? 0 : test_random_next(&random) >> (64 - width));
            assert_in_range(taken(numbers, count, PACKED_AS_THEY_ARE), 3,
                            12 + bits * count / 8 + 1);
            taken(numbers, count, PACKED_DIFFERENCES);
        }
    }
}

TEST(numbers_take_the_bits_they_need)
{
    uint64_t numbers[PACKED_GROUP];

    /* All equal, and equally far from one another: no bits. */
    for (size_t i = 0; i < PACKED_GROUP; i++)
        numbers[i] = 5;
    assert_int_equal(taken(numbers, PACKED_GROUP, PACKED_AS_THEY_ARE), 3);
    for (size_t i = 0; i < PACKED_GROUP; i++)
        numbers[i] = 1000000 + 77 * i;
    assert_int_equal(taken(numbers, PACKED_GROUP, PACKED_DIFFERENCES), 2 + 1 + 3);
    /* From 1 to 1024: 10 bits each. */
    for (size_t i = 0; i < PACKED_GROUP; i++)
        numbers[i] = 1 + i * 619 % 1024;
    numbers[7] = 1;
    numbers[8] = 1024;
    assert_int_equal(taken(numbers, PACKED_GROUP, PACKED_AS_THEY_ARE), 3 + 80);
    /* A far number takes its own bits only. */
    numbers[50] = (uint64_t)1 << 50;
    assert_in_range(taken(numbers, PACKED_GROUP, PACKED_AS_THEY_ARE), 3 + 80 + 7, 3 + 80 + 8);
}

TEST(damaged_numbers_stay_in_bounds)
{
    unsigned rounds = test_long() ? 1000000 : 50000;
    struct test_random random;
    uint64_t numbers[PACKED_GROUP], before = 0;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < rounds; round++) {
        size_t count = 1 + test_random_below(&random, PACKED_GROUP);
        size_t size = 2 + test_random_below(&random, 300);
        uint8_t *exact = test_allocate(size);
        const uint8_t *end;

        for (size_t i = 0; i < size; i++)
            exact[i] = (uint8_t)test_random_next(&random);
        if (round % 2 != 0)
            exact[0] &= 0x1f;
        if (round % 3 != 0)
            exact[1] &= 0x0f;
        end = packed_numbers_get(exact, exact + size, numbers, count,
                                 round % 2 != 0 ? PACKED_DIFFERENCES : PACKED_AS_THEY_ARE, &before);
        assert_true(end == NULL || end <= exact + size);
        free(exact);
    }
}
