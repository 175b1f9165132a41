/*
 * fuse_test.c -- binary fuse filters lose no key, hold their rate, have the size that fuse.h says,
 * keep their bytes, and no bytes lead a question outside.
 */
#include "bloom/fuse.h"
#include "bloom/hash_sort.h"
#include "tests/support/test_support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

/* ---- filters ---- */

static uint64_t *
random_hashes(size_t count, uint64_t from_seed)
{
    uint64_t *hashes = test_allocate(count * sizeof *hashes);
    struct test_random random;

    test_random_init(&random, from_seed);
    for (size_t i = 0; i < count; i++)
        hashes[i] = test_random_next(&random);
    return hashes;
}

/* A filter in memory of exactly its size, so that a sanitizer sees each byte too far. */
struct built {
    uint8_t *bytes;
    size_t size;
    struct bloom_fuse fuse;
};

static bool
try_build(struct built *built, const uint64_t *hashes, size_t count, unsigned width)
{
    struct bloom_fuse shape = bloom_fuse_shape(count, width);
    size_t work_bytes = bloom_fuse_work_bytes(&shape);
    void *work = test_allocate(work_bytes);
    bool fits;

    built->size = bloom_fuse_bytes(&shape);
    built->bytes = test_allocate(built->size);
    memset(work, 0xA5, work_bytes);
    memset(built->bytes, 0xA5, built->size);
    fits = bloom_fuse_build(&shape, hashes, work, built->bytes);
    free(work);
    if (fits) {
        assert_true(bloom_fuse_open(&built->fuse, built->bytes, built->size));
        assert_int_equal(built->fuse.keys, count);
        assert_int_equal(built->fuse.width, width);
        assert_int_equal(built->fuse.seed, shape.seed);
        assert_int_equal(built->fuse.length_bits, shape.length_bits);
        assert_int_equal(built->fuse.segments, shape.segments);
    }
    return fits;
}

static void
build(struct built *built, const uint64_t *hashes, size_t count, unsigned width)
{
    if (!try_build(built, hashes, count, width))
        fail_msg("no seed fits %zu keys, width %u", count, width);
}

static void
build_and_find_all(const uint64_t *hashes, size_t count, unsigned width)
{
    struct built built;

    build(&built, hashes, count, width);
    for (size_t i = 0; i < count; i++) {
        if (!bloom_fuse_may_contain(&built.fuse, built.bytes, hashes[i]))
            fail_msg("width %u: key %zu of %zu is lost", width, i, count);
    }
    free(built.bytes);
}

static void
no_key_is_lost(void **state)
{
    static const size_t large[] = {4095, 10000, 65537, 300000, 1000000};
    uint64_t *hashes = random_hashes(1000000, seed);
    size_t every = test_short() ? 7 : 1;

    (void)state;
    for (unsigned width = 1; width <= 2; width++) {
        for (size_t n = 0; n <= 3000; n += n < 100 ? 1 : every)
            build_and_find_all(hashes + n, n, width);
        for (size_t i = 0; i < COUNT_OF(large); i++)
            build_and_find_all(hashes, large[i], width);
    }
    free(hashes);
}

/* What lies close together is mixed. */
static void
hashes_that_are_not_spread_fit(void **state)
{
    enum { COUNT = 20000 };
    uint64_t *hashes = test_allocate(COUNT * sizeof *hashes);

    (void)state;
    for (unsigned shift = 0; shift <= 48; shift += 16) {
        for (uint64_t i = 0; i < COUNT; i++)
            hashes[i] = i << shift;
        build_and_find_all(hashes, COUNT, 1);
    }
    for (uint64_t i = 0; i < COUNT; i++)
        hashes[i] = UINT64_MAX - i;
    build_and_find_all(hashes, COUNT, 1);
    free(hashes);
}

static void
doubles_are_refused_after_all_seeds(void **state)
{
    static const size_t counts[] = {2, 3, 10, 1000};
    struct built built;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        uint64_t *hashes = random_hashes(counts[i], seed + i);

        hashes[counts[i] - 1] = hashes[0];
        assert_false(try_build(&built, hashes, counts[i], 1));
        free(built.bytes);
        free(hashes);
    }
}

