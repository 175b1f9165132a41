/* attributes.c -- see attributes.h. */
#include "engine/attributes.h"

#include "base/argument.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define QUOTED_BYTES 160

/* ---- the attributes of HBase that are kept ---- */

struct kept_attribute {
    const char *name;
    const char *words;   /* the values it can have, between blanks; NULL: a number, or text */
    int64_t least, most; /* of a number; both 0: text of at least one byte */
};

#define BOOLEAN      "true false"
#define COMPRESSIONS "NONE GZ SNAPPY LZ4 LZ4HC LZO ZSTD BZIP2 LZMA BROTLI"

static const struct kept_attribute of_families[] = {
    {"REPLICATION_SCOPE", NULL, 0, 1},
    {"DATA_BLOCK_ENCODING", "NONE PREFIX DIFF FAST_DIFF ROW_INDEX_V1", 0, 0},
    {"INDEX_BLOCK_ENCODING", "NONE PREFIX_TREE", 0, 0},
    {"CACHE_DATA_ON_WRITE", BOOLEAN, 0, 0},
    {"CACHE_INDEX_ON_WRITE", BOOLEAN, 0, 0},
    {"CACHE_BLOOMS_ON_WRITE", BOOLEAN, 0, 0},
    {"EVICT_BLOCKS_ON_CLOSE", BOOLEAN, 0, 0},
    {"PREFETCH_BLOCKS_ON_OPEN", BOOLEAN, 0, 0},
    {"IN_MEMORY_COMPACTION", "NONE BASIC EAGER ADAPTIVE", 0, 0},
    {"COMPRESS_TAGS", BOOLEAN, 0, 0},
    {"COMPRESSION", "GZ SNAPPY LZO ZSTD BZIP2 LZMA BROTLI", 0, 0},
    {"COMPRESSION_COMPACT", COMPRESSIONS, 0,
     0}, /* these three: engine/store/output_compression.h */
    {"COMPRESSION_COMPACT_MAJOR", COMPRESSIONS, 0, 0},
    {"COMPRESSION_COMPACT_MINOR", COMPRESSIONS, 0, 0},
    {"IS_MOB", BOOLEAN, 0, 0},
    {"MOB_THRESHOLD", NULL, 0, INT64_MAX},
    {"DFS_REPLICATION", NULL, 0, INT16_MAX},
    {"STORAGE_POLICY", NULL, 0, 0},
    {"ENCRYPTION", NULL, 0, 0},
    {"ENCRYPTION_KEY", NULL, 0, 0},
};

static const struct kept_attribute of_tables[] = {
    {"MAX_FILESIZE", NULL, 1, INT64_MAX},     {"MEMSTORE_FLUSHSIZE", NULL, 1 << 20, INT64_MAX},
    {"COMPACTION_ENABLED", BOOLEAN, 0, 0},    {"SPLIT_ENABLED", BOOLEAN, 0, 0},
    {"MERGE_ENABLED", BOOLEAN, 0, 0},         {"REGION_REPLICATION", NULL, 1, INT16_MAX},
    {"PRIORITY", NULL, INT32_MIN, INT32_MAX}, {"OWNER", NULL, 0, 0},
};

/* Names in a family's CONFIGURATION that have fields of their own in petal_family_options. */
static const struct {
    const char *name, *field;
} own_fields[] = {
    {"io.storefile.bloom.error.rate", "bloom_error_rate"},
    {"RowPrefixBloomFilter.prefix_length", "bloom_prefix_bytes"},
};

static const struct kept_attribute *
find_kept(petal_slice name, bool of_table)
{
    const struct kept_attribute *kept = of_table ? of_tables : of_families;
    size_t count =
        of_table ? sizeof of_tables / sizeof *of_tables : sizeof of_families / sizeof *of_families;

    for (size_t i = 0; i < count; i++) {
        if (slice_equal(name, slice_from_text(kept[i].name)))
            return &kept[i];
    }
    return NULL;
}

/* ---- values ---- */

