/* options.c -- see options.h. */
#include "engine/options.h"

#include "base/argument.h"
#include "base/env.h"
#include "engine/attributes.h"

#include <assert.h>
#include <stdio.h>

#define DEFAULT_REGION_BYTES  ((uint64_t)10 << 30)
#define LEAST_BYTES           ((size_t)64 << 10)
#define MOST_MEMTABLE_BYTES   ((uint64_t)4 << 30)
#define MOST_TABLE_NAME_BYTES 255

/* ---- values and their flags ---- */

enum petal_status
options_check_time_range(bool has_time_range, int64_t time_min, int64_t time_limit,
                         petal_error *error)
{
    if (has_time_range || (time_min == 0 && time_limit == 0))
        return PETAL_OK;
    return error_set(error, PETAL_INVALID,
                     "time_min is %lld and time_limit is %lld, but has_time_range is not set",
                     (long long)time_min, (long long)time_limit);
}

enum petal_status
options_check_ttl(bool has_ttl, int64_t ttl_ms, petal_error *error)
{
    if (has_ttl || ttl_ms == 0)
        return PETAL_OK;
    return error_set(error, PETAL_INVALID, "ttl_ms is %lld, but has_ttl is not set",
                     (long long)ttl_ms);
}

/* ---- of databases ---- */

/* Cache and memtables as far as they were not given, under a limit that was. */
static void
share_memory(petal_options *options)
{
    size_t limit = options->memory_bytes;

    if (options->memtable_bytes == 0)
        options->memtable_bytes =
            limit / 8 < MOST_DEFAULT_MEMTABLE_BYTES ? limit / 8 : MOST_DEFAULT_MEMTABLE_BYTES;
    if (options->cache_bytes == 0)
        options->cache_bytes = limit;
}

/* What was not given, of cache and memtables, and the limit over both. */
static void
default_memory(petal_options *options)
{
    size_t cache;

    static_assert(DEFAULT_CACHE_BYTES + 4 * DEFAULT_MEMTABLE_BYTES == DEFAULT_MEMORY_BYTES,
                  "who gives one size at its default gets the default of all");
    if (options->memory_bytes == 0 && options->cache_bytes == 0 && options->memtable_bytes == 0)
        options->memory_bytes = DEFAULT_MEMORY_BYTES;
    if (options->memory_bytes != 0) {
        share_memory(options);
        return;
    }
    if (options->memtable_bytes == 0)
        options->memtable_bytes = DEFAULT_MEMTABLE_BYTES;
    if (options->cache_bytes == 0)
        options->cache_bytes = DEFAULT_CACHE_BYTES;
    cache = options->cache_bytes == PETAL_NO_CACHE ? 0 : options->cache_bytes;
    options->memory_bytes = SIZE_MAX;
    if (options->memtable_bytes <= SIZE_MAX / 4 && cache <= SIZE_MAX - 4 * options->memtable_bytes)
        options->memory_bytes = cache + 4 * options->memtable_bytes;
    if (options->memory_bytes < LEAST_MEMORY_BYTES)
        options->memory_bytes = LEAST_MEMORY_BYTES;
}

static enum petal_status
resolve_memory(petal_options *options, petal_error *error)
{
    if (options->memory_bytes != 0 && options->memory_bytes < LEAST_MEMORY_BYTES)
        return error_set(error, PETAL_INVALID, "memory_bytes is %zu; it must be at least %zu",
                         options->memory_bytes, LEAST_MEMORY_BYTES);
    default_memory(options);
    if (options->cache_bytes < LEAST_BYTES)
        return error_set(error, PETAL_INVALID,
                         "cache_bytes is %zu; it must be at least %zu, or PETAL_NO_CACHE",
                         options->cache_bytes, LEAST_BYTES);
    if (options->memtable_bytes < LEAST_BYTES || options->memtable_bytes > MOST_MEMTABLE_BYTES)
        return error_set(error, PETAL_INVALID, "memtable_bytes is %zu; it must be %zu to %llu",
                         options->memtable_bytes, LEAST_BYTES,
                         (unsigned long long)MOST_MEMTABLE_BYTES);
    if (options->open_files == 0)
        options->open_files = DEFAULT_OPEN_FILES;
    if (options->open_files < LEAST_OPEN_FILES)
        return error_set(error, PETAL_INVALID, "open_files is %u; it must be at least %d",
                         options->open_files, LEAST_OPEN_FILES);
    if (options->max_region_bytes == 0)
        options->max_region_bytes = DEFAULT_REGION_BYTES;
    if (options->max_region_bytes < LEAST_BYTES)
        return error_set(error, PETAL_INVALID, "max_region_bytes is %llu; it must be at least %zu",
                         (unsigned long long)options->max_region_bytes, LEAST_BYTES);
    if (options->memtable_bytes > options->memory_bytes / 4)
        return error_set(
            error, PETAL_INVALID,
            "memtable_bytes is %zu; it must be at most a quarter of memory_bytes, which "
            "is %zu",
            options->memtable_bytes, options->memory_bytes);
    return PETAL_OK;
}

