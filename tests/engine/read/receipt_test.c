/*
 * receipt_test.c -- what receipts say of an answer, by whichever way it was found.
 */

#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>

struct receipts {
    struct read_fixture fixture;
    petal_receipt *receipt;
    petal_result *result;
    petal_filter *filter; /* lets everything pass; gets walk because of it */
};

static void
begin(struct receipts *receipts)
{
    reads_open(&receipts->fixture, "fg", NULL);
    MUST(petal_receipt_new(receipts->fixture.base.db, &receipts->receipt, WHY));
    receipts->result = reads_result(&receipts->fixture);
    receipts->filter = reads_filter(&receipts->fixture, "QualifierFilter(>, 'binary:q')");
}

static void
end(struct receipts *receipts)
{
    petal_filter_free(receipts->filter);
    petal_result_free(receipts->result);
    petal_receipt_free(receipts->receipt);
    fixture_fini(&receipts->fixture.base);
}

/* ---- bytes of the answer: rows, each once, qualifiers and values ---- */

static uint64_t
bytes_of_get(struct receipts *receipts, const char *row, bool walk)
{
    petal_read_options read = {.receipt = receipts->receipt,
                               .filter = walk ? receipts->filter : NULL};

    MUST(petal_get(receipts->fixture.table, text(row), &read, receipts->result, WHY));
    return petal_receipt_bytes_returned(receipts->receipt);
}

static uint64_t
bytes_of_scan(struct receipts *receipts, bool by_cell, bool filtered)
{
    petal_column column = {reads_family(&receipts->fixture, "f"), text(""), true};
    petal_scan_options scan = {.read = {.receipt = receipts->receipt,
                                        .columns = &column,
                                        .column_count = 1,
                                        .filter = filtered ? receipts->filter : NULL}};
    petal_cursor *cursor = reads_cursor(&receipts->fixture, &scan);
    bool more = true;

    while (more) {
        const petal_cell *cell = NULL;

        if (by_cell)
            MUST(petal_cursor_next(cursor, &cell, WHY));
        else
            MUST(petal_cursor_next_row(cursor, receipts->result, WHY));
        more = by_cell ? cell != NULL : petal_result_count(receipts->result) > 0;
    }
    petal_cursor_close(cursor);
    return petal_receipt_bytes_returned(receipts->receipt);
}

TEST(test_bytes_returned)
{
    struct receipts receipts;

    begin(&receipts);
    reads_put(&receipts.fixture, "f", text("row1"), text("q1"), 1, text("some value"));
    reads_put(&receipts.fixture, "f", text("row1"), text("q2"), 1, text("some value"));
    reads_put(&receipts.fixture, "f", text("row2"), text("q1"), 1, text("some value"));
    for (int turn = 0; turn < 2; turn++) {
        for (int walk = 0; walk < 2; walk++) {
            assert_int_equal(bytes_of_get(&receipts, "row1", walk), 4 + 2 * 12);
            assert_int_equal(bytes_of_get(&receipts, "none", walk), 0);
            assert_int_equal(bytes_of_scan(&receipts, true, walk), 2 * 4 + 3 * 12);
            assert_int_equal(bytes_of_scan(&receipts, false, walk), 2 * 4 + 3 * 12);
        }
        reads_flush(&receipts.fixture);
    }
    end(&receipts);
}

/* ---- hidden cells ---- */

/* A column that is named twice is read once. */
TEST(test_columns_named_twice)
{
    struct receipts receipts;
    petal_column columns[3];
    petal_read_options read = {.columns = columns, .column_count = 3};

    begin(&receipts);
    reads_put(&receipts.fixture, "f", text("r"), text("q1"), 1, text("1"));
    reads_put(&receipts.fixture, "f", text("r"), text("q2"), 1, text("2"));
    for (int i = 0; i < 3; i++)
        columns[i] =
            (petal_column){reads_family(&receipts.fixture, "f"), text(i == 1 ? "q1" : "q2"), false};
    read.receipt = receipts.receipt;
    assert_string_equal(reads_get(&receipts.fixture, text("r"), &read), "r/f:q1@1=1 r/f:q2@1=2 ");
    assert_int_equal(petal_receipt_cells_hidden(receipts.receipt), 0);
    end(&receipts);
}

/* The count of a reason, and its first cell as `row/qualifier@timestamp`. */
static void
expect_hidden(struct receipts *receipts, enum petal_hidden by, uint64_t count, const char *first)
{
    char shown[64] = "";
    petal_hidden_cell cell;

    assert_int_equal(petal_receipt_hidden(receipts->receipt, by), count);
    for (size_t i = 0; petal_receipt_hidden_at(receipts->receipt, i, &cell); i++) {
        if (cell.by != by || shown[0] != '\0')
            continue;
        snprintf(shown, sizeof shown, "%.*s/%.*s@%d", (int)cell.row.size,
                 (const char *)cell.row.data, (int)cell.qualifier.size,
                 (const char *)cell.qualifier.data, (int)cell.timestamp);
    }
    assert_string_equal(shown, first);
}

static void
delete_marker(struct receipts *receipts, const char *family, const char *row, const char *qualifier,
              int64_t timestamp, enum petal_cell_type type)
{
    assert_int_equal(petal_delete(reads_family(&receipts->fixture, family), text(row),
                                  text(qualifier), timestamp, type, NULL, NULL),
                     PETAL_OK);
}

