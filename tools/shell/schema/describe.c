/* describe.c -- see tools/shell/schema/describe.h. */
#include "tools/shell/schema/describe.h"

#include "tools/shell/schema/attribute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Families show them at places of their own. */
static const char *const family_inline[] = {"INDEX_BLOCK_ENCODING",
                                            "DATA_BLOCK_ENCODING",
                                            "REPLICATION_SCOPE",
                                            "COMPRESSION",
                                            "ENCRYPTION",
                                            "ENCRYPTION_KEY",
                                            "IS_MOB",
                                            "MOB_THRESHOLD",
                                            NULL};

/* The keys that come first in a family's METADATA, in this order; NEW_VERSION_BEHAVIOR is not a
 * text in the library. */
static const char *const metadata_first[] = {"CACHE_DATA_ON_WRITE",     "CACHE_INDEX_ON_WRITE",
                                             "CACHE_BLOOMS_ON_WRITE",   "EVICT_BLOCKS_ON_CLOSE",
                                             "PREFETCH_BLOCKS_ON_OPEN", "NEW_VERSION_BEHAVIOR",
                                             "IN_MEMORY_COMPACTION",    NULL};

/* Tables show them before METADATA, in this order. */
static const char *const table_inline[] = {"DURABILITY", "MAX_FILESIZE", "MEMSTORE_FLUSHSIZE",
                                           "PRIORITY",   "READONLY",     "REGION_REPLICATION",
                                           NULL};

/* How a text is put in quotes. */
typedef void quote_text(struct text *text, petal_slice bytes);

static void
quote_as_shown(struct text *text, petal_slice bytes)
{
    text_add_string(text, "'");
    text_add_slice(text, bytes);
    text_add_string(text, "'");
}

/* ---- Maps ------------------------------------------------------------------------------------ */

/* The index of the name, or of the NULL at the end. */
static size_t
place_of(petal_slice name, const char *const *names)
{
    size_t i = 0;

    while (names[i] != NULL && !slice_is(name, names[i]))
        i++;
    return i;
}

struct pair {
    petal_slice name, value;
    size_t place; /* among those that come first */
};

struct map {
    struct pair *pairs; /* room for all that can come */
    size_t count;
};

static void
map_add(struct map *map, petal_slice name, petal_slice value, const char *const *first)
{
    map->pairs[map->count++] =
        (struct pair){name, value, first != NULL ? place_of(name, first) : 0};
}

static int
compare_pairs(const void *a, const void *b)
{
    const struct pair *first = a, *second = b;

    if (first->place != second->place)
        return first->place < second->place ? -1 : 1;
    return slices_compare(first->name, second->name);
}

/* "before{'a' => '1', ..}"; nothing for an empty map. */
static void
map_write(struct text *text, const char *before, struct map *map, quote_text *quote)
{
    if (map->count == 0)
        return;
    qsort(map->pairs, map->count, sizeof(*map->pairs), compare_pairs);
    text_add_string(text, before);
    for (size_t i = 0; i < map->count; i++) {
        text_add_string(text, i == 0 ? "{" : ", ");
        quote(text, map->pairs[i].name);
        text_add_string(text, " => ");
        quote(text, map->pairs[i].value);
    }
    text_add_string(text, "}");
}

static struct map
map_new(size_t attribute_count)
{
    return (struct map){memory_allocate((attribute_count + 2) * sizeof(struct pair)), 0};
}

/* ---- Families -------------------------------------------------------------------------------- */

/* FOREVER, 10 SECONDS, 93600 SECONDS (1 DAY 2 HOURS) */
static void
add_ttl(struct text *text, uint32_t seconds)
{
    static const struct {
        const char *unit;
        uint32_t seconds;
    } units[] = {{"DAY", 86400}, {"HOUR", 3600}, {"MINUTE", 60}, {"SECOND", 1}};
    const char *blank = "";
    uint32_t rest = seconds;

    if (seconds == PETAL_FOREVER) {
        text_add_string(text, "FOREVER");
        return;
    }
    text_add_format(text, "%" PRIu32 " SECOND%s", seconds, seconds == 1 ? "" : "S");
    if (seconds < 60)
        return;
    text_add_string(text, " (");
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        uint32_t count = rest / units[i].seconds;

        if (count == 0)
            continue;
        text_add_format(text, "%s%" PRIu32 " %s%s", blank, count, units[i].unit,
                        count == 1 ? "" : "S");
        rest -= count * units[i].seconds;
        blank = " ";
    }
    text_add_string(text, ")");
}

