/* shell_schema.c -- see shell_schema.h. */
#include "tools/shell_schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ERROR_RATE_KEY     "io.storefile.bloom.error.rate"
#define DEFAULT_ERROR_RATE 0.01

static const struct {
    const char *name;
    enum petal_bloom_type type;
} blooms[] = {{"NONE", PETAL_BLOOM_NONE},
              {"ROW", PETAL_BLOOM_ROW},
              {"ROWCOL", PETAL_BLOOM_ROWCOL},
              {"ROW_ROWCOL", PETAL_BLOOM_ROW_ROWCOL}};

static const struct {
    const char *name;
    enum petal_durability durability;
} durabilities[] = {{"USE_DEFAULT", PETAL_DURABILITY_DEFAULT},
                    {"SKIP_WAL", PETAL_SKIP_WAL},
                    {"ASYNC_WAL", PETAL_ASYNC_WAL},
                    {"SYNC_WAL", PETAL_SYNC_WAL},
                    {"FSYNC_WAL", PETAL_FSYNC_WAL}};

/* Attributes of HBase that stand at their default here.  Without a text: an empty hash. */
static const struct {
    const char *name;
    const char *defaults[2];
} fixed_attributes[] = {
    {"MIN_VERSIONS", {"0", NULL}},
    {"TTL", {"FOREVER", "2147483647"}},
    {"KEEP_DELETED_CELLS", {"FALSE", NULL}},
    {"DATA_BLOCK_ENCODING", {"NONE", NULL}},
    {"INDEX_BLOCK_ENCODING", {"NONE", NULL}},
    {"REPLICATION_SCOPE", {"0", NULL}},
    {"CACHE_DATA_ON_WRITE", {"FALSE", NULL}},
    {"CACHE_INDEX_ON_WRITE", {"FALSE", NULL}},
    {"CACHE_BLOOMS_ON_WRITE", {"FALSE", NULL}},
    {"EVICT_BLOCKS_ON_CLOSE", {"FALSE", NULL}},
    {"PREFETCH_BLOCKS_ON_OPEN", {"FALSE", NULL}},
    {"NEW_VERSION_BEHAVIOR", {"FALSE", NULL}},
    {"IN_MEMORY_COMPACTION", {"NONE", NULL}},
    {"METADATA", {"{}", NULL}},
};

static bool
equals_ignoring_case(petal_slice bytes, const char *word)
{
    return bytes.size == strlen(word) && strncasecmp(bytes.data, word, bytes.size) == 0;
}

const char *
schema_bloom_name(enum petal_bloom_type bloom)
{
    for (size_t i = 0; i < sizeof(blooms) / sizeof(blooms[0]); i++)
        if (blooms[i].type == bloom)
            return blooms[i].name;
    return "ROW";
}

bool
schema_parse_size(petal_slice text, uint64_t *bytes)
{
    static const char units[] = "BKMGT";
    const char *letter = text.data, *end = letter + text.size;
    uint64_t number = 0;
    unsigned shift = 0;

    if (letter == end || *letter < '0' || *letter > '9')
        return false;
    for (; letter < end && *letter >= '0' && *letter <= '9'; letter++) {
        if (number > (UINT64_MAX >> 44) / 10)
            return false;
        number = number * 10 + (uint64_t)(*letter - '0');
    }
    while (letter < end && *letter == ' ')
        letter++;
    if (letter < end) {
        const char *unit = strchr(units, *letter & ~0x20);

        if (unit == NULL || *unit == '\0')
            return false;
        shift = (unsigned)(unit - units) * 10;
        letter++;
        if (shift > 0 && letter < end && (*letter & ~0x20) == 'B')
            letter++;
    }
    *bytes = number << shift;
    return letter == end;
}

/* A whole number, given as such or as text. */
static bool
read_number(const struct value *value, bool sizes, uint64_t *number)
{
    if (value->kind == VALUE_INTEGER) {
        *number = (uint64_t)value->as.integer;
        return value->as.integer >= 0;
    }
    if (value->kind != VALUE_STRING || !schema_parse_size(value->as.bytes, number))
        return false;
    for (size_t i = 0; i < value->as.bytes.size && !sizes; i++) {
        char letter = ((const char *)value->as.bytes.data)[i];

        if (letter < '0' || letter > '9')
            return false;
    }
    return true;
}

/* ---- Families ---------------------------------------------------------------------------------- */

static enum shell_status
fail_value(struct session *session, const char *attribute, const struct value *value,
           const char *wanted)
{
    text_clear(&session->scratch);
    value_inspect(&session->scratch, value);
    return session_fail(session, SHELL_USAGE, "%s cannot be %.200s: %s", attribute,
                        text_string(&session->scratch), wanted);
}

