/*
 * heads_test.c -- places at the head of a data block: the index says that the block begins the row
 * or the column, so a search for it does not read the block before.
 */
#include "tests/sstable/fixture.h"

#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <stdlib.h>

static void
expect_at(struct cell_iter *iter, const struct cell_list *list, size_t at)
{
    assert_int_equal(iter->valid, at < list->count);
    if (!iter->valid)
        return;
    assert_int_equal(cell_compare(&iter->cell, &list->cells[at]), 0);
    if (iter->pending)
        assert_int_equal(iter->ops->load(iter, NULL), PETAL_OK);
    assert_true(same_cell(&iter->cell, &list->cells[at]));
}

/* Data blocks that a search for the place reads; it must find `at`. */
static uint64_t
reads_of_seek(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list,
              size_t at, petal_slice row, petal_slice qualifier, bool family)
{
    uint64_t before = f->trace.blocks_fetched[PETAL_BLOCK_DATA];
    uint8_t *buffer = test_allocate(cell_key_bound(row.size, qualifier.size));
    struct sst_iter iter;
    struct cell_key key;

    cell_key_make(&key, buffer, row, qualifier, family, INT64_MAX, CELL_SEQUENCE_MAX);
    assert_int_equal(cell_list_seek(list, &key), at);
    sst_iter_init(&iter, reader, &f->context, false, false);
    assert_int_equal(iter.iter.ops->seek(&iter.iter, &key, NULL), PETAL_OK);
    expect_at(&iter.iter, list, at);
    iter.iter.ops->close(&iter.iter);
    free(buffer);
    return f->trace.blocks_fetched[PETAL_BLOCK_DATA] - before;
}

/* `padding` bytes after all rows: long keys make an index of several levels.  Each cell fills a
 * block. */
static void
fill_blocks(struct cell_list *list, size_t padding)
{
    uint8_t *row = test_allocate(padding + 16);
    uint8_t value[900];
    char qualifier[16];

    memset(row, 'p', padding + 16);
    memset(value, 'v', sizeof value);
    for (unsigned i = 0; i < 600; i++) {
        size_t size = (size_t)snprintf((char *)row, 16, "row%03u", i / 3);

        row[size] = 'p';
        snprintf(qualifier, sizeof qualifier, "q%u", i % 3);
        cell_list_add(list, slice_make(row, size + padding), slice_from_text(qualifier), 10, i + 1,
                      PETAL_PUT, slice_make(value, sizeof value));
    }
    free(row);
}

TEST(place_at_the_head_of_a_block_costs_one_read)
{
    for (unsigned deep = 0; deep < 2; deep++) {
        struct sst_options options = sst_test_options();
        struct sst_fixture *f = sst_fixture_new(0);
        struct sst_reader *reader;

        fill_blocks(&f->list, deep ? 2000 : 0);
        options.block_bytes = 1024;
        options.compression = PETAL_COMPRESSION_NONE;
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        assert_int_equal(reader->facts.data_blocks, f->list.count);
        assert_true(deep ? reader->index.root.level >= 2 : reader->index.root.level == 0);
        assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
        for (size_t i = 0; i < f->list.count; i++) {
            const struct cell *cell = &f->list.cells[i];

            assert_int_equal(
                reads_of_seek(f, reader, &f->list, i, cell->row, cell->qualifier, false), 1);
            if (i % 3 == 0)
                assert_int_equal(
                    reads_of_seek(f, reader, &f->list, i, cell->row, slice_make("", 0), true), 1);
            else /* "q0x" is not there, but could be in the block before */
                assert_int_equal(reads_of_seek(f, reader, &f->list, i, cell->row,
                                               slice_from_text(i % 3 == 1 ? "q0x" : "q1x"), false),
                                 2);
        }
        sst_fixture_end(f, reader);
    }
}

/* Rows and qualifiers that go on with a 00 byte: their keys begin with the shorter one's prefix. */
TEST(longer_rows_are_not_taken_for_the_row_itself)
{
    static const petal_slice names[] = {
        {"r", 1}, {"r\0", 2}, {"r\0\0", 3}, {"r\0\xff", 3}, {"s", 1}};
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(0);
    struct sst_reader *reader;
    uint64_t sequence = 1;
    uint8_t value[400];

    memset(value, 'v', sizeof value);
    for (size_t row = 0; row < 5; row++)
        for (size_t qualifier = 0; qualifier < 5; qualifier++)
            for (int64_t version = 3; version > 0; version--)
                cell_list_add(&f->list, names[row], names[qualifier], version, sequence++,
                              PETAL_PUT, slice_make(value, sizeof value));
    options.block_bytes = 1024; /* two cells */
    options.compression = PETAL_COMPRESSION_NONE;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
    assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
    for (size_t i = 0; i < f->list.count; i += 3)
        assert_int_equal(reads_of_seek(f, reader, &f->list, i, f->list.cells[i].row,
                                       f->list.cells[i].qualifier, false),
                         1);
    for (size_t i = 0; i < f->list.count; i++) {
        struct sst_iter iter;
        struct cell_key key;
        uint8_t buffer[64];

        sst_iter_init(&iter, reader, &f->context, false, i % 2 == 0);
        for (uint64_t beside = 0; beside < 3; beside++) {
            cell_key_make(&key, buffer, f->list.cells[i].row, f->list.cells[i].qualifier, false,
                          f->list.cells[i].timestamp, f->list.cells[i].sequence + 1 - beside);
            assert_int_equal(iter.iter.ops->seek(&iter.iter, &key, NULL), PETAL_OK);
            expect_at(&iter.iter, &f->list, cell_list_seek(&f->list, &key));
        }
        iter.iter.ops->close(&iter.iter);
    }
    sst_fixture_end(f, reader);
}