/* "KEY => 'value'" of a kept attribute, or of its default; nothing if that is NULL. */
static void
add_kept(struct text *text, const petal_attribute *attributes, size_t count, const char *before,
         const char *key, const char *value, quote_text *quote)
{
    const petal_attribute *found =
        attribute_find(attributes, count, PETAL_KEPT_ATTRIBUTE, slice_of_string(key));

    if (found == NULL && value == NULL)
        return;
    text_add_format(text, "%s%s => ", before, key);
    quote(text, found != NULL ? found->value : slice_of_string(value));
}

static void
add_family_maps(struct text *text, const petal_family_options *family, quote_text *quote)
{
    struct map metadata = map_new(family->attribute_count);
    struct map configuration = map_new(family->attribute_count);
    char rate[32], length[16];

    for (size_t i = 0; i < family->attribute_count; i++) {
        const petal_attribute *attribute = &family->attributes[i];
        bool kept = attribute->kind == PETAL_KEPT_ATTRIBUTE;

        if (attribute->kind == PETAL_CONFIGURATION)
            map_add(&configuration, attribute->name, attribute->value, NULL);
        else if (!kept || family_inline[place_of(attribute->name, family_inline)] == NULL)
            map_add(&metadata, attribute->name, attribute->value, metadata_first);
    }
    if (family->new_version_behavior)
        map_add(&metadata, slice_of_string("NEW_VERSION_BEHAVIOR"), slice_of_string("true"),
                metadata_first);
    if (family->bloom_error_rate < DEFAULT_ERROR_RATE ||
        family->bloom_error_rate > DEFAULT_ERROR_RATE) {
        (void)snprintf(rate, sizeof(rate), "%g", family->bloom_error_rate);
        map_add(&configuration, slice_of_string(ERROR_RATE_KEY), slice_of_string(rate), NULL);
    }
    if (family->bloom_prefix_bytes > 0) {
        (void)snprintf(length, sizeof(length), "%" PRIu32, family->bloom_prefix_bytes);
        map_add(&configuration, slice_of_string(PREFIX_LENGTH_KEY), slice_of_string(length), NULL);
    }
    map_write(text, ", METADATA => ", &metadata, quote);
    map_write(text, ", CONFIGURATION => ", &configuration, quote);
    free(metadata.pairs);
    free(configuration.pairs);
}

static void
add_family(struct text *text, const petal_family_options *family, quote_text *quote)
{
    const petal_attribute *kept = family->attributes;
    size_t count = family->attribute_count;

    text_add_string(text, "{NAME => ");
    quote(text, family->name);
    add_kept(text, kept, count, ", ", "INDEX_BLOCK_ENCODING", "NONE", quote);
    text_add_format(text, ", VERSIONS => '%" PRIu32 "', KEEP_DELETED_CELLS => '%s'",
                    family->versions, schema_keep_deleted_name(family->keep_deleted_cells));
    add_kept(text, kept, count, ", ", "DATA_BLOCK_ENCODING", "NONE", quote);
    text_add_string(text, ", TTL => '");
    add_ttl(text, family->ttl_seconds);
    text_add_format(text, "', MIN_VERSIONS => '%" PRIu32 "'", family->min_versions);
    add_kept(text, kept, count, ", ", "REPLICATION_SCOPE", "0", quote);
    text_add_format(text, ", BLOOMFILTER => '%s', IN_MEMORY => '%s'",
                    schema_bloom_name(family->bloom), family->in_memory ? "true" : "false");
    add_kept(text, kept, count, ", ", "COMPRESSION",
             family->compression != PETAL_COMPRESSION_NONE ? "LZ4" : "NONE", quote);
    text_add_format(text, ", BLOCKCACHE => '%s', BLOCKSIZE => '",
                    family->no_block_cache ? "false" : "true");
    text_add_size(text, family->block_bytes);
    text_add_string(text, "'");
    if (family->bloom_rate_per_file)
        text_add_string(text, ", BLOOM_RATE_PER_FILE => 'true'");
    if (family->bloom_kind == PETAL_BLOOM_KIND_RIBBON)
        text_add_format(text, ", BLOOMFILTER_KIND => '%s'",
                        schema_bloom_kind_name(family->bloom_kind));
    add_kept(text, kept, count, ", ", "ENCRYPTION", NULL, quote);
    add_kept(text, kept, count, ", ", "ENCRYPTION_KEY", NULL, quote);
    add_kept(text, kept, count, ", ", "IS_MOB", NULL, quote);
    add_kept(text, kept, count, ", ", "MOB_THRESHOLD", NULL, quote);
    add_family_maps(text, family, quote);
    text_add_string(text, "}");
}