/* Each thing that can hide a cell hides one, in a get and in a scan. */
TEST(test_cells_are_hidden_by)
{
    struct receipts receipts;
    petal_read_options read = {.has_time_range = true, .time_min = 10, .time_limit = 100};
    petal_filter *filter;

    begin(&receipts);
    reads_put(&receipts.fixture, "f", text("r"), text("a"), 20, text("v"));
    delete_marker(&receipts, "f", "r", "a", 20, PETAL_DELETE);
    reads_put(&receipts.fixture, "f", text("r"), text("b"), 21, text("v"));
    reads_put(&receipts.fixture, "f", text("r"), text("b"), 21, text("later"));
    reads_put(&receipts.fixture, "f", text("r"), text("c"), 22, text("v"));
    reads_put(&receipts.fixture, "f", text("r"), text("c"), 200, text("v"));
    reads_put(&receipts.fixture, "f", text("r"), text("d"), 23, text("v"));
    delete_marker(&receipts, "f", "r", "", 23, PETAL_DELETE_FAMILY_VERSION);
    read.receipt = receipts.receipt;
    assert_string_equal(reads_get(&receipts.fixture, text("r"), &read),
                        "r/f:b@21=later r/f:c@22=v ");
    expect_hidden(&receipts, PETAL_HIDDEN_DELETE, 1, "r/a@20");
    expect_hidden(&receipts, PETAL_HIDDEN_TIME_RANGE, 1, "r/c@200");
    expect_hidden(&receipts, PETAL_HIDDEN_DELETE_FAMILY_VERSION, 1, "r/d@23");
    expect_hidden(&receipts, PETAL_HIDDEN_FILTER, 0, "");
    reads_put(&receipts.fixture, "f", text("s"), text("a"), 20, text("v"));
    delete_marker(&receipts, "f", "s", "", 15, PETAL_DELETE_FAMILY);
    reads_put(&receipts.fixture, "f", text("s"), text("b"), 12, text("v"));
    reads_put(&receipts.fixture, "f", text("s"), text("c"), 18, text("v"));
    delete_marker(&receipts, "f", "s", "c", 18, PETAL_DELETE_COLUMN);
    assert_int_equal(petal_filter_parse(receipts.fixture.base.db,
                                        text("ValueFilter(=, 'binary:z')"), &filter, NULL),
                     PETAL_OK);
    read.filter = filter; /* so it walks, and looks at all cells */
    assert_string_equal(reads_get(&receipts.fixture, text("s"), &read), "");
    expect_hidden(&receipts, PETAL_HIDDEN_DELETE_FAMILY, 1, "s/b@12");
    expect_hidden(&receipts, PETAL_HIDDEN_DELETE_COLUMN, 1, "s/c@18");
    expect_hidden(&receipts, PETAL_HIDDEN_FILTER, 1, "s/a@20");
    assert_int_equal(petal_receipt_cells_hidden(receipts.receipt), 3);
    petal_filter_free(filter);
    end(&receipts);
}

/* A receipt names the first ones and counts all. */
TEST(test_many_cells_are_hidden)
{
    struct receipts receipts;
    petal_read_options read = {.has_time_range = true, .time_min = 0, .time_limit = 1};

    begin(&receipts);
    for (int i = 0; i < 2 * PETAL_HIDDEN_CELLS; i++) { /* of one column it would look at a few */
        char name[16];

        reads_put(&receipts.fixture, "f", text("r"),
                  slice_make(name, (size_t)snprintf(name, sizeof name, "q%d", i)), 1, text("v"));
    }
    read.receipt = receipts.receipt;
    assert_string_equal(reads_get(&receipts.fixture, text("r"), &read), "");
    assert_int_equal(petal_receipt_cells_hidden(receipts.receipt), 2 * PETAL_HIDDEN_CELLS);
    assert_int_equal(petal_receipt_hidden_count(receipts.receipt), PETAL_HIDDEN_CELLS);
    /* The next read begins anew. */
    assert_string_equal(reads_get(&receipts.fixture, text("none"), &read), "");
    assert_int_equal(petal_receipt_cells_hidden(receipts.receipt), 0);
    assert_int_equal(petal_receipt_hidden_count(receipts.receipt), 0);
    end(&receipts);
}

/* ---- a verification that is watched ---- */

struct watch {
    uint64_t done, total;
    unsigned calls, most;
};

static bool
watch_verification(void *argument, uint64_t done, uint64_t total)
{
    struct watch *watch = argument;

    assert_true(done >= watch->done && done <= total);
    assert_true(watch->calls == 0 || total == watch->total);
    watch->done = done;
    watch->total = total;
    return ++watch->calls < watch->most;
}

TEST(test_verification_is_watched)
{
    struct receipts receipts;
    struct watch all = {.most = UINT32_MAX}, cut = {.most = 2};
    petal_check_options options = {
        .size = sizeof options, .argument = &all, .watch = watch_verification};
    petal_error error;

    begin(&receipts);
    reads_put(&receipts.fixture, "f", text("r"), text("q"), 1, text("v"));
    reads_flush(&receipts.fixture);
    reads_put(&receipts.fixture, "f", text("r"), text("q"), 2, text("v"));
    reads_flush(&receipts.fixture);
    assert_int_equal(petal_table_verify_watched(receipts.fixture.table, &options, &error),
                     PETAL_OK);
    assert_true(all.calls > 2 && all.done > 0);
    options.argument = &cut;
    assert_int_equal(petal_table_verify_watched(receipts.fixture.table, &options, &error),
                     PETAL_BUSY);
    assert_int_equal(cut.calls, 2);
    end(&receipts);
}
