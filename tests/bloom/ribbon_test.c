/*
 * ribbon_test.c -- ribbon filters never lose a key, of few and of many, take the bits that ribbon.h
 * says, hold the rate that they expect, keep their bytes, and stay within the bytes that lie.
 */
#include "bloom/bloom.h"
#include "bloom/hash.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

/* ---- filters ---- */

/* A filter in memory of exactly its size, so that a sanitizer sees each byte too far. */
struct built {
    uint8_t *bytes;
    size_t size;
    struct bloom_filter filter;
};

/* Whether it can be built of the shape; then built->bytes are to be freed. */
static bool
try_build(struct built *built, struct bloom_ribbon ribbon, const uint64_t *hashes, size_t count)
{
    size_t work_bytes = bloom_ribbon_work_bytes(&ribbon);
    void *work = test_allocate(work_bytes);
    bool done;

    built->size = bloom_ribbon_bytes(&ribbon);
    built->bytes = test_allocate(built->size);
    memset(built->bytes, 0xA5, built->size); /* all of them are to be overwritten */
    memset(work, 0x5A, work_bytes);
    done = bloom_ribbon_build(&ribbon, hashes, count, work, built->bytes);
    free(work);
    if (!done) {
        free(built->bytes);
        return false;
    }
    assert_true(bloom_open(&built->filter, built->bytes, built->size));
    assert_int_equal(built->filter.keys, count);
    assert_int_equal(built->filter.shape.layout, BLOOM_RIBBON);
    assert_int_equal(built->filter.shape.probes, ribbon.columns);
    assert_int_equal(bloom_bytes(&built->filter.shape), built->size);
    assert_int_equal(built->filter.ribbon.slots, ribbon.slots);
    assert_int_equal(built->filter.ribbon.narrow, ribbon.narrow);
    assert_int_equal(built->filter.ribbon.columns, ribbon.columns);
    assert_int_equal(built->filter.ribbon.seed, ribbon.seed);
    assert_int_equal(built->filter.ribbon.fewer, ribbon.fewer);
    return true;
}

/* The filter of count keys, of which all pass. */
static void
build(struct built *built, double rate, const uint64_t *hashes, size_t count)
{
    struct bloom_ribbon ribbon = bloom_ribbon_shape(count, rate, 0);

    if (!try_build(built, ribbon, hashes, count))
        fail_msg("%zu keys at %g: no seed fits", count, rate);
    for (size_t i = 0; i < count; i++)
        if (!bloom_may_contain(&built->filter, hashes[i]))
            fail_msg("%zu keys at %g: key %zu is lost", count, rate, i);
}

static uint64_t *
random_hashes(struct test_random *random, size_t count)
{
    uint64_t *hashes = test_allocate(count * sizeof *hashes);

    for (size_t i = 0; i < count; i++)
        hashes[i] = test_random_next(random);
    return hashes;
}

/* ---- keys ---- */

TEST(no_key_is_lost)
{
    static const double rates[] = {0.5, 0.4, 0.25, 0.1, 0.01, 0.005, 0.001, 0.0001, 1e-6};
    size_t most = test_short() ? 20000 : 200000, probes = 0;
    struct test_random random;
    struct built built;

    test_random_init(&random, seed);
    for (size_t r = 0; r < COUNT_OF(rates); r++) {
        for (size_t count = 0; count <= most; count += 1 + count / 3) {
            uint64_t *hashes = random_hashes(&random, count);

            build(&built, rates[r], hashes, count);
            probes += count;
            free(built.bytes);
            free(hashes);
        }
    }
    test_counted("%zu probes, none in vain", probes);
}

/* Keys that are there twice, or a thousand times, are no contradiction. */
TEST(equal_keys_are_one)
{
    enum { KEYS = 3000 };
    struct test_random random;
    uint64_t *hashes;
    struct built built;

    test_random_init(&random, seed);
    hashes = random_hashes(&random, KEYS);
    for (size_t i = KEYS / 2; i < KEYS; i++)
        hashes[i] = hashes[i - KEYS / 2];
    build(&built, 0.01, hashes, KEYS);
    free(built.bytes);
    for (size_t i = 0; i < KEYS; i++)
        hashes[i] = hashes[i % 3];
    build(&built, 0.01, hashes, KEYS);
    free(built.bytes);
    free(hashes);
}

/* Numbers one after the other, those of one shard (equal high bits, or low ones), and the ends of
 * the range are as good as any. */
