/*
 * descriptor_test.c -- what HBase says of a table becomes the options of a table of Petal: a
 * .tableinfo that HBase 2.6.0 wrote (golden/tableinfo), the text of describe, and bad ones of both.
 */
#include "tests/support/test.h"
#include "tools/hfile/exchange/descriptor.h"
#include "tools/hfile/format/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_INFO "tests/hfile/exchange/golden/tableinfo"

struct described {
    struct arena arena;
    struct descriptor descriptor;
    petal_error error;
};

static struct described *
described_new(void)
{
    struct described *described = calloc(1, sizeof *described);

    assert_non_null(described);
    descriptor_init(&described->descriptor, &described->arena);
    return described;
}

static void
described_free(struct described *described)
{
    arena_free(&described->arena);
    free(described);
}

static size_t
read_table_info(char *bytes, size_t most)
{
    FILE *file = fopen(TABLE_INFO, "rb");
    size_t size;

    assert_non_null(file);
    size = fread(bytes, 1, most, file);
    fclose(file);
    assert_true(size > 4 && size < most && memcmp(bytes, "PBUF", 4) == 0);
    return size;
}

static void
assert_attribute(const petal_family_options *family, const char *name, const char *value)
{
    for (size_t i = 0; i < family->attribute_count; i++) {
        const petal_attribute *attribute = &family->attributes[i];

        if (hfile_slice_equal(attribute->name, hfile_text_slice(name))) {
            assert_int_equal(attribute->kind, PETAL_KEPT_ATTRIBUTE);
            assert_true(hfile_slice_equal(attribute->value, hfile_text_slice(value)));
            return;
        }
    }
    fail_msg("there is no %s", name);
}

TEST(test_table_info_of_hbase)
{
    struct described *described = described_new();
    const petal_table_options *table = &described->descriptor.table;
    char bytes[4096];
    size_t size = read_table_info(bytes, sizeof bytes);

    assert_int_equal(descriptor_parse_schema(&described->descriptor,
                                             hfile_slice(bytes + 4, size - 4), "tableinfo",
                                             &described->error),
                     PETAL_OK);
    assert_true(hfile_slice_equal(table->name, hfile_text_slice("t1")));
    assert_int_equal(table->family_count, 2);
    assert_int_equal(table->attribute_count, 0);
    assert_true(hfile_slice_equal(table->families[0].name, hfile_text_slice("a")));
    assert_int_equal(table->families[0].versions, 4);
    assert_int_equal(table->families[0].bloom, PETAL_BLOOM_ROWCOL);
    assert_int_equal(table->families[0].keep_deleted_cells, PETAL_KEEP_DELETED_FALSE);
    assert_int_equal(table->families[0].ttl_seconds, PETAL_FOREVER);
    assert_int_equal(table->families[0].block_bytes, 2048);
    assert_int_equal(table->families[0].compression, PETAL_COMPRESSION_NONE);
    assert_attribute(&table->families[0], "DATA_BLOCK_ENCODING", "PREFIX");
    assert_true(hfile_slice_equal(table->families[1].name, hfile_text_slice("bc")));
    assert_int_equal(table->families[1].bloom, PETAL_BLOOM_NONE);
    assert_attribute(&table->families[1], "DATA_BLOCK_ENCODING", "DIFF");
    described_free(described);
}

/* Cut anywhere, and with any byte changed, it is taken or named as damaged, and nothing else. */
TEST(test_table_info_damaged)
{
    char bytes[4096];
    size_t size = read_table_info(bytes, sizeof bytes);
    unsigned refused = 0;

    for (size_t i = 4; i < 2 * size; i++) {
        struct described *described = described_new();
        size_t place = i % size < 4 ? 4 : i % size, given = i < size ? i : size;
        char kept = bytes[place];
        enum petal_status status;

        if (i >= size)
            bytes[place] = (char)~kept;
        status = descriptor_parse_schema(&described->descriptor, hfile_slice(bytes + 4, given - 4),
                                         "tableinfo", &described->error);
        bytes[place] = kept;
        refused += status != PETAL_OK;
        if (status != PETAL_OK) {
            assert_true(status == PETAL_CORRUPT || status == PETAL_UNSUPPORTED);
            assert_non_null(strstr(described->error.text, "tableinfo"));
        }
        described_free(described);
    }
    assert_true(refused > size / 2);
}

