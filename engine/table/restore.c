/*
 * restore.c -- tables come into being: new ones (create); from snapshots, under a new name (clone)
 * or in place of the table that the snapshot was taken of (restore); and a table without its cells,
 * in its place (truncate).
 *
 * Links of the files, handles and stores are made, and files opened, while others read and write.
 * Then one edit drops the old table, if any, and creates the new one, and one view takes over. So
 * readers see the old table or the new one, and so does an opening after a power cut. What drops
 * one holds the write leadership; truncating, which needs no files, from the beginning, so that the
 * new table has the attributes that the old one has when it goes.
 */
#include "base/argument.h"
#include "cache/cache.h"
#include "engine/options.h"
#include "engine/state/progress.h"
#include "engine/store/change.h"
#include "engine/store/open.h"
#include "engine/table/snapshot.h"

struct restoration {
    petal_db *db;
    /* Describes it: a copy of the snapshot or table, later with the files of the table to be. */
    struct manifest_table source;
    petal_slice name;
    bool replaces; /* a table of that name goes */
    bool unknown;  /* the manifest may name its files, though it failed */
    petal_table *table;
    size_t slots_before, slots_after; /* of the schema, when the handles took theirs */
    /* Family by family of the table's stores, in the order of regions; NULL: taken over by the
     * change. */
    struct store_view **stores;
};

/* ---- preparing ---- */

/* Handles count as dropped, so nobody finds them, until the table is committed. REQUIRES:
 * schema.mutex. */
static enum petal_status
make_handles(struct restoration *restoration, petal_error *error)
{
    struct schema *schema = &restoration->db->schema;
    struct manifest_table described;
    enum petal_status status;

    assert_held(&schema->mutex);
    table_number_families(&restoration->source);
    described = restoration->source;
    described.id = 0; /* the commit gives one, and the next ones to the other regions */
    for (size_t i = 0; i < described.region_count; i++)
        described.regions[i]->id = (uint32_t)i;
    described.name = restoration->name;
    restoration->slots_before = schema->slot_count;
    status = table_attach(schema, &described, &restoration->table);
    restoration->slots_after = schema->slot_count;
    if (status != PETAL_OK) {
        schema->slot_count = restoration->slots_before;
        return error_no_memory(error);
    }
    atomic_store_explicit(&restoration->table->dropped, true, memory_order_release);
    return PETAL_OK;
}

static size_t
store_count(const struct restoration *restoration)
{
    return restoration->source.family_count * restoration->source.region_count;
}

static enum petal_status
open_stores(struct restoration *restoration, petal_error *error)
{
    const petal_allocator *allocator = restoration->db->env.allocator;
    size_t count = store_count(restoration), regions = restoration->source.region_count;
    struct number_map open = {0};
    enum petal_status status = PETAL_OK;

    restoration->stores = mem_zalloc(allocator, count * sizeof(struct store_view *));
    if (restoration->stores == NULL)
        return error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < count; i++) {
        petal_family *family = table_family_by_id(restoration->table, (uint16_t)(i / regions));
        size_t place = i % regions;

        status = store_open(family->stores.places[place].store,
                            &restoration->source.families[i / regions].stores[place],
                            family_store_end(family, place), &open, false, &restoration->stores[i],
                            error);
    }
    number_map_fini(&open, allocator);
    return status;
}

/* ---- taking over ---- */

/* One edit names the files and creates the table. REQUIRES: schema.mutex; to replace one,
 * leadership. */
