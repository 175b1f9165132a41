/* number_map_test.c -- pairs are found as long as they are there, beside a plain list of them. */
#include "base/number_map.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"

#define KEYS       40
#define MOST_PAIRS 600

struct pair {
    uint64_t key, value;
};

static size_t
count_in_list(const struct pair *list, size_t count, uint64_t key, uint64_t value)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += list[i].key == key && list[i].value == value;
    return found;
}

static size_t
count_in_map(const struct number_map *map, uint64_t key, uint64_t wanted)
{
    size_t place = 0, found = 0;
    uint64_t value;

    while (number_map_next(map, key, &place, &value))
        found += value == wanted;
    return found;
}

TEST(it_holds_what_a_list_holds)
{
    static struct pair list[MOST_PAIRS];
    struct number_map map = {0};
    struct test_random random;
    size_t count = 0;

    test_random_init(&random, 5);
    assert_int_equal(count_in_map(&map, 1, 1), 0);
    for (unsigned round = 0; round < 20000; round++) {
        bool grows = test_random_below(&random, 2 + (round / 2000 % 2)) == 0;
        struct pair pair = {test_random_below(&random, KEYS) << (round % 3 * 20),
                            test_random_below(&random, 3)};

        if (grows && count < MOST_PAIRS) {
            assert_true(number_map_reserve(&map, &mem_default_allocator, 1));
            number_map_add(&map, pair.key, pair.value);
            list[count++] = pair;
        } else if (!grows && count > 0) {
            size_t which = test_random_below(&random, count);

            number_map_remove(&map, list[which].key, list[which].value);
            list[which] = list[--count];
        }
        assert_int_equal(map.count, count);
        assert_int_equal(count_in_map(&map, pair.key, pair.value),
                         count_in_list(list, count, pair.key, pair.value));
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(count_in_map(&map, list[i].key, list[i].value),
                         count_in_list(list, count, list[i].key, list[i].value));
    number_map_fini(&map, &mem_default_allocator);
}

/* Numbers one after the other, as files have: a search takes few steps. */
TEST(numbers_in_a_row_do_not_meet)
{
    struct number_map map = {0};
    size_t steps = 0;

    assert_true(number_map_reserve(&map, &mem_default_allocator, 100000));
    for (uint64_t number = 1; number <= 100000; number++)
        number_map_add(&map, number, number);
    for (uint64_t number = 1; number <= 100000; number++) {
        size_t place = 0;
        uint64_t value;

        assert_true(number_map_next(&map, number, &place, &value));
        assert_int_equal(value, number);
        steps += place;
    }
    assert_true(steps < 2 * 100000);
    number_map_fini(&map, &mem_default_allocator);
}
