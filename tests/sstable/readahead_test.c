/*
 * readahead_test.c -- what is read of a file by who goes through it: in how many reads, of which
 * sizes, with which memory; and that large reads that fail hurt only who needs what cannot be read.
 */
#include "tests/sstable/fixture.h"

#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#define ROWS        20000
#define VALUE_BYTES 100
#define BIG_CACHE   (64u << 20)
#define SMALL_CACHE (1u << 20)

/* A file of about 2 MiB in blocks of about 4 KiB, which do not compress. */
static struct sst_fixture *
make_file(size_t cache_bytes)
{
    struct sst_fixture *f = sst_fixture_new(cache_bytes);
    struct sst_options options = sst_test_options();

    cell_list_random_values(&f->list, ROWS, VALUE_BYTES);
    options.compression = PETAL_COMPRESSION_NONE;
    options.bloom = PETAL_BLOOM_NONE;
    sst_fixture_write(f, &options, &f->list);
    return f;
}

/* ---- going through ---- */

/* Step on over `count` cells, which have to be those of the list from `from` on. */
static void
expect_cells(struct sst_iter *iter, const struct cell_list *list, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        assert_true(iter->iter.valid);
        assert_true(same_cell(&iter->iter.cell, &list->cells[i]));
        assert_int_equal(iter->iter.ops->next(&iter->iter, NULL), PETAL_OK);
    }
}

static void
seek(struct sst_iter *iter, const struct cell *cell)
{
    struct cell_key key;
    uint8_t buffer[256];

    cell_key_of(&key, buffer, cell);
    assert_int_equal(iter->iter.ops->seek(&iter->iter, &key, NULL), PETAL_OK);
}

/* Where the data block of the iterator's cell is. */
static struct block_handle
block_of(const struct sst_iter *iter)
{
    return index_cursor_place(&iter->index).handle;
}

/* The sizes of the reads of the file that were traced. */
static size_t
traced_reads(struct sst_fixture *f, size_t *sizes, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < memory_vfs_trace_count(f->vfs); i++) {
        struct memory_vfs_call call = memory_vfs_trace_at(f->vfs, i);

        if (call.operation == MEMORY_VFS_READ && count < most)
            sizes[count++] = call.size;
    }
    return count;
}

TEST(a_scan_reads_in_growing_windows)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    struct read_context context = {.trace = &f->trace, .keep_out_of_cache = true};
    struct sst_iter iter;
    size_t sizes[64], count, first_block;
    uint64_t data_bytes = sst_reader_facts(reader)->data_bytes;

    assert_int_equal(reader->index.root.level, 0); /* no reads of index nodes below */
    memory_vfs_trace(f->vfs, true);
    sst_iter_init(&iter, reader, &context, false, false);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, NULL), PETAL_OK);
    first_block = block_of(&iter).size;
    expect_cells(&iter, &f->list, 0, f->list.count);
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    count = traced_reads(f, sizes, 64);
    assert_int_equal(f->trace.file_reads, count);
    assert_int_equal(f->trace.bytes_fetched, data_bytes);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA],
                     sst_reader_facts(reader)->data_blocks);
    /* One block, then windows that double; what a window has of a block that ends after it is
     * read twice. */
    assert_int_equal(sizes[0], first_block);
    for (size_t i = 1, expected = READAHEAD_LEAST_BYTES; i + 1 < count; i++) {
        assert_int_equal(sizes[i], expected);
        if (expected < READAHEAD_MOST_BYTES)
            expected *= 2;
    }
    assert_in_range(f->trace.file_bytes_read, data_bytes, data_bytes + count * 8192);
    assert_in_range(count, data_bytes / READAHEAD_MOST_BYTES + 4,
                    data_bytes / READAHEAD_MOST_BYTES + 7);
    memory_vfs_trace(f->vfs, false);
    sst_fixture_end(f, reader);
}

TEST(who_reads_a_whole_file_begins_large)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    struct read_context context = {
        .trace = &f->trace, .keep_out_of_cache = true, .whole_file = true};
    struct sst_iter iter;
    size_t sizes[4];

    memory_vfs_trace(f->vfs, true);
    sst_iter_init(&iter, reader, &context, false, false);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, NULL), PETAL_OK);
    expect_cells(&iter, &f->list, 0, 100);
    iter.iter.ops->close(&iter.iter);
    assert_int_equal(traced_reads(f, sizes, 4), 1);
    assert_int_equal(sizes[0], READAHEAD_MOST_BYTES);
    memory_vfs_trace(f->vfs, false);
    sst_fixture_end(f, reader);
}

