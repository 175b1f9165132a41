/* refresh.c -- see refresh.h. */
#include "engine/db/refresh.h"

#include "base/argument.h"
#include "engine/state/read_point.h"
#include "engine/store/open.h"

#include <assert.h>
#include <stdlib.h>

/* A writer that replaces its manifest as fast as it is read does nothing else. */
#define MOST_ATTEMPTS 100

struct reading *
reading_new(petal_db *db, const petal_options *options)
{
    struct reading *reading = mem_zalloc(db->env.allocator, sizeof *reading);

    if (reading == NULL)
        return NULL;
    if (!mutex_init(&reading->mutex)) {
        mem_free(db->env.allocator, reading, sizeof *reading);
        return NULL;
    }
    reading->at_snapshots = options->refresh_at_snapshots;
    return reading;
}

void
reading_free(petal_db *db)
{
    struct reading *reading = db->reading;

    if (reading == NULL)
        return;
    for (size_t i = 0; i < reading->old_count; i++)
        view_unref(reading->old[i].view);
    mem_free(db->env.allocator, reading->old, reading->old_capacity * sizeof *reading->old);
    mutex_fini(&reading->mutex);
    mem_free(db->env.allocator, reading, sizeof *reading);
    db->reading = NULL;
}

/* ---- a state of the manifest ---- */

/* Taking over a state that was loaded. */
struct takeover {
    petal_db *db;
    struct manifest *state; /* the new one */
    struct view *current, *view;
    bool anew; /* with new memtables */
};

/* Give the store another memtable, or none. The old one belongs to the views, and was freed if the
 * refresh that made it failed: so its charge stays in writers.active_memory, which only
 * decides when to flush. */
static void
replace_active(petal_db *db, struct store *store, struct store_memtable *memtable)
{
    assert_leads(db);
    db->writers.active_bytes -= store->active_bytes;
    store_forget_written(store);
    store->active = memtable;
    store->active_bytes = 0;
}

/* The stores of the family are out of the view, and have no memtables. */
static enum petal_status
hide_stores(struct takeover *takeover, petal_family *family)
{
    for (size_t i = 0; i < family->stores.count; i++)
        replace_active(takeover->db, family->stores.places[i].store, NULL);
    return view_at(takeover->view, family->slot) != NULL
               ? view_remove_family(takeover->view, family->slot)
               : PETAL_OK;
}

static enum petal_status
retire_tables(struct takeover *takeover)
{
    enum petal_status status = PETAL_OK;

    for (petal_table *table = takeover->db->schema.tables; table != NULL; table = table->next) {
        const struct table_descriptor *descriptor = table_descriptor(table);

        if (manifest_find_table(takeover->state, table->id) != NULL)
            continue;
        for (size_t i = 0; status == PETAL_OK && i < descriptor->family_count; i++)
            status = hide_stores(takeover, descriptor->families[i]);
    }
    return status;
}

static int
compare_numbers(const void *a, const void *b)
{
    uint64_t first = (*(struct store_file *const *)a)->number;
    uint64_t second = (*(struct store_file *const *)b)->number;

    return (first > second) - (first < second);
}

static int
compare_to_number(const void *key, const void *element)
{
    uint64_t number = *(const uint64_t *)key,
             other = (*(struct store_file *const *)element)->number;

    return (number > other) - (number < other);
}

/* The open files of the store by number; NULL: no memory. */
static struct store_file **
files_by_number(const struct store_view *store, const petal_allocator *allocator)
{
    struct store_file **files = mem_alloc(allocator, store->file_count * sizeof *files);

    for (size_t i = 0; files != NULL && i < store->file_count; i++)
        files[i] = store->files[i].file;
    if (files != NULL)
        qsort(files, store->file_count, sizeof *files, compare_numbers);
    return files;
}

/* The described file: what is open of it, if that is all that is new. */
static enum petal_status
take_file(struct takeover *takeover, petal_family *family, const struct manifest_file *described,
          struct store_file *const *open, size_t open_count, struct store_file **file,
          petal_error *error)
{
    struct store_file *const *found = NULL;

    if (open_count > 0)
        found = bsearch(&described->number, open, open_count, sizeof *open, compare_to_number);
    return db_open_described(takeover->db, family, described, found != NULL ? *found : NULL, file,
                             error);
}

