/*
 * wide_row_test.c -- a row of a million columns is read in pages, from any place in it and by
 * names, and costs memory and blocks for what is asked, not for what is there.
 */

#include "sstable/file/readahead.h"
#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>

#define COLUMNS 1000000u
#define PART    1000u /* columns of one batch */
#define PAGE    1000u
/* Bytes that a walk may hold: a window of each of the two files is among them. */
#define MOST_HELD ((1u << 20) + 2 * READAHEAD_MOST_BYTES)

static petal_slice
name_column(char name[16], unsigned column)
{
    return slice_make(name, (size_t)snprintf(name, 16, "c%07u", column));
}

static void
write_columns(struct read_fixture *fixture, unsigned first, unsigned last)
{
    petal_batch *batch;
    char name[16];

    MUST(petal_batch_new(fixture->base.db, &batch, WHY));
    for (unsigned column = first; column < last; column++) {
        petal_slice qualifier = name_column(name, column);

        MUST(petal_batch_put(batch, reads_family(fixture, "f"), text("wide"), qualifier, 1,
                             qualifier, WHY));
        if (petal_batch_count(batch) == PART) {
            MUST(petal_write(fixture->base.db, batch,
                             &(petal_write_options){.durability = PETAL_SKIP_WAL}, WHY));
            petal_batch_clear(batch);
        }
    }
    petal_batch_free(batch);
}

/* Half of the columns in one file, half in another, a few in memory; rows before and after. */
static int
make_wide_row(void **state)
{
    static struct read_fixture fixture;

    reads_open(&fixture, "fg", &(petal_family_options){.bloom = PETAL_BLOOM_ROWCOL});
    reads_put(&fixture, "f", text("a"), text("q"), 1, text("before"));
    reads_put(&fixture, "f", text("z"), text("q"), 1, text("behind"));
    reads_put(&fixture, "g", text("wide"), text("q"), 1, text("beside"));
    write_columns(&fixture, 0, COLUMNS / 2);
    reads_flush(&fixture);
    write_columns(&fixture, COLUMNS / 2, COLUMNS - PART);
    reads_flush(&fixture);
    write_columns(&fixture, COLUMNS - PART, COLUMNS);
    *state = &fixture;
    return 0;
}

static int
end_wide_row(void **state)
{
    fixture_fini(&((struct read_fixture *)*state)->base);
    return 0;
}

/* What was held at most since then. */
static void
check_held(struct read_fixture *fixture, uint64_t before)
{
    uint64_t peak = test_allocator_peak_bytes(&fixture->base.allocator);

    if (peak > before + MOST_HELD)
        fail_msg("%" PRIu64 " bytes beyond %" PRIu64, peak - before, before);
}

/* The cache as full as it gets, and the bytes then held. */
static uint64_t
held_at_rest(struct read_fixture *fixture)
{
    petal_cursor *cursor = reads_cursor(fixture, NULL);
    const petal_cell *cell;
    uint64_t cells = 0;

    for (;; cells++) {
        MUST(petal_cursor_next(cursor, &cell, WHY));
        if (cell == NULL)
            break;
    }
    petal_cursor_close(cursor);
    assert_int_equal(cells, COLUMNS + 3);
    test_allocator_forget_peak(&fixture->base.allocator);
    return test_allocator_live_bytes(&fixture->base.allocator);
}

static void
check_page(const petal_result *result, unsigned first, unsigned count)
{
    char name[16];

    assert_int_equal(petal_result_count(result), count);
    for (unsigned i = 0; i < count; i++) {
        const petal_cell *cell = petal_result_cell(result, i);

        assert_true(slice_equal(cell->qualifier, name_column(name, first + i)));
        assert_true(slice_equal(cell->value, cell->qualifier));
    }
}

TEST_WITH(test_pages_by_cursor, NULL, NULL)
{
    struct read_fixture *fixture = *state;
    uint64_t before = held_at_rest(fixture);

    for (int reversed = 0; reversed < 2; reversed++) {
        petal_scan_options scan = {.start_row = text("wide"),
                                   .stop_row = text("wide"),
                                   .stop_inclusive = true,
                                   .reversed = reversed,
                                   .batch = PAGE};
        petal_cursor *cursor = reads_cursor(fixture, &scan);
        petal_result *result = reads_result(fixture);

        for (unsigned page = 0; page < COLUMNS / PAGE; page++) {
            MUST(petal_cursor_next_row(cursor, result, WHY));
            check_page(result, page * PAGE, PAGE);
            check_held(fixture, before);
        }
        assert_string_equal(reads_rest_by_pieces(fixture, cursor), "wide/g:q@1=beside | ");
        petal_cursor_close(cursor);
        petal_result_free(result);
    }
}

static uint64_t
data_blocks(const petal_receipt *receipt)
{
    uint64_t blocks = 0;

    for (size_t i = 0; i < petal_receipt_count(receipt); i++) {
        const petal_receipt_source *source = petal_receipt_at(receipt, i);

        blocks +=
            source->blocks_cached[PETAL_BLOCK_DATA] + source->blocks_fetched[PETAL_BLOCK_DATA];
    }
    return blocks;
}

