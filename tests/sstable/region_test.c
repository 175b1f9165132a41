/*
 * region_test.c -- chunks of the filter and nodes of the index stand side by side in a file, and
 * come into the cache by few reads: once, where there is room, with nobody hurt by what is damaged
 * or cannot be read.
 */
#include "tests/sstable/fixture.h"

#include "sstable/index/index_region.h"
#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <stdlib.h>

#define ROWS      12000
#define BIG_CACHE (64u << 20)

/* Rows of about 100 bytes that share nothing, in small blocks: a root of the index that has nodes
 * below it, and a filter of many chunks. */
static struct sst_fixture *
make_file(size_t cache_bytes)
{
    struct sst_fixture *f = sst_fixture_new(cache_bytes);
    struct sst_options options = sst_test_options();

    cell_list_random_rows(&f->list, ROWS, 100);
    options.block_bytes = 512;
    sst_fixture_write(f, &options, &f->list);
    return f;
}

/* ---- the writer ---- */

/* How often an entry of the node does not begin where the one before it ends. */
static unsigned
gaps(const struct index_block *node)
{
    unsigned count = 0;

    for (uint32_t i = 1; i < node->count; i++) {
        struct block_handle before = index_block_handle(node, i - 1);

        count += before.offset + before.size != index_block_handle(node, i).offset;
    }
    return count;
}

TEST(chunks_and_nodes_stand_side_by_side)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);

    assert_int_equal(reader->index.root.level, 1);
    assert_in_range(reader->index.root.count, 20, 2000);
    assert_int_equal(reader->bloom.tree.root.level, 0);
    assert_in_range(reader->bloom.tree.root.count, 20, 2000);
    assert_int_equal(gaps(&reader->index.root), 0);
    assert_int_equal(gaps(&reader->bloom.tree.root), 0);
    assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
    sst_fixture_end(f, reader);
}

/* More chunks than the writer keeps back stand in several regions, data blocks between them. */
TEST(large_files_have_several_regions)
{
    enum { MANY = 320000 };
    struct sst_fixture *f = sst_fixture_new(BIG_CACHE);
    struct sst_options options = sst_test_options();
    struct sst_writer *writer;
    struct sst_reader *reader;
    char row[16];

    options.bloom_error_rate = 1e-6;
    assert_int_equal(sst_writer_open(&writer, &f->directory, SST_PATH, &options, NULL), PETAL_OK);
    for (unsigned i = 0; i < MANY; i++) {
        struct cell cell = {.qualifier = slice_from_text("q"),
                            .timestamp = 1,
                            .sequence = i + 1,
                            .type = PETAL_PUT,
                            .value = slice_from_text("v")};

        cell.row = slice_make(row, (size_t)snprintf(row, sizeof row, "row%08u", i));
        assert_int_equal(sst_writer_add(writer, &cell, NULL), PETAL_OK);
    }
    assert_int_equal(sst_writer_finish(writer, NULL, NULL), PETAL_OK);
    sst_writer_free(writer);
    reader = sst_fixture_open(f);
    assert_int_equal(reader->bloom.tree.root.level, 0);
    assert_int_equal(gaps(&reader->bloom.tree.root), sst_reader_facts(reader)->bloom_bytes >> 20);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(row, sizeof row, "row%08u", i);
        assert_true(sst_ask_row(f, reader, slice_from_text(row)));
    }
    assert_int_equal(f->trace.file_reads, gaps(&reader->bloom.tree.root) + 1);
    assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
    sst_reader_close(reader);
    sst_fixture_free(f);
}

/* ---- counts ---- */

TEST(a_filter_comes_by_one_read)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    const struct file_facts *facts = sst_reader_facts(reader);
    struct cache_usage usage;

    for (size_t i = 0; i < f->list.count; i++)
        assert_true(sst_ask_row(f, reader, f->list.cells[i].row));
    assert_int_equal(f->trace.file_reads, 1);
    assert_int_equal(f->trace.file_bytes_read, facts->bloom_bytes);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_FILTER], 1);
    assert_int_equal(f->trace.blocks_cached[PETAL_BLOCK_FILTER], f->list.count - 1);
    /* What the account is charged with is the chunk that was asked, not its neighbours. */
    assert_true(f->trace.bytes_fetched < 2 * facts->bloom_bytes / facts->bloom_chunks);
    cache_usage_get(f->cache, &usage);
    assert_int_equal(usage.blocks[PETAL_BLOCK_FILTER], facts->bloom_chunks);
    sst_fixture_end(f, reader);
}

