/* apply_schema.c -- see apply_schema.h. */
#include "engine/manifest/apply_schema.h"

#include <assert.h>

#include "base/coding.h"
#include "base/mem.h"
#include "base/slice.h"
#include "engine/attributes.h"
#include "engine/manifest/format.h"
#include "engine/options.h"

#define NAME_TEXT_BYTES 160

/* ---- attributes ---- */

void
attributes_fini(struct attributes *attributes, const petal_allocator *allocator)
{
    mem_free(allocator, attributes->texts, attributes->text_capacity * sizeof *attributes->texts);
}

static enum petal_status
take_u32(const struct apply *apply, const struct item *item, uint32_t most, uint32_t *value)
{
    enum petal_status status = item_check_size(apply, item, 4);

    if (status != PETAL_OK)
        return status;
    *value = get_le32(item->payload);
    if (*value > most)
        return error_set(apply->error, PETAL_UNSUPPORTED,
                         "attribute %u is %u; this version knows 0 to %u", item->tag, *value, most);
    return PETAL_OK;
}

static enum petal_status
take_bool(const struct apply *apply, const struct item *item, bool *value)
{
    uint32_t number = 0;
    enum petal_status status = take_u32(apply, item, 1, &number);

    *value = number != 0;
    return status;
}

static enum petal_status
take_double(const struct apply *apply, const struct item *item, double *value)
{
    enum petal_status status = item_check_size(apply, item, 8);
    uint64_t bits;

    if (status != PETAL_OK)
        return status;
    bits = get_le64(item->payload);
    memcpy(value, &bits, sizeof *value);
    return PETAL_OK;
}

static enum petal_status
take_text(const struct apply *apply, const struct item *item, bool of_table,
          struct attributes *attributes)
{
    void *array = attributes->texts;
    const uint8_t *from = item->payload;
    petal_attribute text;
    size_t name_bytes;
    bool grown;

    if (item->size < MANIFEST_TEXT_BYTES || get_le16(from + 2) > item->size - MANIFEST_TEXT_BYTES)
        return error_set(apply->error, PETAL_INVALID, "attribute %u of %zu bytes is malformed",
                         item->tag, item->size);
    name_bytes = get_le16(from + 2);
    text.kind = (enum petal_attribute_kind)get_le16(from);
    text.name = slice_make(from + MANIFEST_TEXT_BYTES, name_bytes);
    text.value = slice_make(from + MANIFEST_TEXT_BYTES + name_bytes,
                            item->size - MANIFEST_TEXT_BYTES - name_bytes);
    if (!attributes_knows(&text, of_table))
        return error_set(apply->error, PETAL_UNSUPPORTED,
                         "a text attribute of kind %d was written by a newer version of Petal",
                         (int)text.kind);
    grown = mem_grow(apply->allocator, &array, &attributes->text_capacity, attributes->text_count,
                     attributes->text_count + 1, sizeof text);
    attributes->texts = array;
    if (!grown)
        return error_no_memory(apply->error);
    attributes->texts[attributes->text_count++] = text;
    return PETAL_OK;
}

/* How long a snapshot lives, and its name: they make a table one. */
static enum petal_status
take_snapshot(const struct apply *apply, const struct item *item, bool of_table,
              struct manifest_snapshot *snapshot)
{
    const uint8_t *from = item->payload;

    if (!of_table || item->size < MANIFEST_SNAPSHOT_BYTES || get_le32(from + 12) != 0)
        return error_set(apply->error, PETAL_INVALID, "attribute %u of %zu bytes is malformed",
                         item->tag, item->size);
    snapshot->created_ms = (int64_t)get_le64(from);
    snapshot->ttl_seconds = get_le32(from + 8);
    snapshot->name =
        slice_make(from + MANIFEST_SNAPSHOT_BYTES, item->size - MANIFEST_SNAPSHOT_BYTES);
    return snapshot_name_check(snapshot->name, apply->error);
}

static enum petal_status
take_attribute(const struct apply *apply, const struct item *item, bool of_table,
               struct attributes *attributes)
{
    petal_family_options *family = &attributes->family;
    enum petal_status status;
    uint32_t value = 0;

