/* apply.c -- see apply.h: the items about files and counters, and the edit as a whole. */
#include "engine/manifest/apply.h"

#include "base/cell.h"
#include "base/coding.h"
#include "base/mem.h"
#include "engine/manifest/apply_schema.h"
#include "engine/manifest/format.h"

/* ---- files ---- */

/* A file has this number already: is it the same one, and only in stores of the same family in
 * other regions? */
static bool
may_share(const struct apply *apply, const struct item *item, const struct manifest_file *file)
{
    const struct manifest *manifest = apply->manifest;
    size_t named = 0, found = 0, at = 0;
    uint64_t value;

    while (number_map_next(&manifest->numbers, file->number, &at, &value))
        named++;
    for (size_t i = 0; i < item->table->region_count; i++) {
        const struct manifest_store *store = &item->family->stores[i];
        size_t place;

        if (!manifest_find_file(manifest, store, file->number, &place))
            continue;
        if (store == item->store || store->files[place].identity != file->identity ||
            store->files[place].sequence_shift != file->sequence_shift)
            return false;
        found++;
    }
    return found == named;
}

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
        .sequence_shift = get_le64(from + 64),
    };
    petal_slice first_row =
        slice_make(from + MANIFEST_ADD_FILE_BYTES, item->size - MANIFEST_ADD_FILE_BYTES);
    struct manifest_store *store = item->store;
    enum petal_status status;

    if (file.number == 0 || file.number >= MANIFEST_FILE_NUMBER_END ||
        file.sequence_min > file.sequence_max || file.sequence_max >= CELL_SEQUENCE_END ||
        (file.sequence_shift != 0 && file.sequence_shift >= file.sequence_min))
        return error_set(apply->error, PETAL_INVALID,
                         "store file %llu has sequences %llu to %llu, which is impossible",
                         (unsigned long long)file.number, (unsigned long long)file.sequence_min,
                         (unsigned long long)file.sequence_max);
    if (first_row.size > PETAL_MAX_ROW_BYTES)
        return error_set(apply->error, PETAL_INVALID,
                         "store file %llu begins at a row of %zu bytes, which is impossible",
                         (unsigned long long)file.number, first_row.size);
    if (manifest_names_file(manifest, file.number) && !may_share(apply, item, &file))
        return error_set(apply->error, PETAL_INVALID, "store file %llu is there twice",
                         (unsigned long long)file.number);
    if (!mem_grow_array(apply->allocator, &store->files, &store->file_capacity, store->file_count,
                        store->file_count + 1, sizeof file) ||
        !number_map_reserve(&manifest->numbers, apply->allocator, 1) ||
        (first_row.size > 0 && !manifest_copy_name(&file.first_row, first_row, apply->allocator)))
        return error_no_memory(apply->error);
    status = item_note_store(apply, UNDO_ADDED_FILE, item, store->file_count, NULL);
    if (status != PETAL_OK) {
        manifest_file_fini(&file, apply->allocator);
        return status;
    }
    manifest_file_insert(manifest, store, store->file_count, &file);
    if (file.number >= manifest->next_file_number)
        manifest->next_file_number = file.number + 1;
    return PETAL_OK;
}

static enum petal_status
apply_remove_file(const struct apply *apply, const struct item *item)
{
    uint64_t number = get_le64(item->payload + MANIFEST_IDS_BYTES);
    struct manifest_store *store = item->store;
    enum petal_status status;
    size_t place;

    if (!manifest_find_file(apply->manifest, store, number, &place))
        return error_set(apply->error, PETAL_INVALID,
                         "an edit removes store file %llu, which does not exist",
                         (unsigned long long)number);
    status = item_note_store(apply, UNDO_REMOVED_FILE, item, place, &store->files[place]);
    if (status == PETAL_OK)
        manifest_file_remove(apply->manifest, store, place);
    return status;
}

