/* copy.c -- see copy.h. */
#include "engine/db/copy.h"

#include "base/checksum.h"
#include "engine/db/lock.h"
#include "engine/db/new_files.h"
#include "engine/flush/flush.h"
#include "engine/table/link.h"
#include "sstable/sst_walk.h"

#include <errno.h>

/* ---- progress ---- */

static bool
go_on(void *argument, uint64_t bytes)
{
    struct copy *copy = argument;

    copy->done = copy->total - copy->done > bytes ? copy->done + bytes : copy->total;
    return copy->watch == NULL || copy->watch(copy->argument, copy->done, copy->total);
}

static enum petal_status
give_up(petal_error *error)
{
    return error_set(error, PETAL_BUSY, "the copy was given up");
}

/* ---- locks ---- */

enum petal_status
copy_lock(petal_db *db, petal_error *error)
{
    enum petal_status status = db_check_not_capturing(db, error);

    if (status == PETAL_OK && db->reading != NULL)
        mutex_lock(&db->reading->mutex);
    return status == PETAL_OK ? db_begin_capture(db, error) : status;
}

void
copy_unlock(petal_db *db)
{
    db_end_capture(db);
    if (db->reading != NULL)
        mutex_unlock(&db->reading->mutex);
}

/* ---- shelves and sets of numbers ---- */

static bool
add(struct copy *copy, struct number_map *map, uint64_t key, uint64_t value)
{
    if (!number_map_reserve(map, copy->db->env.allocator, 1))
        return false;
    number_map_add(map, key, value);
    return true;
}

static bool
find(const struct number_map *map, uint64_t key, uint64_t *value)
{
    size_t place = 0;

    return number_map_next(map, key, &place, value);
}

static bool
has_pair(const struct number_map *map, uint64_t key, uint64_t value)
{
    size_t place = 0;
    uint64_t found;

    while (number_map_next(map, key, &place, &found)) {
        if (found == value)
            return true;
    }
    return false;
}

static bool
has(const struct number_map *map, uint64_t key)
{
    uint64_t value;

    return find(map, key, &value);
}

/* Of the bytes of a file, by all that a manifest says of them. */
static uint64_t
key_of(const struct manifest_file *file)
{
    const uint64_t facts[] = {file->file_bytes, file->sequence_min - file->sequence_shift,
                              file->sequence_max - file->sequence_shift, file->cells};

    return checksum_at(file->identity, 0, facts, sizeof facts);
}

bool
copy_shelf_fill(struct copy_shelf *shelf, struct directory *directory,
                const struct manifest *manifest)
{
    const petal_allocator *allocator = directory->env->allocator;

    shelf->directory = directory;
    for (size_t t = 0; t < manifest->table_count; t++) {
        const struct manifest_table *table = manifest->tables[t];

        for (size_t i = 0; i < table->family_count * table->region_count; i++) {
            const struct manifest_store *store = manifest_store_at(table, i);

            if (!number_map_reserve(&shelf->numbers, allocator, store->file_count))
                return false;
            for (size_t k = 0; k < store->file_count; k++) {
                uint64_t key = key_of(&store->files[k]), number = store->files[k].number;

                if (!has_pair(&shelf->numbers, key, number)) /* of another region, too */
                    number_map_add(&shelf->numbers, key, number);
            }
        }
    }
    return true;
}

/* ---- what is in the directory ---- */

enum petal_status
copy_check_path(const struct copy *copy, const char *path, bool *inside, petal_error *error)
{
    int failed;

    *inside = false;
    if (!filename_directory_fits(path))
        return error_set(error, PETAL_INVALID, "the path of the directory is empty or too long");
    failed = directory_contains(&copy->db->directory, path, inside);
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "tell the place of");
}

struct stock {
    struct copy *copy;
    bool failed; /* no memory */
};

static void
note_name(void *argument, const char *name)
{
    struct stock *stock = argument;
    struct copy *copy = stock->copy;
    uint64_t number;
    enum filename_kind kind = filename_parse(name, &number);

    if ((kind != FILENAME_STORE_FILE && kind != FILENAME_WAL) ||
        !manifest_number_possible(&copy->capture->state, number))
        return;
    if (number >= copy->next_number)
        copy->next_number = number + 1;
    if (kind == FILENAME_STORE_FILE)
        stock->failed = stock->failed || !add(copy, &copy->taken, number, 0);
}

