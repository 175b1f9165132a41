/* edit.c -- see edit.h: changes are encoded as items, of which FORMAT.md tells the bytes. */
#include "engine/manifest/edit.h"

#include <assert.h>

#include "base/coding.h"
#include "base/mem.h"
#include "engine/manifest/format.h"

void
manifest_edit_init(struct manifest_edit *edit, const petal_allocator *allocator)
{
    *edit = (struct manifest_edit){.allocator = allocator};
}

void
manifest_edit_fini(struct manifest_edit *edit)
{
    mem_free(edit->allocator, edit->bytes, edit->capacity);
    *edit = (struct manifest_edit){.allocator = edit->allocator};
}

/* Room for `size` bytes more; NULL: no memory, now or before. */
static uint8_t *
extend(struct manifest_edit *edit, size_t size)
{
    void *array = edit->bytes;
    uint8_t *to;

    if (!edit->failed)
        edit->failed =
            !mem_grow(edit->allocator, &array, &edit->capacity, edit->size, edit->size + size, 1);
    if (edit->failed)
        return NULL;
    edit->bytes = array;
    to = edit->bytes + edit->size;
    edit->size += size;
    return to;
}

/* An item with room for its payload, which is returned. */
static uint8_t *
add_item(struct manifest_edit *edit, unsigned tag, size_t payload_bytes)
{
    uint8_t *to = extend(edit, MANIFEST_ITEM_BYTES + payload_bytes);

    if (to == NULL)
        return NULL;
    put_le16(to, (uint16_t)tag);
    put_le16(to + 2, 0);
    put_le32(to + 4, (uint32_t)payload_bytes);
    return to + MANIFEST_ITEM_BYTES;
}

static void
put_ids(uint8_t *to, uint32_t table, uint16_t family)
{
    put_le32(to, table);
    put_le16(to + 4, family);
    put_le16(to + 6, 0);
}

/* ---- tables ---- */

static void
add_bytes(struct manifest_edit *edit, unsigned tag, petal_slice bytes)
{
    uint8_t *to = add_item(edit, tag, bytes.size);

    if (to != NULL && bytes.size > 0)
        memcpy(to, bytes.data, bytes.size);
}

static void
add_u32(struct manifest_edit *edit, unsigned tag, uint32_t value)
{
    uint8_t *to = add_item(edit, tag, 4);

    if (to != NULL)
        put_le32(to, value);
}

static void
add_double(struct manifest_edit *edit, unsigned tag, double value)
{
    uint8_t *to = add_item(edit, tag, 8);
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (to != NULL)
        put_le64(to, bits);
}

/* Begin an item whose payload is ids and attributes; returns where it begins. */
static size_t
begin_item(struct manifest_edit *edit, unsigned tag, uint32_t table, uint16_t family)
{
    size_t start = edit->size;
    uint8_t *to = add_item(edit, tag, MANIFEST_IDS_BYTES);

    if (to != NULL)
        put_ids(to, table, family);
    return start;
}

static void
end_item(struct manifest_edit *edit, size_t start)
{
    assert(edit->failed || start + MANIFEST_ITEM_BYTES <= edit->size);
    if (!edit->failed)
        put_le32(edit->bytes + start + 4, (uint32_t)(edit->size - start - MANIFEST_ITEM_BYTES));
}

/* As add_u32, unless it is the default. */
static void
add_u32_beyond(struct manifest_edit *edit, unsigned tag, uint32_t value, uint32_t value_by_default)
{
    if (value != 0 && value != value_by_default)
        add_u32(edit, tag, value);
}

static void
add_texts(struct manifest_edit *edit, const petal_attribute *attributes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        petal_slice name = attributes[i].name, value = attributes[i].value;
        uint8_t *to = add_item(edit, MANIFEST_TEXT, MANIFEST_TEXT_BYTES + name.size + value.size);

        if (to == NULL)
            return;
        put_le16(to, (uint16_t)attributes[i].kind);
        put_le16(to + 2, (uint16_t)name.size);
        to += MANIFEST_TEXT_BYTES;
        memcpy(to, name.data, name.size);
        if (value.size > 0)
            memcpy(to + name.size, value.data, value.size);
    }
}

