/*
 * records.c -- describe as records: an attribute each. Those of the table itself name no family.
 */
#include "tools/shell/schema/attribute.h"
#include "tools/shell/schema/describe.h"

#include <inttypes.h>

/* The set that is filled. */
struct attributes {
    struct format *format;
    petal_slice table, family; /* no family: the table's own */
};

static void
add(const struct attributes *to, const char *attribute, petal_slice value)
{
    format_bytes(to->format, to->table);
    if (to->family.size > 0)
        format_bytes(to->format, to->family);
    else
        format_null(to->format);
    format_string(to->format, attribute);
    format_bytes(to->format, value);
}

static void
add_number(const struct attributes *to, const char *attribute, uint64_t number)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    add(to, attribute, slice_of_string(digits));
}

static void
add_boolean(const struct attributes *to, const char *attribute, bool value)
{
    add(to, attribute, slice_of_string(value ? "true" : "false"));
}

/* METADATA and CONFIGURATION stand before the names of theirs. */
static void
add_free(const struct attributes *to, const petal_attribute *attributes, size_t count)
{
    struct text name = {0};

    for (size_t i = 0; i < count; i++) {
        text_clear(&name);
        if (attributes[i].kind == PETAL_METADATA)
            text_add_string(&name, "METADATA.");
        else if (attributes[i].kind == PETAL_CONFIGURATION)
            text_add_string(&name, "CONFIGURATION.");
        text_add_binary(&name, attributes[i].name);
        add(to, text_string(&name), attributes[i].value);
    }
    text_free(&name);
}

void
describe_records(struct format *format, const petal_table_options *table, bool enabled)
{
    struct attributes to = {.format = format, .table = table->name};

    format_begin(format, "table family attribute value");
    add_boolean(&to, "ENABLED", enabled);
    add_boolean(&to, "READONLY", table->read_only);
    if (table->durability != PETAL_DURABILITY_DEFAULT)
        add(&to, "DURABILITY", slice_of_string(schema_durability_name(table->durability)));
    add_free(&to, table->attributes, table->attribute_count);
    for (size_t i = 0; i < table->family_count; i++) {
        const petal_family_options *family = &table->families[i];
        char rate[32];

        to.family = family->name;
        add_number(&to, "VERSIONS", family->versions);
        add(&to, "KEEP_DELETED_CELLS",
            slice_of_string(schema_keep_deleted_name(family->keep_deleted_cells)));
        if (family->ttl_seconds == PETAL_FOREVER)
            add(&to, "TTL", slice_of_string("FOREVER"));
        else
            add_number(&to, "TTL", family->ttl_seconds);
        add_number(&to, "MIN_VERSIONS", family->min_versions);
        add(&to, "BLOOMFILTER", slice_of_string(schema_bloom_name(family->bloom)));
        if (family->bloom_prefix_bytes > 0)
            add_number(&to, "CONFIGURATION.RowPrefixBloomFilter.prefix_length",
                       family->bloom_prefix_bytes);
        (void)snprintf(rate, sizeof(rate), "%g", family->bloom_error_rate);
        add(&to, "CONFIGURATION.io.storefile.bloom.error.rate", slice_of_string(rate));
        add_boolean(&to, "BLOOM_RATE_PER_FILE", family->bloom_rate_per_file);
        add(&to, "BLOOMFILTER_KIND", slice_of_string(schema_bloom_kind_name(family->bloom_kind)));
        add_boolean(&to, "IN_MEMORY", family->in_memory);
        add(&to, "COMPRESSION",
            slice_of_string(family->compression != PETAL_COMPRESSION_NONE ? "LZ4" : "NONE"));
        add_boolean(&to, "BLOCKCACHE", !family->no_block_cache);
        add_number(&to, "BLOCKSIZE", family->block_bytes);
        add_boolean(&to, "NEW_VERSION_BEHAVIOR", family->new_version_behavior);
        add_free(&to, family->attributes, family->attribute_count);
    }
}
