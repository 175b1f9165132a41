/*
 * writer_check_test.c -- what is written, under every codec, encoding and type of filter, passes
 * the reader's whole check (every chunk of the filters made anew), and gives its cells, forward,
 * backward and sought. Cells are made by chance.
 */
#include "tests/hfile/expect.h"
#include "tests/hfile/golden.h"
#include "tests/hfile/memory_sink.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS      500
#define TEXT_BYTES 4096

struct case_of {
    struct test_random random;
    petal_hfile_write_options options;
    uint8_t text[TEXT_BYTES];
    petal_hfile_cell cells[CELLS];
    size_t count;
};

static petal_slice
some_bytes(struct case_of *made, size_t least, size_t most)
{
    size_t size = least + test_random_below(&made->random, most - least + 1);
    size_t at = test_random_below(&made->random, TEXT_BYTES - size + 1);

    return (petal_slice){made->text + at, size};
}

static int
in_order(const void *a, const void *b)
{
    return petal_hfile_compare(a, b);
}

/* Rows and qualifiers out of few bytes, so that there are several cells of each. */
static void
make_cells(struct case_of *made)
{
    static const int TYPES[] = {PETAL_PUT,
                                PETAL_PUT,
                                PETAL_PUT,
                                PETAL_DELETE,
                                PETAL_DELETE_FAMILY_VERSION,
                                PETAL_DELETE_COLUMN,
                                PETAL_DELETE_FAMILY};

    for (size_t i = 0; i < TEXT_BYTES; i++)
        made->text[i] = test_random_chance(&made->random, 70)
                            ? (uint8_t)(i % 2 * 0xff)
                            : (uint8_t)test_random_next(&made->random);
    made->count =
        test_random_chance(&made->random, 10) ? test_random_below(&made->random, 3) : CELLS;
    for (size_t i = 0; i < made->count; i++) {
        petal_hfile_cell *cell = &made->cells[i];

        *cell = (petal_hfile_cell){.row = some_bytes(made, 1, 12),
                                   .family = {"cf", 2},
                                   .qualifier = some_bytes(made, 0, 5),
                                   .value = some_bytes(made, 0, 60),
                                   .timestamp = (int64_t)test_random_below(&made->random, 1000),
                                   .type = TYPES[test_random_below(&made->random, 7)]};
        if (cell->type == PETAL_DELETE_FAMILY || cell->type == PETAL_DELETE_FAMILY_VERSION)
            cell->qualifier.size = 0;
        if (made->options.with_tags && test_random_chance(&made->random, 50))
            cell->tags = (petal_slice){"\0\4Axyz\0\1B", 9};
        if (made->options.with_sequences)
            cell->sequence = (int64_t)(test_random_next(&made->random) >> 1 >>
                                       test_random_below(&made->random, 63));
    }
    qsort(made->cells, made->count, sizeof *made->cells, in_order);
}

static void
write_cells(const struct case_of *made, struct memory_sink *memory)
{
    petal_hfile_sink sink = memory_sink_begin(memory);
    petal_hfile_writer *writer;
    petal_error error;

    must(petal_hfile_writer_new(&sink, &made->options, &writer, &error), &error);
    for (size_t i = 0; i < made->count; i++)
        must(petal_hfile_writer_add(writer, &made->cells[i], &error), &error);
    must(petal_hfile_writer_finish(writer, NULL, &error), &error);
    petal_hfile_writer_free(writer);
}

static void
expect_cell(const petal_hfile_cell *is, const petal_hfile_cell *expected)
{
    assert_non_null(is);
    assert_int_equal(petal_hfile_compare(is, expected), 0);
    expect_slice(is->family, expected->family);
    expect_slice(is->value, expected->value);
    expect_slice(is->tags, expected->tags);
    assert_int_equal(is->sequence, expected->sequence);
}

static void
expect_scans(const struct case_of *made, petal_hfile *file)
{
    petal_hfile_scanner *scanner;
    const petal_hfile_cell *cell;
    petal_error error;

    must(petal_hfile_scanner_new(file, &scanner, &error), &error);
    must(petal_hfile_scanner_first(scanner, &cell, &error), &error);
    for (size_t i = 0; i < made->count; i++) {
        expect_cell(cell, &made->cells[i]);
        must(petal_hfile_scanner_next(scanner, &cell, &error), &error);
    }
    assert_null(cell);
    must(petal_hfile_scanner_last(scanner, &cell, &error), &error);
    for (size_t i = made->count; i > 0; i--) {
        expect_cell(cell, &made->cells[i - 1]);
        must(petal_hfile_scanner_previous(scanner, &cell, &error), &error);
    }
    assert_null(cell);
    for (size_t i = 0; i < made->count; i += 3) {
        must(petal_hfile_scanner_seek(scanner, &made->cells[i], &cell, &error), &error);
        assert_non_null(cell);
        assert_int_equal(petal_hfile_compare(cell, &made->cells[i]), 0);
    }
    petal_hfile_scanner_free(scanner);
}

