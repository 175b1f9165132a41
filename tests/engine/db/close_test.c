/* close_test.c -- closing a database that something of is still in use, and what may be
 * freed afterwards. */

#include "tests/crash/ledger.h"
#include "tests/support/test.h"

#include <string.h>

struct close_fixture {
    struct fixture base;
    struct ledger ledger;
};

static void
begin(struct close_fixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    ledger_start(&fixture->ledger, &fixture->base, 1);
    for (uint64_t n = 1; n <= 20; n++)
        MUST(ledger_write(&fixture->ledger, n, PETAL_SYNC_WAL, WHY));
}

static void
expect_busy(struct close_fixture *fixture, const char *what)
{
    struct ledger_state state;
    petal_error error;

    assert_int_equal(petal_close(fixture->base.db, &error), PETAL_BUSY);
    if (strstr(error.text, what) == NULL)
        fail_msg("%s", error.text);
    /* It can be used as before. */
    MUST(ledger_write(&fixture->ledger, 21, PETAL_SYNC_WAL, WHY));
    MUST(petal_flush(fixture->base.db, NULL, WHY));
    MUST(ledger_read(&fixture->ledger, &state, WHY));
    assert_int_equal(ledger_last(&state), 21);
}

TEST(test_open_cursors_keep_it_open)
{
    petal_cursor *first, *second;
    const petal_cell *cell;
    struct close_fixture fixture;

    begin(&fixture);
    MUST(petal_cursor_open(fixture.ledger.tables[0], NULL, &first, WHY));
    MUST(petal_cursor_next(first, &cell, WHY));
    expect_busy(&fixture, "1 cursor ");
    MUST(petal_cursor_next(first, &cell, WHY));
    assert_non_null(cell);
    MUST(petal_cursor_open(fixture.ledger.tables[0], NULL, &second, WHY));
    expect_busy(&fixture, "2 cursors ");
    petal_cursor_close(first);
    petal_cursor_close(second);
    fixture_must_close(&fixture.base);
    fixture_fini(&fixture.base);
}

TEST(test_each_kind_is_named)
{
    petal_snapshot *snapshot;
    petal_receipt *receipts[2];
    petal_cursor *cursor;
    struct close_fixture fixture;

    begin(&fixture);
    MUST(petal_snapshot_new(fixture.base.db, &snapshot, WHY));
    expect_busy(&fixture, "1 snapshot ");
    for (size_t i = 0; i < 2; i++)
        MUST(petal_receipt_new(fixture.base.db, &receipts[i], WHY));
    MUST(petal_cursor_open(fixture.ledger.tables[0], NULL, &cursor, WHY));
    expect_busy(&fixture, "1 cursor, 1 snapshot and 2 receipts ");
    petal_snapshot_free(snapshot);
    expect_busy(&fixture, "1 cursor and 2 receipts ");
    petal_cursor_close(cursor);
    petal_receipt_free(receipts[0]);
    expect_busy(&fixture, "1 receipt ");
    petal_receipt_free(receipts[1]);
    fixture_must_close(&fixture.base);
    fixture_fini(&fixture.base);
}

/* Cursors that did not open, and those that gets use inside, count for nothing. */
TEST(test_what_failed_to_open_is_not_open)
{
    petal_scan_options scan = {.read.versions = -1};
    petal_read_options read = {.size = 0};
    petal_cursor *cursor;
    petal_result *result;
    struct close_fixture fixture;
    petal_error error;
    petal_slice row = {"r", 1};

    begin(&fixture);
    MUST(petal_result_new(fixture.base.db, &result, WHY));
    MUST(petal_filter_parse(fixture.base.db, (petal_slice){"PageFilter(1)", 13},
                            (petal_filter **)&read.filter, WHY));
    MUST(petal_get(fixture.ledger.tables[0], row, &read, result, WHY));
    scan.read.filter = read.filter;
    for (uint64_t n = 1; n < 20; n++) {
        test_allocator_fail_at(&fixture.base.allocator, n, false);
        if (petal_cursor_open(fixture.ledger.tables[0], &scan, &cursor, &error) == PETAL_OK)
            petal_cursor_close(cursor);
    }
    test_allocator_fail_at(&fixture.base.allocator, 0, false);
    petal_filter_free((petal_filter *)read.filter);
    petal_result_free(result);
    fixture_must_close(&fixture.base);
    fixture_fini(&fixture.base);
}

TEST(test_what_may_be_freed_afterwards)
{
    petal_result *result;
    petal_batch *batch;
    petal_filter *filter;
    struct close_fixture fixture;

    begin(&fixture);
    MUST(petal_result_new(fixture.base.db, &result, WHY));
    MUST(petal_batch_new(fixture.base.db, &batch, WHY));
    MUST(petal_filter_parse(fixture.base.db, (petal_slice){"KeyOnlyFilter()", 15}, &filter, WHY));
    MUST(petal_get(fixture.ledger.tables[0], (petal_slice){"r", 1}, NULL, result, WHY));
    MUST(petal_batch_put(batch, fixture.ledger.families[0], (petal_slice){"r", 1},
                         (petal_slice){"q", 1}, 1, (petal_slice){"v", 1}, WHY));
    fixture_must_close(&fixture.base);
    petal_result_free(result);
    petal_batch_clear(batch);
    petal_batch_free(batch);
    petal_filter_free(filter);
    fixture_fini(&fixture.base);
}