/* Open the described files; *opened of them are open, also on failure. */
static enum petal_status
take_files(struct takeover *takeover, petal_family *family, const struct manifest_store *described,
           const struct store_view *present, struct store_file **files, size_t *opened,
           petal_error *error)
{
    const petal_allocator *allocator = takeover->db->env.allocator;
    size_t open_count = present != NULL ? present->file_count : 0;
    struct store_file **open = NULL;
    enum petal_status status = PETAL_OK;

    *opened = 0;
    if (open_count > 0) {
        open = files_by_number(present, allocator);
        if (open == NULL)
            return error_no_memory(error);
    }
    for (; status == PETAL_OK && *opened < described->file_count; *opened += status == PETAL_OK)
        status = take_file(takeover, family, &described->files[*opened], open, open_count,
                           &files[*opened], error);
    mem_free(allocator, open, open_count * sizeof *open);
    return status;
}

static enum petal_status
put_store(struct takeover *takeover, struct store *store, petal_slice end,
          struct store_memtable *memtable, struct store_file *const *files, size_t count,
          petal_error *error)
{
    struct store_view *made;
    struct store_change change = {.low = store->start,
                                  .high = end,
                                  .add_memtable = memtable,
                                  .add_files = files,
                                  .add_file_count = count};

    if (store_view_new(&made, takeover->db->env.allocator, NULL, &change) != PETAL_OK ||
        view_set_store(takeover->view, store, made) != PETAL_OK)
        return error_no_memory(error);
    if (store->active != memtable)
        replace_active(takeover->db, store, memtable);
    return PETAL_OK;
}

/* Does the store have these files already, and keep its memtable? */
static bool
is_as_described(const struct takeover *takeover, const struct store_view *present,
                const struct manifest_store *before, const struct manifest_store *described)
{
    if (takeover->anew || present == NULL || before == NULL ||
        before->file_count != described->file_count)
        return false;
    for (size_t i = 0; i < described->file_count; i++) {
        /* The order is normally the same. If not, the store is made again, which is right, too. */
        if (before->files[i].number != described->files[i].number ||
            before->files[i].run != described->files[i].run ||
            !slice_equal(before->files[i].first_row, described->files[i].first_row))
            return false;
    }
    return true;
}

/* The store's memtables and files in the current view; NULL: it is not in the view. */
static const struct store_view *
present_view(const struct takeover *takeover, const struct store *store)
{
    const struct region_store *region = view_row_region(takeover->current, store->family,
                                                        slice_head(store->start, 0), store->start);

    return region != NULL ? region->view : NULL;
}

/* Make the store at `place` as it is described. */
static enum petal_status
take_store(struct takeover *takeover, petal_family *family, size_t place,
           const struct manifest_store *described, petal_error *error)
{
    petal_db *db = takeover->db;
    struct store *store = family->stores.places[place].store;
    const struct store_view *present = present_view(takeover, store);
    struct store_memtable *made = NULL;
    struct store_file **files;
    size_t opened = 0;
    enum petal_status status = PETAL_OK;

    if (is_as_described(takeover, present,
                        manifest_find_store(db->manifest, store->region, family->id), described))
        return PETAL_OK;
    files = mem_zalloc(db->env.allocator, (described->file_count + 1) * sizeof *files);
    if (files == NULL)
        return error_no_memory(error);
    if ((takeover->anew || store->active == NULL) &&
        store_memtable_new(&made, db->env.allocator) != PETAL_OK)
        status = error_no_memory(error);
    if (status == PETAL_OK)
        status = take_files(takeover, family, described, present, files, &opened, error);
    if (status == PETAL_OK)
        status = put_store(takeover, store, family_store_end(family, place),
                           made != NULL ? made : store->active, files, opened, error);
    for (size_t i = 0; i < opened; i++)
        store_file_unref(files[i]);
    store_memtable_unref(made);
    mem_free(db->env.allocator, files, (described->file_count + 1) * sizeof *files);
    return status;
}

/* The handle of the region; NULL: there is none. */
static struct store *
find_store(const struct store_map *map, const struct manifest_region *region)
{
    struct store *store = map->count > 0 ? store_map_search(map, region->start) : NULL;

    return store != NULL && store->region == region->id && slice_equal(store->start, region->start)
               ? store
               : NULL;
}

static bool
has_regions(const struct store_map *map, const struct manifest_table *described)
{
    bool same = map->count == described->region_count;

    for (size_t i = 0; same && i < map->count; i++)
        same = map->places[i].store->region == described->regions[i]->id;
    return same;
}

/* Does the view show exactly these regions of the family? An earlier attempt of the same refresh
 * may have made handles for a state that no view shows. */
