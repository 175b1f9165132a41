/* snapshot.c -- snapshots of tables: taking, listing, deleting; see engine/table/snapshot.h. */
#include "engine/table/snapshot.h"

#include <stdlib.h>

#include "base/argument.h"
#include "engine/flush/flush.h"
#include "engine/options.h"
#include "engine/store/change.h"
#include "engine/table/link.h"

#define NAME_TEXT_BYTES 300

/* ---- the files of a table ---- */

/* The first `count` of them. */
static void
remove_files(petal_db *db, const struct manifest_table *table, size_t count)
{
    for (size_t i = 0; i < table->family_count * table->region_count; i++) {
        const struct manifest_store *store = manifest_store_at(table, i);

        for (size_t k = 0; k < store->file_count && count > 0; k++, count--)
            readers_remove(&db->readers, FILENAME_STORE_FILE, store->files[k].number, 0);
    }
}

void
table_files_remove(petal_db *db, const struct manifest_table *table)
{
    remove_files(db, table, SIZE_MAX);
}

static enum petal_status
link_file(petal_db *db, struct manifest_file *file, petal_error *error)
{
    uint64_t number = db_take_file_number(db);
    char from[PETAL_PATH_BYTES], to[PETAL_PATH_BYTES];

    filename_store_file(from, db->directory.path, file->number);
    filename_store_file(to, db->directory.path, number);
    file->number = number;
    return file_link_or_copy(&db->directory, from, &db->directory, to, error);
}

enum petal_status
table_files_link(petal_db *db, struct manifest_table *table, petal_error *error)
{
    enum petal_status status = PETAL_OK;
    size_t linked = 0;

    for (size_t i = 0; i < table->family_count * table->region_count; i++) {
        struct manifest_store *store = manifest_store_at(table, i);

        for (size_t k = 0; status == PETAL_OK && k < store->file_count; k++) {
            status = link_file(db, &store->files[k], error);
            linked += status == PETAL_OK;
        }
    }
    if (status == PETAL_OK && linked > 0)
        status = db_sync_directory(db, error);
    if (status != PETAL_OK)
        remove_files(db, table, linked);
    return status;
}

void
table_number_families(struct manifest_table *table)
{
    for (size_t f = 0; f < table->family_count; f++)
        table->families[f].id = (uint16_t)f;
    table->next_family_id = (uint32_t)table->family_count;
}

/* ---- expiring and deleting ---- */

/* As in HBase, it lives one millisecond longer. */
static bool
is_expired(const struct manifest_table *table, int64_t now_ms)
{
    return manifest_is_snapshot(table) && table->snapshot.ttl_seconds > 0 &&
           table->snapshot.created_ms < now_ms - (int64_t)table->snapshot.ttl_seconds * 1000;
}

static enum petal_status
delete_snapshot(petal_db *db, const struct manifest_table *snapshot, petal_error *error)
{
    struct change change;
    enum petal_status status;

    assert_held(&db->capture_mutex);
    change_begin(&change, db, 0);
    manifest_edit_drop_table(&change.edit, snapshot->id);
    status = change_commit(&change, error);
    change_end(&change);
    if (status == PETAL_OK)
        table_files_remove(db, snapshot);
    return status;
}

