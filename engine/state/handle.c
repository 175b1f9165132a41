/* handle.c -- see handle.h. */
#include "engine/state/handle.h"

#include "base/checksum.h"

#include <assert.h>

/* ---- making, describing, freeing ---- */

petal_family *
family_new(petal_table *table, uint16_t id, size_t slot, const petal_family_options *options)
{
    const petal_allocator *allocator = table->schema->env->allocator;
    petal_family *family = mem_zalloc(allocator, sizeof *family + options->name.size);
    struct family_descriptor *descriptor;

    if (family == NULL)
        return NULL;
    descriptor = family_descriptor_new(options, allocator);
    if (descriptor == NULL) {
        mem_free(allocator, family, sizeof *family + options->name.size);
        return NULL;
    }
    family->table = table;
    family->key_values = (petal_kv){.table = table, .family = family};
    family->id = id;
    family->slot = slot;
    memcpy(family + 1, options->name.data, options->name.size);
    family->name = slice_make(family + 1, options->name.size);
    atomic_init(&family->descriptor, descriptor);
    atomic_init(&family->dropped, false);
    return family;
}

struct store *
store_new(petal_family *family, uint32_t region, int64_t split_ms, petal_slice start)
{
    struct store *store =
        mem_zalloc(family->table->schema->env->allocator, sizeof *store + start.size);

    if (store == NULL)
        return NULL;
    store->family = family;
    store->slot = family->slot;
    store->region = region;
    store->split_ms = split_ms;
    if (start.size > 0)
        memcpy(store + 1, start.data, start.size);
    store->start = slice_make(store + 1, start.size);
    atomic_init(&store->merged, false);
    atomic_init(&store->deleted_stay_us, 0);
    store->next = family->all_stores;
    family->all_stores = store;
    return store;
}

struct store *
store_map_search(const struct store_map *map, petal_slice row)
{
    const struct store_place *place = map->places;
    uint64_t row_head = slice_head(row, 0);

    assert(map->count > 0);
    for (size_t count = map->count; count > 1;) {
        size_t half = count / 2;
        uint64_t head = place[half].start_head;

        if (head < row_head ||
            (head == row_head && slice_compare(place[half].store->start, row) <= 0))
            place += half;
        count -= half;
    }
    return place->store;
}

bool
family_reserve_stores(petal_family *family, size_t more)
{
    struct store_map *map = &family->stores;

    return mem_grow_array(family->table->schema->env->allocator, &map->places, &map->capacity,
                          map->count, map->count + more, sizeof *map->places);
}

void
family_show_store(petal_family *family, struct store *store)
{
    struct store_map *map = &family->stores;
    size_t place = map->count;

    assert(map->count < map->capacity);
    while (place > 0 && slice_compare(map->places[place - 1].store->start, store->start) > 0)
        place--;
    memmove(&map->places[place + 1], &map->places[place],
            (map->count - place) * sizeof *map->places);
    map->places[place] = (struct store_place){slice_head(store->start, 0), store};
    map->count++;
}

void
family_hide_store(petal_family *family, const struct store *store)
{
    struct store_map *map = &family->stores;
    size_t place = 0;

    while (map->places[place].store != store)
        place++;
    map->count--;
    memmove(&map->places[place], &map->places[place + 1],
            (map->count - place) * sizeof *map->places);
}

void
store_free_newest(struct store *store)
{
    petal_family *family = store->family;

    assert(family->all_stores == store);
    family->all_stores = store->next;
    mem_free(family->table->schema->env->allocator, store, sizeof *store + store->start.size);
}

struct store *
family_store(const petal_family *family, uint32_t region)
{
    struct store *store = family->all_stores;

    while (store != NULL &&
           (store->region != region || atomic_load_explicit(&store->merged, memory_order_relaxed)))
        store = store->next;
    return store;
}