TEST(poor_hashes_are_built)
{
    enum { KEYS = 20000 };
    uint64_t *hashes = test_allocate(KEYS * sizeof *hashes);
    struct test_random random;
    struct built built;

    test_random_init(&random, seed);
    for (unsigned kind = 0; kind < 5; kind++) {
        for (uint64_t i = 0; i < KEYS; i++)
            hashes[i] = kind == 0   ? i
                        : kind == 1 ? UINT64_MAX - i
                        : kind == 2 ? i << 48 | i
                        : kind == 3 ? test_random_next(&random) >> 20
                                    : test_random_next(&random) << 20;
        build(&built, 0.01, hashes, KEYS);
        free(built.bytes);
    }
    free(hashes);
}

/* Where no seed can fit, building ends and says so: more keys than there are slots. */
TEST(building_ends)
{
    struct test_random random;
    struct bloom_ribbon tight = bloom_ribbon_shape(2000, 0.01, 0);
    uint64_t *hashes;
    struct built built;

    test_random_init(&random, seed);
    hashes = random_hashes(&random, 4000);
    assert_false(try_build(&built, tight, hashes, 4000));
    free(hashes);
    for (uint64_t keys = 0; keys <= 100000; keys += 1 + keys / 2) {
        for (unsigned size = 1; size < BLOOM_RIBBON_SIZES; size++) {
            struct bloom_ribbon small = bloom_ribbon_shape(keys, 0.01, size - 1);
            struct bloom_ribbon large = bloom_ribbon_shape(keys, 0.01, size);

            assert_true(keys < 100 || large.slots > small.slots + keys / 100);
            assert_true(large.slots <= small.slots + keys / 50 + 16);
        }
    }
}

/* Most seeds fit, so that few are tried. */
TEST(most_seeds_fit)
{
    static const size_t counts[] = {1000, 4000, 10000, 40000};
    unsigned rounds = test_long() ? 200 : test_short() ? 5 : 20;
    struct test_random random;
    struct built built;

    test_random_init(&random, seed);
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        unsigned failed = 0;

        for (unsigned round = 0; round < rounds; round++) {
            uint64_t *hashes = random_hashes(&random, counts[c]);

            build(&built, 0.01, hashes, counts[c]);
            failed += built.filter.ribbon.seed;
            free(built.bytes);
            free(hashes);
        }
        test_counted("%zu keys: %.2f seeds in vain a filter", counts[c], (double)failed / rounds);
        assert_true(failed <= rounds);
    }
}

/* ---- sizes and rates ---- */

/* Per cent of bits above the fewest for so many keys at the rate. */
static double
overhead(uint64_t keys, double rate)
{
    struct bloom_ribbon ribbon = bloom_ribbon_shape(keys, rate, 0);

    return ((double)bloom_ribbon_bytes(&ribbon) * 8 / ((double)keys * log2(1 / rate)) - 1) * 100;
}

TEST(sizes_are_near_the_least)
{
    static const uint64_t counts[] = {1000,  2000,   4000,   10000,   16000,
                                      32000, 100000, 300000, 1000000, 10000000};
    double worst = 0;

    for (size_t i = 0; i < COUNT_OF(counts); i++)
        test_counted("%8llu keys: %5.2f %5.2f %5.2f %5.2f %5.2f per cent above the least at 0.1, "
                     "0.01, 0.005, 0.001, 0.0001",
                     (unsigned long long)counts[i], overhead(counts[i], 0.1),
                     overhead(counts[i], 0.01), overhead(counts[i], 0.005),
                     overhead(counts[i], 0.001), overhead(counts[i], 0.0001));
    for (uint64_t keys = 10000; keys <= 100000; keys += 1 + keys / 1000)
        for (double rate = 1e-6; rate <= 0.05; rate *= 1.1)
            worst = fmax(worst, overhead(keys, rate));
    test_counted("%.2f per cent", worst);
    assert_true(worst <= 5);
    worst = 0;
    for (uint64_t keys = 10000; keys <= 500000; keys += 1 + keys / 1000)
        for (double rate = 1e-6; rate <= 0.01; rate *= 1.1)
            worst = fmax(worst, overhead(keys, rate));
    test_counted("%.2f per cent", worst);
    assert_true(worst <= 5);
}

