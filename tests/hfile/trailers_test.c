/*
 * trailers_test.c -- files with other trailers than HBase 2.6 writes: version 2 is read; other
 * versions, codecs, orders and encrypted files are refused by name; offsets and counts that cannot
 * be are told.
 */
#include "tests/hfile/drive.h"
#include "tests/hfile/golden.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/format.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_2_TRAILER_BYTES 212
#define ORIGIN                  "grid-lz4-none-row"

/* A golden file in two parts. */
struct original {
    uint8_t *bytes;
    size_t blocks_bytes; /* in front of the trailer */
    petal_slice message;
};

static struct original
original_read(void)
{
    struct original original;
    struct hfile_bytes rest;
    uint64_t message_bytes = 0;
    size_t size;

    original.bytes = golden_bytes(ORIGIN, &size);
    original.blocks_bytes = size - HFILE_TRAILER_BYTES;
    rest.at = original.bytes + original.blocks_bytes + HFILE_MAGIC_BYTES;
    rest.end = original.bytes + size;
    assert_true(hfile_take_varint(&rest, &message_bytes));
    assert_true(hfile_take_slice(&rest, message_bytes, &original.message));
    return original;
}

/* The blocks, and a trailer of so many bytes with this message. */
static struct hfile_buffer
make(const struct original *original, petal_slice message, size_t trailer_bytes, uint32_t version)
{
    struct hfile_buffer file;
    size_t end = original->blocks_bytes + trailer_bytes - 4;

    hfile_buffer_init(&file, &hfile_default_allocator);
    assert_true(hfile_buffer_append(&file, original->bytes, original->blocks_bytes));
    assert_true(hfile_buffer_append(&file, HFILE_TRAILER_MAGIC, HFILE_MAGIC_BYTES));
    assert_true(hfile_buffer_append_varint(&file, message.size));
    assert_true(hfile_buffer_append_slice(&file, message));
    assert_true(file.size <= end);
    while (file.size < end)
        assert_true(hfile_buffer_append_u8(&file, 0));
    assert_true(hfile_buffer_append_u32(&file, version));
    return file;
}

static struct drive_result
drive_version(const struct original *original, size_t trailer_bytes, uint32_t version)
{
    struct hfile_buffer file = make(original, original->message, trailer_bytes, version);
    struct drive_result result = drive_hfile(hfile_buffer_slice(&file), NULL);

    hfile_buffer_free(&file);
    return result;
}

/* The original's message with one more field after it: of fields that are there twice the last
 * counts. */
static struct drive_result
drive_field(const struct original *original, uint32_t number, bool is_bytes, uint64_t value,
            const char *bytes)
{
    struct drive_result result;
    struct hfile_buffer message, file;

    hfile_buffer_init(&message, &hfile_default_allocator);
    assert_true(hfile_buffer_append_slice(&message, original->message));
    if (is_bytes)
        assert_true(hfile_field_append_bytes(&message, number, hfile_text_slice(bytes)));
    else
        assert_true(hfile_field_append_number(&message, number, value));
    file = make(original, hfile_buffer_slice(&message), HFILE_TRAILER_BYTES, 0x03000003);
    result = drive_hfile(hfile_buffer_slice(&file), NULL);
    hfile_buffer_free(&message);
    hfile_buffer_free(&file);
    return result;
}

TEST(versions)
{
    struct original original = original_read();
    struct drive_result whole = drive_version(&original, HFILE_TRAILER_BYTES, 0x03000003), other;

    assert_int_equal(whole.checked, PETAL_OK);
    assert_true(whole.cells > 0);
    for (unsigned minor = 0; minor <= 4; minor++) {
        other = drive_version(&original, HFILE_TRAILER_BYTES, minor << 24 | 3);
        assert_int_equal(other.checked, PETAL_OK);
        assert_int_equal(other.digest, whole.digest);
    }
    other = drive_version(&original, VERSION_2_TRAILER_BYTES, 0x03000002);
    assert_int_equal(other.checked, PETAL_OK);
    assert_int_equal(other.digest, whole.digest);
    other = drive_version(&original, VERSION_2_TRAILER_BYTES, 0x01000002);
    assert_int_equal(other.opened, PETAL_UNSUPPORTED);
    assert_non_null(strstr(other.error.text, "2.1"));
    other = drive_version(&original, HFILE_TRAILER_BYTES, 0x00000004);
    assert_int_equal(other.opened, PETAL_UNSUPPORTED);
    assert_non_null(strstr(other.error.text, "4.0"));
    other = drive_version(&original, 200, 0x00000001);
    assert_int_equal(other.opened, PETAL_UNSUPPORTED);
    other = drive_version(&original, HFILE_TRAILER_BYTES, 0);
    assert_int_equal(other.opened, PETAL_CORRUPT);
    free(original.bytes);
}