static bool
shows_regions(const struct view *view, const petal_family *family,
              const struct manifest_table *described)
{
    const struct region_list *list = view_regions(view, family);
    bool same = list != NULL && list->count == described->region_count;

    for (uint32_t i = 0; same && i < list->count; i++)
        same = region_at(list, i)->store->region == described->regions[i]->id;
    return same;
}

/* Give the family exactly these regions, with new handles for those that it does not have. */
static enum petal_status
follow_regions(struct takeover *takeover, petal_family *family,
               const struct manifest_table *described)
{
    enum petal_status status = PETAL_OK;
    struct store_map before = family->stores;

    if (has_regions(&before, described) && shows_regions(takeover->view, family, described))
        return PETAL_OK;
    status = hide_stores(takeover, family);
    family->stores = (struct store_map){0};
    if (status == PETAL_OK && !family_reserve_stores(family, described->region_count))
        status = PETAL_NO_MEMORY;
    for (size_t i = 0; status == PETAL_OK && i < described->region_count; i++) {
        const struct manifest_region *region = described->regions[i];
        struct store *store = find_store(&before, region);

        if (store == NULL)
            store = store_new(family, region->id, region->split_ms, region->start);
        if (store != NULL)
            family_show_store(family, store);
        else
            status = PETAL_NO_MEMORY;
    }
    mem_free(takeover->db->env.allocator, before.places, before.capacity * sizeof *before.places);
    return status;
}

static enum petal_status
take_family(struct takeover *takeover, petal_table *table, const struct manifest_table *described,
            const struct manifest_family *from, petal_error *error)
{
    petal_family *family = table_family_by_id(table, from->id);
    enum petal_status status = follow_regions(takeover, family, described);

    if (status != PETAL_OK)
        return error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < described->region_count; i++)
        status = take_store(takeover, family, i, &from->stores[i], error);
    return status;
}

/* A new table counts as dropped, so nobody finds it, until the state is shown. */
static enum petal_status
take_table(struct takeover *takeover, const struct manifest_table *described, petal_error *error)
{
    petal_table *table = table_by_id(&takeover->db->schema, described->id);
    enum petal_status status;

    if (table != NULL) {
        status = table_follow(table, described);
    } else {
        status = table_attach(&takeover->db->schema, described, &table);
        if (status == PETAL_OK)
            atomic_store_explicit(&table->dropped, true, memory_order_release);
    }
    if (status != PETAL_OK)
        return error_no_memory(error);
    for (petal_family *family = table->all_families; family != NULL; family = family->next) {
        if (manifest_find_family(described, family->id) == NULL &&
            hide_stores(takeover, family) != PETAL_OK)
            return error_no_memory(error);
    }
    for (size_t i = 0; status == PETAL_OK && i < described->family_count; i++)
        status = take_family(takeover, table, described, &described->families[i], error);
    return status;
}

/* The number of families without handles. */
static size_t
count_new_families(const struct takeover *takeover)
{
    size_t count = 0;

    for (size_t i = 0; i < takeover->state->table_count; i++) {
        const struct manifest_table *described = takeover->state->tables[i];
        petal_table *table = table_by_id(&takeover->db->schema, described->id);

        for (size_t k = 0; !manifest_is_snapshot(described) && k < described->family_count; k++)
            count += table == NULL || table_family_by_id(table, described->families[k].id) == NULL;
    }
    return count;
}

/* REQUIRES: the lead, and the mutexes of the schema, the manifest and the views. */
static enum petal_status
take_tables(struct takeover *takeover, petal_error *error)
{
    petal_db *db = takeover->db;
    enum petal_status status = PETAL_OK;

    takeover->current = atomic_load_explicit(&db->views.current, memory_order_relaxed);
    if (view_new(&takeover->view, db->env.allocator, &db->views, takeover->current,
                 db->schema.slot_count + count_new_families(takeover)) != PETAL_OK)
        return error_no_memory(error);
    if (retire_tables(takeover) != PETAL_OK)
        return error_no_memory(error);
    for (size_t i = 0; status == PETAL_OK && i < takeover->state->table_count; i++) {
        const struct manifest_table *described = takeover->state->tables[i];

        if (!manifest_is_snapshot(described))
            status = take_table(takeover, described, error);
    }
    return status;
}

/* Has the writer flushed a store of a table that both have, or does it have other regions? */
static bool
has_flushed(const struct manifest_table *before, const struct manifest_table *after)
{
    if (before->region_count != after->region_count)
        return true;
    for (size_t i = 0; i < after->region_count; i++) {
        if (before->regions[i]->id != after->regions[i]->id)
            return true;
    }
    for (size_t k = 0; k < after->family_count; k++) {
        const struct manifest_family *family = manifest_find_family(before, after->families[k].id);

        for (size_t i = 0; family != NULL && i < after->region_count; i++) {
            if (family->stores[i].flushed_sequence != after->families[k].stores[i].flushed_sequence)
                return true;
        }
    }
    return false;
}

