/*
 * bloom_test.c -- the Bloom filter of a store file: never a false "absent", the rate that was asked
 * for, the kinds of questions each type serves, the size of chunks, and filters that this version
 * does not know.
 */
#include "tests/sstable/fixture.h"

#include "base/coding.h"
#include "bloom/bloom.h"
#include "sstable/filter/bloom_writer.h"
#include "sstable/sst_reader_parts.h"
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

static petal_slice
row_text(char buffer[24], unsigned n)
{
    snprintf(buffer, 24, "row%08u", n);
    return slice_from_text(buffer);
}

/* Share of absent rows, or columns of rows that are there, that the filter lets pass. */
static double
row_error_rate(struct sst_fixture *f, const struct sst_reader *reader, unsigned rows)
{
    unsigned passed = 0;
    char row[24];

    for (unsigned r = 0; r < rows; r++) {
        snprintf(row, sizeof row, "row%08u", 2 * r + 1);
        passed += sst_ask_row(f, reader, slice_from_text(row));
    }
    return (double)passed / rows;
}

static double
column_error_rate(struct sst_fixture *f, const struct sst_reader *reader, unsigned rows,
                  unsigned columns)
{
    unsigned passed = 0;
    char row[24], qualifier[24];

    for (unsigned r = 0; r < rows; r++) {
        for (unsigned c = 0; c < columns; c++) {
            snprintf(row, sizeof row, "row%08u", 2 * r);
            snprintf(qualifier, sizeof qualifier, "q%05u", 2 * c + 1);
            passed += sst_ask_column(f, reader, slice_from_text(row), slice_from_text(qualifier));
        }
    }
    return (double)passed / rows / columns;
}

TEST(error_rate_is_the_one_asked_for)
{
    static const double rates[] = {0.1, 0.01, 0.002};

    for (size_t i = 0; i < 3; i++) {
        for (unsigned layout = BLOOM_STANDARD; layout <= BLOOM_RIBBON; layout++) {
            struct sst_fixture *f = sst_fixture_new(8 << 20);
            struct sst_options options = sst_test_options();
            struct sst_reader *reader;
            double rate;

            fill(&f->list, 40000, 1);
            options.compression = PETAL_COMPRESSION_NONE; /* chunks are as large as data blocks */
            options.bloom_error_rate = rates[i];
            options.bloom_layout = layout;
            sst_fixture_write(f, &options, &f->list);
            reader = sst_fixture_open(f);
            assert_true(sst_reader_facts(reader)->bloom_chunks > 4);
            rate = row_error_rate(f, reader, 40000);
            if (rate < 0.7 * rates[i] || rate > 1.3 * rates[i])
                fail_msg("layout %u: rate %f, asked %f", layout, rate, rates[i]);
            sst_fixture_end(f, reader);
        }
    }
}

TEST(each_type_serves_its_questions)
{
    for (unsigned type = PETAL_BLOOM_NONE; type <= PETAL_BLOOM_ROW_ROWCOL; type++) {
        struct sst_fixture *f = sst_fixture_new(8 << 20);
        struct sst_options options = sst_test_options();
        bool rows = type == PETAL_BLOOM_ROW || type == PETAL_BLOOM_ROW_ROWCOL;
        bool columns = type == PETAL_BLOOM_ROWCOL || type == PETAL_BLOOM_ROW_ROWCOL;
        struct sst_reader *reader;
        double row_rate, column_rate;

        fill(&f->list, 100, 100);
        options.bloom = (enum petal_bloom_type)type;
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        assert_int_equal(sst_reader_facts(reader)->bloom_keys,
                         (rows ? 100 : 0) + (columns ? 10000 : 0));
        row_rate = row_error_rate(f, reader, 100);
        column_rate = column_error_rate(f, reader, 100, 100);
        assert_true(rows ? row_rate < 0.1 : row_rate == 1.0);
        assert_true(columns ? column_rate < 0.02 : column_rate == 1.0);
        assert_int_equal(f->trace.bloom_ignored, 0);
        assert_int_equal(f->trace.bloom_probes, (rows ? 100 : 0) + (columns ? 10000 : 0));
        for (size_t i = 0; i < f->list.count; i++)
            sst_expect_in_filter(f, reader, &f->list.cells[i]);
        sst_fixture_end(f, reader);
    }
}