/* A search and ten cells: the block, and where they go over its end the smallest window. */
TEST(short_scans_read_little)
{
    struct sst_fixture *f = make_file(SMALL_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    struct test_random random;
    unsigned windows = 0;

    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < 300; i++) {
        size_t from = (size_t)test_random_below(&random, ROWS - 10);
        struct read_trace trace = {0};
        struct read_context context = {.trace = &trace, .keep_out_of_cache = true};
        struct block_handle block;
        struct sst_iter iter;

        sst_iter_init(&iter, reader, &context, false, false);
        seek(&iter, &f->list.cells[from]);
        block = block_of(&iter);
        assert_int_equal(trace.file_bytes_read, block.size);
        expect_cells(&iter, &f->list, from, 10);
        assert_in_range(trace.file_reads, 1, 2);
        assert_int_equal(trace.file_bytes_read,
                         block.size + (trace.file_reads - 1) * READAHEAD_LEAST_BYTES);
        windows += trace.file_reads == 2;
        iter.iter.ops->close(&iter.iter);
    }
    assert_in_range(windows, 30, 150); /* some did, some did not */
    sst_fixture_end(f, reader);
}

/* Each search begins anew, wherever it leads. */
TEST(searches_end_a_window)
{
    struct sst_fixture *f = make_file(SMALL_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    struct read_context context = {.trace = &f->trace, .keep_out_of_cache = true};
    struct sst_iter iter;

    sst_iter_init(&iter, reader, &context, false, false);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, NULL), PETAL_OK);
    expect_cells(&iter, &f->list, 0, 5000);
    for (unsigned i = 1; i < 10; i++) {
        uint64_t before = f->trace.file_bytes_read;

        seek(&iter, &f->list.cells[i * 7919 % ROWS]);
        assert_int_equal(f->trace.file_bytes_read - before, block_of(&iter).size);
    }
    iter.iter.ops->close(&iter.iter);
    sst_fixture_end(f, reader);
}

TEST(going_back_reads_windows_too)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    struct read_context context = {.trace = &f->trace, .keep_out_of_cache = true};
    uint64_t data_bytes = sst_reader_facts(reader)->data_bytes;
    struct sst_iter iter;

    sst_iter_init(&iter, reader, &context, false, false);
    assert_int_equal(iter.iter.ops->seek_before(&iter.iter, NULL, NULL), PETAL_OK);
    for (size_t i = f->list.count; i-- > 0;) {
        struct cell_key key;
        uint8_t buffer[256];

        assert_true(iter.iter.valid);
        assert_true(same_cell(&iter.iter.cell, &f->list.cells[i]));
        cell_key_of(&key, buffer, &f->list.cells[i]);
        assert_int_equal(iter.iter.ops->seek_before(&iter.iter, &key, NULL), PETAL_OK);
    }
    assert_false(iter.iter.valid);
    iter.iter.ops->close(&iter.iter);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA],
                     sst_reader_facts(reader)->data_blocks);
    assert_in_range(f->trace.file_reads, data_bytes / READAHEAD_MOST_BYTES + 4,
                    data_bytes / READAHEAD_MOST_BYTES + 7);
    sst_fixture_end(f, reader);
}

/* ---- memory ---- */

TEST(windows_stay_within_the_limit)
{
    enum { READERS = 6 };
    struct sst_fixture *f = make_file(SMALL_CACHE);
    struct readahead_limit limit;
    struct sst_open_options options = {.file_number = 1,
                                       .file_identity = TEST_IDENTITY,
                                       .cache = f->cache,
                                       .epoch = f->epoch,
                                       .readahead_limit = &limit};
    struct read_context context = {.trace = &f->trace, .keep_out_of_cache = true};
    struct sst_reader *reader;
    struct sst_iter iters[READERS];

    readahead_limit_init(&limit, 4 * READAHEAD_LEAST_BYTES, 0);
    assert_int_equal(sst_reader_open(&reader, &f->directory, SST_PATH, &options, NULL), PETAL_OK);
    for (unsigned k = 0; k < READERS; k++) {
        sst_iter_init(&iters[k], reader, &context, false, false);
        assert_int_equal(iters[k].iter.ops->seek_first(&iters[k].iter, NULL), PETAL_OK);
    }
    for (size_t from = 0; from < f->list.count; from += 100) {
        for (unsigned k = 0; k < READERS; k++) {
            size_t memory = 0;

            expect_cells(&iters[k], &f->list, from, 100);
            assert_true(atomic_load(&limit.taken) <= limit.most);
            for (unsigned i = 0; i < READERS; i++)
                memory += iters[i].ahead.capacity;
            assert_true(memory <= limit.most + READERS * 8192);
        }
    }
    for (unsigned k = 0; k < READERS; k++)
        iters[k].iter.ops->close(&iters[k].iter);
    assert_int_equal(atomic_load(&limit.taken), 0);
    sst_fixture_end(f, reader);
}

/* ---- the cache ---- */

static void
scan_all(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list)
{
    struct sst_iter iter;

    sst_iter_init(&iter, reader, &f->context, false, false);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, NULL), PETAL_OK);
    expect_cells(&iter, list, 0, list->count);
    iter.iter.ops->close(&iter.iter);
}

TEST(a_scan_fills_what_is_free)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    uint64_t blocks = sst_reader_facts(reader)->data_blocks;
    uint64_t reads;

    scan_all(f, reader, &f->list);
    reads = f->trace.file_reads;
    scan_all(f, reader, &f->list);
    assert_int_equal(f->trace.file_reads, reads);
    assert_int_equal(f->trace.blocks_cached[PETAL_BLOCK_DATA], blocks);
    sst_fixture_end(f, reader);
}

