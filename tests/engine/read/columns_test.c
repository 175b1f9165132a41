/*
 * columns_test.c -- what a scan for named columns asks of a store file on its way back. What it
 * shows: tests/model/random_test.c.
 */
#include "base/cell_iter.h"
#include "base/slice.h"
#include "engine/read/columns.h"
#include "tests/sstable/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>

/* A row without the named column costs two questions or seeks at most: its place is found, the
 * filter is asked. */
TEST(the_way_back_asks_the_filter)
{
    struct sst_fixture *f = sst_fixture_new(1 << 20);
    petal_slice named = slice_from_text("named");
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    struct sst_iter source;
    struct column_iter columns;
    uint8_t buffer[100];
    struct cell_key key;
    char row[16];

    for (unsigned i = 0; i < 100; i++) {
        snprintf(row, sizeof row, "row%04u", i);
        cell_list_put(&f->list, row, i % 50 == 20 ? "named" : "other", 5, i + 1, "v");
    }
    options.bloom = PETAL_BLOOM_ROWCOL;
    options.bloom_error_rate = 0.0001;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    sst_iter_init(&source, reader, &f->context, false, true);
    column_iter_init(&columns, &f->allocator.table, &source.iter, &named, 1, NULL);
    columns.reversed = true;
    columns.no_family_markers = true;
    column_iter_use_filter(&columns, reader, f->epoch, &f->context, READ_SAVES_BLOCK);
    for (size_t i = 100; i-- > 0;) {
        assert_int_equal(columns.iter.ops->seek_before(&columns.iter, i == 99 ? NULL : &key, NULL),
                         PETAL_OK);
        assert_true(slice_equal(columns.iter.cell.row, f->list.cells[i].row));
        cell_key_make(&key, buffer, f->list.cells[i].row, slice_make(NULL, 0), true, INT64_MAX,
                      CELL_SEQUENCE_MAX);
        assert_int_equal(columns.iter.ops->seek(&columns.iter, &key, NULL), PETAL_OK);
        assert_int_equal(columns.iter.valid, i % 50 == 20);
    }
    assert_in_range(columns.seeks_saved, 96, 98); /* the filter may err */
    assert_in_range(f->trace.seeks, 102, 104);
    columns.iter.ops->close(&columns.iter);
    source.iter.ops->close(&source.iter);
    sst_fixture_end(f, reader);
}
