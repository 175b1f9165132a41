/*
 * bloom_test.c -- chunks of Bloom filters: HBase's sizes, its bits, its folding. That whole chunks
 * of HBase's files are equal to what is made of their keys is seen where files are written and
 * checked.
 */
#include "tests/support/test.h"
#include "tools/hfile/format/bloom.h"
#include "tools/hfile/format/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static struct hfile_bloom_shape
shape_of(uint32_t bytes, double error_rate, bool is_rowcol)
{
    struct hfile_bloom_shape shape;

    assert_true(hfile_bloom_shape_of(bytes, error_rate, is_rowcol, &shape));
    return shape;
}

TEST(chunks_are_as_large_as_those_of_hbase)
{
    struct hfile_bloom_shape row = shape_of(131072, 0.01, false);
    struct hfile_bloom_shape rowcol = shape_of(131072, 0.01, true);

    assert_int_equal(row.bytes, 131072);
    assert_int_equal(row.hash_count, 7);
    assert_int_equal(row.max_keys, 109306);
    assert_int_equal(rowcol.bytes, 131072);
    assert_int_equal(rowcol.hash_count, 8);
    assert_int_equal(rowcol.max_keys, 95069);
    assert_int_equal(shape_of(1, 0.01, false).bytes, 128);
    assert_int_equal(shape_of(129, 0.01, false).bytes, 256);
}

TEST(what_is_no_chunk_is_refused)
{
    struct hfile_bloom_shape shape;

    assert_false(hfile_bloom_shape_of(0, 0.01, false, &shape));
    assert_false(hfile_bloom_shape_of(UINT32_MAX, 0.01, false, &shape));
    assert_false(hfile_bloom_shape_of(131072, 0, false, &shape));
    assert_false(hfile_bloom_shape_of(131072, 1, false, &shape));
    assert_false(hfile_bloom_shape_of(131072, -1, false, &shape));
    assert_false(hfile_bloom_shape_of(131072, (double)NAN, false, &shape));
    assert_false(hfile_bloom_shape_of(128, 1e-300, true, &shape));
}

/* Bits that HBase sets of a chunk of 1,048,576. */
static const struct {
    const char *key;
    uint32_t bits[7];
} VECTORS[] = {
    {"row-0001", {865317, 293441, 403623, 513805, 623987, 314407, 204225}},
    {"\x6B\xFF\xFE", {838913, 472286, 734909, 997532, 211579, 574374, 311751}},
};

TEST(keys_set_the_bits_that_hbase_sets)
{
    uint8_t *chunk = calloc(1, 131072), *expected = calloc(1, 131072);

    for (size_t i = 0; i < COUNT_OF(VECTORS); i++) {
        const char *key = VECTORS[i].key;

        memset(chunk, 0, 131072);
        memset(expected, 0, 131072);
        for (size_t b = 0; b < COUNT_OF(VECTORS[i].bits); b++)
            expected[VECTORS[i].bits[b] / 8] |= (uint8_t)(1u << VECTORS[i].bits[b] % 8);
        hfile_bloom_add(chunk, 131072, 7, hfile_bloom_hash(HFILE_HASH_MURMUR, key, strlen(key)));
        assert_memory_equal(chunk, expected, 131072);
    }
    free(chunk);
    free(expected);
}

/* Java: Math.abs(position % bits), of ints. */
static uint32_t
bit_in_java(int32_t position, int32_t bits)
{
    int32_t rest = position % bits;

    return (uint32_t)(rest < 0 ? -rest : rest);
}

TEST(bits_are_taken_as_java_takes_them)
{
    static const int32_t BITS[] = {8, 16, 24, 32, 40, 2400, 1048576, 1048568, INT32_MAX - 7};
    static const int32_t POSITIONS[] = {
        0, 1, -1, 7, 8, -8, -9, 23, -24, 2401, 123456789, INT32_MAX, INT32_MIN + 1, INT32_MIN};

    for (size_t b = 0; b < COUNT_OF(BITS); b++)
        for (size_t p = 0; p < COUNT_OF(POSITIONS); p++)
            assert_int_equal(hfile_bloom_bit((uint32_t)POSITIONS[p], (uint32_t)BITS[b]),
                             bit_in_java(POSITIONS[p], BITS[b]));
}

static struct hfile_bloom_hashes
hashes_of(uint32_t number)
{
    char key[16];

    return hfile_bloom_hash(HFILE_HASH_MURMUR, key,
                            (size_t)snprintf(key, sizeof key, "row%u", number));
}

/* No key is lost by folding, and the rate of wrong answers holds whatever part of the chunk is in
 * use. */
TEST(folded_chunks_keep_their_keys_and_their_rate)
{
    static const uint32_t COUNTS[] = {1, 2, 13, 300, 27000, 60000, 109306};

    for (size_t c = 0; c < COUNT_OF(COUNTS); c++) {
        struct hfile_bloom_shape shape = shape_of(131072, 0.01, false);
        uint8_t *chunk = calloc(1, shape.bytes), *tight;
        uint32_t wrong = 0;

        for (uint32_t i = 0; i < COUNTS[c]; i++)
            hfile_bloom_add(chunk, shape.bytes, shape.hash_count, hashes_of(i));
        hfile_bloom_fold(chunk, &shape, COUNTS[c]);
        assert_true(shape.max_keys >= COUNTS[c]);
        assert_true(shape.max_keys <= 2 * COUNTS[c]);
        tight = malloc(shape.bytes);
        memcpy(tight, chunk, shape.bytes);
        for (uint32_t i = 0; i < COUNTS[c]; i++)
            assert_true(hfile_bloom_contains(tight, shape.bytes, shape.hash_count, hashes_of(i)));
        for (uint32_t i = 0; i < 10000; i++)
            wrong +=
                hfile_bloom_contains(tight, shape.bytes, shape.hash_count, hashes_of(1000000 + i));
        assert_in_range(wrong, 0, COUNTS[c] < 100 ? 1000 : 150);
        free(tight);
        free(chunk);
    }
}

/* HBase 2.6.0's file bloom-folded-last has 300 rows in 512 bytes; one row makes two. */
TEST(chunks_are_folded_as_far_as_hbase_folds_them)
{
    static const struct {
        uint32_t keys, bytes, max_keys;
    } FOLDED[] = {{1, 2, 1}, {2, 4, 3}, {9, 16, 13}, {300, 512, 426}, {109306, 131072, 109306}};
    uint8_t *chunk = calloc(1, 131072);

    for (size_t i = 0; i < COUNT_OF(FOLDED); i++) {
        struct hfile_bloom_shape shape = shape_of(131072, 0.01, false);

        hfile_bloom_fold(chunk, &shape, FOLDED[i].keys);
        assert_int_equal(shape.bytes, FOLDED[i].bytes);
        assert_int_equal(shape.max_keys, FOLDED[i].max_keys);
    }
    free(chunk);
}
