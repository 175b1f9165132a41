/*
 * file_tail_test.c -- how many reads opening a file takes, and that the guess about its end,
 * however wrong, changes no answer and no error.
 */
#include "tests/sstable/fixture.h"

#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <stdlib.h>

#define BIG_CACHE (16u << 20)

/* Rows that share nothing, in blocks of so many bytes. */
static struct sst_fixture *
make_file(unsigned rows, size_t row_bytes, uint32_t block_bytes)
{
    struct sst_fixture *f = sst_fixture_new(BIG_CACHE);
    struct sst_options options = sst_test_options();

    cell_list_random_rows(&f->list, rows, row_bytes);
    options.block_bytes = block_bytes;
    options.compression = PETAL_COMPRESSION_NONE;
    sst_fixture_write(f, &options, &f->list);
    return f;
}

/* Reads of the file while it is opened. */
static unsigned
reads_of_opening(struct sst_fixture *f, struct sst_reader **reader)
{
    unsigned reads = 0;

    memory_vfs_trace(f->vfs, true);
    *reader = sst_fixture_open(f);
    for (size_t i = 0; i < memory_vfs_trace_count(f->vfs); i++)
        reads += memory_vfs_trace_at(f->vfs, i).operation == MEMORY_VFS_READ;
    memory_vfs_trace(f->vfs, false);
    return reads;
}

TEST(opening_is_one_read)
{
    static const unsigned rows[] = {1, 10, 1000, 20000};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sst_fixture *f = make_file(rows[i], 16, 4096);
        struct sst_reader *reader;

        assert_int_equal(reads_of_opening(f, &reader), 1);
        assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
        assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
        sst_fixture_end(f, reader);
    }
}

/* The roots stand after all else that the indexes have. */
TEST(the_end_holds_what_opening_needs)
{
    struct sst_fixture *f = make_file(12000, 100, 512);
    struct sst_reader *reader;
    const struct trailer *trailer;

    assert_int_equal(reads_of_opening(f, &reader), 1);
    trailer = &reader->trailer;
    assert_int_equal(reader->index.root.level, 1);
    assert_int_equal(trailer->data_root.offset + trailer->data_root.size,
                     trailer->bloom_root.offset);
    assert_int_equal(trailer->bloom_root.offset + trailer->bloom_root.size, trailer->facts.offset);
    sst_fixture_end(f, reader);
}

TEST(a_long_root_is_read_by_itself)
{
    struct sst_fixture *f = make_file(400, 280, 300);
    struct sst_reader *reader;

    assert_int_equal(reads_of_opening(f, &reader), 2);
    assert_true(reader->trailer.data_root.size > 100000);
    assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
    sst_fixture_end(f, reader);
}

/* ---- ends that cannot be had ---- */

static void
spoil(uint64_t offset)
{
    sst_bad_disk.bad_begin = offset;
    sst_bad_disk.bad_end = offset + 1;
}

TEST(a_bad_place_hurts_where_it_is_needed)
{
    struct sst_fixture *f = make_file(100, 16, 512);
    struct sst_reader *reader = sst_fixture_open(f), *other;
    struct trailer trailer = reader->trailer;
    petal_error error;

    sst_reader_close(reader);
    sst_bad_disk_begin(f);
    spoil(trailer.data_root.offset - 1); /* of the last chunk */
    assert_int_equal(sst_fixture_try_open(f, &other, &error), PETAL_OK);
    assert_int_equal(sst_bad_disk.hurt, 1);
    sst_reader_close(other);
    spoil(trailer.data_root.offset);
    assert_int_equal(sst_fixture_try_open(f, &other, &error), PETAL_IO);
    assert_string_equal(error.file, SST_PATH);
    spoil(trailer.file_bytes - 1);
    assert_int_equal(sst_fixture_try_open(f, &other, &error), PETAL_IO);
    sst_fixture_free(f);
}

TEST(an_end_that_comes_short_is_made_good)
{
    struct sst_fixture *f = make_file(1000, 16, 1024);
    struct sst_reader *reader;

    sst_bad_disk_begin(f);
    sst_bad_disk.most = SST_TAIL_LEAST_BYTES - 1;
    reader = sst_fixture_open(f);
    assert_int_equal(sst_bad_disk.hurt, 1);
    assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
    sst_fixture_end(f, reader);
}

/* A file that was cut anywhere is refused with its path, and the place where it ends. */
TEST(cut_files_are_refused)
{
    struct sst_fixture *f = make_file(100, 16, 512);
    size_t size;
    uint8_t *bytes = sst_fixture_bytes(f, &size);

    for (size_t kept = 0; kept < size; kept += kept < size - 200 && kept > 200 ? 61 : 1) {
        struct sst_reader *reader;
        petal_error error;

        sst_fixture_set_bytes(f, bytes, kept);
        assert_int_equal(sst_fixture_try_open(f, &reader, &error), PETAL_CORRUPT);
        assert_string_equal(error.file, SST_PATH);
        assert_true(error.offset <= kept);
    }
    free(bytes);
    sst_fixture_free(f);
}