static bool
some_has_flushed(const struct manifest *before, const struct manifest *after)
{
    for (size_t i = 0; i < after->table_count; i++) {
        const struct manifest_table *table = manifest_find_table(before, after->tables[i]->id);

        if (table != NULL && has_flushed(table, after->tables[i]))
            return true;
    }
    return false;
}

static enum petal_status
load_manifest(petal_db *db, struct manifest **manifest, petal_error *error)
{
    enum petal_status status = manifest_load_live(manifest, &db->directory, error);

    if (status != PETAL_OK || (*manifest)->database_identity == db->identity)
        return status;
    manifest_free(*manifest);
    *manifest = NULL;
    return error_file(error, PETAL_NOT_FOUND, db->directory.path,
                      "%s holds another database by now, or the next backup: open it anew",
                      db->directory.path);
}

/* The state that the manifest has now, in *next, a view that is not published. */
static enum petal_status
take_state(petal_db *db, struct view **next, petal_error *error)
{
    struct reading *reading = db->reading;
    struct takeover takeover = {.db = db};
    enum petal_status status = load_manifest(db, &takeover.state, error);

    if (status != PETAL_OK)
        return status;
    takeover.anew =
        reading->anew || some_has_flushed(db->manifest, takeover.state) ||
        (reading->place.number != 0 && reading->place.number < takeover.state->oldest_log);
    reading->anew = true; /* until the view is published */
    mutex_lock(&db->schema.mutex);
    mutex_lock(&db->manifest_mutex);
    mutex_lock(&db->views.mutex);
    status = take_tables(&takeover, error);
    if (status == PETAL_OK) {
        struct manifest *before = db->manifest;

        db->manifest = takeover.state;
        takeover.state = before;
    }
    mutex_unlock(&db->views.mutex);
    mutex_unlock(&db->manifest_mutex);
    mutex_unlock(&db->schema.mutex);
    manifest_free(takeover.state);
    view_unref(*next);
    *next = takeover.view;
    if (status == PETAL_OK && takeover.anew)
        reading->place = (struct log_place){0};
    return status;
}

/* ---- a refresh ---- */

/* *next, NULL: the current view's stores; *sequence: what is to be seen of them. */
static enum petal_status
read_on(petal_db *db, struct view **next, uint64_t *sequence, petal_error *error)
{
    struct reading *reading = db->reading;
    struct manifest_news news;
    enum petal_status status = manifest_look(db->manifest, &news, error);

    for (unsigned i = 0; status == PETAL_OK && i < MOST_ATTEMPTS; i++) {
        enum petal_status logs;
        enum log_end end;
        petal_error cause;

        if (news.changed || reading->anew)
            status = take_state(db, next, error);
        if (status != PETAL_OK)
            return status;
        logs = recovery_read_logs(db, &reading->place, &end, &cause);
        if (logs != PETAL_OK && error_passes(&cause))
            return error_copy(error, &cause);
        status = manifest_look(db->manifest, &news, error);
        /* Logs that do not fit to the state that was loaded may fit to a later one. */
        if (status == PETAL_OK && (logs != PETAL_OK || end == LOG_AHEAD) && !news.changed)
            return error_copy(error, &cause);
        reading->anew |= logs != PETAL_OK || end == LOG_CHANGED;
        if (status != PETAL_OK || logs != PETAL_OK || end == LOG_CHANGED || news.replaced ||
            (i == 0 && news.changed))
            continue;
        *sequence = reading->place.sequence;
        if (news.changed && *sequence > news.last_sequence)
            *sequence = news.last_sequence;
        if (*sequence < db->manifest->last_sequence)
            *sequence = db->manifest->last_sequence;
        return PETAL_OK;
    }
    return status != PETAL_OK
               ? status
               : error_file(error, PETAL_BUSY, db->directory.path,
                            "%s changes faster than it can be read", db->directory.path);
}

static void
show_view(petal_db *db, struct view *next)
{
    mutex_lock(&db->views.mutex);
    db_publish_view(db, next);
    mutex_unlock(&db->views.mutex);
}

/* Make the handles those of the newest state, which is that of `next`. What was dropped is flagged
 * before the view without its stores is published; what is new is found only after its stores are
 * in the view. */
