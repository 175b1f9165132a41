/*
 * log_bytes_test.c -- what a write takes in the log: rows, qualifiers and values, and few bytes
 * beside them.
 */

#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>

#define ROWS 1000

static uint64_t
log_bytes(const struct read_fixture *fixture)
{
    petal_stats stats;

    petal_stats_get(fixture->base.db, &stats);
    return stats.log_bytes;
}

static petal_slice
row_at(char bytes[17], unsigned number)
{
    snprintf(bytes, 17, "%016u", number);
    return slice_make(bytes, 16);
}

/* A header of 6 bytes; cells, flags, three lengths. */
TEST(a_put_takes_eleven_bytes_more)
{
    struct read_fixture fixture;
    char row[17], value[100] = {0};
    uint64_t before;

    reads_open(&fixture, "f", NULL);
    reads_put(&fixture, "f", row_at(row, 0), text(""), PETAL_LATEST, text("first"));
    before = log_bytes(&fixture);
    for (unsigned i = 1; i <= ROWS; i++)
        reads_put(&fixture, "f", row_at(row, i), text(""), PETAL_LATEST,
                  slice_make(value, sizeof value));
    /* Where frames end some are cut in two, or padded. */
    assert_in_range(log_bytes(&fixture) - before, ROWS * 127, ROWS * 127 + 4 * 20);
    before = log_bytes(&fixture);
    test_clock_advance(&fixture.base.clock, 1);
    reads_put(&fixture, "f", row_at(row, 1), text(""), PETAL_LATEST, slice_make(value, 100));
    assert_int_equal(log_bytes(&fixture) - before, 127 + 1); /* the time */
    fixture_must_close(&fixture.base);
    fixture_fini(&fixture.base);
}

TEST(a_row_stands_once_in_a_batch)
{
    struct read_fixture fixture;
    petal_batch *batch;
    uint64_t before;

    reads_open(&fixture, "f", NULL);
    reads_put(&fixture, "f", text("row"), text("q"), PETAL_LATEST, text("v"));
    before = log_bytes(&fixture);
    MUST(petal_batch_new(fixture.base.db, &batch, WHY));
    for (unsigned i = 0; i < 10; i++) {
        char qualifier[3];

        snprintf(qualifier, sizeof qualifier, "q%u", i);
        MUST(petal_batch_put(batch, reads_family(&fixture, "f"), text("a longer row"),
                             text(qualifier), PETAL_LATEST, text("value"), WHY));
    }
    MUST(petal_write(fixture.base.db, batch, NULL, WHY));
    petal_batch_free(batch);
    /* A header, the number of cells, the row; for each flags, qualifier and value. */
    assert_int_equal(log_bytes(&fixture) - before, 6 + 1 + 13 + 10 * (1 + 3 + 6));
    fixture_must_close(&fixture.base);
    fixture_fini(&fixture.base);
}
