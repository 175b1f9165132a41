/* undo.c -- see undo.h. */
#include "engine/manifest/undo.h"

#include "base/mem.h"
#include "engine/attributes.h"

#include <assert.h>

/* What a step of each kind keeps of before. */
static const size_t before_bytes[UNDO_KINDS] = {
    [UNDO_ALTERED_TABLE] = sizeof(struct manifest_table),
    [UNDO_ALTERED_FAMILY] = sizeof(petal_family_options),
    [UNDO_DROPPED_FAMILY] = sizeof(struct manifest_family),
    [UNDO_DROPPED_REGION] = sizeof(struct dropped_region),
    [UNDO_REMOVED_FILE] = sizeof(struct manifest_file),
};

void
manifest_undo_init(struct manifest_undo *undo, const struct manifest *manifest,
                   const petal_allocator *allocator)
{
    *undo = (struct manifest_undo){.allocator = allocator, .counters = *manifest};
}

bool
manifest_undo_note(struct manifest_undo *undo, struct undo_step step, const void *before)
{
    size_t bytes = before_bytes[step.kind];

    assert(step.table != NULL && step.kind < UNDO_KINDS);
    assert((bytes > 0) == (before != NULL));
    if (!mem_grow_array(undo->allocator, &undo->steps, &undo->capacity, undo->count,
                        undo->count + 1, sizeof *undo->steps))
        return false;
    if (bytes > 0) {
        step.before = mem_alloc(undo->allocator, bytes);
        if (step.before == NULL)
            return false;
        memcpy(step.before, before, bytes);
    }
    undo->steps[undo->count++] = step;
    return true;
}

static void
fini(struct manifest_undo *undo)
{
    for (size_t i = 0; i < undo->count; i++)
        mem_free(undo->allocator, undo->steps[i].before, before_bytes[undo->steps[i].kind]);
    mem_free(undo->allocator, undo->steps, undo->capacity * sizeof *undo->steps);
    *undo = (struct manifest_undo){.allocator = undo->allocator};
}

static void
free_dropped_region(struct dropped_region *dropped, bool with_files,
                    const petal_allocator *allocator)
{
    for (size_t i = 0; with_files && i < dropped->store_count; i++)
        manifest_store_fini(&dropped->stores[i], allocator);
    if (with_files)
        manifest_region_free(dropped->region, allocator);
    mem_free(allocator, dropped->stores, dropped->store_count * sizeof *dropped->stores);
}

void
manifest_undo_forget(struct manifest_undo *undo)
{
    for (size_t i = 0; i < undo->count; i++) {
        const struct undo_step *step = &undo->steps[i];
        const struct manifest_table *altered = step->before;

        if (step->kind == UNDO_ALTERED_TABLE)
            attributes_free(altered->attributes, altered->attribute_count, undo->allocator);
        else if (step->kind == UNDO_ALTERED_FAMILY)
            manifest_free_options(step->before, undo->allocator);
        else if (step->kind == UNDO_DROPPED_FAMILY)
            manifest_family_fini(step->before, step->number, undo->allocator);
        else if (step->kind == UNDO_DROPPED_REGION)
            free_dropped_region(step->before, true, undo->allocator);
        else if (step->kind == UNDO_REMOVED_FILE)
            manifest_file_fini(step->before, undo->allocator);
    }
    /* Last, for steps of other kinds are about tables that were dropped after them. */
    for (size_t i = 0; i < undo->count; i++) {
        if (undo->steps[i].kind == UNDO_DROPPED_TABLE)
            manifest_table_free(undo->steps[i].table, undo->allocator);
    }
    fini(undo);
}