TEST(test_text_of_describe)
{
    static const char text[] =
        "Table users is ENABLED\n"
        "users, {TABLE_ATTRIBUTES => {METADATA => {'a' => 'b'}}}\n"
        "COLUMN FAMILIES DESCRIPTION\n"
        "{NAME => 'info', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '3', KEEP_DELETED_CELLS => "
        "'TTL', DATA_BLOCK_ENCODING => 'FAST_DIFF', TTL => '86400 SECONDS (1 DAY)', MIN_VERSIONS "
        "=> "
        "'1', BLOOMFILTER => 'ROWPREFIX_FIXED_LENGTH', IN_MEMORY => 'true', COMPRESSION => 'GZ', "
        "BLOCKCACHE => 'false', BLOCKSIZE => '131072 B (128KB)', METADATA => "
        "{'NEW_VERSION_BEHAVIOR' => 'true'}, CONFIGURATION => "
        "{'RowPrefixBloomFilter.prefix_length' => '4'}}\n"
        "{NAME => 'x', VERSIONS => '2147483647', TTL => 'FOREVER'}\n2 row(s)\n";
    struct described *described = described_new();
    const petal_family_options *family;

    assert_int_equal(descriptor_parse_text(&described->descriptor, hfile_text_slice(text),
                                           "describe.txt", &described->error),
                     PETAL_OK);
    assert_int_equal(described->descriptor.table.family_count, 2);
    family = &described->descriptor.table.families[0];
    assert_int_equal(family->versions, 3);
    assert_int_equal(family->min_versions, 1);
    assert_int_equal(family->ttl_seconds, 86400);
    assert_int_equal(family->keep_deleted_cells, PETAL_KEEP_DELETED_TTL);
    assert_int_equal(family->bloom, PETAL_BLOOM_ROW_PREFIX);
    assert_int_equal(family->bloom_prefix_bytes, 4);
    assert_int_equal(family->block_bytes, 131072);
    assert_true(family->in_memory && family->no_block_cache && family->new_version_behavior);
    assert_int_equal(family->compression, PETAL_COMPRESSION_LZ4);
    assert_attribute(family, "COMPRESSION", "GZ");
    assert_int_equal(described->descriptor.table.families[1].versions, INT32_MAX);
    described_free(described);
}

TEST(test_bad_texts_are_named)
{
    static const struct {
        const char *text, *named;
    } bad[] = {{"Table t is ENABLED\n", "NAME => 'family'"},
               {"{NAME => 'f', VERSIONS => '0'}", "VERSIONS => '0'"},
               {"{NAME => 'f', VERSIONS => 'many'}", "VERSIONS => 'many'"},
               {"{NAME => 'f', BLOOMFILTER => 'RED'}", "BLOOMFILTER => 'RED'"},
               {"{NAME => 'f', IN_MEMORY => 'perhaps'}", "IN_MEMORY => 'perhaps'"},
               {"{NAME => 'f', TTL", "NAME => 'value'"},
               {"{NAME => 'f', TTL => 'x", "NAME => 'value'"},
               {"{NAME => 'f', METADATA => {A => {B => 'c'}}}", "nested more than two deep"}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct described *described = described_new();

        assert_int_not_equal(descriptor_parse_text(&described->descriptor,
                                                   hfile_text_slice(bad[i].text), "describe.txt",
                                                   &described->error),
                             PETAL_OK);
        if (strstr(described->error.text, bad[i].named) == NULL)
            fail_msg("'%s' is told as '%s'", bad[i].text, described->error.text);
        described_free(described);
    }
}
