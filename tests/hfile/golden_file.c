/* golden_file.c -- see golden_file.h. */
#include "tests/hfile/golden_file.h"

#include "tests/support/test_support.h"
#include "tools/hfile/format/block_header.h"
#include "tools/hfile/format/codec.h"
#include "tools/hfile/format/format.h"
#include "tools/hfile/format/memory.h"
#include "tools/hfile/format/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define FOLDER "tests/hfile/golden/"

static FILE *
open_text(const char *name, const char *end)
{
    char path[200];
    FILE *text;

    snprintf(path, sizeof path, FOLDER "%s%s", name, end);
    text = fopen(path, "r");
    assert_non_null(text);
    return text;
}

/* The name in line `number` of the index; false behind the last. */
static bool
name_of(size_t number, char *name, size_t size)
{
    FILE *index = open_text("INDEX", ".txt");
    char line[400];
    bool found = false;

    for (size_t i = 0; !found && fgets(line, sizeof line, index) != NULL;) {
        if (line[0] == '#')
            continue;
        found = i++ == number;
        if (found)
            snprintf(name, size, "%.*s", (int)strcspn(line, "\t"), line);
    }
    fclose(index);
    return found;
}

size_t
golden_count(void)
{
    char name[80];
    size_t count = 0;

    while (name_of(count, name, sizeof name))
        count++;
    assert_true(count > 50);
    return count;
}

static void
read_file(struct golden_file *file)
{
    FILE *stream = open_text(file->name, ".hfile");

    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    file->size = (size_t)ftell(stream);
    rewind(stream);
    file->bytes = test_allocate(file->size);
    assert_int_equal(fread(file->bytes, 1, file->size, stream), file->size);
    fclose(stream);
}

static enum petal_hfile_codec
codec_of(uint32_t number)
{
    static const char *const NAMES[] = {
#define CODEC_NAME(codec, name) [codec] = name,
        HFILE_CODEC_MAP(CODEC_NAME)
#undef CODEC_NAME
    };

    return hfile_codec_named(hfile_text_slice(NAMES[number]));
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
golden_open_named(struct golden_file *file, const char *name)
{
    petal_error error;

    memset(file, 0, sizeof *file);
    snprintf(file->name, sizeof file->name, "%s", name);
    read_file(file);
    assert_int_equal(hfile_trailer_parse(hfile_slice(file->bytes + file->size - HFILE_TRAILER_BYTES,
                                                     HFILE_TRAILER_BYTES),
                                         file->size, name, &file->trailer, &error),
                     PETAL_OK);
    file->codec = codec_of(file->trailer.codec_number);
    file->is_refused =
        strncmp(name, "refuse-", 7) == 0 || strncmp(name, "tags-compressed", 15) == 0;
    read_info(file);
}

void
golden_open(struct golden_file *file, size_t number)
{
    char name[80];

    assert_true(name_of(number, name, sizeof name));
    golden_open_named(file, name);
}

void
golden_close(struct golden_file *file)
{
    hfile_file_info_free(&file->info);
    free(file->bytes);
}

bool
golden_fact(const struct golden_file *file, const char *key, const char *begin, char *value,
            size_t size)
{
    FILE *text = open_text(file->name, ".meta.txt");
    char line[4000], wanted[200];
    bool found = false;

    snprintf(wanted, sizeof wanted, "%s\t%s", key, begin);
    while (!found && fgets(line, sizeof line, text) != NULL) {
        found = strncmp(line, wanted, strlen(wanted)) == 0;
        line[strcspn(line, "\n")] = '\0';
        if (found)
            snprintf(value, size, "%s", line + strlen(wanted));
    }
    fclose(text);
    return found;
}

uint64_t
golden_number(const struct golden_file *file, const char *key, const char *begin,
              uint64_t otherwise)
{
    char value[200];

    return golden_fact(file, key, begin, value, sizeof value) ? strtoull(value, NULL, 10)
                                                              : otherwise;
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

    assert_false(file->is_refused);
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
