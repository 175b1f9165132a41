/* attribute.c -- see tools/shell/schema/attribute.h. */
#include "tools/shell/schema/attribute.h"

#include "tools/shell/session/near.h"
#include "tools/shell/session/words_of_values.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words ----------------------------------------------------------------------------------- */

static const struct word blooms[] = {{"NONE", PETAL_BLOOM_NONE},
                                     {"ROW", PETAL_BLOOM_ROW},
                                     {"ROWCOL", PETAL_BLOOM_ROWCOL},
                                     {"ROW_ROWCOL", PETAL_BLOOM_ROW_ROWCOL},
                                     {"ROWPREFIX_FIXED_LENGTH", PETAL_BLOOM_ROW_PREFIX},
                                     {NULL, 0}};

/* What families take; files may have others. */
static const struct word bloom_kinds[] = {
    {"BLOCKED", PETAL_BLOOM_KIND_BLOCKED}, {"RIBBON", PETAL_BLOOM_KIND_RIBBON}, {NULL, 0}};

static const struct word durabilities[] = {{"USE_DEFAULT", PETAL_DURABILITY_DEFAULT},
                                           {"SKIP_WAL", PETAL_SKIP_WAL},
                                           {"ASYNC_WAL", PETAL_ASYNC_WAL},
                                           {"SYNC_WAL", PETAL_SYNC_WAL},
                                           {"FSYNC_WAL", PETAL_FSYNC_WAL},
                                           {NULL, 0}};

static const struct word keep_deleted[] = {{"FALSE", PETAL_KEEP_DELETED_FALSE},
                                           {"TRUE", PETAL_KEEP_DELETED_TRUE},
                                           {"TTL", PETAL_KEEP_DELETED_TTL},
                                           {NULL, 0}};

/* The codecs of HBase.  Petal has LZ4; where another one is asked for, its name is kept and
 * shown, and blocks are LZ4. */
static const struct word compressions[] = {
    {"LZ4", PETAL_COMPRESSION_LZ4},    {"NONE", PETAL_COMPRESSION_NONE},
    {"GZ", PETAL_COMPRESSION_LZ4},     {"SNAPPY", PETAL_COMPRESSION_LZ4},
    {"LZO", PETAL_COMPRESSION_LZ4},    {"ZSTD", PETAL_COMPRESSION_LZ4},
    {"BZIP2", PETAL_COMPRESSION_LZ4},  {"LZMA", PETAL_COMPRESSION_LZ4},
    {"BROTLI", PETAL_COMPRESSION_LZ4}, {NULL, 0}};

static const char *
word_name(const struct word *words, int value)
{
    for (; words->name != NULL; words++)
        if (words->value == value)
            return words->name;
    return "UNKNOWN";
}

const char *
schema_bloom_name(enum petal_bloom_type bloom)
{
    return word_name(blooms, bloom == PETAL_BLOOM_DEFAULT ? PETAL_BLOOM_ROW : (int)bloom);
}

const char *
schema_bloom_kind_name(enum petal_bloom_kind kind)
{
    return kind == PETAL_BLOOM_KIND_STANDARD ? "STANDARD" : word_name(bloom_kinds, (int)kind);
}

const char *
schema_durability_name(enum petal_durability durability)
{
    return word_name(durabilities, (int)durability);
}

const char *
schema_keep_deleted_name(enum petal_keep_deleted kept)
{
    return word_name(keep_deleted, (int)kept);
}

/* ---- Lists of text attributes ---------------------------------------------------------------- */

/* A list of text attributes of some options. */
struct attribute_list {
    const petal_attribute **items;
    size_t *count;
};

static struct attribute_list
family_attributes(petal_family_options *family)
{
    return (struct attribute_list){&family->attributes, &family->attribute_count};
}

static struct attribute_list
table_attributes(petal_table_options *table)
{
    return (struct attribute_list){&table->attributes, &table->attribute_count};
}

const petal_attribute *
attribute_find(const petal_attribute *items, size_t count, enum petal_attribute_kind kind,
               petal_slice name)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].kind == kind && slices_equal(items[i].name, name))
            return &items[i];
    return NULL;
}

