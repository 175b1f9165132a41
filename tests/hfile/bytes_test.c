/*
 * bytes_test.c -- integers of HFiles, the trailer and FILE_INFO as written: they come back, and
 * none is taken from bytes that end before it does.
 */
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/file_info.h"
#include "tools/hfile/format/key.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/trailer.h"

#include <stdio.h>
#include <stdlib.h>

/* Around every border at which a number takes one more byte, in vint and in varint. */
static size_t
numbers(int64_t *values)
{
    size_t count = 0;

    for (unsigned bit = 0; bit < 64; bit++) {
        for (int64_t near = -2; near <= 2; near++) {
            values[count++] = (int64_t)(((uint64_t)1 << bit) + (uint64_t)near);
            values[count++] = (int64_t)(~((uint64_t)1 << bit) + (uint64_t)near);
        }
    }
    for (int64_t value = -300; value <= 300; value++)
        values[count++] = value;
    return count;
}

TEST(numbers_come_back)
{
    int64_t values[2000];
    size_t count = numbers(values);

    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[HFILE_MOST_VARINT_BYTES];
        size_t size = hfile_put_vint(bytes, values[i]);
        struct hfile_bytes rest = {bytes, bytes + size};
        uint64_t varint;
        int64_t vint;

        assert_true(size <= HFILE_MOST_VINT_BYTES);
        assert_int_equal(size, hfile_vint_bytes(values[i]));
        assert_true(hfile_take_vint(&rest, &vint));
        assert_int_equal(vint, values[i]);
        assert_ptr_equal(rest.at, rest.end);
        rest = (struct hfile_bytes){bytes, bytes + size - 1};
        assert_false(hfile_take_vint(&rest, &vint));
        assert_ptr_equal(rest.at, bytes);

        size = hfile_put_varint(bytes, (uint64_t)values[i]);
        rest = (struct hfile_bytes){bytes, bytes + size};
        assert_int_equal(size, hfile_varint_bytes((uint64_t)values[i]));
        assert_true(hfile_take_varint(&rest, &varint));
        assert_int_equal(varint, (uint64_t)values[i]);
        rest = (struct hfile_bytes){bytes, bytes + size - 1};
        assert_false(hfile_take_varint(&rest, &varint));
        assert_ptr_equal(rest.at, bytes);
    }
    printf("counted: %zu numbers as vint and as varint\n", count);
}

/* Hadoop's WritableUtils. */
TEST(vints_have_hadoops_bytes)
{
    static const struct {
        int64_t value;
        const char *bytes;
        size_t size;
    } known[] = {{-112, "\x90", 1},
                 {127, "\x7f", 1},
                 {128, "\x8f\x80", 2},
                 {-113, "\x87\x70", 2},
                 {255, "\x8f\xff", 2},
                 {256, "\x8e\x01\x00", 3},
                 {-257, "\x86\x01\x00", 3},
                 {INT64_MAX, "\x88\x7f\xff\xff\xff\xff\xff\xff\xff", 9},
                 {INT64_MIN, "\x80\x7f\xff\xff\xff\xff\xff\xff\xff", 9}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint8_t bytes[HFILE_MOST_VINT_BYTES];

        assert_int_equal(hfile_put_vint(bytes, known[i].value), known[i].size);
        assert_memory_equal(bytes, known[i].bytes, known[i].size);
    }
}

TEST(overlong_varints_are_refused)
{
    static const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                     0x80, 0x80, 0x80, 0x80, 0x00};
    static const uint8_t too_large[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    static const uint8_t two_to_31[] = {0x80, 0x80, 0x80, 0x80, 0x08};
    struct hfile_bytes rest = {eleven, eleven + sizeof eleven};
    uint64_t value;
    uint32_t length;

    assert_false(hfile_take_varint(&rest, &value));
    rest = (struct hfile_bytes){too_large, too_large + sizeof too_large};
    assert_false(hfile_take_varint(&rest, &value));
    rest = (struct hfile_bytes){two_to_31, two_to_31 + sizeof two_to_31};
    assert_false(hfile_take_length(&rest, &length));
    assert_ptr_equal(rest.at, two_to_31);
}

/* ---- the trailer ---- */

