/*
 * sst_damage_test.c -- store files that are damaged, cut, mixed up, or whose reads, writes and allocations fail:
 * either the right answer or a named error, never a wrong or missing cell, never a filter that denies.
 */
#include "tests/sst_fixture.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "sstable/sst_reader_parts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A small file with blocks of every kind: several data blocks, several chunks, markers. */
static struct sst_options
small_options(enum petal_compression compression)
{
    struct sst_options options = sst_test_options();

    options.block_bytes = 256;
    options.compression = compression;
    options.bloom = PETAL_BLOOM_ROW_ROWCOL;
    return options;
}

static void
small_cells(struct cell_list *list)
{
    petal_slice nothing = slice_make("", 0);
    char row[16];

    for (unsigned i = 0; i < 24; i++) {
        snprintf(row, sizeof row, "row%04u", i);
        cell_list_put(list, row, "first", 100 + i, 10 * i + 1, "some value, some value");
        cell_list_put(list, row, "second", 100 + i, 10 * i + 2, "another");
        if (i % 5 == 0)
            cell_list_add(list, slice_from_text(row), nothing, 90, 10 * i + 3, PETAL_DELETE_FAMILY,
                          nothing);
        if (i % 7 == 0)
            cell_list_add(list, slice_from_text(row), slice_from_text("third"), 90, 10 * i + 4,
                          PETAL_DELETE_COLUMN, nothing);
    }
    cell_list_sort(list);
}

/* Open what stands at SST_PATH and read it all.  The status, after every cell seen was compared. */
static enum petal_status
read_all(struct sst_fixture *f, const struct cell_list *list, petal_error *error)
{
    struct sst_reader *reader;
    enum petal_status status = sst_fixture_try_open(f, &reader, error);

    if (status != PETAL_OK)
        return status;
    status = sst_compare(f, reader, list);
    sst_reader_close(reader);
    return status;
}

static void
expect_refused_or_right(struct sst_fixture *f, const struct cell_list *list, const uint8_t *bytes,
                        size_t size, unsigned counts[2])
{
    enum petal_status status;

    sst_fixture_set_bytes(f, bytes, size);
    status = read_all(f, list, NULL);
    assert_true(status == PETAL_OK || status == PETAL_CORRUPT || status == PETAL_UNSUPPORTED);
    counts[status != PETAL_OK]++;
}

/* ---- every byte ---- */

static void
every_flipped_byte_is_caught_or_harmless(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        struct sst_options options =
            small_options(round == 0 ? PETAL_COMPRESSION_NONE : PETAL_COMPRESSION_LZ4);
        struct sst_fixture *f = sst_fixture_new(256 << 10);
        struct cell_list list = {0};
        unsigned counts[2] = {0, 0};
        uint64_t filter_bytes;
        struct sst_reader *reader;
        uint8_t *bytes;
        size_t size;

        small_cells(&list);
        sst_fixture_write(f, &options, &list);
        reader = sst_fixture_open(f);
        filter_bytes = sst_reader_facts(reader)->filter_bytes +
                       reader->trailer.filter_root.size;
        sst_reader_close(reader);
        bytes = sst_fixture_bytes(f, &size);
        for (size_t at = 0; at < size; at++) {
            for (unsigned bit = 0; bit < 8; bit += test_long() ? 1 : 4) {
                bytes[at] ^= (uint8_t)(1u << (bit + at) % 8);
                expect_refused_or_right(f, &list, bytes, size, counts);
                bytes[at] ^= (uint8_t)(1u << (bit + at) % 8);
            }
        }
        /* Damage in the filter and its index is harmless, all other damage is caught. */
        assert_int_equal(counts[0], filter_bytes * (test_long() ? 8 : 2));
        free(bytes);
        cell_list_fini(&list);
        sst_fixture_free(f);
    }
}