/* Give the attribute a value; NULL takes it out of the list. */
static void
attribute_set(struct arena *arena, struct attribute_list list, enum petal_attribute_kind kind,
              petal_slice name, const petal_slice *value)
{
    const petal_attribute *old = *list.items;
    petal_attribute *made = arena_allocate(arena, (*list.count + 1) * sizeof(*made));
    size_t count = 0;

    for (size_t i = 0; i < *list.count; i++)
        if (old[i].kind != kind || !slices_equal(old[i].name, name))
            made[count++] = old[i];
    if (value != NULL)
        made[count++] = (petal_attribute){kind, name, *value};
    *list.items = made;
    *list.count = count;
}

static petal_slice
upper_case(struct session *session, petal_slice text)
{
    char *letters = arena_copy(&session->arena, text.data, text.size);

    for (size_t i = 0; i < text.size; i++)
        if (letters[i] >= 'a' && letters[i] <= 'z')
            letters[i] = (char)(letters[i] - 'a' + 'A');
    return (petal_slice){letters, text.size};
}

static enum shell_status
fail_family(struct session *session, const char *before, const petal_family_options *family,
            const char *behind)
{
    return session_fail(session, SHELL_USAGE, "%s%.*s%s", before, SLICE(family->name), behind);
}

/* ---- Typed attributes of families ------------------------------------------------------------ */

static enum shell_status
read_versions(struct session *session, petal_family_options *family, petal_slice key,
              const struct value *value)
{
    int64_t number;

    if (!value_read_number(value, &number) || number > INT32_MAX)
        return value_fail(session, key, value, "it must be a number, 1 or more");
    if (number <= 0)
        return session_fail(session, SHELL_USAGE, "Maximum versions must be positive");
    family->versions = (uint32_t)number;
    return SHELL_FINE;
}

static enum shell_status
read_min_versions(struct session *session, petal_family_options *family, petal_slice key,
                  const struct value *value)
{
    int64_t number;

    if (!value_read_number(value, &number) || number < 0 || number > INT32_MAX)
        return value_fail(session, key, value, "it must be a number, 0 or more");
    family->min_versions = (uint32_t)number;
    return SHELL_FINE;
}

static enum shell_status
read_ttl(struct session *session, petal_family_options *family, petal_slice key,
         const struct value *value)
{
    petal_slice text = value_to_bytes(&session->arena, value);
    int64_t seconds;

    if (equals_ignoring_case(text, "FOREVER"))
        seconds = PETAL_FOREVER;
    else if (!value_read_number(value, &seconds))
        seconds = value->kind == VALUE_STRING ? parse_interval(text) : 0;
    if (seconds > PETAL_FOREVER)
        return value_fail(session, key, value,
                          "it must be at most 2147483647 seconds, which is FOREVER");
    if (seconds <= 0)
        return fail_family(session, "TTL for column family ", family, " must be positive.");
    family->ttl_seconds = (uint32_t)seconds;
    return SHELL_FINE;
}

static enum shell_status
read_block_size(struct session *session, petal_family_options *family, petal_slice key,
                const struct value *value)
{
    int64_t number;

    if (!value_read_size(value, &number))
        return value_fail(session, key, value, "it must be a size such as 65536 or '64KB'");
    if (number < 1024 || number > 16 << 20)
        return fail_family(session, "Block size for column family ", family,
                           "  must be between 1K and 16MB.");
    family->block_bytes = (uint32_t)number;
    return SHELL_FINE;
}

static enum shell_status
read_bloom(struct session *session, petal_family_options *family, petal_slice key,
           const struct value *value)
{
    int number = 0;
    enum shell_status status = value_read_word(session, key, value, blooms, &number);

    if (status == SHELL_FINE)
        family->bloom = (enum petal_bloom_type)number;
    if (family->bloom != PETAL_BLOOM_ROW_PREFIX)
        family->bloom_prefix_bytes = 0;
    return status;
}

static enum shell_status
read_compression(struct session *session, petal_family_options *family, petal_slice key,
                 const struct value *value)
{
    petal_slice text = upper_case(session, value_to_bytes(&session->arena, value));
    bool own = slice_is(text, "LZ4") || slice_is(text, "NONE");
    int number = 0;
    enum shell_status status = value_read_word(session, key, value, compressions, &number);

    if (status != SHELL_FINE)
        return session_fail(session, status,
                            "Compression %.*s is not supported. Use one of LZ4 NONE GZ SNAPPY LZO "
                            "ZSTD BZIP2 LZMA BROTLI",
                            SLICE_UP_TO(40, text));
    family->compression = (enum petal_compression)number;
    attribute_set(&session->arena, family_attributes(family), PETAL_KEPT_ATTRIBUTE, key,
                  own ? NULL : &text);
    return SHELL_FINE;
}