static enum petal_status
take_over(struct restoration *restoration, petal_error *error)
{
    petal_db *db = restoration->db;
    petal_table *table = restoration->table,
                *before = table_by_name(&db->schema, restoration->name);
    struct change change;
    char quoted[160];
    uint32_t id;
    enum petal_status status = db_check_writable(db, error);

    assert_held(&db->schema.mutex);
    if (restoration->replaces)
        assert_leads(db);
    if (status != PETAL_OK)
        return status;
    if (before != NULL && !restoration->replaces)
        return error_set(error, PETAL_EXISTS, "Table already exists: %s!",
                         error_quote(restoration->name, quoted, sizeof quoted));
    change_begin(&change, db, db->schema.slot_count);
    id = db->manifest->next_table_id;
    if (before != NULL) {
        const struct table_descriptor *descriptor = table_descriptor(before);

        for (size_t i = 0; i < descriptor->family_count; i++)
            change_remove_family(&change, descriptor->families[i]);
        manifest_edit_drop_table(&change.edit, before->id);
    }
    for (size_t i = 0; i < store_count(restoration); i++) {
        size_t regions = restoration->source.region_count;
        const petal_family *family = table_family_by_id(table, (uint16_t)(i / regions));

        change_put_store(&change, family->stores.places[i % regions].store, restoration->stores[i]);
        restoration->stores[i] = NULL;
    }
    manifest_edit_table(&change.edit, &restoration->source, id, restoration->name, NULL);
    status = change_commit(&change, error);
    if (status == PETAL_OK) {
        table_change_id(table, id);
        if (before != NULL) {
            atomic_store_explicit(&before->dropped, true, memory_order_release);
            table_retire(before);
        }
        atomic_store_explicit(&table->dropped, false, memory_order_release);
        change_publish(&change);
    }
    restoration->unknown = change.unknown;
    change_end(&change);
    return status;
}

static void
lock(petal_db *db, struct write_place *place)
{
    write_lead_alone(&db->writers.queue, place);
    mutex_lock(&db->schema.mutex);
}

static void
unlock(petal_db *db, struct write_place *place)
{
    mutex_unlock(&db->schema.mutex);
    write_lead_end(&db->writers.queue, place);
    db_collect(db);
}

/* Handles, stores and the commit, under locks that the caller has. */
static enum petal_status
make(struct restoration *restoration, petal_error *error)
{
    enum petal_status status = make_handles(restoration, error);

    if (status == PETAL_OK)
        status = open_stores(restoration, error);
    return status == PETAL_OK ? take_over(restoration, error) : status;
}

/* ---- taking back ---- */

/* No other thread has seen the handles, and no view that was published has their stores. */
static void
remove_handles(struct restoration *restoration)
{
    struct schema *schema = &restoration->db->schema;

    mutex_lock(&schema->mutex);
    table_detach(restoration->table);
    if (schema->slot_count == restoration->slots_after) /* nobody came after them */
        schema->slot_count = restoration->slots_before;
    mutex_unlock(&schema->mutex);
    table_free(restoration->table);
    restoration->table = NULL;
}

static void
erase_blocks(petal_db *db, const struct manifest_table *table)
{
    for (size_t i = 0; i < table->family_count * table->region_count; i++) {
        const struct manifest_store *store = manifest_store_at(table, i);

        for (size_t k = 0; k < store->file_count; k++)
            cache_erase_file(db->cache, store->files[k].number);
    }
}

/* Release what the view did not take over. The files are removed unless the manifest may name
 * them. */
static void
restoration_end(struct restoration *restoration, bool succeeded)
{
    petal_db *db = restoration->db;
    const petal_allocator *allocator = db->env.allocator;
    size_t count = store_count(restoration);

    for (size_t i = 0; restoration->stores != NULL && i < count; i++)
        store_view_unref(restoration->stores[i]);
    mem_free(allocator, restoration->stores, count * sizeof(struct store_view *));
    if (succeeded)
        return;
    erase_blocks(db, &restoration->source);
    if (!restoration->unknown)
        table_files_remove(db, &restoration->source);
    if (restoration->table != NULL)
        remove_handles(restoration);
}

/* ---- the calls ---- */

enum petal_status
table_make_new(petal_db *db, const struct manifest_table *described, petal_table **table,
               petal_error *error)
{
    struct restoration restoration = {.db = db, .source = *described, .name = described->name};
    enum petal_status status;

    mutex_lock(&db->schema.mutex);
    status = make(&restoration, error);
    mutex_unlock(&db->schema.mutex);
    restoration_end(&restoration, status == PETAL_OK);
    *table = restoration.table;
    return status;
}

/* The snapshot at hand becomes a table. */
static enum petal_status
restore(struct restoration *restoration, petal_error *error)
{
    petal_db *db = restoration->db;
    enum petal_status status = table_files_link(db, &restoration->source, error);
    struct write_place place;

    if (status != PETAL_OK)
        return status;
    mutex_lock(&db->schema.mutex);
    status = make_handles(restoration, error);
    mutex_unlock(&db->schema.mutex);
    if (status == PETAL_OK)
        status = open_stores(restoration, error);
    if (status == PETAL_OK) {
        lock(db, &place);
        status = take_over(restoration, error);
        unlock(db, &place);
    }
    restoration_end(restoration, status == PETAL_OK);
    return status;
}

