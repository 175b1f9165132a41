/* descriptor.c -- see descriptor.h. */
#include "tools/hfile/exchange/descriptor.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/protobuf.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

/* Of TableSchema and ColumnFamilySchema. TableName, BytesBytesPair and NameStringPair are pairs. */
enum {
    SCHEMA_TABLE_NAME = 1,
    SCHEMA_ATTRIBUTES = 2,
    SCHEMA_FAMILIES = 3,
    SCHEMA_CONFIGURATION = 4,
    FAMILY_NAME = 1,
    FAMILY_ATTRIBUTES = 2,
    FAMILY_CONFIGURATION = 3
};

void
descriptor_init(struct descriptor *descriptor, struct arena *arena)
{
    *descriptor = (struct descriptor){.arena = arena, .table = {.size = sizeof descriptor->table}};
}

static bool
is_text(petal_slice slice, const char *text)
{
    return hfile_slice_equal(slice, hfile_text_slice(text));
}

static bool
is_text_of_any_case(petal_slice slice, const char *text)
{
    size_t i = 0;

    for (; i < slice.size && text[i] != '\0'; i++)
        if ((hfile_slice_bytes(slice)[i] & ~0x20) != (text[i] & ~0x20))
            return false;
    return i == slice.size && text[i] == '\0';
}

/* ---- Lists ----------------------------------------------------------------------------------- */

petal_family_options *
descriptor_family(struct descriptor *descriptor, petal_slice name)
{
    size_t count = descriptor->table.family_count, capacity = descriptor->family_capacity;
    petal_family_options *families;
    size_t *capacities;
    char *copy;

    for (size_t i = 0; i < count; i++)
        if (hfile_slice_equal(descriptor->families[i].name, name))
            return &descriptor->families[i];
    capacities = arena_room(descriptor->arena, descriptor->family_attribute_capacities, count,
                            &capacity, sizeof *capacities);
    families = arena_room(descriptor->arena, descriptor->families, count,
                          &descriptor->family_capacity, sizeof *families);
    copy = arena_copy(descriptor->arena, name);
    if (capacities == NULL || families == NULL || copy == NULL)
        return NULL;
    families[count] =
        (petal_family_options){.size = sizeof *families, .name = hfile_slice(copy, name.size)};
    capacities[count] = 0;
    descriptor->families = families;
    descriptor->family_attribute_capacities = capacities;
    descriptor->table.families = families;
    descriptor->table.family_count = count + 1;
    return &families[count];
}

/* One that stands in the list takes the new value. */
static enum petal_status
set_attribute(struct arena *arena, const petal_attribute **list, size_t *count, size_t *capacity,
              enum petal_attribute_kind kind, petal_slice name, petal_slice value,
              petal_error *error)
{
    petal_attribute *items = (petal_attribute *)(uintptr_t)*list;
    char *name_copy = arena_copy(arena, name), *value_copy = arena_copy(arena, value);
    size_t place = 0;

    while (place < *count &&
           (items[place].kind != kind || !hfile_slice_equal(items[place].name, name)))
        place++;
    if (place == *count)
        items = arena_room(arena, items, *count, capacity, sizeof *items);
    if (items == NULL || name_copy == NULL || value_copy == NULL)
        return hfile_error_no_memory(error);
    items[place] = (petal_attribute){.kind = kind,
                                     .name = hfile_slice(name_copy, name.size),
                                     .value = hfile_slice(value_copy, value.size)};
    *list = items;
    *count += place == *count ? 1 : 0;
    return PETAL_OK;
}