static enum shell_status
read_error_rate(struct session *session, petal_family_options *family, petal_slice key,
                const struct value *value)
{
    petal_slice text = value_to_bytes(&session->arena, value);
    char number[32];
    char *end;

    family->bloom_error_rate = 0;
    if (value->kind == VALUE_NIL)
        return SHELL_FINE;
    (void)snprintf(number, sizeof(number), "%.*s", SLICE_UP_TO(31, text));
    family->bloom_error_rate = strtod(number, &end);
    if (end == number || *end != '\0' || !(family->bloom_error_rate >= 0.0001) ||
        !(family->bloom_error_rate <= 0.5))
        return value_fail(session, key, value, "it must be a number from 0.0001 to 0.5");
    return SHELL_FINE;
}

static enum shell_status
read_prefix_length(struct session *session, petal_family_options *family, petal_slice key,
                   const struct value *value)
{
    int64_t number = 0;

    if (value->kind != VALUE_NIL &&
        (!value_read_number(value, &number) || number < 1 || number > PETAL_MAX_ROW_BYTES))
        return value_fail(session, key, value, "it must be a number from 1 to 32767");
    family->bloom_prefix_bytes = (uint32_t)number;
    return SHELL_FINE;
}

/* ---- METADATA and CONFIGURATION -------------------------------------------------------------- */

static enum shell_status
fail_hash(struct session *session, petal_slice key)
{
    return session_fail(session, SHELL_USAGE, "%.*s must be a Hash type", SLICE(key));
}

/* nil and the empty text take a pair of METADATA or CONFIGURATION out. */
static bool
takes_out(struct session *session, const struct value *value)
{
    return value_to_bytes(&session->arena, value).size == 0;
}

static void
read_text(struct session *session, struct attribute_list list, enum petal_attribute_kind kind,
          petal_slice name, const struct value *value)
{
    petal_slice text = value_to_bytes(&session->arena, value);

    attribute_set(&session->arena, list, kind, name, takes_out(session, value) ? NULL : &text);
}

/* Two names have fields of their own. */
static enum shell_status
read_configuration(struct session *session, petal_family_options *family, petal_slice key,
                   const struct value *value)
{
    enum shell_status status = SHELL_FINE;

    if (value->kind != VALUE_HASH)
        return fail_hash(session, key);
    for (size_t i = 0; i < value->count && status == SHELL_FINE; i++) {
        petal_slice name = value_to_bytes(&session->arena, &value->as.pairs[i].key);

        if (slice_is(name, ERROR_RATE_KEY))
            status = read_error_rate(session, family, name, &value->as.pairs[i].value);
        else if (slice_is(name, PREFIX_LENGTH_KEY))
            status = read_prefix_length(session, family, name, &value->as.pairs[i].value);
        else
            read_text(session, family_attributes(family), PETAL_CONFIGURATION, name,
                      &value->as.pairs[i].value);
    }
    return status;
}

/* ---- Attributes that are kept as text -------------------------------------------------------- */

enum kept_form { KEPT_BOOLEAN, KEPT_NUMBER, KEPT_SIZE, KEPT_TEXT, KEPT_UPPER };

struct kept {
    const char *name;
    enum kept_form form;
};

static const struct kept family_kept[] = {
    {"REPLICATION_SCOPE", KEPT_NUMBER},
    {"DATA_BLOCK_ENCODING", KEPT_TEXT},
    {"INDEX_BLOCK_ENCODING", KEPT_TEXT},
    {"CACHE_DATA_ON_WRITE", KEPT_BOOLEAN},
    {"CACHE_INDEX_ON_WRITE", KEPT_BOOLEAN},
    {"CACHE_BLOOMS_ON_WRITE", KEPT_BOOLEAN},
    {"EVICT_BLOCKS_ON_CLOSE", KEPT_BOOLEAN},
    {"PREFETCH_BLOCKS_ON_OPEN", KEPT_BOOLEAN},
    {"IN_MEMORY_COMPACTION", KEPT_TEXT},
    {"COMPRESS_TAGS", KEPT_BOOLEAN},
    {"COMPRESSION_COMPACT", KEPT_UPPER},
    {"COMPRESSION_COMPACT_MAJOR", KEPT_UPPER},
    {"COMPRESSION_COMPACT_MINOR", KEPT_UPPER},
    {"IS_MOB", KEPT_BOOLEAN},
    {"MOB_THRESHOLD", KEPT_SIZE},
    {"DFS_REPLICATION", KEPT_NUMBER},
    {"STORAGE_POLICY", KEPT_UPPER},
    {"ENCRYPTION", KEPT_TEXT},
    {"ENCRYPTION_KEY", KEPT_TEXT},
    {NULL, KEPT_TEXT},
};

