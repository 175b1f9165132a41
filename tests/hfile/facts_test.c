/*
 * facts_test.c -- what is said of every golden file as a whole: trailer, FILE_INFO, blocks, the
 * answers of Bloom filters; and that a check finds nothing, and makes every chunk of them anew.
 */
#include "tests/hfile/golden.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/hfile/format/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t files, facts, blocks, answers, chunks, keys;

static void
assert_bytes(petal_slice found, const char *expected)
{
    char *text = golden_escape(found);

    assert_string_equal(text, expected);
    free(text);
}

static void
assert_number(uint64_t found, const char *expected)
{
    assert_int_equal(found, (uint64_t)strtoll(expected, NULL, 10));
    facts++;
}

/* ---- trailer and FILE_INFO ---- */

static void
compare_trailer(const petal_hfile_info *info, const struct golden_text *text)
{
    uint64_t first = info->has_data_blocks ? info->first_data_block_offset : UINT64_MAX;
    uint64_t last = info->has_data_blocks ? info->last_data_block_offset : UINT64_MAX;

    assert_number(info->file_bytes, golden_find(text, "file_size"));
    assert_number(info->cells, golden_find(text, "cells"));
    assert_number(info->cells, golden_find(text, "trailer.entry_count"));
    assert_number(info->major_version, golden_find(text, "trailer.major"));
    assert_number(info->minor_version, golden_find(text, "trailer.minor"));
    assert_number(info->file_info_offset, golden_find(text, "trailer.file_info_offset"));
    assert_number(info->load_on_open_offset, golden_find(text, "trailer.load_on_open_data_offset"));
    assert_number(info->index_bytes, golden_find(text, "trailer.uncompressed_data_index_size"));
    assert_number(info->uncompressed_bytes, golden_find(text, "trailer.total_uncompressed_bytes"));
    assert_number(info->root_entries, golden_find(text, "trailer.data_index_count"));
    assert_number(info->meta_entries, golden_find(text, "trailer.meta_index_count"));
    assert_number(info->index_levels, golden_find(text, "trailer.num_data_index_levels"));
    assert_number(first, golden_find(text, "trailer.first_data_block_offset"));
    assert_number(last, golden_find(text, "trailer.last_data_block_offset"));
    assert_bytes(info->comparator, golden_find(text, "trailer.comparator_class_name"));
    assert_string_equal(petal_hfile_codec_text(info->codec), golden_find(text, "compression"));
    assert_string_equal(petal_hfile_encoding_text(info->encoding),
                        golden_find(text, "data_block_encoding"));
    if (info->cells > 0 && golden_find(text, "bloom_type") != NULL)
        assert_string_equal(petal_hfile_bloom_type_text(info->bloom_type),
                            golden_find(text, "bloom_type"));
    assert_int_equal(info->has_tags, strcmp(golden_find(text, "includes_tags"), "true") == 0);
    assert_int_equal(info->has_sequences, strcmp(golden_find(text, "includes_mvcc"), "true") == 0);
}

/* Long ones are given as len:SIZE:DIGITS of the beginning... */
static bool
is_hexadecimal_of(petal_slice bytes, const char *digits)
{
    if (strncmp(digits, "len:", 4) == 0) {
        if (strtoul(digits + 4, NULL, 10) != bytes.size)
            return false;
        digits = strrchr(digits, ':') + 1;
        bytes.size = strcspn(digits, ".") / 2;
    } else if (strlen(digits) != 2 * bytes.size) {
        return false;
    }
    for (size_t i = 0; i < bytes.size; i++) {
        char pair[3];

        snprintf(pair, sizeof pair, "%02x", ((const uint8_t *)bytes.data)[i]);
        if (memcmp(pair, digits + 2 * i, 2) != 0)
            return false;
    }
    return true;
}

