/*
 * sst_hostile_test.c -- store files made to deceive: every checksum is right, what it covers is not.  They are refused,
 * or read within bounds; and verify finds out what reads need not notice.
 */
#include "tests/sst_fixture.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "sstable/sst_reader_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void
fix_trailer(uint8_t *bytes, size_t size)
{
    uint8_t *trailer = bytes + size - TRAILER_BYTES;

    put_le64(trailer, checksum_at(get_le64(trailer + 8), size - TRAILER_BYTES, trailer + 8,
                                  TRAILER_BYTES - 8));
}

static void
newer_versions_are_refused_by_name(void **state)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_LZ4);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    petal_error error = {0};
    uint8_t *bytes;
    size_t size;

    (void)state;
    sst_small_cells(&list);
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    bytes[size - 16] = SST_FORMAT_VERSION + 1;
    fix_trailer(bytes, size);
    sst_fixture_set_bytes(f, bytes, size);
    assert_int_equal(sst_read_all(f, &list, &error), PETAL_UNSUPPORTED);
    assert_string_equal(error.file, SST_PATH);
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* The root of the data index in the bytes of a file. */
static uint64_t
data_root(const uint8_t *bytes, size_t size)
{
    return get_le64(bytes + size - TRAILER_BYTES + 40);
}

/* The data index names a filter chunk, which is in the cache already: no reader takes it for a data block. */
static void
block_named_for_two_purposes_is_refused(void **state)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct cell_list list = {0};
    struct sst_reader *reader;
    struct block_handle chunk;
    struct sst_iter iter;
    petal_error error = {0};
    uint8_t *bytes, *node;
    size_t size;

    (void)state;
    sst_small_cells(&list);
    sst_fixture_write(f, &options, &list);
    reader = sst_fixture_open(f);
    chunk = index_block_handle(&reader->filter.tree.root, 0);
    sst_reader_close(reader);
    bytes = sst_fixture_bytes(f, &size);
    node = bytes + data_root(bytes, size) + BLOCK_FRAME_BYTES;
    put_le64(node + INDEX_BLOCK_HEADER_BYTES + 8 * get_le32(node), chunk.offset);
    put_le32(node + INDEX_BLOCK_HEADER_BYTES + 16 * get_le32(node), chunk.size);
    sst_fix_checksum(bytes, data_root(bytes, size), TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);

    reader = sst_fixture_open(f);
    assert_true(sst_ask_row(f, reader, list.cells[0].row));
    assert_true(f->trace.blocks_fetched[PETAL_BLOCK_FILTER] > 0);
    sst_iter_init(&iter, reader, &f->context, false, false);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, &error), PETAL_CORRUPT);
    assert_int_equal(error.offset, chunk.offset);
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    sst_reader_close(reader);
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* The index names a block by a key that is not its first cell's: whoever believed the place is told. */
static void
wrong_place_in_the_index_is_found_out(void **state)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct cell_list list = {0};
    struct sst_reader *reader;
    struct sst_iter iter;
    petal_error error = {0};
    uint8_t *bytes;
    uint64_t root;
    size_t size;

    (void)state;
    cell_list_put(&list, "row", "column", 7, 7, "value");
    options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    root = data_root(bytes, size);
    bytes[root + sst_frame_bytes(bytes, root) - 1] ^=
        1; /* the last byte of its one key: the sequence */
    sst_fix_checksum(bytes, root, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);

    reader = sst_fixture_open(f);
    sst_iter_init(&iter, reader, &f->context, false, true);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, &error), PETAL_OK);
    assert_true(iter.iter.pending);
    assert_int_equal(iter.iter.ops->load(&iter.iter, &error), PETAL_CORRUPT);
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    assert_int_equal(sst_reader_verify(reader, &error), PETAL_CORRUPT);
    sst_reader_close(reader);
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* The index claims of a block in the middle of a row, or of a column, that it begins it: verify finds out. */
static void
false_claims_of_the_index_are_found_out(void **state)
{
    (void)state;
    for (unsigned versions = 0; versions < 2; versions++) {
        struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
        struct sst_fixture *f = sst_fixture_new(1 << 20);
        struct cell_list list = {0};
        struct sst_reader *reader;
        petal_error error = {0};
        uint8_t *bytes, *last;
        char qualifier[16];
        uint32_t entries;
        uint64_t root;
        size_t size;

        for (unsigned i = 0; i < 40; i++) {
            snprintf(qualifier, sizeof qualifier, "q%02u", versions ? 0 : i);
            cell_list_put(&list, "row", qualifier, 100 - (int64_t)i, i + 1,
                          "some value, some value");
        }
        sst_fixture_write(f, &options, &list);
        bytes = sst_fixture_bytes(f, &size);
        root = data_root(bytes, size);
        entries = get_le32(bytes + root + BLOCK_FRAME_BYTES);
        assert_true(entries > 3);
        last = bytes + root + BLOCK_FRAME_BYTES + INDEX_BLOCK_HEADER_BYTES + 20 * entries - 4;
        assert_int_equal(get_le32(last) >> INDEX_BLOCK_SIZE_BITS,
                         versions ? 0 : BLOCK_BEGINS_COLUMN);
        put_le32(last, get_le32(last) | (versions ? 1u : 2u) << INDEX_BLOCK_SIZE_BITS);
        sst_fix_checksum(bytes, root, TEST_IDENTITY);
        sst_fixture_set_bytes(f, bytes, size);
        reader = sst_fixture_open(f);
        assert_int_equal(sst_reader_verify(reader, &error), PETAL_CORRUPT);
        assert_non_null(strstr(error.text, "begins"));
        sst_reader_close(reader);
        free(bytes);
        cell_list_fini(&list);
        sst_fixture_free(f);
    }
}