enum petal_status
options_resolve(petal_options *options, const petal_options *given, petal_error *error)
{
    enum petal_status status =
        options_copy(options, sizeof *options, given, "petal_options", error);

    options->size = sizeof *options;
    if (status == PETAL_OK)
        status = env_check(options->env, error);
    if (status != PETAL_OK)
        return status;
    if (options->read_only && (options->create || options->error_if_exists))
        return error_set(error, PETAL_INVALID,
                         "read_only is given with %s; a read-only opening makes no database",
                         options->create ? "create" : "error_if_exists");
    status = resolve_memory(options, error);
    if (status != PETAL_OK)
        return status;
    if (options->log_sync_interval_ms == 0)
        options->log_sync_interval_ms = DEFAULT_LOG_SYNC_INTERVAL_MS;
    if (options->durability == PETAL_DURABILITY_DEFAULT)
        options->durability = PETAL_SYNC_WAL;
    return options_check_durability(options->durability, error);
}

/* ---- of families and tables ---- */

static enum petal_status
family_name_check(petal_slice name, petal_error *error)
{
    const uint8_t *bytes = name.data;
    char quoted[160];

    RETURN_IF_NO_BYTES(name, error);
    if (name.size == 0)
        return error_set(error, PETAL_INVALID, "Column Family name can not be empty");
    if (name.size > PETAL_MAX_FAMILY_BYTES)
        return error_set(error, PETAL_INVALID, "the family name has %zu bytes; the limit is %d",
                         name.size, PETAL_MAX_FAMILY_BYTES);
    if (bytes[0] == '.')
        return error_set(error, PETAL_INVALID, "Column Family names cannot start with a period: %s",
                         error_quote(name, quoted, sizeof quoted));
    for (size_t i = 0; i < name.size; i++) {
        if (bytes[i] < 0x20 || bytes[i] == 0x7f || bytes[i] == ':' || bytes[i] == '/' ||
            bytes[i] == '\\')
            return error_set(error, PETAL_INVALID,
                             "Illegal character <%d>. Column Family names cannot contain control "
                             "characters or colons: %s",
                             bytes[i], error_quote(name, quoted, sizeof quoted));
    }
    if (slice_equal(name, slice_from_text("recovered.edits")))
        return error_set(error, PETAL_INVALID, "Column Family name cannot be: recovered.edits");
    return PETAL_OK;
}

/* How many versions live for how long. */
static enum petal_status
resolve_versions(petal_family_options *options, petal_error *error)
{
    if (options->versions == 0)
        options->versions = 1;
    if (options->versions > INT32_MAX)
        return error_set(error, PETAL_INVALID, "VERSIONS is %u; it must be 1 to %d",
                         options->versions, INT32_MAX);
    if (options->min_versions > options->versions)
        return error_set(error, PETAL_INVALID,
                         "MIN_VERSIONS is %u; it must be 0 to VERSIONS, which is %u",
                         options->min_versions, options->versions);
    if (options->ttl_seconds == 0)
        options->ttl_seconds = PETAL_FOREVER;
    if (options->ttl_seconds > PETAL_FOREVER)
        return error_set(error, PETAL_INVALID, "TTL is %u; it must be 1 to %u (FOREVER)",
                         options->ttl_seconds, PETAL_FOREVER);
    if (options->keep_deleted_cells == PETAL_KEEP_DELETED_DEFAULT)
        options->keep_deleted_cells = PETAL_KEEP_DELETED_FALSE;
    if (options->keep_deleted_cells > PETAL_KEEP_DELETED_TTL)
        return error_set(error, PETAL_INVALID,
                         "KEEP_DELETED_CELLS is %d; it must be FALSE, TRUE or TTL",
                         (int)options->keep_deleted_cells);
    return PETAL_OK;
}

