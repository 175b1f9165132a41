/* state.c -- see state.h. */
#include "engine/manifest/state.h"

#include <assert.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "base/slice.h"
#include "engine/attributes.h"

/* ---- memory ---- */

bool
manifest_copy_name(petal_slice *copy, petal_slice name, const petal_allocator *allocator)
{
    void *memory = mem_alloc(allocator, name.size);

    if (memory == NULL)
        return false;
    memcpy(memory, name.data, name.size);
    *copy = slice_make(memory, name.size);
    return true;
}

static void
free_name(petal_slice name, const petal_allocator *allocator)
{
    union {
        const void *only;
        void *owned;
    } memory = {name.data};

    mem_free(allocator, memory.owned, name.size);
}

bool
manifest_own_options(petal_family_options *options, const petal_allocator *allocator)
{
    const petal_attribute *attributes;

    if (attributes_copy(&attributes, options->attributes, options->attribute_count, allocator)) {
        options->attributes = attributes;
        if (manifest_copy_name(&options->name, options->name, allocator))
            return true;
        attributes_free(attributes, options->attribute_count, allocator);
    }
    options->name = slice_make(NULL, 0);
    options->attributes = NULL;
    options->attribute_count = 0;
    return false;
}

void
manifest_free_options(petal_family_options *options, const petal_allocator *allocator)
{
    attributes_free(options->attributes, options->attribute_count, allocator);
    free_name(options->name, allocator);
}

void
manifest_file_fini(const struct manifest_file *file, const petal_allocator *allocator)
{
    free_name(file->first_row, allocator);
}

void
manifest_store_forget_files(struct manifest_store *store, const petal_allocator *allocator)
{
    for (size_t i = 0; i < store->file_count; i++)
        manifest_file_fini(&store->files[i], allocator);
    store->file_count = 0;
}

void
manifest_store_fini(struct manifest_store *store, const petal_allocator *allocator)
{
    manifest_store_forget_files(store, allocator);
    mem_free(allocator, store->files, store->file_capacity * sizeof *store->files);
}

void
manifest_family_fini(struct manifest_family *family, size_t region_count,
                     const petal_allocator *allocator)
{
    manifest_free_options(&family->options, allocator);
    for (size_t i = 0; i < region_count && family->stores != NULL; i++)
        manifest_store_fini(&family->stores[i], allocator);
    mem_free(allocator, family->stores, family->store_capacity * sizeof *family->stores);
}

struct manifest_region *
manifest_region_new(struct manifest_table *table, uint32_t id, petal_slice start,
                    const petal_allocator *allocator)
{
    struct manifest_region *region = mem_alloc(allocator, sizeof *region);

    if (region == NULL)
        return NULL;
    *region = (struct manifest_region){.id = id, .table = table};
    if (start.size > 0 && !manifest_copy_name(&region->start, start, allocator)) {
        mem_free(allocator, region, sizeof *region);
        return NULL;
    }
    return region;
}

void
manifest_region_free(struct manifest_region *region, const petal_allocator *allocator)
{
    free_name(region->start, allocator);
    mem_free(allocator, region, sizeof *region);
}

static void
table_fini(struct manifest_table *table, const petal_allocator *allocator)
{
    for (size_t i = 0; i < table->family_count; i++)
        manifest_family_fini(&table->families[i], table->region_count, allocator);
    mem_free(allocator, table->families, table->family_capacity * sizeof *table->families);
    for (size_t i = 0; i < table->region_count; i++)
        manifest_region_free(table->regions[i], allocator);
    mem_free(allocator, table->regions, table->region_capacity * sizeof(struct manifest_region *));
    attributes_free(table->attributes, table->attribute_count, allocator);
    free_name(table->snapshot.name, allocator);
    free_name(table->name, allocator);
}

void
manifest_table_free(struct manifest_table *table, const petal_allocator *allocator)
{
    assert(table != NULL);
    table_fini(table, allocator);
    mem_free(allocator, table, sizeof *table);
}

void
manifest_state_init(struct manifest *manifest)
{
    memset(manifest, 0, sizeof *manifest);
    manifest->next_file_number = 1;
    manifest->next_table_id = 1;
}

void
manifest_state_fini(struct manifest *manifest, const petal_allocator *allocator)
{
    for (size_t i = 0; i < manifest->table_count; i++)
        manifest_table_free(manifest->tables[i], allocator);
    mem_free(allocator, manifest->tables, manifest->table_capacity * sizeof *manifest->tables);
    manifest->tables = NULL;
    manifest->table_count = manifest->table_capacity = 0;
    number_map_fini(&manifest->numbers, allocator);
    number_map_fini(&manifest->regions, allocator);
    number_map_fini(&manifest->names, allocator);
}