void
describe_family(struct text *text, const petal_family_options *family)
{
    add_family(text, family, quote_as_shown);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* The value of an attribute that stands before METADATA, as it is shown; false if it is not set. */
static bool
table_value(struct text *text, const petal_table_options *table, const char *key)
{
    petal_slice name = slice_of_string(key);
    const petal_attribute *kept =
        attribute_find(table->attributes, table->attribute_count, PETAL_KEPT_ATTRIBUTE, name);

    text_clear(text);
    if (strcmp(key, "DURABILITY") == 0) {
        if (table->durability == PETAL_DURABILITY_DEFAULT)
            return false;
        text_add_string(text, schema_durability_name(table->durability));
    } else if (strcmp(key, "READONLY") == 0) {
        /* The word false is remembered as text. */
        if (!table->read_only &&
            attribute_find(table->attributes, table->attribute_count, PETAL_METADATA, name) == NULL)
            return false;
        text_add_string(text, table->read_only ? "true" : "false");
    } else if (kept != NULL && strstr(key, "SIZE") != NULL) {
        char digits[24];

        (void)snprintf(digits, sizeof(digits), "%.*s", SLICE(kept->value));
        text_add_size(text, strtoull(digits, NULL, 10));
    } else if (kept != NULL) {
        text_add_slice(text, kept->value);
    }
    return text->size > 0;
}

/* Is it shown before METADATA?  Text of the user's under such a name is not, but for READONLY. */
static bool
is_inline(const petal_attribute *attribute)
{
    return (attribute->kind == PETAL_KEPT_ATTRIBUTE || slice_is(attribute->name, "READONLY")) &&
           table_inline[place_of(attribute->name, table_inline)] != NULL;
}

/* "before" and KEY => 'value', .. METADATA => {..} with ", " between; false if there is none. */
static bool
add_table_attributes(struct text *text, const char *before, const petal_table_options *table,
                     quote_text *quote)
{
    struct map metadata = map_new(table->attribute_count);
    struct text value = {0};
    bool any = false;

    for (size_t i = 0; table_inline[i] != NULL; i++) {
        if (!table_value(&value, table, table_inline[i]))
            continue;
        text_add_format(text, "%s%s => ", any ? ", " : before, table_inline[i]);
        quote(text, text_slice(&value));
        any = true;
    }
    for (size_t i = 0; i < table->attribute_count; i++) {
        const petal_attribute *attribute = &table->attributes[i];

        if (!is_inline(attribute))
            map_add(&metadata, attribute->name, attribute->value, NULL);
    }
    if (metadata.count > 0) {
        text_add_string(text, any ? ", " : before);
        map_write(text, "METADATA => ", &metadata, quote);
        any = true;
    }
    free(metadata.pairs);
    text_free(&value);
    return any;
}

void
describe_table(struct text *text, const petal_table_options *table)
{
    text_add_slice(text, table->name);
    if (add_table_attributes(text, ", {TABLE_ATTRIBUTES => {", table, quote_as_shown))
        text_add_string(text, "}}");
}

void
describe_creation(struct text *text, const petal_table_options *table)
{
    petal_table_options writable = *table;

    writable.read_only = false;
    text_add_string(text, "create ");
    text_add_literal(text, table->name);
    for (size_t i = 0; i < table->family_count; i++) {
        text_add_string(text, ", ");
        add_family(text, &table->families[i], text_add_literal);
    }
    (void)add_table_attributes(text, ", ", &writable, text_add_literal);
}

void
describe_closing(struct text *text, const petal_table_options *table)
{
    if (!table->read_only)
        return;
    text_add_string(text, "alter ");
    text_add_literal(text, table->name);
    text_add_string(text, ", READONLY => 'true'");
}