static enum shell_status
check_family_name(struct session *session, petal_slice name)
{
    const char *letters = name.data;
    int size = name.size < 128 ? (int)name.size : 128;

    if (name.size == 0)
        return session_fail(session, SHELL_USAGE, "Column Family name can not be empty");
    if (letters[0] == '.')
        return session_fail(session, SHELL_USAGE,
                            "Column Family names cannot start with a period: %.*s", size, letters);
    for (size_t i = 0; i < name.size; i++) {
        unsigned char letter = (unsigned char)letters[i];

        if (letter < 0x20 || letter == 0x7f || strchr(":/\\", letter) != NULL)
            return session_fail(session, SHELL_USAGE,
                                "Illegal character <%u>. Column Family names cannot contain "
                                "control characters or colons: %.*s",
                                letter, size, letters);
    }
    return SHELL_FINE;
}

static enum shell_status
read_versions(struct session *session, petal_family_options *family, const struct value *value)
{
    uint64_t number;

    if (value->kind == VALUE_INTEGER && value->as.integer <= 0)
        return session_fail(session, SHELL_USAGE, "Maximum versions must be positive");
    if (!read_number(value, false, &number) || number > INT32_MAX)
        return fail_value(session, "VERSIONS", value, "a number from 1 is wanted");
    if (number == 0)
        return session_fail(session, SHELL_USAGE, "Maximum versions must be positive");
    family->versions = (uint32_t)number;
    return SHELL_FINE;
}

static enum shell_status
read_block_size(struct session *session, petal_family_options *family, const struct value *value)
{
    uint64_t number;

    if (!read_number(value, true, &number))
        return fail_value(session, "BLOCKSIZE", value, "a size such as 65536 or '64KB' is wanted");
    if (number < 1024 || number > 16u << 20)
        return session_fail(session, SHELL_USAGE,
                            "Block size for column family %.*s  must be between 1K and 16MB.",
                            (int)family->name.size, (const char *)family->name.data);
    family->block_bytes = (uint32_t)number;
    return SHELL_FINE;
}

static enum shell_status
read_bloom(struct session *session, petal_family_options *family, const struct value *value)
{
    petal_slice text = value_to_bytes(&session->arena, value);

    for (size_t i = 0; i < sizeof(blooms) / sizeof(blooms[0]); i++) {
        if (equals_ignoring_case(text, blooms[i].name)) {
            family->bloom = blooms[i].type;
            return SHELL_FINE;
        }
    }
    return fail_value(session, "BLOOMFILTER", value, "use one of NONE ROW ROWCOL ROW_ROWCOL");
}

static enum shell_status
read_compression(struct session *session, petal_family_options *family, const struct value *value)
{
    petal_slice text = value_to_bytes(&session->arena, value);

    if (equals_ignoring_case(text, "NONE"))
        family->compression = PETAL_COMPRESSION_NONE;
    else if (equals_ignoring_case(text, "LZ4"))
        family->compression = PETAL_COMPRESSION_LZ4;
    else
        return session_fail(session, SHELL_USAGE,
                            "Compression %.*s is not supported. Use one of LZ4 NONE",
                            text.size < 40 ? (int)text.size : 40, (const char *)text.data);
    return SHELL_FINE;
}

static enum shell_status
read_configuration(struct session *session, petal_family_options *family, const struct value *value)
{
    if (value->kind != VALUE_HASH)
        return fail_value(session, "CONFIGURATION", value, "a hash is wanted");
    for (size_t i = 0; i < value->count; i++) {
        petal_slice key = value_to_bytes(&session->arena, &value->as.pairs[i].key);
        petal_slice text = value_to_bytes(&session->arena, &value->as.pairs[i].value);
        char number[32];
        char *end;

        if (!slice_is(key, ERROR_RATE_KEY))
            return session_fail(session, SHELL_USAGE,
                                "CONFIGURATION '%.*s' is not supported by this version",
                                key.size < 100 ? (int)key.size : 100, (const char *)key.data);
        (void)snprintf(number, sizeof(number), "%.*s", text.size < 31 ? (int)text.size : 31,
                       (const char *)text.data);
        family->bloom_error_rate = strtod(number, &end);
        if (end == number || *end != '\0' || !(family->bloom_error_rate >= 0.0001) ||
            !(family->bloom_error_rate <= 0.5))
            return fail_value(session, ERROR_RATE_KEY, &value->as.pairs[i].value,
                              "a number from 0.0001 to 0.5 is wanted");
    }
    return SHELL_FINE;
}

