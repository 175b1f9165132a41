/* manifest_state.c -- the state that a manifest describes: its memory, lookups, and what must hold for all of it; see manifest_format.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/slice.h"
#include "engine/attributes.h"
#include "engine/manifest_format.h"

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
        const void *borrowed;
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
manifest_family_fini(struct manifest_family *family, const petal_allocator *allocator)
{
    manifest_free_options(&family->options, allocator);
    mem_free(allocator, family->files, family->file_capacity * sizeof *family->files);
}

void
manifest_table_fini(struct manifest_table *table, const petal_allocator *allocator)
{
    for (size_t i = 0; i < table->family_count; i++)
        manifest_family_fini(&table->families[i], allocator);
    mem_free(allocator, table->families, table->family_capacity * sizeof *table->families);
    attributes_free(table->attributes, table->attribute_count, allocator);
    free_name(table->snapshot.name, allocator);
    free_name(table->name, allocator);
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
        manifest_table_fini(&manifest->tables[i], allocator);
    mem_free(allocator, manifest->tables, manifest->table_capacity * sizeof *manifest->tables);
    manifest->tables = NULL;
    manifest->table_count = manifest->table_capacity = 0;
}

/* `copy` begins without files. */
static bool
copy_family(struct manifest_family *copy, const struct manifest_family *family,
            const petal_allocator *allocator)
{
    *copy = *family;
    copy->files = NULL;
    copy->file_count = copy->file_capacity = 0;
    if (!manifest_own_options(&copy->options, allocator))
        return false;
    if (family->file_count == 0)
        return true;
    copy->files = mem_alloc(allocator, family->file_count * sizeof *copy->files);
    if (copy->files == NULL)
        return false;
    memcpy(copy->files, family->files, family->file_count * sizeof *copy->files);
    copy->file_count = copy->file_capacity = family->file_count;
    return true;
}

static bool
copy_names(struct manifest_table *copy, const struct manifest_table *table,
           const petal_allocator *allocator)
{
    return manifest_copy_name(&copy->name, table->name, allocator) &&
           (!manifest_is_snapshot(table) ||
            manifest_copy_name(&copy->snapshot.name, table->snapshot.name, allocator));
}

/* What was made of a copy that failed is there to be released. */
static bool
copy_table(struct manifest_table *copy, const struct manifest_table *table,
           const petal_allocator *allocator)
{
    *copy = *table;
    copy->families = NULL;
    copy->family_count = copy->family_capacity = 0;
    copy->name = copy->snapshot.name = slice_make(NULL, 0);
    copy->attributes = NULL;
    copy->attribute_count = 0;
    if (!copy_names(copy, table, allocator) ||
        !attributes_copy(&copy->attributes, table->attributes, table->attribute_count, allocator))
        return false;
    copy->attribute_count = table->attribute_count;
    copy->families = mem_alloc(allocator, table->family_count * sizeof *copy->families);
    if (copy->families == NULL)
        return false;
    copy->family_capacity = table->family_count;
    for (size_t i = 0; i < table->family_count; i++) {
        copy->family_count++;
        if (!copy_family(&copy->families[i], &table->families[i], allocator))
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
    manifest_table_fini(copy, allocator);
    memset(copy, 0, sizeof *copy);
    return PETAL_NO_MEMORY;
}

void
manifest_copy_table_fini(struct manifest_table *copy, const petal_allocator *allocator)
{
    manifest_table_fini(copy, allocator);
    memset(copy, 0, sizeof *copy);
}

enum petal_status
manifest_copy(struct manifest *copy, const struct manifest *manifest,
              const petal_allocator *allocator)
{
    enum petal_status status = manifest_state_copy(copy, manifest, allocator);

    copy->writer = NULL;
    return status;
}

void
manifest_copy_fini(struct manifest *copy, const petal_allocator *allocator)
{
    manifest_state_fini(copy, allocator);
}

enum petal_status
manifest_state_copy(struct manifest *copy, const struct manifest *manifest,
                    const petal_allocator *allocator)
{
    *copy = *manifest;
    copy->tables = NULL;
    copy->table_count = copy->table_capacity = 0;
    if (manifest->table_count == 0)
        return PETAL_OK;
    copy->tables = mem_alloc(allocator, manifest->table_count * sizeof *copy->tables);
    if (copy->tables == NULL)
        return PETAL_NO_MEMORY;
    copy->table_capacity = manifest->table_count;
    for (size_t i = 0; i < manifest->table_count; i++) {
        copy->table_count++;
        if (!copy_table(&copy->tables[i], &manifest->tables[i], allocator)) {
            manifest_state_fini(copy, allocator);
            return PETAL_NO_MEMORY;
        }
    }
    return PETAL_OK;
}

/* ---- lookups ---- */

struct manifest_table *
manifest_find_table(const struct manifest *manifest, uint32_t id)
{
    for (size_t i = 0; i < manifest->table_count; i++) {
        if (manifest->tables[i].id == id)
            return &manifest->tables[i];
    }
    return NULL;
}

struct manifest_table *
manifest_find_snapshot(const struct manifest *manifest, petal_slice name)
{
    for (size_t i = 0; i < manifest->table_count; i++) {
        struct manifest_table *table = &manifest->tables[i];

        if (manifest_is_snapshot(table) && slice_equal(table->snapshot.name, name))
            return table;
    }
    return NULL;
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

/* ---- the whole state ---- */

static int
compare_numbers(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return first < second ? -1 : first > second;
}

static size_t
gather_numbers(const struct manifest *manifest, uint64_t *numbers)
{
    size_t count = 0;

    for (size_t t = 0; t < manifest->table_count; t++) {
        for (size_t f = 0; f < manifest->tables[t].family_count; f++) {
            const struct manifest_family *family = &manifest->tables[t].families[f];

            for (size_t i = 0; numbers != NULL && i < family->file_count; i++)
                numbers[count + i] = family->files[i].number;
            count += family->file_count;
        }
    }
    return count;
}

enum petal_status
manifest_state_check(const struct manifest *manifest, const petal_allocator *allocator,
                     petal_error *error)
{
    size_t count = gather_numbers(manifest, NULL);
    enum petal_status status = PETAL_OK;
    uint64_t *numbers;

    if (count == 0)
        return PETAL_OK;
    numbers = mem_alloc(allocator, count * sizeof *numbers);
    if (numbers == NULL)
        return error_no_memory(error);
    gather_numbers(manifest, numbers);
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    for (size_t i = 1; status == PETAL_OK && i < count; i++) {
        if (numbers[i] == numbers[i - 1])
            status = error_set(error, PETAL_INVALID, "store file %llu is there twice",
                               (unsigned long long)numbers[i]);
    }
    mem_free(allocator, numbers, count * sizeof *numbers);
    return status;
}