TEST(what_is_refused_is_named)
{
    static const struct {
        uint32_t field;
        bool is_bytes;
        uint64_t value;
        const char *bytes, *word;
    } fields[] = {
        {13, true, 0, "key", "encrypted"},
        {12, false, 0, NULL, "LZO"},
        {12, false, 5, NULL, "BZIP2"},
        {12, false, 7, NULL, "LZMA"},
        {12, false, 8, NULL, "BROTLI"},
        {11, true, 0, "org.apache.hadoop.hbase.KeyValue$MetaComparator", "MetaComparator"},
        {11, true, 0, "org.apache.hadoop.hbase.MetaCellComparator", "MetaCellComparator"},
        {11, true, 0, "org.apache.hadoop.hbase.CellComparatorImpl$MetaCellComparator",
         "$MetaCellComparator"},
        {11, true, 0, "one of theirs", "one of theirs"}};
    struct original original = original_read();

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct drive_result result = drive_field(&original, fields[i].field, fields[i].is_bytes,
                                                 fields[i].value, fields[i].bytes);

        assert_int_equal(result.opened, PETAL_UNSUPPORTED);
        assert_non_null(strstr(result.error.text, fields[i].word));
    }
    free(original.bytes);
}

TEST(orders_of_other_names_are_read)
{
    static const char *const comparators[] = {"org.apache.hadoop.hbase.KeyValue$KeyComparator",
                                              "org.apache.hadoop.hbase.CellComparator",
                                              "org.apache.hadoop.hbase.CellComparatorImpl",
                                              "org.apache.hadoop.hbase.InnerStoreCellComparator"};
    struct original original = original_read();

    for (size_t i = 0; i < sizeof comparators / sizeof *comparators; i++)
        assert_int_equal(drive_field(&original, 11, true, 0, comparators[i]).checked, PETAL_OK);
    free(original.bytes);
}

TEST(numbers_that_cannot_be_are_told)
{
    static const struct {
        uint32_t field;
        uint64_t value;
    } fields[] = {{12, 9},          {12, UINT64_MAX}, {1, 0},  {1, UINT64_MAX}, {1, 7},
                  {2, UINT64_MAX},  {2, 0},           {5, 0},  {5, UINT64_MAX}, {5, 1},
                  {6, 1},           {7, 0},           {7, 1},  {8, 0},          {8, 17},
                  {8, 2},           {8, UINT64_MAX},  {9, 1},  {9, UINT64_MAX}, {10, 0},
                  {10, UINT64_MAX}, {7, 1 << 20},     {10, 1}, {9, 1 << 20}};
    struct original original = original_read();

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct drive_result result =
            drive_field(&original, fields[i].field, false, fields[i].value, NULL);

        assert_int_equal(result.error.status, PETAL_CORRUPT);
        assert_true(result.opened != PETAL_OK || result.scanned != PETAL_OK ||
                    result.checked != PETAL_OK);
    }
    free(original.bytes);
}

/* The file's cells are all there, and its trailer says one more or less: its scan does not end as
 * if nothing were missing. */
TEST(a_scan_counts)
{
    struct original original = original_read();
    uint64_t cells = drive_version(&original, HFILE_TRAILER_BYTES, 0x03000003).cells;
    struct drive_result more = drive_field(&original, 7, false, cells + 1, NULL);
    struct drive_result less = drive_field(&original, 7, false, cells - 1, NULL);

    assert_int_equal(more.opened, PETAL_OK);
    assert_int_equal(more.scanned, PETAL_CORRUPT);
    assert_int_equal(more.cells, cells);
    assert_int_equal(less.scanned, PETAL_CORRUPT);
    free(original.bytes);
}