static enum petal_status
keep_for_family(struct descriptor *descriptor, petal_family_options *family,
                enum petal_attribute_kind kind, petal_slice name, petal_slice value,
                petal_error *error)
{
    size_t place = (size_t)(family - descriptor->families);

    assert(place < descriptor->table.family_count);
    return set_attribute(descriptor->arena, &family->attributes, &family->attribute_count,
                         &descriptor->family_attribute_capacities[place], kind, name, value, error);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static enum petal_status
cannot_take(const char *file, petal_slice name, petal_slice value, const char *why,
            petal_error *error)
{
    char shown[80];

    return hfile_error_set(error, PETAL_UNSUPPORTED, file, "%.*s => '%s': %s",
                           (int)(name.size < 60 ? name.size : 60), (const char *)name.data,
                           hfile_error_quote(value, shown, sizeof shown), why);
}

/* The digits that a text begins with: describe shows '65536 B (64KB)'. */
static bool
read_number(petal_slice value, uint32_t least, uint32_t most, uint32_t *number)
{
    uint64_t read = 0;
    size_t i = 0;

    for (; i < value.size && i < 18; i++) {
        uint8_t digit = hfile_slice_bytes(value)[i];

        if (digit < '0' || digit > '9')
            break;
        read = 10 * read + (uint64_t)(digit - '0');
    }
    *number = (uint32_t)read;
    return i > 0 && (i == value.size || hfile_slice_bytes(value)[i] == ' ') && read >= least &&
           read <= most;
}

struct word {
    const char *text;
    uint32_t number;
};

static const struct word no_words[] = {{NULL, 0}};
static const struct word flag_words[] = {{"true", true}, {"false", false}, {NULL, 0}};
static const struct word not_flag_words[] = {{"true", false}, {"false", true}, {NULL, 0}};
static const struct word ttl_words[] = {{"FOREVER", PETAL_FOREVER}, {NULL, 0}};
static const struct word bloom_words[] = {{"NONE", PETAL_BLOOM_NONE},
                                          {"ROW", PETAL_BLOOM_ROW},
                                          {"ROWCOL", PETAL_BLOOM_ROWCOL},
                                          {"ROW_ROWCOL", PETAL_BLOOM_ROW_ROWCOL},
                                          {"ROWPREFIX_FIXED_LENGTH", PETAL_BLOOM_ROW_PREFIX},
                                          {NULL, 0}};
static const struct word keep_words[] = {{"FALSE", PETAL_KEEP_DELETED_FALSE},
                                         {"TRUE", PETAL_KEEP_DELETED_TRUE},
                                         {"TTL", PETAL_KEEP_DELETED_TTL},
                                         {NULL, 0}};
static const struct word durability_words[] = {{"USE_DEFAULT", PETAL_DURABILITY_DEFAULT},
                                               {"SKIP_WAL", PETAL_SKIP_WAL},
                                               {"ASYNC_WAL", PETAL_ASYNC_WAL},
                                               {"SYNC_WAL", PETAL_SYNC_WAL},
                                               {"FSYNC_WAL", PETAL_FSYNC_WAL},
                                               {NULL, 0}};

static bool
read_word(const struct word *words, petal_slice value, uint32_t *number)
{
    for (; words->text != NULL; words++)
        if (is_text_of_any_case(value, words->text)) {
            *number = words->number;
            return true;
        }
    return false;
}

/* An attribute that is a field of the options: a word, or a number from `least` to `most`. */
struct attribute {
    const char *name;
    size_t at;    /* of the field, */
    bool is_bool; /* and what it is, else an uint32_t or an enumeration */
    const struct word *words;
    uint32_t least, most; /* 0: only words */
    const char *must;     /* what its value must be, where that is only words */
};

static_assert(sizeof(enum petal_bloom_type) == sizeof(uint32_t) &&
                  sizeof(enum petal_keep_deleted) == sizeof(uint32_t) &&
                  sizeof(enum petal_durability) == sizeof(uint32_t),
              "set_field writes enumerations as numbers");

static enum petal_status
set_field(void *options, const struct attribute *attribute, const char *file, petal_slice name,
          petal_slice value, petal_error *error)
{
    uint8_t *field = (uint8_t *)options + attribute->at;
    uint32_t number;
    bool flag;

    if (!read_word(attribute->words, value, &number) &&
        (attribute->most == 0 || !read_number(value, attribute->least, attribute->most, &number))) {
        char must[64];

        snprintf(must, sizeof must, "it must be a number from %u to %u", attribute->least,
                 attribute->most);
        return cannot_take(file, name, value, attribute->most > 0 ? must : attribute->must, error);
    }
    flag = number != 0;
    if (attribute->is_bool)
        memcpy(field, &flag, sizeof flag);
    else
        memcpy(field, &number, sizeof number);
    return PETAL_OK;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* HBase's own attributes that Petal keeps and shows; see PETAL_KEPT_ATTRIBUTE. */
static const char *const kept_of_families[] = {"REPLICATION_SCOPE",
                                               "DATA_BLOCK_ENCODING",
                                               "INDEX_BLOCK_ENCODING",
                                               "CACHE_DATA_ON_WRITE",
                                               "CACHE_INDEX_ON_WRITE",
                                               "CACHE_BLOOMS_ON_WRITE",
                                               "EVICT_BLOCKS_ON_CLOSE",
                                               "PREFETCH_BLOCKS_ON_OPEN",
                                               "IN_MEMORY_COMPACTION",
                                               "COMPRESS_TAGS",
                                               "IS_MOB",
                                               "MOB_THRESHOLD",
                                               "DFS_REPLICATION",
                                               "STORAGE_POLICY",
                                               "COMPRESSION_COMPACT",
                                               "COMPRESSION_COMPACT_MAJOR",
                                               "COMPRESSION_COMPACT_MINOR",
                                               NULL};
static const char *const kept_of_tables[] = {"MAX_FILESIZE",
                                             "MEMSTORE_FLUSHSIZE",
                                             "COMPACTION_ENABLED",
                                             "SPLIT_ENABLED",
                                             "MERGE_ENABLED",
                                             "REGION_REPLICATION",
                                             "PRIORITY",
                                             "OWNER",
                                             NULL};

static bool
is_one_of(const char *const *names, petal_slice name)
{
    while (*names != NULL && !is_text(name, *names))
        names++;
    return *names != NULL;
}

#define OF_FAMILY(field) offsetof(petal_family_options, field)
#define FLAG_MUST        "it must be true or false"

static const struct attribute prefix_length = {.name = "RowPrefixBloomFilter.prefix_length",
                                               .at = OF_FAMILY(bloom_prefix_bytes),
                                               .words = no_words,
                                               .least = 1,
                                               .most = PETAL_MAX_ROW_BYTES};
static const struct attribute family_attributes[] = {
    {"VERSIONS", OF_FAMILY(versions), false, no_words, 1, INT32_MAX, NULL},
    {"MIN_VERSIONS", OF_FAMILY(min_versions), false, no_words, 0, INT32_MAX, NULL},
    {"TTL", OF_FAMILY(ttl_seconds), false, ttl_words, 1, PETAL_FOREVER, NULL},
    {"BLOCKSIZE", OF_FAMILY(block_bytes), false, no_words, 1024, 16 << 20, NULL},
    {"IN_MEMORY", OF_FAMILY(in_memory), true, flag_words, 0, 0, FLAG_MUST},
    {"BLOCKCACHE", OF_FAMILY(no_block_cache), true, not_flag_words, 0, 0, FLAG_MUST},
    {"NEW_VERSION_BEHAVIOR", OF_FAMILY(new_version_behavior), true, flag_words, 0, 0, FLAG_MUST},
    {"KEEP_DELETED_CELLS", OF_FAMILY(keep_deleted_cells), false, keep_words, 0, 0,
     "it must be FALSE, TRUE or TTL"},
    {"BLOOMFILTER", OF_FAMILY(bloom), false, bloom_words, 0, 0,
     "it must be NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH"},
};
static const struct attribute durability = {
    .at = offsetof(petal_table_options, durability),
    .words = durability_words,
    .must = "it must be USE_DEFAULT, SKIP_WAL, ASYNC_WAL, SYNC_WAL or FSYNC_WAL"};

enum petal_status
descriptor_set_family(struct descriptor *descriptor, petal_family_options *family,
                      enum petal_attribute_kind kind, petal_slice name, petal_slice value,
                      const char *file, petal_error *error)
{
    if (is_text(name, prefix_length.name))
        return set_field(family, &prefix_length, file, name, value, error);
    if (kind == PETAL_CONFIGURATION)
        return keep_for_family(descriptor, family, kind, name, value, error);
    for (size_t i = 0; i < sizeof family_attributes / sizeof *family_attributes; i++)
        if (is_text(name, family_attributes[i].name))
            return set_field(family, &family_attributes[i], file, name, value, error);
    if (is_text(name, "COMPRESSION")) {
        /* Another codec's name is kept, and blocks are LZ4. */
        family->compression =
            is_text_of_any_case(value, "NONE") ? PETAL_COMPRESSION_NONE : PETAL_COMPRESSION_LZ4;
        if (is_text_of_any_case(value, "NONE") || is_text_of_any_case(value, "LZ4"))
            return PETAL_OK;
        return keep_for_family(descriptor, family, PETAL_KEPT_ATTRIBUTE, name, value, error);
    }
    return keep_for_family(descriptor, family,
                           is_one_of(kept_of_families, name) ? PETAL_KEPT_ATTRIBUTE : kind, name,
                           value, error);
}

enum petal_status
descriptor_set_table(struct descriptor *descriptor, enum petal_attribute_kind kind,
                     petal_slice name, petal_slice value, const char *file, petal_error *error)
{
    petal_table_options *table = &descriptor->table;

    /* READONLY would refuse what is about to be imported; the others are marks of HBase's own that
     * mean nothing to a table. */
    if (kind == PETAL_METADATA &&
        (is_text(name, "READONLY") || is_text(name, "IS_META") || is_text(name, "IS_ROOT")))
        return PETAL_OK;
    if (kind == PETAL_METADATA && is_text(name, "DURABILITY"))
        return set_field(table, &durability, file, name, value, error);
    return set_attribute(
        descriptor->arena, &table->attributes, &table->attribute_count,
        &descriptor->attribute_capacity,
        kind == PETAL_METADATA && is_one_of(kept_of_tables, name) ? PETAL_KEPT_ATTRIBUTE : kind,
        name, value, error);
}

/* ---- TableSchema ----------------------------------------------------------------------------- */

static enum petal_status
not_a_schema(const char *file, petal_error *error)
{
    return hfile_error_corrupt(error, file, 0, "this is not a description of a table");
}

static bool
take_pair(petal_slice message, petal_slice *first, petal_slice *second)
{
    return hfile_pair_take(message, first, second) && first->size > 0;
}

static enum petal_status
parse_table_name(struct descriptor *descriptor, petal_slice message, const char *file,
                 petal_error *error)
{
    petal_slice space, name;
    char *whole;
    size_t size = 0;

    if (!take_pair(message, &space, &name) || name.size == 0)
        return not_a_schema(file, error);
    whole = arena_allocate(descriptor->arena, space.size + 1 + name.size);
    if (whole == NULL)
        return hfile_error_no_memory(error);
    if (!is_text(space, "default")) {
        memcpy(whole, space.data, space.size);
        whole[space.size] = ':';
        size = space.size + 1;
    }
    memcpy(whole + size, name.data, name.size);
    descriptor->table.name = hfile_slice(whole, size + name.size);
    return PETAL_OK;
}

/* The name stands first in what HBase writes; attributes without one are refused. */
static enum petal_status
parse_family(struct descriptor *descriptor, petal_slice message, const char *file,
             petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(message);
    struct hfile_field field;
    petal_family_options *family = NULL;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && hfile_field_take(&left, &field)) {
        petal_slice name, value;

        if (!field.is_bytes)
            continue;
        if (field.number == FAMILY_NAME) {
            family = descriptor_family(descriptor, field.bytes);
            if (family == NULL)
                status = hfile_error_no_memory(error);
        } else if (family == NULL || !take_pair(field.bytes, &name, &value)) {
            return not_a_schema(file, error);
        } else if (field.number == FAMILY_ATTRIBUTES || field.number == FAMILY_CONFIGURATION) {
            status = descriptor_set_family(descriptor, family,
                                           field.number == FAMILY_ATTRIBUTES ? PETAL_METADATA
                                                                             : PETAL_CONFIGURATION,
                                           name, value, file, error);
        }
    }
    if (status == PETAL_OK && (hfile_bytes_left(&left) > 0 || family == NULL))
        return not_a_schema(file, error);
    return status;
}

enum petal_status
descriptor_parse_schema(struct descriptor *descriptor, petal_slice message, const char *file,
                        petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(message);
    struct hfile_field field;
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && hfile_field_take(&left, &field)) {
        petal_slice name, value;

        if (!field.is_bytes)
            continue;
        if (field.number == SCHEMA_TABLE_NAME) {
            status = parse_table_name(descriptor, field.bytes, file, error);
        } else if (field.number == SCHEMA_FAMILIES) {
            status = parse_family(descriptor, field.bytes, file, error);
        } else if (field.number == SCHEMA_ATTRIBUTES || field.number == SCHEMA_CONFIGURATION) {
            if (!take_pair(field.bytes, &name, &value))
                return not_a_schema(file, error);
            status = descriptor_set_table(descriptor,
                                          field.number == SCHEMA_ATTRIBUTES ? PETAL_METADATA
                                                                            : PETAL_CONFIGURATION,
                                          name, value, file, error);
        }
    }
    if (status == PETAL_OK && (hfile_bytes_left(&left) > 0 || descriptor->table.name.size == 0))
        return not_a_schema(file, error);
    return status;
}

