/* manifest_apply.c -- applies the items of an edit to the state, checking each against it; see manifest_format.h. */
#include "engine/manifest_apply.h"
#include "base/coding.h"
#include "base/mem.h"
#include "base/slice.h"

/* ---- lookups ---- */

enum petal_status
apply_find_table(const struct apply *apply, uint32_t id, struct manifest_table **table)
{
    *table = manifest_find_table(apply->manifest, id);
    if (*table == NULL)
        return error_set(apply->error, PETAL_INVALID, "an edit names table %u, which is not there",
                         id);
    return PETAL_OK;
}

enum petal_status
apply_find_family(const struct apply *apply, const uint8_t *ids, struct manifest_family **family)
{
    struct manifest_table *table;
    enum petal_status status = apply_find_table(apply, get_le32(ids), &table);

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

enum petal_status
apply_take_item(const struct apply *apply, petal_slice *items, struct item *item)
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

enum petal_status
apply_check_size(const struct apply *apply, const struct item *item, size_t size)
{
    if (item->size == size)
        return PETAL_OK;
    return error_set(apply->error, PETAL_INVALID, "item %u of an edit has %zu bytes, not %zu",
                     item->tag, item->size, size);
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
    enum petal_status status = apply_find_family(apply, from, &family);
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
    enum petal_status status = apply_find_family(apply, item->payload, &family);

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
    enum petal_status status = apply_find_family(apply, item->payload, &family);

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
    [MANIFEST_ALTER_TABLE] = {apply_alter_table, MANIFEST_IDS_BYTES, true},
    [MANIFEST_ALTER_FAMILY] = {apply_alter_family, MANIFEST_IDS_BYTES, true},
    [MANIFEST_DROP_FAMILY] = {apply_drop_family, MANIFEST_DROP_FAMILY_BYTES, false},
    [MANIFEST_NEXT_FAMILY] = {apply_next_family, MANIFEST_NEXT_FAMILY_BYTES, false},
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
        enum petal_status status = apply_check_size(apply, item, appliers[item->tag].bytes);

        if (status != PETAL_OK)
            return status;
    }
    return appliers[item->tag].apply(apply, item);
}

/* Tables come with their families in one edit, and keep at least one. */
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

        status = apply_take_item(&apply, &items, &item);
        if (status == PETAL_OK)
            status = apply_item(&apply, &item);
    }
    return status == PETAL_OK ? check_families(&apply) : status;
}