static bool
copy_store(struct manifest_store *copy, const struct manifest_store *store,
           const petal_allocator *allocator)
{
    *copy = (struct manifest_store){.flushed_sequence = store->flushed_sequence};
    if (store->file_count == 0)
        return true;
    copy->files = mem_alloc(allocator, store->file_count * sizeof *copy->files);
    if (copy->files == NULL)
        return false;
    copy->file_capacity = store->file_count;
    for (size_t i = 0; i < store->file_count; i++) {
        struct manifest_file *file = &copy->files[copy->file_count];

        *file = store->files[i];
        if (file->first_row.size > 0 &&
            !manifest_copy_name(&file->first_row, file->first_row, allocator))
            return false;
        copy->file_count++;
    }
    return true;
}

/* `copy` begins without stores. */
static bool
copy_family(struct manifest_family *copy, const struct manifest_family *family, size_t region_count,
            const petal_allocator *allocator)
{
    assert(copy != family && region_count <= family->store_capacity);
    *copy = *family;
    copy->stores = NULL;
    copy->store_capacity = 0;
    if (!manifest_own_options(&copy->options, allocator))
        return false;
    copy->stores = mem_zalloc(allocator, region_count * sizeof *copy->stores);
    if (copy->stores == NULL)
        return false;
    copy->store_capacity = region_count;
    for (size_t i = 0; i < region_count; i++) {
        if (!copy_store(&copy->stores[i], &family->stores[i], allocator))
            return false;
    }
    return true;
}

static bool
copy_regions(struct manifest_table *copy, const struct manifest_table *table,
             const petal_allocator *allocator)
{
    copy->regions = mem_alloc(allocator, table->region_count * sizeof(struct manifest_region *));
    if (copy->regions == NULL)
        return false;
    copy->region_capacity = table->region_count;
    for (size_t i = 0; i < table->region_count; i++) {
        struct manifest_region *region =
            manifest_region_new(copy, table->regions[i]->id, table->regions[i]->start, allocator);

        if (region == NULL)
            return false;
        region->place = i;
        region->split_ms = table->regions[i]->split_ms;
        copy->regions[copy->region_count++] = region;
    }
    return true;
}

/* What was made of a copy that failed is there to be released. */
static bool
copy_table(struct manifest_table *copy, const struct manifest_table *table,
           const petal_allocator *allocator)
{
    assert(copy != table && table->family_count <= table->family_capacity);
    *copy = *table;
    copy->families = NULL;
    copy->family_count = copy->family_capacity = 0;
    copy->regions = NULL;
    copy->region_count = copy->region_capacity = 0;
    copy->name = copy->snapshot.name = slice_make(NULL, 0);
    copy->attributes = NULL;
    copy->attribute_count = 0;
    if (!manifest_copy_name(&copy->name, table->name, allocator) ||
        (manifest_is_snapshot(table) &&
         !manifest_copy_name(&copy->snapshot.name, table->snapshot.name, allocator)) ||
        !attributes_copy(&copy->attributes, table->attributes, table->attribute_count, allocator))
        return false;
    copy->attribute_count = table->attribute_count;
    if (!copy_regions(copy, table, allocator))
        return false;
    copy->families = mem_alloc(allocator, table->family_count * sizeof *copy->families);
    if (copy->families == NULL)
        return false;
    copy->family_capacity = table->family_count;
    for (size_t i = 0; i < table->family_count; i++) {
        copy->family_count++;
        if (!copy_family(&copy->families[i], &table->families[i], table->region_count, allocator))
            return false;
    }
    return true;
}

enum petal_status
manifest_copy_table(struct manifest_table *copy, const struct manifest_table *table,
                    const petal_allocator *allocator)
{
    if (copy_table(copy, table, allocator))
        return PETAL_OK;
    table_fini(copy, allocator);
    memset(copy, 0, sizeof *copy);
    return PETAL_NO_MEMORY;
}

void
manifest_copy_table_fini(struct manifest_table *copy, const petal_allocator *allocator)
{
    table_fini(copy, allocator);
    memset(copy, 0, sizeof *copy);
}

