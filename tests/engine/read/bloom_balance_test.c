/*
 * bloom_balance_test.c -- a filter makes no workload read more bytes than there would be without:
 * lookups of what is there, with and without a cache, after others too; many columns of one row;
 * scans. "Without" is the same reads of the same file, its filter unused.
 */

#include "base/slice.h"
#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <stdio.h>

#define ROWS    8000
#define COLUMNS 4
/* What an open file may spend, in blocks of a table here (sstable/filter/bloom_account.h), and what
 * caches differ by. */
#define BLOCK_BYTES 1024
#define ALLOWED     (24 * BLOCK_BYTES)

struct store {
    struct fixture fixture;
    petal_table *table;
    petal_family *family;
    petal_result *result;
    petal_receipt *receipt;
};

static petal_slice
row_name(char bytes[16], unsigned number)
{
    return slice_make(bytes, (size_t)snprintf(bytes, 16, "row%06u", number));
}

static petal_slice
column_name(char bytes[16], unsigned row, unsigned column)
{
    return slice_make(bytes, (size_t)snprintf(bytes, 16, "%u-%u", column, row));
}

/* One file of ROWS rows with COLUMNS columns of their own each: row numbers are even. */
static void
begin(struct store *store, enum petal_bloom_type bloom, size_t cache_bytes)
{
    petal_family_options family = {.name = slice_from_text("f"),
                                   .bloom = bloom,
                                   .bloom_rate_per_file = true,
                                   .block_bytes = BLOCK_BYTES};
    petal_table_options options = {
        .name = slice_from_text("t"), .families = &family, .family_count = 1};
    char row[16], column[16];

    fixture_init(&store->fixture, 12);
    store->fixture.options.cache_bytes = cache_bytes;
    fixture_must_open(&store->fixture);
    MUST(petal_table_create(store->fixture.db, &options, &store->table, WHY));
    store->family = petal_table_family_at(store->table, 0);
    MUST(petal_result_new(store->fixture.db, &store->result, WHY));
    MUST(petal_receipt_new(store->fixture.db, &store->receipt, WHY));
    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned c = 0; c < COLUMNS; c++)
            MUST(petal_put(store->family, row_name(row, 2 * i), column_name(column, i, c), 100,
                           slice_from_text("value"), NULL, WHY));
    }
    MUST(petal_flush(store->fixture.db, NULL, WHY));
}

static void
end(struct store *store)
{
    petal_result_free(store->result);
    petal_receipt_free(store->receipt);
    fixture_fini(&store->fixture);
}

/* Get a row with `count` columns of it that are there, 0: all of it; returns what it read of the
 * file. */
static const petal_receipt_source *
get(struct store *store, unsigned number, unsigned count, uint32_t without)
{
    petal_column columns[COLUMNS];
    char row[16], names[COLUMNS][16];
    petal_read_options read = {.receipt = store->receipt,
                               .columns = count > 0 ? columns : NULL,
                               .column_count = count,
                               .without = without};

    for (unsigned i = 0; i < count; i++)
        columns[i] = (petal_column){.family = store->family,
                                    .qualifier = column_name(names[i], number / 2, i)};
    MUST(petal_get(store->table, row_name(row, number), &read, store->result, WHY));
    assert_int_equal(petal_result_count(store->result), number % 2 > 0 ? 0
                                                        : count > 0    ? count
                                                                       : COLUMNS);
    return petal_receipt_at(store->receipt, 0);
}

static uint32_t random_state;

static unsigned
next_row(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % (ROWS - 1) * 2;
}

/* The bytes of many gets; `odd` 1: of rows that are absent. The same rows each time. */
static uint64_t
read_many(struct store *store, unsigned gets, unsigned count, unsigned odd, uint32_t without)
{
    uint64_t bytes = 0;

    random_state = 1;
    for (unsigned i = 0; i < gets; i++)
        bytes += get(store, next_row() + odd, count, without)->bytes_fetched;
    return bytes;
}

static void
expect_no_more(uint64_t with, uint64_t without)
{
    if (with > without + without / 500 + ALLOWED)
        fail_msg("%llu bytes were read with the filter, %llu without", (unsigned long long)with,
                 (unsigned long long)without);
}

/* ---- tests ---- */

/* Receipt and statistics tell a question that was not asked from one that was answered "may
 * contain". */
