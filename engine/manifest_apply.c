/* manifest_apply.c -- applies the items of an edit to the state, checking each against it; see manifest_format.h. */
#include "base/coding.h"
#include "base/mem.h"
#include "base/slice.h"
#include "engine/manifest_format.h"
#include "engine/options.h"

#define NAME_TEXT_BYTES 160

/* What applying needs at every step. */
struct apply {
    struct manifest *manifest;
    const petal_allocator *allocator;
    petal_error *error;
};

/* ---- lookups ---- */

static enum petal_status
find_table(const struct apply *apply, uint32_t id, struct manifest_table **table)
{
    *table = manifest_find_table(apply->manifest, id);
    if (*table == NULL)
        return error_set(apply->error, PETAL_INVALID, "an edit names table %u, which is not there",
                         id);
    return PETAL_OK;
}

/* The store whose ids begin an item's payload. */
static enum petal_status
find_family(const struct apply *apply, const uint8_t *ids, struct manifest_family **family)
{
    struct manifest_table *table;
    enum petal_status status = find_table(apply, get_le32(ids), &table);

    if (status != PETAL_OK)
        return status;
    *family = manifest_find_family(table, get_le16(ids + 4));
    if (*family == NULL)
        return error_set(apply->error, PETAL_INVALID,
                         "an edit names family %u of table %u, which is not there",
                         get_le16(ids + 4), table->id);
    return PETAL_OK;
}

/* ---- items ---- */

struct item {
    unsigned tag;
    const uint8_t *payload;
    size_t size;
};

/* Take the first item of *items. */
static enum petal_status
take_item(const struct apply *apply, petal_slice *items, struct item *item)
{
    const uint8_t *from = items->data;

    if (items->size < MANIFEST_ITEM_BYTES || get_le16(from + 2) != 0 ||
        get_le32(from + 4) > items->size - MANIFEST_ITEM_BYTES)
        return error_set(apply->error, PETAL_INVALID,
                         "an item of an edit is malformed, %zu bytes before the end of its list",
                         items->size);
    item->tag = get_le16(from);
    item->size = get_le32(from + 4);
    item->payload = from + MANIFEST_ITEM_BYTES;
    *items = slice_make(item->payload + item->size, items->size - MANIFEST_ITEM_BYTES - item->size);
    return PETAL_OK;
}

static enum petal_status
check_size(const struct apply *apply, const struct item *item, size_t size)
{
    if (item->size == size)
        return PETAL_OK;
    return error_set(apply->error, PETAL_INVALID, "item %u of an edit has %zu bytes, not %zu",
                     item->tag, item->size, size);
}

/* ---- attributes ---- */

/* All attributes that an item can hold; name.size 0: none given. */
struct attributes {
    petal_family_options family;
    uint32_t durability;
    uint32_t seen; /* bits by tag */
};

static enum petal_status
take_u32(const struct apply *apply, const struct item *item, uint32_t most, uint32_t *value)
{
    enum petal_status status = check_size(apply, item, 4);

    if (status != PETAL_OK)
        return status;
    *value = get_le32(item->payload);
    if (*value > most)
        return error_set(apply->error, PETAL_UNSUPPORTED,
                         "attribute %u is %u; this version knows 0 to %u", item->tag, *value, most);
    return PETAL_OK;
}

static enum petal_status
take_double(const struct apply *apply, const struct item *item, double *value)
{
    enum petal_status status = check_size(apply, item, 8);
    uint64_t bits;

    if (status != PETAL_OK)
        return status;
    bits = get_le64(item->payload);
    memcpy(value, &bits, sizeof *value);
    return PETAL_OK;
}

