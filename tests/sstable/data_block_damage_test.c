/*
 * data_block_damage_test.c -- damaged data blocks are refused, or read within bounds.  Blocks lie
 * in memory of exactly their size, so that AddressSanitizer sees a step beyond.
 */
#include "base/coding.h"
#include "sstable/block/data_block.h"
#include "tests/support/cell_set.h"
#include "tests/support/test.h"

#include <stdlib.h>

/* The block of `set`, in memory of exactly its size. */
static petal_slice
build(const struct cell_set *set)
{
    struct data_block_builder builder;
    petal_slice bytes;
    uint8_t *copy;

    data_block_builder_init(&builder, &mem_default_allocator);
    for (size_t i = 0; i < set->count; i++)
        assert_int_equal(data_block_builder_add(&builder, &set->cells[i]), PETAL_OK);
    assert_int_equal(data_block_builder_finish(&builder, false, &bytes), PETAL_OK);
    copy = test_allocate(bytes.size);
    memcpy(copy, bytes.data, bytes.size);
    data_block_builder_fini(&builder);
    return slice_make(copy, bytes.size);
}

static volatile uint64_t sink;

static void
touch(const struct cell *cell)
{
    petal_slice parts[] = {cell->row, cell->qualifier, cell->value};
    uint64_t sum =
        (uint64_t)cell->timestamp + cell->sequence + (uint64_t)cell->type + (uint64_t)cell->ttl_ms;

    assert_true(cell_type_valid(cell->type));
    assert_true(cell->row.size > 0);
    assert_true(!cell_is_marker(cell->type) || cell->value.size == 0);
    assert_true(cell->has_ttl || cell->ttl_ms == 0);
    for (size_t part = 0; part < 3; part++)
        for (size_t i = 0; i < parts[part].size; i++)
            sum += slice_bytes(parts[part])[i];
    sink = sink + sum;
}

/* Is the block refused?  If not, read all of it, and seek to each of `set`'s cells. */
static bool
refused_or_readable(const uint8_t *bytes, size_t size, const struct cell_set *set)
{
    struct data_block block;
    struct data_block_cursor cursor;
    struct cell cell;
    uint32_t count = 1;

    if (!data_block_check(&block, bytes, size))
        return true;
    data_block_cursor_init(&cursor, &mem_default_allocator);
    assert_int_equal(data_block_cursor_attach(&cursor, bytes, size), PETAL_OK);
    data_block_cursor_first(&cursor, &cell);
    for (touch(&cell); data_block_cursor_next(&cursor, &cell); count++)
        touch(&cell);
    assert_int_equal(count, block.cells);
    for (size_t i = 0; i < set->count; i++) {
        uint8_t buffer[1024];
        struct cell_key key;

        cell_key_of(&key, buffer, &set->cells[i]);
        if (data_block_cursor_seek(&cursor, &key, &cell)) {
            touch(&cell);
            if (data_block_cursor_next(&cursor, &cell))
                touch(&cell);
        }
        if (data_block_cursor_seek_before(&cursor, &key, &cell))
            touch(&cell);
    }
    data_block_cursor_last(&cursor, &cell);
    touch(&cell);
    data_block_cursor_fini(&cursor);
    return false;
}

TEST(every_changed_byte_is_refused_or_read_in_bounds)
{
    unsigned kept = 0, refused = 0;

    for (unsigned which = 0; which < CELL_SMALL_SETS; which++) {
        struct cell_set set = cell_set_small(which);
        petal_slice built = build(&set);
        uint8_t *bytes = (uint8_t *)(uintptr_t)built.data;

        for (size_t at = 0; at < built.size; at++) {
            for (unsigned change = 1; change < 256; change++) {
                bytes[at] ^= (uint8_t)change;
                if (refused_or_readable(bytes, built.size, &set))
                    refused++;
                else
                    kept++;
                bytes[at] ^= (uint8_t)change;
            }
        }
        free(bytes);
        cell_set_free(&set);
    }
    /* Values and version numbers may be anything; most of the rest may not. */
    assert_true(kept > 0);
    assert_true(refused > kept);
}

/* Damage to packed bytes: nothing outside the block is touched, and the result is a block like any
 * other, or refused. */