static const struct kept table_kept[] = {
    {"MAX_FILESIZE", KEPT_SIZE},
    {"MEMSTORE_FLUSHSIZE", KEPT_SIZE},
    {"COMPACTION_ENABLED", KEPT_BOOLEAN},
    {"SPLIT_ENABLED", KEPT_BOOLEAN},
    {"MERGE_ENABLED", KEPT_BOOLEAN},
    {"REGION_REPLICATION", KEPT_NUMBER},
    {"PRIORITY", KEPT_NUMBER},
    {"OWNER", KEPT_TEXT},
    {NULL, KEPT_TEXT},
};

/* The library checks the range; here the value gets the form in which it is kept. */
static enum shell_status
read_kept(struct session *session, struct attribute_list list, const struct kept *kept,
          const struct value *value)
{
    petal_slice name = slice_of_string(kept->name);
    petal_slice text = value_to_bytes(&session->arena, value);
    char digits[24];
    int64_t number;

    switch (kept->form) {
    case KEPT_BOOLEAN:
        text = slice_of_string(value_read_boolean(session, value) ? "true" : "false");
        break;
    case KEPT_NUMBER:
    case KEPT_SIZE:
        if (kept->form == KEPT_SIZE ? !value_read_size(value, &number)
                                    : !value_read_number(value, &number))
            return value_fail(session, name, value, "it must be a number");
        text.size = (size_t)snprintf(digits, sizeof(digits), "%" PRId64, number);
        text.data = arena_copy(&session->arena, digits, text.size);
        break;
    case KEPT_UPPER:
        text = upper_case(session, text);
        break;
    case KEPT_TEXT:
        break;
    }
    attribute_set(&session->arena, list, PETAL_KEPT_ATTRIBUTE, name,
                  value->kind == VALUE_NIL ? NULL : &text);
    return SHELL_FINE;
}

static const struct kept *
find_kept(const struct kept *kept, petal_slice key)
{
    while (kept->name != NULL && !slice_is(key, kept->name))
        kept++;
    return kept->name != NULL ? kept : NULL;
}

/* ---- Families -------------------------------------------------------------------------------- */

typedef enum shell_status read_function(struct session *session, petal_family_options *family,
                                        petal_slice key, const struct value *value);

enum family_form { FAMILY_READ, FAMILY_WORD, FAMILY_FLAG, FAMILY_NOT };

/* The attributes that have fields of their own. */
static const struct {
    const char *name;
    enum family_form form;
    read_function *read; /* FAMILY_READ */
    size_t place;        /* FAMILY_WORD: of an enumeration; FAMILY_FLAG, _NOT: of a boolean */
    const struct word *words;
    const char *usual; /* what METADATA sets when it takes the attribute out; NULL: nil will do */
} family_typed[] = {
    {"VERSIONS", FAMILY_READ, read_versions, 0, NULL, "1"},
    {"MIN_VERSIONS", FAMILY_READ, read_min_versions, 0, NULL, "0"},
    {"TTL", FAMILY_READ, read_ttl, 0, NULL, "FOREVER"},
    {"BLOCKSIZE", FAMILY_READ, read_block_size, 0, NULL, "65536"},
    {"BLOOMFILTER", FAMILY_READ, read_bloom, 0, NULL, "ROW"},
    {"COMPRESSION", FAMILY_READ, read_compression, 0, NULL, "LZ4"},
    {"KEEP_DELETED_CELLS", FAMILY_WORD, NULL, offsetof(petal_family_options, keep_deleted_cells),
     keep_deleted, "FALSE"},
    {"BLOOMFILTER_KIND", FAMILY_WORD, NULL, offsetof(petal_family_options, bloom_kind), bloom_kinds,
     "BLOCKED"},
    {"IN_MEMORY", FAMILY_FLAG, NULL, offsetof(petal_family_options, in_memory), NULL, NULL},
    {"BLOCKCACHE", FAMILY_NOT, NULL, offsetof(petal_family_options, no_block_cache), NULL, "true"},
    {"BLOOM_RATE_PER_FILE", FAMILY_FLAG, NULL, offsetof(petal_family_options, bloom_rate_per_file),
     NULL, NULL},
    {"NEW_VERSION_BEHAVIOR", FAMILY_FLAG, NULL,
     offsetof(petal_family_options, new_version_behavior), NULL, NULL},
};