/* ---- The text of describe -------------------------------------------------------------------- */

static void
skip_blanks(struct hfile_bytes *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n' || *text->at == '\t' ||
                                    *text->at == '\r' || *text->at == ','))
        text->at++;
}

static bool
skip_text(struct hfile_bytes *text, const char *wanted)
{
    size_t size = strlen(wanted);

    skip_blanks(text);
    if (hfile_bytes_left(text) < size || memcmp(text->at, wanted, size) != 0)
        return false;
    text->at += size;
    return true;
}

/* 'text', or a word that ends before a blank, a comma or a bracket. */
static bool
take_value(struct hfile_bytes *text, petal_slice *value)
{
    const uint8_t *begin;

    skip_blanks(text);
    begin = text->at;
    if (begin < text->end && (*begin == '\'' || *begin == '"')) {
        const uint8_t *end = memchr(begin + 1, *begin, (size_t)(text->end - begin - 1));

        if (end == NULL)
            return false;
        *value = hfile_slice(begin + 1, (size_t)(end - begin - 1));
        text->at = end + 1;
        return true;
    }
    while (text->at < text->end && strchr(" ,}=\n\r\t", *text->at) == NULL)
        text->at++;
    *value = hfile_slice(begin, (size_t)(text->at - begin));
    return value->size > 0;
}

