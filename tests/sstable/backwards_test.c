/*
 * backwards_test.c -- a store file's iterator going backwards: it finds the cell before each place,
 * whatever it did before, and reads no block twice on the way from the last row to the first.
 */
#include "tests/support/iter_walk.h"

#include "sstable/sst_reader_parts.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

static void
walk_file(struct sst_fixture *f, const struct sst_reader *reader, const struct cell_list *list,
          bool lazy, unsigned moves, struct test_random *random)
{
    struct sst_iter iter;

    sst_iter_init(&iter, reader, &f->context, false, lazy);
    walk_at_random(&iter.iter, list, moves, random);
    walk_rows_backwards(&iter.iter, list);
    iter.iter.ops->close(&iter.iter);
}

/* Files of random cells in blocks of several sizes, with markers or without, read with a cache or
 * without. */
static struct sst_fixture *
random_file(unsigned round, struct test_random *random)
{
    const struct cell_shape most = {.cells = 2000,
                                    .rows = 300,
                                    .qualifiers = 40,
                                    .row_bytes = 40,
                                    .value_bytes = 200,
                                    .marker_percent = round % 3 == 0 ? 0 : 20};
    struct sst_fixture *f = sst_fixture_new(round % 4 < 2 ? 0 : 1 << 20);
    struct sst_options options = sst_test_options();

    options.block_bytes = 1024u << round % 3;
    cell_list_random_within(&f->list, &most, random);
    sst_fixture_write(f, &options, &f->list);
    return f;
}

TEST(places_before_are_found)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_long() ? 400u : 24u); round++) {
        struct sst_fixture *f = random_file(round, &random);
        struct sst_reader *reader = sst_fixture_open(f);

        walk_file(f, reader, &f->list, round % 2 == 1, 600, &random);
        sst_fixture_end(f, reader);
    }
}

/* To an iterator of the rows from one on there are no others, whichever way it comes. */
TEST(a_part_of_the_rows_is_all)
{
    struct test_random random;

    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < (test_long() ? 400u : 24u); round++) {
        struct sst_fixture *f = random_file(round, &random);
        struct sst_reader *reader = sst_fixture_open(f);
        size_t at = test_random_below(&random, f->list.count);
        struct cell_list part;
        struct cell_key first;
        struct sst_iter iter;
        uint8_t *memory;

        while (at > 0 && slice_equal(f->list.cells[at - 1].row, f->list.cells[at].row))
            at--;
        part = (struct cell_list){.cells = f->list.cells + at, .count = f->list.count - at};
        memory = malloc(cell_key_bound(part.cells[0].row.size, 0));
        cell_key_make(&first, memory, part.cells[0].row, slice_make(NULL, 0), true, INT64_MAX,
                      CELL_SEQUENCE_MAX);
        sst_iter_init(&iter, reader, &f->context, false, round % 2 == 1);
        iter.first = &first;
        walk_at_random(&iter.iter, &part, 400, &random);
        walk_rows_backwards(&iter.iter, &part);
        iter.iter.ops->close(&iter.iter);
        free(memory);
        sst_fixture_end(f, reader);
    }
}

/* In one stay in the epoch, with nothing pinned. */
TEST(a_borrowing_iterator_goes_back)
{
    struct cell_shape shape = {
        .cells = 1000, .rows = 100, .qualifiers = 9, .row_bytes = 9, .value_bytes = 90};
    struct sst_fixture *f = sst_fixture_new(0);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    struct test_random random;
    struct sst_iter iter;
    unsigned slot;

    test_random_init(&random, test_seed());
    cell_list_random(&f->list, &shape, &random);
    options.block_bytes = 1024;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    slot = epoch_enter(f->epoch);
    sst_iter_init(&iter, reader, &f->context, true, false);
    walk_at_random(&iter.iter, &f->list, 300, &random);
    iter.iter.ops->close(&iter.iter);
    epoch_leave(f->epoch, slot);
    sst_fixture_end(f, reader);
}

/* Long keys fill index nodes fast: three levels from a few thousand cells. */
TEST(indexes_of_many_levels_lead_back)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(64 << 20);
    struct sst_reader *reader;
    struct test_random random;
    struct sst_iter iter;
    uint8_t row[2000];

    test_random_init(&random, test_seed());
    memset(row, 'r', sizeof row);
    for (uint32_t i = 0; i < 3000; i++) {
        row[900] = (uint8_t)('a' + i / 676);
        row[1000] = (uint8_t)('a' + i / 26 % 26);
        row[1999] = (uint8_t)('a' + i % 26);
        cell_list_add(&f->list, slice_make(row, sizeof row), slice_from_text("q"), 5, i + 1,
                      PETAL_PUT, slice_make(row, 30));
    }
    options.block_bytes = 1024;
    options.compression = PETAL_COMPRESSION_NONE;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_true(reader->index.root.level >= 2);
    walk_file(f, reader, &f->list, false, 1000, &random);
    walk_file(f, reader, &f->list, true, 1000, &random);
    f->trace = (struct read_trace){0};
    sst_iter_init(&iter, reader, &f->context, false, true);
    walk_rows_backwards(&iter.iter, &f->list);
    iter.iter.ops->close(&iter.iter);
    /* Nodes hold few such keys: about one in two of the ways down is saved, where the leaf at hand
     * will do. */
    assert_in_range(f->trace.blocks_cached[PETAL_BLOCK_INDEX], 1, 4000);
    sst_fixture_end(f, reader);
}