TEST(damaged_packs_stay_in_bounds)
{
    unsigned rounds = test_long() ? 300000 : 10000;
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned which = 0; which < CELL_SMALL_SETS; which++) {
        struct cell_set set = cell_set_small(which);
        petal_slice built = build(&set);
        size_t room = data_block_pack_bound(built.size), packed_bytes, text_bytes;
        uint8_t *packed = test_allocate(room), *text = test_allocate(room), *exact;
        uint8_t *bytes = test_allocate(built.size), *text_at;

        packed_bytes = data_block_pack(slice_bytes(built), built.size, packed, text, &text_bytes);
        exact = test_allocate(packed_bytes);
        text_at = bytes + built.size - text_bytes;
        for (unsigned round = 0; round < rounds; round++) {
            memcpy(exact, packed, packed_bytes);
            memcpy(text_at, text, text_bytes);
            if (round % 2 == 0)
                exact[test_random_below(&random, packed_bytes)] =
                    (uint8_t)test_random_next(&random);
            else
                text_at[test_random_below(&random, DATA_BLOCK_HEADER_BYTES)] =
                    (uint8_t)test_random_next(&random);
            if (data_block_unpack(bytes, built.size, text_bytes, slice_make(exact, packed_bytes)))
                refused_or_readable(bytes, built.size, &set);
        }
        for (size_t less = 0; less < packed_bytes; less++) {
            uint8_t *shorter = test_allocate(less + (less == 0));

            memcpy(shorter, packed, less);
            memcpy(text_at, text, text_bytes);
            assert_false(
                data_block_unpack(bytes, built.size, text_bytes, slice_make(shorter, less)));
            free(shorter);
        }
        for (size_t less = 0; less < text_bytes; less++) {
            memcpy(bytes + built.size - less, text, less);
            assert_false(
                data_block_unpack(bytes, built.size, less, slice_make(packed, packed_bytes)));
        }
        free(bytes);
        free(exact);
        free(text);
        free(packed);
        free((void *)(uintptr_t)built.data);
        cell_set_free(&set);
    }
}

TEST(every_other_length_is_refused)
{
    for (unsigned which = 0; which < CELL_SMALL_SETS; which++) {
        struct cell_set set = cell_set_small(which);
        petal_slice built = build(&set);

        for (size_t size = 0; size <= built.size + 9; size++) {
            uint8_t *bytes = calloc(1, size + (size == 0));

            assert_non_null(bytes);
            memcpy(bytes, built.data, size < built.size ? size : built.size);
            assert_int_equal(refused_or_readable(bytes, size, &set), size != built.size);
            free(bytes);
        }
        free((void *)(uintptr_t)built.data);
        cell_set_free(&set);
    }
}

TEST(several_changed_bytes_are_refused_or_read_in_bounds)
{
    static const uint8_t nasty[] = {0x00, 0x01, 0x7f, 0x80, 0x81, 0xff};
    unsigned rounds = test_long() ? 3000000 : 100000;
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned which = 0; which < CELL_SMALL_SETS; which++) {
        struct cell_set set = cell_set_small(which);
        petal_slice built = build(&set);
        uint8_t *bytes = test_allocate(built.size);

        for (unsigned round = 0; round < rounds; round++) {
            size_t at = test_random_below(&random, built.size);

            memcpy(bytes, built.data, built.size);
            for (unsigned i = 0; i < 6 && at < built.size; i++, at += test_random_below(&random, 3))
                bytes[at] = test_random_chance(&random, 70)
                                ? nasty[test_random_below(&random, sizeof nasty)]
                                : (uint8_t)test_random_next(&random);
            refused_or_readable(bytes, built.size, &set);
        }
        free(bytes);
        free((void *)(uintptr_t)built.data);
        cell_set_free(&set);
    }
}

/* A length may be written with more bytes than it needs: that is read right or refused. */
TEST(overlong_lengths_stay_in_bounds)
{
    struct cell_set set = {0};
    petal_slice built;
    uint8_t *record;

    cell_set_add_text(&set, "a", "q", "0123456789abcdef", 1, 1, PETAL_PUT);
    cell_set_add_text(&set, "bbbbbb", "qq", "0123456789abcdef", 1, 1, PETAL_PUT);
    built = build(&set);
    record = (uint8_t *)(uintptr_t)built.data + built.size - 20;
    assert_memory_equal(record - 1,
                        "\x06"
                        "bb"
                        "\x01"
                        "q",
                        5);
    for (unsigned more = 0; more < 15; more++) {
        uint8_t *length = record + 2;

        for (unsigned i = 0; i < more; i++)
            length[i] = 0x80;
        length[more] = 0;
        refused_or_readable(built.data, built.size, &set);
        length[more] = 0x7f;
        refused_or_readable(built.data, built.size, &set);
    }
    free((void *)(uintptr_t)built.data);
    cell_set_free(&set);
}

/*
 * A header for `rows` and `cells` of a one-byte row key that is all prefix; widths 0, no records.
 */