TEST(test_what_does_not_pay_is_not_asked)
{
    struct store store;
    petal_stats before, after;
    const petal_receipt_source *source;
    unsigned gets = 0;

    begin(&store, PETAL_BLOOM_ROW, PETAL_NO_CACHE);
    petal_stats_get(store.fixture.db, &before);
    expect_no_more(read_many(&store, 2000, 0, 0, 0),
                   read_many(&store, 2000, 0, 0, PETAL_WITHOUT(PETAL_SKIP_BLOOM)));
    petal_stats_get(store.fixture.db, &after);
    assert_int_equal(after.filter_unasked - before.filter_unasked + after.filter_probes -
                         before.filter_probes,
                     2000);
    assert_in_range(after.filter_probes - before.filter_probes, 5, 40);
    do {
        source = get(&store, 40, 0, 0);
        assert_int_equal(source->filter_probes + source->filter_unasked, 1);
        assert_int_equal(source->filter_probes, source->blocks_fetched[PETAL_BLOCK_FILTER]);
        assert_int_equal(source->skip, PETAL_SKIP_NONE);
        assert_true(++gets < 100);
    } while (source->filter_unasked == 0);
    end(&store);
}

TEST(test_absent_rows_are_asked_for_again)
{
    struct store store;

    begin(&store, PETAL_BLOOM_ROW, (size_t)256 << 10);
    read_many(&store, 5000, 0, 0, 0);
    read_many(&store, 20000, 0, 1, 0);
    /* All chunks are cached by now; only what they err costs. */
    assert_true(read_many(&store, 5000, 0, 1, 0) < 5000 * BLOCK_BYTES / 20);
    end(&store);
}

/* Chunks that were loaded for absent rows leave the room to data. */
TEST(test_a_small_cache_is_not_held_by_filters_that_do_not_pay)
{
    struct store store;
    uint64_t with, without;

    begin(&store, PETAL_BLOOM_ROW_ROWCOL, (size_t)128 << 10);
    read_many(&store, 5000, 1, 0, PETAL_WITHOUT(PETAL_SKIP_BLOOM));
    without = read_many(&store, 5000, 1, 0, PETAL_WITHOUT(PETAL_SKIP_BLOOM));
    read_many(&store, 5000, 1, 1, 0);
    read_many(&store, 5000, 1, 0, 0);
    with = read_many(&store, 5000, 1, 0, 0);
    assert_true(without > (uint64_t)5000 * BLOCK_BYTES / 8);
    if (with > without + without / 50)
        fail_msg("%llu bytes were read with the filter, %llu without", (unsigned long long)with,
                 (unsigned long long)without);
    end(&store);
}

/* Columns of a row that lie in one block: each is a question with a chunk of its own, and no or one
 * block is saved. */
TEST(test_many_columns_of_a_row)
{
    struct store store;

    begin(&store, PETAL_BLOOM_ROWCOL, PETAL_NO_CACHE);
    for (unsigned odd = 0; odd < 2; odd++)
        expect_no_more(read_many(&store, 2000, COLUMNS, odd, 0),
                       read_many(&store, 2000, COLUMNS, odd, PETAL_WITHOUT(PETAL_SKIP_BLOOM)));
    end(&store);
}

static uint64_t
scan(struct store *store, uint32_t without)
{
    petal_column column = {.family = store->family, .qualifier = slice_from_text("nowhere")};
    petal_scan_options options = {.size = sizeof options,
                                  .read = {.columns = &column,
                                           .column_count = 1,
                                           .without = without | PETAL_WITHOUT(PETAL_SKIP_COLUMNS)}};
    petal_stats before, after;
    petal_cursor *cursor;
    const petal_cell *cell;

    petal_stats_get(store->fixture.db, &before);
    MUST(petal_cursor_open(store->table, &options, &cursor, WHY));
    MUST(petal_cursor_next(cursor, &cell, WHY));
    assert_null(cell);
    petal_cursor_close(cursor);
    petal_stats_get(store->fixture.db, &after);
    return after.bytes_fetched - before.bytes_fetched;
}

/* A row of a scan is much smaller than a block: not seeking its column saves nothing. */
TEST(test_scans_of_small_rows)
{
    struct store store;

    begin(&store, PETAL_BLOOM_ROWCOL, PETAL_NO_CACHE);
    expect_no_more(scan(&store, 0), scan(&store, PETAL_WITHOUT(PETAL_SKIP_BLOOM)));
    end(&store);
}
