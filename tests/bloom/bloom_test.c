/*
 * bloom_test.c -- filters never lose a key and hold their error rate.  Rates are measured on keys
 * as users have them (random bytes, numbered names), hashed as the store hashes them, against the
 * configured rate and against published tables.  What is stored: tests/bloom/format_test.c.
 */
#include "bloom/bloom.h"
#include "bloom/hash.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define KEY_BYTES       16

static uint64_t seed;

static const enum bloom_layout LAYOUTS[] = {BLOOM_STANDARD, BLOOM_BLOCKED};

/* Plain memory: cmocka's own has guards around it, in which a sanitizer does not see a byte too
 * far. */
static void *
allocate(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);

    assert_non_null(memory);
    return memory;
}

/* ---- keys ---- */

enum key_kind { RANDOM_KEYS, SEQUENTIAL_KEYS };

/* Gives keys that never repeat (random ones: but by a chance of 2^-100). */
struct key_source {
    enum key_kind kind;
    struct test_random random;
    uint64_t next;
};

static void
key_source_init(struct key_source *source, enum key_kind kind)
{
    source->kind = kind;
    source->next = 0;
    test_random_init(&source->random, seed);
}

static uint64_t
next_key_hash(struct key_source *source, uint64_t salt)
{
    uint8_t key[KEY_BYTES] = "user000000000000";
    uint64_t rest = source->next++;

    if (source->kind == RANDOM_KEYS) {
        for (size_t i = 0; i < KEY_BYTES; i += 8) {
            uint64_t word = test_random_next(&source->random);

            memcpy(key + i, &word, 8);
        }
    } else {
        for (size_t i = KEY_BYTES; rest > 0; rest /= 10)
            key[--i] = (uint8_t)('0' + rest % 10);
    }
    return bloom_hash_row(salt, key, KEY_BYTES);
}

/* ---- filters ---- */

/* A filter in memory of exactly its size, so that a sanitizer sees each byte too far. */
struct built {
    uint8_t *bytes;
    size_t size;
    struct bloom_filter filter;
};

static void
build(struct built *built, const struct bloom_shape *shape, const uint64_t *hashes, size_t count)
{
    built->size = bloom_bytes(shape);
    built->bytes = allocate(built->size);
    memset(built->bytes, 0xA5, built->size);
    bloom_build(shape, hashes, count, built->bytes);
    assert_true(bloom_open(&built->filter, built->bytes, built->size));
    assert_int_equal(built->filter.keys, count);
    assert_int_equal(built->filter.shape.layout, shape->layout);
    assert_int_equal(built->filter.shape.probes, shape->probes);
    assert_int_equal(built->filter.shape.bits, shape->bits);
}

static void
assert_contains_all(const struct bloom_filter *filter, const uint64_t *hashes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!bloom_may_contain(filter, hashes[i]))
            fail_msg("layout %d, k %u, m %llu: key %zu of %zu is lost", (int)filter->shape.layout,
                     filter->shape.probes, (unsigned long long)filter->shape.bits, i, count);
    }
}

static void
build_and_find_all(const struct bloom_shape *shape, const uint64_t *hashes, size_t count)
{
    struct built built;

    build(&built, shape, hashes, count);
    assert_contains_all(&built.filter, hashes, count);
    free(built.bytes);
}

static uint64_t *
some_hashes(size_t count, uint64_t salt)
{
    uint64_t *hashes = allocate(count * sizeof *hashes);
    struct key_source source;

    key_source_init(&source, RANDOM_KEYS);
    for (size_t i = 0; i < count; i++)
        hashes[i] = next_key_hash(&source, salt);
    return hashes;
}

TEST(no_key_is_lost)
{
    static const double rates[] = {0.5, 0.01, 1e-6};
    static const size_t large[] = {10000, 65537, 300000, 1000000};
    uint64_t *hashes = some_hashes(1000000, 1);
    struct bloom_plan plan;
    struct bloom_shape shape;

    for (size_t l = 0; l < COUNT_OF(LAYOUTS); l++) {
        for (size_t r = 0; r < COUNT_OF(rates); r++) {
            bloom_plan_init(&plan, LAYOUTS[l], rates[r]);
            for (size_t n = 0; n <= 2000; n++) {
                shape = bloom_plan_shape(&plan, n);
                build_and_find_all(&shape, hashes, n);
            }
            for (size_t i = 0; i < COUNT_OF(large); i++) {
                shape = bloom_plan_shape(&plan, large[i]);
                build_and_find_all(&shape, hashes, large[i]);
            }
        }
    }
    free(hashes);
}