/* Rows that hold nothing but markers, and all kinds of these, are in the filter. */
TEST(rows_of_markers_only_are_found)
{
    static const enum petal_cell_type kinds[] = {PETAL_DELETE, PETAL_DELETE_COLUMN,
                                                 PETAL_DELETE_FAMILY, PETAL_DELETE_FAMILY_VERSION};

    for (unsigned type = PETAL_BLOOM_ROW; type <= PETAL_BLOOM_ROW_ROWCOL; type++) {
        struct sst_fixture *f = sst_fixture_new(8 << 20);
        struct sst_options options = sst_test_options();
        struct sst_reader *reader;
        unsigned absent = 0;
        char row[24];

        for (unsigned r = 0; r < 4000; r++) {
            enum petal_cell_type kind = kinds[r % 4];
            petal_slice qualifier = slice_from_text(cell_is_family_marker(kind) ? "" : "column");

            cell_list_add(&f->list, row_text(row, 2 * r), qualifier, 10, r + 1, kind,
                          slice_make("", 0));
        }
        options.bloom = (enum petal_bloom_type)type;
        options.block_bytes = 1024;
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        for (size_t i = 0; i < f->list.count; i++) {
            sst_expect_in_filter(f, reader, &f->list.cells[i]);
            if (!cell_is_family_marker(f->list.cells[i].type))
                absent += !sst_ask_family_marker(f, reader, f->list.cells[i].row);
        }
        /* Rows without family markers: told apart by filters that know columns. */
        assert_true(type == PETAL_BLOOM_ROW ? absent == 0 : absent > 1900);
        sst_fixture_end(f, reader);
    }
}

/* The second question costs nothing where the facts know the answer. */
TEST(facts_rule_out_family_markers)
{
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;

    fill(&f->list, 10, 10);
    options.bloom = PETAL_BLOOM_ROWCOL;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_false(sst_ask_family_marker(f, reader, f->list.cells[0].row));
    assert_int_equal(f->trace.bloom_probes, 0);
    sst_fixture_end(f, reader);
}

/* Keys before the first and after the last of the file, and prefixes of keys. */
TEST(keys_outside_the_range_are_answered)
{
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    unsigned passed = 0;

    fill(&f->list, 5000, 1);
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_false(sst_ask_row(f, reader, slice_from_text("a")));
    passed += sst_ask_row(f, reader, slice_from_text("row"));
    passed += sst_ask_row(f, reader, slice_from_text("row00000000\xff"));
    passed += sst_ask_row(f, reader, slice_from_text("zzz"));
    passed += sst_ask_row(f, reader, slice_make("\xff\xff", 2));
    assert_true(passed <= 1);
    sst_fixture_end(f, reader);
}

TEST(chunks_are_no_larger_than_blocks)
{
    static const uint32_t blocks[] = {1024, 4096, 65536};

    for (unsigned i = 0; i < 12; i++) {
        struct sst_fixture *f = sst_fixture_new(8 << 20);
        struct sst_options options = sst_test_options();
        struct sst_reader *reader;
        const struct file_facts *facts;
        uint64_t average;

        fill(&f->list, 100, 500);
        options.block_bytes = blocks[i % 3];
        options.compression = i / 3 % 2 == 0 ? PETAL_COMPRESSION_NONE : PETAL_COMPRESSION_LZ4;
        options.bloom = PETAL_BLOOM_ROWCOL;
        options.bloom_layout = i < 6 ? BLOOM_BLOCKED : BLOOM_RIBBON;
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        facts = sst_reader_facts(reader);
        average = facts->data_bytes / facts->data_blocks;
        if (average < BLOOM_CHUNK_MIN_BYTES)
            average = BLOOM_CHUNK_MIN_BYTES;
        for (uint32_t c = 0; c < reader->bloom.tree.root.count; c++) {
            struct block_handle handle = index_block_handle(&reader->bloom.tree.root, c);

            /* Averages move a little while the file is written. */
            assert_true(handle.size <= options.block_bytes);
            assert_true(handle.size <= average + average / 4);
        }
        assert_true(facts->bloom_chunks > 1);
        sst_fixture_end(f, reader);
    }
}

static uint64_t
filter_bytes(unsigned layout, unsigned rows)
{
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    uint64_t bytes;

    fill(&f->list, rows, 1);
    options.block_bytes = 16384;
    options.bloom_error_rate = 0.005;
    options.bloom_layout = layout;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_facts(reader)->bloom_keys, rows);
    bytes = sst_reader_facts(reader)->bloom_bytes;
    sst_fixture_end(f, reader);
    return bytes;
}

/* Of the same keys at the same rate; but of so few that nothing would be saved RIBBON is
 * STANDARD. */
TEST(ribbon_takes_a_quarter_less)
{
    uint64_t blocked = filter_bytes(BLOOM_BLOCKED, 60000);
    uint64_t ribbon = filter_bytes(BLOOM_RIBBON, 60000);

    if (ribbon > blocked / 4 * 3)
        fail_msg("RIBBON takes %llu bytes, BLOCKED %llu", (unsigned long long)ribbon,
                 (unsigned long long)blocked);
    assert_int_equal(filter_bytes(BLOOM_RIBBON, 20), filter_bytes(BLOOM_STANDARD, 20));
}

