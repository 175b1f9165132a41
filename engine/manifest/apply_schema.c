/* apply_schema.c -- applies what an edit says of tables, families and their attributes; see engine/manifest/apply.h. */
#include "base/coding.h"
#include "base/mem.h"
#include "base/slice.h"
#include "engine/attributes.h"
#include "engine/manifest/apply.h"
#include "engine/options.h"

#define NAME_TEXT_BYTES 160

/* ---- attributes ---- */

/* All attributes that an item can hold; name.size 0: none given.  All slices lie in the item. */
struct attributes {
    petal_family_options family;
    uint32_t durability;
    bool read_only;
    struct manifest_snapshot snapshot;
    petal_attribute *texts; /* also in `family` */
    size_t text_count, text_capacity;
    uint32_t seen; /* bits by tag */
};

static void
attributes_fini(struct attributes *attributes, const petal_allocator *allocator)
{
    mem_free(allocator, attributes->texts, attributes->text_capacity * sizeof *attributes->texts);
}

static enum petal_status
take_u32(const struct apply *apply, const struct item *item, uint32_t most, uint32_t *value)
{
    enum petal_status status = apply_check_size(apply, item, 4);

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
    enum petal_status status = apply_check_size(apply, item, 8);
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
                         "a text attribute of kind %d is of a newer version", (int)text.kind);
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

/* Those that a new family has besides the ones of take_attribute; *known is false for other tags. */
static enum petal_status
take_version_attribute(const struct apply *apply, const struct item *item,
                       petal_family_options *family, bool *known)
{
    enum petal_status status;
    uint32_t value = 0;

    *known = true;
    switch (item->tag) {
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
        *known = false;
        return PETAL_OK;
    }
}

static enum petal_status
take_attribute(const struct apply *apply, const struct item *item, bool of_table,
               struct attributes *attributes)
{
    petal_family_options *family = &attributes->family;
    enum petal_status status;
    uint32_t value = 0;
    bool known;

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
    case MANIFEST_IN_MEMORY:
        return take_bool(apply, item, &family->in_memory);
    case MANIFEST_NO_BLOCK_CACHE:
        return take_bool(apply, item, &family->no_block_cache);
    default:
        status = take_version_attribute(apply, item, family, &known);
        if (!known && item->tag < MANIFEST_OPTIONAL_TAG)
            status = error_set(apply->error, PETAL_UNSUPPORTED,
                               "attribute %u is of a newer version", item->tag);
        return status;
    }
}

/* The attributes behind the ids of an item; attributes_fini, also on failure. */
static enum petal_status
take_attributes(const struct apply *apply, const struct item *whole, bool of_table,
                struct attributes *attributes)
{
    petal_slice items =
        slice_make(whole->payload + MANIFEST_IDS_BYTES, whole->size - MANIFEST_IDS_BYTES);
    enum petal_status status = PETAL_OK;

