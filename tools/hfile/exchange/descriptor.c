/* descriptor.c -- see descriptor.h. */
#include "tools/hfile/exchange/descriptor.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/protobuf.h"

#include <assert.h>
#include <stdio.h>

/* Of TableSchema, ColumnFamilySchema, TableName, BytesBytesPair and NameStringPair. */
enum {
    SCHEMA_TABLE_NAME = 1,
    SCHEMA_ATTRIBUTES = 2,
    SCHEMA_FAMILIES = 3,
    SCHEMA_CONFIGURATION = 4,
    FAMILY_NAME = 1,
    FAMILY_ATTRIBUTES = 2,
    FAMILY_CONFIGURATION = 3,
    TABLE_NAME_NAMESPACE = 1,
    TABLE_NAME_QUALIFIER = 2,
    PAIR_FIRST = 1,
    PAIR_SECOND = 2
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
read_number(petal_slice value, uint64_t *number)
{
    size_t i = 0;

    *number = 0;
    for (; i < value.size && i < 18; i++) {
        uint8_t digit = hfile_slice_bytes(value)[i];

        if (digit < '0' || digit > '9')
            break;
        *number = 10 * *number + (uint64_t)(digit - '0');
    }
    return i > 0 && (i == value.size || hfile_slice_bytes(value)[i] == ' ');
}

static enum petal_status
set_number(uint32_t *field, uint32_t least, uint32_t most, const char *file, petal_slice name,
           petal_slice value, petal_error *error)
{
    uint64_t number;

    if (!read_number(value, &number) || number < least || number > most) {
        char why[64];

        snprintf(why, sizeof why, "it must be a number from %u to %u", least, most);
        return cannot_take(file, name, value, why, error);
    }
    *field = (uint32_t)number;
    return PETAL_OK;
}

static enum petal_status
set_flag(bool *field, bool as_true, const char *file, petal_slice name, petal_slice value,
         petal_error *error)
{
    bool is_true = is_text_of_any_case(value, "true");

    if (!is_true && !is_text_of_any_case(value, "false"))
        return cannot_take(file, name, value, "it must be true or false", error);
    *field = is_true == as_true;
    return PETAL_OK;
}

struct word {
    const char *text;
    int value;
};

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
read_word(const struct word *words, petal_slice value, int *number)
{
    for (; words->text != NULL; words++)
        if (is_text_of_any_case(value, words->text)) {
            *number = words->value;
            return true;
        }
    return false;
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

enum petal_status
descriptor_set_family(struct descriptor *descriptor, petal_family_options *family,
                      enum petal_attribute_kind kind, petal_slice name, petal_slice value,
                      const char *file, petal_error *error)
{
    int word;

    if (is_text(name, "RowPrefixBloomFilter.prefix_length"))
        return set_number(&family->bloom_prefix_bytes, 1, PETAL_MAX_ROW_BYTES, file, name, value,
                          error);
    if (kind == PETAL_CONFIGURATION)
        return keep_for_family(descriptor, family, kind, name, value, error);
    if (is_text(name, "VERSIONS"))
        return set_number(&family->versions, 1, INT32_MAX, file, name, value, error);
    if (is_text(name, "MIN_VERSIONS"))
        return set_number(&family->min_versions, 0, INT32_MAX, file, name, value, error);
    if (is_text(name, "TTL")) {
        if (!is_text_of_any_case(value, "FOREVER"))
            return set_number(&family->ttl_seconds, 1, PETAL_FOREVER, file, name, value, error);
        family->ttl_seconds = PETAL_FOREVER;
        return PETAL_OK;
    }
    if (is_text(name, "BLOCKSIZE"))
        return set_number(&family->block_bytes, 1024, 16 << 20, file, name, value, error);
    if (is_text(name, "IN_MEMORY"))
        return set_flag(&family->in_memory, true, file, name, value, error);
    if (is_text(name, "BLOCKCACHE"))
        return set_flag(&family->no_block_cache, false, file, name, value, error);
    if (is_text(name, "NEW_VERSION_BEHAVIOR"))
        return set_flag(&family->new_version_behavior, true, file, name, value, error);
    if (is_text(name, "KEEP_DELETED_CELLS")) {
        if (!read_word(keep_words, value, &word))
            return cannot_take(file, name, value, "it must be FALSE, TRUE or TTL", error);
        family->keep_deleted_cells = (enum petal_keep_deleted)word;
        return PETAL_OK;
    }
    if (is_text(name, "BLOOMFILTER")) {
        if (!read_word(bloom_words, value, &word))
            return cannot_take(file, name, value,
                               "it must be NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH", error);
        family->bloom = (enum petal_bloom_type)word;
        return PETAL_OK;
    }
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
    int word;

    if (kind == PETAL_METADATA && is_text(name, "READONLY"))
        return PETAL_OK; /* it would refuse what is about to be imported */
    if (kind == PETAL_METADATA && is_text(name, "DURABILITY")) {
        if (!read_word(durability_words, value, &word))
            return cannot_take(file, name, value,
                               "it must be USE_DEFAULT, SKIP_WAL, ASYNC_WAL, SYNC_WAL or FSYNC_WAL",
                               error);
        table->durability = (enum petal_durability)word;
        return PETAL_OK;
    }
    /* Marks of HBase's own that mean nothing to a table. */
    if (kind == PETAL_METADATA && (is_text(name, "IS_META") || is_text(name, "IS_ROOT")))
        return PETAL_OK;
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
    struct hfile_bytes left = hfile_bytes_of(message);
    struct hfile_field field;

    *first = *second = hfile_slice(NULL, 0);
    while (hfile_field_take(&left, &field)) {
        if (field.number == PAIR_FIRST && field.is_bytes)
            *first = field.bytes;
        else if (field.number == PAIR_SECOND && field.is_bytes)
            *second = field.bytes;
    }
    return hfile_bytes_left(&left) == 0 && first->size > 0;
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
    static_assert(TABLE_NAME_NAMESPACE == PAIR_FIRST && TABLE_NAME_QUALIFIER == PAIR_SECOND,
                  "a table's name is a pair");
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