static enum petal_status
apply_flushed(const struct apply *apply, const struct item *item)
{
    uint64_t sequence = get_le64(item->payload + MANIFEST_IDS_BYTES);
    struct manifest_store *store = item->store;
    enum petal_status status = PETAL_OK;

    if (sequence >= CELL_SEQUENCE_END)
        return error_set(apply->error, PETAL_INVALID,
                         "a family is flushed up to sequence %llu, which is impossible",
                         (unsigned long long)sequence);
    if (sequence > store->flushed_sequence) {
        status = item_note_store(apply, UNDO_FLUSHED, item, store->flushed_sequence, NULL);
        if (status == PETAL_OK)
            store->flushed_sequence = sequence;
    }
    return status;
}

static enum petal_status
apply_ahead(const struct apply *apply, const struct item *item)
{
    int64_t ahead = (int64_t)get_le64(item->payload + MANIFEST_IDS_BYTES);
    struct manifest_family *family = item->family;
    enum petal_status status = PETAL_OK;

    if (ahead <= 0 || ahead == PETAL_LATEST)
        return error_set(apply->error, PETAL_INVALID,
                         "timestamps of a family are ahead up to %lld, which is impossible",
                         (long long)ahead);
    if (ahead > family->ahead) {
        status = item_note(apply, UNDO_AHEAD, item->table, family, (uint64_t)family->ahead, NULL);
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

static enum petal_status
apply_state(const struct apply *apply, const struct item *item)
{
    uint64_t number = get_le64(item->payload);

    if (number >= MANIFEST_STATE_END)
        return error_set(apply->error, PETAL_INVALID, "state %llu is impossible",
                         (unsigned long long)number);
    if (number > apply->manifest->number)
        apply->manifest->number = number;
    return PETAL_OK;
}

/* ---- the whole edit ---- */

/* What an item is about: its payload begins with the ids of these. */
enum about { ABOUT_ALL, ABOUT_TABLE, ABOUT_FAMILY, ABOUT_STORE };

/* What follows the ids and numbers: attributes of a table or of a family, a row, or nothing. */
enum follows { NOTHING, A_ROW, OF_TABLE, OF_FAMILY };

/* By tag: how many bytes the payload has, at least when attributes may follow. */
static const struct {
    apply_function *apply;
    size_t bytes;
    enum about about;
    enum follows follows;
} appliers[] = {
    [MANIFEST_COUNTERS] = {apply_counters, MANIFEST_COUNTERS_BYTES, ABOUT_ALL, NOTHING},
    [MANIFEST_OLDEST_LOG] = {apply_oldest_log, MANIFEST_OLDEST_LOG_BYTES, ABOUT_ALL, NOTHING},
    [MANIFEST_WAL_PROMISE] = {apply_wal_promise, MANIFEST_WAL_PROMISE_BYTES, ABOUT_ALL, NOTHING},
    [MANIFEST_CREATE_TABLE] = {apply_create_table, MANIFEST_IDS_BYTES, ABOUT_ALL, OF_TABLE},
    [MANIFEST_CREATE_FAMILY] = {apply_create_family, MANIFEST_IDS_BYTES, ABOUT_TABLE, OF_FAMILY},
    [MANIFEST_DROP_TABLE] = {apply_drop_table, MANIFEST_DROP_TABLE_BYTES, ABOUT_TABLE, NOTHING},
    [MANIFEST_ADD_FILE] = {apply_add_file, MANIFEST_ADD_FILE_BYTES, ABOUT_STORE, A_ROW},
    [MANIFEST_REMOVE_FILE] = {apply_remove_file, MANIFEST_REMOVE_FILE_BYTES, ABOUT_STORE, NOTHING},
    [MANIFEST_FLUSHED] = {apply_flushed, MANIFEST_FLUSHED_BYTES, ABOUT_STORE, NOTHING},
    [MANIFEST_ALTER_TABLE] = {apply_alter_table, MANIFEST_IDS_BYTES, ABOUT_TABLE, OF_TABLE},
    [MANIFEST_ALTER_FAMILY] = {apply_alter_family, MANIFEST_IDS_BYTES, ABOUT_FAMILY, OF_FAMILY},
    [MANIFEST_DROP_FAMILY] = {apply_drop_family, MANIFEST_DROP_FAMILY_BYTES, ABOUT_FAMILY, NOTHING},
    [MANIFEST_NEXT_FAMILY] = {apply_next_family, MANIFEST_NEXT_FAMILY_BYTES, ABOUT_TABLE, NOTHING},
    [MANIFEST_AHEAD] = {apply_ahead, MANIFEST_AHEAD_BYTES, ABOUT_FAMILY, NOTHING},
    [MANIFEST_STATE] = {apply_state, MANIFEST_STATE_BYTES, ABOUT_ALL, NOTHING},
    [MANIFEST_CREATE_REGION] = {apply_create_region, MANIFEST_CREATE_REGION_BYTES, ABOUT_TABLE,
                                A_ROW},
    [MANIFEST_DROP_REGION] = {apply_drop_region, MANIFEST_DROP_REGION_BYTES, ABOUT_TABLE, NOTHING},
};

/* The table that the item names; of an item about a store its region is named. */
static enum petal_status
find_table(const struct apply *apply, struct item *item, enum about about)
{
    uint32_t id = get_le32(item->payload);

    if (about == ABOUT_STORE) {
        item->region = manifest_find_region(apply->manifest, id);
        item->table = item->region != NULL ? item->region->table : NULL;
    } else {
        item->table = manifest_find_table(apply->manifest, id);
    }
    if (item->table != NULL)
        return PETAL_OK;
    return error_set(apply->error, PETAL_INVALID, "an edit names %s %u, which is not there",
                     about == ABOUT_STORE ? "region" : "table", id);
}

/* The table, and the family or store in it, that the item is about. */
static enum petal_status
find_subject(const struct apply *apply, struct item *item, enum about about)
{
    uint16_t family_id;
    enum petal_status status = about == ABOUT_ALL ? PETAL_OK : find_table(apply, item, about);

    if (status != PETAL_OK || about <= ABOUT_TABLE)
        return status;
    family_id = get_le16(item->payload + 4);
    item->family = manifest_find_family(item->table, family_id);
    if (item->family == NULL)
        return error_set(apply->error, PETAL_INVALID,
                         "an edit names family %u of table %u, which is not there", family_id,
                         item->table->id);
    if (about == ABOUT_STORE)
        item->store = &item->family->stores[item->region->place];
    return PETAL_OK;
}

static enum petal_status
apply_item(const struct apply *apply, struct item *item)
{
    bool known = item->tag > 0 && item->tag < sizeof appliers / sizeof appliers[0];
    struct attributes attributes;
    enum petal_status status = PETAL_OK;

    if (!known && item->tag >= MANIFEST_OPTIONAL_TAG)
        return PETAL_OK;
    if (!known)
        return error_set(apply->error, PETAL_UNSUPPORTED,
                         "item %u of an edit was written by a newer version of Petal", item->tag);
    if (appliers[item->tag].follows == NOTHING || item->size < appliers[item->tag].bytes)
        status = item_check_size(apply, item, appliers[item->tag].bytes);
    if (status == PETAL_OK)
        status = find_subject(apply, item, appliers[item->tag].about);
    if (status != PETAL_OK || appliers[item->tag].follows < OF_TABLE)
        return status == PETAL_OK ? appliers[item->tag].apply(apply, item) : status;
    status = attributes_take(apply, item, appliers[item->tag].follows == OF_TABLE, &attributes);
    item->attributes = &attributes;
    if (status == PETAL_OK)
        status = appliers[item->tag].apply(apply, item);
    attributes_fini(&attributes, apply->allocator);
    return status;
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