/* The descriptors are the handles' own; nothing but alter and these two change or free them. */
static struct family_descriptor *
own_family_descriptor(petal_family *family)
{
    union {
        const struct family_descriptor *lent;
        struct family_descriptor *owned;
    } descriptor = {atomic_load_explicit(&family->descriptor, memory_order_relaxed)};

    return descriptor.owned;
}

static struct table_descriptor *
own_table_descriptor(petal_table *table)
{
    union {
        const struct table_descriptor *lent;
        struct table_descriptor *owned;
    } descriptor = {atomic_load_explicit(&table->descriptor, memory_order_relaxed)};

    return descriptor.owned;
}

void
family_free(petal_family *family)
{
    const petal_allocator *allocator;

    if (family == NULL)
        return;
    allocator = family->table->schema->env->allocator;
    family_descriptor_free(family->next_descriptor, allocator);
    family_descriptor_free(own_family_descriptor(family), allocator);
    mem_free(allocator, family->stores.places,
             family->stores.capacity * sizeof *family->stores.places);
    while (family->all_stores != NULL)
        store_free_newest(family->all_stores);
    mem_free(allocator, family, sizeof *family + family->name.size);
}

void
family_describe(petal_family *family, struct family_descriptor *descriptor)
{
    assert_held(&family->table->schema->mutex);
    descriptor->before = own_family_descriptor(family);
    atomic_store_explicit(&family->descriptor, descriptor, memory_order_release);
}

void
table_describe(petal_table *table, struct table_descriptor *descriptor)
{
    assert_held(&table->schema->mutex);
    descriptor->before = own_table_descriptor(table);
    atomic_store_explicit(&table->descriptor, descriptor, memory_order_release);
}

void
table_free(petal_table *table)
{
    const petal_allocator *allocator;

    if (table == NULL)
        return;
    allocator = table->schema->env->allocator;
    while (table->all_families != NULL) {
        petal_family *family = table->all_families;

        table->all_families = family->next;
        family_free(family);
    }
    table_descriptor_free(table->next_descriptor, allocator);
    table_descriptor_free(own_table_descriptor(table), allocator);
    mem_free(allocator, table, sizeof *table + table->name.size);
}

/* The families of a table of the manifest, their stores, and the first descriptor. */
static enum petal_status
attach_families(petal_table *table, const struct manifest_table *described)
{
    struct schema *schema = table->schema;
    petal_table_options options = {
        .name = table->name,
        .durability = described->durability,
        .read_only = described->read_only,
        .attributes = described->attributes,
        .attribute_count = described->attribute_count,
    };
    struct table_descriptor *descriptor =
        table_descriptor_new(&options, described->family_count, schema->env->allocator);

    if (descriptor == NULL)
        return PETAL_NO_MEMORY;
    table_describe(table, descriptor);
    for (size_t i = 0; i < described->family_count; i++) {
        const struct manifest_family *from = &described->families[i];
        petal_family *family = family_new(table, from->id, schema->slot_count, &from->options);

        if (family == NULL)
            return PETAL_NO_MEMORY;
        schema->slot_count++;
        family->next = table->all_families;
        table->all_families = family;
        family_note_stamped(family, from->ahead);
        for (size_t k = 0; k < described->region_count; k++) {
            const struct manifest_region *region = described->regions[k];

            struct store *store = store_new(family, region->id, region->split_ms, region->start);

            if (store == NULL || !family_reserve_stores(family, 1))
                return PETAL_NO_MEMORY;
            family_show_store(family, store);
        }
        table_descriptor_set(descriptor, i, family, family_options(family));
    }
    table_descriptor_sort(descriptor);
    return PETAL_OK;
}

/* ---- finding tables ---- */

static uint64_t
hash_of_name(const struct schema *schema, petal_slice name)
{
    return checksum_at(schema->salt, 0, name.data, name.size);
}

static uint64_t
address_of(const petal_table *table)
{
    return (uint64_t)(uintptr_t)table;
}