    switch (item->tag) {
    case MANIFEST_NAME:
        family->name = slice_make(item->payload, item->size);
        return PETAL_OK;
    case MANIFEST_DURABILITY:
        return take_u32(apply, item, PETAL_FSYNC_WAL, &attributes->durability);
    case MANIFEST_READ_ONLY:
        return take_bool(apply, item, &attributes->read_only);
    case MANIFEST_TEXT:
        return take_text(apply, item, of_table, attributes);
    case MANIFEST_SNAPSHOT:
        return take_snapshot(apply, item, of_table, &attributes->snapshot);
    case MANIFEST_BLOCK_BYTES:
        return take_u32(apply, item, UINT32_MAX, &family->block_bytes);
    case MANIFEST_COMPRESSION:
        status = take_u32(apply, item, PETAL_COMPRESSION_LZ4, &value);
        family->compression = (enum petal_compression)value;
        return status;
    case MANIFEST_BLOOM:
        status = take_u32(apply, item, PETAL_BLOOM_ROW_PREFIX, &value);
        family->bloom = (enum petal_bloom_type)value;
        return status;
    case MANIFEST_BLOOM_PREFIX:
        return take_u32(apply, item, UINT32_MAX, &family->bloom_prefix_bytes);
    case MANIFEST_BLOOM_ERROR_RATE:
        return take_double(apply, item, &family->bloom_error_rate);
    case MANIFEST_BLOOM_RATE_PER_FILE:
        return take_bool(apply, item, &family->bloom_rate_per_file);
    case MANIFEST_BLOOM_KIND:
        status = take_u32(apply, item, PETAL_BLOOM_KIND_RIBBON, &value);
        family->bloom_kind = (enum petal_bloom_kind)value;
        return status;
    case MANIFEST_IN_MEMORY:
        return take_bool(apply, item, &family->in_memory);
    case MANIFEST_NO_BLOCK_CACHE:
        return take_bool(apply, item, &family->no_block_cache);
    case MANIFEST_VERSIONS:
        return take_u32(apply, item, UINT32_MAX, &family->versions);
    case MANIFEST_MIN_VERSIONS:
        return take_u32(apply, item, UINT32_MAX, &family->min_versions);
    case MANIFEST_TTL:
        return take_u32(apply, item, UINT32_MAX, &family->ttl_seconds);
    case MANIFEST_KEEP_DELETED_CELLS:
        status = take_u32(apply, item, PETAL_KEEP_DELETED_TTL, &value);
        family->keep_deleted_cells = (enum petal_keep_deleted)value;
        return status;
    case MANIFEST_NEW_VERSION_BEHAVIOR:
        return take_bool(apply, item, &family->new_version_behavior);
    default:
        if (item->tag >= MANIFEST_OPTIONAL_TAG)
            return PETAL_OK;
        return error_set(apply->error, PETAL_UNSUPPORTED,
                         "attribute %u was written by a newer version of Petal", item->tag);
    }
}

enum petal_status
attributes_take(const struct apply *apply, const struct item *whole, bool of_table,
                struct attributes *attributes)
{
    petal_slice items =
        slice_make(whole->payload + MANIFEST_IDS_BYTES, whole->size - MANIFEST_IDS_BYTES);
    enum petal_status status = PETAL_OK;

    memset(attributes, 0, sizeof *attributes);
    while (status == PETAL_OK && items.size > 0) {
        struct item item = {0};

        status = item_take(apply, &items, &item);
        if (status != PETAL_OK)
            return status;
        if (item.tag < 32 && (attributes->seen >> item.tag & 1) != 0)
            return error_set(apply->error, PETAL_INVALID, "attribute %u is given twice", item.tag);
        if (item.tag < 32 && item.tag != MANIFEST_TEXT)
            attributes->seen |= 1u << item.tag;
        status = take_attribute(apply, &item, of_table, attributes);
    }
    attributes->family.attributes = attributes->texts;
    attributes->family.attribute_count = attributes->text_count;
    return status;
}

/* ---- tables ---- */

/* The region of all rows. */
static bool
make_first_region(struct manifest_table *table, const petal_allocator *allocator)
{
    if (!mem_grow_array(allocator, &table->regions, &table->region_capacity, 0, 1,
                        sizeof(struct manifest_region *)))
        return false;
    table->regions[0] = manifest_region_new(table, table->id, slice_make(NULL, 0), allocator);
    table->region_count = table->regions[0] != NULL;
    return table->regions[0] != NULL;
}

