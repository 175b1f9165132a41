/*
 * table_test.c -- attributes of tables and families: each one comes back after close and open,
 * wrong ones are refused by name, value and range, and what describe gave stays good. How families
 * come and go: tests/engine/table/alter_test.c.
 */

#include "engine/state/db.h"
#include "tests/engine/table/fixture.h"
#include "tests/support/test.h"

/* ---- round trips ---- */

static const petal_attribute family_texts[] = {
    {PETAL_METADATA, NAMED("a"), NAMED("")},
    {PETAL_METADATA, NAMED("b"), NAMED("x")},
    {PETAL_CONFIGURATION, NAMED("a"), NAMED("\0\xff")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("CACHE_BLOOMS_ON_WRITE"), NAMED("true")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("CACHE_DATA_ON_WRITE"), NAMED("true")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("CACHE_INDEX_ON_WRITE"), NAMED("false")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("COMPRESSION"), NAMED("ZSTD")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("COMPRESSION_COMPACT"), NAMED("GZ")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("COMPRESSION_COMPACT_MAJOR"), NAMED("ZSTD")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("COMPRESSION_COMPACT_MINOR"), NAMED("NONE")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("COMPRESS_TAGS"), NAMED("true")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("DATA_BLOCK_ENCODING"), NAMED("ROW_INDEX_V1")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("DFS_REPLICATION"), NAMED("32767")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("ENCRYPTION"), NAMED("AES")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("ENCRYPTION_KEY"), NAMED("\x01")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("EVICT_BLOCKS_ON_CLOSE"), NAMED("true")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("INDEX_BLOCK_ENCODING"), NAMED("PREFIX_TREE")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("IN_MEMORY_COMPACTION"), NAMED("ADAPTIVE")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("IS_MOB"), NAMED("true")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("MOB_THRESHOLD"), NAMED("9223372036854775807")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("PREFETCH_BLOCKS_ON_OPEN"), NAMED("true")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("REPLICATION_SCOPE"), NAMED("1")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("STORAGE_POLICY"), NAMED("ALL_SSD")},
};

static const petal_attribute table_texts[] = {
    {PETAL_METADATA, NAMED("a"), NAMED("1")},
    {PETAL_CONFIGURATION, NAMED("io.storefile.bloom.error.rate"), NAMED("0.5")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("COMPACTION_ENABLED"), NAMED("false")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("MAX_FILESIZE"), NAMED("1")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("MEMSTORE_FLUSHSIZE"), NAMED("1048576")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("MERGE_ENABLED"), NAMED("true")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("OWNER"), NAMED("me")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("PRIORITY"), NAMED("-2147483648")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("REGION_REPLICATION"), NAMED("3")},
    {PETAL_KEPT_ATTRIBUTE, NAMED("SPLIT_ENABLED"), NAMED("false")},
};

static const petal_family_options rich_family = {
    .name = NAMED("rich"),
    .versions = 7,
    .min_versions = 7,
    .ttl_seconds = 86400,
    .keep_deleted_cells = PETAL_KEEP_DELETED_TTL,
    .new_version_behavior = true,
    .block_bytes = 8192,
    .compression = PETAL_COMPRESSION_NONE,
    .bloom = PETAL_BLOOM_ROW_PREFIX,
    .bloom_prefix_bytes = 32767,
    .bloom_error_rate = 0.25,
    .bloom_rate_per_file = true,
    .bloom_kind = PETAL_BLOOM_KIND_RIBBON,
    .in_memory = true,
    .no_block_cache = true,
    .attributes = family_texts,
    .attribute_count = COUNT(family_texts),
};

static void
check_texts(const petal_attribute *found, size_t count, const petal_attribute *expected,
            size_t expected_count)
{
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].kind, expected[i].kind);
        assert_true(slice_equal(found[i].name, expected[i].name));
        assert_true(slice_equal(found[i].value, expected[i].value));
    }
}

static void
check_rich(const petal_family_options *found)
{
    assert_int_equal(found->size, sizeof *found);
    assert_true(slice_equal(found->name, rich_family.name));
    assert_int_equal(found->versions, 7);
    assert_int_equal(found->min_versions, 7);
    assert_int_equal(found->ttl_seconds, 86400);
    assert_int_equal(found->keep_deleted_cells, PETAL_KEEP_DELETED_TTL);
    assert_true(found->new_version_behavior);
    assert_int_equal(found->block_bytes, 8192);
    assert_int_equal(found->compression, PETAL_COMPRESSION_NONE);
    assert_int_equal(found->bloom, PETAL_BLOOM_ROW_PREFIX);
    assert_int_equal(found->bloom_prefix_bytes, 32767);
    assert_true(found->bloom_error_rate == 0.25);
    assert_true(found->bloom_rate_per_file);
    assert_int_equal(found->bloom_kind, PETAL_BLOOM_KIND_RIBBON);
    assert_true(found->in_memory);
    assert_true(found->no_block_cache);
    check_texts(found->attributes, found->attribute_count, family_texts, COUNT(family_texts));
}