/* Shapes that no plan gives: each k, few bits, overfull filters. */
TEST(no_key_is_lost_in_odd_shapes)
{
    uint64_t *hashes = some_hashes(200, 2);

    for (unsigned probes = 1; probes <= BLOOM_MAX_PROBES; probes++) {
        for (uint64_t m = 1; m <= 600; m++) {
            struct bloom_shape standard = {BLOOM_STANDARD, probes, m};
            struct bloom_shape blocked = {BLOOM_BLOCKED, probes, m * BLOOM_LINE_BITS};

            build_and_find_all(&standard, hashes, m % 200);
            if (m <= 40)
                build_and_find_all(&blocked, hashes, 200);
        }
    }
    free(hashes);
}

/* The hashes with the lowest and highest positions stay inside. */
TEST(extreme_hashes_stay_in_bounds)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        UINT64_MAX,
                                        UINT64_MAX - 1,
                                        UINT64_C(1) << 63,
                                        UINT32_MAX,
                                        UINT64_C(0xFFFFFFFF00000000)};
    static const uint64_t bits[] = {1, 7, 8, 9, 511, 512, 513, 1024, 99999};

    for (size_t i = 0; i < COUNT_OF(bits); i++) {
        struct bloom_shape standard = {BLOOM_STANDARD, 30, bits[i]};
        struct bloom_shape blocked = {BLOOM_BLOCKED, 30, bits[i] * BLOOM_LINE_BITS};

        build_and_find_all(&standard, extremes, COUNT_OF(extremes));
        build_and_find_all(&blocked, extremes, COUNT_OF(extremes));
    }
}

/* ---- error rates ---- */

/* The share of `probes` absent keys that pass, over filters with `salts` different salts. */
static double
measured_rate(const struct bloom_shape *shape, enum key_kind kind, size_t keys, unsigned salts,
              uint64_t probes)
{
    uint64_t *hashes = allocate(keys * sizeof *hashes);
    uint64_t passed = 0, asked = 0;

    for (unsigned s = 0; s < salts; s++) {
        uint64_t salt = seed + s;
        struct key_source source;
        struct built built;

        key_source_init(&source, kind);
        for (size_t i = 0; i < keys; i++)
            hashes[i] = next_key_hash(&source, salt);
        build(&built, shape, hashes, keys);
        assert_contains_all(&built.filter, hashes, keys);
        for (uint64_t i = 0; i < probes / salts + 1; i++, asked++)
            passed += bloom_may_contain(&built.filter, next_key_hash(&source, salt));
        free(built.bytes);
    }
    free(hashes);
    return (double)passed / (double)asked;
}

static void
assert_within(double measured, double wanted, double tolerance, const char *what,
              const struct bloom_shape *shape, size_t keys)
{
    if (!(fabs(measured / wanted - 1) <= tolerance))
        fail_msg("layout %d, k %u, m %llu, %zu keys: rate %g is not within %g of the %s %g",
                 (int)shape->layout, shape->probes, (unsigned long long)shape->bits, keys, measured,
                 tolerance, what, wanted);
}

TEST(configured_rate_holds)
{
    static const double rates[] = {0.1, 0.01, 0.001};
    static const struct {
        size_t keys;
        unsigned salts; /* small filters differ, so more of them */
    } sizes[] = {{1000, 64}, {10000, 16}, {100000, 4}, {1000000, 1}};
    static const enum key_kind kinds[] = {RANDOM_KEYS, SEQUENTIAL_KEYS};
    double wanted_hits = test_long() ? 40000 : 4000;

    for (size_t c = 0; c < 3 * 4 * 2 * 2; c++) {
        double rate = rates[c % 3];
        size_t keys = sizes[c / 3 % 4].keys;
        struct bloom_plan plan;
        struct bloom_shape shape;
        double measured;

        bloom_plan_init(&plan, LAYOUTS[c / 12 % 2], rate);
        shape = bloom_plan_shape(&plan, keys);
        measured = measured_rate(&shape, kinds[c / 24], keys, sizes[c / 3 % 4].salts,
                                 (uint64_t)(wanted_hits / rate));
        assert_within(measured, rate, 0.1, "configured", &shape, keys);
        assert_within(measured, bloom_expected_rate(&shape, keys), 0.08, "expected", &shape, keys);
    }
}