enum petal_status
apply_create_table(const struct apply *apply, const struct item *item)
{
    const struct attributes *attributes = item->attributes;
    uint32_t id = get_le32(item->payload);
    struct manifest *manifest = apply->manifest;
    struct manifest_table *table;
    char text[NAME_TEXT_BYTES];
    bool is_snapshot = attributes->snapshot.name.size > 0;
    enum petal_status status = table_name_check(attributes->family.name, apply->error);

    if (status == PETAL_OK)
        status = attributes_check(attributes->texts, attributes->text_count, true, apply->error);
    if (status != PETAL_OK)
        return status;
    if (id < manifest->next_table_id || id == UINT32_MAX)
        return error_set(apply->error, PETAL_INVALID, "table id %u; the next one is %u", id,
                         manifest->next_table_id);
    table = mem_zalloc(apply->allocator, sizeof *table);
    if (table == NULL)
        return error_no_memory(apply->error);
    table->id = id;
    if (!make_first_region(table, apply->allocator)) {
        manifest_table_free(table, apply->allocator);
        return error_no_memory(apply->error);
    }
    table->durability = (enum petal_durability)attributes->durability;
    table->read_only = attributes->read_only;
    table->snapshot = attributes->snapshot;
    table->snapshot.name = slice_make(NULL, 0);
    if (!manifest_copy_name(&table->name, attributes->family.name, apply->allocator) ||
        (is_snapshot &&
         !manifest_copy_name(&table->snapshot.name, attributes->snapshot.name, apply->allocator)) ||
        !attributes_copy(&table->attributes, attributes->texts, attributes->text_count,
                         apply->allocator)) {
        manifest_table_free(table, apply->allocator);
        return error_no_memory(apply->error);
    }
    table->attribute_count = attributes->text_count;
    if (manifest_find_name(manifest, table) != NULL)
        status = error_set(
            apply->error, PETAL_INVALID, "%s %s is created twice",
            is_snapshot ? "snapshot" : "table",
            error_quote(is_snapshot ? table->snapshot.name : table->name, text, sizeof text));
    else if (!mem_grow_array(apply->allocator, &manifest->tables, &manifest->table_capacity,
                             manifest->table_count, manifest->table_count + 1,
                             sizeof(struct manifest_table *)) ||
             !number_map_reserve(&manifest->names, apply->allocator, 1))
        status = error_no_memory(apply->error);
    else
        status = item_note(apply, UNDO_MADE_TABLE, table, NULL, 0, NULL);
    if (status != PETAL_OK) {
        manifest_table_free(table, apply->allocator);
        return status;
    }
    /* Ids only grow: it is the last. */
    assert(manifest->table_count == 0 || manifest->tables[manifest->table_count - 1]->id < id);
    manifest->tables[manifest->table_count++] = table;
    manifest->next_table_id = id + 1;
    manifest_name_add(manifest, table);
    return PETAL_OK;
}

/* The name is given once, when a table or family is made; so is what makes a table a snapshot. */
static enum petal_status
check_no_name(const struct apply *apply, const struct attributes *attributes)
{
    if (((attributes->seen >> MANIFEST_NAME | attributes->seen >> MANIFEST_SNAPSHOT) & 1) == 0)
        return PETAL_OK;
    return error_set(apply->error, PETAL_INVALID,
                     "an edit changes the name of a table or family, which no edit may do");
}

/* Put the attributes into the table in place of those it has. */
enum petal_status
apply_alter_table(const struct apply *apply, const struct item *item)
{
    const struct attributes *attributes = item->attributes;
    struct manifest_table *table = item->table;
    const petal_attribute *texts;
    enum petal_status status = check_no_name(apply, attributes);

    if (status == PETAL_OK)
        status = attributes_check(attributes->texts, attributes->text_count, true, apply->error);
    if (status != PETAL_OK)
        return status;
    if (!attributes_copy(&texts, attributes->texts, attributes->text_count, apply->allocator))
        return error_no_memory(apply->error);
    status = item_note(apply, UNDO_ALTERED_TABLE, table, NULL, 0, table);
    if (status != PETAL_OK) {
        attributes_free(texts, attributes->text_count, apply->allocator);
        return status;
    }
    table->attributes = texts;
    table->attribute_count = attributes->text_count;
    table->durability = (enum petal_durability)attributes->durability;
    table->read_only = attributes->read_only;
    return PETAL_OK;
}