static enum petal_status
resolve_bloom(petal_family_options *options, petal_error *error)
{
    if (options->bloom == PETAL_BLOOM_DEFAULT)
        options->bloom = PETAL_BLOOM_ROW;
    if (options->bloom > PETAL_BLOOM_ROW_PREFIX)
        return error_set(error, PETAL_INVALID,
                         "BLOOMFILTER is %d; it must be NONE, ROW, ROWCOL, ROW_ROWCOL or "
                         "ROWPREFIX_FIXED_LENGTH",
                         (int)options->bloom);
    if (options->bloom == PETAL_BLOOM_ROW_PREFIX &&
        (options->bloom_prefix_bytes == 0 || options->bloom_prefix_bytes > PETAL_MAX_ROW_BYTES))
        return error_set(error, PETAL_INVALID,
                         "RowPrefixBloomFilter.prefix_length is %u; with BLOOMFILTER "
                         "ROWPREFIX_FIXED_LENGTH it must be 1 to %d",
                         options->bloom_prefix_bytes, PETAL_MAX_ROW_BYTES);
    if (options->bloom != PETAL_BLOOM_ROW_PREFIX && options->bloom_prefix_bytes != 0)
        return error_set(error, PETAL_INVALID,
                         "RowPrefixBloomFilter.prefix_length is %u; without BLOOMFILTER "
                         "ROWPREFIX_FIXED_LENGTH it must be 0",
                         options->bloom_prefix_bytes);
    if (options->bloom_kind == PETAL_BLOOM_KIND_DEFAULT)
        options->bloom_kind = PETAL_BLOOM_KIND_BLOCKED;
    if (options->bloom_kind != PETAL_BLOOM_KIND_BLOCKED &&
        options->bloom_kind != PETAL_BLOOM_KIND_RIBBON)
        return error_set(error, PETAL_INVALID,
                         "BLOOMFILTER_KIND is %d; it must be BLOCKED or RIBBON",
                         (int)options->bloom_kind);
    if (options->bloom_error_rate == 0)
        options->bloom_error_rate = DEFAULT_BLOOM_ERROR_RATE;
    if (!(options->bloom_error_rate >= 0.0001 && options->bloom_error_rate <= 0.5))
        return error_set(error, PETAL_INVALID,
                         "io.storefile.bloom.error.rate is %g; it must be 0.0001 to 0.5",
                         options->bloom_error_rate);
    return PETAL_OK;
}

enum petal_status
family_options_resolve(petal_family_options *options, const petal_family_options *given,
                       petal_error *error)
{
    enum petal_status status =
        options_copy(options, sizeof *options, given, "petal_family_options", error);

    options->size = sizeof *options;
    if (status == PETAL_OK)
        status = family_name_check(options->name, error);
    if (status != PETAL_OK)
        return status;
    status = resolve_versions(options, error);
    if (status != PETAL_OK)
        return status;
    if (options->block_bytes == 0)
        options->block_bytes = DEFAULT_BLOCK_BYTES;
    if (options->block_bytes < 1024 || options->block_bytes > 16u << 20)
        return error_set(error, PETAL_INVALID,
                         "BLOCKSIZE is %u; it must be 1024 (1 KiB) to 16777216 (16 MiB)",
                         options->block_bytes);
    if (options->compression == PETAL_COMPRESSION_DEFAULT)
        options->compression = PETAL_COMPRESSION_LZ4;
    if (options->compression > PETAL_COMPRESSION_LZ4)
        return error_set(error, PETAL_INVALID, "COMPRESSION is %d; it must be NONE or LZ4",
                         (int)options->compression);
    status = resolve_bloom(options, error);
    if (status != PETAL_OK)
        return status;
    return attributes_check(options->attributes, options->attribute_count, false, error);
}

enum petal_status
table_attributes_check(const petal_table_options *options, petal_error *error)
{
    enum petal_status status = options_check_durability(options->durability, error);

    if (status != PETAL_OK)
        return status;
    return attributes_check(options->attributes, options->attribute_count, true, error);
}

/* ---- names ---- */