static void
compare_file_info(const petal_hfile *file, const struct golden_text *text)
{
    const petal_hfile_info *info = petal_hfile_info_get(file);
    petal_slice key, value;
    size_t number = 0;

    assert_int_equal(info->has_sequence_id, petal_hfile_info_find(file, "MAX_SEQ_ID_KEY", &value));
    for (size_t i = 0; i < text->count; i++) {
        const struct golden_line *line = &text->lines[i];

        if (strcmp(line->fields[0], "fileinfo") != 0)
            continue;
        assert_true(petal_hfile_info_entry(file, number++, &key, &value));
        assert_bytes(key, line->fields[1]);
        assert_true(is_hexadecimal_of(value, line->fields[2]));
        assert_true(petal_hfile_info_find(file, line->fields[1], &value));
        assert_true(is_hexadecimal_of(value, line->fields[2]));
        if (strcmp(line->fields[1], "MAX_SEQ_ID_KEY") == 0)
            assert_int_equal(info->sequence_id, strtoll(line->fields[2], NULL, 16));
        facts++;
    }
    assert_false(petal_hfile_info_entry(file, number, &key, &value));
}

static void
compare_mid_key(petal_hfile *file, const struct golden_text *text)
{
    const char *expected = golden_find(text, "mid_key");
    enum petal_status status;
    petal_error error;
    void *bytes;
    size_t size;

    status = petal_hfile_mid_key(file, &bytes, &size, &error);
    if (petal_hfile_info_get(file)->cells == 0) {
        assert_int_equal(status, PETAL_NOT_FOUND);
        return;
    }
    must(status, &error);
    if (size <= 200)
        assert_bytes((petal_slice){bytes, size}, expected);
    petal_hfile_release(file, bytes, size);
    facts++;
}

/* ---- blocks ---- */

struct walk {
    const struct golden_text *text;
    size_t line;
};

static bool
compare_block(void *argument, const petal_hfile_block *block)
{
    struct walk *walk = argument;
    const struct golden_line *line;

    while (walk->line < walk->text->count &&
           strcmp(walk->text->lines[walk->line].fields[0], "block") != 0)
        walk->line++;
    assert_true(walk->line < walk->text->count);
    line = &walk->text->lines[walk->line++];
    assert_number(block->offset, line->fields[1]);
    assert_string_equal(petal_hfile_block_kind_text(block->kind), line->fields[2]);
    assert_number(block->stored_bytes, line->fields[3]);
    assert_number(block->uncompressed_bytes, line->fields[4]);
    assert_number(block->data_bytes, line->fields[5]);
    assert_number((uint64_t)block->previous_offset, line->fields[6]);
    assert_true(block->checksum_is_right);
    blocks++;
    return true;
}

static void
compare_blocks(petal_hfile *file, const struct golden_text *text)
{
    struct walk walk = {.text = text};
    petal_error error;

    must(petal_hfile_blocks(file, compare_block, &walk, &error), &error);
    assert_true(walk.line == text->count || strcmp(text->lines[walk.line].fields[0], "block") != 0);
}

/* ---- Bloom filters: numbers, chunks, answers ---- */

static void
compare_filter(const petal_hfile *file, enum petal_hfile_filter filter, const char *name,
               const struct golden_text *text)
{
    char key[64];
    petal_hfile_bloom bloom;
    size_t chunk = 0;

    snprintf(key, sizeof key, "bloom.%s", name);
    assert_int_equal(petal_hfile_bloom_get(file, filter, &bloom), golden_find(text, key) == NULL);
    if (golden_find(text, key) != NULL)
        return;
#define COMPARE(word, number)                                                                      \
    snprintf(key, sizeof key, "bloom.%s.%s", name, word);                                          \
    assert_number((uint64_t)(number), golden_find(text, key))
    COMPARE("version", bloom.version);
    COMPARE("total_byte_size", bloom.total_bytes);
    COMPARE("hash_count", bloom.hash_count);
    COMPARE("hash_type", bloom.hash_type);
    COMPARE("key_count", bloom.keys);
    COMPARE("max_keys", bloom.most_keys);
    COMPARE("num_chunks", bloom.chunks);
#undef COMPARE
    snprintf(key, sizeof key, "bloom.%s.comparator", name);
    assert_bytes(bloom.comparator, golden_find(text, key));
    snprintf(key, sizeof key, "bloom.%s.chunk", name);
    for (size_t i = 0; i < text->count; i++) {
        const struct golden_line *line = &text->lines[i];
        uint32_t stored_bytes;
        uint64_t offset;
        petal_slice first;

        if (strcmp(line->fields[0], key) != 0)
            continue;
        assert_true(petal_hfile_bloom_chunk(file, filter, chunk++, &offset, &stored_bytes, &first));
        assert_number(offset, line->fields[1]);
        assert_number(stored_bytes, line->fields[2]);
        if (strncmp(line->fields[3], "len:", 4) != 0)
            assert_bytes(first, line->fields[3]);
    }
    assert_int_equal(chunk, bloom.chunks);
}