static enum petal_status
take_stock(struct copy *copy, petal_error *error)
{
    struct stock stock = {.copy = copy};
    int failed;

    copy->next_number = copy->capture->state.next_file_number;
    if (copy->old != NULL && copy->old->next_file_number > copy->next_number)
        copy->next_number = copy->old->next_file_number;
    failed = directory_list(&copy->made.directory, note_name, &stock);
    if (failed != 0)
        return error_io(error, copy->made.directory.path, failed, "list directory");
    copy->placed.directory = &copy->made.directory;
    if (stock.failed || (copy->is_backup && copy->old != NULL &&
                         !copy_shelf_fill(&copy->present, &copy->made.directory, copy->old)))
        return error_no_memory(error);
    copy->is_stocked = true;
    return PETAL_OK;
}

/* ---- the manifest ---- */

uint64_t
copy_backup_identity(uint64_t database_identity, petal_slice items)
{
    return checksum_at(database_identity, 0, items.data, items.size);
}

/* States of the directory ascend, whatever database they come from. */
static uint64_t
next_state(const struct copy *copy)
{
    uint64_t state = copy->capture->state.number, old = copy->old != NULL ? copy->old->number : 0;

    return (state > old ? state : old) + 1;
}

static enum petal_status
write_manifest(struct copy *copy, struct manifest *state, petal_error *error)
{
    struct manifest_edit edit;
    uint64_t identity = copy->identity;
    enum petal_status status;

    state->number = next_state(copy);
    manifest_edit_init(&edit, copy->db->env.allocator);
    manifest_edit_snapshot(&edit, state);
    if (copy->is_backup)
        identity = copy_backup_identity(copy->db->identity, slice_make(edit.bytes, edit.size));
    status = new_database_complete(&copy->made, identity, state->salt, &edit, error);
    manifest_edit_fini(&edit);
    if (status == PETAL_OK)
        readers_note_state(&copy->readers, state->number);
    return status;
}

/* Ids that `other` knows are known to `state`, too. Whether one was not. */
static bool
raise_ids(struct manifest *state, const struct manifest *other)
{
    bool raised = other->next_table_id > state->next_table_id;

    if (raised)
        state->next_table_id = other->next_table_id;
    for (size_t i = 0; i < state->table_count; i++) {
        struct manifest_table *table = state->tables[i];
        const struct manifest_table *same = manifest_find_table(other, table->id);

        if (same == NULL || same->next_family_id <= table->next_family_id)
            continue;
        table->next_family_id = same->next_family_id;
        raised = true;
    }
    return raised;
}

static enum petal_status
settle_ids(struct copy *copy, petal_error *error)
{
    if (copy->old == NULL)
        return PETAL_OK;
    (void)raise_ids(&copy->capture->state, copy->old);
    if (!raise_ids(copy->old, &copy->capture->state))
        return PETAL_OK;
    return write_manifest(copy, copy->old, error);
}

/* ---- one store file ---- */

/* Has the file of the copy the size that it should have? */
static enum petal_status
check_size(const struct copy *copy, const struct manifest_file *file, uint64_t number, bool *right,
           petal_error *error)
{
    const petal_vfs *vfs = copy->db->env.vfs;
    char path[PETAL_PATH_BYTES];
    petal_file *opened;
    uint64_t bytes = 0;
    int failed;

    *right = false;
    filename_store_file(path, copy->made.directory.path, number);
    failed = directory_open_file(&copy->made.directory, path, PETAL_FILE_READ, &opened);
    if (failed == ENOENT)
        return PETAL_OK;
    if (failed != 0)
        return error_io(error, path, failed, "open");
    failed = vfs->size(vfs->context, opened, &bytes);
    vfs->close(vfs->context, opened);
    *right = failed == 0 && bytes == file->file_bytes;
    return failed == 0 ? PETAL_OK : error_io(error, path, failed, "take the size of");
}

/* One that is there already, which no other file of the state uses. */
static enum petal_status
find_present(struct copy *copy, const struct manifest_file *file, uint64_t *number, bool *found,
             petal_error *error)
{
    const uint64_t key = key_of(file);
    enum petal_status status = PETAL_OK;

    *found = false;
    while (status == PETAL_OK && !*found && find(&copy->present.numbers, key, number)) {
        number_map_remove(&copy->present.numbers, key, *number);
        status = check_size(copy, file, *number, found, error);
    }
    return status;
}

