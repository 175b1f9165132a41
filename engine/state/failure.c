/* failure.c -- see engine/state/failure.h. */
#include "engine/state/failure.h"

#include "engine/state/db.h"

void
background_failed(petal_db *db, enum background_kind kind, const petal_error *cause)
{
    pthread_mutex_lock(&db->failure_mutex);
    db->background.errors[kind] = *cause;
    db->background.latest = kind;
    pthread_mutex_unlock(&db->failure_mutex);
    STATS_ADD_SHARED(db, background_failures, 1);
}

void
background_succeeded(petal_db *db, enum background_kind kind)
{
    pthread_mutex_lock(&db->failure_mutex);
    db->background.errors[kind].status = PETAL_OK;
    pthread_mutex_unlock(&db->failure_mutex);
}

enum petal_status
background_failure_of(petal_db *db, enum background_kind kind, petal_error *error)
{
    pthread_mutex_lock(&db->failure_mutex);
    *error = db->background.errors[kind];
    pthread_mutex_unlock(&db->failure_mutex);
    return error->status;
}

void
background_error_get(petal_db *db, petal_error *error)
{
    const struct background_state *state = &db->background;
    enum background_kind other;

    pthread_mutex_lock(&db->failure_mutex);
    other = state->latest == BACKGROUND_FLUSH ? BACKGROUND_COMPACTION : BACKGROUND_FLUSH;
    error_clear(error);
    if (state->errors[state->latest].status != PETAL_OK)
        *error = state->errors[state->latest];
    else if (state->errors[other].status != PETAL_OK)
        *error = state->errors[other];
    else if (atomic_load_explicit(&db->failed, memory_order_relaxed))
        *error = db->failure;
    pthread_mutex_unlock(&db->failure_mutex);
    if (error->status == PETAL_OK)
        (void)damage_check(db, NULL, NULL, error);
}