static bool
is_answer(const char *kind)
{
    static const char *const kinds[] = {"passes_get", "bloom_row", "bloom_prefix", "bloom_rowcol",
                                        "bloom_delfam"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    }
    return false;
}

/* One line of answers; false: it is none. */
static bool
compare_answer(petal_hfile *file, const struct golden_line *line)
{
    const char *kind = line->fields[0], *expected = line->fields[line->count - 1];
    bool has_qualifier = line->count == 5 && strcmp(line->fields[2], "*") != 0;
    enum petal_status status;
    petal_slice row, qualifier = {NULL, 0};
    petal_error error;
    bool answer;

    if (!is_answer(kind))
        return false;
    row = golden_unescape(line->fields[1]);
    if (has_qualifier)
        qualifier = golden_unescape(line->fields[2]);
    if (strcmp(kind, "passes_get") == 0)
        status =
            petal_hfile_may_contain(file, row, has_qualifier ? &qualifier : NULL, &answer, &error);
    else
        status = petal_hfile_bloom_ask(file,
                                       strcmp(kind, "bloom_delfam") == 0
                                           ? PETAL_HFILE_FILTER_DELETE_FAMILY
                                           : PETAL_HFILE_FILTER_GENERAL,
                                       row, &qualifier, &answer, &error);
    must(status, &error);
    if (answer != (expected[0] == '1')) {
        print_error("%s %s %s: HBase says %s\n", kind, line->fields[1], line->fields[2], expected);
        fail();
    }
    free((void *)(uintptr_t)row.data);
    free((void *)(uintptr_t)qualifier.data);
    return true;
}

/* ---- all ---- */

static void
compare_one(const char *name)
{
    struct golden_text text = golden_text_read(name, "meta.txt");
    petal_hfile_report report;
    petal_hfile *file;
    petal_error error;
    char path[512];

    if (golden_is_refused(name)) {
        golden_text_free(&text);
        return;
    }
    golden_path(name, path, sizeof path);
    must(petal_hfile_open(path, NULL, &file, &error), &error);
    compare_trailer(petal_hfile_info_get(file), &text);
    compare_file_info(file, &text);
    compare_mid_key(file, &text);
    compare_blocks(file, &text);
    compare_filter(file, PETAL_HFILE_FILTER_GENERAL, "general", &text);
    compare_filter(file, PETAL_HFILE_FILTER_DELETE_FAMILY, "delete_family", &text);
    for (size_t i = 0; i < text.count; i++)
        answers += compare_answer(file, &text.lines[i]);
    must(petal_hfile_check(file, NULL, NULL, &report, &error), &error);
    assert_number(report.cells, golden_find(&text, "cells"));
    files++;
    chunks += report.rebuilt_chunks;
    keys += report.filter_keys;
    petal_hfile_close(file);
    golden_text_free(&text);
}

TEST(every_file_says_what_hbase_says)
{
    golden_each(compare_one);
    printf("counted: %zu files of HBase: %zu facts, %zu blocks, %zu answers of filters; %zu chunks "
           "made anew of %zu keys\n",
           files, facts, blocks, answers, chunks, keys);
}