static void
put_bare_header(uint8_t *bytes, uint32_t rows, uint32_t cells, enum data_block_flags flags)
{
    memset(bytes, 0, DATA_BLOCK_HEADER_BYTES);
    put_le32(bytes, rows);
    put_le32(bytes + 4, cells);
    put_le16(bytes + 12, (uint16_t)flags);
    put_le16(bytes + 18, 1);
    put_le16(bytes + 22, 1);
}

TEST(more_cells_than_the_block_can_hold_are_refused)
{
    uint8_t bytes[DATA_BLOCK_HEADER_BYTES + 4 + 8 + 1] = {0};
    struct data_block block;

    assert_false(data_block_check(&block, bytes, sizeof bytes));
    /* One row; head, first cells, prefix; four billion cells of no bytes at all. */
    put_bare_header(bytes, 1, UINT32_MAX, DATA_BLOCK_ONE_QUALIFIER | DATA_BLOCK_FIXED_ROW_REST);
    bytes[15] = 4;
    put_le32(bytes + DATA_BLOCK_HEADER_BYTES + 8, UINT32_MAX);
    bytes[sizeof bytes - 1] = 'r';
    assert_false(data_block_check(&block, bytes, sizeof bytes));
    put_le32(bytes + 4, 3); /* so many are possible by their number, but not three that are equal */
    put_le32(bytes + DATA_BLOCK_HEADER_BYTES + 8, 3);
    assert_false(data_block_check(&block, bytes, sizeof bytes));
    put_le32(bytes + 4, 1);
    put_le32(bytes + DATA_BLOCK_HEADER_BYTES + 8, 1);
    assert_true(data_block_check(&block, bytes, sizeof bytes));
    memset(bytes, 0xff, sizeof bytes);
    assert_false(data_block_check(&block, bytes, sizeof bytes));
}

/* What a head holds after a short row's end must be 00: the search takes it to be. */
TEST(a_head_that_goes_on_behind_the_row_is_refused)
{
    struct cell_set set = {0};
    struct data_block block;
    petal_slice built;
    uint8_t *head;

    cell_set_add_text(&set, "ab", "", "v", 1, 1, PETAL_PUT);
    cell_set_add_text(&set, "cd", "", "v", 1, 1, PETAL_PUT);
    built = build(&set);
    head = (uint8_t *)(uintptr_t)built.data + DATA_BLOCK_HEADER_BYTES;
    assert_memory_equal(head, "\0\0ba\0\0dc", 8);
    for (unsigned at = 0; at < 4; at++) {
        head[at] ^= 1;
        assert_int_equal(data_block_check(&block, built.data, built.size), at >= 2);
        head[at] ^= 1;
    }
    free((void *)(uintptr_t)built.data);
    cell_set_free(&set);
}

/* Records of one length that would end after the block, before its end, or have offsets, too. */
TEST(fixed_records_must_fill_the_block)
{
    struct cell_set set = {0};
    struct data_block block;
    petal_slice built;
    uint8_t *bytes;

    cell_set_add_text(&set, "a", "", "value", 1, 1, PETAL_PUT);
    cell_set_add_text(&set, "b", "", "value", 1, 1, PETAL_PUT);
    cell_set_add_text(&set, "c", "", "value", 1, 1, PETAL_PUT);
    built = build(&set);
    bytes = (uint8_t *)(uintptr_t)built.data;
    assert_true(data_block_check(&block, built.data, built.size));
    assert_int_equal(block.record_bytes, 5);
    for (uint32_t wrong = 0; wrong < 40; wrong++) {
        put_le32(bytes + 8, wrong);
        assert_int_equal(data_block_check(&block, built.data, built.size), wrong == 5);
    }
    put_le32(bytes + 8, UINT32_MAX);
    assert_false(data_block_check(&block, built.data, built.size));
    put_le32(bytes + 8, 1);
    bytes[14] = 3;
    assert_false(data_block_check(&block, built.data, built.size));
    free(bytes);
    cell_set_free(&set);
}

/* Cells without a row would have offsets that no check has seen. */
TEST(one_cell_per_row_means_as_many_rows)
{
    uint8_t bytes[DATA_BLOCK_HEADER_BYTES + 4 + 3 + 1] = {0};
    struct data_block block;

    put_bare_header(bytes, 1, 2,
                    DATA_BLOCK_ONE_CELL_PER_ROW | DATA_BLOCK_ONE_QUALIFIER |
                        DATA_BLOCK_FIXED_ROW_REST);
    bytes[14] = 1;
    bytes[DATA_BLOCK_HEADER_BYTES + 4 + 2] = 200;
    assert_false(data_block_check(&block, bytes, sizeof bytes));
}