static petal_table *
table_at(uint64_t address)
{
    return (petal_table *)(uintptr_t)address;
}

static void
enlist(petal_table *table, petal_table **list)
{
    table->next = *list;
    table->link = list;
    if (table->next != NULL)
        table->next->link = &table->next;
    *list = table;
}

static void
delist(petal_table *table)
{
    assert(*table->link == table);
    *table->link = table->next;
    if (table->next != NULL)
        table->next->link = table->link;
}

enum petal_status
table_attach(struct schema *schema, const struct manifest_table *described, petal_table **table)
{
    petal_table *made = mem_zalloc(schema->env->allocator, sizeof *made + described->name.size);

    assert_held(&schema->mutex);
    *table = NULL;
    if (made == NULL)
        return PETAL_NO_MEMORY;
    made->db = schema->db;
    made->schema = schema;
    made->id = described->id;
    atomic_init(&made->dropped, false);
    atomic_init(&made->descriptor, NULL);
    memcpy(made + 1, described->name.data, described->name.size);
    made->name = slice_make(made + 1, described->name.size);
    if (!number_map_reserve(&schema->by_name, schema->env->allocator, 1) ||
        !number_map_reserve(&schema->by_id, schema->env->allocator, 1) ||
        attach_families(made, described) != PETAL_OK) {
        table_free(made);
        return PETAL_NO_MEMORY;
    }
    enlist(made, &schema->tables);
    number_map_add(&schema->by_name, hash_of_name(schema, made->name), address_of(made));
    number_map_add(&schema->by_id, made->id, address_of(made));
    *table = made;
    return PETAL_OK;
}

/* Do both have the same attributes, as the manifest has them? The edit has first those of one, of
 * so many bytes, then those of the other; it is given up. */
static enum petal_status
end_comparison(struct manifest_edit *edit, size_t first, bool *same)
{
    enum petal_status status = edit->failed ? PETAL_NO_MEMORY : PETAL_OK;

    *same = !edit->failed && edit->size == 2 * first &&
            memcmp(edit->bytes, edit->bytes + first, first) == 0;
    manifest_edit_fini(edit);
    return status;
}

static enum petal_status
compare_families(const petal_family_options *a, const petal_family_options *b,
                 const petal_allocator *allocator, bool *same)
{
    struct manifest_edit edit;
    size_t first;

    manifest_edit_init(&edit, allocator);
    manifest_edit_alter_family(&edit, 0, 0, a);
    first = edit.size;
    manifest_edit_alter_family(&edit, 0, 0, b);
    return end_comparison(&edit, first, same);
}

static enum petal_status
compare_tables(const petal_table_options *a, const petal_table_options *b,
               const petal_allocator *allocator, bool *same)
{
    struct manifest_edit edit;
    size_t first;

    manifest_edit_init(&edit, allocator);
    manifest_edit_alter_table(&edit, 0, a);
    first = edit.size;
    manifest_edit_alter_table(&edit, 0, b);
    return end_comparison(&edit, first, same);
}

/* The family of that description, made, or with its next descriptor; NULL: no memory. *changes: it
 * is one of these. */
static petal_family *
follow_family(petal_table *table, const struct manifest_family *described, bool *changes)
{
    struct schema *schema = table->schema;
    const petal_allocator *allocator = schema->env->allocator;
    petal_family *family = table_family_by_id(table, described->id);
    bool same;

    if (family == NULL) {
        family = family_new(table, described->id, schema->slot_count, &described->options);
        if (family == NULL)
            return NULL;
        schema->slot_count++;
        family->next = table->all_families;
        table->all_families = family;
        *changes = true;
        return family;
    }
    if (compare_families(family_options(family), &described->options, allocator, &same) != PETAL_OK)
        return NULL;
    if (same)
        return family;
    family->next_descriptor = family_descriptor_new(&described->options, allocator);
    *changes = true;
    return family->next_descriptor != NULL ? family : NULL;
}