/* A copy of some snapshot whose time to live is over; *found: there is one. */
static enum petal_status
find_expired(petal_db *db, struct manifest_table *copy, bool *found, petal_error *error)
{
    int64_t now_ms = env_clock_ms(&db->env);
    enum petal_status status = PETAL_OK;

    *found = false;
    mutex_lock(&db->manifest_mutex);
    for (size_t i = 0; !*found && i < db->manifest->table_count; i++) {
        const struct manifest_table *table = db->manifest->tables[i];

        *found = is_expired(table, now_ms);
        if (*found)
            status = manifest_copy_table(copy, table, db->env.allocator);
    }
    mutex_unlock(&db->manifest_mutex);
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

enum petal_status
table_snapshot_expire(petal_db *db, petal_error *error)
{
    struct manifest_table snapshot;
    char quoted[NAME_TEXT_BYTES];
    enum petal_status status;
    bool found;

    for (;;) {
        status = find_expired(db, &snapshot, &found, error);
        if (status != PETAL_OK || !found)
            return status;
        status = delete_snapshot(db, &snapshot, error);
        if (status == PETAL_OK)
            env_log(&db->env, PETAL_LOG_INFO, "deleted snapshot %s: its time to live is over",
                    error_quote(snapshot.snapshot.name, quoted, sizeof quoted));
        manifest_copy_table_fini(&snapshot, db->env.allocator);
        if (status != PETAL_OK)
            return status;
    }
}

enum petal_status
table_snapshot_find(petal_db *db, petal_slice name, struct manifest_table *copy, petal_error *error)
{
    int64_t now_ms = env_clock_ms(&db->env);
    enum petal_status status = PETAL_NOT_FOUND;
    const struct manifest_table *found;
    char quoted[NAME_TEXT_BYTES];

    assert_held(&db->capture_mutex);
    mutex_lock(&db->manifest_mutex);
    found = manifest_find_snapshot(db->manifest, name);
    if (found != NULL && !is_expired(found, now_ms))
        status = manifest_copy_table(copy, found, db->env.allocator);
    mutex_unlock(&db->manifest_mutex);
    if (status == PETAL_NOT_FOUND)
        return error_set(error, PETAL_NOT_FOUND, "Unknown snapshot %s!",
                         error_quote(name, quoted, sizeof quoted));
    return status == PETAL_OK ? PETAL_OK : error_no_memory(error);
}

enum petal_status
petal_table_snapshot_delete(petal_db *db, petal_slice snapshot, petal_error *error)
{
    RETURN_IF_NULL(db, error);
    RETURN_IF_NO_BYTES(snapshot, error);

    struct manifest_table found;
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = db_begin_capture(db, error);
    if (status != PETAL_OK)
        return status;
    status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = table_snapshot_find(db, snapshot, &found, error);
    if (status == PETAL_OK) {
        status = delete_snapshot(db, &found, error);
        manifest_copy_table_fini(&found, db->env.allocator);
    }
    db_end_capture(db);
    return status;
}

/* ---- taking ---- */

static enum petal_status
check_free(petal_db *db, petal_slice name, petal_error *error)
{
    char quoted[NAME_TEXT_BYTES];
    bool taken;

    mutex_lock(&db->manifest_mutex);
    taken = manifest_find_snapshot(db->manifest, name) != NULL;
    mutex_unlock(&db->manifest_mutex);
    if (!taken)
        return PETAL_OK;
    return error_set(error, PETAL_EXISTS, "Snapshot '%s' already stored on the filesystem.",
                     error_quote(name, quoted, sizeof quoted));
}

/* REQUIRES: capture_mutex held. */
static enum petal_status
take_snapshot(petal_table *table, const struct manifest_snapshot *snapshot, bool skip_flush,
              petal_error *error)
{
    petal_db *db = table->db;
    struct manifest_table *taken;
    struct capture *capture;
    enum petal_status status = flush_capture(db, table, skip_flush, &capture, error);

    assert_held(&db->capture_mutex);
    if (status != PETAL_OK)
        return status;
    taken = capture->state.tables[0];
    status = table_files_link(db, taken, error);
    if (status == PETAL_OK) {
        struct change change;

        table_number_families(taken);
        change_begin(&change, db, 0);
        manifest_edit_table(&change.edit, taken, db->manifest->next_table_id, taken->name,
                            snapshot);
        status = change_commit(&change, error);
        change_end(&change);
        if (status != PETAL_OK && !change.unknown)
            table_files_remove(db, taken);
    }
    capture_unref(capture);
    return status;
}

enum petal_status
petal_table_snapshot_create(petal_table *table, petal_slice name,
                            const petal_table_snapshot_options *given, petal_error *error)
{
    RETURN_IF_NULL(table, error);
    RETURN_IF_NO_BYTES(name, error);

    petal_db *db = table->db;
    petal_table_snapshot_options options;
    struct manifest_snapshot snapshot = {.name = name, .created_ms = env_clock_ms(&db->env)};
    enum petal_status status;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    status = options_copy(&options, sizeof options, given, "petal_table_snapshot_options", error);
    snapshot.ttl_seconds = options.ttl_seconds;
    if (status == PETAL_OK)
        status = snapshot_name_check(name, error);
    if (status != PETAL_OK)
        return status;
    status = db_begin_capture(db, error);
    if (status != PETAL_OK)
        return status;
    status = table_check_alive(table, error);
    if (status == PETAL_OK)
        status = db_check_writable(db, error);
    if (status == PETAL_OK)
        status = table_snapshot_expire(db, error);
    if (status == PETAL_OK)
        status = check_free(db, name, error);
    if (status == PETAL_OK)
        status = take_snapshot(table, &snapshot, options.skip_flush, error);
    db_end_capture(db);
    return status;
}

/* ---- listing ---- */

/* Copies of the living ones. */
struct snapshot_list {
    struct manifest_table *tables;
    size_t count, capacity;
};

/* REQUIRES: manifest_mutex held. */
static bool
gather(petal_db *db, struct snapshot_list *list)
{
    const petal_allocator *allocator = db->env.allocator;
    int64_t now_ms = env_clock_ms(&db->env);

    assert_held(&db->manifest_mutex);
    for (size_t i = 0; i < db->manifest->table_count; i++) {
        const struct manifest_table *table = db->manifest->tables[i];

        if (!manifest_is_snapshot(table) || is_expired(table, now_ms))
            continue;
        if (!mem_grow_array(allocator, &list->tables, &list->capacity, list->count, list->count + 1,
                            sizeof *list->tables) ||
            manifest_copy_table(&list->tables[list->count], table, allocator) != PETAL_OK)
            return false;
        list->count++;
    }
    return true;
}

static int
compare_listed(const void *a, const void *b)
{
    return slice_compare(((const struct manifest_table *)a)->snapshot.name,
                         ((const struct manifest_table *)b)->snapshot.name);
}

static petal_table_snapshot_info
describe(const struct manifest_table *table)
{
    petal_table_snapshot_info info = {.name = table->snapshot.name,
                                      .table = table->name,
                                      .created_ms = table->snapshot.created_ms,
                                      .ttl_seconds = table->snapshot.ttl_seconds};

    for (size_t i = 0; i < table->family_count * table->region_count; i++) {
        const struct manifest_store *store = manifest_store_at(table, i);

        for (size_t k = 0; k < store->file_count; k++)
            info.file_bytes += store->files[k].file_bytes;
    }
    return info;
}

/* Best effort: a snapshot that cannot be deleted now is not shown, and a later call deletes it. */
static void
try_to_expire(petal_db *db)
{
    if (!mutex_try_lock(&db->capture_mutex))
        return;
    if (db_check_writable(db, NULL) == PETAL_OK)
        (void)table_snapshot_expire(db, NULL);
    mutex_unlock(&db->capture_mutex);
}

enum petal_status
petal_table_snapshot_list(petal_db *db,
                          bool (*visit)(void *argument, const petal_table_snapshot_info *info),
                          void *argument, petal_error *error)
{
    RETURN_IF_NULL(db, error);
    RETURN_IF_NULL(visit, error);

    const petal_allocator *allocator = db->env.allocator;
    struct snapshot_list list = {.count = 0};
    bool gathered, wanted = true;

    if (db_enter(db, error) != PETAL_OK)
        return PETAL_INVALID;
    try_to_expire(db);
    mutex_lock(&db->manifest_mutex);
    gathered = gather(db, &list);
    mutex_unlock(&db->manifest_mutex);
    if (list.count > 0)
        qsort(list.tables, list.count, sizeof *list.tables, compare_listed);
    for (size_t i = 0; i < list.count; i++) {
        petal_table_snapshot_info info = describe(&list.tables[i]);

        wanted = wanted && gathered && visit(argument, &info);
        manifest_copy_table_fini(&list.tables[i], allocator);
    }
    mem_free(allocator, list.tables, list.capacity * sizeof *list.tables);
    return gathered ? PETAL_OK : error_no_memory(error);
}
