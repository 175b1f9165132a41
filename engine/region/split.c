/* split.c -- see split.h. */
#include "engine/region/split.h"

#include "engine/flush/flush.h"
#include "engine/store/change.h"

#include <assert.h>

/* A split at work. */
struct split {
    petal_table *table;
    petal_slice row;  /* the first of the new region */
    uint32_t region;  /* id of the new one */
    int64_t split_ms; /* its time in the manifest */
    struct change change;
    struct store **made; /* the new region's store of each family */
    size_t made_count;
};

/* ---- one family ---- */

/* A store for the rows from the new border on, which has no memtable of its own in a view yet. */
static struct store *
make_store(struct split *split, petal_family *family, struct store_memtable **memtable)
{
    const petal_allocator *allocator = split->table->db->env.allocator;
    struct store *store = NULL;

    if (store_memtable_new(memtable, allocator) != PETAL_OK)
        return NULL;
    if (family_reserve_stores(family, 1))
        store = store_new(family, split->region, split->split_ms, split->row);
    if (store == NULL) {
        store_memtable_unref(*memtable);
        return NULL;
    }
    store->active = *memtable;
    split->made[split->made_count++] = store;
    return store;
}

/* The manifest's files of the region go to where their rows are. */
static void
describe_files(struct split *split, const petal_family *family, const struct store_view *lower,
               const struct store_view *upper, uint32_t region)
{
    const struct manifest *manifest = split->table->db->manifest;
    const struct manifest_store *store = manifest_find_store(manifest, region, family->id);
    struct manifest_edit *edit = &split->change.edit;
    size_t place;

    manifest_edit_flushed(edit, split->region, family->id, store->flushed_sequence);
    for (uint32_t i = 0; i < upper->file_count; i++) {
        bool found = manifest_find_file(manifest, store, upper->files[i].file->number, &place);

        assert(found);
        (void)found;
        manifest_edit_add_file(edit, split->region, family->id, &store->files[place]);
        if (!store_view_has_file(lower, upper->files[i].file))
            manifest_edit_remove_file(edit, region, family->id, store->files[place].number);
    }
}

static enum petal_status
split_family(struct split *split, petal_family *family)
{
    const petal_allocator *allocator = split->table->db->env.allocator;
    const struct region_list *list = view_regions(split->change.current, family);
    uint32_t place = region_place(list, split->row);
    const struct region_store *region = region_at(list, place);
    petal_slice end = region_end(list, place);
    const struct store_view *const base = region->view;
    struct store_view *lower, *upper;
    struct store_memtable *memtable;
    struct store *store = make_store(split, family, &memtable);
    enum petal_status status;

    assert(base->memtables[0] == region->store->active);
    assert(memtable_is_empty(base->memtables[0]->memtable));
    if (store == NULL)
        return PETAL_NO_MEMORY;
    status = store_view_of_region(&upper, allocator, split->row, end, memtable, &base, 1);
    store_memtable_unref(memtable);
    if (status != PETAL_OK)
        return status;
    status = store_view_of_region(&lower, allocator, region->start, split->row, base->memtables[0],
                                  &base, 1);
    if (status != PETAL_OK) {
        store_view_unref(upper);
        return status;
    }
    describe_files(split, family, lower, upper, region->store->region);
    change_put_store(&split->change, region->store, lower);
    change_put_store(&split->change, store, upper);
    return PETAL_OK;
}

/* ---- the table ---- */

static enum petal_status
check_row(const struct split *split, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(split->table);
    const struct store *store;
    char quoted_row[160], quoted_table[160];

    if (split->row.size == 0 || split->row.size > PETAL_MAX_ROW_BYTES)
        return error_set(error, PETAL_INVALID,
                         "a region is split before a row, which has 1 to %d bytes, not %zu",
                         PETAL_MAX_ROW_BYTES, split->row.size);
    store = family_store_of_row(descriptor->families[0], split->row);
    if (!slice_equal(store->start, split->row))
        return PETAL_OK;
    return error_set(error, PETAL_INVALID, "row %s is the first of region %u of table %s already",
                     error_quote(split->row, quoted_row, sizeof quoted_row), store->region,
                     error_quote(split->table->name, quoted_table, sizeof quoted_table));
}

enum petal_status
region_check_table(const petal_table *table, petal_error *error)
{
    const struct table_descriptor *descriptor = table_descriptor(table);
    enum petal_status status = table_check_alive(table, error);

    if (status == PETAL_OK)
        status = db_check_writable(table->db, error);
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++)
        status = family_check_usable(descriptor->families[i], error);
    return status;
}

/* The handles take their places; or, if nothing came of it, go. */
static void
settle(struct split *split, bool done)
{
    for (size_t i = split->made_count; i-- > 0;) {
        struct store *store = split->made[i];

        if (done)
            family_show_store(store->family, store);
        else
            store_free_newest(store);
    }
}

/* REQUIRES: leadership, schema.mutex, and the region's memtables are empty. */
static enum petal_status
split_stores(struct split *split, petal_error *error)
{
    petal_db *db = split->table->db;
    const struct table_descriptor *descriptor = table_descriptor(split->table);
    enum petal_status status = PETAL_OK;

    assert_leads(db);
    change_begin(&split->change, db, 0);
    split->region = db->manifest->next_table_id;
    manifest_edit_create_region(&split->change.edit, split->table->id, split->region,
                                split->split_ms, split->row);
    for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++)
        status = split_family(split, descriptor->families[i]);
    status = status == PETAL_OK ? change_commit(&split->change, error) : error_no_memory(error);
    settle(split, status == PETAL_OK);
    if (status == PETAL_OK)
        change_publish(&split->change);
    change_end(&split->change);
    return status;
}

/* REQUIRES: leadership. */
static enum petal_status
freeze_and_split(struct split *split, petal_error *error)
{
    petal_table *table = split->table;
    petal_db *db = table->db;
    const struct table_descriptor *descriptor = table_descriptor(table);
    struct flush_job *job;
    enum petal_status status = region_check_table(table, error);

    if (status == PETAL_OK)
        status = check_row(split, error);
    if (status == PETAL_OK)
        status = flush_freeze(db, table,
                              family_store_of_row(descriptor->families[0], split->row)->region,
                              &job, error);
    if (status != PETAL_OK)
        return status;
    if (job != NULL)
        flush_enqueue(db, job);
    split->made = mem_alloc(db->env.allocator, descriptor->family_count * sizeof(struct store *));
    if (split->made == NULL)
        return error_no_memory(error);
    mutex_lock(&db->schema.mutex);
    status = split_stores(split, error);
    mutex_unlock(&db->schema.mutex);
    mem_free(db->env.allocator, split->made, descriptor->family_count * sizeof(struct store *));
    return status;
}

static void
report(const struct split *split)
{
    char row[160], name[160];

    env_log(&split->table->db->env, PETAL_LOG_INFO,
            "table %s: region %u begins at row %s, where another was split",
            error_quote(split->table->name, name, sizeof name), split->region,
            error_quote(split->row, row, sizeof row));
}

enum petal_status
region_split(petal_table *table, petal_slice row, bool by_itself, petal_error *error)
{
    struct split split = {
        .table = table, .row = row, .split_ms = by_itself ? env_clock_ms(&table->db->env) : 0};
    petal_db *db = table->db;
    struct write_place place;
    enum petal_status status;

    write_lead_alone(&db->writers.queue, &place);
    status = freeze_and_split(&split, error);
    write_lead_end(&db->writers.queue, &place);
    if (status == PETAL_OK)
        report(&split);
    db_collect(db);
    return status;
}