static void
check_defaults(const petal_family_options *found, const char *name)
{
    assert_true(slice_equal(found->name, text(name)));
    assert_int_equal(found->versions, 1);
    assert_int_equal(found->min_versions, 0);
    assert_int_equal(found->ttl_seconds, PETAL_FOREVER);
    assert_int_equal(found->keep_deleted_cells, PETAL_KEEP_DELETED_FALSE);
    assert_false(found->new_version_behavior);
    assert_int_equal(found->block_bytes, 65536);
    assert_int_equal(found->compression, PETAL_COMPRESSION_LZ4);
    assert_int_equal(found->bloom, PETAL_BLOOM_ROW);
    assert_int_equal(found->bloom_prefix_bytes, 0);
    assert_true(found->bloom_error_rate == 0.01);
    assert_false(found->bloom_rate_per_file);
    assert_int_equal(found->bloom_kind, PETAL_BLOOM_KIND_BLOCKED);
    assert_int_equal(found->attribute_count, 0);
}

static void
check_described(petal_table *table, bool read_only)
{
    petal_table_options described = {.size = sizeof described};
    petal_family_options family = {.size = sizeof family};

    petal_table_describe(table, &described);
    assert_true(slice_equal(described.name, text("t")));
    assert_int_equal(described.durability, PETAL_ASYNC_WAL);
    assert_int_equal(petal_table_durability(table), PETAL_ASYNC_WAL);
    assert_int_equal(described.read_only, read_only);
    check_texts(described.attributes, described.attribute_count, table_texts, COUNT(table_texts));
    assert_int_equal(described.family_count, 2);
    check_defaults(&described.families[0], "a");
    check_rich(&described.families[1]);
    petal_family_describe(table_family_named(table, "rich"), &family);
    check_rich(&family);
}

TEST(test_every_attribute_comes_back)
{
    petal_family_options families[2] = {rich_family, {.name = text("a")}};
    petal_table_options options = {
        .name = text("t"),
        .families = families,
        .family_count = 2,
        .durability = PETAL_ASYNC_WAL,
        .read_only = true,
        .attributes = table_texts,
        .attribute_count = COUNT(table_texts),
    };
    struct fixture fixture;
    petal_table *table;

    table_begin(&fixture);
    MUST(petal_table_check(&options, WHY));
    MUST(petal_table_create(fixture.db, &options, &table, WHY));
    check_described(table, true);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    check_described(table_reopen(&fixture), true);
    /* The same by alteration, twice: the second time from what describe says. */
    MUST(petal_table_drop(table_reopen(&fixture), WHY));
    table = table_make(&fixture, "a");
    options.read_only = false;
    MUST(petal_table_alter(table, &options, WHY));
    check_described(table, false);
    petal_table_describe(table, &options);
    MUST(petal_table_alter(table, &options, WHY));
    check_described(table, false);
    fixture_must_close(&fixture);
    fixture_must_open(&fixture);
    check_described(table_reopen(&fixture), false);
    fixture_fini(&fixture);
}

/* ---- refusals ---- */

/* Refused by create, by the check without a database, and by alter, with this text; nothing
 * changes. */
static void
refused(struct fixture *fixture, const petal_table_options *options, const char *first,
        const char *second)
{
    petal_table_options made = *options;
    petal_table *table = table_reopen(fixture), *other;
    petal_error error, checked;

    made.name = text("other");
    assert_int_equal(petal_table_create(fixture->db, &made, &other, &error), PETAL_INVALID);
    if (strstr(error.text, first) == NULL || strstr(error.text, second) == NULL)
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", error.text, first, second);
    assert_null(other);
    assert_int_equal(petal_table_check(&made, &checked), PETAL_INVALID);
    assert_string_equal(checked.text, error.text);
    made.name = text("t");
    assert_int_equal(petal_table_alter(table, &made, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, first));
    assert_int_equal(petal_table_family_count(table), 1);
}

static void
family_refused(struct fixture *fixture, petal_family_options family, const char *first,
               const char *second)
{
    petal_table_options options = {.families = &family, .family_count = 1};

    family.name = text("f");
    refused(fixture, &options, first, second);
}