static void
forget_next(petal_table *table)
{
    const petal_allocator *allocator = table->schema->env->allocator;

    table_descriptor_free(table->next_descriptor, allocator);
    table->next_descriptor = NULL;
    for (petal_family *family = table->all_families; family != NULL; family = family->next) {
        family_descriptor_free(family->next_descriptor, allocator);
        family->next_descriptor = NULL;
    }
}

static bool
has_family(const struct table_descriptor *descriptor, const petal_family *family)
{
    for (size_t i = 0; i < descriptor->family_count; i++) {
        if (descriptor->families[i] == family)
            return true;
    }
    return false;
}

static enum petal_status
prepare_next(petal_table *table, const struct manifest_table *described, bool *changes)
{
    const petal_allocator *allocator = table->schema->env->allocator;
    const struct table_descriptor *present = table_descriptor(table);
    petal_table_options options = {
        .name = table->name,
        .durability = described->durability,
        .read_only = described->read_only,
        .attributes = described->attributes,
        .attribute_count = described->attribute_count,
    };
    struct table_descriptor *next =
        table_descriptor_new(&options, described->family_count, allocator);
    bool same;

    table->next_descriptor = next;
    if (next == NULL ||
        compare_tables(table_options(table), &options, allocator, &same) != PETAL_OK)
        return PETAL_NO_MEMORY;
    *changes = !same || present->family_count != described->family_count;
    for (size_t i = 0; i < described->family_count; i++) {
        petal_family *family = follow_family(table, &described->families[i], changes);

        if (family == NULL)
            return PETAL_NO_MEMORY;
        *changes = *changes || !has_family(present, family);
        table_descriptor_set(next, i, family,
                             family->next_descriptor != NULL ? &family->next_descriptor->options
                                                             : family_options(family));
    }
    table_descriptor_sort(next);
    return PETAL_OK;
}

enum petal_status
table_follow(petal_table *table, const struct manifest_table *described)
{
    bool changes = false;
    enum petal_status status;

    assert_held(&table->schema->mutex);
    forget_next(table);
    status = prepare_next(table, described, &changes);
    if (status != PETAL_OK || !changes)
        forget_next(table);
    return status;
}

void
table_show_next(petal_table *table)
{
    const struct table_descriptor *present = table_descriptor(table);
    struct table_descriptor *next = table->next_descriptor;

    assert_held(&table->schema->mutex);
    if (next == NULL)
        return;
    for (size_t i = 0; i < present->family_count; i++) {
        if (!has_family(next, present->families[i]))
            atomic_store_explicit(&present->families[i]->dropped, true, memory_order_release);
    }
    for (petal_family *family = table->all_families; family != NULL; family = family->next) {
        if (family->next_descriptor != NULL)
            family_describe(family, family->next_descriptor);
        family->next_descriptor = NULL;
    }
    table_describe(table, next);
    table->next_descriptor = NULL;
}

void
table_retire(petal_table *table)
{
    struct schema *schema = table->schema;

    assert_held(&schema->mutex);
    number_map_remove(&schema->by_name, hash_of_name(schema, table->name), address_of(table));
    delist(table);
    enlist(table, &schema->dropped);
}

void
table_change_id(petal_table *table, uint32_t id)
{
    assert_held(&table->schema->mutex);
    number_map_remove(&table->schema->by_id, table->id, address_of(table));
    for (petal_family *family = table->all_families; family != NULL; family = family->next) {
        for (struct store *store = family->all_stores; store != NULL; store = store->next)
            store->region = id + (store->region - table->id);
    }
    table->id = id;
    number_map_add(&table->schema->by_id, table->id, address_of(table));
}

void
table_detach(petal_table *table)
{
    struct schema *schema = table->schema;

    assert_held(&schema->mutex);
    number_map_remove(&schema->by_name, hash_of_name(schema, table->name), address_of(table));
    number_map_remove(&schema->by_id, table->id, address_of(table));
    delist(table);
}