    memset(attributes, 0, sizeof *attributes);
    while (status == PETAL_OK && items.size > 0) {
        struct item item = {0};

        status = apply_take_item(apply, &items, &item);
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

/* Put the attributes into the table in place of those it has. */
static enum petal_status
set_table_attributes(const struct apply *apply, struct manifest_table *table,
                     const struct attributes *attributes)
{
    const petal_attribute *texts;
    enum petal_status status =
        attributes_check(attributes->texts, attributes->text_count, true, apply->error);

    if (status != PETAL_OK)
        return status;
    if (!attributes_copy(&texts, attributes->texts, attributes->text_count, apply->allocator))
        return error_no_memory(apply->error);
    attributes_free(table->attributes, table->attribute_count, apply->allocator);
    table->attributes = texts;
    table->attribute_count = attributes->text_count;
    table->durability = (enum petal_durability)attributes->durability;
    table->read_only = attributes->read_only;
    return PETAL_OK;
}

static enum petal_status
check_new_table(const struct apply *apply, uint32_t id, const struct attributes *attributes)
{
    const struct manifest *manifest = apply->manifest;
    enum petal_status status = table_name_check(attributes->family.name, apply->error);

    if (status != PETAL_OK)
        return status;
    if (id < manifest->next_table_id || id == UINT32_MAX)
        return error_set(apply->error, PETAL_INVALID, "table id %u; the next one is %u", id,
                         manifest->next_table_id);
    return PETAL_OK;
}

static enum petal_status
add_table(const struct apply *apply, uint32_t id, const struct attributes *attributes)
{
    struct manifest *manifest = apply->manifest;
    struct manifest_table *table;
    enum petal_status status = check_new_table(apply, id, attributes);

    if (status != PETAL_OK)
        return status;
    if (!mem_grow_array(apply->allocator, &manifest->tables, &manifest->table_capacity,
                        manifest->table_count, manifest->table_count + 1,
                        sizeof(struct manifest_table *)) ||
        !apply_touch(apply, id, NULL))
        return error_no_memory(apply->error);
    table = mem_zalloc(apply->allocator, sizeof *table);
    if (table == NULL)
        return error_no_memory(apply->error);
    /* Ids only grow: it is the last. */
    manifest->tables[manifest->table_count++] = table;
    *table = (struct manifest_table){.id = id, .snapshot = attributes->snapshot, .changing = true};
    table->snapshot.name = slice_make(NULL, 0);
    if (!manifest_copy_name(&table->name, attributes->family.name, apply->allocator) ||
        (attributes->snapshot.name.size > 0 &&
         !manifest_copy_name(&table->snapshot.name, attributes->snapshot.name, apply->allocator)))
        return error_no_memory(apply->error);
    manifest->next_table_id = id + 1;
    return set_table_attributes(apply, table, attributes);
}

enum petal_status
apply_create_table(const struct apply *apply, const struct item *item)
{
    struct attributes attributes;
    enum petal_status status = take_attributes(apply, item, true, &attributes);

    if (status == PETAL_OK)
        status = add_table(apply, get_le32(item->payload), &attributes);
    attributes_fini(&attributes, apply->allocator);
    return status;
}

/* The name is given once, when a table or family is made; so is what makes a table a snapshot. */
static enum petal_status
check_no_name(const struct apply *apply, const struct attributes *attributes)
{
    if (((attributes->seen >> MANIFEST_NAME | attributes->seen >> MANIFEST_SNAPSHOT) & 1) == 0)
        return PETAL_OK;
    return error_set(apply->error, PETAL_INVALID, "an edit alters a name");
}

enum petal_status
apply_alter_table(const struct apply *apply, const struct item *item)
{
    struct manifest_table *table;
    struct attributes attributes;
    enum petal_status status = apply_find_table(apply, get_le32(item->payload), &table);

    if (status != PETAL_OK)
        return status;
    status = take_attributes(apply, item, true, &attributes);
    if (status == PETAL_OK)
        status = check_no_name(apply, &attributes);
    if (status == PETAL_OK)
        status = set_table_attributes(apply, table, &attributes);
    attributes_fini(&attributes, apply->allocator);
    return status;
}

enum petal_status
apply_drop_table(const struct apply *apply, const struct item *item)
{
    struct manifest *manifest = apply->manifest;
    size_t place;
    enum petal_status status = apply_find_place(apply, get_le32(item->payload), &place);
    struct manifest_table **at;

    if (status != PETAL_OK)
        return status;
    at = &manifest->tables[place];
    if ((*at)->changing)
        manifest_table_free(*at, apply->allocator);
    else if (!apply_touch(apply, (*at)->id, *at))
        return error_no_memory(apply->error);
    memmove(at, at + 1, (manifest->table_count - place - 1) * sizeof(struct manifest_table *));
    manifest->table_count--;
    return PETAL_OK;
}

/* ---- families ---- */

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
    if (id < table->next_family_id || id == UINT16_MAX)
        return error_set(apply->error, PETAL_INVALID,
                         "family id %u of table %u; the next one is %u", id, table->id,
                         table->next_family_id);
    return PETAL_OK;
}

static enum petal_status
add_family(const struct apply *apply, struct manifest_table *table, uint16_t id,
           const struct attributes *attributes)
{
    struct manifest_family family = {.id = id};
    void *array = table->families;
    enum petal_status status =
        family_options_resolve(&family.options, &attributes->family, apply->error);

    if (status == PETAL_OK)
        status = check_new_family(apply, table, id, family.options.name);
    if (status != PETAL_OK)
        return status;
    if (!mem_grow(apply->allocator, &array, &table->family_capacity, table->family_count,
                  table->family_count + 1, sizeof family))
        return error_no_memory(apply->error);
    table->families = array;
    if (!manifest_own_options(&family.options, apply->allocator))
        return error_no_memory(apply->error);
    table->families[table->family_count++] = family;
    table->next_family_id = id + 1u;
    return PETAL_OK;
}

enum petal_status
apply_create_family(const struct apply *apply, const struct item *item)
{
    struct manifest_table *table;
    struct attributes attributes;
    enum petal_status status = apply_find_table(apply, get_le32(item->payload), &table);

    if (status != PETAL_OK)
        return status;
    status = take_attributes(apply, item, false, &attributes);
    if (status == PETAL_OK)
        status = add_family(apply, table, get_le16(item->payload + 4), &attributes);
    attributes_fini(&attributes, apply->allocator);
    return status;
}

/* Put the attributes into the family in place of those it has, all but the name. */
static enum petal_status
set_family_attributes(const struct apply *apply, struct manifest_family *family,
                      struct attributes *attributes)
{
    petal_family_options options;
    enum petal_status status;

    attributes->family.name = family->options.name;
    status = family_options_resolve(&options, &attributes->family, apply->error);
    if (status != PETAL_OK)
        return status;
    if (!manifest_own_options(&options, apply->allocator))
        return error_no_memory(apply->error);
    manifest_free_options(&family->options, apply->allocator);
    family->options = options;
    return PETAL_OK;
}

enum petal_status
apply_alter_family(const struct apply *apply, const struct item *item)
{
    struct manifest_family *family;
    struct attributes attributes;
    enum petal_status status = apply_find_family(apply, item->payload, &family);

    if (status != PETAL_OK)
        return status;
    status = take_attributes(apply, item, false, &attributes);
    if (status == PETAL_OK)
        status = check_no_name(apply, &attributes);
    if (status == PETAL_OK)
        status = set_family_attributes(apply, family, &attributes);
    attributes_fini(&attributes, apply->allocator);
    return status;
}

enum petal_status
apply_drop_family(const struct apply *apply, const struct item *item)
{
    struct manifest_table *table = NULL;
    struct manifest_family *family;
    enum petal_status status = apply_find_family(apply, item->payload, &family);
    size_t behind;

    if (status == PETAL_OK)
        status = apply_find_table(apply, get_le32(item->payload), &table);
    if (status != PETAL_OK)
        return status;
    manifest_family_fini(family, apply->allocator);
    behind = table->family_count - (size_t)(family - table->families) - 1;
    memmove(family, family + 1, behind * sizeof *family);
    table->family_count--;
    return PETAL_OK;
}

enum petal_status
apply_next_family(const struct apply *apply, const struct item *item)
{
    struct manifest_table *table;
    enum petal_status status = apply_find_table(apply, get_le32(item->payload), &table);

    if (status == PETAL_OK && get_le16(item->payload + 4) > table->next_family_id)
        table->next_family_id = get_le16(item->payload + 4);
    return status;
}
