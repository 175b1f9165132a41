/*
 * writer_test.c -- what HBase 2.6.0 wrote is written again from its cells, to the same bytes.
 */
#include "tests/hfile/golden_file.h"
#include "tests/hfile/memory_sink.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/format.h"
#include "tools/hfile/format/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what HBase was asked for ---- */

static petal_slice
info_of(const struct golden_file *file, const char *key)
{
    petal_slice value = {NULL, 0};

    hfile_file_info_find(&file->info, hfile_text_slice(key), &value);
    return value;
}

static void
options_of(const struct golden_file *file, petal_hfile_write_options *options)
{
    struct golden_block block;
    uint64_t offset = 0;
    uint32_t prefix_bytes = 0;

    assert_true(golden_block_next(file, &offset, &block));
    free(block.payload);
    *options = (petal_hfile_write_options){
        .codec = file->codec,
        .encoding = file->encoding->kind,
        .bloom = hfile_bloom_type_named(hfile_text_slice(golden_find(&file->facts, "bloom_type"))),
        .checksum = block.header.checksum,
        .bytes_per_checksum = block.header.bytes_per_checksum,
        .block_bytes = (uint32_t)strtoul(golden_find(&file->facts, "block_size"), NULL, 10),
        .index_block_bytes = golden_file_setting(file, "hfile.index.block.max.size"),
        .index_block_entries = golden_file_setting(file, "hfile.index.block.min.entries"),
        .bloom_chunk_bytes = golden_file_setting(file, "io.storefile.bloom.block.size"),
        .with_tags = file->layout.has_tags,
        .with_sequences = file->layout.has_sequences,
        .is_major = info_of(file, HFILE_INFO_MAJOR_COMPACTION).size == 1 &&
                    *(const uint8_t *)info_of(file, HFILE_INFO_MAJOR_COMPACTION).data != 0,
        .is_plain = info_of(file, HFILE_INFO_DELETE_FAMILY_COUNT).size == 0};
    if (options->is_plain)
        options->bloom = PETAL_HFILE_BLOOM_NONE;
    if (options->bloom == PETAL_HFILE_BLOOM_ROW_PREFIX) {
        assert_true(hfile_file_info_find_u32(&file->info, HFILE_INFO_BLOOM_FILTER_PARAMETER,
                                             &prefix_bytes));
        options->bloom_prefix_bytes = prefix_bytes;
    }
    assert_true(
        hfile_file_info_find_i64(&file->info, HFILE_INFO_CREATE_TIME, &options->created_ms));
    options->has_sequence_id =
        hfile_file_info_find_i64(&file->info, HFILE_INFO_MAX_SEQUENCE_ID, &options->sequence_id);
}

/* Entries that the caller of HBase's writer had made. */
static void
give_info(petal_hfile_writer *writer, const struct golden_file *file)
{
    static const char *const KEYS[] = {HFILE_INFO_BULK_LOAD_TIMESTAMP, HFILE_INFO_BULK_LOAD_SOURCE,
                                       "EXCLUDE_FROM_MINOR_COMPACTION"};

    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        petal_slice value = info_of(file, KEYS[i]);

        if (value.size > 0)
            assert_int_equal(
                petal_hfile_writer_info(writer, hfile_text_slice(KEYS[i]), value, NULL), PETAL_OK);
    }
}

/* User meta blocks, whose names stand in the index of them, which is the second root. */
static void
give_metas(petal_hfile_writer *writer, const struct golden_file *file)
{
    petal_slice all = {file->bytes, file->size};
    petal_hfile_source source = golden_source(&all, file->name);
    petal_hfile *opened;
    petal_slice name;

    assert_int_equal(petal_hfile_open_source(&source, NULL, &opened, NULL), PETAL_OK);
    for (size_t i = 0; petal_hfile_meta_name(opened, i, &name); i++) {
        void *bytes;
        size_t size;

        assert_int_equal(petal_hfile_meta_read(opened, i, &bytes, &size, NULL), PETAL_OK);
        assert_int_equal(petal_hfile_writer_meta(writer, name, hfile_slice(bytes, size), NULL),
                         PETAL_OK);
        petal_hfile_release(opened, bytes, size);
    }
    petal_hfile_close(opened);
}

