/*
 * damage_test.c -- store files that are mixed up, or whose reads, writes and allocations fail:
 * either the right answer or a named error, never a wrong or missing cell, never a filter that
 * denies.  (Every bit, length and sector: tests/damage. Files made to deceive, with right
 * checksums: tests/sstable/hostile_test.c.)
 */
#include "tests/sstable/fixture.h"

#include "base/coding.h"
#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

/* ---- blocks in wrong places ---- */

/* Two data blocks of equal size, each intact, exchanged. */
TEST(swapped_blocks_are_caught)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    unsigned swaps = 0;
    uint8_t *bytes, *mixed;
    size_t size;
    char row[16];

    for (unsigned i = 0; i < 300; i++) {
        snprintf(row, sizeof row, "row%04u", i);
        cell_list_put(&f->list, row, "q", 1, i + 1, "a value of fixed length");
    }
    options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(f, &options, &f->list);
    bytes = sst_fixture_bytes(f, &size);
    mixed = test_allocate(size);
    for (size_t a = 0, b = sst_frame_bytes(bytes, 0); bytes[b + 8] == BLOCK_DATA;
         a = b, b += sst_frame_bytes(bytes, b)) {
        size_t length = sst_frame_bytes(bytes, a);

        if (length != sst_frame_bytes(bytes, b))
            continue;
        memcpy(mixed, bytes, size);
        memcpy(mixed + a, bytes + b, length);
        memcpy(mixed + b, bytes + a, length);
        sst_fixture_set_bytes(f, mixed, size);
        assert_int_equal(sst_read_all(f, &f->list, NULL), PETAL_CORRUPT);
        swaps++;
    }
    assert_true(swaps > 5);
    free(mixed);
    free(bytes);
    sst_fixture_free(f);
}

/* The head of one file with the tail of another of the same length and content, at each length. */
TEST(mixed_files_are_caught)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_NONE);
    struct sst_fixture *f = sst_fixture_new(256 << 10);
    uint8_t *ours, *theirs;
    size_t size, their_size;
    bool differs = false;

    sst_small_cells(&f->list);
    options.file_identity = TEST_IDENTITY + 1;
    sst_fixture_write(f, &options, &f->list);
    theirs = sst_fixture_bytes(f, &their_size);
    options.file_identity = TEST_IDENTITY;
    sst_fixture_write(f, &options, &f->list);
    ours = sst_fixture_bytes(f, &size);
    assert_int_equal(size, their_size);
    for (size_t cut = size; cut-- > 0;) {
        differs = differs || ours[cut] != theirs[cut];
        ours[cut] = theirs[cut];
        sst_fixture_set_bytes(f, ours, size);
        assert_int_equal(sst_read_all(f, &f->list, NULL), differs ? PETAL_CORRUPT : PETAL_OK);
    }
    free(ours);
    free(theirs);
    sst_fixture_free(f);
}

TEST(file_of_another_identity_is_refused)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct sst_reader *reader;
    struct sst_open_options open = {.file_number = 77, .cache = f->cache, .epoch = f->epoch};
    petal_error error = {0};

    cell_list_put(&f->list, "a", "q", 1, 1, "v");
    options.file_identity = TEST_IDENTITY + 1;
    sst_fixture_write(f, &options, &f->list);
    assert_int_equal(sst_fixture_try_open(f, &reader, &error), PETAL_CORRUPT);
    assert_null(reader);
    assert_string_equal(error.file, SST_PATH);

    /* Identity 0: whoever it is. */
    assert_int_equal(sst_reader_open(&reader, &f->directory, SST_PATH, &open, &error), PETAL_OK);
    assert_int_equal(reader->trailer.file_identity, TEST_IDENTITY + 1);
    assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
    sst_fixture_end(f, reader);
}

TEST(missing_file_is_an_io_error)
{
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    struct sst_reader *reader;
    petal_error error = {0};

    assert_int_equal(sst_fixture_try_open(f, &reader, &error), PETAL_IO);
    assert_null(reader);
    sst_fixture_free(f);
}

/* ---- failing calls ---- */

/* A file is written, opened, read and verified. */
static enum petal_status
whole_life(struct sst_fixture *f)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_LZ4);
    enum petal_status status = sst_fixture_try_write(f, &options, &f->list, NULL), verified;
    struct sst_reader *reader;

    if (status == PETAL_OK)
        status = sst_fixture_try_open(f, &reader, NULL);
    if (status != PETAL_OK)
        return status;
    status = sst_compare(f, reader, &f->list);
    verified = sst_reader_verify(reader, NULL, NULL);
    sst_reader_close(reader);
    return status != PETAL_OK ? status : verified;
}

/* Each file call, or each allocation, once or from there on. */
TEST(what_fails_is_reported)
{
    static const int errors[] = {EIO, ENOSPC, 0}; /* 0: memory */

    for (unsigned round = 0; round < 6; round++) {
        bool permanently = round >= 3;
        int failing = errors[round % 3];
        uint64_t failures = 1;

        for (uint64_t n = 1; failures > 0; n++) {
            struct sst_fixture *f = sst_fixture_new(failing == 0 ? 0 : 256 << 10);
            enum petal_status status;

            sst_small_cells(&f->list);
            if (failing == 0)
                test_allocator_fail_at(&f->allocator, n, permanently);
            else
                memory_vfs_fail_at(f->vfs, n, failing, permanently);
            status = whole_life(f);
            failures =
                failing == 0 ? test_allocator_failures(&f->allocator) : memory_vfs_failures(f->vfs);
            test_allocator_fail_at(&f->allocator, 0, false);
            assert_true(status == PETAL_OK ||
                        (failing == 0 ? status == PETAL_NO_MEMORY
                                      : status == PETAL_IO || status == PETAL_NO_SPACE));
            sst_fixture_free(f);
        }
    }
}

/* A finish that failed leaves no file after. */
TEST(unfinished_files_are_removed)
{
    struct sst_options options = sst_small_options(PETAL_COMPRESSION_LZ4);
    struct cell_list list = {0};

    sst_small_cells(&list);
    for (uint64_t n = 2; n <= 3; n++) { /* the write; the sync */
        struct sst_fixture *f = sst_fixture_new(256 << 10);

        memory_vfs_fail_at(f->vfs, n, EIO, false);
        assert_int_equal(sst_fixture_try_write(f, &options, &list, NULL), PETAL_IO);
        assert_false(memory_vfs_exists(f->vfs, SST_PATH));
        sst_fixture_free(f);
    }
    cell_list_fini(&list);
}
