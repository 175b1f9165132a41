/* apply.c -- see apply.h: the items about files and counters, and the edit as a whole. */
#include "engine/manifest/apply.h"

#include "base/cell.h"
#include "base/coding.h"
#include "base/mem.h"
#include "engine/manifest/apply_schema.h"
#include "engine/manifest/format.h"

/* ---- files ---- */

static enum petal_status
apply_add_file(const struct apply *apply, const struct item *item)
{
    const uint8_t *from = item->payload;
    struct manifest *manifest = apply->manifest;
    struct manifest_file file = {
        .number = get_le64(from + 8),
        .identity = get_le64(from + 16),
        .run = get_le64(from + 24),
        .file_bytes = get_le64(from + 32),
        .sequence_min = get_le64(from + 40),
        .sequence_max = get_le64(from + 48),
        .cells = get_le64(from + 56),
        .sequence_shift = item->tag == MANIFEST_ADD_SHIFTED_FILE ? get_le64(from + 64) : 0,
    };
    struct manifest_table *table;
    struct manifest_family *family;
    enum petal_status status = item_find_family(apply, from, &table, &family);

    if (status != PETAL_OK)
        return status;
    if (file.number == 0 || file.number >= MANIFEST_FILE_NUMBER_END ||
        file.sequence_min > file.sequence_max || file.sequence_max >= CELL_SEQUENCE_END ||
        (file.sequence_shift != 0 && file.sequence_shift >= file.sequence_min))
        return error_set(apply->error, PETAL_INVALID,
                         "store file %llu has sequences %llu to %llu, which is impossible",
                         (unsigned long long)file.number, (unsigned long long)file.sequence_min,
                         (unsigned long long)file.sequence_max);
    if (manifest_names_file(manifest, file.number))
        return error_set(apply->error, PETAL_INVALID, "store file %llu is there twice",
                         (unsigned long long)file.number);
    if (!mem_grow_array(apply->allocator, &family->files, &family->file_capacity,
                        family->file_count, family->file_count + 1, sizeof file) ||
        !number_map_reserve(&manifest->numbers, apply->allocator, 1))
        return error_no_memory(apply->error);
    status = item_note(apply, UNDO_ADDED_FILE, table, family, family->file_count, NULL);
    if (status != PETAL_OK)
        return status;
    manifest_file_insert(manifest, family, family->file_count, &file);
    if (file.number >= manifest->next_file_number)
        manifest->next_file_number = file.number + 1;
    return PETAL_OK;
}

static enum petal_status
apply_remove_file(const struct apply *apply, const struct item *item)
{
    uint64_t number = get_le64(item->payload + MANIFEST_IDS_BYTES);
    struct manifest_table *table;
    struct manifest_family *family;
    enum petal_status status = item_find_family(apply, item->payload, &table, &family);
    size_t place;

    if (status != PETAL_OK)
        return status;
    if (!manifest_find_file(apply->manifest, family, number, &place))
        return error_set(apply->error, PETAL_INVALID,
                         "an edit removes store file %llu, which does not exist",
                         (unsigned long long)number);
    status = item_note(apply, UNDO_REMOVED_FILE, table, family, place, &family->files[place]);
    if (status == PETAL_OK)
        manifest_file_remove(apply->manifest, family, place);
    return status;
}

static enum petal_status
apply_flushed(const struct apply *apply, const struct item *item)
{
    uint64_t sequence = get_le64(item->payload + MANIFEST_IDS_BYTES);
    struct manifest_table *table;
    struct manifest_family *family;
    enum petal_status status = item_find_family(apply, item->payload, &table, &family);

    if (status == PETAL_OK && sequence >= CELL_SEQUENCE_END)
        return error_set(apply->error, PETAL_INVALID,
                         "a family is flushed up to sequence %llu, which is impossible",
                         (unsigned long long)sequence);
    if (status == PETAL_OK && sequence > family->flushed_sequence) {
        status = item_note(apply, UNDO_FLUSHED, table, family, family->flushed_sequence, NULL);
        if (status == PETAL_OK)
            family->flushed_sequence = sequence;
    }
    return status;
}

static enum petal_status
apply_ahead(const struct apply *apply, const struct item *item)
{
    int64_t ahead = (int64_t)get_le64(item->payload + MANIFEST_IDS_BYTES);
    struct manifest_table *table;
    struct manifest_family *family;
    enum petal_status status = item_find_family(apply, item->payload, &table, &family);

    if (status == PETAL_OK && (ahead <= 0 || ahead == PETAL_LATEST))
        return error_set(apply->error, PETAL_INVALID,
                         "timestamps of a family are ahead up to %lld, which is impossible",
                         (long long)ahead);
    if (status == PETAL_OK && ahead > family->ahead) {
        status = item_note(apply, UNDO_AHEAD, table, family, (uint64_t)family->ahead, NULL);
        if (status == PETAL_OK)
            family->ahead = ahead;
    }
    return status;
}

/* ---- counters and the log: they only grow ---- */