/* Letters and digits; bytes of UTF-8 sequences pass as letters of other languages. */
static bool
is_name_byte(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c >= 0x80;
}

/* A byte of a name, as people are told of it. */
static const char *
byte_text(uint8_t c, char text[static 8])
{
    (void)snprintf(text, 8, c >= 0x20 && c < 0x7f ? "'%c'" : "0x%02X", c);
    return c == ' ' ? "a space" : text;
}

/* The name `whole` of a table, after its namespace, or of a snapshot: `thing` says which. */
static enum petal_status
qualifier_check(petal_slice name, petal_slice whole, const char *thing, petal_error *error)
{
    const uint8_t *bytes = name.data;
    char quoted[160], byte[8];

    if (whole.size == 0)
        return error_set(error, PETAL_INVALID, "the %s name is empty; it must have 1 to %d bytes",
                         thing, MOST_TABLE_NAME_BYTES);
    error_quote(whole, quoted, sizeof quoted);
    if (name.size == 0)
        return error_set(error, PETAL_INVALID,
                         "the %s name \"%s\" has nothing behind its namespace", thing, quoted);
    if (bytes[0] == '.' || bytes[0] == '-')
        return error_set(error, PETAL_INVALID,
                         "the %s name \"%s\" must not begin with '%c': letters, digits, '_', '-' "
                         "and '.' are allowed, and '-' and '.' not at the beginning",
                         thing, quoted, bytes[0]);
    for (size_t i = 0; i < name.size; i++) {
        if (!is_name_byte(bytes[i]) && bytes[i] != '-' && bytes[i] != '.')
            return error_set(error, PETAL_INVALID,
                             "the %s name \"%s\" must not contain %s: letters, digits, '_', '-' "
                             "and '.' are allowed, and '-' and '.' not at the beginning",
                             thing, quoted, byte_text(bytes[i], byte));
    }
    return PETAL_OK;
}

static enum petal_status
namespace_check(petal_slice name, petal_slice whole, petal_error *error)
{
    const uint8_t *bytes = name.data;
    char quoted[160], byte[8];

    error_quote(whole, quoted, sizeof quoted);
    if (name.size == 0)
        return error_set(error, PETAL_INVALID,
                         "the table name \"%s\" has no namespace before its colon", quoted);
    for (size_t i = 0; i < name.size; i++) {
        if (!is_name_byte(bytes[i]))
            return error_set(error, PETAL_INVALID,
                             "the namespace of the table name \"%s\" must not contain %s: letters, "
                             "digits and '_' are allowed",
                             quoted, byte_text(bytes[i], byte));
    }
    if (slice_equal(name, slice_from_text("default")))
        return error_set(error, PETAL_INVALID,
                         "tables of the namespace default have names without it");
    return PETAL_OK;
}

static enum petal_status
name_bytes_check(petal_slice name, const char *thing, petal_error *error)
{
    if (name.size <= MOST_TABLE_NAME_BYTES)
        return PETAL_OK;
    return error_set(error, PETAL_INVALID, "the %s name has %zu bytes; the limit is %d", thing,
                     name.size, MOST_TABLE_NAME_BYTES);
}

petal_slice
table_name_namespace(petal_slice name)
{
    const uint8_t *colon = name.size > 0 ? memchr(name.data, ':', name.size) : NULL;

    return slice_make(name.data, colon == NULL ? 0 : (size_t)(colon - (const uint8_t *)name.data));
}

enum petal_status
table_name_check(petal_slice name, petal_error *error)
{
    RETURN_IF_NO_BYTES(name, error);

    bool colon = name.size > 0 && memchr(name.data, ':', name.size) != NULL;
    petal_slice space = table_name_namespace(name), whole = name;
    enum petal_status status = name_bytes_check(name, "table", error);

    if (status == PETAL_OK && colon) {
        status = namespace_check(space, whole, error);
        name = slice_make((const uint8_t *)name.data + space.size + 1, name.size - space.size - 1);
    }
    if (status != PETAL_OK)
        return status;
    return qualifier_check(name, whole, "table", error);
}

enum petal_status
snapshot_name_check(petal_slice name, petal_error *error)
{
    enum petal_status status = name_bytes_check(name, "snapshot", error);

    if (status != PETAL_OK)
        return status;
    return qualifier_check(name, name, "snapshot", error);
}
