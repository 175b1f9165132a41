/*
 * encoding_test.c -- cells that are encoded come back, whatever they are; and what HBase encoded is
 * encoded anew to the same bytes, block by block.
 */
#include "tests/hfile/expect.h"
#include "tests/hfile/golden_file.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/encoding.h"
#include "tools/hfile/format/key.h"
#include "tools/hfile/format/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN_FRONT 33

/* A block of these cells, as the writer makes it. */
static petal_slice
encode(struct hfile_encoder *encoder, const petal_hfile_cell *cells, size_t count)
{
    struct hfile_buffer keys[2];
    struct hfile_key_step step;

    for (int i = 0; i < 2; i++)
        hfile_buffer_init(&keys[i], &hfile_default_allocator);
    assert_true(hfile_encoder_begin(encoder, IN_FRONT));
    for (size_t i = 0; i < count; i++) {
        struct hfile_keyed_cell keyed = {&cells[i], {NULL, 0}};

        hfile_buffer_clear(&keys[i % 2]);
        assert_true(hfile_key_append(&cells[i], &keys[i % 2]));
        keyed.key = hfile_buffer_slice(&keys[i % 2]);
        if (i > 0) {
            hfile_key_step(&cells[i - 1], &cells[i], &step);
            assert_true(step.order >= 0);
            assert_int_equal(step.order == 0, petal_hfile_compare(&cells[i - 1], &cells[i]) == 0);
        }
        assert_true(hfile_encoder_add(encoder, &keyed, &step));
    }
    assert_true(hfile_encoder_end(encoder));
    for (int i = 0; i < 2; i++)
        hfile_buffer_free(&keys[i]);
    return hfile_slice(encoder->block.bytes + IN_FRONT, encoder->block.size - IN_FRONT);
}

/* ---- cells by chance ---- */

#define MOST_CELLS 60
#define TEXT_BYTES 300

struct chance {
    struct test_random random;
    uint8_t text[TEXT_BYTES];
    petal_hfile_cell cells[MOST_CELLS];
    size_t count;
};

/* Of few bytes, so that much is common; the lengths, too, now and then with another high byte. */
static petal_slice
some_bytes(struct chance *chance, size_t least)
{
    static const size_t MOST[] = {1, 2, 3, 8, TEXT_BYTES};
    size_t most = MOST[test_random_below(&chance->random, 5)];
    size_t size = least + test_random_below(&chance->random, most), first;

    if (size > TEXT_BYTES)
        size = TEXT_BYTES;
    first = test_random_below(&chance->random, TEXT_BYTES - size + 1) / 8 * 8;
    if (first + size > TEXT_BYTES)
        first = 0;
    return hfile_slice(chance->text + first, size);
}

static int64_t
some_timestamp(struct chance *chance)
{
    static const int64_t KNOWN[] = {0, 1, 255, 256, 65535, 1690000000000, 1690000000001, INT64_MAX};

    if (test_random_chance(&chance->random, 50))
        return KNOWN[test_random_below(&chance->random, 8)];
    return (int64_t)(test_random_next(&chance->random) >> 1 >>
                     test_random_below(&chance->random, 63));
}

static int
in_order(const void *a, const void *b)
{
    return petal_hfile_compare(a, b);
}

static void
make_cells(struct chance *chance, const struct hfile_cell_layout *layout)
{
    static const int TYPES[] = {4, 8, 10, 12, 14};
    petal_slice family = {"family", test_random_below(&chance->random, 7)};

    for (size_t i = 0; i < TEXT_BYTES; i++)
        chance->text[i] = test_random_chance(&chance->random, 90)
                              ? 'a'
                              : (uint8_t)test_random_next(&chance->random);
    chance->count = 1 + test_random_below(&chance->random, MOST_CELLS);
    for (size_t i = 0; i < chance->count; i++)
        chance->cells[i] = (petal_hfile_cell){
            .row = some_bytes(chance, 1),
            .family = family,
            .qualifier = some_bytes(chance, 0),
            .value = some_bytes(chance, 0),
            .tags = layout->has_tags ? some_bytes(chance, 0) : hfile_slice(NULL, 0),
            .timestamp = some_timestamp(chance),
            .type = TYPES[test_random_below(&chance->random, 5)],
            .sequence = layout->has_sequences ? some_timestamp(chance) : 0};
    qsort(chance->cells, chance->count, sizeof *chance->cells, in_order);
}

static void
expect_cells(const struct hfile_cells *decoded, const struct chance *chance)
{
    assert_int_equal(decoded->count, chance->count);
    for (size_t i = 0; i < chance->count; i++) {
        const petal_hfile_cell *is = &decoded->cells[i], *expected = &chance->cells[i];

        assert_int_equal(petal_hfile_compare(is, expected), 0);
        expect_slice(is->family, expected->family);
        expect_slice(is->value, expected->value);
        expect_slice(is->tags, expected->tags);
        assert_int_equal(is->sequence, expected->sequence);
    }
}