static enum petal_status
apply_counters(const struct apply *apply, const struct item *item)
{
    struct manifest *manifest = apply->manifest;
    uint64_t next_file_number = get_le64(item->payload);
    uint64_t last_sequence = get_le64(item->payload + 8);
    int64_t last_timestamp = (int64_t)get_le64(item->payload + 16);
    uint32_t next_table_id = get_le32(item->payload + 24);

    if (next_file_number > manifest->next_file_number)
        manifest->next_file_number = next_file_number;
    if (last_sequence > manifest->last_sequence)
        manifest->last_sequence = last_sequence;
    if (last_timestamp > manifest->last_timestamp)
        manifest->last_timestamp = last_timestamp;
    if (next_table_id > manifest->next_table_id)
        manifest->next_table_id = next_table_id;
    return PETAL_OK;
}

static enum petal_status
apply_oldest_log(const struct apply *apply, const struct item *item)
{
    if (get_le64(item->payload) > apply->manifest->oldest_log)
        apply->manifest->oldest_log = get_le64(item->payload);
    return PETAL_OK;
}

static enum petal_status
apply_wal_promise(const struct apply *apply, const struct item *item)
{
    struct wal_promise promise = {get_le64(item->payload), get_le64(item->payload + 8)};
    const struct wal_promise *before = &apply->manifest->promise;

    if (promise.log_number > before->log_number ||
        (promise.log_number == before->log_number && promise.length > before->length))
        apply->manifest->promise = promise;
    return PETAL_OK;
}

/* ---- the whole edit ---- */

/* By tag: how many bytes the payload has, at least when attributes may follow. */
static const struct {
    apply_function *apply;
    size_t bytes;
    bool attributes;
} appliers[] = {
    [MANIFEST_COUNTERS] = {apply_counters, MANIFEST_COUNTERS_BYTES, false},
    [MANIFEST_OLDEST_LOG] = {apply_oldest_log, MANIFEST_OLDEST_LOG_BYTES, false},
    [MANIFEST_WAL_PROMISE] = {apply_wal_promise, MANIFEST_WAL_PROMISE_BYTES, false},
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
    [MANIFEST_ADD_SHIFTED_FILE] = {apply_add_file, MANIFEST_ADD_SHIFTED_BYTES, false},
    [MANIFEST_AHEAD] = {apply_ahead, MANIFEST_AHEAD_BYTES, false},
};

static enum petal_status
apply_item(const struct apply *apply, const struct item *item)
{
    bool known = item->tag > 0 && item->tag < sizeof appliers / sizeof appliers[0];

    if (!known && item->tag >= MANIFEST_OPTIONAL_TAG)
        return PETAL_OK;
    if (!known)
        return error_set(apply->error, PETAL_UNSUPPORTED,
                         "item %u of an edit was written by a newer version of Petal", item->tag);
    if (!appliers[item->tag].attributes || item->size < appliers[item->tag].bytes) {
        enum petal_status status = item_check_size(apply, item, appliers[item->tag].bytes);

        if (status != PETAL_OK)
            return status;
    }
    return appliers[item->tag].apply(apply, item);
}

/* What no item by itself can tell. */
static enum petal_status
check_state(const struct apply *apply)
{
    const struct manifest *manifest = apply->manifest;

    /* Numbers of files come in their order, and never end. */
    if (manifest->next_file_number > MANIFEST_FILE_NUMBER_END ||
        manifest->oldest_log > manifest->next_file_number)
        return error_set(apply->error, PETAL_INVALID,
                         "the next file number is %llu, the oldest log %llu, which is impossible",
                         (unsigned long long)manifest->next_file_number,
                         (unsigned long long)manifest->oldest_log);
    if (manifest->last_sequence >= CELL_SEQUENCE_END)
        return error_set(apply->error, PETAL_INVALID,
                         "the last sequence is %llu, which is impossible",
                         (unsigned long long)manifest->last_sequence);
    /* Tables come with their families in one edit, and keep at least one. */
    for (size_t i = 0; i < apply->undo->count; i++) {
        const struct undo_step *step = &apply->undo->steps[i];

        if ((step->kind == UNDO_MADE_TABLE || step->kind == UNDO_DROPPED_FAMILY) &&
            step->table->family_count == 0 &&
            manifest_find_table(manifest, step->table->id) == step->table)
            return error_set(apply->error, PETAL_INVALID, "table %u has no family",
                             step->table->id);
    }
    return PETAL_OK;
}

enum petal_status
manifest_apply(struct manifest *manifest, const petal_allocator *allocator, petal_slice items,
               struct manifest_undo *undo, petal_error *error)
{
    struct apply apply = {manifest, allocator, undo, error};
    enum petal_status status = PETAL_OK;

    manifest_undo_init(undo, manifest, allocator);
    while (status == PETAL_OK && items.size > 0) {
        struct item item = {0};

        status = item_take(&apply, &items, &item);
        if (status == PETAL_OK)
            status = apply_item(&apply, &item);
    }
    if (status == PETAL_OK)
        status = check_state(&apply);
    if (status != PETAL_OK)
        manifest_undo_run(undo, manifest);
    return status;
}