static enum petal_status
take_attribute(const struct apply *apply, const struct item *item, struct attributes *attributes)
{
    petal_family_options *family = &attributes->family;
    enum petal_status status = PETAL_OK;
    uint32_t value = 0;

    switch (item->tag) {
    case MANIFEST_NAME:
        family->name = slice_make(item->payload, item->size);
        break;
    case MANIFEST_DURABILITY:
        status = take_u32(apply, item, PETAL_FSYNC_WAL, &attributes->durability);
        break;
    case MANIFEST_VERSIONS:
        status = take_u32(apply, item, UINT32_MAX, &family->versions);
        break;
    case MANIFEST_BLOCK_BYTES:
        status = take_u32(apply, item, UINT32_MAX, &family->block_bytes);
        break;
    case MANIFEST_COMPRESSION:
        status = take_u32(apply, item, PETAL_COMPRESSION_LZ4, &value);
        family->compression = (enum petal_compression)value;
        break;
    case MANIFEST_BLOOM:
        status = take_u32(apply, item, PETAL_BLOOM_ROW_ROWCOL, &value);
        family->bloom = (enum petal_bloom_type)value;
        break;
    case MANIFEST_BLOOM_ERROR_RATE:
        status = take_double(apply, item, &family->bloom_error_rate);
        break;
    case MANIFEST_IN_MEMORY:
        status = take_u32(apply, item, 1, &value);
        family->in_memory = value != 0;
        break;
    case MANIFEST_NO_BLOCK_CACHE:
        status = take_u32(apply, item, 1, &value);
        family->no_block_cache = value != 0;
        break;
    default:
        if (item->tag < MANIFEST_OPTIONAL_TAG)
            status = error_set(apply->error, PETAL_UNSUPPORTED,
                               "attribute %u is of a newer version", item->tag);
    }
    return status;
}

static enum petal_status
take_attributes(const struct apply *apply, petal_slice items, struct attributes *attributes)
{
    enum petal_status status = PETAL_OK;

    memset(attributes, 0, sizeof *attributes);
    while (status == PETAL_OK && items.size > 0) {
        struct item item = {0};

        status = take_item(apply, &items, &item);
        if (status != PETAL_OK)
            return status;
        if (item.tag < 32 && (attributes->seen >> item.tag & 1) != 0)
            return error_set(apply->error, PETAL_INVALID, "attribute %u is given twice", item.tag);
        if (item.tag < 32)
            attributes->seen |= 1u << item.tag;
        status = take_attribute(apply, &item, attributes);
    }
    return status;
}

/* ---- tables and families ---- */

static enum petal_status
check_new_table(const struct apply *apply, uint32_t id, petal_slice name)
{
    const struct manifest *manifest = apply->manifest;
    enum petal_status status = table_name_check(name, apply->error);
    char text[NAME_TEXT_BYTES];

    if (status != PETAL_OK)
        return status;
    if (id < manifest->next_table_id || id == UINT32_MAX)
        return error_set(apply->error, PETAL_INVALID, "table id %u; the next one is %u", id,
                         manifest->next_table_id);
    for (size_t i = 0; i < manifest->table_count; i++) {
        if (slice_equal(manifest->tables[i].name, name))
            return error_set(apply->error, PETAL_INVALID, "table %s is created twice",
                             error_quote(name, text, sizeof text));
    }
    return PETAL_OK;
}

static enum petal_status
apply_create_table(const struct apply *apply, const struct item *item)
{
    struct manifest *manifest = apply->manifest;
    uint32_t id = get_le32(item->payload);
    void *array = manifest->tables;
    struct attributes attributes;
    struct manifest_table table = {.id = id};
    enum petal_status status = take_attributes(
        apply, slice_make(item->payload + MANIFEST_IDS_BYTES, item->size - MANIFEST_IDS_BYTES),
        &attributes);

    if (status == PETAL_OK)
        status = check_new_table(apply, id, attributes.family.name);
    if (status != PETAL_OK)
        return status;
    table.durability = (enum petal_durability)attributes.durability;
    if (!mem_grow(apply->allocator, &array, &manifest->table_capacity, manifest->table_count,
                  manifest->table_count + 1, sizeof table))
        return error_no_memory(apply->error);
    manifest->tables = array;
    if (!manifest_copy_name(&table.name, attributes.family.name, apply->allocator))
        return error_no_memory(apply->error);
    manifest->tables[manifest->table_count++] = table;
    manifest->next_table_id = id + 1;
    return PETAL_OK;
}

static enum petal_status
check_new_family(const struct apply *apply, const struct manifest_table *table, uint16_t id,
                 petal_slice name)
{
    char text[NAME_TEXT_BYTES];

    for (size_t i = 0; i < table->family_count; i++) {
        if (table->families[i].id == id || slice_equal(table->families[i].options.name, name))
            return error_set(apply->error, PETAL_INVALID,
                             "family %u, %s, of table %u is created "
                             "twice",
                             id, error_quote(name, text, sizeof text), table->id);
    }
    return PETAL_OK;
}