static void
show_state(petal_db *db, struct view *next)
{
    petal_table *following;

    mutex_lock(&db->schema.mutex);
    for (petal_table *table = db->schema.tables; table != NULL; table = following) {
        following = table->next;
        table_show_next(table);
        if (manifest_find_table(db->manifest, table->id) == NULL) {
            atomic_store_explicit(&table->dropped, true, memory_order_release);
            table_retire(table);
        }
    }
    show_view(db, next);
    for (petal_table *table = db->schema.tables; table != NULL; table = table->next)
        atomic_store_explicit(&table->dropped, false, memory_order_release);
    mutex_unlock(&db->schema.mutex);
}

/* Takes over `next`. */
static enum petal_status
publish(petal_db *db, struct view *next, uint64_t sequence, petal_error *error)
{
    struct reading *reading = db->reading;
    const petal_allocator *allocator = db->env.allocator;
    struct view *before = atomic_load_explicit(&db->views.current, memory_order_relaxed);
    uint64_t shown = atomic_load_explicit(before->sequence, memory_order_relaxed);
    bool is_state = next != NULL;

    if (next == NULL && sequence <= shown)
        return PETAL_OK;
    if (!mem_grow_array(allocator, &reading->old, &reading->old_capacity, reading->old_count,
                        reading->old_count + 1, sizeof *reading->old) ||
        (next == NULL && view_new(&next, allocator, &db->views, before, 0) != PETAL_OK)) {
        view_unref(next);
        return error_no_memory(error);
    }
    /* A change that was begun before what was seen, and made after it. */
    view_fix(next, sequence > shown ? sequence : shown);
    view_ref(before);
    reading->old[reading->old_count++] = (struct old_view){before, reading->state};
    if (is_state)
        show_state(db, next);
    else
        show_view(db, next);
    reading->state = db->manifest->number;
    reading->anew = false;
    return PETAL_OK;
}

/* Forget the views that nobody reads any more; returns the oldest state that is in use. */
static uint64_t
forget_old_views(petal_db *db)
{
    struct reading *reading = db->reading;
    uint64_t oldest = reading->state;

    db_collect(db);
    for (size_t i = 0; i < reading->old_count;) {
        struct old_view old = reading->old[i];

        /* All other references belong to readers, and there will be no new readers. */
        if (atomic_load_explicit(&old.view->references, memory_order_acquire) == 1) {
            view_unref(old.view);
            reading->old[i] = reading->old[--reading->old_count];
            continue;
        }
        if (old.state < oldest)
            oldest = old.state;
        i++;
    }
    return oldest;
}

static enum petal_status
refresh(petal_db *db, petal_error *error)
{
    struct reading *reading = db->reading;
    struct view *next = NULL;
    struct write_place lead;
    uint64_t sequence = 0;
    enum petal_status status;

    assert(db->read_only);
    status = db_check_not_capturing(db, error);
    if (status != PETAL_OK)
        return status;
    mutex_lock(&reading->mutex);
    if (reading->joined)
        status = readers_say(&db->readers, forget_old_views(db), READERS_LOADING, error);
    if (status == PETAL_OK) {
        write_lead_alone(&db->writers.queue, &lead);
        status = read_on(db, &next, &sequence, error);
        if (status == PETAL_OK)
            status = publish(db, next, sequence, error);
        else
            view_unref(next);
        write_lead_end(&db->writers.queue, &lead);
    }
    if (reading->joined) {
        uint64_t oldest = forget_old_views(db);

        /* If this fails, more files are kept than needed. */
        if (status == PETAL_OK)
            (void)readers_say(&db->readers, oldest, reading->state, NULL);
    }
    mutex_unlock(&reading->mutex);
    return status;
}

enum petal_status
reading_begin(petal_db *db, petal_error *error)
{
    db->reading->state = db->manifest->number;
    return refresh(db, error);
}

enum petal_status
petal_refresh(petal_db *db, petal_error *error)
{
    RETURN_IF_NULL(db, error);
    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    return db->read_only ? refresh(db, error) : PETAL_OK;
}

enum petal_status
petal_snapshot_new(petal_db *db, petal_snapshot **snapshot, petal_error *error)
{
    RETURN_IF_NULL(snapshot, error);
    *snapshot = NULL;
    RETURN_IF_NULL(db, error);

    enum petal_status status = PETAL_OK;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    if (db->read_only && db->reading->at_snapshots)
        status = refresh(db, error);
    return status == PETAL_OK ? snapshot_take(db, snapshot, error) : status;
}