static void
expect_filters(const struct case_of *made, petal_hfile *file)
{
    petal_error error;
    bool answer;

    for (size_t i = 0; i < made->count; i++) {
        const petal_hfile_cell *cell = &made->cells[i];

        must(petal_hfile_may_contain(file, cell->row, NULL, &answer, &error), &error);
        assert_true(answer);
        must(petal_hfile_may_contain(file, cell->row, &cell->qualifier, &answer, &error), &error);
        assert_true(answer);
        if (cell->type != PETAL_DELETE_FAMILY && cell->type != PETAL_DELETE_FAMILY_VERSION)
            continue;
        must(petal_hfile_may_contain_delete_family(file, cell->row, &answer, &error), &error);
        assert_true(answer);
    }
}

static void
expect_file(const struct case_of *made, const struct memory_sink *memory)
{
    petal_slice bytes = {memory->bytes.bytes, memory->bytes.size};
    petal_hfile_source source = golden_source(&bytes, "memory");
    petal_hfile_report report;
    petal_hfile *file;
    petal_error error;

    must(petal_hfile_open_source(&source, NULL, &file, &error), &error);
    must(petal_hfile_check(file, NULL, NULL, &report, &error), &error);
    assert_int_equal(report.cells, made->count);
    if (made->options.bloom != PETAL_HFILE_BLOOM_NONE && made->count > 0)
        assert_true(report.rebuilt_chunks > 0);
    expect_scans(made, file);
    expect_filters(made, file);
    petal_hfile_close(file);
}

/* Blocks of some cells, so that there are several levels of index, and several chunks. */
static void
choose_options(struct case_of *made, int codec, int encoding, int bloom)
{
    struct test_random *random = &made->random;

    made->options = (petal_hfile_write_options){
        .codec = (enum petal_hfile_codec)codec,
        .encoding = (enum petal_hfile_encoding)encoding,
        .bloom = (enum petal_hfile_bloom_type)bloom,
        .bloom_prefix_bytes = bloom == PETAL_HFILE_BLOOM_ROW_PREFIX ? 3 : 0,
        .checksum = (enum petal_hfile_checksum)test_random_below(random, 4),
        .block_bytes = 1 + (uint32_t)test_random_below(random, 600),
        .index_block_bytes = 1 + (uint32_t)test_random_below(random, 600),
        .index_block_entries = 1 + (uint32_t)test_random_below(random, 16),
        .bloom_chunk_bytes = 1 + (uint32_t)test_random_below(random, 300),
        .bloom_error_rate = test_random_chance(random, 50) ? 0.01 : 0.1,
        .bytes_per_checksum = 33 + (uint32_t)test_random_below(random, 400),
        .with_tags = test_random_chance(random, 50),
        .with_sequences = test_random_chance(random, 50)};
}

TEST(files_of_any_options_pass_every_check)
{
    int rounds = getenv("PETAL_LONG") != NULL ? 100 : getenv("PETAL_SHORT") != NULL ? 1 : 4;
    struct case_of *made = test_allocate(sizeof *made);
    size_t files = 0;

    test_random_init(&made->random, 1818);
    for (int round = 0; round < rounds; round++)
        for (int codec = PETAL_HFILE_CODEC_NONE; codec <= PETAL_HFILE_CODEC_ZSTD; codec++)
            for (int encoding = PETAL_HFILE_ENCODING_NONE;
                 encoding <= PETAL_HFILE_ENCODING_ROW_INDEX_V1; encoding++)
                for (int bloom = PETAL_HFILE_BLOOM_NONE; bloom <= PETAL_HFILE_BLOOM_ROW_PREFIX;
                     bloom++) {
                    struct memory_sink memory;

                    if (!petal_hfile_has_codec((enum petal_hfile_codec)codec))
                        continue;
                    choose_options(made, codec, encoding, bloom);
                    make_cells(made);
                    write_cells(made, &memory);
                    expect_file(made, &memory);
                    memory_sink_free(&memory);
                    files++;
                }
    assert_true(files >= 80);
    free(made);
}

/* ---- facts ---- */