static enum petal_status
apply_create_family(const struct apply *apply, const struct item *item)
{
    struct manifest_table *table;
    struct attributes attributes;
    struct manifest_family family = {.id = get_le16(item->payload + 4)};
    enum petal_status status = find_table(apply, get_le32(item->payload), &table);
    void *array;

    if (status == PETAL_OK)
        status = take_attributes(
            apply, slice_make(item->payload + MANIFEST_IDS_BYTES, item->size - MANIFEST_IDS_BYTES),
            &attributes);
    if (status == PETAL_OK)
        status = family_options_resolve(&family.options, &attributes.family, apply->error);
    if (status == PETAL_OK)
        status = check_new_family(apply, table, family.id, family.options.name);
    if (status != PETAL_OK)
        return status;
    array = table->families;
    if (!mem_grow(apply->allocator, &array, &table->family_capacity, table->family_count,
                  table->family_count + 1, sizeof family))
        return error_no_memory(apply->error);
    table->families = array;
    if (!manifest_copy_name(&family.options.name, family.options.name, apply->allocator))
        return error_no_memory(apply->error);
    table->families[table->family_count++] = family;
    return PETAL_OK;
}

static enum petal_status
apply_drop_table(const struct apply *apply, const struct item *item)
{
    struct manifest *manifest = apply->manifest;
    struct manifest_table *table;
    enum petal_status status = find_table(apply, get_le32(item->payload), &table);
    size_t behind;

    if (status != PETAL_OK)
        return status;
    manifest_table_fini(table, apply->allocator);
    behind = manifest->table_count - (size_t)(table - manifest->tables) - 1;
    memmove(table, table + 1, behind * sizeof *table);
    manifest->table_count--;
    return PETAL_OK;
}

/* ---- files ---- */

static enum petal_status
apply_add_file(const struct apply *apply, const struct item *item)
{
    const uint8_t *from = item->payload;
    struct manifest_file file = {
        .number = get_le64(from + 8),
        .identity = get_le64(from + 16),
        .run = get_le64(from + 24),
        .file_bytes = get_le64(from + 32),
        .sequence_min = get_le64(from + 40),
        .sequence_max = get_le64(from + 48),
        .cells = get_le64(from + 56),
    };
    struct manifest_family *family;
    enum petal_status status = find_family(apply, from, &family);
    void *array;

    if (status != PETAL_OK)
        return status;
    if (file.number == 0 || file.number == UINT64_MAX || file.sequence_min > file.sequence_max)
        return error_set(apply->error, PETAL_INVALID,
                         "store file %llu, sequences %llu to %llu: no file can be so",
                         (unsigned long long)file.number, (unsigned long long)file.sequence_min,
                         (unsigned long long)file.sequence_max);
    array = family->files;
    if (!mem_grow(apply->allocator, &array, &family->file_capacity, family->file_count,
                  family->file_count + 1, sizeof file))
        return error_no_memory(apply->error);
    family->files = array;
    family->files[family->file_count++] = file;
    if (file.number >= apply->manifest->next_file_number)
        apply->manifest->next_file_number = file.number + 1;
    return PETAL_OK;
}

static enum petal_status
apply_remove_file(const struct apply *apply, const struct item *item)
{
    uint64_t number = get_le64(item->payload + MANIFEST_IDS_BYTES);
    struct manifest_family *family;
    enum petal_status status = find_family(apply, item->payload, &family);

    if (status != PETAL_OK)
        return status;
    for (size_t i = 0; i < family->file_count; i++) {
        if (family->files[i].number == number) {
            family->files[i] = family->files[--family->file_count];
            return PETAL_OK;
        }
    }
    return error_set(apply->error, PETAL_INVALID,
                     "an edit removes store file %llu, which is not there",
                     (unsigned long long)number);
}

static enum petal_status
apply_flushed(const struct apply *apply, const struct item *item)
{
    uint64_t sequence = get_le64(item->payload + MANIFEST_IDS_BYTES);
    struct manifest_family *family;
    enum petal_status status = find_family(apply, item->payload, &family);

    if (status == PETAL_OK && sequence > family->flushed_sequence)
        family->flushed_sequence = sequence;
    return status;
}

/* ---- counters and the log ---- */