/* *made false: the shelf has no such file, or linking to it failed, and there is another way. */
static enum petal_status
link_from(struct copy *copy, const struct copy_shelf *shelf, const struct manifest_file *file,
          const char *to, bool *made, petal_error *error)
{
    char from[PETAL_PATH_BYTES];
    uint64_t number;
    enum petal_status status;
    int failed;

    *made = false;
    if (shelf->directory == NULL || !find(&shelf->numbers, key_of(file), &number))
        return PETAL_OK;
    filename_store_file(from, shelf->directory->path, number);
    if (file_link(shelf->directory, from, &copy->made.directory, to, made, NULL) != PETAL_OK)
        *made = false;
    if (!*made)
        return PETAL_OK;
    status = check_size(copy, file, file->number, made, error);
    if (status != PETAL_OK || *made)
        return status;
    failed = directory_remove(&copy->made.directory, to);
    return failed == 0 ? PETAL_OK : error_io(error, to, failed, "remove");
}

/* The copy is read back. If it is wrong, was the file? */
static enum petal_status
check_copy(const struct copy *copy, const struct manifest_file *file, const char *from,
           const char *to, petal_error *error)
{
    const struct sst_walk_options options = {.file_identity = file->identity};
    petal_error cause;
    bool right = false;
    enum petal_status status = check_size(copy, file, file->number, &right, error);

    if (status != PETAL_OK)
        return status;
    if (right)
        status = sst_verify(&copy->made.directory, to, &options, NULL, &cause);
    if (right && status == PETAL_OK)
        return PETAL_OK;
    if (right && error_passes(&cause))
        return error_copy(error, &cause);
    status = sst_verify(&copy->db->directory, from, &options, NULL, error);
    if (status != PETAL_OK)
        return status;
    return right ? error_corrupt(error, to, cause.offset, "%s was not written as %.300s is: %.300s",
                                 to, from, cause.text)
                 : error_corrupt(error, from, 0,
                                 "%s is not the store file that the manifest describes", from);
}

static enum petal_status
link_or_copy(struct copy *copy, const struct manifest_file *file, uint64_t number,
             petal_error *error)
{
    const struct file_watch watch = {go_on, copy};
    char from[PETAL_PATH_BYTES], to[PETAL_PATH_BYTES];
    bool made = false;
    enum petal_status status;

    filename_store_file(from, copy->db->directory.path, number);
    filename_store_file(to, copy->made.directory.path, file->number);
    status = link_from(copy, &copy->placed, file, to, &made, error);
    if (status == PETAL_OK && !made)
        status = link_from(copy, &copy->previous, file, to, &made, error);
    if (status == PETAL_OK && !made && !copy->never_links)
        status = file_link(&copy->db->directory, from, &copy->made.directory, to, &made, error);
    if (status != PETAL_OK)
        return status;
    if (made) {
        copy->report.linked++;
        return go_on(copy, file->file_bytes) ? PETAL_OK : give_up(error);
    }
    status = file_copy(&copy->db->directory, from, &copy->made.directory, to, &watch, error);
    if (status == PETAL_OK)
        status = check_copy(copy, file, from, to, error);
    copy->report.copied += status == PETAL_OK;
    copy->report.bytes_copied += status == PETAL_OK ? file->file_bytes : 0;
    return status;
}

/* Into the new state. */
static enum petal_status
note_placed(struct copy *copy, const struct manifest_file *file, petal_error *error)
{
    copy->report.files++;
    copy->report.bytes += file->file_bytes;
    return add(copy, &copy->named, file->number, 0) &&
                   add(copy, &copy->placed.numbers, key_of(file), file->number)
               ? PETAL_OK
               : error_no_memory(error);
}

static enum petal_status
place_file(struct copy *copy, struct manifest_file *file, petal_error *error)
{
    uint64_t number = file->number, present;
    bool found;
    enum petal_status status;

    /* Of another region, too. */
    if (find(&copy->places, number, &file->number))
        return go_on(copy, file->file_bytes) ? PETAL_OK : give_up(error);
    status = find_present(copy, file, &present, &found, error);
    if (status != PETAL_OK)
        return status;
    if (found) {
        file->number = present;
        copy->report.skipped++;
        if (!go_on(copy, file->file_bytes))
            return give_up(error);
    } else {
        if (has(&copy->taken, number))
            file->number = copy->next_number++;
        status = link_or_copy(copy, file, number, error);
    }
    if (status == PETAL_OK && !add(copy, &copy->places, number, file->number))
        status = error_no_memory(error);
    return status == PETAL_OK ? note_placed(copy, file, error) : status;
}

