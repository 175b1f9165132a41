/*
 * file_tail_test.c -- how many reads opening a file takes, and that the guess about its end,
 * however wrong, changes no answer and no error.
 */
#include "tests/sstable/fixture.h"

#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <errno.h>
#include <stdlib.h>

#define BIG_CACHE (16u << 20)

/* Rows that share nothing, in blocks of so many bytes. */
static struct sst_fixture *
make_file(struct cell_list *list, unsigned rows, unsigned row_bytes, uint32_t block_bytes)
{
    struct sst_fixture *f = sst_fixture_new(BIG_CACHE);
    struct sst_options options = sst_test_options();
    struct test_random random;
    char row[512];

    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < rows; i++) {
        for (unsigned k = 0; k < row_bytes; k++)
            row[k] = (char)('a' + test_random_below(&random, 26));
        cell_list_add(list, slice_make(row, row_bytes), slice_from_text("q"), 1, i + 1, PETAL_PUT,
                      slice_from_text("value"));
    }
    cell_list_sort(list);
    options.block_bytes = block_bytes;
    options.compression = PETAL_COMPRESSION_NONE;
    sst_fixture_write(f, &options, list);
    return f;
}

static void
free_file(struct sst_fixture *f, struct cell_list *list)
{
    cell_list_fini(list);
    sst_fixture_free(f);
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
        struct cell_list list = {0};
        struct sst_fixture *f = make_file(&list, rows[i], 16, 4096);
        struct sst_reader *reader;

        assert_int_equal(reads_of_opening(f, &reader), 1);
        assert_int_equal(sst_compare(f, reader, &list), PETAL_OK);
        assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
        sst_reader_close(reader);
        free_file(f, &list);
    }
}

/* The roots stand after all else that the indexes have. */
TEST(the_end_holds_what_opening_needs)
{
    struct cell_list list = {0};
    struct sst_fixture *f = make_file(&list, 12000, 100, 512);
    struct sst_reader *reader;
    const struct trailer *trailer;

    assert_int_equal(reads_of_opening(f, &reader), 1);
    trailer = &reader->trailer;
    assert_int_equal(reader->index.root.level, 1);
    assert_int_equal(trailer->data_root.offset + trailer->data_root.size,
                     trailer->bloom_root.offset);
    assert_int_equal(trailer->bloom_root.offset + trailer->bloom_root.size, trailer->facts.offset);
    sst_reader_close(reader);
    free_file(f, &list);
}

TEST(a_long_root_is_read_by_itself)
{
    struct cell_list list = {0};
    struct sst_fixture *f = make_file(&list, 400, 280, 300);
    struct sst_reader *reader;

    assert_int_equal(reads_of_opening(f, &reader), 2);
    assert_true(reader->trailer.data_root.size > 100000);
    assert_int_equal(sst_compare(f, reader, &list), PETAL_OK);
    sst_reader_close(reader);
    free_file(f, &list);
}

/* ---- ends that cannot be had ---- */

static struct {
    petal_vfs table;
    const petal_vfs *below;
    uint64_t bad;  /* reads that touch this byte fail */
    size_t most;   /* longer reads come short; 0: none */
    unsigned hurt; /* reads that were */
} disk;

static int
read_bad(void *context, petal_file *file, uint64_t offset, void *buffer, size_t size,
         size_t *read_bytes)
{
    *read_bytes = 0;
    if (offset <= disk.bad && disk.bad - offset < size) {
        disk.hurt++;
        return EIO;
    }
    if (disk.most > 0 && size > disk.most) {
        disk.hurt++;
        size = disk.most;
    }
    return disk.below->read_at(context, file, offset, buffer, size, read_bytes);
}

static void
put_in_front(struct sst_fixture *f)
{
    disk.table = *f->env.vfs;
    disk.below = f->env.vfs;
    disk.table.read_at = read_bad;
    disk.bad = UINT64_MAX;
    disk.most = 0;
    disk.hurt = 0;
    f->env.vfs = &disk.table;
}

TEST(a_bad_place_hurts_where_it_is_needed)
{
    struct cell_list list = {0};
    struct sst_fixture *f = make_file(&list, 100, 16, 512);
    struct sst_reader *reader = sst_fixture_open(f), *other;
    struct trailer trailer = reader->trailer;
    petal_error error;

    sst_reader_close(reader);
    put_in_front(f);
    disk.bad = trailer.data_root.offset - 1; /* of the last chunk */
    assert_int_equal(sst_fixture_try_open(f, &other, &error), PETAL_OK);
    assert_int_equal(disk.hurt, 1);
    sst_reader_close(other);
    disk.bad = trailer.data_root.offset;
    assert_int_equal(sst_fixture_try_open(f, &other, &error), PETAL_IO);
    assert_string_equal(error.file, SST_PATH);
    disk.bad = trailer.file_bytes - 1;
    assert_int_equal(sst_fixture_try_open(f, &other, &error), PETAL_IO);
    f->env.vfs = disk.below;
    free_file(f, &list);
}

TEST(an_end_that_comes_short_is_made_good)
{
    struct cell_list list = {0};
    struct sst_fixture *f = make_file(&list, 1000, 16, 1024);
    struct sst_reader *reader;

    put_in_front(f);
    disk.most = SST_TAIL_LEAST_BYTES - 1;
    reader = sst_fixture_open(f);
    assert_int_equal(disk.hurt, 1);
    assert_int_equal(sst_compare(f, reader, &list), PETAL_OK);
    sst_reader_close(reader);
    f->env.vfs = disk.below;
    free_file(f, &list);
}

/* A file that was cut anywhere is refused with its path, and the place where it ends. */
TEST(cut_files_are_refused)
{
    struct cell_list list = {0};
    struct sst_fixture *f = make_file(&list, 100, 16, 512);
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
    free_file(f, &list);
}