/* What a shape expects is the rate asked, or as near below it as starts by eights allow. */
TEST(shapes_expect_the_rate_asked)
{
    for (uint64_t keys = 0; keys <= 3000000; keys += 1 + keys / 7) {
        for (double rate = 1e-6; rate <= 0.5; rate *= 1.07) {
            struct bloom_ribbon ribbon = bloom_ribbon_shape(keys, rate, 0);
            double expected = bloom_ribbon_expected_rate(&ribbon);

            assert_true(expected <= rate * (1 + 1e-9));
            assert_true(keys < 300 || expected >= rate * 0.85);
            assert_true(keys < 1000 || expected >= rate * 0.95);
            assert_true(keys < 10000 || expected >= rate * 0.995);
        }
    }
}

/* Over several filters, for small ones differ. */
static double
measured_rate(struct test_random *random, size_t count, double rate, unsigned filters,
              double *expected)
{
    uint64_t probes = (uint64_t)(10000 / rate / filters) + 1, passed = 0;

    for (unsigned f = 0; f < filters; f++) {
        uint64_t *hashes = random_hashes(random, count);
        struct built built;

        build(&built, rate, hashes, count);
        *expected = bloom_ribbon_expected_rate(&built.filter.ribbon);
        for (uint64_t i = 0; i < probes; i++)
            passed += bloom_may_contain(&built.filter, test_random_next(random));
        free(built.bytes);
        free(hashes);
    }
    return (double)passed / (double)(probes * filters);
}

TEST(measured_rate_is_expected)
{
    static const struct {
        size_t keys;
        unsigned filters;
    } sizes[] = {{10, 400}, {1000, 64}, {4000, 16}, {16000, 8}, {100000, 2}, {1000000, 1}};
    static const double rates[] = {0.5, 0.4, 0.3, 0.1, 0.05, 0.01, 0.005, 0.001, 0.0001};
    size_t size_count = test_short() ? 4 : COUNT_OF(sizes);
    size_t rate_count = test_long() ? COUNT_OF(rates) : test_short() ? 7 : 8;
    struct test_random random;

    test_random_init(&random, seed);
    for (size_t s = 0; s < size_count; s++) {
        for (size_t r = 0; r < rate_count; r++) {
            double expected = 0;
            double rate =
                measured_rate(&random, sizes[s].keys, rates[r], sizes[s].filters, &expected);

            if (fabs(rate / expected - 1) > 0.05)
                fail_msg("%zu keys at %g: rate %g, expected %g", sizes[s].keys, rates[r], rate,
                         expected);
        }
    }
}

/* ---- plans ---- */

/* Few keys take a STANDARD filter, which is then smaller, many a RIBBON one; chunks of what a plan
 * says, or fewer, fit. */
TEST(plans_choose_the_smaller)
{
    static const double rates[] = {0.5, 0.01, 0.005, 0.001, 1e-6};

    for (size_t r = 0; r < COUNT_OF(rates); r++) {
        struct bloom_plan plan, standard;
        bool ribbon = false;

        bloom_plan_init(&plan, BLOOM_RIBBON, rates[r]);
        bloom_plan_init(&standard, BLOOM_STANDARD, rates[r]);
        for (uint64_t keys = 0; keys <= 100000; keys += 1 + keys / 9) {
            struct bloom_shape chosen = bloom_plan_shape(&plan, keys);
            struct bloom_shape other = bloom_plan_shape(&standard, keys);

            assert_true(bloom_bytes(&chosen) <= bloom_bytes(&other));
            assert_true(chosen.layout == BLOOM_RIBBON || !ribbon);
            ribbon = ribbon || chosen.layout == BLOOM_RIBBON;
        }
        assert_true(ribbon);
        for (size_t bytes = 16; bytes <= 70000; bytes += 1 + bytes / 13) {
            uint64_t keys = bloom_plan_capacity(&plan, bytes);
            struct bloom_shape shape;

            for (uint64_t fewer = keys; fewer > 1; fewer -= 1 + fewer / 9) {
                shape = bloom_plan_shape(&plan, fewer);
                assert_true(bloom_bytes(&shape) <= bytes);
            }
            shape = bloom_plan_shape(&plan, keys);
            if (bytes > 1000)
                assert_true(bloom_bytes(&shape) + 40 > bytes);
        }
    }
}

/* ---- format ---- */