/* `name` size 0: that of the table of which the snapshot was taken, which is replaced. */
static enum petal_status
restore_by_name(petal_db *db, petal_slice snapshot, petal_slice name, petal_table **table,
                petal_error *error)
{
    struct restoration restoration = {.db = db, .name = name, .replaces = name.size == 0};
    enum petal_status status = db_begin_capture(db, error);

    if (status != PETAL_OK)
        return status;
    status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = table_snapshot_expire(db, error);
    if (status == PETAL_OK)
        status = table_snapshot_find(db, snapshot, &restoration.source, error);
    if (status == PETAL_OK) {
        if (restoration.replaces)
            restoration.name = restoration.source.name;
        status = restore(&restoration, error);
        *table = restoration.table;
        manifest_copy_table_fini(&restoration.source, db->env.allocator);
    }
    db_end_capture(db);
    return status;
}

/* Checked early, before files are linked in vain. */
static enum petal_status
check_no_table(petal_db *db, petal_slice name, petal_error *error)
{
    char quoted[160];
    bool taken;

    mutex_lock(&db->schema.mutex);
    taken = table_by_name(&db->schema, name) != NULL;
    mutex_unlock(&db->schema.mutex);
    if (!taken)
        return PETAL_OK;
    return error_set(error, PETAL_EXISTS, "Table already exists: %s!",
                     error_quote(name, quoted, sizeof quoted));
}

enum petal_status
petal_table_snapshot_clone(petal_db *db, petal_slice snapshot, petal_slice table_name,
                           petal_table **table, petal_error *error)
{
    RETURN_IF_NULL(table, error);
    *table = NULL;
    RETURN_IF_NULL(db, error);
    RETURN_IF_NO_BYTES(snapshot, error);
    RETURN_IF_NO_BYTES(table_name, error);

    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = table_name_check(table_name, error);
    if (status == PETAL_OK)
        status = db_check_opened_for_writing(db, error);
    if (status == PETAL_OK)
        status = check_no_table(db, table_name, error);
    return status == PETAL_OK ? restore_by_name(db, snapshot, table_name, table, error) : status;
}

enum petal_status
petal_table_snapshot_restore(petal_db *db, petal_slice snapshot, petal_table **table,
                             petal_error *error)
{
    RETURN_IF_NULL(table, error);
    *table = NULL;
    RETURN_IF_NULL(db, error);
    RETURN_IF_NO_BYTES(snapshot, error);
    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    return restore_by_name(db, snapshot, slice_make(NULL, 0), table, error);
}

/* The table as it is, but without files. */
static enum petal_status
copy_without_cells(const petal_table *table, struct manifest_table *copy, petal_error *error)
{
    petal_db *db = table->db;
    enum petal_status status;

    mutex_lock(&db->manifest_mutex);
    status =
        manifest_copy_table(copy, manifest_find_table(db->manifest, table->id), db->env.allocator);
    mutex_unlock(&db->manifest_mutex);
    if (status != PETAL_OK)
        return error_no_memory(error);
    for (size_t i = 0; i < copy->family_count; i++)
        copy->families[i].ahead = 0;
    for (size_t i = 0; i < copy->family_count * copy->region_count; i++) {
        manifest_store_forget_files(manifest_store_at(copy, i), db->env.allocator);
        manifest_store_at(copy, i)->flushed_sequence = 0;
    }
    return PETAL_OK;
}

enum petal_status
petal_table_truncate(petal_table *table, petal_table **truncated, petal_error *error)
{
    RETURN_IF_NULL(truncated, error);
    *truncated = NULL;
    RETURN_IF_NULL(table, error);

    petal_db *db = table->db;
    struct restoration restoration = {.db = db, .name = table->name, .replaces = true};
    struct write_place place;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    lock(db, &place);
    status = table_check_alive(table, error);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = copy_without_cells(table, &restoration.source, error);
    if (status == PETAL_OK)
        status = make(&restoration, error);
    unlock(db, &place);
    restoration_end(&restoration, status == PETAL_OK);
    *truncated = restoration.table;
    manifest_copy_table_fini(&restoration.source, db->env.allocator);
    return status;
}