/* ---- what the engine asks of them ---- */

petal_table *
table_by_id(const struct schema *schema, uint32_t id)
{
    size_t place = 0;
    uint64_t address;

    return number_map_next(&schema->by_id, id, &place, &address) ? table_at(address) : NULL;
}

petal_table *
table_by_name(const struct schema *schema, petal_slice name)
{
    uint64_t hash = hash_of_name(schema, name), address;
    size_t place = 0;

    assert_held(&schema->mutex);
    while (number_map_next(&schema->by_name, hash, &place, &address)) {
        petal_table *table = table_at(address);

        if (!table_is_dropped(table) && slice_equal(table->name, name))
            return table;
    }
    return NULL;
}

petal_family *
table_family_by_id(petal_table *table, uint16_t id)
{
    for (petal_family *family = table->all_families; family != NULL; family = family->next) {
        if (family->id == id)
            return family;
    }
    return NULL;
}

enum petal_status
table_check_alive(const petal_table *table, petal_error *error)
{
    char quoted[160];

    if (!table_is_dropped(table))
        return PETAL_OK;
    return error_set(error, PETAL_NOT_FOUND, "table %s was dropped",
                     error_quote(table->name, quoted, sizeof quoted));
}

enum petal_status
family_check_alive(const petal_family *family, petal_error *error)
{
    char quoted_family[160], quoted_table[160];

    if (!family_is_dropped(family))
        return PETAL_OK;
    if (table_is_dropped(family->table))
        return table_check_alive(family->table, error);
    return error_set(error, PETAL_NOT_FOUND, "column family %s of table %s was dropped",
                     error_quote(family->name, quoted_family, sizeof quoted_family),
                     error_quote(family->table->name, quoted_table, sizeof quoted_table));
}

enum petal_status
store_check_alive(const struct store *store, petal_error *error)
{
    enum petal_status status = family_check_alive(store->family, error);
    char quoted[160];

    if (status != PETAL_OK || !store_is_dropped(store))
        return status;
    return error_set(error, PETAL_BUSY, "region %u of table %s was merged into another",
                     store->region, error_quote(store->family->table->name, quoted, sizeof quoted));
}

/* ---- public calls ---- */

petal_slice
petal_table_name(const petal_table *table)
{
    return table != NULL ? table->name : slice_make(NULL, 0);
}

enum petal_durability
petal_table_durability(const petal_table *table)
{
    return table != NULL ? table_options(table)->durability : PETAL_DURABILITY_DEFAULT;
}

size_t
petal_table_family_count(const petal_table *table)
{
    return table != NULL ? table_descriptor(table)->family_count : 0;
}

petal_family *
petal_table_family_at(const petal_table *table, size_t index)
{
    const struct table_descriptor *descriptor = table != NULL ? table_descriptor(table) : NULL;

    return descriptor != NULL && index < descriptor->family_count ? descriptor->families[index]
                                                                  : NULL;
}

/* Fill a caller's struct that begins with its size (0: all of it). */
static void
describe(void *to, const void *from, size_t known_bytes)
{
    size_t given, size;

    if (to == NULL)
        return;
    memcpy(&given, to, sizeof given);
    size = given == 0 || given > known_bytes ? known_bytes : given;
    if (from != NULL)
        memcpy(to, from, size);
    else
        memset(to, 0, size);
    memcpy(to, &size, sizeof size);
}

void
petal_table_describe(const petal_table *table, petal_table_options *options)
{
    describe(options, table != NULL ? table_options(table) : NULL, sizeof *options);
}

void
petal_family_describe(const petal_family *family, petal_family_options *options)
{
    describe(options, family != NULL ? family_options(family) : NULL, sizeof *options);
}

petal_slice
petal_family_name(const petal_family *family)
{
    return family != NULL ? family->name : slice_make(NULL, 0);
}
