/* change.c -- see change.h. */
#include "engine/store/change.h"

#include "engine/state/damage.h"
#include "engine/state/progress.h"
#include "engine/wal/wal.h"

#include <assert.h>

void
change_begin(struct change *change, petal_db *db, size_t slot_count)
{
    mutex_lock(&db->manifest_mutex);
    mutex_lock(&db->views.mutex);
    *change = (struct change){
        .db = db,
        .current = atomic_load_explicit(&db->views.current, memory_order_relaxed),
        .slot_count = slot_count,
    };
    manifest_edit_init(&change->edit, db->env.allocator);
}

/* Note that a store changes; false: no memory, now or before. */
static bool
touch(struct change *change, petal_family *family)
{
    const petal_allocator *allocator = change->db->env.allocator;

    assert_held(&change->db->views.mutex);
    assert(family->table->db == change->db);
    if (!change->no_memory && change->view == NULL)
        change->no_memory = view_new(&change->view, allocator, &change->db->views, change->current,
                                     change->slot_count) != PETAL_OK;
    if (!change->no_memory)
        change->no_memory = !mem_grow_array(allocator, &change->families, &change->family_capacity,
                                            change->family_count, change->family_count + 1,
                                            sizeof *change->families);
    if (change->no_memory)
        return false;
    change->families[change->family_count++] = family;
    return true;
}

static void
put_store(struct change *change, const petal_family *family, struct store_view *store)
{
    if (view_set_store(change->view, family->slot, store) != PETAL_OK)
        change->no_memory = true;
}

/* Note files that are to go when the change is published. */
static bool
reserve_removed(struct change *change, size_t count)
{
    if (!change->no_memory)
        change->no_memory = !mem_grow_array(change->db->env.allocator, &change->removed,
                                            &change->removed_capacity, change->removed_count,
                                            change->removed_count + count, sizeof *change->removed);
    return !change->no_memory;
}

void
change_rewritten(struct change *change, petal_family *family, struct store_memtable *memtable,
                 struct store_file *const *files, size_t file_count,
                 const struct output_files *output)
{
    const struct store_view *present = view_store(change->current, family);
    struct store_change difference = {
        .remove_memtable = memtable,
        .remove_files = files,
        .remove_file_count = file_count,
        .add_files = output->files,
        .add_file_count = output->count,
    };
    struct store_view *store;

    assert(present != NULL && !family_is_dropped(family));
    if (!touch(change, family) || !reserve_removed(change, file_count))
        return;
    if (store_view_new(&store, change->db->env.allocator, present, &difference) != PETAL_OK) {
        change->no_memory = true;
        return;
    }
    put_store(change, family, store);
    for (size_t i = 0; i < file_count; i++) {
        manifest_edit_remove_file(&change->edit, family->table->id, family->id, files[i]->number);
        change->removed[change->removed_count++] = files[i];
    }
    for (size_t i = 0; i < output->count; i++)
        manifest_edit_add_file(&change->edit, family->table->id, family->id, &output->described[i]);
}

/* The manifest takes the file out and in again, so that no reader of it has to know of links. */
static void
describe_link(struct change *change, const petal_family *family, const struct store_file *file,
              uint64_t run)
{
    const struct manifest *manifest = change->db->manifest;
    const struct manifest_family *described =
        manifest_find_family(manifest_find_table(manifest, family->table->id), family->id);
    struct manifest_file linked;
    size_t place;
    bool found = manifest_find_file(manifest, described, file->number, &place);

    assert(found);
    (void)found;
    linked = described->files[place];
    linked.run = run;
    manifest_edit_remove_file(&change->edit, family->table->id, family->id, file->number);
    manifest_edit_add_file(&change->edit, family->table->id, family->id, &linked);
}

void
change_linked(struct change *change, petal_family *family, struct store_file *const *files,
              size_t file_count, uint64_t run)
{
    const struct store_view *present = view_store(change->current, family);
    struct store_change difference = {
        .link_files = files, .link_file_count = file_count, .link_run = run};
    struct store_view *store;

    assert(present != NULL && !family_is_dropped(family));
    if (!touch(change, family))
        return;
    if (store_view_new(&store, change->db->env.allocator, present, &difference) != PETAL_OK) {
        change->no_memory = true;
        return;
    }
    put_store(change, family, store);
    for (size_t i = 0; i < file_count; i++)
        describe_link(change, family, files[i], run);
}