TEST(a_trailer_comes_back)
{
    struct hfile_trailer trailer = {.file_info_offset = 5000,
                                    .load_on_open_offset = 4000,
                                    .index_bytes = 77,
                                    .uncompressed_bytes = UINT64_C(1) << 40,
                                    .root_entries = 3,
                                    .meta_entries = 1,
                                    .cells = 123456789,
                                    .index_levels = 2,
                                    .first_data_block_offset = 0,
                                    .last_data_block_offset = 3999,
                                    .comparator = hfile_text_slice(HFILE_COMPARATOR),
                                    .codec_number = 4};
    struct hfile_trailer read;
    struct hfile_buffer buffer;

    hfile_buffer_init(&buffer, &hfile_default_allocator);
    assert_true(hfile_buffer_append(&buffer, "before", 6));
    assert_true(hfile_trailer_write(&trailer, &buffer));
    assert_int_equal(buffer.size, 6 + HFILE_TRAILER_BYTES);
    assert_int_equal(hfile_trailer_parse(hfile_buffer_slice(&buffer), 6000 + HFILE_TRAILER_BYTES,
                                         "name", &read, NULL),
                     PETAL_OK);
    assert_int_equal(read.major_version, 3);
    assert_int_equal(read.minor_version, 3);
    assert_true(hfile_slice_equal(read.comparator, trailer.comparator));
    trailer.comparator = read.comparator;
    trailer.major_version = trailer.minor_version = 3;
    assert_int_equal(read.file_info_offset, trailer.file_info_offset);
    assert_int_equal(read.load_on_open_offset, trailer.load_on_open_offset);
    assert_int_equal(read.index_bytes, trailer.index_bytes);
    assert_int_equal(read.uncompressed_bytes, trailer.uncompressed_bytes);
    assert_int_equal(read.root_entries, trailer.root_entries);
    assert_int_equal(read.meta_entries, trailer.meta_entries);
    assert_int_equal(read.cells, trailer.cells);
    assert_int_equal(read.index_levels, trailer.index_levels);
    assert_int_equal(read.first_data_block_offset, trailer.first_data_block_offset);
    assert_int_equal(read.last_data_block_offset, trailer.last_data_block_offset);
    assert_int_equal(read.codec_number, trailer.codec_number);
    assert_false(read.is_encrypted);
    hfile_buffer_free(&buffer);
}

/* ---- FILE_INFO ---- */

TEST(file_info_comes_back_in_order)
{
    struct hfile_file_info info, read;
    struct hfile_buffer payload;
    petal_slice key, value;
    const char *wrong;
    uint32_t number;

    hfile_file_info_init(&info, &hfile_default_allocator);
    hfile_file_info_init(&read, &hfile_default_allocator);
    hfile_buffer_init(&payload, &hfile_default_allocator);
    assert_true(hfile_file_info_add(&info, hfile_text_slice("b"), hfile_slice("\0\0\1\2", 4)));
    assert_true(hfile_file_info_add(&info, hfile_text_slice("ab"), hfile_slice(NULL, 0)));
    assert_true(hfile_file_info_add(&info, hfile_text_slice("a"), hfile_text_slice("value")));
    assert_true(hfile_file_info_write(&info, &payload));
    assert_int_equal(hfile_file_info_parse(hfile_buffer_slice(&payload), &read, &wrong), PETAL_OK);
    assert_int_equal(hfile_file_info_count(&read), 3);
    hfile_file_info_get(&read, 0, &key, &value);
    assert_true(hfile_slice_equal(key, hfile_text_slice("a")));
    assert_true(hfile_slice_equal(value, hfile_text_slice("value")));
    hfile_file_info_get(&read, 1, &key, &value);
    assert_true(hfile_slice_equal(key, hfile_text_slice("ab")));
    assert_int_equal(value.size, 0);
    assert_true(hfile_file_info_find_u32(&read, "b", &number));
    assert_int_equal(number, 258);
    assert_false(hfile_file_info_find_u32(&read, "a", &number));
    for (size_t size = 0; size < payload.size; size++) {
        struct hfile_file_info part;

        hfile_file_info_init(&part, &hfile_default_allocator);
        assert_int_equal(hfile_file_info_parse(hfile_slice(payload.bytes, size), &part, &wrong),
                         PETAL_CORRUPT);
        hfile_file_info_free(&part);
    }
    hfile_file_info_free(&info);
    hfile_file_info_free(&read);
    hfile_buffer_free(&payload);
}

/* ---- keys ---- */

static petal_hfile_cell
key(const char *row, const char *family, const char *qualifier, int64_t timestamp, int type)
{
    return (petal_hfile_cell){.row = hfile_text_slice(row),
                              .family = hfile_text_slice(family),
                              .qualifier = hfile_text_slice(qualifier),
                              .timestamp = timestamp,
                              .type = type};
}

TEST(keys_have_hbases_order)
{
    const petal_hfile_cell sorted[] = {
        key("a", "", "", INT64_MAX, 255), key("a", "f", "", 5, 14),  key("a", "f", "", 5, 4),
        key("a", "f", "q", 9, 4),         key("a", "f", "q", 8, 12), key("a", "f", "q", 8, 8),
        key("a", "f", "q", 8, 4),         key("a", "f", "q", -8, 4), key("a", "f", "qq", 9, 4),
        key("a", "g", "", 9, 4),          key("a", "", "", 0, 0),    key("aa", "f", "q", 9, 4),
        key("b", "f", "q", 9, 4),         key("\xff", "f", "", 1, 4)};
    const size_t count = sizeof sorted / sizeof *sorted;

    for (size_t i = 0; i < count; i++) {
        struct hfile_buffer buffer;
        petal_hfile_cell read = {0};

        for (size_t k = 0; k < count; k++) {
            int order = petal_hfile_compare(&sorted[i], &sorted[k]);

            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
        hfile_buffer_init(&buffer, &hfile_default_allocator);
        assert_true(hfile_key_append(&sorted[i], &buffer));
        assert_int_equal(buffer.size, hfile_key_bytes(&sorted[i]));
        assert_true(hfile_key_parse(hfile_buffer_slice(&buffer), &read));
        assert_int_equal(petal_hfile_compare(&read, &sorted[i]), 0);
        for (size_t size = 0; size < HFILE_KEY_FIXED_BYTES; size++)
            assert_false(hfile_key_parse(hfile_slice(buffer.bytes, size), &read));
        hfile_buffer_free(&buffer);
    }
}