enum petal_status
apply_drop_table(const struct apply *apply, const struct item *item)
{
    struct manifest *manifest = apply->manifest;
    struct manifest_table *table = item->table;
    size_t place = manifest_place_of(manifest, table->id);
    enum petal_status status = item_note(apply, UNDO_DROPPED_TABLE, table, NULL, place, NULL);

    assert(manifest->tables[place] == table);
    if (status != PETAL_OK)
        return status;
    manifest_name_remove(manifest, table);
    manifest_table_leave(manifest, table);
    manifest->table_count--;
    memmove(&manifest->tables[place], &manifest->tables[place + 1],
            (manifest->table_count - place) * sizeof(struct manifest_table *));
    return PETAL_OK;
}

/* ---- families ---- */

enum petal_status
apply_create_family(const struct apply *apply, const struct item *item)
{
    struct manifest_table *table = item->table;
    uint16_t id = get_le16(item->payload + 4);
    struct manifest_family family = {.id = id};
    char text[NAME_TEXT_BYTES];
    enum petal_status status =
        family_options_resolve(&family.options, &item->attributes->family, apply->error);

    if (status != PETAL_OK)
        return status;
    for (size_t i = 0; i < table->family_count; i++) {
        petal_slice name = table->families[i].options.name;

        if (table->families[i].id == id || slice_equal(name, family.options.name))
            return error_set(apply->error, PETAL_INVALID,
                             "family %u, %s, of table %u is created twice", id,
                             error_quote(family.options.name, text, sizeof text), table->id);
    }
    if (id < table->next_family_id || id == UINT16_MAX)
        return error_set(apply->error, PETAL_INVALID,
                         "family id %u of table %u; the next one is %u", id, table->id,
                         table->next_family_id);
    if (!mem_grow_array(apply->allocator, &table->families, &table->family_capacity,
                        table->family_count, table->family_count + 1, sizeof family) ||
        !manifest_own_options(&family.options, apply->allocator))
        return error_no_memory(apply->error);
    family.stores = mem_zalloc(apply->allocator, table->region_count * sizeof *family.stores);
    if (family.stores == NULL) {
        manifest_free_options(&family.options, apply->allocator);
        return error_no_memory(apply->error);
    }
    family.store_capacity = table->region_count;
    status = item_note(apply, UNDO_MADE_FAMILY, table, &table->families[table->family_count],
                       table->next_family_id, NULL);
    if (status != PETAL_OK) {
        manifest_family_fini(&family, table->region_count, apply->allocator);
        return status;
    }
    table->families[table->family_count++] = family;
    table->next_family_id = id + 1u;
    return PETAL_OK;
}

/* Put the attributes into the family in place of those it has, all but the name. */
enum petal_status
apply_alter_family(const struct apply *apply, const struct item *item)
{
    struct attributes *attributes = item->attributes;
    struct manifest_family *family = item->family;
    petal_family_options options;
    enum petal_status status = check_no_name(apply, attributes);

    attributes->family.name = family->options.name;
    if (status == PETAL_OK)
        status = family_options_resolve(&options, &attributes->family, apply->error);
    if (status != PETAL_OK)
        return status;
    if (!manifest_own_options(&options, apply->allocator))
        return error_no_memory(apply->error);
    status = item_note(apply, UNDO_ALTERED_FAMILY, item->table, family, 0, &family->options);
    if (status != PETAL_OK) {
        manifest_free_options(&options, apply->allocator);
        return status;
    }
    family->options = options;
    return PETAL_OK;
}

enum petal_status
apply_drop_family(const struct apply *apply, const struct item *item)
{
    struct manifest_table *table = item->table;
    struct manifest_family *family = item->family;
    enum petal_status status =
        item_note(apply, UNDO_DROPPED_FAMILY, table, family, table->region_count, family);

    if (status != PETAL_OK)
        return status;
    for (size_t i = 0; i < table->region_count; i++)
        manifest_numbers_remove(apply->manifest, &family->stores[i]);
    assert(family >= table->families && family < table->families + table->family_count);
    table->family_count--;
    memmove(family, family + 1,
            (table->family_count - (size_t)(family - table->families)) * sizeof *family);
    return PETAL_OK;
}