static bool
is_word_of(petal_slice value, const char *words)
{
    while (*words != '\0') {
        size_t length = strcspn(words, " ");

        if (slice_equal(value, slice_make(words, length)))
            return true;
        words += length;
        words += strspn(words, " ");
    }
    return false;
}

/* A number in decimal as printf writes it. */
static bool
parse_number(petal_slice text, int64_t *number)
{
    char digits[24], again[24];
    int length;

    if (text.size == 0 || text.size >= sizeof digits)
        return false;
    memcpy(digits, text.data, text.size);
    digits[text.size] = '\0';
    *number =
        strtoll(digits, NULL, 10); /* out of range: the nearest, which does not print the same */
    length = snprintf(again, sizeof again, "%" PRId64, *number);
    return slice_equal(text, slice_make(again, (size_t)length));
}

static const petal_attribute *
find_attribute(const petal_attribute *attributes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (attributes[i].kind == PETAL_KEPT_ATTRIBUTE &&
            slice_equal(attributes[i].name, slice_from_text(name)))
            return &attributes[i];
    }
    return NULL;
}

int64_t
attributes_number(const petal_attribute *attributes, size_t count, const char *name,
                  int64_t fallback)
{
    const petal_attribute *found = find_attribute(attributes, count, name);
    int64_t number;

    return found != NULL && parse_number(found->value, &number) ? number : fallback;
}

bool
attributes_bool(const petal_attribute *attributes, size_t count, const char *name, bool fallback)
{
    const petal_attribute *found = find_attribute(attributes, count, name);

    if (found == NULL)
        return fallback;
    return found->value.size == 4 && strncasecmp(found->value.data, "true", 4) == 0;
}

static enum petal_status
check_kept_value(const struct kept_attribute *kept, petal_slice value, petal_error *error)
{
    char quoted[QUOTED_BYTES];
    int64_t number;

    error_quote(value, quoted, sizeof quoted);
    if (kept->words != NULL) {
        if (is_word_of(value, kept->words))
            return PETAL_OK;
        return error_set(error, PETAL_INVALID, "%s is %s; it must be one of %s", kept->name, quoted,
                         kept->words);
    }
    if (kept->least == 0 && kept->most == 0)
        return value.size > 0 ? PETAL_OK
                              : error_set(error, PETAL_INVALID,
                                          "%s is empty; it must have at least 1 byte", kept->name);
    if (parse_number(value, &number) && number >= kept->least && number <= kept->most)
        return PETAL_OK;
    return error_set(error, PETAL_INVALID, "%s is %s; it must be %" PRId64 " to %" PRId64,
                     kept->name, quoted, kept->least, kept->most);
}

/* ---- one attribute, and the list ---- */

static enum petal_status
check_configuration(petal_slice name, petal_error *error)
{
    for (size_t i = 0; i < sizeof own_fields / sizeof *own_fields; i++) {
        if (slice_equal(name, slice_from_text(own_fields[i].name)))
            return error_set(error, PETAL_INVALID,
                             "CONFIGURATION %s is given as an attribute; set it by %s instead",
                             own_fields[i].name, own_fields[i].field);
    }
    return PETAL_OK;
}

static enum petal_status
check_attribute(const petal_attribute *attribute, bool of_table, petal_error *error)
{
    const struct kept_attribute *kept;
    char quoted[QUOTED_BYTES];

    RETURN_IF_NO_BYTES(attribute->name, error);
    RETURN_IF_NO_BYTES(attribute->value, error);
    error_quote(attribute->name, quoted, sizeof quoted);
    if (attribute->name.size == 0 || attribute->name.size > MOST_ATTRIBUTE_NAME_BYTES)
        return error_set(error, PETAL_INVALID,
                         "the name of an attribute has %zu bytes; it must have 1 to %d",
                         attribute->name.size, MOST_ATTRIBUTE_NAME_BYTES);
    if (attribute->value.size > MOST_ATTRIBUTE_VALUE_BYTES)
        return error_set(error, PETAL_INVALID, "attribute %s has %zu bytes; it may have at most %d",
                         quoted, attribute->value.size, MOST_ATTRIBUTE_VALUE_BYTES);
    switch (attribute->kind) {
    case PETAL_METADATA:
        return PETAL_OK;
    case PETAL_CONFIGURATION:
        return of_table ? PETAL_OK : check_configuration(attribute->name, error);
    case PETAL_KEPT_ATTRIBUTE:
        break;
    default:
        return error_set(error, PETAL_INVALID,
                         "the kind of attribute %s is %d; it must be %d to %d", quoted,
                         (int)attribute->kind, PETAL_METADATA, PETAL_KEPT_ATTRIBUTE);
    }
    kept = find_kept(attribute->name, of_table);
    if (kept == NULL)
        return error_set(error, PETAL_INVALID, "%s is not an attribute that a %s can keep", quoted,
                         of_table ? "table" : "family");
    return check_kept_value(kept, attribute->value, error);
}