/* An attribute that must stand at its default; *known is false for one that HBase has not either. */
static enum shell_status
check_fixed_attribute(struct session *session, petal_slice key, const struct value *value,
                      bool *known)
{
    petal_slice text = value_to_bytes(&session->arena, value);

    for (size_t i = 0; i < sizeof(fixed_attributes) / sizeof(fixed_attributes[0]); i++) {
        if (!slice_is(key, fixed_attributes[i].name))
            continue;
        *known = true;
        for (size_t j = 0; j < 2 && fixed_attributes[i].defaults[j] != NULL; j++)
            if (equals_ignoring_case(text, fixed_attributes[i].defaults[j]))
                return SHELL_FINE;
        text_clear(&session->scratch);
        value_inspect(&session->scratch, value);
        return session_fail(session, SHELL_USAGE,
                            "%s => %.200s is not supported by this version, which has only %s",
                            fixed_attributes[i].name, text_string(&session->scratch),
                            fixed_attributes[i].defaults[0]);
    }
    *known = false;
    return SHELL_FINE;
}

static bool
read_boolean(struct session *session, const struct value *value)
{
    return equals_ignoring_case(value_to_bytes(&session->arena, value), "true");
}

static enum shell_status
read_attribute(struct session *session, petal_family_options *family, petal_slice key,
               const struct value *value)
{
    enum shell_status status;
    bool known;

    if (slice_is(key, "NAME"))
        return SHELL_FINE;
    if (slice_is(key, "VERSIONS"))
        return read_versions(session, family, value);
    if (slice_is(key, "BLOCKSIZE"))
        return read_block_size(session, family, value);
    if (slice_is(key, "BLOOMFILTER"))
        return read_bloom(session, family, value);
    if (slice_is(key, "COMPRESSION"))
        return read_compression(session, family, value);
    if (slice_is(key, "CONFIGURATION"))
        return read_configuration(session, family, value);
    if (slice_is(key, "IN_MEMORY")) {
        family->in_memory = read_boolean(session, value);
        return SHELL_FINE;
    }
    if (slice_is(key, "BLOCKCACHE")) {
        family->no_block_cache = !read_boolean(session, value);
        return SHELL_FINE;
    }
    status = check_fixed_attribute(session, key, value, &known);
    if (status == SHELL_FINE && !known)
        output_plain(&session->output, "Unknown argument ignored for column family %.*s: %.*s",
                     (int)family->name.size, (const char *)family->name.data, (int)key.size,
                     (const char *)key.data);
    return status;
}

static enum shell_status
add_family(struct session *session, struct schema *schema, petal_slice name,
           const struct value *attributes)
{
    petal_family_options *family = NULL;
    enum shell_status status = check_family_name(session, name);

    if (status != SHELL_FINE)
        return status;
    for (size_t i = 0; i < schema->table.family_count && family == NULL; i++) {
        if (slices_equal(schema->families[i].name, name)) {
            family = &schema->families[i];
            output_plain(&session->output,
                         "Family '%.*s' already exists, the old one will be replaced",
                         (int)name.size, (const char *)name.data);
        }
    }
    if (family == NULL) {
        if (schema->table.family_count == schema->capacity) {
            petal_family_options *old = schema->families;

            schema->capacity = 2 * schema->capacity + 8;
            schema->families =
                arena_allocate(&session->arena, schema->capacity * sizeof(*schema->families));
            if (schema->table.family_count > 0)
                memcpy(schema->families, old, schema->table.family_count * sizeof(*old));
        }
        family = &schema->families[schema->table.family_count++];
    }
    *family = (petal_family_options){.size = sizeof(*family), .name = name};
    for (size_t i = 0; attributes != NULL && i < attributes->count && status == SHELL_FINE; i++) {
        petal_slice key = value_to_bytes(&session->arena, &attributes->as.pairs[i].key);

        status = read_attribute(session, family, key, &attributes->as.pairs[i].value);
    }
    return status;
}

/* ---- Tables ------------------------------------------------------------------------------------ */

static enum shell_status
read_durability(struct session *session, struct schema *schema, const struct value *value)
{
    petal_slice text = value_to_bytes(&session->arena, value);

    for (size_t i = 0; i < sizeof(durabilities) / sizeof(durabilities[0]); i++) {
        if (equals_ignoring_case(text, durabilities[i].name)) {
            schema->table.durability = durabilities[i].durability;
            return SHELL_FINE;
        }
    }
    return fail_value(session, "DURABILITY", value,
                      "use one of USE_DEFAULT SKIP_WAL ASYNC_WAL SYNC_WAL FSYNC_WAL");
}