/* Each page by a cursor of its own, that goes to where the last one ended. */
TEST_WITH(test_pages_resumed, NULL, NULL)
{
    struct read_fixture *fixture = *state;
    uint64_t before = held_at_rest(fixture);
    petal_receipt *receipt;
    petal_result *result = reads_result(fixture);

    MUST(petal_receipt_new(fixture->base.db, &receipt, WHY));
    for (unsigned column = 0; column < COLUMNS; column += 41 * PAGE) {
        petal_scan_options scan = {.read.receipt = receipt,
                                   .batch = PAGE,
                                   .start_row = text("wide"),
                                   .reversed = column / PAGE % 2 == 1};
        petal_cursor *cursor = reads_cursor(fixture, &scan);
        char name[16];

        reads_seek(cursor, text("wide"), reads_family(fixture, "f"), name_column(name, column));
        MUST(petal_cursor_next_row(cursor, result, WHY));
        check_page(result, column, PAGE);
        check_held(fixture, before);
        petal_cursor_close(cursor);
        assert_in_range(data_blocks(receipt), 0, 6);
    }
    petal_result_free(result);
    petal_receipt_free(receipt);
}

/* Pages of a get: it holds the page, not the row. */
TEST_WITH(test_pages_of_gets, NULL, NULL)
{
    struct read_fixture *fixture = *state;
    uint64_t before = held_at_rest(fixture);
    petal_result *result = reads_result(fixture);

    for (unsigned offset = 0; offset < COLUMNS; offset += 199 * PAGE) {
        petal_column column = {.family = reads_family(fixture, "f"), .whole_family = true};
        petal_read_options options = {.columns = &column,
                                      .column_count = 1,
                                      .family_cell_limit = PAGE,
                                      .family_cell_offset = offset};

        MUST(petal_get(fixture->table, text("wide"), &options, result, WHY));
        check_page(result, offset, PAGE);
        check_held(fixture, before);
    }
    petal_result_free(result);
}

/* Three columns by name, one of them in no file: at most one block for each column and file. */
TEST_WITH(test_named_columns, NULL, NULL)
{
    struct read_fixture *fixture = *state;
    petal_family *family = reads_family(fixture, "f");
    char names[3][16];
    petal_column columns[] = {{.family = family, .qualifier = name_column(names[0], 123456)},
                              {.family = family, .qualifier = name_column(names[1], 777777)},
                              {.family = family, .qualifier = name_column(names[2], COLUMNS)}};
    petal_receipt *receipt;
    petal_scan_options scan = {.read = {.columns = columns, .column_count = 3}};
    uint64_t before = held_at_rest(fixture);

    MUST(petal_receipt_new(fixture->base.db, &receipt, WHY));
    scan.read.receipt = receipt;
    for (int without = 0; without < 2; without++) {
        static const char expected[] = "wide/f:c0123456@1=c0123456 wide/f:c0777777@1=c0777777 ";
        petal_filter *filter = reads_filter(fixture, "PrefixFilter('wi')");

        scan.read.without = without ? PETAL_WITHOUT(PETAL_SKIP_BLOOM) : 0;
        assert_string_equal(reads_get(fixture, text("wide"), &scan.read), expected);
        assert_in_range(data_blocks(receipt), 1, without ? 6 : 3);
        assert_string_equal(reads_scan(fixture, &scan), expected);
        assert_in_range(data_blocks(receipt), 1, 10);
        scan.reversed = true;
        assert_string_equal(reads_scan(fixture, &scan), expected);
        assert_in_range(data_blocks(receipt), 1, 16);
        scan.reversed = false;
        scan.read.filter = filter;
        assert_string_equal(reads_get(fixture, text("wide"), &scan.read), expected);
        assert_in_range(data_blocks(receipt), 1, 8);
        scan.read.filter = NULL;
        petal_filter_free(filter);
    }
    check_held(fixture, before);
    petal_receipt_free(receipt);
}

/* Leaving the row in its middle, a scan does not walk through the rest of it. */
TEST_WITH(test_the_rest_is_passed_over, NULL, NULL)
{
    struct read_fixture *fixture = *state;
    petal_receipt *receipt;

    MUST(petal_receipt_new(fixture->base.db, &receipt, WHY));
    for (int reversed = 0; reversed < 2; reversed++) {
        petal_scan_options scan = {.reversed = reversed,
                                   .read = {.receipt = receipt, .family_cell_limit = 1}};

        assert_string_equal(reads_scan(fixture, &scan),
                            reversed ? "z/f:q@1=behind wide/f:c0000000@1=c0000000 "
                                       "wide/g:q@1=beside a/f:q@1=before "
                                     : "a/f:q@1=before wide/f:c0000000@1=c0000000 "
                                       "wide/g:q@1=beside z/f:q@1=behind ");
        assert_in_range(data_blocks(receipt), 1, 16);
    }
    petal_receipt_free(receipt);
}

TEST_GROUP(make_wide_row, end_wide_row);