static void
add_snapshot(struct manifest_edit *edit, const struct manifest_snapshot *snapshot)
{
    uint8_t *to = add_item(edit, MANIFEST_SNAPSHOT, MANIFEST_SNAPSHOT_BYTES + snapshot->name.size);

    if (to == NULL)
        return;
    put_le64(to, (uint64_t)snapshot->created_ms);
    put_le32(to + 8, snapshot->ttl_seconds);
    put_le32(to + 12, 0);
    memcpy(to + MANIFEST_SNAPSHOT_BYTES, snapshot->name.data, snapshot->name.size);
}

/* `name` is for a new table, `snapshot` for one that is a snapshot. */
static void
add_table(struct manifest_edit *edit, unsigned tag, uint32_t table, const petal_slice *name,
          const petal_table_options *options, const struct manifest_snapshot *snapshot)
{
    size_t start = begin_item(edit, tag, table, 0);

    edit->describes = true;
    if (name != NULL)
        add_bytes(edit, MANIFEST_NAME, *name);
    add_u32(edit, MANIFEST_DURABILITY, (uint32_t)options->durability);
    add_u32_beyond(edit, MANIFEST_READ_ONLY, options->read_only, 0);
    add_texts(edit, options->attributes, options->attribute_count);
    if (snapshot != NULL && snapshot->name.size > 0)
        add_snapshot(edit, snapshot);
    end_item(edit, start);
}

static void
add_family(struct manifest_edit *edit, unsigned tag, uint32_t table, uint16_t family,
           const petal_family_options *options)
{
    size_t start = begin_item(edit, tag, table, family);

    edit->describes = true;
    if (tag == MANIFEST_CREATE_FAMILY)
        add_bytes(edit, MANIFEST_NAME, options->name);
    add_u32(edit, MANIFEST_VERSIONS, options->versions);
    add_u32(edit, MANIFEST_BLOCK_BYTES, options->block_bytes);
    add_u32(edit, MANIFEST_COMPRESSION, (uint32_t)options->compression);
    add_u32(edit, MANIFEST_BLOOM, (uint32_t)options->bloom);
    add_double(edit, MANIFEST_BLOOM_ERROR_RATE, options->bloom_error_rate);
    add_u32(edit, MANIFEST_IN_MEMORY, options->in_memory);
    add_u32(edit, MANIFEST_NO_BLOCK_CACHE, options->no_block_cache);
    add_u32_beyond(edit, MANIFEST_MIN_VERSIONS, options->min_versions, 0);
    add_u32_beyond(edit, MANIFEST_TTL, options->ttl_seconds, PETAL_FOREVER);
    add_u32_beyond(edit, MANIFEST_KEEP_DELETED_CELLS, (uint32_t)options->keep_deleted_cells,
                   PETAL_KEEP_DELETED_FALSE);
    add_u32_beyond(edit, MANIFEST_NEW_VERSION_BEHAVIOR, options->new_version_behavior, 0);
    add_u32_beyond(edit, MANIFEST_BLOOM_PREFIX, options->bloom_prefix_bytes, 0);
    add_u32_beyond(edit, MANIFEST_BLOOM_RATE_PER_FILE, options->bloom_rate_per_file, 0);
    add_u32_beyond(edit, MANIFEST_BLOOM_KIND, (uint32_t)options->bloom_kind,
                   PETAL_BLOOM_KIND_BLOCKED);
    add_texts(edit, options->attributes, options->attribute_count);
    end_item(edit, start);
}

void
manifest_edit_create_table(struct manifest_edit *edit, uint32_t table,
                           const petal_table_options *options,
                           const struct manifest_snapshot *snapshot)
{
    add_table(edit, MANIFEST_CREATE_TABLE, table, &options->name, options, snapshot);
    for (size_t i = 0; i < options->family_count; i++)
        manifest_edit_create_family(edit, table, (uint16_t)i, &options->families[i]);
}

void
manifest_edit_alter_table(struct manifest_edit *edit, uint32_t table,
                          const petal_table_options *options)
{
    add_table(edit, MANIFEST_ALTER_TABLE, table, NULL, options, NULL);
}

void
manifest_edit_create_family(struct manifest_edit *edit, uint32_t table, uint16_t family,
                            const petal_family_options *options)
{
    add_family(edit, MANIFEST_CREATE_FAMILY, table, family, options);
}

