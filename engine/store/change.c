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

/* Have the next view; false: no memory, now or before. */
static bool
begin_view(struct change *change)
{
    assert_held(&change->db->views.mutex);
    if (!change->no_memory && change->view == NULL)
        change->no_memory = view_new(&change->view, change->db->env.allocator, &change->db->views,
                                     change->current, change->slot_count) != PETAL_OK;
    return !change->no_memory;
}

/* Note that a store changes; false: no memory, now or before. */
static bool
touch(struct change *change, struct store *store)
{
    assert(store->family->table->db == change->db);
    if (begin_view(change))
        change->no_memory =
            !mem_grow_array(change->db->env.allocator, &change->stores, &change->store_capacity,
                            change->store_count, change->store_count + 1, sizeof(struct store *));
    if (change->no_memory)
        return false;
    change->stores[change->store_count++] = store;
    return true;
}

static void
put_store(struct change *change, struct store *store, struct store_view *store_view)
{
    if (view_set_store(change->view, store, store_view) != PETAL_OK)
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

/* The files of the output that have rows of the store: added to `files`, and described. Others, if
 * no store has them, go. */
static size_t
take_output(struct change *change, const struct store *store, petal_slice end,
            const struct output_files *output, struct store_file **files)
{
    size_t count = 0;

    for (size_t i = 0; i < output->count; i++) {
        if (!store_file_has_rows(output->files[i], store->start, end)) {
            change_let_go(change, &output->files[i], 1);
            continue;
        }
        files[count++] = output->files[i];
        manifest_edit_add_file(&change->edit, store->region, store->family->id,
                               &output->described[i]);
    }
    return count;
}

/* The manifest takes the file out and in again, as a file of a run with the rows from one on: so no
 * reader of it has to know of links and cuts. */
static void
describe_again(struct change *change, const struct store *store, const struct store_file *file,
               const uint64_t *run, const petal_slice *first_row)
{
    const struct manifest *manifest = change->db->manifest;
    const struct manifest_store *described =
        manifest_find_store(manifest, store->region, store->family->id);
    struct manifest_file changed;
    size_t place;
    bool found = manifest_find_file(manifest, described, file->number, &place);

    assert(found);
    (void)found;
    changed = described->files[place];
    if (run != NULL)
        changed.run = *run;
    if (first_row != NULL)
        changed.first_row = *first_row;
    manifest_edit_remove_file(&change->edit, store->region, store->family->id, file->number);
    manifest_edit_add_file(&change->edit, store->region, store->family->id, &changed);
}

/* How the files of a store change: arrays with room for all of them. */
struct files_change {
    struct store_file **added, **removed, **cut;
    size_t removed_count, cut_count;
};

/* Those that the store still has, since a region that was split has lost some, go, or what is left
 * of them takes their place. */
static void
take_out_files(struct change *change, const struct store *store, petal_slice end,
               const struct rewritten *rewritten, struct files_change *files)
{
    const struct store_view *present = view_store(change->view, store);

    for (size_t i = 0; i < rewritten->file_count; i++) {
        struct store_file *file = rewritten->files[i];
        struct store_file *cut = rewritten->cuts != NULL ? rewritten->cuts[i] : NULL;

        if (!store_view_has_file(present, file) || cut == file)
            continue;
        if (cut != NULL && store_file_has_rows(cut, store->start, end)) {
            describe_again(change, store, file, NULL, &store_file_facts(cut)->row_min);
            files->cut[files->cut_count++] = cut;
            continue;
        }
        manifest_edit_remove_file(&change->edit, store->region, store->family->id, file->number);
        files->removed[files->removed_count++] = file;
    }
    change_let_go(change, files->removed, files->removed_count);
}

void
change_rewritten(struct change *change, struct store *store, const struct rewritten *rewritten,
                 const struct output_files *output)
{
    const petal_allocator *allocator = change->db->env.allocator;
    size_t most = output->count + 2 * rewritten->file_count + 1;
    struct store_file **memory = mem_alloc(allocator, most * sizeof(struct store_file *));
    struct files_change files = {.added = memory};
    struct store_change difference = {.low = store->start, .remove_memtable = rewritten->memtable};
    struct store_view *made;

    assert(!store_is_dropped(store));
    change->no_memory = change->no_memory || memory == NULL;
    if (touch(change, store)) {
        files.removed = files.added + output->count;
        files.cut = files.removed + rewritten->file_count;
        difference.high = view_end(change->current, store);
        difference.add_files = files.added;
        difference.add_file_count =
            take_output(change, store, difference.high, output, files.added);
        take_out_files(change, store, difference.high, rewritten, &files);
        difference.remove_files = files.removed;
        difference.remove_file_count = files.removed_count;
        difference.cut_files = files.cut;
        difference.cut_file_count = files.cut_count;
        if (store_view_new(&made, allocator, view_store(change->view, store), &difference) ==
            PETAL_OK)
            put_store(change, store, made);
        else
            change->no_memory = true;
    }
    mem_free(allocator, memory, most * sizeof(struct store_file *));
}

static bool
has_output(const struct region_list *list, uint32_t place, const struct output_files *output)
{
    for (size_t i = 0; i < output->count; i++) {
        if (store_file_has_rows(output->files[i], region_at(list, place)->start,
                                region_end(list, place)))
            return true;
    }
    return false;
}

void
change_flushed(struct change *change, const struct store *store, struct store_memtable *memtable,
               const struct output_files *output, uint64_t flushed)
{
    const petal_family *family = store->family;
    const struct region_list *list = view_regions(change->current, family);
    uint32_t place;

    assert(list != NULL && !family_is_dropped(family));
    /* A merge would have flushed it before: so they are neighbours. */
    place = region_place(list, store->start);
    assert(region_at(list, place)->store == store &&
           store_view_has_memtable(region_at(list, place)->view, memtable));
    for (; place < list->count && store_view_has_memtable(region_at(list, place)->view, memtable);
         place++) {
        struct store *present = region_at(list, place)->store;

        change_rewritten(change, present, &(struct rewritten){.memtable = memtable}, output);
        manifest_edit_flushed(&change->edit, present->region, family->id, flushed);
    }
}

void
change_added(struct change *change, const petal_family *family, const struct output_files *output)
{
    const struct region_list *list = view_regions(change->current, family);

    assert(list != NULL && !family_is_dropped(family));
    for (uint32_t i = 0; i < list->count; i++) {
        if (has_output(list, i, output))
            change_rewritten(change, region_at(list, i)->store, &(struct rewritten){0}, output);
    }
}

void
change_linked(struct change *change, struct store *store, struct store_file *const *files,
              size_t file_count, uint64_t run)
{
    const struct store_view *present = view_store(change->current, store);
    struct store_change difference = {
        .link_files = files, .link_file_count = file_count, .link_run = run};
    struct store_view *store_view;

    assert(present != NULL && !store_is_dropped(store));
    if (!touch(change, store))
        return;
    if (store_view_new(&store_view, change->db->env.allocator, present, &difference) != PETAL_OK) {
        change->no_memory = true;
        return;
    }
    put_store(change, store, store_view);
    for (size_t i = 0; i < file_count; i++)
        describe_again(change, store, files[i], &run, NULL);
}

void
change_put_store(struct change *change, struct store *store, struct store_view *store_view)
{
    assert_held(&change->db->schema.mutex);
    assert(store->active != NULL);
    if (touch(change, store))
        put_store(change, store, store_view);
    else
        store_view_unref(store_view);
}

void
change_let_go(struct change *change, struct store_file *const *files, size_t count)
{
    if (!reserve_removed(change, count))
        return;
    for (size_t i = 0; i < count; i++)
        change->removed[change->removed_count++] = files[i];
}

static void
let_go_all(struct change *change, const struct store_view *store)
{
    if (!reserve_removed(change, store->file_count))
        return;
    for (size_t i = 0; i < store->file_count; i++)
        change->removed[change->removed_count++] = store->files[i].file;
}

void
change_remove_store(struct change *change, struct store *store)
{
    assert_held(&change->db->schema.mutex);
    assert_leads(change->db);
    if (!touch(change, store))
        return;
    let_go_all(change, view_store(change->current, store));
    put_store(change, store, NULL);
}

void
change_remove_family(struct change *change, petal_family *family)
{
    const struct region_list *list = view_regions(change->current, family);
    const petal_allocator *allocator = change->db->env.allocator;

    assert_held(&change->db->schema.mutex);
    assert_leads(change->db);
    if (begin_view(change) &&
        !mem_grow_array(allocator, &change->dropped, &change->dropped_capacity,
                        change->dropped_count, change->dropped_count + 1, sizeof(petal_family *)))
        change->no_memory = true;
    if (change->no_memory)
        return;
    change->dropped[change->dropped_count++] = family;
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        if (touch(change, region_at(list, i)->store))
            let_go_all(change, region_at(list, i)->view);
    }
    if (!change->no_memory && view_remove_family(change->view, family->slot) != PETAL_OK)
        change->no_memory = true;
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

/* The store is out of the view: its memtable is no more. */
static void
forget_store(petal_db *db, struct store *store)
{
    assert_leads(db);
    assert(store_is_dropped(store));
    assert(store->active_bytes <= db->writers.active_bytes);
    db->writers.active_bytes -= store->active_bytes;
    if (store->active != NULL)
        db->writers.active_memory -= store->active->charged;
    store->active = NULL;
    store->active_bytes = 0;
    store_forget_written(store);
}

/* Files that no store has any more go with their last reader. */
static void
remove_files(struct change *change)
{
    petal_db *db = change->db;
    size_t gone = 0;

    assert_held(&db->manifest_mutex);
    for (size_t i = 0; i < change->removed_count; i++) {
        struct store_file *file = change->removed[i];

        if (manifest_names_file(db->manifest, file->number))
            continue;
        atomic_store_explicit(&store_file_whole(file)->obsolete, true, memory_order_relaxed);
        change->removed[gone++] = file;
    }
    damage_end(&db->schema, change->removed, gone);
}

/* Has a store by now more than a region is to have? */
static bool
has_grown(const struct change *change)
{
    for (size_t i = 0; !change->db->no_compaction && i < change->store_count; i++) {
        const struct store_view *store = view_store(change->view, change->stores[i]);

        if (store != NULL &&
            store_view_file_bytes(store) > db_max_region_bytes(change->stores[i]->family->table))
            return true;
    }
    return false;
}

void
change_publish(struct change *change)
{
    petal_db *db = change->db;
    bool grown;

    assert_held(&db->views.mutex);
    if (change->view == NULL)
        return;
    assert(!change->no_memory && atomic_load(&db->views.current) == change->current);
    remove_files(change);
    for (size_t i = 0; i < change->dropped_count; i++) {
        if (change->dropped[i]->unusable)
            damage_remove_lost(change->dropped[i]);
    }
    for (size_t i = 0; i < change->store_count; i++) {
        if (view_store(change->view, change->stores[i]) == NULL)
            forget_store(db, change->stores[i]);
    }
    grown = has_grown(change);
    db_publish_view(db, change->view);
    change->view = NULL; /* the database's */
    for (size_t i = 0; i < change->store_count; i++)
        progress_count_runs(&db->progress, &db->views, change->stores[i]);
    if (grown)
        progress_tell_grown(&db->progress);
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
    mem_free(allocator, change->stores, change->store_capacity * sizeof(struct store *));
    mem_free(allocator, change->dropped, change->dropped_capacity * sizeof(petal_family *));
    mem_free(allocator, change->removed, change->removed_capacity * sizeof *change->removed);
}