enum petal_status
apply_next_family(const struct apply *apply, const struct item *item)
{
    struct manifest_table *table = item->table;
    uint16_t next = get_le16(item->payload + 4);
    enum petal_status status = PETAL_OK;

    if (next > table->next_family_id) {
        status = item_note(apply, UNDO_NEXT_FAMILY, table, NULL, table->next_family_id, NULL);
        if (status == PETAL_OK)
            table->next_family_id = next;
    }
    return status;
}

/* ---- regions ---- */

/* A region is a store a family. */
static enum petal_status
check_has_families(const struct apply *apply, const struct manifest_table *table, uint32_t region)
{
    if (table->family_count > 0)
        return PETAL_OK;
    return error_set(apply->error, PETAL_INVALID, "region %u is of table %u, which has no families",
                     region, table->id);
}

enum petal_status
apply_create_region(const struct apply *apply, const struct item *item)
{
    struct manifest *manifest = apply->manifest;
    struct manifest_table *table = item->table;
    uint32_t id = get_le32(item->payload + 4);
    petal_slice start = slice_make(item->payload + MANIFEST_CREATE_REGION_BYTES,
                                   item->size - MANIFEST_CREATE_REGION_BYTES);
    struct manifest_region *region;
    struct manifest_store *stores;
    enum petal_status status = check_has_families(apply, table, id);

    if (status != PETAL_OK)
        return status;
    if (id == 0 || id == UINT32_MAX || manifest_find_region(manifest, id) != NULL)
        return error_set(apply->error, PETAL_INVALID, "region %u of table %u is created twice", id,
                         table->id);
    if (start.size == 0 || start.size > PETAL_MAX_ROW_BYTES ||
        slice_equal(table->regions[manifest_region_of(table, start)]->start, start))
        return error_set(apply->error, PETAL_INVALID,
                         "region %u of table %u starts where another does, or at no row", id,
                         table->id);
    if (!manifest_region_reserve(manifest, table, apply->allocator))
        return error_no_memory(apply->error);
    region = manifest_region_new(table, id, start, apply->allocator);
    stores = mem_zalloc(apply->allocator, table->family_count * sizeof *stores);
    if (region == NULL || stores == NULL) {
        status = error_no_memory(apply->error);
    } else {
        struct item made = {.table = table, .region = region};

        region->split_ms = (int64_t)get_le64(item->payload + 8);
        region->place = manifest_region_of(table, start) + 1;
        status = item_note_store(apply, UNDO_MADE_REGION, &made, 0, NULL);
    }
    if (status == PETAL_OK) {
        manifest_region_insert(manifest, region, stores);
        if (id >= manifest->next_table_id)
            manifest->next_table_id = id + 1;
    } else if (region != NULL) {
        manifest_region_free(region, apply->allocator);
    }
    mem_free(apply->allocator, stores, table->family_count * sizeof *stores);
    return status;
}

enum petal_status
apply_drop_region(const struct apply *apply, const struct item *item)
{
    struct manifest *manifest = apply->manifest;
    struct manifest_table *table = item->table;
    uint32_t id = get_le32(item->payload + 4);
    struct manifest_region *region = manifest_find_region(manifest, id);
    struct dropped_region dropped = {.region = region, .store_count = table->family_count};
    enum petal_status status = check_has_families(apply, table, id);

    if (status != PETAL_OK)
        return status;
    if (region == NULL || region->table != table || region->place == 0)
        return error_set(apply->error, PETAL_INVALID,
                         "an edit drops region %u of table %u, which is not there, or its first",
                         id, table->id);
    dropped.stores = mem_zalloc(apply->allocator, dropped.store_count * sizeof *dropped.stores);
    if (dropped.stores == NULL)
        return error_no_memory(apply->error);
    status = item_note(apply, UNDO_DROPPED_REGION, table, NULL, 0, &dropped);
    if (status == PETAL_OK)
        manifest_region_remove(manifest, region, dropped.stores, apply->allocator);
    else
        mem_free(apply->allocator, dropped.stores, dropped.store_count * sizeof *dropped.stores);
    return status;
}