/* Copies of `count` tables from `tables` on, in a copy that has none. */
static enum petal_status
copy_tables(struct manifest *copy, struct manifest_table *const *tables, size_t count,
            const petal_allocator *allocator)
{
    if (count == 0)
        return PETAL_OK;
    copy->tables = mem_alloc(allocator, count * sizeof(struct manifest_table *));
    if (copy->tables == NULL)
        return PETAL_NO_MEMORY;
    copy->table_capacity = count;
    for (size_t i = 0; i < count; i++) {
        struct manifest_table *table = mem_alloc(allocator, sizeof *table);
        size_t files = 0;

        if (table != NULL && manifest_copy_table(table, tables[i], allocator) != PETAL_OK) {
            mem_free(allocator, table, sizeof *table);
            table = NULL;
        }
        if (table != NULL)
            copy->tables[copy->table_count++] = table;
        for (size_t f = 0; table != NULL && f < table->family_count; f++)
            files += manifest_file_count(table, &table->families[f]);
        if (table == NULL || !number_map_reserve(&copy->numbers, allocator, files) ||
            !number_map_reserve(&copy->regions, allocator, table->region_count) ||
            !number_map_reserve(&copy->names, allocator, 1)) {
            manifest_state_fini(copy, allocator);
            return PETAL_NO_MEMORY;
        }
        manifest_name_add(copy, table);
        manifest_table_enter(copy, table);
    }
    return PETAL_OK;
}

enum petal_status
manifest_copy(struct manifest *copy, const struct manifest *manifest,
              const petal_allocator *allocator)
{
    assert(copy != manifest && manifest->table_count <= manifest->table_capacity);
    *copy = *manifest;
    copy->writer = NULL;
    copy->tables = NULL;
    copy->table_count = copy->table_capacity = 0;
    copy->numbers = copy->regions = copy->names = (struct number_map){0};
    return copy_tables(copy, manifest->tables, manifest->table_count, allocator);
}

enum petal_status
manifest_copy_alone(struct manifest *copy, struct manifest_table *table,
                    const petal_allocator *allocator)
{
    memset(copy, 0, sizeof *copy);
    return copy_tables(copy, &table, 1, allocator);
}

void
manifest_copy_fini(struct manifest *copy, const petal_allocator *allocator)
{
    manifest_state_fini(copy, allocator);
}

/* ---- lookups ---- */

size_t
manifest_place_of(const struct manifest *manifest, uint32_t id)
{
    size_t first = 0, behind = manifest->table_count;

    while (first < behind) {
        size_t middle = first + (behind - first) / 2;

        if (manifest->tables[middle]->id < id)
            first = middle + 1;
        else
            behind = middle;
    }
    return first;
}

struct manifest_table *
manifest_find_table(const struct manifest *manifest, uint32_t id)
{
    size_t place = manifest_place_of(manifest, id);

    return place < manifest->table_count && manifest->tables[place]->id == id
               ? manifest->tables[place]
               : NULL;
}

/* Tables have their names apart from those of snapshots. */
static petal_slice
own_name(const struct manifest_table *table)
{
    return manifest_is_snapshot(table) ? table->snapshot.name : table->name;
}

static uint64_t
hash_of_name(const struct manifest *manifest, petal_slice name, bool of_snapshot)
{
    return checksum_at(manifest->salt, of_snapshot, name.data, name.size);
}

static struct manifest_table *
find_by_name(const struct manifest *manifest, petal_slice name, bool of_snapshot)
{
    uint64_t hash = hash_of_name(manifest, name, of_snapshot), id;
    size_t place = 0;

    while (number_map_next(&manifest->names, hash, &place, &id)) {
        struct manifest_table *table = manifest_find_table(manifest, (uint32_t)id);

        if (table != NULL && manifest_is_snapshot(table) == of_snapshot &&
            slice_equal(own_name(table), name))
            return table;
    }
    return NULL;
}

struct manifest_table *
manifest_find_name(const struct manifest *manifest, const struct manifest_table *table)
{
    return find_by_name(manifest, own_name(table), manifest_is_snapshot(table));
}

struct manifest_table *
manifest_find_snapshot(const struct manifest *manifest, petal_slice name)
{
    return find_by_name(manifest, name, true);
}

uint64_t
manifest_obsolete_sequence(const struct manifest *manifest)
{
    bool dropped = manifest->table_count + 1 < manifest->next_table_id;
    uint64_t flushed = 0;

    for (size_t i = 0; i < manifest->table_count; i++) {
        const struct manifest_table *table = manifest->tables[i];

        dropped = dropped || table->family_count < table->next_family_id;
        for (size_t k = 0; k < table->family_count * table->region_count; k++) {
            const struct manifest_store *store = manifest_store_at(table, k);

            if (store->flushed_sequence > flushed)
                flushed = store->flushed_sequence;
        }
    }
    return dropped ? manifest->last_sequence : flushed;
}

bool
manifest_names_file(const struct manifest *manifest, uint64_t number)
{
    size_t place = 0;
    uint64_t id;

    return number_map_next(&manifest->numbers, number, &place, &id);
}