/* HBase's rules: a marker of a column's or family's past reaches back to the beginning of time. */
TEST(times_are_those_that_hbase_goes_by)
{
    static const struct {
        int type;
        int64_t time_min;
    } MARKERS[] = {{PETAL_DELETE, 3},
                   {PETAL_DELETE_FAMILY_VERSION, 3},
                   {PETAL_DELETE_COLUMN, 0},
                   {PETAL_DELETE_FAMILY, 0}};
    struct case_of *made = test_allocate(sizeof *made);

    for (size_t i = 0; i < sizeof MARKERS / sizeof *MARKERS; i++) {
        struct memory_sink memory;
        petal_slice bytes;
        petal_hfile_source source;
        const petal_hfile_info *info;
        petal_hfile *file;
        petal_error error;

        made->options = (petal_hfile_write_options){.is_major = i % 2 == 0};
        made->count = 3;
        made->cells[0] = (petal_hfile_cell){
            .row = {"a", 1}, .family = {"f", 1}, .timestamp = 7, .type = PETAL_PUT};
        made->cells[1] = (petal_hfile_cell){
            .row = {"b", 1}, .family = {"f", 1}, .timestamp = 3, .type = MARKERS[i].type};
        made->cells[2] = (petal_hfile_cell){
            .row = {"c", 1}, .family = {"f", 1}, .timestamp = 5, .type = PETAL_PUT};
        write_cells(made, &memory);
        bytes = (petal_slice){memory.bytes.bytes, memory.bytes.size};
        source = golden_source(&bytes, "memory");
        must(petal_hfile_open_source(&source, NULL, &file, &error), &error);
        info = petal_hfile_info_get(file);
        assert_true(info->has_time_range && info->has_earliest_put &&
                    info->has_delete_family_cells);
        assert_int_equal(info->time_min, MARKERS[i].time_min);
        assert_int_equal(info->time_max, 7);
        assert_int_equal(info->earliest_put, 5);
        assert_int_equal(info->is_major_compacted, i % 2 == 0);
        petal_hfile_close(file);
        memory_sink_free(&memory);
    }
    free(made);
}

/* ---- levels of the index ---- */

static bool
find_intermediate(void *argument, const petal_hfile_block *block)
{
    petal_hfile_block *found = argument;

    if (block->kind != PETAL_HFILE_BLOCK_INTERMEDIATE_INDEX)
        return true;
    *found = *block;
    return false;
}

/* However small blocks are to be, the first of a level has more entries than index_block_entries;
 * those after it do not, in HBase. Each cell has a block here, and each block a leaf. */
TEST(a_level_begins_with_as_many_entries_as_in_hbase)
{
    struct case_of *made = test_allocate(sizeof *made);
    struct memory_sink memory;
    petal_slice bytes;
    petal_hfile_source source;
    petal_hfile_block block = {.kind = PETAL_HFILE_BLOCK_DATA};
    petal_hfile *file;
    petal_error error;

    made->options = (petal_hfile_write_options){
        .block_bytes = 1, .index_block_bytes = 1, .index_block_entries = 4};
    made->count = 40;
    for (size_t i = 0; i < made->count; i++) {
        made->text[i] = (uint8_t)i;
        made->cells[i] =
            (petal_hfile_cell){.row = {&made->text[i], 1}, .family = {"f", 1}, .type = PETAL_PUT};
    }
    write_cells(made, &memory);
    bytes = (petal_slice){memory.bytes.bytes, memory.bytes.size};
    source = golden_source(&bytes, "memory");
    must(petal_hfile_open_source(&source, NULL, &file, &error), &error);
    must(petal_hfile_blocks(file, find_intermediate, &block, &error), &error);
    assert_int_equal(block.kind, PETAL_HFILE_BLOCK_INTERMEDIATE_INDEX);
    assert_int_equal(hfile_get_u32(memory.bytes.bytes + block.offset + HFILE_BLOCK_HEADER_BYTES),
                     5);
    assert_in_range(petal_hfile_info_get(file)->root_entries, 1, 4);
    petal_hfile_close(file);
    expect_file(made, &memory);
    memory_sink_free(&memory);
    free(made);
}

/* The last block of a file makes its one leaf too large for a leaf, or just not: the leaf is the
 * root then, and stays whole. */
TEST(a_leaf_that_is_the_root_stays_whole)
{
    struct case_of *made = test_allocate(sizeof *made);

    for (uint32_t index_bytes = 60; index_bytes <= 400; index_bytes += 20) {
        for (size_t count = 1; count <= 20; count++) {
            struct memory_sink memory;

            made->options = (petal_hfile_write_options){
                .block_bytes = 1, .index_block_bytes = index_bytes, .index_block_entries = 1};
            made->count = count;
            for (size_t i = 0; i < count; i++) {
                made->text[i] = (uint8_t)i;
                made->cells[i] = (petal_hfile_cell){
                    .row = {&made->text[i], 1}, .family = {"f", 1}, .type = PETAL_PUT};
            }
            write_cells(made, &memory);
            expect_file(made, &memory);
            memory_sink_free(&memory);
        }
    }
    free(made);
}