TEST(cells_come_back)
{
    struct chance chance;
    struct hfile_cells decoded;

    test_random_init(&chance.random, 18);
    hfile_cells_init(&decoded, &hfile_default_allocator);
    for (int round = 0; round < 2000; round++) {
        struct hfile_cell_layout layout = {.has_tags = test_random_chance(&chance.random, 50),
                                           .has_sequences = test_random_chance(&chance.random, 50)};

        make_cells(&chance, &layout);
        for (int kind = PETAL_HFILE_ENCODING_NONE; kind <= PETAL_HFILE_ENCODING_ROW_INDEX_V1;
             kind++) {
            const struct hfile_encoding *encoding =
                hfile_encoding_of((enum petal_hfile_encoding)kind);
            struct hfile_encoder encoder;
            const char *wrong;
            petal_slice payload;

            hfile_encoder_init(&encoder, encoding, &layout, &hfile_default_allocator);
            payload = encode(&encoder, chance.cells, chance.count);
            assert_int_equal(hfile_decode_cells(encoding, &layout, payload, &decoded, &wrong),
                             PETAL_OK);
            expect_cells(&decoded, &chance);
            hfile_encoder_free(&encoder);
        }
    }
    hfile_cells_free(&decoded);
}

/* ---- what HBase encoded ---- */

static bool
encode_anew(const struct golden_file *file, const struct golden_block *block)
{
    petal_slice payload = hfile_slice(block->payload, block->header.uncompressed_bytes), again;
    struct hfile_encoder encoder;
    struct hfile_cells cells;
    const char *wrong;
    bool is_below_zero = false;

    hfile_cells_init(&cells, &hfile_default_allocator);
    hfile_encoder_init(&encoder, file->encoding, &file->layout, &hfile_default_allocator);
    assert_int_equal(hfile_decode_cells(file->encoding, &file->layout, payload, &cells, &wrong),
                     PETAL_OK);
    for (size_t i = 0; i < cells.count; i++)
        is_below_zero |= cells.cells[i].timestamp < 0;
    if (!is_below_zero) {
        again = encode(&encoder, cells.cells, cells.count);
        expect_slice(again, payload);
    }
    hfile_encoder_free(&encoder);
    hfile_cells_free(&cells);
    return !is_below_zero;
}

static size_t blocks[PETAL_HFILE_ENCODING_ROW_INDEX_V1 + 1]; /* of each encoding */

static void
encode_file_anew(const char *name)
{
    struct golden_file file;
    struct golden_block block;

    if (!golden_is_writable(name))
        return;
    golden_file_open(&file, name);
    for (uint64_t offset = 0; golden_block_next(&file, &offset, &block);) {
        if (block.header.kind == file.encoding->block_kind)
            blocks[file.encoding->kind] += encode_anew(&file, &block);
        free(block.payload);
    }
    golden_file_close(&file);
}

TEST(blocks_of_hbase_are_encoded_to_the_same_bytes)
{
    golden_each(encode_file_anew);
    for (int kind = PETAL_HFILE_ENCODING_NONE; kind <= PETAL_HFILE_ENCODING_ROW_INDEX_V1; kind++)
        assert_true(blocks[kind] >= 25);
}

/* Wherever memory fails, the encoder says so, and gives back what it has. */
TEST(want_of_memory_is_told)
{
    const struct hfile_encoding *encoding = hfile_encoding_of(PETAL_HFILE_ENCODING_ROW_INDEX_V1);
    struct hfile_cell_layout layout = {.has_tags = false};
    struct hfile_key_step step = {.order = 1};
    uint8_t value[5000] = {0};
    uint64_t n = 0;
    bool is_done = false;

    while (!is_done) {
        struct test_allocator allocator;
        struct hfile_encoder encoder;

        test_allocator_init(&allocator);
        test_allocator_fail_at(&allocator, ++n, true);
        hfile_encoder_init(&encoder, encoding, &layout, &allocator.table);
        is_done = hfile_encoder_begin(&encoder, IN_FRONT);
        for (int i = 0; i < 100 && is_done; i++) {
            petal_hfile_cell cell = {.row = {"r", 1}, .value = {value, sizeof value}, .type = 4};
            struct hfile_keyed_cell keyed = {&cell, {"\0\1r\0\0\0\0\0\0\0\0\0\4", 13}};

            is_done = hfile_encoder_add(&encoder, &keyed, &step);
        }
        is_done = is_done && hfile_encoder_end(&encoder);
        hfile_encoder_free(&encoder);
        assert_int_equal(test_allocator_live_blocks(&allocator), 0);
    }
    assert_true(n > 5);
}