static enum shell_status
read_typed(struct session *session, petal_family_options *family, size_t typed, petal_slice key,
           const struct value *value)
{
    char *place = (char *)family + family_typed[typed].place;
    enum shell_status status;
    int number;

    switch (family_typed[typed].form) {
    case FAMILY_READ:
        break;
    case FAMILY_WORD:
        status = value_read_word(session, key, value, family_typed[typed].words, &number);
        if (status == SHELL_FINE)
            memcpy(place, &number, sizeof(number));
        return status;
    case FAMILY_FLAG:
    case FAMILY_NOT:
        *(bool *)place =
            value_read_boolean(session, value) == (family_typed[typed].form == FAMILY_FLAG);
        return SHELL_FINE;
    }
    return family_typed[typed].read(session, family, key, value);
}

/* An attribute with a value of its own: all but METADATA and CONFIGURATION. */
static enum shell_status
read_family_single(struct session *session, petal_family_options *family, petal_slice key,
                   const struct value *value, bool *known)
{
    const struct kept *kept = find_kept(family_kept, key);

    *known = true;
    for (size_t i = 0; i < COUNT_OF(family_typed); i++)
        if (slice_is(key, family_typed[i].name))
            return read_typed(session, family, i, key, value);
    if (kept != NULL)
        return read_kept(session, family_attributes(family), kept, value);
    *known = false;
    return SHELL_FINE;
}

/* What an attribute is that METADATA takes out: nil, unless that is no value for it. */
static struct value
family_default(petal_slice name)
{
    for (size_t i = 0; i < COUNT_OF(family_typed); i++)
        if (slice_is(name, family_typed[i].name) && family_typed[i].usual != NULL)
            return value_string(slice_of_string(family_typed[i].usual));
    return (struct value){.kind = VALUE_NIL};
}

/* Attributes and METADATA are one map: a pair under an attribute's name is the attribute, and text
 * that is there under its name gives way to it. */
static enum shell_status
read_family_pair(struct session *session, petal_family_options *family, petal_slice key,
                 const struct value *value, bool *known)
{
    enum shell_status status = read_family_single(session, family, key, value, known);

    if (*known)
        attribute_set(&session->arena, family_attributes(family), PETAL_METADATA, key, NULL);
    return status;
}

static enum shell_status
read_family_metadata(struct session *session, petal_family_options *family, petal_slice key,
                     const struct value *hash)
{
    enum shell_status status = SHELL_FINE;

    if (hash->kind != VALUE_HASH)
        return fail_hash(session, key);
    for (size_t i = 0; i < hash->count && status == SHELL_FINE; i++) {
        petal_slice name = value_to_bytes(&session->arena, &hash->as.pairs[i].key);
        struct value value = hash->as.pairs[i].value;
        bool known;

        if (takes_out(session, &value))
            value = family_default(name);
        status = read_family_pair(session, family, name, &value, &known);
        if (!known)
            read_text(session, family_attributes(family), PETAL_METADATA, name, &value);
    }
    return status;
}

enum shell_status
family_attribute_read(struct session *session, petal_family_options *family, petal_slice key,
                      const struct value *value, bool *known)
{
    *known = true;
    if (slice_is(key, "METADATA"))
        return read_family_metadata(session, family, key, value);
    if (slice_is(key, "CONFIGURATION"))
        return read_configuration(session, family, key, value);
    return read_family_pair(session, family, key, value, known);
}