static enum petal_status
place_files(struct copy *copy, petal_error *error)
{
    const struct manifest *state = &copy->capture->state;
    enum petal_status status = PETAL_OK;

    for (size_t t = 0; t < state->table_count; t++) {
        const struct manifest_table *table = state->tables[t];

        for (size_t i = 0; i < table->family_count * table->region_count; i++) {
            struct manifest_store *store = manifest_store_at(table, i);

            for (size_t k = 0; status == PETAL_OK && k < store->file_count; k++)
                status = place_file(copy, &store->files[k], error);
        }
    }
    return status;
}

/* ---- what memtables hold ---- */

struct written {
    struct copy *copy;
    struct manifest_store *store;
};

static bool
note_written(void *argument, const struct manifest_file *file)
{
    struct written *written = argument;
    struct copy *copy = written->copy;
    struct manifest_store *store = written->store;

    if (!mem_grow_array(copy->db->env.allocator, &store->files, &store->file_capacity,
                        store->file_count, store->file_count + 1, sizeof *store->files))
        return false;
    store->files[store->file_count++] = *file;
    if (file->sequence_max > store->flushed_sequence)
        store->flushed_sequence = file->sequence_max;
    copy->report.written++;
    copy->report.bytes_copied += file->file_bytes;
    return note_placed(copy, file, NULL) == PETAL_OK;
}

/* Of the store at `place` of its family, which has such cells. */
static enum petal_status
write_store(struct copy *copy, const petal_family *family, const struct store_view *store,
            size_t place, const struct manifest_table *table, struct manifest_family *described,
            petal_error *error)
{
    const petal_allocator *allocator = copy->db->env.allocator;
    struct written written = {copy, &described->stores[place]};
    struct new_files files = {
        .directory = &copy->made.directory,
        .options = &described->options,
        .owner = {table->id, described->id, table->name, described->options.name},
        .origin = FILE_ORIGIN_FLUSH,
        .salt = copy->db->salt,
        .next_number = &copy->next_number,
        .last_sequence = copy->capture->state.last_sequence,
        .made = note_written,
        .argument = &written,
    };
    size_t count = store->memtable_count;
    struct memtable_iter *iters = mem_alloc(allocator, count * sizeof *iters);
    struct cell_iter **sources = mem_alloc(allocator, count * sizeof *sources);
    int64_t stamped = family_newest(family, false);
    enum petal_status status = error_no_memory(error);

    if (iters != NULL && sources != NULL) {
        for (size_t i = 0; i < count; i++) {
            memtable_iter_init(&iters[i], store->memtables[i]->memtable);
            sources[i] = &iters[i].iter;
        }
        status = new_files_write(&files, sources, count, error);
        for (size_t i = 0; i < count; i++)
            sources[i]->ops->close(sources[i]);
    }
    new_files_fini(&files);
    mem_free(allocator, iters, count * sizeof *iters);
    mem_free(allocator, sources, count * sizeof *sources);
    if (stamped > copy->capture->state.last_timestamp && stamped > described->ahead)
        described->ahead = stamped;
    return status;
}

/* Of a database that is read only. */
static enum petal_status
write_memtables(struct copy *copy, petal_error *error)
{
    petal_db *db = copy->db;
    struct manifest *state = &copy->capture->state;
    const struct view *view = atomic_load_explicit(&db->views.current, memory_order_acquire);
    enum petal_status status = PETAL_OK;

    state->last_sequence = atomic_load_explicit(view->sequence, memory_order_acquire);
    state->last_timestamp =
        atomic_load_explicit(&db->views.published_timestamp, memory_order_acquire);
    for (const petal_table *table = db->schema.tables; table != NULL; table = table->next) {
        const struct table_descriptor *descriptor = table_descriptor(table);
        const struct manifest_table *described = manifest_find_table(state, table->id);

        for (size_t f = 0; described != NULL && f < descriptor->family_count; f++) {
            const petal_family *family = descriptor->families[f];
            const struct region_list *list = view_regions(view, family);
            struct manifest_family *to = manifest_find_family(described, family->id);

            for (uint32_t i = 0; list != NULL && to != NULL && i < list->count; i++) {
                const struct store_view *store = region_at(list, i)->view;

                if (status == PETAL_OK && store->memtable_count > 0)
                    status = write_store(copy, family, store, i, described, to, error);
            }
        }
    }
    return status;
}

/* ---- all ---- */

static void
add_up(struct copy *copy)
{
    const struct manifest *state = &copy->capture->state;

    for (size_t t = 0; t < state->table_count; t++) {
        const struct manifest_table *table = state->tables[t];

        for (size_t i = 0; i < table->family_count * table->region_count; i++) {
            const struct manifest_store *store = manifest_store_at(table, i);

            for (size_t k = 0; k < store->file_count; k++)
                copy->total += store->files[k].file_bytes;
        }
    }
}