TEST(test_wrong_attributes_are_refused)
{
    struct fixture fixture;

    table_begin(&fixture);
    table_make(&fixture, "f");
#define REFUSED(first, second, ...)                                                                \
    family_refused(&fixture, (petal_family_options){__VA_ARGS__}, first, second)
    REFUSED("MIN_VERSIONS is 2", "VERSIONS, which is 1", .min_versions = 2);
    REFUSED("MIN_VERSIONS is 4", "VERSIONS, which is 3", .versions = 3, .min_versions = 4);
    REFUSED("TTL is 2147483648", "1 to 2147483647", .ttl_seconds = PETAL_FOREVER + 1);
    REFUSED("KEEP_DELETED_CELLS is 4", "TTL", .keep_deleted_cells = (enum petal_keep_deleted)4);
    REFUSED("BLOOMFILTER is 6", "ROWPREFIX_FIXED_LENGTH", .bloom = (enum petal_bloom_type)6);
    REFUSED("BLOOMFILTER_KIND is 1", "BLOCKED or RIBBON", .bloom_kind = PETAL_BLOOM_KIND_STANDARD);
    REFUSED("BLOOMFILTER_KIND is 6", "BLOCKED or RIBBON", .bloom_kind = (enum petal_bloom_kind)6);
    REFUSED("RowPrefixBloomFilter.prefix_length is 0", "1 to 32767",
            .bloom = PETAL_BLOOM_ROW_PREFIX);
    REFUSED("RowPrefixBloomFilter.prefix_length is 32768", "1 to 32767",
            .bloom = PETAL_BLOOM_ROW_PREFIX, .bloom_prefix_bytes = 32768);
    REFUSED("RowPrefixBloomFilter.prefix_length is 4", "without BLOOMFILTER ROWPREFIX_FIXED_LENGTH",
            .bloom_prefix_bytes = 4);
#undef REFUSED
    fixture_fini(&fixture);
}

static void
texts_refused(struct fixture *fixture, bool of_table, const petal_attribute *attributes,
              size_t count, const char *first, const char *second)
{
    petal_family_options family = {.name = text("f")};
    petal_table_options options = {.families = &family, .family_count = 1};

    if (of_table) {
        options.attributes = attributes;
        options.attribute_count = count;
    } else {
        family.attributes = attributes;
        family.attribute_count = count;
    }
    refused(fixture, &options, first, second);
}

TEST(test_wrong_texts_are_refused)
{
    static const struct {
        bool of_table;
        enum petal_attribute_kind kind;
        const char *name, *value, *range;
    } cases[] = {
        {false, PETAL_KEPT_ATTRIBUTE, "REPLICATION_SCOPE", "2", "0 to 1"},
        {false, PETAL_KEPT_ATTRIBUTE, "REPLICATION_SCOPE", "01", "0 to 1"},
        {false, PETAL_KEPT_ATTRIBUTE, "REPLICATION_SCOPE", "", "0 to 1"},
        {false, PETAL_KEPT_ATTRIBUTE, "DATA_BLOCK_ENCODING", "prefix", "FAST_DIFF"},
        {false, PETAL_KEPT_ATTRIBUTE, "DATA_BLOCK_ENCODING", "NONE PREFIX", "FAST_DIFF"},
        {false, PETAL_KEPT_ATTRIBUTE, "INDEX_BLOCK_ENCODING", "TREE", "PREFIX_TREE"},
        {false, PETAL_KEPT_ATTRIBUTE, "IN_MEMORY_COMPACTION", "LAZY", "EAGER"},
        {false, PETAL_KEPT_ATTRIBUTE, "CACHE_DATA_ON_WRITE", "yes", "true false"},
        {false, PETAL_KEPT_ATTRIBUTE, "MOB_THRESHOLD", "-1", "0 to"},
        {false, PETAL_KEPT_ATTRIBUTE, "MOB_THRESHOLD", "9223372036854775808", "0 to"},
        {false, PETAL_KEPT_ATTRIBUTE, "MAX_FILESIZE", "1", "family"},
        {false, PETAL_KEPT_ATTRIBUTE, "VERSIONS", "1", "family"},
        {false, PETAL_CONFIGURATION, "io.storefile.bloom.error.rate", "0.1", "bloom_error_rate"},
        {false, PETAL_CONFIGURATION, "RowPrefixBloomFilter.prefix_length", "3", "prefix_bytes"},
        {false, PETAL_METADATA, "", "", "1 to 1024"},
        {true, PETAL_KEPT_ATTRIBUTE, "MAX_FILESIZE", "0", "1 to"},
        {true, PETAL_KEPT_ATTRIBUTE, "MEMSTORE_FLUSHSIZE", "1048575", "1048576 to"},
        {true, PETAL_KEPT_ATTRIBUTE, "REGION_REPLICATION", "0", "1 to"},
        {true, PETAL_KEPT_ATTRIBUTE, "PRIORITY", "2147483648", "2147483647"},
        {true, PETAL_KEPT_ATTRIBUTE, "OWNER", "", "1 byte"},
        {true, PETAL_KEPT_ATTRIBUTE, "TTL", "1", "table"},
        {true, (enum petal_attribute_kind)4, "x", "1", "1 to 3"},
    };
    petal_attribute twice[2] = {{PETAL_METADATA, NAMED("k"), NAMED("1")},
                                {PETAL_METADATA, NAMED("k"), NAMED("2")}};
    petal_attribute many[257];
    struct fixture fixture;

    table_begin(&fixture);
    table_make(&fixture, "f");
    for (size_t i = 0; i < COUNT(cases); i++) {
        petal_attribute wrong = {cases[i].kind, text(cases[i].name), text(cases[i].value)};

        texts_refused(&fixture, cases[i].of_table, &wrong, 1, cases[i].name, cases[i].range);
    }
    texts_refused(&fixture, false, twice, 2, "k", "twice");
    texts_refused(&fixture, true, twice, 2, "k", "twice");
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = twice[0];
    texts_refused(&fixture, true, many, COUNT(many), "257", "256");
    fixture_fini(&fixture);
}