enum shell_status
family_attributes_check(struct session *session, const petal_family_options *family)
{
    uint32_t versions = family->versions > 0 ? family->versions : 1;

    if (family->min_versions > versions)
        return fail_family(session, "Min versions for column family ", family,
                           " must be less than the Max versions.");
    if (family->bloom == PETAL_BLOOM_ROW_PREFIX && family->bloom_prefix_bytes == 0)
        return session_fail(session, SHELL_USAGE,
                            "Failed to get bloom filter param: ROWPREFIX_FIXED_LENGTH needs "
                            "CONFIGURATION => {'" PREFIX_LENGTH_KEY "' => '1' to '32767'}");
    return SHELL_FINE;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Attributes, METADATA and CONFIGURATION of a table are one map: what is under a name gives way to
 * what comes. */
bool
table_attribute_unset(struct session *session, petal_table_options *table, petal_slice name)
{
    static const enum petal_attribute_kind kinds[] = {PETAL_KEPT_ATTRIBUTE, PETAL_METADATA,
                                                      PETAL_CONFIGURATION};
    bool found = false;

    if (slice_is(name, "DURABILITY")) {
        found = table->durability != PETAL_DURABILITY_DEFAULT;
        table->durability = PETAL_DURABILITY_DEFAULT;
    }
    if (slice_is(name, "READONLY")) {
        found = table->read_only;
        table->read_only = false;
    }
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        found = found ||
                attribute_find(table->attributes, table->attribute_count, kinds[i], name) != NULL;
        attribute_set(&session->arena, table_attributes(table), kinds[i], name, NULL);
    }
    return found;
}

/* An attribute with a value of its own: all but METADATA, CONFIGURATION and what is passed over. */
static enum shell_status
read_table_single(struct session *session, petal_table_options *table, petal_slice key,
                  const struct value *value, bool *known)
{
    const struct kept *kept = find_kept(table_kept, key);
    enum shell_status status;
    int number = 0;

    *known = true;
    if (slice_is(key, "DURABILITY")) {
        status = value_read_word(session, key, value, durabilities, &number);
        if (status != SHELL_FINE)
            return status;
        (void)table_attribute_unset(session, table, key);
        table->durability = (enum petal_durability)number;
    } else if (slice_is(key, "READONLY")) {
        /* READONLY => false stands in METADATA once it has been said. */
        petal_slice no = slice_of_string("false");

        (void)table_attribute_unset(session, table, key);
        table->read_only = value_read_boolean(session, value);
        if (!table->read_only)
            attribute_set(&session->arena, table_attributes(table), PETAL_METADATA, key, &no);
    } else if (kept != NULL) {
        (void)table_attribute_unset(session, table, key);
        return read_kept(session, table_attributes(table), kept, value);
    } else {
        *known = false;
    }
    return SHELL_FINE;
}

/* A pair under an attribute's name is the attribute. */
static enum shell_status
read_table_texts(struct session *session, petal_table_options *table,
                 enum petal_attribute_kind kind, petal_slice key, const struct value *hash)
{
    enum shell_status status = SHELL_FINE;

    if (hash->kind != VALUE_HASH)
        return fail_hash(session, key);
    for (size_t i = 0; i < hash->count && status == SHELL_FINE; i++) {
        petal_slice name = value_to_bytes(&session->arena, &hash->as.pairs[i].key);
        const struct value *value = &hash->as.pairs[i].value;
        bool known = false;

        if (!takes_out(session, value))
            status = read_table_single(session, table, name, value, &known);
        if (known)
            continue;
        (void)table_attribute_unset(session, table, name);
        read_text(session, table_attributes(table), kind, name, value);
    }
    return status;
}

enum shell_status
table_attribute_read(struct session *session, petal_table_options *table, petal_slice key,
                     const struct value *value, bool *known)
{
    static const char *const ignored[] = {"SPLITS", "SPLITS_FILE", "SPLITALGO", "NUMREGIONS"};

    *known = true;
    if (slice_is(key, "METADATA"))
        return read_table_texts(session, table, PETAL_METADATA, key, value);
    if (slice_is(key, "CONFIGURATION"))
        return read_table_texts(session, table, PETAL_CONFIGURATION, key, value);
    for (size_t i = 0; i < COUNT_OF(ignored); i++)
        if (slice_is(key, ignored[i]))
            return SHELL_FINE;
    return read_table_single(session, table, key, value, known);
}

const char *
attribute_nearest(petal_slice name)
{
    static const char *const others[] = {"NAME", "METADATA", "CONFIGURATION", "DURABILITY",
                                         "READONLY"};
    const char *nearest = NULL;
    unsigned least = 0;

    for (size_t i = 0; i < COUNT_OF(family_typed); i++)
        near_consider(name, family_typed[i].name, &nearest, &least);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        near_consider(name, others[i], &nearest, &least);
    for (const struct kept *kept = family_kept; kept->name != NULL; kept++)
        near_consider(name, kept->name, &nearest, &least);
    for (const struct kept *kept = table_kept; kept->name != NULL; kept++)
        near_consider(name, kept->name, &nearest, &least);
    return nearest;
}
