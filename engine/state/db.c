/* db.c -- see db.h. */
#include "engine/state/db.h"

#include "engine/state/read_point.h"

/* ---- failure ---- */

enum petal_status
db_refuse_process(const petal_db *db, petal_error *error)
{
    return error_file(error, PETAL_INVALID, db->directory.path,
                      "the database %s was opened by another process, of which this one is a fork; "
                      "it can be used there only",
                      db->directory.path);
}

void
db_fail(petal_db *db, const petal_error *cause)
{
    bool first;

    mutex_lock(&db->failure.mutex);
    first = !atomic_load_explicit(&db->failure.failed, memory_order_relaxed);
    if (first) {
        db->failure.cause = *cause;
        atomic_store_explicit(&db->failure.failed, true, memory_order_release);
    }
    mutex_unlock(&db->failure.mutex);
    if (!first)
        return;
    env_log(&db->env, PETAL_LOG_ERROR, "the database is read-only from now on: %s", cause->text);
    progress_tell(&db->progress);
}

enum petal_status
db_check_opened_for_writing(const petal_db *db, petal_error *error)
{
    if (!db->read_only)
        return PETAL_OK;
    return error_file(error, PETAL_READ_ONLY, db->directory.path,
                      "the database %s was opened read-only", db->directory.path);
}

enum petal_status
db_check_writable(petal_db *db, petal_error *error)
{
    if (db->read_only)
        return db_check_opened_for_writing(db, error);
    if (!atomic_load_explicit(&db->failure.failed, memory_order_acquire))
        return PETAL_OK;
    /* `failure` does not change once `failed` is seen. */
    error_file(error, PETAL_READ_ONLY, db->failure.cause.file,
               "the database is read-only since a write failed: %s", db->failure.cause.text);
    if (error != NULL) {
        error->os_error = db->failure.cause.os_error;
        error->offset = db->failure.cause.offset;
    }
    return PETAL_READ_ONLY;
}

enum petal_status
db_sync_directory(petal_db *db, petal_error *error)
{
    int failed = directory_sync(&db->directory);
    petal_error cause;

    if (failed == 0)
        return PETAL_OK;
    error_unknown(&cause, db->directory.path, failed, "sync directory");
    db_fail(db, &cause);
    return error_copy(error, &cause);
}

void
db_background_failed(petal_db *db, enum background_kind kind, const petal_error *cause)
{
    failure_note(&db->failure, kind, cause);
    STATS_ADD_SHARED(db, background_failures, 1);
}

/* ---- captures ---- */

enum petal_status
db_check_not_capturing(const petal_db *db, petal_error *error)
{
    /* A thread's own number is there only if it has put it there. */
    if (atomic_load_explicit(&db->capturer, memory_order_relaxed) != (uintptr_t)pthread_self())
        return PETAL_OK;
    return error_set(error, PETAL_BUSY,
                     "the call waits for the backup from whose `watch` it is made");
}

enum petal_status
db_begin_capture(petal_db *db, petal_error *error)
{
    enum petal_status status = db_check_not_capturing(db, error);

    if (status != PETAL_OK)
        return status;
    mutex_lock(&db->capture_mutex);
    atomic_store_explicit(&db->capturer, (uintptr_t)pthread_self(), memory_order_relaxed);
    return PETAL_OK;
}

void
db_end_capture(petal_db *db)
{
    atomic_store_explicit(&db->capturer, 0, memory_order_relaxed);
    mutex_unlock(&db->capture_mutex);
}

/* ---- views ---- */

void
db_collect(petal_db *db)
{
    epoch_collect(db->epoch);
    view_bin_empty(&db->views.bin);
}

void
db_publish_view(petal_db *db, struct view *view)
{
    struct view *before = atomic_load_explicit(&db->views.current, memory_order_relaxed);

    assert_held(&db->views.mutex);
    atomic_store_explicit(&db->views.current, view, memory_order_release);
    if (before == NULL)
        return;
    before->bin = &db->views.bin;
    epoch_defer(db->epoch, &before->retire);
}

/* ---- stores ---- */

/* The one of the row, or the one after it. */
static struct store *
find_store(const petal_family *family, petal_slice row, bool next)
{
    petal_db *db = family->table->db;
    struct read_point point;
    const struct region_list *list;
    struct store *found = NULL;

    read_begin(db, &point);
    list = view_regions(point.view, family);
    if (list != NULL) {
        uint32_t place = region_place(list, row) + next;

        found = place < list->count ? region_at(list, place)->store : NULL;
    }
    read_end(db, &point);
    return found;
}

struct store *
db_store_at(const petal_family *family, petal_slice row)
{
    return find_store(family, row, false);
}

struct store *
db_next_store(const petal_family *family, const struct store *before)
{
    return before == NULL ? find_store(family, slice_make(NULL, 0), false)
                          : find_store(family, before->start, true);
}