static enum shell_status
read_table_attribute(struct session *session, struct schema *schema, petal_slice key,
                     const struct value *value)
{
    static const char *const ignored[] = {"SPLITS", "SPLITS_FILE", "SPLITALGO", "NUMREGIONS"};
    static const char *const refused[] = {"MAX_FILESIZE", "MEMSTORE_FLUSHSIZE", "METADATA",
                                          "CONFIGURATION", "OWNER"};

    if (slice_is(key, "DURABILITY"))
        return read_durability(session, schema, value);
    if (slice_is(key, "METHOD") && !slice_is(value_to_bytes(&session->arena, value), "table_att"))
        return session_fail(session, SHELL_USAGE,
                            "table_att is currently the only supported method");
    if (slice_is(key, "METHOD") || (slice_is(key, "READONLY") && !read_boolean(session, value)))
        return SHELL_FINE;
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        if (slice_is(key, ignored[i]))
            return SHELL_FINE;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (slice_is(key, refused[i]))
            return session_fail(session, SHELL_USAGE,
                                "The table attribute %s is not supported by this version",
                                refused[i]);
    if (slice_is(key, "READONLY"))
        return session_fail(session, SHELL_USAGE,
                            "The table attribute READONLY is not supported by this version");
    output_plain(&session->output, "An argument ignored (unknown or overridden): %.*s",
                 (int)key.size, (const char *)key.data);
    return SHELL_FINE;
}

static enum shell_status
read_hash(struct session *session, struct schema *schema, const struct value *hash)
{
    const struct value *name = value_hash_get(hash, "NAME");
    enum shell_status status = SHELL_FINE;

    if (name != NULL)
        return add_family(session, schema, value_to_bytes(&session->arena, name), hash);
    for (size_t i = 0; i < hash->count && status == SHELL_FINE; i++) {
        petal_slice key = value_to_bytes(&session->arena, &hash->as.pairs[i].key);

        status = read_table_attribute(session, schema, key, &hash->as.pairs[i].value);
    }
    return status;
}

enum shell_status
schema_read(struct session *session, const struct value *arguments, size_t count,
            struct schema *schema)
{
    enum shell_status status = SHELL_FINE;

    for (size_t i = 0; i < count && status == SHELL_FINE; i++) {
        const struct value *argument = &arguments[i];

        if (argument->kind == VALUE_STRING)
            status = add_family(session, schema, argument->as.bytes, NULL);
        else if (argument->kind == VALUE_HASH)
            status = read_hash(session, schema, argument);
        else if (argument->kind == VALUE_ARRAY)
            status = schema_read(session, argument->as.items, argument->count, schema);
        else if (argument->kind != VALUE_NIL)
            status = session_fail(session, SHELL_USAGE, "%s of %.*s is not of Hash or String type",
                                  value_class(argument),
                                  (int)value_to_bytes(&session->arena, argument).size,
                                  (const char *)value_to_bytes(&session->arena, argument).data);
    }
    schema->table.families = schema->families;
    return status;
}

/* ---- describe ------------------------------------------------------------------------------------ */

void
schema_describe_family(struct text *text, const petal_family *family)
{
    petal_family_options options = {.size = sizeof(options)};
    bool lz4;

    petal_family_describe(family, &options);
    lz4 = options.compression != PETAL_COMPRESSION_NONE;
    text_add_string(text, "{NAME => '");
    text_add_slice(text, options.name);
    text_add_format(text,
                    "', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '%" PRIu32
                    "', KEEP_DELETED_CELLS => 'FALSE', DATA_BLOCK_ENCODING => 'NONE', "
                    "TTL => 'FOREVER', MIN_VERSIONS => '0', REPLICATION_SCOPE => '0', ",
                    options.versions);
    text_add_format(text,
                    "BLOOMFILTER => '%s', IN_MEMORY => '%s', COMPRESSION => '%s', "
                    "BLOCKCACHE => '%s', BLOCKSIZE => '",
                    schema_bloom_name(options.bloom), options.in_memory ? "true" : "false",
                    lz4 ? "LZ4" : "NONE", options.no_block_cache ? "false" : "true");
    text_add_size(text, options.block_bytes);
    text_add_string(text, "'");
    if (options.bloom_error_rate < DEFAULT_ERROR_RATE ||
        options.bloom_error_rate > DEFAULT_ERROR_RATE)
        text_add_format(text, ", CONFIGURATION => {'" ERROR_RATE_KEY "' => '%g'}",
                        options.bloom_error_rate);
    text_add_string(text, "}");
}

void
schema_describe_table(struct text *text, const petal_table *table)
{
    enum petal_durability durability = petal_table_durability(table);

    text_add_slice(text, petal_table_name(table));
    for (size_t i = 1; i < sizeof(durabilities) / sizeof(durabilities[0]); i++)
        if (durabilities[i].durability == durability)
            text_add_format(text, ", {TABLE_ATTRIBUTES => {DURABILITY => '%s'}}",
                            durabilities[i].name);
}