static void
write_again(const struct golden_file *file, const petal_hfile_write_options *options,
            struct memory_sink *memory)
{
    petal_hfile_sink sink = memory_sink_begin(memory);
    petal_hfile_writer *writer;
    struct golden_cells cells;
    petal_error error;
    uint64_t bytes;

    if (petal_hfile_writer_new(&sink, options, &writer, &error) != PETAL_OK)
        fail_msg("%s: %s", file->name, error.text);
    golden_cells_read(file, &cells);
    for (size_t i = 0; i < cells.count; i++)
        if (petal_hfile_writer_add(writer, &cells.cells[i], &error) != PETAL_OK)
            fail_msg("%s: %s", file->name, error.text);
    give_info(writer, file);
    give_metas(writer, file);
    if (petal_hfile_writer_finish(writer, &bytes, &error) != PETAL_OK)
        fail_msg("%s: %s", file->name, error.text);
    assert_int_equal(bytes, memory->bytes.size);
    assert_int_equal(petal_hfile_writer_bytes(writer), bytes);
    assert_int_equal(petal_hfile_writer_cells(writer), cells.count);
    petal_hfile_writer_free(writer);
    golden_cells_free(&cells);
}

/* ---- the same file ---- */

/* What a compressor makes is its own, and with it offsets and sizes in the index: these are no part
 * of what is compared below. */
static bool
is_determined(enum petal_hfile_block_kind kind)
{
    return kind == PETAL_HFILE_BLOCK_DATA || kind == PETAL_HFILE_BLOCK_ENCODED_DATA ||
           kind == PETAL_HFILE_BLOCK_BLOOM_CHUNK || kind == PETAL_HFILE_BLOCK_META ||
           kind == PETAL_HFILE_BLOCK_FILE_INFO;
}

/* Block by block: kinds, in order, and what is in them. */
static void
expect_same_blocks(const struct golden_file *file, const struct golden_file *again)
{
    uint64_t offset = 0, offset_again = 0;
    struct golden_block block, block_again;

    while (golden_block_next(file, &offset, &block)) {
        assert_true(golden_block_next(again, &offset_again, &block_again));
        assert_int_equal(block.header.kind, block_again.header.kind);
        assert_int_equal(block.header.checksum, block_again.header.checksum);
        assert_int_equal(block.header.uncompressed_bytes, block_again.header.uncompressed_bytes);
        if (is_determined(block.header.kind))
            assert_memory_equal(block.payload, block_again.payload,
                                block.header.uncompressed_bytes);
        free(block.payload);
        free(block_again.payload);
    }
    assert_false(golden_block_next(again, &offset_again, &block_again));
}

static void
expect_same_file(const struct golden_file *file, const struct memory_sink *memory)
{
    struct golden_file again = *file;

    if (file->codec == PETAL_HFILE_CODEC_NONE) {
        assert_int_equal(memory->bytes.size, file->size);
        assert_memory_equal(memory->bytes.bytes, file->bytes, file->size);
        return;
    }
    again.bytes = memory->bytes.bytes;
    again.size = memory->bytes.size;
    expect_same_blocks(file, &again);
}

static size_t written;

static void
write_file_again(const char *name)
{
    struct golden_file file;
    petal_hfile_write_options options;
    struct memory_sink memory;

    if (!golden_is_writable(name))
        return;
    golden_file_open(&file, name);
    options_of(&file, &options);
    write_again(&file, &options, &memory);
    expect_same_file(&file, &memory);
    memory_sink_free(&memory);
    golden_file_close(&file);
    written++;
}

/* Every byte of a file that is not compressed, trailer, FILE_INFO and checksums included. The time
 * of its making is an option. */
TEST(files_of_hbase_are_written_again)
{
    golden_each(write_file_again);
    assert_true(written >= 58);
}
