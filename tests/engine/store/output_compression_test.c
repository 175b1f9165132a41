/*
 * output_compression_test.c -- COMPRESSION_COMPACT and its two kinds: what they say of a file by
 * who writes it, and that the files are so.
 */

#include "engine/state/db.h"
#include "engine/store/output_compression.h"
#include "tests/engine/compact/fixture.h"
#include "tests/support/test.h"

#define ROWS 3000

static petal_attribute
kept(const char *name, const char *value)
{
    return (petal_attribute){PETAL_KEPT_ATTRIBUTE, slice_from_text(name), slice_from_text(value)};
}

static void
assert_output(const petal_family_options *family, enum file_origin origin,
              enum petal_compression compression, bool high)
{
    struct output_compression found = output_compression_of(family, origin);

    assert_int_equal(found.compression, compression);
    assert_int_equal(found.high, high);
}

TEST(test_each_writer_has_its_attribute)
{
    petal_attribute attributes[] = {
        {PETAL_METADATA, slice_from_text("COMPRESSION_COMPACT"), slice_from_text("NONE")},
        kept("COMPRESSION_COMPACT", "LZ4HC"),
        kept("COMPRESSION_COMPACT_MINOR", "NONE"),
        kept("COMPRESSION_COMPACT_MAJOR", "ZSTD")};
    petal_family_options family = {.compression = PETAL_COMPRESSION_LZ4, .attributes = attributes};

    family.attribute_count = 1; /* free text says nothing */
    assert_output(&family, FILE_ORIGIN_MINOR, PETAL_COMPRESSION_LZ4, false);
    family.attribute_count = 2;
    assert_output(&family, FILE_ORIGIN_FLUSH, PETAL_COMPRESSION_LZ4, false);
    assert_output(&family, FILE_ORIGIN_MINOR, PETAL_COMPRESSION_LZ4, true);
    assert_output(&family, FILE_ORIGIN_ALL_FILES, PETAL_COMPRESSION_LZ4, true);
    family.attribute_count = 3;
    assert_output(&family, FILE_ORIGIN_MINOR, PETAL_COMPRESSION_NONE, false);
    assert_output(&family, FILE_ORIGIN_ALL_FILES, PETAL_COMPRESSION_LZ4, true);
    family.attribute_count = 4; /* a codec that Petal has not */
    assert_output(&family, FILE_ORIGIN_ALL_FILES, PETAL_COMPRESSION_LZ4, true);
    attributes[1] = kept("COMPRESSION_COMPACT", "GZ");
    assert_output(&family, FILE_ORIGIN_ALL_FILES, PETAL_COMPRESSION_LZ4, false);
    family.compression = PETAL_COMPRESSION_NONE;
    assert_output(&family, FILE_ORIGIN_ALL_FILES, PETAL_COMPRESSION_NONE, false);
    assert_output(&family, FILE_ORIGIN_FLUSH, PETAL_COMPRESSION_NONE, false);
    attributes[3] = kept("COMPRESSION_COMPACT_MAJOR", "LZ4");
    assert_output(&family, FILE_ORIGIN_ALL_FILES, PETAL_COMPRESSION_LZ4, false);
}

/* ---- files ---- */

static bool
note_file(void *argument, const petal_file_info *file)
{
    petal_file_info *noted = argument;

    assert_int_equal(noted->number, 0); /* one file */
    *noted = *file;
    return true;
}

static petal_file_info
only_file(petal_table *table)
{
    petal_file_info file = {0};

    MUST(petal_table_files(table, note_file, &file, WHY));
    assert_int_equal(file.cells, ROWS);
    return file;
}

/* The table's data bytes once all is compacted by the attribute; NULL: without it. */
static petal_file_info
compacted(struct compact_fixture *fixture, const char *name, const char *value)
{
    petal_attribute attribute = kept("COMPRESSION_COMPACT_MAJOR", value != NULL ? value : "");
    petal_family_options family = {
        .block_bytes = 4096, .attributes = &attribute, .attribute_count = value != NULL};
    petal_table *table = compact_fixture_table(&fixture->base, name, &family);
    struct test_random random;
    petal_file_info flushed, file;

    test_random_init(&random, 7);
    for (unsigned i = 0; i < ROWS; i++) {
        char row[24], text[61];

        snprintf(row, sizeof row, "row%08u", i);
        memset(text, 'v', sizeof text - 1);
        text[60] = '\0';
        for (unsigned k = 0; k < 30; k++)
            text[k] = (char)('!' + test_random_below(&random, 90));
        compact_fixture_put(table, row, 10, text);
    }
    compact_fixture_flush(fixture->base.db);
    flushed = only_file(table);
    assert_true(flushed.data_bytes < flushed.raw_data_bytes); /* by LZ4, in any case */
    compact_fixture_compact(table);
    MUST(petal_table_verify(table, WHY));
    assert_string_equal(compact_fixture_value(table, "row00000000") + 30,
                        "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvv");
    file = only_file(table);
    assert_true(file.number != flushed.number);
    return file;
}

TEST(test_files_are_as_their_attribute_says)
{
    struct compact_fixture fixture;
    petal_file_info plain, lz4, high, raw;

    compact_fixture_open(&fixture);
    plain = compacted(&fixture, "plain", NULL);
    lz4 = compacted(&fixture, "lz4", "LZ4");
    high = compacted(&fixture, "high", "LZ4HC");
    raw = compacted(&fixture, "raw", "NONE");
    assert_int_equal(plain.data_bytes, lz4.data_bytes);
    assert_true(high.data_bytes < lz4.data_bytes);
    assert_int_equal(high.raw_data_bytes, lz4.raw_data_bytes);
    assert_true(raw.data_bytes > raw.raw_data_bytes);
    fixture_fini(&fixture.base);
}

/* An alteration is for the compactions that follow. */
TEST(test_an_alteration_reaches_what_is_compacted_next)
{
    petal_attribute attribute = kept("COMPRESSION_COMPACT", "NONE");
    petal_family_options family = {
        .name = slice_from_text("f"), .attributes = &attribute, .attribute_count = 1};
    const petal_table_options altered = {.families = &family, .family_count = 1};
    struct compact_fixture fixture;
    petal_table *table;
    petal_file_info file;

    compact_fixture_open(&fixture);
    file = compacted(&fixture, "t", "LZ4HC");
    assert_true(file.data_bytes < file.raw_data_bytes);
    MUST(petal_table_open(fixture.base.db, slice_from_text("t"), &table, WHY));
    MUST(petal_table_alter(table, &altered, WHY));
    compact_fixture_compact(table);
    file = only_file(table);
    assert_true(file.data_bytes > file.raw_data_bytes);
    fixture_fini(&fixture.base);
}