/* ---- rates and sizes ---- */

static double
measured_rate(const struct built *built, uint64_t asked)
{
    struct test_random random;
    uint64_t passed = 0;

    test_random_init(&random, seed ^ 0x5EED);
    for (uint64_t i = 0; i < asked; i++)
        passed += bloom_fuse_may_contain(&built->fuse, built->bytes, test_random_next(&random));
    return (double)passed / (double)asked;
}

static void
rate_is_that_of_the_fingerprints(void **state)
{
    static const struct {
        unsigned width;
        size_t keys;
        uint64_t asked;
    } cases[] = {{1, 1000, 2000000},
                 {1, 100000, 2000000},
                 {1, 1000000, 2000000},
                 {2, 10000, 200000000},
                 {2, 300000, 200000000}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t asked = test_short() ? cases[i].asked / 4 : cases[i].asked;
        /* Three deviations of the count more, of what is asked little. */
        double wanted = ldexp(1, -8 * (int)cases[i].width);
        double tolerance = 0.05 + 3 / sqrt((double)asked * wanted);
        uint64_t *hashes = random_hashes(cases[i].keys, seed);
        struct built built;
        double rate;

        build(&built, hashes, cases[i].keys, cases[i].width);
        assert_true(bloom_fuse_expected_rate(&built.fuse) == wanted);
        rate = measured_rate(&built, asked);
        if (!(fabs(rate / wanted - 1) <= tolerance))
            fail_msg("width %u, %zu keys: rate %g, expected %g", cases[i].width, cases[i].keys,
                     rate, wanted);
        free(built.bytes);
        free(hashes);
    }
}

static void
sizes_are_those_of_the_header(void **state)
{
    static const struct {
        uint64_t keys;
        double bits_per_key;
    } table[] = {{10, 51.20},    {100, 16.64},    {1000, 11.39},   {10000, 10.25},
                 {100000, 9.50}, {1000000, 9.04}, {10000000, 9.02}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct bloom_fuse shape = bloom_fuse_shape(table[i].keys, 1);
        double bits = 8.0 * (double)bloom_fuse_bytes(&shape) / (double)table[i].keys;

        if (getenv("PETAL_TABLES") != NULL)
            printf("%10llu keys %8.2f bits a key, %.1f bytes of work\n",
                   (unsigned long long)table[i].keys, bits,
                   (double)bloom_fuse_work_bytes(&shape) / (double)table[i].keys);
        else if (fabs(bits - table[i].bits_per_key) > 0.006)
            fail_msg("%llu keys: %g bits a key", (unsigned long long)table[i].keys, bits);
    }
    /* Parts of a large filter have this many. */
    for (uint64_t keys = 900000; keys <= 2000000; keys += 7919) {
        struct bloom_fuse shape = bloom_fuse_shape(keys, 1);

        assert_true(8 * bloom_fuse_bytes(&shape) <= (uint64_t)(9.1 * (double)keys));
    }
}

/* ---- bytes ---- */

static uint64_t
digest_of(const uint8_t *bytes, size_t size)
{
    uint64_t digest = size;

    for (size_t i = 0; i < size; i++)
        digest = (digest ^ bytes[i]) * 0x100000001B3u;
    return digest;
}