TEST(filters_keep_their_bytes)
{
    static const struct {
        struct bloom_ribbon ribbon;
        uint64_t digest;
    } golden[] = {
        {{640, 5, 7, 0, 0}, 0xBB5F213FA55BB487u},   {{648, 2, 6, 0, 0}, 0x82E8C1013B419849u},
        {{760, 3, 6, 0, 0}, 0x253667CCF7D640EEu},   {{1000, 0, 1, 0, 0}, 0x1C4490DAD3218AEu},
        {{1024, 7, 19, 0, 0}, 0x39064A17239C29CEu}, {{568, 5, 20, 0, 0}, 0xED2DCFE5D707232Au},
    };
    static const uint8_t tiny_footer[] = {
        0x02, 0x00, 0x00, 0x00, /* keys */
        0x03, 0x03, 0x00, 0x00, /* layout, columns, seed, 0 */
        0x11, 0x00, 0x00, 0x00, /* slots / 8 */
        0x01, 0x00, 0x00, 0x00, /* narrow */
    };
    uint64_t hashes[500];
    struct built built;

    for (uint32_t i = 0; i < COUNT_OF(hashes); i++) {
        uint8_t key[4] = {(uint8_t)(i >> 8), (uint8_t)i, 0x80, 0xFF};

        hashes[i] = bloom_hash_row(42, key, sizeof key);
    }
    for (size_t i = 0; i < COUNT_OF(golden); i++) {
        assert_true(try_build(&built, golden[i].ribbon, hashes, COUNT_OF(hashes)));
        assert_int_equal(bloom_hash_row(0, built.bytes, built.size), golden[i].digest);
        free(built.bytes);
    }
    assert_true(try_build(&built, (struct bloom_ribbon){136, 1, 3, 0, 0}, hashes, 2));
    assert_int_equal(built.size, 3 * 16 + 4 + sizeof tiny_footer);
    assert_memory_equal(built.bytes + built.size - sizeof tiny_footer, tiny_footer,
                        sizeof tiny_footer);
    free(built.bytes);
}

/* The bits by what ribbon.h says, worked out one by one. */
static unsigned
bit_of_column(const struct bloom_ribbon *ribbon, const uint8_t *bytes, uint64_t slot, bool first,
              unsigned index)
{
    uint64_t block = slot / 128, blocks = (ribbon->slots + 127) / 128, at = 0;
    unsigned column_bytes = 16, columns;

    for (uint64_t b = 0; b < block; b++)
        at += (ribbon->columns + (b >= ribbon->narrow ? 1u : 0u)) * 16;
    columns = ribbon->columns + (block >= ribbon->narrow ? 1u : 0u);
    if (block == blocks - 1)
        column_bytes = (unsigned)(ribbon->slots - block * 128) / 8;
    at += (first ? columns - 1 - index : index) * column_bytes;
    return bytes[at + slot % 128 / 8] >> slot % 8 & 1;
}

static bool
passes_by_the_book(const struct bloom_ribbon *ribbon, const uint8_t *bytes, uint64_t hash)
{
    uint64_t x = hash ^ (ribbon->seed + UINT64_C(1)) * 0x9E3779B97F4A7C15u, start, words[2];
    uint32_t expected;
    unsigned columns;

    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 32;
    start = (uint64_t)((unsigned __int128)x * (ribbon->slots - 64) >> 64);
    start = start < 32 ? 0 : start - 32;
    if (start > ribbon->slots - 129)
        start = ribbon->slots - 129;
    words[0] = x * 0xC28F82822B650BEDu;
    words[1] = x * 0xD1B54A32D192ED03u;
    words[0] = (words[0] ^ words[0] >> 32) | 1;
    words[1] ^= words[1] >> 32;
    expected = (uint32_t)(x * 0xA24BAED4963EE407u >> 32);
    columns = ribbon->columns + (start >= ribbon->narrow * 128u + ribbon->fewer * 8u ? 1u : 0u);
    for (unsigned i = 0; i < columns; i++) {
        unsigned sum = 0;

        for (unsigned b = 0; b < 128; b++)
            if ((words[b / 64] >> b % 64 & 1) != 0)
                sum ^= bit_of_column(ribbon, bytes, start + b, (start + b) / 128 == start / 128, i);
        if (sum != (expected >> i & 1))
            return false;
    }
    return true;
}

/* What is asked, word by word, is what the header describes, bit by bit: of absent keys, in filters
 * of every number of slots after the last whole block. */
