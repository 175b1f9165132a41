/*
 * bloom_test.c -- filters never lose a key, hold their error rate, and keep their bytes; hashes keep their
 * values.  Rates are measured on keys as users have them (random bytes, numbered names), hashed as the
 * store hashes them, against the configured rate and against published tables.
 */
#include "bloom/bloom.h"
#include "bloom/hash.h"
#include "tests/test_support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define KEY_BYTES       16

static uint64_t seed;

static const enum bloom_layout LAYOUTS[] = {BLOOM_STANDARD, BLOOM_BLOCKED};

/* Plain memory: cmocka's own has guards around it, in which a sanitizer does not see a byte too far. */
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
        bloom_prefetch(filter, hashes[i]);
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

static void
no_key_is_lost(void **state)
{
    static const double rates[] = {0.5, 0.01, 1e-6};
    static const size_t large[] = {10000, 65537, 300000, 1000000};
    uint64_t *hashes = some_hashes(1000000, 1);
    struct bloom_plan plan;
    struct bloom_shape shape;

    (void)state;
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
static void
no_key_is_lost_in_odd_shapes(void **state)
{
    uint64_t *hashes = some_hashes(200, 2);

    (void)state;
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
static void
extreme_hashes_stay_in_bounds(void **state)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        UINT64_MAX,
                                        UINT64_MAX - 1,
                                        UINT64_C(1) << 63,
                                        UINT32_MAX,
                                        UINT64_C(0xFFFFFFFF00000000)};
    static const uint64_t bits[] = {1, 7, 8, 9, 511, 512, 513, 1024, 99999};

    (void)state;
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

static void
configured_rate_holds(void **state)
{
    static const double rates[] = {0.1, 0.01, 0.001};
    static const struct {
        size_t keys;
        unsigned salts; /* small filters differ, so more of them */
    } sizes[] = {{1000, 64}, {10000, 16}, {100000, 4}, {1000000, 1}};
    static const enum key_kind kinds[] = {RANDOM_KEYS, SEQUENTIAL_KEYS};
    double wanted_hits = test_long() ? 40000 : 4000;

    (void)state;
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
static void
configured_rate_holds_for_columns_and_markers(void **state)
{
    enum { KEYS = 20000, PROBES = 400000 };
    uint64_t *hashes = allocate(2 * KEYS * sizeof *hashes);
    uint64_t row_hash = bloom_hash_row(seed, "row", 3);

    (void)state;
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
static void
published_table_is_reproduced(void **state)
{
    static const struct {
        unsigned bits_per_key, probes;
        double rate, last_digit;
    } table[] = {{8, 5, 0.0217, 0.0001},
                 {8, 6, 0.0216, 0.0001},
                 {10, 7, 0.00819, 0.00001},
                 {16, 11, 0.000459, 0.000001}};
    enum { KEYS = 500000 };

    (void)state;
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

/* The model is right where rates are far from any that a plan asks for: few lines, few bits, overfull. */
static void
expected_rate_is_measured(void **state)
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

    (void)state;
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

static void
densities_are_known_ones(void **state)
{
    struct bloom_plan plan;
    double textbook = log(1 / 0.01) / (log(2) * log(2));

    (void)state;
    bloom_plan_init(&plan, BLOOM_STANDARD, 0.01);
    assert_int_equal(plan.standard.probes, 7);
    assert_true(plan.standard.bits_per_key >= textbook);
    assert_true(plan.standard.bits_per_key < textbook * 1.002);
    bloom_plan_init(&plan, BLOOM_BLOCKED, 0.01);
    assert_true(plan.blocked.bits_per_key > 9.8 && plan.blocked.bits_per_key < 10.3);
    bloom_plan_init(&plan, BLOOM_BLOCKED, 0.001);
    assert_true(plan.blocked.bits_per_key > 15.2 && plan.blocked.bits_per_key < 16.0);
}

static void
rates_are_clamped(void **state)
{
    static const double low[] = {0, -1, 1e-9, NAN}, high[] = {0.6, 1, 2, INFINITY};
    struct bloom_plan plan;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        bloom_plan_init(&plan, BLOOM_BLOCKED, low[i]);
        assert_true(plan.rate == BLOOM_MIN_RATE);
        bloom_plan_init(&plan, BLOOM_BLOCKED, high[i]);
        assert_true(plan.rate == BLOOM_MAX_RATE);
    }
}

/* Each shape is expected to hold its rate, and the STANDARD one would not with fewer bits. */
static void
shapes_hold_their_rate(void **state)
{
    static const double rates[] = {0.5, 0.1, 0.01, 0.001, 1e-6};
    struct bloom_plan plan;

    (void)state;
    for (size_t c = 0; c < 2 * COUNT_OF(rates); c++) {
        bloom_plan_init(&plan, LAYOUTS[c % 2], rates[c / 2]);
        for (uint64_t keys = 1; keys <= BLOOM_MAX_KEYS; keys += 1 + keys / 29) {
            struct bloom_shape shape = bloom_plan_shape(&plan, keys);
            double expected = bloom_expected_rate(&shape, keys);

            if (shape.layout == BLOOM_BLOCKED) {
                assert_int_equal(plan.layout, BLOOM_BLOCKED);
                assert_int_equal(shape.bits % BLOOM_LINE_BITS, 0);
                assert_true(fabs(expected / plan.rate - 1) <= 0.041);
            } else {
                assert_true(expected <= plan.rate * (1 + 1e-4));
                shape.bits = shape.bits - 1 - shape.bits / 1000;
                assert_true(shape.bits == 0 || bloom_expected_rate(&shape, keys) > plan.rate);
                assert_true(plan.layout == BLOOM_STANDARD || keys < 4000);
            }
        }
    }
}

static void
capacity_fits(void **state)
{
    static const double rates[] = {0.5, 0.01, 0.001, 1e-6};
    struct bloom_plan plan;
    struct bloom_shape shape;

    (void)state;
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

/* A memtable's filter asks and sets the same bits as a stored BLOCKED one. */
static void
line_bits_are_those_of_blocked(void **state)
{
    enum { LINES = 37 };
    uint64_t *hashes = some_hashes(200, 3);

    (void)state;
    for (unsigned probes = 1; probes <= BLOOM_MAX_PROBES; probes++) {
        struct bloom_shape shape = {BLOOM_BLOCKED, probes, LINES * BLOOM_LINE_BITS};

        for (size_t i = 0; i < 200; i++) {
            uint8_t expected[LINES * BLOOM_LINE_BYTES] = {0};
            uint8_t *line = expected + BLOOM_LINE_BYTES * bloom_line(hashes[i], LINES);
            uint64_t words[8];
            struct built built;

            bloom_line_bits(hashes[i], probes, words);
            for (unsigned b = 0; b < BLOOM_LINE_BITS; b++)
                line[b / 8] |= (uint8_t)((words[b / 64] >> b % 64 & 1) << b % 8);
            build(&built, &shape, &hashes[i], 1);
            assert_memory_equal(built.bytes, expected, sizeof expected);
            free(built.bytes);
        }
    }
    free(hashes);
}

/* ---- hashes ---- */

/* Bytes of both signs, no two neighbours alike. */
static void
fill_pattern(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(0x80 + 151 * i);
}

static void
hashes_keep_their_values(void **state)
{
    static const struct {
        size_t size;
        uint64_t row, column, marker;
    } golden[] = {
        {0, 0xCC1CA35A1B089C5Cu, 0x379DDA3EF6BA3303u, 0xF539224C58251409u},
        {1, 0xEE36C729D447F0A4u, 0x2070AE79B323D3D9u, 0xC6D3FFC738705DD0u},
        {3, 0xAB948703DADF6905u, 0xCB7D4F25905C0ADCu, 0x21F22CD6C038014Fu},
        {4, 0x87848B8A607B1E65u, 0xA48EC8EB5843C976u, 0x9218DB865CF7D243u},
        {8, 0x148800023A0F38DEu, 0x29DBD89A840633FFu, 0xA5BDB0170A670935u},
        {9, 0x4187AE090FB8A3E5u, 0x98B54C323D3F2EE8u, 0x1382E7896ADC78F9u},
        {16, 0xA0686E6A0631381Bu, 0xDA9DB19776A2842Eu, 0xC20A88FAA4362CFFu},
        {17, 0xD182C22C4C38F52Au, 0xB4B6C97287293691u, 0x53E7082E6756B6C5u},
        {128, 0x3B2A2F4BC2749078u, 0x90615DF78756350Fu, 0x85757DA031641778u},
        {129, 0x9175A954D6BDB9EDu, 0x4CEDC9723855F551u, 0x2F17C649B96C0E6Au},
        {130, 0xE06EDAAEA76FE389u, 0x1B63832772E3EAE1u, 0x5C78095955E3FFB8u},
    };
    const uint64_t salt = 0x0123456789ABCDEFu;
    uint8_t bytes[131];
    uint64_t digest = 0;

    (void)state;
    fill_pattern(bytes, sizeof bytes);
    /* Without salt a row's hash is plain XXH3-64: its published value for no bytes. */
    assert_int_equal(bloom_hash_row(0, "", 0), UINT64_C(0x2D06800538D394C2));
    for (size_t i = 0; i < COUNT_OF(golden); i++) {
        uint64_t row = bloom_hash_row(salt, bytes, golden[i].size);

        assert_int_equal(row, golden[i].row);
        assert_int_equal(bloom_hash_column(row, bytes, golden[i].size), golden[i].column);
        assert_int_equal(bloom_hash_family_marker(row), golden[i].marker);
    }
    for (size_t size = 0; size <= 130; size++) {
        uint64_t row = bloom_hash_row(salt, bytes, size);

        digest = digest * 31 + row;
        digest = digest * 31 + bloom_hash_column(row, bytes, size);
        digest = digest * 31 + bloom_hash_family_marker(row);
    }
    assert_int_equal(digest, UINT64_C(0xC0243FBDD612F00F));
}

static void
equal_keys_hash_equal_at_any_address(void **state)
{
    uint8_t bytes[300];

    (void)state;
    fill_pattern(bytes, sizeof bytes);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint64_t row = bloom_hash_row(7, bytes, size);
        uint64_t column = bloom_hash_column(row, bytes, size);

        for (size_t offset = 0; offset < 64; offset++) {
            uint8_t *memory = allocate(offset + size); /* ends where the key ends */

            memset(memory, (int)offset, offset);
            memcpy(memory + offset, bytes, size);
            assert_int_equal(bloom_hash_row(7, memory + offset, size), row);
            assert_int_equal(bloom_hash_column(row, memory + offset, size), column);
            free(memory);
        }
    }
    assert_int_equal(bloom_hash_row(7, NULL, 0), bloom_hash_row(7, "", 0));
    assert_int_equal(bloom_hash_column(7, NULL, 0), bloom_hash_column(7, "", 0));
}

static int
compare_words(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

/* Rows, columns and markers of the same bytes, the empty qualifier, other salts and other rows: all differ. */
static void
domains_differ(void **state)
{
    enum { ROWS = 3000, EACH = 5 };
    uint64_t *all = allocate(ROWS * EACH * sizeof *all);

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        uint64_t row = bloom_hash_row(1, &i, sizeof i);

        all[EACH * i] = row;
        all[EACH * i + 1] = bloom_hash_row(2, &i, sizeof i);
        all[EACH * i + 2] = bloom_hash_column(row, "", 0);
        all[EACH * i + 3] = bloom_hash_column(row, &i, sizeof i);
        all[EACH * i + 4] = bloom_hash_family_marker(row);
    }
    qsort(all, ROWS * EACH, sizeof *all, compare_words);
    for (size_t i = 1; i < ROWS * EACH; i++)
        assert_true(all[i - 1] != all[i]);
    /* A row and a qualifier do not run together. */
    assert_true(bloom_hash_column(bloom_hash_row(1, "ab", 2), "c", 1) !=
                bloom_hash_column(bloom_hash_row(1, "a", 1), "bc", 2));
    free(all);
}

/* ---- format ---- */

static void
filters_keep_their_bytes(void **state)
{
    static const struct {
        struct bloom_shape shape;
        uint64_t digest;
    } golden[] = {
        {{BLOOM_STANDARD, 7, 4799}, 0x6C57A7659E05E6B5u},
        {{BLOOM_STANDARD, 1, 1000}, 0x8EFF94B017005EFDu},
        {{BLOOM_STANDARD, 30, 20000}, 0xA7806C2B349A05E7u},
        {{BLOOM_BLOCKED, 6, 5120}, 0x65259B6EA52A6E41u},
        {{BLOOM_BLOCKED, 1, 512}, 0x563727332FFF3320u},
        {{BLOOM_BLOCKED, 30, 20480}, 0x4F19CF888BE766B9u},
    };
    static const uint8_t tiny[] = {
        0x1C, 0x21, 0x00,                               /* bits */
        0x02, 0x00, 0x00, 0x00,                         /* keys */
        0x01, 0x03, 0x00, 0x00,                         /* layout, k, 0 */
        0x15, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* m */
    };
    uint64_t hashes[500];
    struct built built;

    (void)state;
    for (uint32_t i = 0; i < COUNT_OF(hashes); i++) {
        uint8_t key[4] = {(uint8_t)(i >> 8), (uint8_t)i, 0x80, 0xFF};

        hashes[i] = bloom_hash_row(42, key, sizeof key);
    }
    for (size_t i = 0; i < COUNT_OF(golden); i++) {
        build(&built, &golden[i].shape, hashes, COUNT_OF(hashes));
        assert_int_equal(bloom_hash_row(0, built.bytes, built.size), golden[i].digest);
        free(built.bytes);
    }
    build(&built, &(struct bloom_shape){BLOOM_STANDARD, 3, 21}, hashes, 2);
    assert_int_equal(built.size, sizeof tiny);
    assert_memory_equal(built.bytes, tiny, sizeof tiny);
    free(built.bytes);
}

/* What can be said of a filter whose bytes are hostile: it is refused, or asking it stays in bounds. */
static bool
open_and_ask(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = allocate(size); /* exactly, for the sanitizer */
    struct bloom_filter filter;
    bool opened;

    memcpy(copy, bytes, size);
    opened = bloom_open(&filter, copy, size);
    if (opened) {
        for (uint64_t i = 0; i < 50; i++)
            (void)bloom_may_contain(&filter, bloom_hash_row(seed, &i, sizeof i));
        (void)bloom_may_contain(&filter, 0);
        (void)bloom_may_contain(&filter, UINT64_MAX);
        bloom_prefetch(&filter, UINT64_MAX);
    }
    free(copy);
    return opened;
}

/* Whether a footer may say `value` at `offset` and still be one for these bytes. */
static bool
footer_byte_may_be(const struct bloom_shape *shape, size_t offset, uint8_t value, uint64_t bits)
{
    if (offset < 4)
        return true;
    if (offset == 4)
        return value == BLOOM_STANDARD || (value == BLOOM_BLOCKED && bits % BLOOM_LINE_BITS == 0);
    if (offset == 5)
        return value >= 1 && value <= BLOOM_MAX_PROBES;
    if (offset < 8)
        return value == 0;
    return bits > 0 && (bits + 7) / 8 == (shape->bits + 7) / 8 && bits <= shape->bits + 7 &&
           (shape->layout == BLOOM_STANDARD || bits % BLOOM_LINE_BITS == 0);
}

static void
every_footer_byte_is_checked(void **state)
{
    static const struct bloom_shape shapes[] = {
        {BLOOM_STANDARD, 7, 1000}, {BLOOM_STANDARD, 1, 1},   {BLOOM_STANDARD, 6, 2048},
        {BLOOM_BLOCKED, 6, 2048},  {BLOOM_BLOCKED, 30, 512}, {BLOOM_STANDARD, 30, 257}};
    uint64_t *hashes = some_hashes(100, 4);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        struct built built;
        uint8_t *footer;

        build(&built, &shapes[s], hashes, 100);
        footer = built.bytes + built.size - BLOOM_FOOTER_BYTES;
        for (size_t offset = 0; offset < BLOOM_FOOTER_BYTES; offset++) {
            uint8_t good = footer[offset];

            for (unsigned value = 0; value < 256; value++) {
                uint64_t bits = 0;

                footer[offset] = (uint8_t)value;
                for (unsigned b = 8; b-- > 0;)
                    bits = bits << 8 | footer[8 + b];
                assert_int_equal(open_and_ask(built.bytes, built.size),
                                 footer_byte_may_be(&shapes[s], offset, (uint8_t)value, bits));
            }
            footer[offset] = good;
        }
        for (size_t size = 0; size < built.size; size++)
            assert_false(open_and_ask(built.bytes, size));
        free(built.bytes);
    }
    free(hashes);
}

/* Footers of extreme numbers, and of noise, over bits of every small size. */
static void
hostile_footers_stay_in_bounds(void **state)
{
    static const uint64_t extremes[] = {
        0, 1, 511, 512, UINT64_MAX, UINT64_MAX - 511, UINT64_MAX - 7, UINT64_C(1) << 63};
    struct test_random random;
    uint8_t bytes[200];

    (void)state;
    test_random_init(&random, seed);
    for (unsigned round = 0; round < 200000; round++) {
        size_t size = BLOOM_FOOTER_BYTES + test_random_below(&random, 180);
        uint8_t *footer = bytes + size - BLOOM_FOOTER_BYTES;
        uint64_t bits = extremes[test_random_below(&random, COUNT_OF(extremes))];

        test_random_bytes(&random, bytes, size);
        footer[4] = (uint8_t)test_random_below(&random, 4);
        footer[5] = (uint8_t)test_random_below(&random, 34);
        footer[6] = footer[7] = 0;
        if (test_random_chance(&random, 50))
            bits = 8 * (size - BLOOM_FOOTER_BYTES) + test_random_below(&random, 17) - 8;
        for (unsigned i = 0; i < 8; i++)
            footer[8 + i] = (uint8_t)(bits >> 8 * i);
        assert_false(open_and_ask(bytes, size) && bits == 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_is_lost),
        cmocka_unit_test(no_key_is_lost_in_odd_shapes),
        cmocka_unit_test(extreme_hashes_stay_in_bounds),
        cmocka_unit_test(configured_rate_holds),
        cmocka_unit_test(configured_rate_holds_for_columns_and_markers),
        cmocka_unit_test(published_table_is_reproduced),
        cmocka_unit_test(expected_rate_is_measured),
        cmocka_unit_test(densities_are_known_ones),
        cmocka_unit_test(rates_are_clamped),
        cmocka_unit_test(shapes_hold_their_rate),
        cmocka_unit_test(capacity_fits),
        cmocka_unit_test(line_bits_are_those_of_blocked),
        cmocka_unit_test(hashes_keep_their_values),
        cmocka_unit_test(equal_keys_hash_equal_at_any_address),
        cmocka_unit_test(domains_differ),
        cmocka_unit_test(filters_keep_their_bytes),
        cmocka_unit_test(every_footer_byte_is_checked),
        cmocka_unit_test(hostile_footers_stay_in_bounds),
    };

    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