void
change_add_store(struct change *change, petal_family *family, struct store_view *store)
{
    assert_held(&change->db->schema.mutex);
    assert(view_store(change->current, family) == NULL && family->active != NULL);
    if (touch(change, family))
        put_store(change, family, store);
    else
        store_view_unref(store);
}

void
change_remove_store(struct change *change, petal_family *family)
{
    const struct store_view *store = view_store(change->current, family);
    size_t count = store != NULL ? store->file_count : 0;

    assert_held(&change->db->schema.mutex);
    assert_leads(change->db);
    if (!touch(change, family) || !reserve_removed(change, count))
        return;
    for (size_t i = 0; i < count; i++)
        change->removed[change->removed_count++] = store->files[i].file;
    put_store(change, family, NULL);
}

enum petal_status
change_commit(struct change *change, petal_error *error)
{
    petal_db *db = change->db;
    struct wal_promise promise = wal_promised(db);
    petal_error cause;
    enum petal_status status;

    assert_held(&db->manifest_mutex);
    if (change->no_memory)
        return error_no_memory(error);
    manifest_edit_counters(
        &change->edit, db_next_file_number(db),
        atomic_load_explicit(&db->views.published_sequence, memory_order_acquire),
        atomic_load_explicit(&db->views.published_timestamp, memory_order_acquire));
    if (promise.log_number != 0)
        manifest_edit_wal_promise(&change->edit, promise);
    status = manifest_commit(db->manifest, &change->edit, &cause);
    /* Files of an edit that was taken back are as if the next state were the first without them. */
    readers_note_state(&db->readers, status == PETAL_OK ? db->manifest->number
                                                        : manifest_next_state(db->manifest));
    if (status == PETAL_OK)
        return PETAL_OK;
    /* A refused edit changed nothing, nor did one that found no space, memory or descriptor. */
    if (manifest_is_dead(db->manifest) || (status != PETAL_INVALID && !error_passes(&cause)))
        db_fail(db, &cause);
    change->unknown = atomic_load_explicit(&db->failure.failed, memory_order_relaxed);
    return error_copy(error, &cause);
}

/* The store of a dropped family is out of the view: its memtable is no more. */
static void
forget_store(petal_db *db, petal_family *family)
{
    assert_leads(db);
    assert(family_is_dropped(family));
    if (family->unusable)
        damage_remove_lost(family);
    assert(family->active_bytes <= db->writers.active_bytes);
    db->writers.active_bytes -= family->active_bytes;
    if (family->active != NULL)
        db->writers.active_memory -= family->active->charged;
    family->active = NULL;
    family->active_bytes = 0;
    family_forget_written(family);
}

void
change_publish(struct change *change)
{
    petal_db *db = change->db;

    assert_held(&db->views.mutex);
    if (change->view == NULL)
        return;
    assert_held(&db->views.mutex);
    assert(!change->no_memory && atomic_load(&db->views.current) == change->current);
    for (size_t i = 0; i < change->removed_count; i++)
        atomic_store_explicit(&change->removed[i]->obsolete, true, memory_order_relaxed);
    damage_end(&db->schema, change->removed, change->removed_count);
    for (size_t i = 0; i < change->family_count; i++) {
        if (view_store(change->view, change->families[i]) == NULL)
            forget_store(db, change->families[i]);
    }
    db_publish_view(db, change->view);
    change->view = NULL; /* the database's */
    for (size_t i = 0; i < change->family_count; i++)
        progress_count_runs(&db->progress, &db->views, change->families[i]);
}

void
change_end(struct change *change)
{
    petal_db *db = change->db;
    const petal_allocator *allocator = db->env.allocator;

    view_unref(change->view);
    mutex_unlock(&db->views.mutex);
    mutex_unlock(&db->manifest_mutex);
    manifest_edit_fini(&change->edit);
    mem_free(allocator, change->families, change->family_capacity * sizeof *change->families);
    mem_free(allocator, change->removed, change->removed_capacity * sizeof *change->removed);
}
