/*
 * prefix_test.c -- filters of row prefixes: every row and every beginning of rows is found, others
 * seldom; what such a filter does not answer costs no probe; impossible and unknown ones.
 */
#include "tests/sstable/fixture.h"
#include "tests/support/test.h"

#include <stdlib.h>

static void
fill(struct cell_list *list, unsigned rows, unsigned columns)
{
    char row[24], qualifier[24];

    for (unsigned r = 0; r < rows; r++) {
        for (unsigned c = 0; c < columns; c++) {
            snprintf(row, sizeof row, "row%08u", 2 * r);
            snprintf(qualifier, sizeof qualifier, "q%05u", 2 * c);
            cell_list_put(list, row, qualifier, 1, (uint64_t)r * columns + c + 1,
                          "a value that is some thirty bytes");
        }
    }
}

static struct sst_options
prefix_options(uint32_t prefix_bytes)
{
    struct sst_options options = sst_test_options();

    options.bloom = PETAL_BLOOM_ROW_PREFIX;
    options.bloom_prefix_bytes = prefix_bytes;
    return options;
}

TEST(prefixes_serve_gets_and_scans)
{
    struct sst_options options = prefix_options(11); /* that of "row%08u" */
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_reader *reader;
    unsigned passed = 0;
    char row[40];

    for (unsigned r = 0; r < 2000; r++) {
        for (unsigned part = 0; part < 3; part++) {
            snprintf(row, sizeof row, "row%08u/%u", 2 * r, part);
            cell_list_put(&f->list, row, "q", 1, 3 * r + part + 1,
                          "a value that is some thirty bytes");
        }
    }
    cell_list_put(&f->list, "s", "q", 1, 9999, "shorter than a prefix");
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_facts(reader)->bloom_keys, 2001);
    assert_int_equal(sst_reader_facts(reader)->bloom_prefix_bytes, 11);
    assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
    assert_int_equal(f->trace.bloom_ignored, 0);
    assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
    for (unsigned r = 0; r < 2000; r++) {
        snprintf(row, sizeof row, "row%08u/1", 2 * r + 1);
        passed += sst_ask_row(f, reader, slice_from_text(row));
        passed += sst_ask_prefix(f, reader, slice_make(row, 11));
        passed += sst_ask_prefix(f, reader, slice_from_text(row));
        /* Another row with a prefix that is there: the filter cannot tell. */
        snprintf(row, sizeof row, "row%08u/9", 2 * r);
        assert_true(sst_ask_row(f, reader, slice_from_text(row)));
    }
    assert_true(passed % 3 == 0 && passed > 0 && passed < 3 * 60); /* 1 % of 2000 is 20 */
    assert_false(sst_ask_row(f, reader, slice_from_text("row")));
    assert_false(sst_ask_row(f, reader, slice_from_text("s2")));
    sst_fixture_end(f, reader);
}

/* What such a filter cannot answer costs no probe. */
TEST(questions_that_prefixes_do_not_answer)
{
    struct sst_options options = prefix_options(4);
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_reader *reader;

    fill(&f->list, 10, 2);
    cell_list_add(&f->list, slice_from_text("s"), slice_make("", 0), 1, 99, PETAL_DELETE_FAMILY,
                  slice_make("", 0));
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_true(sst_ask_prefix(f, reader, slice_from_text("xyz")));
    assert_true(sst_ask_prefix(f, reader, slice_make("", 0)));
    assert_true(sst_ask_column(f, reader, slice_from_text("xyzzy"), slice_from_text("q")));
    assert_true(sst_ask_family_marker(f, reader, slice_from_text("xyzzy")));
    assert_int_equal(f->trace.bloom_probes, 0);
    sst_reader_close(reader);
    options.bloom = PETAL_BLOOM_ROW;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_facts(reader)->bloom_prefix_bytes, 0);
    assert_true(sst_ask_prefix(f, reader, slice_from_text("xyzzy")));
    assert_int_equal(f->trace.bloom_probes, 0);
    sst_fixture_end(f, reader);
}