/* Column and marker hashes fill a filter as well as row hashes do: a row of many columns. */
TEST(configured_rate_holds_for_columns_and_markers)
{
    enum { KEYS = 20000, PROBES = 400000 };
    uint64_t *hashes = allocate(2 * KEYS * sizeof *hashes);
    uint64_t row_hash = bloom_hash_row(seed, "row", 3);

    for (uint32_t i = 0; i < KEYS; i++) {
        hashes[2 * i] = bloom_hash_column(row_hash, &i, sizeof i);
        hashes[2 * i + 1] = bloom_hash_family_marker(bloom_hash_row(seed, &i, sizeof i));
    }
    for (size_t l = 0; l < COUNT_OF(LAYOUTS); l++) {
        double passed[2] = {0, 0};
        struct bloom_plan plan;
        struct bloom_shape shape;
        struct built built;

        bloom_plan_init(&plan, LAYOUTS[l], 0.01);
        shape = bloom_plan_shape(&plan, 2 * KEYS);
        build(&built, &shape, hashes, 2 * KEYS);
        for (uint32_t i = KEYS; i < KEYS + PROBES; i++) {
            uint64_t other_row = bloom_hash_row(seed, &i, sizeof i);

            passed[0] +=
                bloom_may_contain(&built.filter, bloom_hash_column(row_hash, &i, sizeof i));
            passed[1] += bloom_may_contain(&built.filter, bloom_hash_family_marker(other_row));
        }
        assert_within(passed[0] / PROBES, 0.01, 0.1, "configured", &shape, 2 * KEYS);
        assert_within(passed[1] / PROBES, 0.01, 0.1, "configured", &shape, 2 * KEYS);
        free(built.bytes);
    }
    free(hashes);
}

/* Table of Fan, Cao, Almeida, Broder: "Summary Cache", 2000: m/n, k, rate. */
TEST(published_table_is_reproduced)
{
    static const struct {
        unsigned bits_per_key, probes;
        double rate, last_digit;
    } table[] = {{8, 5, 0.0217, 0.0001},
                 {8, 6, 0.0216, 0.0001},
                 {10, 7, 0.00819, 0.00001},
                 {16, 11, 0.000459, 0.000001}};
    enum { KEYS = 500000 };

    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct bloom_shape shape = {BLOOM_STANDARD, table[i].probes,
                                    (uint64_t)table[i].bits_per_key * KEYS};
        double probes = (test_long() ? 20000 : 2000) / table[i].rate;
        double error = sqrt(table[i].rate / probes);
        double measured = measured_rate(&shape, RANDOM_KEYS, KEYS, 1, (uint64_t)probes);

        assert_true(fabs(bloom_expected_rate(&shape, KEYS) - table[i].rate) <= table[i].last_digit);
        assert_within(measured, table[i].rate, (4 * error + table[i].last_digit) / table[i].rate,
                      "published", &shape, KEYS);
    }
}

/* The model is right where rates are far from any that a plan asks for: few lines, few bits,
 * overfull. */
TEST(expected_rate_is_measured)
{
    static const struct {
        struct bloom_shape shape;
        size_t keys;
    } cases[] = {
        {{BLOOM_BLOCKED, 1, 512}, 100},        {{BLOOM_BLOCKED, 8, 512}, 60},
        {{BLOOM_BLOCKED, 6, 3 * 512}, 150},    {{BLOOM_BLOCKED, 4, 100 * 512}, 20000},
        {{BLOOM_BLOCKED, 20, 64 * 512}, 1800}, {{BLOOM_STANDARD, 7, 29}, 2},
        {{BLOOM_STANDARD, 3, 100}, 20},        {{BLOOM_STANDARD, 7, 1000}, 100},
        {{BLOOM_STANDARD, 1, 64}, 64},         {{BLOOM_STANDARD, 7, 4000}, 2000},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double expected = bloom_expected_rate(&cases[i].shape, cases[i].keys);
        unsigned salts = (unsigned)(400000 / (cases[i].keys + 100));
        double measured = measured_rate(&cases[i].shape, SEQUENTIAL_KEYS, cases[i].keys, salts,
                                        (uint64_t)(4000 / expected));

        assert_within(measured, expected, 0.08, "expected", &cases[i].shape, cases[i].keys);
    }
    assert_true(bloom_expected_rate(&cases[0].shape, 0) == 0);
}

/* ---- plans ---- */

TEST(densities_are_known_ones)
{
    struct bloom_plan plan;
    double textbook = log(1 / 0.01) / (log(2) * log(2));

    bloom_plan_init(&plan, BLOOM_STANDARD, 0.01);
    assert_int_equal(plan.standard.probes, 7);
    assert_true(plan.standard.bits_per_key >= textbook);
    assert_true(plan.standard.bits_per_key < textbook * 1.002);
    bloom_plan_init(&plan, BLOOM_BLOCKED, 0.01);
    assert_true(plan.blocked.bits_per_key > 9.8 && plan.blocked.bits_per_key < 10.3);
    bloom_plan_init(&plan, BLOOM_BLOCKED, 0.001);
    assert_true(plan.blocked.bits_per_key > 15.2 && plan.blocked.bits_per_key < 16.0);
}