static void
apply_counters(struct manifest *manifest, const uint8_t *from)
{
    uint64_t next_file_number = get_le64(from);
    uint64_t last_sequence = get_le64(from + 8);
    int64_t last_timestamp = (int64_t)get_le64(from + 16);
    uint32_t next_table_id = get_le32(from + 24);

    if (next_file_number > manifest->next_file_number)
        manifest->next_file_number = next_file_number;
    if (last_sequence > manifest->last_sequence)
        manifest->last_sequence = last_sequence;
    if (last_timestamp > manifest->last_timestamp)
        manifest->last_timestamp = last_timestamp;
    if (next_table_id > manifest->next_table_id)
        manifest->next_table_id = next_table_id;
}

static void
apply_wal_promise(struct manifest *manifest, const uint8_t *from)
{
    struct wal_promise promise = {get_le64(from), get_le64(from + 8)};
    const struct wal_promise *before = &manifest->promise;

    if (promise.log_number > before->log_number ||
        (promise.log_number == before->log_number && promise.length > before->length))
        manifest->promise = promise;
}

/* ---- dispatch ---- */

typedef enum petal_status apply_function(const struct apply *apply, const struct item *item);

static enum petal_status
apply_to_manifest(const struct apply *apply, const struct item *item)
{
    struct manifest *manifest = apply->manifest;

    if (item->tag == MANIFEST_COUNTERS)
        apply_counters(manifest, item->payload);
    else if (item->tag == MANIFEST_WAL_PROMISE)
        apply_wal_promise(manifest, item->payload);
    else if (get_le64(item->payload) > manifest->oldest_log)
        manifest->oldest_log = get_le64(item->payload);
    return PETAL_OK;
}

/* By tag: how many bytes the payload has, at least when attributes may follow. */
static const struct {
    apply_function *apply;
    size_t bytes;
    bool attributes;
} appliers[] = {
    [MANIFEST_COUNTERS] = {apply_to_manifest, MANIFEST_COUNTERS_BYTES, false},
    [MANIFEST_OLDEST_LOG] = {apply_to_manifest, MANIFEST_OLDEST_LOG_BYTES, false},
    [MANIFEST_WAL_PROMISE] = {apply_to_manifest, MANIFEST_WAL_PROMISE_BYTES, false},
    [MANIFEST_CREATE_TABLE] = {apply_create_table, MANIFEST_IDS_BYTES, true},
    [MANIFEST_CREATE_FAMILY] = {apply_create_family, MANIFEST_IDS_BYTES, true},
    [MANIFEST_DROP_TABLE] = {apply_drop_table, MANIFEST_DROP_TABLE_BYTES, false},
    [MANIFEST_ADD_FILE] = {apply_add_file, MANIFEST_ADD_FILE_BYTES, false},
    [MANIFEST_REMOVE_FILE] = {apply_remove_file, MANIFEST_REMOVE_FILE_BYTES, false},
    [MANIFEST_FLUSHED] = {apply_flushed, MANIFEST_FLUSHED_BYTES, false},
};

static enum petal_status
apply_item(const struct apply *apply, const struct item *item)
{
    bool known = item->tag > 0 && item->tag < sizeof appliers / sizeof appliers[0];

    if (!known && item->tag >= MANIFEST_OPTIONAL_TAG)
        return PETAL_OK;
    if (!known)
        return error_set(apply->error, PETAL_UNSUPPORTED,
                         "item %u of an edit is of a newer version", item->tag);
    if (!appliers[item->tag].attributes || item->size < appliers[item->tag].bytes) {
        enum petal_status status = check_size(apply, item, appliers[item->tag].bytes);

        if (status != PETAL_OK)
            return status;
    }
    return appliers[item->tag].apply(apply, item);
}

/* Tables come with their families in one edit. */
static enum petal_status
check_families(const struct apply *apply)
{
    for (size_t i = 0; i < apply->manifest->table_count; i++) {
        if (apply->manifest->tables[i].family_count == 0)
            return error_set(apply->error, PETAL_INVALID, "table %u has no family",
                             apply->manifest->tables[i].id);
    }
    return PETAL_OK;
}

enum petal_status
manifest_state_apply(struct manifest *manifest, const petal_allocator *allocator, petal_slice items,
                     petal_error *error)
{
    struct apply apply = {manifest, allocator, error};
    enum petal_status status = PETAL_OK;

    while (status == PETAL_OK && items.size > 0) {
        struct item item = {0};

        status = take_item(&apply, &items, &item);
        if (status == PETAL_OK)
            status = apply_item(&apply, &item);
    }
    return status == PETAL_OK ? check_families(&apply) : status;
}