/* Is the manifest that of the view? A refresh that failed may have gone on with the manifest
 * only. */
static enum petal_status
check_refreshed(const petal_db *db, petal_error *error)
{
    const struct reading *reading = db->reading;

    return reading == NULL || (!reading->anew && reading->state == db->manifest->number)
               ? PETAL_OK
               : error_file(error, PETAL_BUSY, db->directory.path,
                            "%s was not read to the end by the last petal_refresh, which is to be "
                            "repeated",
                            db->directory.path);
}

/* Was the state of a read-only opening there all the time? */
static enum petal_status
confirm(const petal_db *db, petal_error *error)
{
    return db->reading->joined ? PETAL_OK
                               : opener_lock_confirm(&db->directory, db->lock_file, error);
}

enum petal_status
copy_watch_readers(struct copy *copy, uint64_t state, petal_error *error)
{
    if (!mutex_init(&copy->readers.mutex))
        return error_no_memory(error);
    copy->readers.directory = &copy->made.directory;
    readers_note_state(&copy->readers, state);
    return readers_watch(&copy->readers, error);
}

enum petal_status
copy_run(struct copy *copy, petal_error *error)
{
    petal_db *db = copy->db;
    struct manifest *state;
    enum petal_status status = check_refreshed(db, error);

    assert_held(&db->capture_mutex);
    if (status == PETAL_OK)
        status = flush_capture(db, NULL, db->read_only, &copy->capture, error);
    if (status != PETAL_OK)
        return status;
    state = &copy->capture->state;
    copy->report.state_ms = env_clock_ms(&db->env);
    add_up(copy);
    status = take_stock(copy, error);
    if (status == PETAL_OK)
        status = settle_ids(copy, error);
    if (status == PETAL_OK)
        status = place_files(copy, error);
    if (status == PETAL_OK && db->read_only)
        status = write_memtables(copy, error);
    if (status == PETAL_OK && db->read_only)
        status = confirm(db, error);
    if (status != PETAL_OK)
        return status;
    /* Without logs: all they held is in files. */
    state->next_file_number = state->oldest_log = copy->next_number;
    state->promise = (struct wal_promise){0, 0};
    copy->report.last_sequence = state->last_sequence;
    return write_manifest(copy, state, error);
}

/* ---- the end ---- */

struct removal {
    struct copy *copy;
    bool keep;
};

static void
remove_name(void *argument, const char *name)
{
    const struct removal *removal = argument;
    struct copy *copy = removal->copy;
    char path[PETAL_PATH_BYTES];
    uint64_t number;
    enum filename_kind kind = filename_parse(name, &number);

    if ((kind != FILENAME_STORE_FILE && kind != FILENAME_WAL) ||
        !manifest_number_possible(&copy->capture->state, number))
        return;
    if (removal->keep && (kind == FILENAME_WAL || !has(&copy->named, number))) {
        readers_remove(&copy->readers, kind, number, 0);
        copy->report.removed++;
    } else if (!removal->keep && kind == FILENAME_STORE_FILE && !has(&copy->taken, number)) {
        filename_store_file(path, copy->made.directory.path, number);
        directory_remove(&copy->made.directory, path);
    }
}

void
copy_end(struct copy *copy, bool keep)
{
    const petal_allocator *allocator = copy->db->env.allocator;
    struct removal removal = {copy, keep};
    int failed = 0;

    assert(!keep || copy->is_stocked);
    if (!copy->may_replace) {
        new_database_end(&copy->made, keep);
    } else {
        if (copy->is_stocked && !copy->made.manifest_in_doubt)
            failed = directory_list(&copy->made.directory, remove_name, &removal);
        if (failed != 0)
            env_log(&copy->db->env, PETAL_LOG_WARNING,
                    "what is not needed stays in %s, whose names cannot be listed",
                    copy->made.directory.path);
        if (copy->readers.directory != NULL) {
            readers_leave(&copy->readers);
            mutex_fini(&copy->readers.mutex);
        }
        new_database_end(&copy->made, true);
    }
    capture_unref(copy->capture);
    manifest_free(copy->old);
    number_map_fini(&copy->taken, allocator);
    number_map_fini(&copy->places, allocator);
    number_map_fini(&copy->named, allocator);
    number_map_fini(&copy->present.numbers, allocator);
    number_map_fini(&copy->placed.numbers, allocator);
    number_map_fini(&copy->previous.numbers, allocator);
}