static void
every_truncation_is_caught(void **state)
{
    struct sst_options options = small_options(PETAL_COMPRESSION_LZ4);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    uint8_t *bytes;
    size_t size;

    (void)state;
    small_cells(&list);
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    for (size_t cut = 0; cut < size; cut++) {
        petal_error error = {0};

        sst_fixture_set_bytes(f, bytes, cut);
        assert_int_equal(read_all(f, &list, &error), PETAL_CORRUPT);
        assert_string_equal(error.file, SST_PATH);
        assert_true(error.text[0] != '\0');
    }
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* ---- blocks in wrong places ---- */

static size_t
frame_bytes(const uint8_t *bytes, size_t offset)
{
    return BLOCK_FRAME_BYTES + get_le32(bytes + offset + 12);
}

/* Two data blocks of equal size, each intact, exchanged. */
static void
swapped_blocks_are_caught(void **state)
{
    struct sst_options options = small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    unsigned swaps = 0;
    uint8_t *bytes, *mixed;
    size_t size;
    char row[16];

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        snprintf(row, sizeof row, "row%04u", i);
        cell_list_put(&list, row, "q", 1, i + 1, "a value of fixed length");
    }
    options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    mixed = test_allocate(size);
    for (size_t a = 0, b = frame_bytes(bytes, 0); bytes[b + 8] == BLOCK_DATA;
         a = b, b += frame_bytes(bytes, b)) {
        size_t length = frame_bytes(bytes, a);

        if (length != frame_bytes(bytes, b))
            continue;
        memcpy(mixed, bytes, size);
        memcpy(mixed + a, bytes + b, length);
        memcpy(mixed + b, bytes + a, length);
        sst_fixture_set_bytes(f, mixed, size);
        assert_int_equal(read_all(f, &list, NULL), PETAL_CORRUPT);
        swaps++;
    }
    assert_true(swaps > 5);
    free(mixed);
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* The head of one file with the tail of another of the same length and content, at each length. */
static void
mixed_files_are_caught(void **state)
{
    struct sst_options options = small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    uint8_t *ours, *theirs;
    size_t size, their_size;
    bool differs = false;

    (void)state;
    small_cells(&list);
    options.file_identity = TEST_IDENTITY + 1;
    sst_fixture_write(f, &options, &list);
    theirs = sst_fixture_bytes(f, &their_size);
    options.file_identity = TEST_IDENTITY;
    sst_fixture_write(f, &options, &list);
    ours = sst_fixture_bytes(f, &size);
    assert_int_equal(size, their_size);
    for (size_t cut = size; cut-- > 0;) {
        differs = differs || ours[cut] != theirs[cut];
        ours[cut] = theirs[cut];
        sst_fixture_set_bytes(f, ours, size);
        assert_int_equal(read_all(f, &list, NULL), differs ? PETAL_CORRUPT : PETAL_OK);
    }
    free(ours);
    free(theirs);
    cell_list_fini(&list);
    sst_fixture_free(f);
}

/* ---- files made to deceive: every checksum right ---- */

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
    struct sst_options options = small_options(PETAL_COMPRESSION_LZ4);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    petal_error error = {0};
    uint8_t *bytes;
    size_t size;

    (void)state;
    small_cells(&list);
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    bytes[size - 16] = SST_FORMAT_VERSION + 1;
    fix_trailer(bytes, size);
    sst_fixture_set_bytes(f, bytes, size);
    assert_int_equal(read_all(f, &list, &error), PETAL_UNSUPPORTED);
    assert_string_equal(error.file, SST_PATH);
    free(bytes);
    cell_list_fini(&list);
    sst_fixture_free(f);
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
    struct sst_options options = small_options(PETAL_COMPRESSION_LZ4);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    struct test_random random;
    uint8_t *bytes;
    size_t size;

    (void)state;
    test_random_init(&random, test_seed());
    small_cells(&list);
    sst_fixture_write(f, &options, &list);
    bytes = sst_fixture_bytes(f, &size);
    for (size_t frame = 0; frame < size - TRAILER_BYTES; frame += frame_bytes(bytes, frame)) {
        size_t end = frame + frame_bytes(bytes, frame);
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

/* Bytes between the blocks and the trailer belong to nothing: reads do not care, verify does. */
static void
verify_accounts_for_every_byte(void **state)
{
    struct sst_options options = small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    struct cell_list list = {0};
    struct sst_reader *reader;
    petal_error error = {0};
    uint8_t *bytes, *longer;
    size_t size;

    (void)state;
    small_cells(&list);
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

/* ---- failing calls ---- */

/* Write, open, read and verify; the first failure's status. */
static enum petal_status
whole_life(struct sst_fixture *f, const struct cell_list *list)
{
    struct sst_options options = small_options(PETAL_COMPRESSION_LZ4);
    struct sst_reader *reader;
    enum petal_status status = sst_fixture_try_write(f, &options, list, NULL);
    enum petal_status verified;

    if (status != PETAL_OK)
        return status;
    status = sst_fixture_try_open(f, &reader, NULL);
    if (status != PETAL_OK)
        return status;
    status = sst_compare(f, reader, list);
    verified = sst_reader_verify(reader, NULL);
    sst_reader_close(reader);
    return status != PETAL_OK ? status : verified;
}

static bool
is_io(enum petal_status status)
{
    return status == PETAL_OK || status == PETAL_IO || status == PETAL_NO_SPACE;
}

static void
every_failing_call_is_reported(void **state)
{
    static const int errors[] = {EIO, ENOSPC};
    struct cell_list list = {0};

    (void)state;
    small_cells(&list);
    for (unsigned round = 0; round < 4; round++) {
        bool permanently = round >= 2;

        for (uint64_t n = 1;; n++) {
            struct sst_fixture *f = sst_fixture_new(256 << 10);
            enum petal_status status;
            uint64_t failures;

            memory_vfs_fail_at(f->vfs, n, errors[round % 2], permanently);
            status = whole_life(f, &list);
            failures = memory_vfs_failures(f->vfs);
            assert_true(is_io(status));
            sst_fixture_free(f);
            if (failures == 0)
                break;
        }
    }
    cell_list_fini(&list);
}

/* A finish that failed leaves no file behind. */
static void
unfinished_files_are_removed(void **state)
{
    struct sst_options options = small_options(PETAL_COMPRESSION_LZ4);
    struct cell_list list = {0};

    (void)state;
    small_cells(&list);
    for (uint64_t n = 2; n <= 3; n++) { /* the write; the sync */
        struct sst_fixture *f = sst_fixture_new(256 << 10);

        memory_vfs_fail_at(f->vfs, n, EIO, false);
        assert_int_equal(sst_fixture_try_write(f, &options, &list, NULL), PETAL_IO);
        assert_false(memory_vfs_exists(f->vfs, SST_PATH));
        sst_fixture_free(f);
    }
    cell_list_fini(&list);
}

static void
every_failing_allocation_is_survived(void **state)
{
    struct cell_list list = {0};

    (void)state;
    small_cells(&list);
    for (unsigned permanently = 0; permanently < 2; permanently++) {
        for (uint64_t n = 1;; n++) {
            struct sst_fixture *f = sst_fixture_new(0);
            enum petal_status status;
            uint64_t failures;

            test_allocator_fail_at(&f->allocator, n, permanently == 1);
            status = whole_life(f, &list);
            failures = test_allocator_failures(&f->allocator);
            test_allocator_fail_at(&f->allocator, 0, false);
            assert_true(status == PETAL_OK || status == PETAL_NO_MEMORY);
            sst_fixture_free(f);
            if (failures == 0)
                break;
        }
    }
    cell_list_fini(&list);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_byte_is_caught_or_harmless),
        cmocka_unit_test(every_truncation_is_caught),
        cmocka_unit_test(swapped_blocks_are_caught),
        cmocka_unit_test(mixed_files_are_caught),
        cmocka_unit_test(newer_versions_are_refused_by_name),
        cmocka_unit_test(blocks_made_to_deceive_do_no_harm),
        cmocka_unit_test(verify_accounts_for_every_byte),
        cmocka_unit_test(every_failing_call_is_reported),
        cmocka_unit_test(unfinished_files_are_removed),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