/* A row twice in a block: who looks for what lies before it would be sent to it again. */
static void
a_way_back_in_circles_is_refused(void **state)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct cell_list list = {0};
    struct sst_reader *reader;
    struct sst_iter iter;
    struct cell_key key;
    petal_error error = {0};
    uint8_t *bytes, buffer[64];
    size_t size;

    (void)state;
    cell_list_put(&list, "row1", "q", 7, 7, "value");
    cell_list_put(&list, "row2", "q", 7, 8, "value");
    options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    for (size_t at = BLOCK_FRAME_BYTES + DATA_BLOCK_HEADER_BYTES; at < sst_frame_bytes(bytes, 0);
         at++) {
        if (bytes[at] == '2') /* in the row's head and in its record */
            bytes[at] = '1';
    }
    sst_fix_checksum(bytes, 0, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);

    reader = sst_fixture_open(f);
    sst_iter_init(&iter, reader, &f->context, false, true);
    cell_key_make(&key, buffer, slice_from_text("row1"), slice_make(NULL, 0), true, INT64_MAX,
                  CELL_SEQUENCE_MAX);
    assert_int_equal(iter.iter.ops->seek_before(&iter.iter, &key, &error), PETAL_OK);
    assert_false(iter.iter.valid); /* by the index */
    assert_int_equal(iter.iter.ops->seek_before(&iter.iter, NULL, &error), PETAL_OK);
    assert_true(iter.iter.valid && slice_equal(iter.iter.cell.row, slice_from_text("row1")));
    assert_int_equal(iter.iter.ops->seek_before(&iter.iter, &key, &error), PETAL_CORRUPT);
    assert_int_equal(error.offset, 0);
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    assert_int_equal(sst_reader_verify(reader, &error), PETAL_CORRUPT);
    sst_reader_close(reader);
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* From the last cell to the first: whatever lies there, each step goes back. */
static void
read_back_carelessly(struct cell_iter *iter)
{
    enum petal_status status = iter->ops->seek_before(iter, NULL, NULL);

    while (status == PETAL_OK && iter->valid) {
        petal_slice row = iter->cell.row, qualifier = iter->cell.qualifier;
        size_t bound = cell_key_bound(row.size, qualifier.size);
        uint8_t *buffer = test_allocate(bound + row.size + qualifier.size);
        struct cell own = iter->cell;
        struct cell_key key;

        memcpy(buffer + bound, row.data, row.size);
        own.row.data = buffer + bound;
        own.qualifier.data = buffer + bound + row.size;
        if (qualifier.size > 0)
            memcpy(buffer + bound + row.size, qualifier.data, qualifier.size);
        cell_key_of(&key, buffer, &own);
        status = iter->ops->seek_before(iter, &key, NULL);
        assert_true(!iter->valid || cell_compare_key(&iter->cell, &key) < 0);
        free(buffer);
    }
}

