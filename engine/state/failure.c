/* failure.c -- see engine/state/failure.h. */
#include "engine/state/failure.h"

#include "engine/state/db.h"

/* ---- refusals ---- */

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
    mutex_lock(&db->progress.mutex);
    pthread_cond_broadcast(&db->progress.moved);
    mutex_unlock(&db->progress.mutex);
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

/* ---- work in the background ---- */

void
background_failed(petal_db *db, enum background_kind kind, const petal_error *cause)
{
    mutex_lock(&db->failure.mutex);
    db->failure.background.errors[kind] = *cause;
    db->failure.background.latest = kind;
    mutex_unlock(&db->failure.mutex);
    STATS_ADD_SHARED(db, background_failures, 1);
}

void
background_succeeded(petal_db *db, enum background_kind kind)
{
    mutex_lock(&db->failure.mutex);
    db->failure.background.errors[kind].status = PETAL_OK;
    mutex_unlock(&db->failure.mutex);
}

enum petal_status
background_failure_of(petal_db *db, enum background_kind kind, petal_error *error)
{
    mutex_lock(&db->failure.mutex);
    *error = db->failure.background.errors[kind];
    mutex_unlock(&db->failure.mutex);
    return error->status;
}

void
background_error_get(petal_db *db, petal_error *error)
{
    const struct background_state *state = &db->failure.background;
    enum background_kind other;

    mutex_lock(&db->failure.mutex);
    other = state->latest == BACKGROUND_FLUSH ? BACKGROUND_COMPACTION : BACKGROUND_FLUSH;
    error_clear(error);
    if (state->errors[state->latest].status != PETAL_OK)
        *error = state->errors[state->latest];
    else if (state->errors[other].status != PETAL_OK)
        *error = state->errors[other];
    else if (atomic_load_explicit(&db->failure.failed, memory_order_relaxed))
        *error = db->failure.cause;
    mutex_unlock(&db->failure.mutex);
    if (error->status == PETAL_OK)
        (void)damage_check(db, NULL, NULL, error);
}
