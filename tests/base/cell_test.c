/* cell_test.c -- times to live of single cells, at the ends of the range: files may hold any
 * number; what two keys share, and heads of keys. */

#include "base/cell.h"
#include "tests/support/test.h"

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

TEST(test_cells_die_when_the_clock_is_past_their_time)
{
    static const int64_t clocks[] = {INT64_MIN, -3, -2, -1, 0, 1, 93, 94, 150, 151, INT64_MAX};

    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        struct cell cell = {.timestamp = deaths[i].timestamp, .ttl_ms = deaths[i].ttl_ms};

        assert_false(cell_is_dead(&cell, INT64_MAX));
        cell.has_ttl = true;
        assert_true(cell_death_ms(&cell) == deaths[i].death);
        for (size_t k = 0; k < sizeof clocks / sizeof *clocks; k++)
            assert_int_equal(cell_is_dead(&cell, clocks[k]), deaths[i].death < clocks[k]);
    }
}

/* Keys of up to 24 bytes, two of which differ in one place at most: byte by byte it is the same. */
TEST(test_prefixes_and_heads_are_those_of_the_bytes)
{
    uint8_t left[24], right[24];

    for (size_t size = 0; size <= sizeof left; size++) {
        for (size_t other = 0; other <= size; other++) {
            for (size_t at = 0; at <= size; at++) {
                for (size_t i = 0; i < sizeof left; i++)
                    left[i] = right[i] = (uint8_t)(1 + 7 * i);
                if (at < sizeof right)
                    right[at] ^= 0x80;
                assert_int_equal(
                    slice_common_prefix(slice_make(left, size), slice_make(right, other)),
                    at < other ? at : other);
            }
        }
        for (size_t offset = 0; offset <= size + 1; offset++) {
            uint64_t head = 0;

            for (size_t i = offset; i < offset + 8; i++)
                head = head << 8 | (i < size ? left[i] : 0u);
            assert_true(slice_head(slice_make(left, size), offset) == head);
        }
    }
}