/* KEY => VALUE, .. up to the bracket that closes; METADATA and CONFIGURATION have such a list
 * again. */
static enum petal_status
parse_list(struct descriptor *descriptor, petal_family_options *family,
           enum petal_attribute_kind kind, struct hfile_bytes *text, const char *file,
           petal_error *error)
{
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && !skip_text(text, "}")) {
        petal_slice name, value;

        if (!take_value(text, &name) || !skip_text(text, "=>"))
            return hfile_error_corrupt(error, file, 0,
                                       "something between { and } is not written NAME => 'value'");
        if (skip_text(text, "{")) {
            bool is_configuration = is_text(name, "CONFIGURATION");

            if (kind != PETAL_KEPT_ATTRIBUTE)
                return hfile_error_corrupt(error, file, 0,
                                           "lists in { } are nested more than two deep");
            status = parse_list(descriptor, family,
                                is_configuration ? PETAL_CONFIGURATION : PETAL_METADATA, text, file,
                                error);
        } else if (!take_value(text, &value)) {
            return hfile_error_corrupt(error, file, 0,
                                       "something between { and } is not written NAME => 'value'");
        } else {
            status = descriptor_set_family(descriptor, family,
                                           kind == PETAL_CONFIGURATION ? kind : PETAL_METADATA,
                                           name, value, file, error);
        }
    }
    return status;
}

enum petal_status
descriptor_parse_text(struct descriptor *descriptor, petal_slice text, const char *file,
                      petal_error *error)
{
    struct hfile_bytes left = hfile_bytes_of(text);
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && left.at < left.end) {
        petal_slice name;
        petal_family_options *family;

        if (*left.at++ != '{' || !skip_text(&left, "NAME") || !skip_text(&left, "=>") ||
            !take_value(&left, &name))
            continue;
        family = descriptor_family(descriptor, name);
        if (family == NULL)
            return hfile_error_no_memory(error);
        status = parse_list(descriptor, family, PETAL_KEPT_ATTRIBUTE, &left, file, error);
    }
    if (status == PETAL_OK && descriptor->table.family_count == 0)
        return hfile_error_corrupt(error, file, 0,
                                   "there is no {NAME => 'family', ..} as describe prints it");
    return status;
}