/* No database makes so many files between two commits. */
#define MOST_NUMBERS_AHEAD ((uint64_t)1 << 32)

uint64_t
manifest_number_end(const struct manifest *manifest)
{
    return manifest->next_file_number + MOST_NUMBERS_AHEAD;
}

bool
manifest_number_possible(const struct manifest *manifest, uint64_t number)
{
    return number < manifest_number_end(manifest);
}

bool
manifest_has_known(const struct manifest *manifest, uint32_t table_id, uint16_t family_id)
{
    const struct manifest_table *table = manifest_find_table(manifest, table_id);

    if (table == NULL)
        return table_id < manifest->next_table_id;
    return family_id < table->next_family_id || manifest_find_family(table, family_id) != NULL;
}

struct manifest_family *
manifest_find_family(const struct manifest_table *table, uint16_t id)
{
    for (size_t i = 0; i < table->family_count; i++) {
        if (table->families[i].id == id)
            return &table->families[i];
    }
    return NULL;
}

struct manifest_region *
manifest_find_region(const struct manifest *manifest, uint32_t id)
{
    const struct manifest_table *table = manifest_find_table(manifest, id);
    size_t place = 0;
    uint64_t address;

    if (table != NULL)
        return table->regions[0];
    return number_map_next(&manifest->regions, id, &place, &address)
               ? (struct manifest_region *)(uintptr_t)address
               : NULL;
}

struct manifest_store *
manifest_find_store(const struct manifest *manifest, uint32_t id, uint16_t family_id)
{
    const struct manifest_region *region = manifest_find_region(manifest, id);
    const struct manifest_family *family =
        region != NULL ? manifest_find_family(region->table, family_id) : NULL;

    return family != NULL ? &family->stores[region->place] : NULL;
}

/* The place of the first region that starts after the row. */
static size_t
region_behind(const struct manifest_table *table, petal_slice row)
{
    size_t first = 0, behind = table->region_count;

    while (first < behind) {
        size_t middle = first + (behind - first) / 2;

        if (slice_compare(table->regions[middle]->start, row) <= 0)
            first = middle + 1;
        else
            behind = middle;
    }
    return first;
}

size_t
manifest_region_of(const struct manifest_table *table, petal_slice row)
{
    assert(table->region_count > 0 && table->regions[0]->start.size == 0);
    return region_behind(table, row) - 1;
}

size_t
manifest_file_count(const struct manifest_table *table, const struct manifest_family *family)
{
    size_t count = 0;

    for (size_t i = 0; i < table->region_count; i++)
        count += family->stores[i].file_count;
    return count;
}

bool
manifest_find_file(const struct manifest *manifest, const struct manifest_store *store,
                   uint64_t number, size_t *place)
{
    size_t at = 0;
    uint64_t found;

    while (number_map_next(&manifest->numbers, number, &at, &found)) {
        *place = (size_t)found; /* in this store, or in another */
        if (found < store->file_count && store->files[found].number == number)
            return true;
    }
    return false;
}

/* Do several stores have a file of that number? */
static bool
is_shared(const struct manifest *manifest, uint64_t number)
{
    size_t place = 0;
    uint64_t at;

    return number_map_next(&manifest->numbers, number, &place, &at) &&
           number_map_next(&manifest->numbers, number, &place, &at);
}

bool
manifest_earlier_has_file(const struct manifest *manifest, const struct manifest_family *family,
                          size_t region, uint64_t number)
{
    size_t place;

    if (!is_shared(manifest, number))
        return false;
    while (region-- > 0) {
        if (manifest_find_file(manifest, &family->stores[region], number, &place))
            return true;
    }
    return false;
}

/* ---- changing what lookups find ---- */

void
manifest_name_add(struct manifest *manifest, const struct manifest_table *table)
{
    assert(manifest_find_name(manifest, table) == NULL);
    number_map_add(&manifest->names,
                   hash_of_name(manifest, own_name(table), manifest_is_snapshot(table)), table->id);
}

void
manifest_name_remove(struct manifest *manifest, const struct manifest_table *table)
{
    assert(manifest->names.count > 0);
    number_map_remove(&manifest->names,
                      hash_of_name(manifest, own_name(table), manifest_is_snapshot(table)),
                      table->id);
}

void
manifest_numbers_add(struct manifest *manifest, const struct manifest_store *store)
{
    for (size_t i = 0; i < store->file_count; i++)
        number_map_add(&manifest->numbers, store->files[i].number, i);
}