/* Rows with bytes that are escaped, rows as long as the prefix or shorter, many chunks. */
TEST(prefixes_of_hostile_rows_are_found)
{
    static const uint8_t letters[] = {0x00, 0x00, 0x01, 0x02, 0x7f, 0x80, 0xff, 'a'};
    struct sst_options options = prefix_options(5);
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_reader *reader;
    struct test_random random;
    unsigned absent = 0;
    uint8_t row[8];

    test_random_init(&random, test_seed());
    for (unsigned i = 0; i < 8000; i++) {
        size_t size = 1 + (size_t)test_random_below(&random, 7);

        for (size_t at = 0; at < size; at++)
            row[at] = letters[test_random_below(&random, sizeof letters)];
        cell_list_add(&f->list, slice_make(row, size), slice_from_text("q"), 1, i + 1, PETAL_PUT,
                      slice_make("", 0));
    }
    cell_list_sort(&f->list);
    options.block_bytes = 1024;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_true(sst_reader_facts(reader)->bloom_chunks > 4);
    assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
    for (size_t i = 0; i < f->list.count; i++)
        sst_expect_in_filter(f, reader, &f->list.cells[i]);
    assert_int_equal(f->trace.bloom_ignored, 0);
    for (unsigned i = 0; i < 1000; i++) {
        for (size_t at = 0; at < sizeof row; at++)
            row[at] = letters[test_random_below(&random, sizeof letters)];
        row[2] = 'z'; /* in no row */
        absent += !sst_ask_row(f, reader, slice_make(row, sizeof row));
    }
    assert_true(absent > 950);
    sst_fixture_end(f, reader);
}

/* Prefixes that need memory; without it the answer is "maybe". */
TEST(the_longest_prefixes_are_found)
{
    struct sst_options options = prefix_options(PETAL_MAX_ROW_BYTES);
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    uint8_t *row = test_allocate(PETAL_MAX_ROW_BYTES);
    petal_slice whole = slice_make(row, PETAL_MAX_ROW_BYTES);
    struct sst_reader *reader;

    memset(row, 0, PETAL_MAX_ROW_BYTES);
    for (uint8_t i = 1; i < 4; i++) {
        row[PETAL_MAX_ROW_BYTES - 1] = i;
        cell_list_add(&f->list, whole, slice_from_text("q"), 1, i, PETAL_PUT, slice_make("", 0));
    }
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
    assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
    row[PETAL_MAX_ROW_BYTES - 1] = 9;
    assert_false(sst_ask_prefix(f, reader, whole));
    test_allocator_fail_at(&f->allocator, 1, true);
    assert_true(sst_ask_prefix(f, reader, whole));
    test_allocator_fail_at(&f->allocator, 0, false);
    sst_reader_close(reader);
    free(row);
    sst_fixture_free(f);
}

/* A filter of prefixes has a length, one of whole rows or columns has none: else the facts are
 * damaged. */
TEST(impossible_prefix_lengths_are_refused)
{
    static const struct {
        enum petal_bloom_type type;
        uint8_t low, high;
    } cases[] = {{PETAL_BLOOM_ROW_PREFIX, 0, 0},
                 {PETAL_BLOOM_ROW_PREFIX, 0, 0x80},
                 {PETAL_BLOOM_ROW, 1, 0},
                 {PETAL_BLOOM_NONE, 1, 0}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sst_fixture *f = sst_fixture_new(8 << 20);
        struct sst_options options = prefix_options(3);
        petal_error error = {0};

        fill(&f->list, 20, 2);
        options.bloom = cases[i].type;
        sst_fixture_write(f, &options, &f->list);
        sst_change_facts(f, 192, cases[i].low);
        sst_change_facts(f, 193, cases[i].high);
        assert_int_equal(sst_read_all(f, &f->list, &error), PETAL_CORRUPT);
        assert_non_null(strstr(error.text, "prefix"));
        sst_fixture_free(f);
    }
}

TEST(unknown_filter_of_prefixes_is_ignored)
{
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_options options = prefix_options(300);
    struct sst_reader *reader;
    char row[301];

    memset(row, 'x', sizeof row);
    fill(&f->list, 20, 2);
    sst_fixture_write(f, &options, &f->list);
    sst_change_facts(f, 162, 2);
    reader = sst_fixture_open(f);
    assert_true(sst_ask_row(f, reader, slice_make(row, sizeof row)));
    assert_true(sst_ask_prefix(f, reader, slice_make(row, sizeof row)));
    assert_int_equal(f->trace.bloom_ignored, 2);
    assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
    sst_fixture_end(f, reader);
}