bool
attributes_knows(const petal_attribute *attribute, bool of_table)
{
    switch (attribute->kind) {
    case PETAL_METADATA:
    case PETAL_CONFIGURATION:
        return true;
    case PETAL_KEPT_ATTRIBUTE:
        return find_kept(attribute->name, of_table) != NULL;
    default:
        return false;
    }
}

static bool
same_name(const petal_attribute *a, const petal_attribute *b)
{
    return a->kind == b->kind && slice_equal(a->name, b->name);
}

enum petal_status
attributes_check(const petal_attribute *attributes, size_t count, bool of_table, petal_error *error)
{
    if (attributes == NULL && count > 0)
        return error_no_array(error, "attributes", "attribute_count", count);
    if (count > MOST_ATTRIBUTES)
        return error_set(error, PETAL_INVALID, "there are %zu attributes; the limit is %d", count,
                         MOST_ATTRIBUTES);
    for (size_t i = 0; i < count; i++) {
        enum petal_status status = check_attribute(&attributes[i], of_table, error);

        if (status != PETAL_OK)
            return status;
        for (size_t k = 0; k < i; k++) {
            char quoted[QUOTED_BYTES];

            if (same_name(&attributes[k], &attributes[i]))
                return error_set(error, PETAL_INVALID, "attribute %s is given twice",
                                 error_quote(attributes[i].name, quoted, sizeof quoted));
        }
    }
    return PETAL_OK;
}

/* ---- copies: the array and after it all bytes, in one piece of memory ---- */

static size_t
copy_bytes(const petal_attribute *attributes, size_t count)
{
    size_t bytes = count * sizeof *attributes;

    for (size_t i = 0; i < count; i++)
        bytes += attributes[i].name.size + attributes[i].value.size;
    return bytes;
}

static petal_slice
copy_slice(uint8_t **to, petal_slice from)
{
    petal_slice copy = {*to, from.size};

    if (from.size > 0)
        memcpy(*to, from.data, from.size);
    *to += from.size;
    return copy;
}

static int
compare_attributes(const void *a, const void *b)
{
    const petal_attribute *first = a, *second = b;

    if (first->kind != second->kind)
        return first->kind < second->kind ? -1 : 1;
    return slice_compare(first->name, second->name);
}

bool
attributes_copy(const petal_attribute **copy, const petal_attribute *attributes, size_t count,
                const petal_allocator *allocator)
{
    petal_attribute *made;
    uint8_t *bytes;

    *copy = NULL;
    if (count == 0)
        return true;
    made = mem_alloc(allocator, copy_bytes(attributes, count));
    if (made == NULL)
        return false;
    bytes = (uint8_t *)(made + count);
    for (size_t i = 0; i < count; i++) {
        made[i].kind = attributes[i].kind;
        made[i].name = copy_slice(&bytes, attributes[i].name);
        made[i].value = copy_slice(&bytes, attributes[i].value);
    }
    qsort(made, count, sizeof *made, compare_attributes);
    *copy = made;
    return true;
}

void
attributes_free(const petal_attribute *copy, size_t count, const petal_allocator *allocator)
{
    union {
        const petal_attribute *lent;
        petal_attribute *owned;
    } memory = {copy};

    if (copy != NULL)
        mem_free(allocator, memory.owned, copy_bytes(copy, count));
}