void
manifest_edit_alter_family(struct manifest_edit *edit, uint32_t table, uint16_t family,
                           const petal_family_options *options)
{
    add_family(edit, MANIFEST_ALTER_FAMILY, table, family, options);
}

static void
add_ids(struct manifest_edit *edit, unsigned tag, uint32_t table, uint16_t family)
{
    uint8_t *to = add_item(edit, tag, MANIFEST_IDS_BYTES);

    if (to != NULL)
        put_ids(to, table, family);
}

void
manifest_edit_drop_table(struct manifest_edit *edit, uint32_t table)
{
    add_ids(edit, MANIFEST_DROP_TABLE, table, 0);
}

void
manifest_edit_drop_family(struct manifest_edit *edit, uint32_t table, uint16_t family)
{
    add_ids(edit, MANIFEST_DROP_FAMILY, table, family);
}

/* ---- regions ---- */

void
manifest_edit_create_region(struct manifest_edit *edit, uint32_t table, uint32_t region,
                            int64_t split_ms, petal_slice start)
{
    uint8_t *to = add_item(edit, MANIFEST_CREATE_REGION, MANIFEST_CREATE_REGION_BYTES + start.size);

    if (to == NULL)
        return;
    put_le32(to, table);
    put_le32(to + 4, region);
    put_le64(to + 8, (uint64_t)split_ms);
    memcpy(to + MANIFEST_CREATE_REGION_BYTES, start.data, start.size);
}

void
manifest_edit_drop_region(struct manifest_edit *edit, uint32_t table, uint32_t region)
{
    uint8_t *to = add_item(edit, MANIFEST_DROP_REGION, MANIFEST_DROP_REGION_BYTES);

    if (to == NULL)
        return;
    put_le32(to, table);
    put_le32(to + 4, region);
}

/* ---- files ---- */

void
manifest_edit_add_file(struct manifest_edit *edit, uint32_t region, uint16_t family,
                       const struct manifest_file *file)
{
    uint8_t *to = add_item(edit, MANIFEST_ADD_FILE, MANIFEST_ADD_FILE_BYTES + file->first_row.size);

    if (to == NULL)
        return;
    put_ids(to, region, family);
    put_le64(to + 8, file->number);
    put_le64(to + 16, file->identity);
    put_le64(to + 24, file->run);
    put_le64(to + 32, file->file_bytes);
    put_le64(to + 40, file->sequence_min);
    put_le64(to + 48, file->sequence_max);
    put_le64(to + 56, file->cells);
    put_le64(to + 64, file->sequence_shift);
    if (file->first_row.size > 0)
        memcpy(to + MANIFEST_ADD_FILE_BYTES, file->first_row.data, file->first_row.size);
}

static void
add_ids_and_number(struct manifest_edit *edit, unsigned tag, uint32_t id, uint16_t family,
                   uint64_t number)
{
    uint8_t *to = add_item(edit, tag, MANIFEST_IDS_BYTES + 8);

    if (to == NULL)
        return;
    put_ids(to, id, family);
    put_le64(to + MANIFEST_IDS_BYTES, number);
}

void
manifest_edit_remove_file(struct manifest_edit *edit, uint32_t region, uint16_t family,
                          uint64_t number)
{
    add_ids_and_number(edit, MANIFEST_REMOVE_FILE, region, family, number);
}

void
manifest_edit_flushed(struct manifest_edit *edit, uint32_t region, uint16_t family,
                      uint64_t sequence)
{
    add_ids_and_number(edit, MANIFEST_FLUSHED, region, family, sequence);
}

void
manifest_edit_ahead(struct manifest_edit *edit, uint32_t table, uint16_t family, int64_t timestamp)
{
    if (timestamp > 0)
        add_ids_and_number(edit, MANIFEST_AHEAD, table, family, (uint64_t)timestamp);
}

/* ---- counters and the log ---- */

static void
add_counters(struct manifest_edit *edit, uint64_t next_file_number, uint64_t last_sequence,
             int64_t last_timestamp, uint32_t next_table_id)
{
    uint8_t *to = add_item(edit, MANIFEST_COUNTERS, MANIFEST_COUNTERS_BYTES);

    if (to == NULL)
        return;
    put_le64(to, next_file_number);
    put_le64(to + 8, last_sequence);
    put_le64(to + 16, (uint64_t)last_timestamp);
    put_le32(to + 24, next_table_id);
    put_le32(to + 28, 0);
}