/* ---- user meta blocks ---- */

TEST(meta_blocks_are_read)
{
    petal_hfile *file;
    petal_error error;
    petal_slice name;
    char path[512];
    size_t size;
    void *bytes;

    golden_path("meta-blocks", path, sizeof path);
    must(petal_hfile_open(path, NULL, &file, &error), &error);
    assert_true(petal_hfile_meta_name(file, 1, &name));
    assert_false(petal_hfile_meta_name(file, 2, &name));
    must(petal_hfile_meta_read(file, 0, &bytes, &size, &error), &error);
    assert_int_equal(size, 8);
    petal_hfile_release(file, bytes, size);
    must(petal_hfile_meta_read(file, 1, &bytes, &size, &error), &error);
    assert_int_equal(size, 500);
    petal_hfile_release(file, bytes, size);
    assert_int_equal(petal_hfile_meta_read(file, 2, &bytes, &size, &error), PETAL_NOT_FOUND);
    petal_hfile_close(file);
}

/* ---- what is read to answer ---- */

struct counted_source {
    petal_hfile_source source;
    uint64_t bytes, least_offset;
};

static enum petal_status
counted_read_at(void *context, uint64_t offset, void *buffer, size_t size, petal_error *error)
{
    struct counted_source *counted = context;

    counted->bytes += size;
    if (offset < counted->least_offset)
        counted->least_offset = offset;
    return counted->source.read_at(counted->source.context, offset, buffer, size, error);
}

TEST(facts_are_read_from_the_end_alone)
{
    struct counted_source counted = {.least_offset = UINT64_MAX};
    petal_hfile_source source;
    petal_hfile *file;
    petal_error error;
    petal_slice bytes;
    size_t size;

    bytes.data = golden_bytes("value-1mb-lz4", &size);
    bytes.size = size;
    counted.source = golden_source(&bytes, "value");
    source = counted.source;
    source.context = &counted;
    source.read_at = counted_read_at;
    must(petal_hfile_open_source(&source, NULL, &file, &error), &error);
    assert_true(counted.least_offset >= petal_hfile_info_get(file)->load_on_open_offset);
    assert_true(counted.bytes <= 2 * (size - petal_hfile_info_get(file)->load_on_open_offset));
    petal_hfile_close(file);
    free((void *)(uintptr_t)bytes.data);
}

TEST(every_name_has_its_number)
{
    for (unsigned i = 1; i <= 5; i++) {
        const char *text = petal_hfile_codec_text((enum petal_hfile_codec)i);

        assert_int_equal(hfile_codec_named((petal_slice){text, strlen(text)}), i);
        text = petal_hfile_encoding_text((enum petal_hfile_encoding)i);
        assert_int_equal(hfile_encoding_named((petal_slice){text, strlen(text)}), i);
    }
    assert_string_equal(petal_hfile_codec_text((enum petal_hfile_codec)0), "?");
    assert_string_equal(petal_hfile_codec_text((enum petal_hfile_codec)6), "?");
    assert_string_equal(petal_hfile_checksum_text(PETAL_HFILE_CHECKSUM_CRC32C), "CRC32C");
    assert_int_equal(hfile_bloom_type_named((petal_slice){"ROWX", 4}), 0);
}

/* A major compaction of HBase 2.6.0 wrote this file: it says that a dictionary compresses its tags,
 * which stand there as they are. */
TEST(tags_under_row_index_v1_are_as_they_are)
{
    petal_hfile_report report;
    petal_hfile *file;
    petal_error error;

    assert_int_equal(petal_hfile_open("tests/hfile/exchange/golden/tags_under_row_index_v1", NULL,
                                      &file, &error),
                     PETAL_OK);
    assert_int_equal(petal_hfile_check(file, NULL, NULL, &report, &error), PETAL_OK);
    assert_int_equal(report.cells, 282);
    petal_hfile_close(file);
}