static void
filters_keep_their_bytes(void **state)
{
    static const uint8_t three[] = {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                    0xC4, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                    0x00, 0x00, 0x57, 0x00, 0x03, 0x00, 0x00, 0x00, 0x04, 0x01,
                                    0x00, 0x03, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
    static const struct {
        unsigned width;
        size_t keys;
        uint64_t digest;
    } golden[] = {{1, 0, 0xE0A1B8E5C5AFABA8u},
                  {1, 1000, 0x1FD0545A700050C3u},
                  {2, 1000, 0x6212096F03C1D8CEu},
                  {1, 70000, 0xDB906FA456BD7CA0u}};
    static const uint64_t hashes[] = {0, 1, UINT64_MAX};
    struct built built;

    (void)state;
    build(&built, hashes, 3, 1);
    if (getenv("PETAL_WRITE_GOLDEN") != NULL) {
        for (size_t i = 0; i < built.size; i++)
            printf("0x%02X, ", built.bytes[i]);
        printf("\n");
    } else {
        assert_int_equal(built.size, sizeof three);
        assert_memory_equal(built.bytes, three, sizeof three);
    }
    free(built.bytes);
    for (size_t i = 0; i < COUNT_OF(golden); i++) {
        uint64_t *random = random_hashes(golden[i].keys, 7);
        uint64_t digest;

        build(&built, random, golden[i].keys, golden[i].width);
        digest = digest_of(built.bytes, built.size);
        if (getenv("PETAL_WRITE_GOLDEN") != NULL)
            printf("0x%016llXu\n", (unsigned long long)digest);
        else
            assert_int_equal(digest, golden[i].digest);
        free(built.bytes);
        free(random);
    }
}

/* A sanitizer sees a byte read outside. */
static void
ask_extremes(const struct bloom_fuse *fuse, const uint8_t *bytes)
{
    struct test_random random;

    test_random_init(&random, seed);
    for (int i = 0; i < 200; i++) {
        uint64_t hash = test_random_next(&random);

        (void)bloom_fuse_may_contain(fuse, bytes, i < 4 ? (uint64_t)-i : hash);
    }
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t mixed[] = {i, UINT64_MAX - i, i << 62 | 0x3FFFF, ~(i << 62)};

        for (size_t m = 0; m < COUNT_OF(mixed); m++) {
            struct bloom_fuse_places places = bloom_fuse_places(fuse, mixed[m]);

            (void)bloom_fuse_difference(fuse, bytes, &places);
        }
    }
}

/* Every byte of a footer changed to every value, and cut at every length: what is opened answers
 * from its own bytes. */
static void
hostile_bytes_stay_in_bounds(void **state)
{
    static const size_t counts[] = {0, 1, 5, 40, 700};
    uint64_t opened = 0, refused = 0;

    (void)state;
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        uint64_t *hashes = random_hashes(counts[c], seed);
        struct bloom_fuse fuse;
        struct built built;
        uint8_t *footer;

        build(&built, hashes, counts[c], 1 + c % 2);
        footer = built.bytes + built.size - BLOOM_FUSE_FOOTER_BYTES;
        for (unsigned at = 0; at < BLOOM_FUSE_FOOTER_BYTES; at++) {
            uint8_t kept = footer[at];

            for (unsigned value = 0; value < 256; value++) {
                footer[at] = (uint8_t)value;
                if (bloom_fuse_open(&fuse, built.bytes, built.size)) {
                    ask_extremes(&fuse, built.bytes);
                    opened++;
                } else {
                    refused++;
                }
            }
            footer[at] = kept;
        }
        for (size_t cut = 1; cut <= built.size; cut++)
            assert_false(bloom_fuse_open(&fuse, built.bytes, built.size - cut));
        free(built.bytes);
        free(hashes);
    }
    /* Keys (4 bytes) and the seed may be any; of the others the right value alone. */
    assert_int_equal(opened, COUNT_OF(counts) * (5 * 256 + 11));
    assert_int_equal(refused, COUNT_OF(counts) * 11 * 255);
}

/* ---- sorting ---- */

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

/* Spread, with shared bits, rightly said and not, with doubles, and not spread at all, where
 * insertion alone would take days. */
static void
hashes_are_sorted_whatever_they_are(void **state)
{
    static const size_t counts[] = {0, 1, 2, 100, 5000, 300000};

    (void)state;
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        size_t count = counts[c];
        uint64_t *hashes = random_hashes(count, seed);

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_is_lost),
        cmocka_unit_test(hashes_that_are_not_spread_fit),
        cmocka_unit_test(doubles_are_refused_after_all_seeds),
        cmocka_unit_test(rate_is_that_of_the_fingerprints),
        cmocka_unit_test(sizes_are_those_of_the_header),
        cmocka_unit_test(filters_keep_their_bytes),
        cmocka_unit_test(hostile_bytes_stay_in_bounds),
        cmocka_unit_test(hashes_are_sorted_whatever_they_are),
    };

    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