/* Every byte of every block changed, then its checksum made right: no crash, whatever comes out. */
static void
read_carelessly(struct sst_fixture *f)
{
    struct sst_reader *reader;
    struct sst_iter iter;
    struct cell_key key;
    uint8_t buffer[64];
    enum petal_status status;

    if (sst_fixture_try_open(f, &reader, NULL) != PETAL_OK)
        return;
    for (unsigned lazy = 0; lazy < 2; lazy++) {
        sst_iter_init(&iter, reader, &f->context, false, lazy == 1);
        status = iter.iter.ops->seek_first(&iter.iter, NULL);
        while (status == PETAL_OK && iter.iter.valid)
            status = iter.iter.ops->next(&iter.iter, NULL);
        cell_key_make(&key, buffer, slice_from_text("row0012"), slice_from_text("second"), false,
                      112, 122);
        (void)iter.iter.ops->seek(&iter.iter, &key, NULL);
        read_back_carelessly(&iter.iter);
        iter.iter.ops->close(&iter.iter);
    }
    sst_ask_row(f, reader, slice_from_text("row0012"));
    sst_ask_column(f, reader, slice_from_text("row0012"), slice_from_text("second"));
    sst_ask_family_marker(f, reader, slice_from_text("row0012"));
    (void)sst_reader_verify(reader, NULL);
    sst_reader_close(reader);
}

static void
blocks_made_to_deceive_do_no_harm(void **state)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_LZ4);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    struct test_random random;
    uint8_t *bytes;
    size_t size;

    (void)state;
    test_random_init(&random, test_seed());
    sst_small_cells(&list);
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    for (size_t frame = 0; frame < size - TRAILER_BYTES; frame += sst_frame_bytes(bytes, frame)) {
        size_t end = frame + sst_frame_bytes(bytes, frame);
        uint64_t checksum = get_le64(bytes + frame);

        for (size_t at = frame + 8; at < end; at++) {
            uint8_t before = bytes[at];
            bool length_byte = at >= frame + 12 && at < frame + 16;

            bytes[at] = (uint8_t)(before + 1 + test_random_below(&random, 255));
            if (!length_byte)
                sst_fix_checksum(bytes, frame, TEST_IDENTITY);
            sst_fixture_set_bytes(f, bytes, size);
            read_carelessly(f);
            bytes[at] = before;
        }
        put_le64(bytes + frame, checksum);
    }
    for (size_t at = size - TRAILER_BYTES + 8; at < size; at++) {
        uint8_t before = bytes[at];

        bytes[at] = (uint8_t)(before + 1 + test_random_below(&random, 255));
        fix_trailer(bytes, size);
        sst_fixture_set_bytes(f, bytes, size);
        read_carelessly(f);
        bytes[at] = before;
    }
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* Facts that hold together, but not for the cells. */
static void
false_times_of_death_are_found_out(void **state)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    struct sst_reader *reader;
    petal_error error = {0};

    (void)state;
    cell_list_put(&list, "row", "a", 50, 1, "value");
    cell_list_give_ttl(&list, 10);
    cell_list_put(&list, "row", "b", 50, 2, "value");
    cell_list_give_ttl(&list, 30);
    sst_fixture_write(f, &options, &list);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_verify(reader, &error), PETAL_OK);
    sst_reader_close(reader);
    sst_change_facts(f, 208, 59); /* the first dies at 60 */
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_verify(reader, &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.text, "death"));
    sst_reader_close(reader);
    sst_change_facts(f, 208, 60);
    sst_change_facts(f, 216, 81); /* the last at 80 */
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_verify(reader, &error), PETAL_CORRUPT);
    sst_reader_close(reader);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* Bytes between the blocks and the trailer belong to nothing: reads do not care, verify does. */
static void
verify_accounts_for_every_byte(void **state)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    struct sst_reader *reader;
    petal_error error = {0};
    uint8_t *bytes, *longer;
    size_t size;

    (void)state;
    sst_small_cells(&list);
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    longer = test_allocate(size + 40);
    memcpy(longer, bytes, size - TRAILER_BYTES);
    memset(longer + size - TRAILER_BYTES, 0, 40);
    memcpy(longer + size + 40 - TRAILER_BYTES, bytes + size - TRAILER_BYTES, TRAILER_BYTES);
    put_le64(longer + size + 40 - TRAILER_BYTES + 16, size + 40);
    fix_trailer(longer, size + 40);
    sst_fixture_set_bytes(f, longer, size + 40);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_compare(f, reader, &list), PETAL_OK);
    assert_int_equal(sst_reader_verify(reader, &error), PETAL_CORRUPT);
    assert_int_equal(error.offset, size - TRAILER_BYTES);
    sst_reader_close(reader);
    free(longer);
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newer_versions_are_refused_by_name),
        cmocka_unit_test(block_named_for_two_purposes_is_refused),
        cmocka_unit_test(wrong_place_in_the_index_is_found_out),
        cmocka_unit_test(false_claims_of_the_index_are_found_out),
        cmocka_unit_test(a_way_back_in_circles_is_refused),
        cmocka_unit_test(blocks_made_to_deceive_do_no_harm),
        cmocka_unit_test(false_times_of_death_are_found_out),
        cmocka_unit_test(verify_accounts_for_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
