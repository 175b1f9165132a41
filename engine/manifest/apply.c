/* apply.c -- applies the items of an edit to the state, checking each against it; see engine/manifest/format.h. */
#include "engine/manifest/apply.h"
#include "base/coding.h"
#include "base/mem.h"
#include "base/slice.h"

/* ---- lookups ---- */

bool
apply_touch(const struct apply *apply, uint32_t id, struct manifest_table *before)
{
    struct manifest_change *change = apply->change;

    if (!mem_grow_array(apply->allocator, &change->touched, &change->touched_capacity,
                        change->touched_count, change->touched_count + 1, sizeof *change->touched))
        return false;
    change->touched[change->touched_count++] = (struct manifest_touched){id, before};
    return true;
}

enum petal_status
apply_find_place(const struct apply *apply, uint32_t id, size_t *place)
{
    const struct manifest *manifest = apply->manifest;

    *place = manifest_place_of(manifest, id);
    if (*place == manifest->table_count || manifest->tables[*place]->id != id)
        return error_set(apply->error, PETAL_INVALID, "an edit names table %u, which is not there",
                         id);
    return PETAL_OK;
}

enum petal_status
apply_find_table(const struct apply *apply, uint32_t id, struct manifest_table **table)
{
    size_t place;
    enum petal_status status = apply_find_place(apply, id, &place);

    if (status != PETAL_OK)
        return status;
    *table = apply->manifest->tables[place];
    if ((*table)->changing)
        return PETAL_OK;
    *table = manifest_table_copy(*table, apply->allocator);
    if (*table == NULL || !apply_touch(apply, id, apply->manifest->tables[place])) {
        manifest_table_free(*table, apply->allocator);
        return error_no_memory(apply->error);
    }
    (*table)->changing = true;
    apply->manifest->tables[place] = *table;
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
    if (file.number == 0 || file.number >= MANIFEST_FILE_NUMBER_END ||
        file.sequence_min > file.sequence_max)
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

/* ---- the whole edit ---- */

static struct manifest_table *
touched_now(const struct manifest *manifest, const struct manifest_touched *touched)
{
    return manifest_find_table(manifest, touched->id);
}

/* Tables come with their families in one edit, and keep at least one. */
static enum petal_status
check_families(const struct apply *apply)
{
    for (size_t i = 0; i < apply->change->touched_count; i++) {
        const struct manifest_table *table =
            touched_now(apply->manifest, &apply->change->touched[i]);

        if (table != NULL && table->family_count == 0)
            return error_set(apply->error, PETAL_INVALID, "table %u has no family", table->id);
    }
    return PETAL_OK;
}

/* Give up the lookups of the first `count` touched tables as they are. */
static void
remove_from_index(struct manifest *manifest, const struct manifest_change *change, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct manifest_table *table = touched_now(manifest, &change->touched[i]);

        if (table != NULL)
            manifest_index_remove(manifest, table);
    }
}

/* Those as they were. */
static void
index_before(struct manifest *manifest, const struct manifest_change *change,
             void (*index)(struct manifest *manifest, const struct manifest_table *table))
{
    for (size_t i = 0; i < change->touched_count; i++) {
        if (change->touched[i].before != NULL)
            index(manifest, change->touched[i].before);
    }
}

/* Lookups find the tables as they are, or, on failure, as they were. Names and file numbers are
 * distinct. */
static enum petal_status
index_touched(const struct apply *apply)
{
    struct manifest *manifest = apply->manifest;
    struct manifest_change *change = apply->change;
    enum petal_status status = PETAL_OK;
    size_t added;

    index_before(manifest, change, manifest_index_remove);
    for (added = 0; status == PETAL_OK && added < change->touched_count; added++) {
        const struct manifest_table *table = touched_now(manifest, &change->touched[added]);

        if (table != NULL && !manifest_index_reserve(manifest, table, apply->allocator))
            status = error_no_memory(apply->error);
        else if (table != NULL)
            status = manifest_index_add_new(manifest, table, apply->error);
    }
    if (status == PETAL_OK)
        return PETAL_OK;
    remove_from_index(manifest, change, added - 1);
    index_before(manifest, change, manifest_index_add);
    return status;
}

/* The tables and counters as they were. */
static void
take_back(struct manifest *manifest, struct manifest_change *change)
{
    for (size_t i = change->touched_count; i > 0; i--) {
        const struct manifest_touched *touched = &change->touched[i - 1];
        size_t place = manifest_place_of(manifest, touched->id);
        struct manifest_table **at = &manifest->tables[place];
        size_t behind = manifest->table_count - place;

        if (behind > 0 && (*at)->id == touched->id) {
            manifest_table_free(*at, change->allocator);
            *at = touched->before;
            if (touched->before == NULL) {
                memmove(at, at + 1, (behind - 1) * sizeof(struct manifest_table *));
                manifest->table_count--;
            }
        } else if (touched->before != NULL) {
            memmove(at + 1, at, behind * sizeof(struct manifest_table *));
            *at = touched->before;
            manifest->table_count++;
        }
    }
    manifest->next_file_number = change->counters.next_file_number;
    manifest->next_table_id = change->counters.next_table_id;
    manifest->last_sequence = change->counters.last_sequence;
    manifest->last_timestamp = change->counters.last_timestamp;
    manifest->oldest_log = change->counters.oldest_log;
    manifest->promise = change->counters.promise;
}

static void
forget(struct manifest_change *change)
{
    mem_free(change->allocator, change->touched,
             change->touched_capacity * sizeof *change->touched);
    change->touched = NULL;
    change->touched_count = change->touched_capacity = 0;
}

void
manifest_change_keep(struct manifest *manifest, struct manifest_change *change)
{
    for (size_t i = 0; i < change->touched_count; i++) {
        struct manifest_table *table = touched_now(manifest, &change->touched[i]);

        manifest_table_free(change->touched[i].before, change->allocator);
        if (table != NULL)
            table->changing = false;
    }
    forget(change);
}

void
manifest_change_undo(struct manifest *manifest, struct manifest_change *change)
{
    remove_from_index(manifest, change, change->touched_count);
    index_before(manifest, change, manifest_index_add);
    take_back(manifest, change);
    forget(change);
}

/* Numbers of files come in their order, and never end. */
static enum petal_status
check_numbers(const struct apply *apply)
{
    const struct manifest *manifest = apply->manifest;

    if (manifest->next_file_number <= MANIFEST_FILE_NUMBER_END &&
        manifest->oldest_log <= manifest->next_file_number)
        return PETAL_OK;
    return error_set(apply->error, PETAL_INVALID,
                     "the next file number is %llu, the oldest log %llu: this cannot be",
                     (unsigned long long)manifest->next_file_number,
                     (unsigned long long)manifest->oldest_log);
}

enum petal_status
manifest_state_apply(struct manifest *manifest, const petal_allocator *allocator, petal_slice items,
                     struct manifest_change *change, petal_error *error)
{
    struct apply apply = {manifest, allocator, change, error};
    enum petal_status status = PETAL_OK;

    *change = (struct manifest_change){.allocator = allocator, .counters = *manifest};
    while (status == PETAL_OK && items.size > 0) {
        struct item item = {0};

        status = apply_take_item(&apply, &items, &item);
        if (status == PETAL_OK)
            status = apply_item(&apply, &item);
    }
    if (status == PETAL_OK)
        status = check_numbers(&apply);
    if (status == PETAL_OK)
        status = check_families(&apply);
    if (status == PETAL_OK)
        status = index_touched(&apply);
    if (status != PETAL_OK) {
        take_back(manifest, change);
        forget(change);
    }
    return status;
}