void
manifest_numbers_remove(struct manifest *manifest, const struct manifest_store *store)
{
    assert(manifest->numbers.count >= store->file_count);
    for (size_t i = 0; i < store->file_count; i++)
        number_map_remove(&manifest->numbers, store->files[i].number, i);
}

void
manifest_file_insert(struct manifest *manifest, struct manifest_store *store, size_t place,
                     const struct manifest_file *file)
{
    size_t end = store->file_count++;

    assert(place <= end && end < store->file_capacity);
    if (place < end) {
        number_map_remove(&manifest->numbers, store->files[place].number, place);
        number_map_add(&manifest->numbers, store->files[place].number, end);
        store->files[end] = store->files[place];
    }
    store->files[place] = *file;
    number_map_add(&manifest->numbers, file->number, place);
}

void
manifest_file_remove(struct manifest *manifest, struct manifest_store *store, size_t place)
{
    size_t last = store->file_count - 1;

    assert(place < store->file_count);
    number_map_remove(&manifest->numbers, store->files[place].number, place);
    if (place < last) {
        number_map_remove(&manifest->numbers, store->files[last].number, last);
        number_map_add(&manifest->numbers, store->files[last].number, place);
        store->files[place] = store->files[last];
    }
    store->file_count--;
}

/* ---- regions ---- */

static uint64_t
address_of(const struct manifest_region *region)
{
    return (uint64_t)(uintptr_t)region;
}

bool
manifest_region_reserve(struct manifest *manifest, struct manifest_table *table,
                        const petal_allocator *allocator)
{
    bool grown =
        mem_grow_array(allocator, &table->regions, &table->region_capacity, table->region_count,
                       table->region_count + 1, sizeof(struct manifest_region *)) &&
        number_map_reserve(&manifest->regions, allocator, 1);

    for (size_t i = 0; grown && i < table->family_count; i++) {
        struct manifest_family *family = &table->families[i];

        grown =
            mem_grow_array(allocator, &family->stores, &family->store_capacity, table->region_count,
                           table->region_count + 1, sizeof *family->stores);
    }
    return grown;
}

void
manifest_region_insert(struct manifest *manifest, struct manifest_region *region,
                       const struct manifest_store *stores)
{
    struct manifest_table *table = region->table;
    size_t place = region_behind(table, region->start), after = table->region_count - place;
    struct manifest_region **at = &table->regions[place];

    assert(table->region_count < table->region_capacity);
    memmove(at + 1, at, after * sizeof(*at));
    *at = region;
    table->region_count++;
    for (size_t i = place; i < table->region_count; i++)
        table->regions[i]->place = i;
    for (size_t i = 0; i < table->family_count; i++) {
        struct manifest_store *store = &table->families[i].stores[place];

        memmove(store + 1, store, after * sizeof *store);
        *store = stores[i];
        manifest_numbers_add(manifest, store);
    }
    number_map_add(&manifest->regions, region->id, address_of(region));
}

void
manifest_region_remove(struct manifest *manifest, struct manifest_region *region,
                       struct manifest_store *stores, const petal_allocator *allocator)
{
    struct manifest_table *table = region->table;
    size_t place = region->place, after = table->region_count - place - 1;
    struct manifest_region **at = &table->regions[place];

    assert(place > 0 && *at == region);
    number_map_remove(&manifest->regions, region->id, address_of(region));
    for (size_t i = 0; i < table->family_count; i++) {
        struct manifest_store *store = &table->families[i].stores[place];

        manifest_numbers_remove(manifest, store);
        if (stores != NULL)
            stores[i] = *store;
        else
            manifest_store_fini(store, allocator);
        memmove(store, store + 1, after * sizeof *store);
    }
    memmove(at, at + 1, after * sizeof(*at));
    table->region_count--;
    for (size_t i = place; i < table->region_count; i++)
        table->regions[i]->place = i;
}

void
manifest_table_enter(struct manifest *manifest, const struct manifest_table *table)
{
    for (size_t i = 0; i < table->region_count; i++) {
        if (i > 0)
            number_map_add(&manifest->regions, table->regions[i]->id,
                           address_of(table->regions[i]));
        for (size_t k = 0; k < table->family_count; k++)
            manifest_numbers_add(manifest, &table->families[k].stores[i]);
    }
}

void
manifest_table_leave(struct manifest *manifest, const struct manifest_table *table)
{
    for (size_t i = 0; i < table->region_count; i++) {
        if (i > 0)
            number_map_remove(&manifest->regions, table->regions[i]->id,
                              address_of(table->regions[i]));
        for (size_t k = 0; k < table->family_count; k++)
            manifest_numbers_remove(manifest, &table->families[k].stores[i]);
    }
}
