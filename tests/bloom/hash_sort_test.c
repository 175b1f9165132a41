/* hash_sort_test.c -- hashes are sorted, each once, whatever they are. */
#include "bloom/hash_sort.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

static int
compare_hashes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static void
assert_sorts(const uint64_t *hashes, size_t count, unsigned shared_bits)
{
    uint64_t *sorted = test_allocate(count * sizeof *sorted);
    uint64_t *wanted = test_allocate(count * sizeof *wanted);
    uint64_t *spare = test_allocate(count * sizeof *spare);
    size_t different = 0;

    memcpy(sorted, hashes, count * sizeof *sorted);
    memcpy(wanted, hashes, count * sizeof *wanted);
    qsort(wanted, count, sizeof *wanted, compare_hashes);
    for (size_t i = 0; i < count; i++) {
        if (different == 0 || wanted[different - 1] != wanted[i])
            wanted[different++] = wanted[i];
    }
    assert_int_equal(bloom_hash_sort(sorted, count, spare, shared_bits), different);
    assert_memory_equal(sorted, wanted, different * sizeof *sorted);
    free(spare);
    free(wanted);
    free(sorted);
}

/* Spread, with shared bits, rightly said and not, with duplicates, and not spread at all, where
 * insertion alone would take days. */
TEST(hashes_are_sorted_whatever_they_are)
{
    static const size_t counts[] = {0, 1, 2, 100, 5000, 300000};
    struct test_random random;

    test_random_init(&random, test_seed());
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t count = counts[c];
        uint64_t *hashes = test_allocate(count * sizeof *hashes);

        for (size_t i = 0; i < count; i++)
            hashes[i] = test_random_next(&random);
        assert_sorts(hashes, count, 0);
        assert_sorts(hashes, count, 20);
        for (size_t i = 0; i < count; i++)
            hashes[i] = hashes[i] >> 10 | UINT64_C(5) << 54;
        assert_sorts(hashes, count, 10);
        for (size_t i = 0; i < count; i++)
            hashes[i] = hashes[i % (count / 3 + 1)];
        assert_sorts(hashes, count, 0);
        for (size_t i = 0; i < count; i++)
            hashes[i] = count - i;
        assert_sorts(hashes, count, 32);
        for (size_t i = 0; i < count; i++)
            hashes[i] = i % 2 == 0 ? count - i : UINT64_MAX - i;
        assert_sorts(hashes, count, 0);
        free(hashes);
    }
}