void
manifest_edit_counters(struct manifest_edit *edit, uint64_t next_file_number,
                       uint64_t last_sequence, int64_t last_timestamp)
{
    /* Table ids are counted by CREATE_TABLE. */
    add_counters(edit, next_file_number, last_sequence, last_timestamp, 0);
}

void
manifest_edit_state(struct manifest_edit *edit, uint64_t number)
{
    uint8_t *to = add_item(edit, MANIFEST_STATE, MANIFEST_STATE_BYTES);

    if (to != NULL)
        put_le64(to, number);
}

void
manifest_edit_oldest_log(struct manifest_edit *edit, uint64_t number)
{
    uint8_t *to = add_item(edit, MANIFEST_OLDEST_LOG, MANIFEST_OLDEST_LOG_BYTES);

    if (to != NULL)
        put_le64(to, number);
}

void
manifest_edit_wal_promise(struct manifest_edit *edit, struct wal_promise promise)
{
    uint8_t *to = add_item(edit, MANIFEST_WAL_PROMISE, MANIFEST_WAL_PROMISE_BYTES);

    if (to == NULL)
        return;
    put_le64(to, promise.log_number);
    put_le64(to + 8, promise.length);
}

/* ---- snapshot ---- */

static void
add_store(struct manifest_edit *edit, const struct manifest_family *family,
          const struct manifest_store *store, uint32_t region)
{
    manifest_edit_flushed(edit, region, family->id, store->flushed_sequence);
    for (size_t i = 0; i < store->file_count; i++)
        manifest_edit_add_file(edit, region, family->id, &store->files[i]);
}

/* The table with its first region. */
static void
add_whole_table(struct manifest_edit *edit, const struct manifest_table *table, uint32_t id,
                petal_slice name, const struct manifest_snapshot *snapshot)
{
    petal_table_options options = {
        .durability = table->durability,
        .read_only = table->read_only,
        .attributes = table->attributes,
        .attribute_count = table->attribute_count,
    };
    uint32_t next_family_id = 0;

    add_table(edit, MANIFEST_CREATE_TABLE, id, &name, &options, snapshot);
    for (size_t i = 0; i < table->family_count; i++) {
        const struct manifest_family *family = &table->families[i];

        next_family_id = family->id + 1u;
        manifest_edit_create_family(edit, id, family->id, &family->options);
        manifest_edit_ahead(edit, id, family->id, family->ahead);
        add_store(edit, family, &family->stores[0], id);
    }
    /* When the latest family was dropped, nothing else tells that its id is spent. */
    if (table->next_family_id > next_family_id)
        add_ids(edit, MANIFEST_NEXT_FAMILY, id, (uint16_t)table->next_family_id);
}

static void
add_regions(struct manifest_edit *edit, const struct manifest_table *table, uint32_t id)
{
    for (size_t i = 1; i < table->region_count; i++) {
        const struct manifest_region *region = table->regions[i];
        uint32_t region_id = id == table->id ? region->id : id + (uint32_t)i;

        manifest_edit_create_region(edit, id, region_id, region->split_ms, region->start);
        for (size_t k = 0; k < table->family_count; k++)
            add_store(edit, &table->families[k], &table->families[k].stores[i], region_id);
    }
}

void
manifest_edit_table(struct manifest_edit *edit, const struct manifest_table *table, uint32_t id,
                    petal_slice name, const struct manifest_snapshot *snapshot)
{
    add_whole_table(edit, table, id, name, snapshot);
    add_regions(edit, table, id);
}

void
manifest_edit_snapshot(struct manifest_edit *edit, const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->table_count; i++) {
        const struct manifest_table *table = manifest->tables[i];

        add_whole_table(edit, table, table->id, table->name, &table->snapshot);
    }
    /* Their ids lie between those of tables, which only grow. */
    for (size_t i = 0; i < manifest->table_count; i++)
        add_regions(edit, manifest->tables[i], manifest->tables[i]->id);
    add_counters(edit, manifest->next_file_number, manifest->last_sequence,
                 manifest->last_timestamp, manifest->next_table_id);
    manifest_edit_oldest_log(edit, manifest->oldest_log);
    manifest_edit_wal_promise(edit, manifest->promise);
    manifest_edit_state(edit, manifest->number);
    edit->describes = false; /* nothing that is not there */
}
