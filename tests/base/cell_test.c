/* cell_test.c -- times to live of single cells, at the ends of the range: files may hold any
 * number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cell.h"

static const struct {
    int64_t timestamp, ttl_ms, death;
} deaths[] = {
    {100, 50, 150},
    {100, 0, 100},
    {100, -7, 93},
    {0, INT64_MIN, INT64_MIN},
    {1, INT64_MAX, INT64_MAX},
    {0, INT64_MAX, INT64_MAX},
    {-1, INT64_MAX, INT64_MAX - 1},
    {-5, 3, -2},
    {-1, INT64_MIN, INT64_MIN},
    {INT64_MIN, -1, INT64_MIN},
    {INT64_MIN, INT64_MIN, INT64_MIN},
    {INT64_MIN, INT64_MAX, -1},
    {INT64_MAX, INT64_MAX, INT64_MAX},
    {INT64_MAX, INT64_MIN, -1},
};

static void
test_cells_die_when_the_clock_is_past_their_time(void **state)
{
    static const int64_t clocks[] = {INT64_MIN, -3, -2, -1, 0, 1, 93, 94, 150, 151, INT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        struct cell cell = {.timestamp = deaths[i].timestamp, .ttl_ms = deaths[i].ttl_ms};

        assert_false(cell_is_dead(&cell, INT64_MAX));
        cell.has_ttl = true;
        assert_true(cell_death_ms(&cell) == deaths[i].death);
        for (size_t k = 0; k < sizeof clocks / sizeof *clocks; k++)
            assert_int_equal(cell_is_dead(&cell, clocks[k]), deaths[i].death < clocks[k]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_die_when_the_clock_is_past_their_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
