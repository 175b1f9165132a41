/*
 * engine_receipt_test.c -- what receipts say of an answer, by whichever way it was found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/read_bed.h"

struct receipts {
    struct read_bed bed;
    petal_receipt *receipt;
    petal_result *result;
    petal_filter *filter; /* lets everything pass; gets walk because of it */
};

static void
begin(struct receipts *receipts)
{
    petal_error error;

    reads_open(&receipts->bed, "fg", NULL);
    must(petal_receipt_new(receipts->bed.fixture.db, &receipts->receipt, &error), &error);
    receipts->result = reads_result(&receipts->bed);
    receipts->filter = reads_filter(&receipts->bed, "QualifierFilter(>, 'binary:q')");
}

static void
end(struct receipts *receipts)
{
    petal_filter_free(receipts->filter);
    petal_result_free(receipts->result);
    petal_receipt_free(receipts->receipt);
    fixture_fini(&receipts->bed.fixture);
}

/* ---- bytes of the answer: rows, each once, qualifiers and values ---- */

static uint64_t
bytes_of_get(struct receipts *receipts, const char *row, bool walk)
{
    petal_read_options read = {.receipt = receipts->receipt,
                               .filter = walk ? receipts->filter : NULL};
    petal_error error;

    must(petal_get(receipts->bed.table, text(row), &read, receipts->result, &error), &error);
    return petal_receipt_bytes_returned(receipts->receipt);
}

static uint64_t
bytes_of_scan(struct receipts *receipts, bool by_cell, bool filtered)
{
    petal_column column = {reads_family(&receipts->bed, "f"), text(""), true};
    petal_scan_options scan = {.read = {.receipt = receipts->receipt,
                                        .columns = &column,
                                        .column_count = 1,
                                        .filter = filtered ? receipts->filter : NULL}};
    petal_cursor *cursor = reads_cursor(&receipts->bed, &scan);
    bool more = true;
    petal_error error;

    while (more) {
        const petal_cell *cell = NULL;

        if (by_cell)
            must(petal_cursor_next(cursor, &cell, &error), &error);
        else
            must(petal_cursor_next_row(cursor, receipts->result, &error), &error);
        more = by_cell ? cell != NULL : petal_result_count(receipts->result) > 0;
    }
    petal_cursor_close(cursor);
    return petal_receipt_bytes_returned(receipts->receipt);
}

static void
test_bytes_returned(void **state)
{
    struct receipts receipts;

    (void)state;
    begin(&receipts);
    reads_put(&receipts.bed, "f", text("row1"), text("q1"), 1, text("some value"));
    reads_put(&receipts.bed, "f", text("row1"), text("q2"), 1, text("some value"));
    reads_put(&receipts.bed, "f", text("row2"), text("q1"), 1, text("some value"));
    for (int turn = 0; turn < 2; turn++) {
        for (int walk = 0; walk < 2; walk++) {
            assert_int_equal(bytes_of_get(&receipts, "row1", walk), 4 + 2 * 12);
            assert_int_equal(bytes_of_get(&receipts, "none", walk), 0);
            assert_int_equal(bytes_of_scan(&receipts, true, walk), 2 * 4 + 3 * 12);
            assert_int_equal(bytes_of_scan(&receipts, false, walk), 2 * 4 + 3 * 12);
        }
        reads_flush(&receipts.bed);
    }
    end(&receipts);
}

/* ---- hidden cells ---- */

/* A column that is named twice is read once. */
static void
test_columns_named_twice(void **state)
{
    struct receipts receipts;
    petal_column columns[3];
    petal_read_options read = {.columns = columns, .column_count = 3};

    (void)state;
    begin(&receipts);
    reads_put(&receipts.bed, "f", text("r"), text("q1"), 1, text("1"));
    reads_put(&receipts.bed, "f", text("r"), text("q2"), 1, text("2"));
    for (int i = 0; i < 3; i++)
        columns[i] =
            (petal_column){reads_family(&receipts.bed, "f"), text(i == 1 ? "q1" : "q2"), false};
    read.receipt = receipts.receipt;
    assert_string_equal(reads_get(&receipts.bed, text("r"), &read), "r/f:q1@1=1 r/f:q2@1=2 ");
    assert_int_equal(petal_receipt_cells_hidden(receipts.receipt), 0);
    end(&receipts);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_returned),
        cmocka_unit_test(test_columns_named_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
