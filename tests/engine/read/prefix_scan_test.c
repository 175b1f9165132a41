/*
 * prefix_scan_test.c -- filters of row prefixes in scans: files without the prefix are left out
 * when all rows of the scan share it, and no answer changes.
 */

#include "tests/engine/read/fixture.h"
#include "tests/support/test.h"

#include <stdio.h>

#define FILES        4
#define PREFIX_BYTES 3

/* Row "p07/2" and its like are in file 2; "p" in all of them, "p99/.." in none, so that all ranges
 * overlap. */
static void
fill(struct read_fixture *fixture)
{
    petal_family_options family = {.bloom = PETAL_BLOOM_ROW_PREFIX,
                                   .bloom_prefix_bytes = PREFIX_BYTES,
                                   .bloom_error_rate = 0.0001};

    reads_open(fixture, "f", &family);
    for (int file = 0; file < FILES; file++) {
        reads_put(fixture, "f", text("p"), text("q"), file, text("v"));
        reads_put(fixture, "f", BYTES("\xff\xff\xff\xff"), text("q"), file, text("v"));
        for (int i = file; i < 40; i += FILES) {
            char row[32];

            snprintf(row, sizeof row, "p%02d/%d", i, file);
            reads_put(fixture, "f", text(row), text("q"), 1, text("v"));
        }
        reads_flush(fixture);
    }
}

/* How many files a scan left out by their filters; the answer is the same without them. */
static unsigned
skipped(const struct read_fixture *fixture, const petal_scan_options *given, const char *expected)
{
    petal_scan_options scan = *given;
    petal_receipt *receipt;
    unsigned count = 0;

    MUST(petal_receipt_new(fixture->base.db, &receipt, WHY));
    for (scan.reversed = false;; scan.reversed = true) {
        petal_slice start = scan.start_row;
        unsigned found = 0;

        scan.read.receipt = receipt;
        scan.read.without = 0;
        assert_string_equal(reads_scan(fixture, &scan), expected);
        for (size_t i = 0; i < petal_receipt_count(receipt); i++)
            found += petal_receipt_at(receipt, i)->skip == PETAL_SKIP_BLOOM;
        scan.read.receipt = NULL;
        scan.read.without = PETAL_WITHOUT(PETAL_SKIP_BLOOM);
        assert_string_equal(reads_scan(fixture, &scan), expected);
        if (scan.reversed) {
            assert_int_equal(found, count);
            break;
        }
        count = found;
        scan.start_row = scan.stop_row;
        scan.stop_row = start;
    }
    petal_receipt_free(receipt);
    return count;
}

TEST(test_scans_of_a_prefix)
{
    petal_scan_options scan = {.prefix = text("p07")};
    struct read_fixture fixture;

    fill(&fixture);
    assert_int_equal(skipped(&fixture, &scan, "p07/3/f:q@1=v "), FILES - 1);
    scan.prefix = text("p07/3");
    assert_int_equal(skipped(&fixture, &scan, "p07/3/f:q@1=v "), FILES - 1);
    scan.prefix = text("p07/1"); /* the file has the prefix, not the row */
    assert_int_equal(skipped(&fixture, &scan, ""), FILES - 1);
    scan.prefix = text("p99");
    assert_int_equal(skipped(&fixture, &scan, ""), FILES);
    scan.prefix = BYTES("\xff\xff\xff");
    assert_int_equal(skipped(&fixture, &scan, "\\ff\\ff\\ff\\ff/f:q@3=v "), 0);
    /* Shorter than the filter's prefixes: nothing can be known. */
    scan.prefix = BYTES("\xff\xfe");
    assert_int_equal(skipped(&fixture, &scan, ""), 0);
    fixture_fini(&fixture.base);
}

TEST(test_scans_between_rows_of_a_prefix)
{
    petal_scan_options scan = {.start_row = text("p07"), .stop_row = text("p07/9")};
    struct read_fixture fixture;

    fill(&fixture);
    assert_int_equal(skipped(&fixture, &scan, "p07/3/f:q@1=v "), FILES - 1);
    scan.start_row = text("p07/4");
    assert_int_equal(skipped(&fixture, &scan, ""), FILES - 1);
    /* Bounds that share less, or of which one is open. */
    scan = (petal_scan_options){.start_row = text("p07"), .stop_row = text("p08")};
    assert_int_equal(skipped(&fixture, &scan, "p07/3/f:q@1=v "), 0);
    scan = (petal_scan_options){.start_row = text("p99"), .stop_row = BYTES("\xff")};
    assert_int_equal(skipped(&fixture, &scan, ""), 0);
    fixture_fini(&fixture.base);
}

/* A cursor that is sought anew stays inside its bounds, and so does what was left out. */
TEST(test_seeks_inside_a_prefix)
{
    petal_scan_options scan = {.prefix = text("p07")};
    struct read_fixture fixture;
    petal_cursor *cursor;

    fill(&fixture);
    cursor = reads_cursor(&fixture, &scan);
    reads_seek(cursor, text("p"), NULL, text(""));
    assert_string_equal(reads_rest(cursor), "p07/3/f:q@1=v ");
    reads_seek(cursor, text("p08"), NULL, text(""));
    assert_string_equal(reads_rest(cursor), "");
    petal_cursor_close(cursor);
    fixture_fini(&fixture.base);
}