TEST(rates_are_clamped)
{
    static const double low[] = {0, -1, 1e-9, NAN}, high[] = {0.6, 1, 2, INFINITY};
    struct bloom_plan plan;

    for (size_t i = 0; i < 4; i++) {
        bloom_plan_init(&plan, BLOOM_BLOCKED, low[i]);
        assert_true(plan.rate == BLOOM_MIN_RATE);
        bloom_plan_init(&plan, BLOOM_BLOCKED, high[i]);
        assert_true(plan.rate == BLOOM_MAX_RATE);
    }
}

/* Each shape is expected to hold its rate, and the STANDARD one would not with fewer bits. */
TEST(shapes_hold_their_rate)
{
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 1e-6};
    struct bloom_plan plan;

    for (size_t c = 0; c < 2 * COUNT_OF(rates); c++) {
        bloom_plan_init(&plan, LAYOUTS[c % 2], rates[c / 2]);
        for (uint64_t keys = 1; keys <= BLOOM_MAX_KEYS; keys += 1 + keys / 29) {
            struct bloom_shape shape = bloom_plan_shape(&plan, keys);
            double expected = bloom_expected_rate(&shape, keys);

            if (shape.layout == BLOOM_BLOCKED) {
                assert_int_equal(plan.layout, BLOOM_BLOCKED);
                assert_int_equal(shape.bits % BLOOM_LINE_BITS, 0);
                assert_true(expected <= plan.rate * 1.041 && expected >= plan.rate * 0.849);
            } else {
                assert_true(expected <= plan.rate * (1 + 1e-4));
                shape.bits = shape.bits - 1 - shape.bits / 1000;
                assert_true(shape.bits == 0 || bloom_expected_rate(&shape, keys) > plan.rate);
                assert_true(plan.layout == BLOOM_STANDARD || keys < 4000);
            }
        }
    }
}

TEST(capacity_fits)
{
    static const double rates[] = {0.5, 0.01, 0.001, 1e-6};
    struct bloom_plan plan;
    struct bloom_shape shape;

    for (size_t c = 0; c < 2 * COUNT_OF(rates); c++) {
        bloom_plan_init(&plan, LAYOUTS[c % 2], rates[c / 2]);
        assert_int_equal(bloom_plan_capacity(&plan, 0), 1);
        assert_int_equal(bloom_plan_capacity(&plan, BLOOM_FOOTER_BYTES), 1);
        for (size_t bytes = 32; bytes <= 65536 + 100; bytes += 1 + bytes / 50) {
            uint64_t keys = bloom_plan_capacity(&plan, bytes);
            for (uint64_t fewer = keys; fewer > 0; fewer -= 1 + fewer / 9) {
                shape = bloom_plan_shape(&plan, fewer);
                assert_true(bloom_bytes(&shape) <= bytes);
            }
            shape = bloom_plan_shape(&plan, keys);
            if (bytes >= 128 && shape.layout == plan.layout)
                assert_true(bloom_bytes(&shape) + BLOOM_LINE_BYTES > bytes);
        }
        assert_int_equal(bloom_plan_capacity(&plan, (size_t)1 << 40), BLOOM_MAX_KEYS);
    }
}

/* The first probes and the rest say together what the whole filter says, and the first bits are
 * those that a filter of so many probes sets. */
TEST(first_probes_and_the_rest_are_the_whole)
{
    enum { LINES = 37, KEYS = 1200, ASKED = 4000 };
    uint64_t *hashes = some_hashes(KEYS + ASKED, 3);

    for (unsigned probes = BLOOM_FIRST_PROBES; probes <= BLOOM_MAX_PROBES; probes++) {
        struct bloom_shape shape = {BLOOM_BLOCKED, probes, LINES * BLOOM_LINE_BITS};
        struct built built, alone;

        build(&built, &shape, hashes, KEYS);
        for (size_t i = 0; i < KEYS + ASKED; i++) {
            const uint8_t *line = built.bytes + BLOOM_LINE_BYTES * bloom_line(hashes[i], LINES);
            struct bloom_first_bits first;
            bool found;

            bloom_first_bits(hashes[i], &first);
            found = bloom_line_has_first(line, &first) &&
                    (probes == BLOOM_FIRST_PROBES ||
                     bloom_line_may_contain_rest(line, probes, hashes[i]));
            assert_int_equal(found, bloom_may_contain(&built.filter, hashes[i]));
            assert_true(found || i >= KEYS);
            if (probes > BLOOM_FIRST_PROBES || i >= 100)
                continue;
            build(&alone, &shape, &hashes[i], 1);
            line = alone.bytes + BLOOM_LINE_BYTES * bloom_line(hashes[i], LINES);
            assert_memory_equal(line, first.words, BLOOM_LINE_BYTES);
            free(alone.bytes);
        }
        free(built.bytes);
    }
    free(hashes);
}

int
main(void)
{
    seed = test_seed();
    return test_run();
}