TEST(a_scan_drives_nothing_out)
{
    struct sst_fixture *f = make_file(SMALL_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    struct cache_usage before, after;
    struct sst_iter iter;

    for (size_t i = 0; i < f->list.count; i += 20) { /* points, until the cache is full */
        sst_iter_init(&iter, reader, &f->context, false, false);
        seek(&iter, &f->list.cells[i]);
        iter.iter.ops->close(&iter.iter);
    }
    cache_usage_get(f->cache, &before);
    assert_true(before.evicted[PETAL_BLOCK_DATA] > 0);
    scan_all(f, reader, &f->list);
    cache_usage_get(f->cache, &after);
    /* But for blocks with which reading begins anew, after long stretches that are cached. */
    assert_in_range(after.inserted[PETAL_BLOCK_DATA] - before.inserted[PETAL_BLOCK_DATA], 0, 8);
    assert_in_range(after.evicted[PETAL_BLOCK_DATA] - before.evicted[PETAL_BLOCK_DATA], 0, 8);
    sst_fixture_end(f, reader);
}

/* ---- errors ---- */

/* Go through all that can be read around a bad place; returns the cells that could not be. */
static size_t
read_around(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list)
{
    struct read_context context = {.trace = &f->trace, .keep_out_of_cache = true};
    enum petal_status status = PETAL_OK;
    petal_error error = {0};
    struct sst_iter iter;
    size_t done = 0, missed = 0;

    sst_iter_init(&iter, reader, &context, false, false);
    assert_int_equal(iter.iter.ops->seek_first(&iter.iter, NULL), PETAL_OK);
    while (done < list->count) {
        struct cell_key key;
        uint8_t buffer[256];

        if (status == PETAL_OK) {
            assert_true(iter.iter.valid);
            assert_true(same_cell(&iter.iter.cell, &list->cells[done]));
            done++;
            status = iter.iter.ops->next(&iter.iter, &error);
            continue;
        }
        assert_int_equal(status, PETAL_IO);
        assert_string_equal(error.file, SST_PATH);
        cell_key_of(&key, buffer, &list->cells[done + missed]);
        missed++;
        status = iter.iter.ops->seek(&iter.iter, &key, &error);
        if (status == PETAL_OK)
            break;
    }
    if (missed > 0)
        expect_cells(&iter, list, done + missed - 1, list->count - done - (missed - 1));
    iter.iter.ops->close(&iter.iter);
    return missed > 0 ? missed - 1 : 0;
}

TEST(an_unreadable_sector_costs_its_block)
{
    struct sst_fixture *f = make_file(SMALL_CACHE);
    struct sst_reader *reader;
    struct sst_iter iter;
    struct block_handle block;
    size_t in_block = 0;

    sst_bad_disk_begin(f);
    reader = sst_fixture_open(f);
    sst_iter_init(&iter, reader, &f->context, false, false);
    seek(&iter, &f->list.cells[9000]);
    block = block_of(&iter);
    iter.iter.ops->close(&iter.iter);
    cache_erase_file(f->cache, 1);
    for (size_t i = 0; i < f->list.count; i++) {
        sst_iter_init(&iter, reader, &f->context, false, false);
        seek(&iter, &f->list.cells[i]);
        in_block += block_of(&iter).offset == block.offset;
        iter.iter.ops->close(&iter.iter);
    }
    assert_in_range(in_block, 10, 60);
    cache_erase_file(f->cache, 1);

    sst_bad_disk.bad_begin = block.offset + 512;
    sst_bad_disk.bad_end = block.offset + 1024;
    assert_int_equal(read_around(f, reader, &f->list), in_block);
    /* The window once, and the block for each cell that was asked. */
    assert_int_equal(sst_bad_disk.hurt, 1 + in_block + 1);
    sst_fixture_end(f, reader);
}

/* A bad place that belongs to no data block is nobody's. */
TEST(an_unreadable_tail_costs_nothing)
{
    struct sst_fixture *f = make_file(SMALL_CACHE);
    struct sst_reader *reader;

    sst_bad_disk_begin(f);
    reader = sst_fixture_open(f);
    sst_bad_disk.bad_begin = reader->trailer.data_root.offset;
    sst_bad_disk.bad_end = sst_bad_disk.bad_begin + 1;
    assert_int_equal(read_around(f, reader, &f->list), 0);
    assert_int_equal(sst_bad_disk.hurt, 1);
    sst_fixture_end(f, reader);
}

TEST(short_reads_are_made_good)
{
    struct sst_fixture *f = make_file(SMALL_CACHE);
    struct sst_reader *reader;

    sst_bad_disk_begin(f);
    reader = sst_fixture_open(f);
    sst_bad_disk.most = 8192;
    assert_int_equal(read_around(f, reader, &f->list), 0);
    /* No window is tried twice in one place. */
    assert_in_range(sst_bad_disk.hurt, 1,
                    sst_reader_facts(reader)->data_bytes / READAHEAD_LEAST_BYTES);
    sst_fixture_end(f, reader);
}
