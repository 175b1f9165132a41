/* golden_file.c -- see golden_file.h. */
#include "tests/hfile/golden_file.h"

#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/block_header.h"
#include "tools/hfile/format/codec.h"
#include "tools/hfile/format/format.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/names.h"

#include <stdio.h>
#include <stdlib.h>

bool
golden_is_writable(const char *name)
{
    return !golden_is_refused(name) && strncmp(name, "tags-compressed", 15) != 0;
}

static void
read_info(struct golden_file *file)
{
    uint64_t offset = file->trailer.file_info_offset;
    struct golden_block block;
    petal_slice value;
    const char *wrong;

    hfile_file_info_init(&file->info, &hfile_default_allocator);
    assert_true(golden_block_next(file, &offset, &block));
    assert_int_equal(
        hfile_file_info_parse(hfile_slice(block.payload, block.header.uncompressed_bytes),
                              &file->info, &wrong),
        PETAL_OK);
    free(block.payload);
    file->layout.has_tags =
        hfile_file_info_find(&file->info, hfile_text_slice(HFILE_INFO_MAX_TAGS_LENGTH), &value);
    file->layout.has_sequences =
        hfile_file_info_find(&file->info, hfile_text_slice(HFILE_INFO_KEY_VALUE_VERSION), &value);
    file->encoding = hfile_encoding_of(PETAL_HFILE_ENCODING_NONE);
    if (hfile_file_info_find(&file->info, hfile_text_slice(HFILE_INFO_DATA_BLOCK_ENCODING), &value))
        file->encoding = hfile_encoding_of(hfile_encoding_named(value));
}

void
golden_file_open(struct golden_file *file, const char *name)
{
    petal_error error;

    assert_true(golden_is_writable(name));
    *file = (struct golden_file){.name = name, .facts = golden_text_read(name, "meta.txt")};
    file->bytes = golden_bytes(name, &file->size);
    assert_int_equal(hfile_trailer_parse(hfile_slice(file->bytes + file->size - HFILE_TRAILER_BYTES,
                                                     HFILE_TRAILER_BYTES),
                                         file->size, name, &file->trailer, &error),
                     PETAL_OK);
    file->codec =
        hfile_codec_named(hfile_text_slice(hfile_codec_name_of(file->trailer.codec_number)));
    read_info(file);
}

void
golden_file_close(struct golden_file *file)
{
    hfile_file_info_free(&file->info);
    golden_text_free(&file->facts);
    free(file->bytes);
}

uint32_t
golden_file_setting(const struct golden_file *file, const char *name)
{
    for (size_t i = 0; i < file->facts.count; i++) {
        const struct golden_line *line = &file->facts.lines[i];

        if (line->count > 2 && strcmp(line->fields[0], "setting") == 0 &&
            strcmp(line->fields[1], name) == 0)
            return (uint32_t)strtoul(line->fields[2], NULL, 10);
    }
    return 0;
}

bool
golden_block_next(const struct golden_file *file, uint64_t *offset, struct golden_block *block)
{
    struct hfile_codec codec = {.kind = file->codec, .allocator = &hfile_default_allocator};
    const char *wrong;

    if (*offset >= file->size - HFILE_TRAILER_BYTES)
        return false;
    assert_true(hfile_block_header_parse(file->bytes + *offset, &block->header, &wrong));
    block->header.offset = *offset;
    block->payload = test_allocate(block->header.uncompressed_bytes);
    assert_int_equal(
        hfile_codec_uncompress(&codec, file->bytes + *offset + HFILE_BLOCK_HEADER_BYTES,
                               block->header.data_bytes - HFILE_BLOCK_HEADER_BYTES, block->payload,
                               block->header.uncompressed_bytes, &wrong),
        PETAL_OK);
    hfile_codec_free(&codec);
    *offset += block->header.stored_bytes;
    return true;
}

static void
read_block(const struct golden_file *file, struct golden_cells *cells,
           const struct golden_block *block)
{
    size_t number = cells->block_count++;
    const char *wrong;

    cells->blocks = test_reallocate(cells->blocks, cells->block_count * sizeof *cells->blocks);
    cells->payloads =
        test_reallocate(cells->payloads, cells->block_count * sizeof *cells->payloads);
    cells->payloads[number] = block->payload;
    hfile_cells_init(&cells->blocks[number], &hfile_default_allocator);
    assert_int_equal(
        hfile_decode_cells(file->encoding, &file->layout,
                           hfile_slice(block->payload, block->header.uncompressed_bytes),
                           &cells->blocks[number], &wrong),
        PETAL_OK);
    cells->cells = test_reallocate(cells->cells, (cells->count + cells->blocks[number].count) *
                                                     sizeof *cells->cells);
    if (cells->blocks[number].count > 0)
        memcpy(cells->cells + cells->count, cells->blocks[number].cells,
               cells->blocks[number].count * sizeof *cells->cells);
    cells->count += cells->blocks[number].count;
}

void
golden_cells_read(const struct golden_file *file, struct golden_cells *cells)
{
    struct golden_block block;

    memset(cells, 0, sizeof *cells);
    for (uint64_t offset = 0; golden_block_next(file, &offset, &block);) {
        if (block.header.kind == file->encoding->block_kind)
            read_block(file, cells, &block);
        else
            free(block.payload);
    }
    assert_int_equal(cells->count, file->trailer.cells);
}

void
golden_cells_free(struct golden_cells *cells)
{
    for (size_t i = 0; i < cells->block_count; i++) {
        hfile_cells_free(&cells->blocks[i]);
        free(cells->payloads[i]);
    }
    free(cells->blocks);
    free(cells->payloads);
    free(cells->cells);
}