TEST(answers_are_those_of_the_book)
{
    enum { KEYS = 300 };
    struct test_random random;
    uint64_t *hashes;

    test_random_init(&random, seed);
    hashes = random_hashes(&random, KEYS);
    for (uint64_t slots = 400; slots <= 400 + 136; slots += 8) {
        for (uint32_t narrow = 0; narrow <= (slots + 127) / 128; narrow++) {
            uint8_t columns = (uint8_t)(1 + test_random_below(&random, 5));
            struct bloom_ribbon ribbon = {slots, narrow, columns, 0, 0};
            struct built built;

            if (narrow < (slots + 127) / 128)
                ribbon.fewer = (uint8_t)test_random_below(&random, 16);
            assert_true(try_build(&built, ribbon, hashes, KEYS));
            for (size_t i = 0; i < KEYS; i++)
                assert_true(passes_by_the_book(&built.filter.ribbon, built.bytes, hashes[i]));
            for (unsigned i = 0; i < 300; i++) {
                uint64_t hash = test_random_next(&random);

                assert_int_equal(bloom_may_contain(&built.filter, hash),
                                 passes_by_the_book(&built.filter.ribbon, built.bytes, hash));
            }
            free(built.bytes);
        }
    }
    free(hashes);
}

/* Refused, or asked within the bytes. */
static bool
open_and_ask(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = test_allocate(size); /* exactly, for the sanitizer */
    struct bloom_filter filter;
    bool opened;

    memcpy(copy, bytes, size);
    opened = bloom_open(&filter, copy, size);
    if (opened) {
        for (uint64_t i = 0; i < 200; i++)
            (void)bloom_may_contain(&filter, bloom_hash_row(seed, &i, sizeof i));
        for (uint64_t i = 0; i < 64; i++) {
            (void)bloom_may_contain(&filter, UINT64_C(1) << i);
            (void)bloom_may_contain(&filter, UINT64_MAX >> i);
        }
    }
    free(copy);
    return opened;
}

TEST(every_footer_byte_is_checked)
{
    static const struct bloom_ribbon shapes[] = {{136, 0, 1, 0, 0},
                                                 {136, 2, 20, 0, 0},
                                                 {136, 1, 19, 0, 0},
                                                 {400, 2, 7, 0, 0},
                                                 {512, 4, 6, 0, 0}};
    static const uint64_t hashes[] = {0, 1, UINT64_C(0x123456789ABCDEF0), UINT64_MAX};

    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct built built;
        uint8_t *footer;

        assert_true(try_build(&built, shapes[s], hashes, COUNT_OF(hashes)));
        footer = built.bytes + built.size - BLOOM_RIBBON_FOOTER_BYTES;
        for (size_t offset = 0; offset < BLOOM_RIBBON_FOOTER_BYTES; offset++) {
            uint8_t good = footer[offset];

            for (unsigned value = 0; value < 256; value++) {
                bool free_choice =
                    offset < 4 || offset == 6 ||
                    (offset == 7 && value < 16 && shapes[s].narrow < (shapes[s].slots + 127) / 128);

                footer[offset] = (uint8_t)value;
                /* Other columns with other slots might be as many bytes; here they are not. */
                assert_int_equal(open_and_ask(built.bytes, built.size),
                                 free_choice || value == good);
            }
            footer[offset] = good;
        }
        for (size_t shorter = 0; shorter < built.size; shorter++)
            assert_false(open_and_ask(built.bytes, shorter));
        free(built.bytes);
    }
}

/* Footers of noise whose sizes happen to be those of the bytes, over bits of noise. */
TEST(hostile_filters_stay_in_bounds)
{
    unsigned rounds = test_short() ? 20000 : 200000, opened = 0;
    struct test_random random;
    uint8_t bytes[2600];

    test_random_init(&random, seed);
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t slots = 8 * test_random_below(&random, 100);
        uint64_t blocks = (slots + 127) / 128, narrow = test_random_below(&random, blocks + 2);
        unsigned columns = (unsigned)test_random_below(&random, 23);
        uint64_t wide = narrow * 128 < slots ? slots - narrow * 128 : 0;
        size_t size = (size_t)(slots * columns + wide) / 8 + BLOOM_RIBBON_FOOTER_BYTES;
        uint8_t *footer;

        if (size > sizeof bytes)
            continue;
        footer = bytes + size - BLOOM_RIBBON_FOOTER_BYTES;
        test_random_bytes(&random, bytes, size);
        footer[4] = BLOOM_RIBBON;
        footer[5] = (uint8_t)columns;
        footer[7] &= test_random_chance(&random, 50) ? 15 : 0;
        for (unsigned i = 0; i < 4; i++) {
            footer[8 + i] = (uint8_t)(slots / 8 >> 8 * i);
            footer[12 + i] = (uint8_t)(narrow >> 8 * i);
        }
        opened += open_and_ask(bytes, size);
    }
    assert_true(opened > rounds / 5);
}

int
main(void)
{
    seed = test_seed();
    return test_run();
}
