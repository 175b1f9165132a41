/*
 * format_test.c -- what filters on disk depend on: hashes and filters keep their values and bytes,
 * the three domains of hashes differ, and bytes that no filter has are refused or stay in bounds.
 */
#include "bloom/bloom.h"
#include "bloom/hash.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

/* Plain memory: cmocka's own has guards around it, in which a sanitizer does not see a byte too
 * far. */
static void *
allocate(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);

    assert_non_null(memory);
    return memory;
}

/* ---- hashes ---- */

/* Bytes of both signs, no two neighbours alike. */
static void
fill_pattern(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(0x80 + 151 * i);
}

/* More than the hash takes at once of long keys. */
#define LONG_BYTES 1300

static uint64_t
digest_of_hashes(uint64_t salt, const uint8_t *bytes, size_t from, size_t to)
{
    uint64_t digest = 0;

    for (size_t size = from; size <= to; size++) {
        uint64_t row = bloom_hash_row(salt, bytes, size);

        digest = digest * 31 + row;
        digest = digest * 31 + bloom_hash_column(row, bytes, size);
        digest = digest * 31 + bloom_hash_family_marker(row);
    }
    return digest;
}

TEST(hashes_keep_their_values)
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
    uint8_t bytes[LONG_BYTES];
    uint64_t digest;

    fill_pattern(bytes, sizeof bytes);
    /* Without salt a row's hash is plain XXH3-64: its published value for no bytes. */
    assert_int_equal(bloom_hash_row(0, "", 0), UINT64_C(0x2D06800538D394C2));
    for (size_t i = 0; i < COUNT_OF(golden); i++) {
        uint64_t row = bloom_hash_row(salt, bytes, golden[i].size);

        assert_int_equal(row, golden[i].row);
        assert_int_equal(bloom_hash_column(row, bytes, golden[i].size), golden[i].column);
        assert_int_equal(bloom_hash_family_marker(row), golden[i].marker);
    }
    digest = digest_of_hashes(salt, bytes, 0, 130);
    assert_int_equal(digest, UINT64_C(0xC0243FBDD612F00F));
    /* Long ones are hashed by whatever wide instructions there are. */
    digest = digest_of_hashes(salt, bytes, 131, LONG_BYTES);
    assert_int_equal(digest, UINT64_C(0x13CB3F73981E2552));
}

TEST(equal_keys_hash_equal_at_any_address)
{
    uint8_t bytes[300];

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

/* Rows, columns and markers of the same bytes, the empty qualifier, other salts and other rows: all
 * differ. */
TEST(domains_differ)
{
    enum { ROWS = 3000, EACH = 5 };
    uint64_t *all = allocate(ROWS * EACH * sizeof *all);

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

/* The filter in memory of its own; *size is its size. */
static uint8_t *
built(const struct bloom_shape *shape, const uint64_t *hashes, size_t count, size_t *size)
{
    uint8_t *bytes = allocate(*size = bloom_bytes(shape));

    memset(bytes, 0xA5, *size); /* all of them are to be overwritten */
    bloom_build(shape, hashes, count, bytes);
    return bytes;
}

TEST(filters_keep_their_bytes)
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
    uint8_t *bytes;
    size_t size;

    for (uint32_t i = 0; i < COUNT_OF(hashes); i++) {
        uint8_t key[4] = {(uint8_t)(i >> 8), (uint8_t)i, 0x80, 0xFF};

        hashes[i] = bloom_hash_row(42, key, sizeof key);
    }
    for (size_t i = 0; i < COUNT_OF(golden); i++) {
        bytes = built(&golden[i].shape, hashes, COUNT_OF(hashes), &size);
        assert_int_equal(bloom_hash_row(0, bytes, size), golden[i].digest);
        free(bytes);
    }
    bytes = built(&(struct bloom_shape){BLOOM_STANDARD, 3, 21}, hashes, 2, &size);
    assert_int_equal(size, sizeof tiny);
    assert_memory_equal(bytes, tiny, sizeof tiny);
    free(bytes);
}

/* What can be said of a filter whose bytes are hostile: it is refused, or asking it stays in
 * bounds. */
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

TEST(every_footer_byte_is_checked)
{
    static const struct bloom_shape shapes[] = {
        {BLOOM_STANDARD, 7, 1000}, {BLOOM_STANDARD, 1, 1},   {BLOOM_STANDARD, 6, 2048},
        {BLOOM_BLOCKED, 6, 2048},  {BLOOM_BLOCKED, 30, 512}, {BLOOM_STANDARD, 30, 257}};
    static const uint64_t hashes[] = {0, 1, UINT64_C(0x123456789ABCDEF0), UINT64_MAX};

    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        size_t size;
        uint8_t *bytes = built(&shapes[s], hashes, COUNT_OF(hashes), &size);
        uint8_t *footer = bytes + size - BLOOM_FOOTER_BYTES;

        for (size_t offset = 0; offset < BLOOM_FOOTER_BYTES; offset++) {
            uint8_t good = footer[offset];

            for (unsigned value = 0; value < 256; value++) {
                uint64_t bits = 0;

                footer[offset] = (uint8_t)value;
                for (unsigned b = 8; b-- > 0;)
                    bits = bits << 8 | footer[8 + b];
                assert_int_equal(open_and_ask(bytes, size),
                                 footer_byte_may_be(&shapes[s], offset, (uint8_t)value, bits));
            }
            footer[offset] = good;
        }
        for (size_t shorter = 0; shorter < size; shorter++)
            assert_false(open_and_ask(bytes, shorter));
        free(bytes);
    }
}

/* Footers of extreme numbers, and of noise, over bits of every small size. */
TEST(hostile_footers_stay_in_bounds)
{
    static const uint64_t extremes[] = {
        0, 1, 511, 512, UINT64_MAX, UINT64_MAX - 511, UINT64_MAX - 7, UINT64_C(1) << 63};
    struct test_random random;
    uint8_t bytes[200];

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
    seed = test_seed();
    return test_run();
}