/* A search for each row, in no order: the index by one read, each data block by one. */
TEST(a_cold_search_is_one_read_of_one_block)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);

    for (size_t i = 0; i < f->list.count; i++)
        sst_expect_found(f, reader, &f->list.cells[i * 7919 % f->list.count]);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_INDEX], 1);
    assert_int_equal(f->trace.file_reads, 1 + sst_reader_facts(reader)->data_blocks);
    sst_fixture_end(f, reader);
}

/* Where the cache has no room for a region, a question costs its own block. */
TEST(a_small_cache_is_not_stirred)
{
    struct sst_fixture *f = make_file(12 << 10);
    struct sst_reader *reader = sst_fixture_open(f);

    for (size_t i = 0; i < f->list.count; i++)
        (void)sst_ask_row(f, reader, f->list.cells[i * 7919 % f->list.count].row);
    assert_true(f->trace.blocks_fetched[PETAL_BLOCK_FILTER] > 10);
    assert_int_equal(f->trace.file_reads, f->trace.blocks_fetched[PETAL_BLOCK_FILTER]);
    assert_int_equal(f->trace.file_bytes_read, f->trace.bytes_fetched);
    sst_fixture_end(f, reader);
}

TEST(the_limit_of_large_reads_holds)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct readahead_limit limit;
    struct sst_open_options options = {.file_number = 1,
                                       .file_identity = TEST_IDENTITY,
                                       .cache = f->cache,
                                       .epoch = f->epoch,
                                       .readahead_limit = &limit};
    struct sst_reader *reader;

    readahead_limit_init(&limit, 4096, 0); /* two or three chunks by one read */
    assert_int_equal(sst_reader_open(&reader, &f->directory, SST_PATH, &options, NULL), PETAL_OK);
    for (size_t i = 0; i < f->list.count; i++)
        assert_true(sst_ask_row(f, reader, f->list.cells[i].row));
    assert_in_range(f->trace.file_reads, 2, sst_reader_facts(reader)->bloom_chunks);
    assert_true(f->trace.file_bytes_read <= f->trace.file_reads * 2048);
    assert_int_equal(atomic_load(&limit.taken), 0);
    sst_fixture_end(f, reader);
}

/* ---- damage ---- */

/* One chunk of a region is damaged: it says "maybe", and costs the others nothing. */
TEST(a_damaged_chunk_is_left_out)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);
    struct block_handle chunk = index_block_handle(&reader->bloom.tree.root, 5);
    uint64_t chunks = sst_reader_facts(reader)->bloom_chunks;
    struct cache_usage usage;
    uint8_t *bytes;
    size_t size;

    sst_reader_close(reader);
    bytes = sst_fixture_bytes(f, &size);
    bytes[chunk.offset + 40] ^= 1;
    sst_fixture_set_bytes(f, bytes, size);
    free(bytes);
    reader = sst_fixture_open(f);
    for (size_t i = 0; i < f->list.count; i++)
        assert_true(sst_ask_row(f, reader, f->list.cells[i].row));
    cache_usage_get(f->cache, &usage);
    assert_int_equal(usage.blocks[PETAL_BLOCK_FILTER], chunks - 1);
    assert_in_range(f->trace.bloom_ignored + f->trace.bloom_unasked, 1,
                    2 * f->list.count / (size_t)chunks);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_FILTER], 1);
    assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_CORRUPT);
    sst_fixture_end(f, reader);
}

TEST(regions_that_cannot_be_read_are_read_by_blocks)
{
    struct sst_fixture *f = make_file(BIG_CACHE);
    struct sst_reader *reader = sst_fixture_open(f);

    sst_bad_disk_begin(f);
    sst_bad_disk.most = 8192;
    sst_bad_disk.refuses = true;
    for (size_t i = 0; i < f->list.count; i++) {
        assert_true(sst_ask_row(f, reader, f->list.cells[i].row));
        sst_expect_found(f, reader, &f->list.cells[i]);
    }
    assert_int_equal(sst_bad_disk.hurt, 1); /* it is not tried again */
    assert_int_equal(f->trace.bloom_ignored, 0);
    assert_true(f->trace.blocks_fetched[PETAL_BLOCK_FILTER] > 4);
    assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_INDEX], reader->index.root.count);
    sst_fixture_end(f, reader);
}