TEST(test_a_table_keeps_its_name)
{
    petal_family_options families[8];
    petal_table_options options = table_plain_options(families, "f");
    struct fixture fixture;
    petal_table *table;
    petal_error error;

    table_begin(&fixture);
    table = table_make(&fixture, "f");
    options.name = text("u");
    assert_int_equal(petal_table_alter(table, &options, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "name"));
    options.name = slice_make(NULL, 0);
    MUST(petal_table_alter(table, &options, WHY));
    assert_int_equal(petal_table_alter(table, NULL, &error), PETAL_INVALID);
    assert_string_equal(error.text, "options is NULL");
    MUST(petal_table_drop(table, WHY));
    assert_int_equal(petal_table_alter(table, &options, &error), PETAL_NOT_FOUND);
    fixture_fini(&fixture);
}

TEST(test_descriptions_stay_good)
{
    petal_family_options families[2] = {rich_family, {.name = text("f")}};
    petal_table_options options = {.families = families, .family_count = 2}, before, after;
    petal_family_options rich;
    struct fixture fixture;
    petal_table *table;

    table_begin(&fixture);
    table = table_make(&fixture, "f");
    MUST(petal_table_alter(table, &options, WHY));
    before.size = sizeof before;
    rich.size = sizeof rich;
    petal_table_describe(table, &before);
    petal_family_describe(table_family_named(table, "rich"), &rich);
    families[0] = (petal_family_options){.name = rich_family.name};
    MUST(petal_table_alter(table, &options, WHY));
    MUST(table_alter_to(table, "f", WHY));
    after.size = sizeof after;
    petal_table_describe(table, &after);
    assert_int_equal(after.family_count, 1);
    assert_int_equal(before.family_count, 2);
    check_rich(&before.families[1]);
    check_rich(&rich);
    /* A caller of an earlier header gets what it knows. */
    after.size = offsetof(petal_table_options, families);
    after.family_count = 77;
    petal_table_describe(table, &after);
    assert_int_equal(after.family_count, 77);
    assert_int_equal(after.size, offsetof(petal_table_options, families));
    fixture_fini(&fixture);
}

/* Tables come and go for as long as a database is open: who goes through them meets those that
 * live. */
TEST(test_dropped_tables_are_passed_by)
{
    struct fixture fixture;
    size_t living = 0;

    table_begin(&fixture);
    for (int i = 0; i < 50; i++) {
        petal_table *table = table_make(&fixture, "f");

        table_put(table, "f", "row", "value");
        assert_int_equal(petal_table_drop(table, NULL), PETAL_OK);
        assert_int_equal(petal_table_drop(table, NULL), PETAL_NOT_FOUND);
    }
    (void)table_make(&fixture, "f");
    for (petal_table *table = fixture.db->schema.tables; table != NULL; table = table->next)
        living++;
    assert_int_equal(living, 1);
    fixture_fini(&fixture);
}