static void
take_back(struct manifest_undo *undo, struct manifest *manifest, const struct undo_step *step)
{
    const petal_allocator *allocator = undo->allocator;
    struct manifest_table *table = step->table, **at;
    struct manifest_family *family =
        step->family < table->family_count ? &table->families[step->family] : NULL;
    struct manifest_store *store =
        family != NULL && step->region < table->region_count ? &family->stores[step->region] : NULL;
    const struct manifest_table *altered;
    struct dropped_region *dropped;
    struct manifest_region *made;

    switch (step->kind) {
    case UNDO_MADE_TABLE:
        assert(manifest->table_count > 0 && table->family_count == 0);
        assert(manifest->tables[manifest->table_count - 1] == table);
        manifest->table_count--;
        manifest_name_remove(manifest, table);
        manifest_table_free(table, allocator);
        break;
    case UNDO_ALTERED_TABLE:
        altered = step->before;
        attributes_free(table->attributes, table->attribute_count, allocator);
        table->attributes = altered->attributes;
        table->attribute_count = altered->attribute_count;
        table->durability = altered->durability;
        table->read_only = altered->read_only;
        break;
    case UNDO_DROPPED_TABLE:
        assert(step->number <= manifest->table_count);
        at = &manifest->tables[step->number];
        memmove(at + 1, at, (manifest->table_count - step->number) * sizeof(*at));
        *at = table;
        manifest->table_count++;
        manifest_name_add(manifest, table);
        manifest_table_enter(manifest, table);
        break;
    case UNDO_MADE_FAMILY:
        assert(family == &table->families[table->family_count - 1]);
        assert(manifest_file_count(table, family) == 0);
        manifest_family_fini(family, table->region_count, allocator);
        table->family_count--;
        table->next_family_id = (uint32_t)step->number;
        break;
    case UNDO_ALTERED_FAMILY:
        assert(family != NULL);
        manifest_free_options(&family->options, allocator);
        memcpy(&family->options, step->before, sizeof family->options);
        break;
    case UNDO_DROPPED_FAMILY:
        assert(step->family <= table->family_count && table->family_count < table->family_capacity);
        family = &table->families[step->family];
        memmove(family + 1, family, (table->family_count - step->family) * sizeof *family);
        memcpy(family, step->before, sizeof *family);
        table->family_count++;
        for (size_t i = 0; i < table->region_count; i++)
            manifest_numbers_add(manifest, &family->stores[i]);
        break;
    case UNDO_MADE_REGION:
        made = table->regions[step->region];
        manifest_region_remove(manifest, made, NULL, allocator);
        manifest_region_free(made, allocator);
        break;
    case UNDO_DROPPED_REGION:
        dropped = step->before;
        manifest_region_insert(manifest, dropped->region, dropped->stores);
        free_dropped_region(dropped, false, allocator);
        break;
    case UNDO_NEXT_FAMILY:
        assert(table->next_family_id >= step->number);
        table->next_family_id = (uint32_t)step->number;
        break;
    case UNDO_ADDED_FILE:
        assert(store != NULL && step->number == store->file_count - 1);
        manifest_file_fini(&store->files[step->number], allocator);
        manifest_file_remove(manifest, store, step->number);
        break;
    case UNDO_REMOVED_FILE:
        assert(store != NULL && step->number <= store->file_count);
        manifest_file_insert(manifest, store, step->number, step->before);
        break;
    case UNDO_FLUSHED:
        assert(store != NULL && store->flushed_sequence >= step->number); /* it only grows */
        store->flushed_sequence = step->number;
        break;
    case UNDO_AHEAD:
        assert(family != NULL && family->ahead >= (int64_t)step->number);
        family->ahead = (int64_t)step->number;
        break;
    case UNDO_KINDS:
        break;
    }
}

void
manifest_undo_run(struct manifest_undo *undo, struct manifest *manifest)
{
    for (size_t i = undo->count; i > 0; i--)
        take_back(undo, manifest, &undo->steps[i - 1]);
    manifest->number = undo->counters.number;
    manifest->next_file_number = undo->counters.next_file_number;
    manifest->next_table_id = undo->counters.next_table_id;
    manifest->last_sequence = undo->counters.last_sequence;
    manifest->last_timestamp = undo->counters.last_timestamp;
    manifest->oldest_log = undo->counters.oldest_log;
    manifest->promise = undo->counters.promise;
    fini(undo);
}