/* ---- what it costs ---- */

/* `rows` rows of so many columns, each of about `cell_bytes` bytes in a block. */
static void
fill_rows(struct cell_list *list, unsigned rows, unsigned columns, unsigned cell_bytes)
{
    char row[16], qualifier[16];
    uint8_t value[5000];

    memset(value, 'v', sizeof value);
    for (unsigned i = 0; i < rows * columns; i++) {
        snprintf(row, sizeof row, "row%06u", i / columns);
        snprintf(qualifier, sizeof qualifier, "c%03u", i % columns);
        cell_list_add(list, slice_from_text(row), slice_from_text(qualifier), 100, i + 1, PETAL_PUT,
                      slice_make(value, cell_bytes));
    }
}

/* Data blocks fetched beyond one for each of the file, when its rows are read backwards without a
 * cache, twice by one iterator. */
static uint32_t
blocks_read_again(unsigned rows, unsigned columns, unsigned cell_bytes, bool lazy)
{
    struct sst_options options = sst_test_options();
    struct sst_fixture *f = sst_fixture_new(0);
    struct sst_reader *reader;
    struct sst_iter iter;
    uint32_t fetched, blocks;

    fill_rows(&f->list, rows, columns, cell_bytes);
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    blocks = (uint32_t)reader->facts.data_blocks;
    assert_true(blocks >= 20);
    sst_iter_init(&iter, reader, &f->context, false, lazy);
    walk_rows_backwards(&iter.iter, &f->list);
    walk_rows_backwards(&iter.iter, &f->list);
    iter.iter.ops->close(&iter.iter);
    fetched = f->trace.blocks_fetched[PETAL_BLOCK_DATA];
    assert_int_equal(f->trace.blocks_cached[PETAL_BLOCK_DATA], 0);
    sst_fixture_end(f, reader);
    assert_true(fetched >= 2 * blocks);
    return fetched - 2 * blocks;
}

TEST(going_back_reads_each_block_once)
{
    for (unsigned lazy = 0; lazy < 2; lazy++) {
        assert_int_equal(blocks_read_again(3000, 1, 40, lazy), 0);
        assert_int_equal(blocks_read_again(1000, 3, 40, lazy), 0);  /* rows across a border */
        assert_int_equal(blocks_read_again(100, 7, 117, lazy), 0);  /* several a block */
        assert_int_equal(blocks_read_again(100, 1, 3000, lazy), 0); /* one a block */
        assert_int_equal(blocks_read_again(60, 3, 1500, lazy), 0);  /* one and a half blocks each */
    }
}

/* Rows of five blocks and some: two blocks at the ends of a row are read again, no others. */
TEST(wide_rows_cost_two_blocks_more_each)
{
    assert_in_range(blocks_read_again(20, 11, 2000, true), 0, 2 * 2 * 20);
}

/* Places between two blocks, as the rows of other files are: neither is read again for each. */
TEST(neighbours_asked_for_in_turn_are_kept)
{
    struct sst_options options = sst_test_options();

    for (unsigned lazy = 0; lazy < 2; lazy++) {
        struct sst_fixture *f = sst_fixture_new(0);
        struct sst_reader *reader;
        struct sst_iter iter;

        fill_rows(&f->list, 100, 1, 3000);
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        sst_iter_init(&iter, reader, &f->context, false, lazy);
        for (unsigned between = 99; between > 40; between--) {
            /* After the last cell; between cells; before the first. */
            const char *row = between > 80   ? "row000099, and more"
                              : between > 60 ? "row000070, and more"
                                             : "row";
            size_t before = between > 80 ? 99 : between > 60 ? 70 : f->list.count;
            struct cell_key key;
            uint8_t buffer[128];

            cell_key_make(&key, buffer, slice_from_text(row), slice_make(NULL, 0), true, INT64_MAX,
                          CELL_SEQUENCE_MAX);
            assert_int_equal(iter.iter.ops->seek_before(&iter.iter, &key, NULL), PETAL_OK);
            walk_expect(&iter.iter, &f->list, before);
            assert_int_equal(iter.iter.ops->seek(&iter.iter, &key, NULL), PETAL_OK);
            assert_int_equal(iter.iter.valid, between <= 80);
        }
        iter.iter.ops->close(&iter.iter);
        /* row99; row70 and, unless lazy, row71; row0, unless lazy. */
        assert_int_equal(f->trace.blocks_fetched[PETAL_BLOCK_DATA], lazy ? 2 : 4);
        sst_fixture_end(f, reader);
    }
}