/* A filter that lets much pass saves less: its chunks are smaller by that part. */
TEST(chunks_leave_room_for_what_the_filter_errs)
{
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    const struct file_facts *facts;
    uint64_t average;

    fill(&f->list, 100, 500);
    options.block_bytes = 4096;
    options.compression = PETAL_COMPRESSION_NONE;
    options.bloom = PETAL_BLOOM_ROWCOL;
    options.bloom_error_rate = 0.25;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    facts = sst_reader_facts(reader);
    average = facts->data_bytes / facts->data_blocks;
    assert_true(reader->bloom.tree.root.count > 2);
    for (uint32_t c = 1; c < reader->bloom.tree.root.count; c++)
        assert_true(index_block_handle(&reader->bloom.tree.root, c).size <= average - average / 5);
    sst_fixture_end(f, reader);
}

/* A small cache, a filter of several index nodes, rows over several chunks. */
TEST(rows_span_chunks_and_caches_are_small)
{
    struct sst_fixture *f = sst_fixture_new(8 << 10);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;

    fill(&f->list, 3, 4000);
    options.bloom = PETAL_BLOOM_ROW_ROWCOL;
    options.block_bytes = 1024;
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    assert_true(sst_reader_facts(reader)->bloom_chunks > 10);
    for (size_t i = 0; i < f->list.count; i++)
        sst_expect_in_filter(f, reader, &f->list.cells[i]);
    assert_true(f->trace.blocks_fetched[PETAL_BLOCK_FILTER] > 10);
    sst_fixture_end(f, reader);
}

/* ---- filters that cannot be used ---- */

TEST(unknown_filters_are_ignored_and_counted)
{
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{160, 99}, {161, 4}, {161, 0}, {162, 2}, {163, 1}};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct sst_fixture *f = sst_fixture_new(8 << 20);
        struct sst_options options = sst_test_options();
        struct sst_reader *reader;

        fill(&f->list, 200, 2);
        options.bloom = PETAL_BLOOM_ROW_ROWCOL;
        sst_fixture_write(f, &options, &f->list);
        sst_change_facts(f, changes[i].at, changes[i].value);
        reader = sst_fixture_open(f);
        assert_true(row_error_rate(f, reader, 200) == 1.0);
        assert_int_equal(f->trace.bloom_ignored, 200);
        assert_int_equal(f->trace.bloom_probes, 0);
        assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
        assert_int_equal(sst_reader_verify(reader, NULL, NULL), PETAL_OK);
        sst_fixture_end(f, reader);
    }
}

/* Overwrite the stored bytes of the block in the frame at `offset`. */
static void
damage_block(struct sst_fixture *f, uint64_t offset)
{
    size_t size;
    uint8_t *bytes = sst_fixture_bytes(f, &size);

    bytes[offset + BLOCK_FRAME_BYTES] ^= 0x10;
    sst_fixture_set_bytes(f, bytes, size);
    free(bytes);
}

TEST(damaged_filter_says_maybe)
{
    for (unsigned root = 0; root < 2; root++) {
        struct sst_fixture *f = sst_fixture_new(8 << 20);
        struct sst_options options = sst_test_options();
        struct sst_reader *reader;
        struct block_handle target;
        petal_error error = {0};

        fill(&f->list, 300, 1);
        sst_fixture_write(f, &options, &f->list);
        reader = sst_fixture_open(f);
        target =
            root ? reader->trailer.bloom_root : index_block_handle(&reader->bloom.tree.root, 0);
        sst_reader_close(reader);
        damage_block(f, target.offset);

        reader = sst_fixture_open(f);
        assert_int_equal(sst_compare(f, reader, &f->list), PETAL_OK);
        assert_int_equal(f->trace.bloom_ignored, 300);
        assert_int_equal(f->trace.bloom_negatives, 0);
        assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
        assert_int_equal(error.offset, target.offset);
        assert_string_equal(error.file, SST_PATH);
        sst_fixture_end(f, reader);
    }
}

/* verify asks every key: a filter of other keys, with every checksum right, is found out. */
TEST(verify_finds_a_filter_that_lies)
{
    struct sst_fixture *f = sst_fixture_new(8 << 20);
    struct sst_options options = sst_test_options();
    struct sst_reader *reader;
    struct block_handle chunk;
    petal_error error = {0};
    uint8_t *bytes;
    size_t size;

    fill(&f->list, 300, 1);
    sst_fixture_write(f, &options, &f->list);
    reader = sst_fixture_open(f);
    chunk = index_block_handle(&reader->bloom.tree.root, 0);
    sst_reader_close(reader);
    bytes = sst_fixture_bytes(f, &size);
    memset(bytes + chunk.offset + BLOCK_FRAME_BYTES, 0,
           chunk.size - BLOCK_FRAME_BYTES - BLOOM_FOOTER_BYTES);
    sst_fix_checksum(bytes, chunk.offset, TEST_IDENTITY);
    sst_fixture_set_bytes(f, bytes, size);
    free(bytes);

    reader = sst_fixture_open(f);
    assert_int_equal(sst_reader_verify(reader, NULL, &error), PETAL_CORRUPT);
    assert_non_null(strstr(error.text, "denies"));
    sst_fixture_end(f, reader);
}
