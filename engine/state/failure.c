/* failure.c -- see engine/state/failure.h. */
#include "engine/state/failure.h"

void
failure_note(struct failure *failure, enum background_kind kind, const petal_error *cause)
{
    mutex_lock(&failure->mutex);
    failure->background.errors[kind] = *cause;
    failure->background.latest = kind;
    mutex_unlock(&failure->mutex);
}

void
failure_made_good(struct failure *failure, enum background_kind kind)
{
    mutex_lock(&failure->mutex);
    failure->background.errors[kind].status = PETAL_OK;
    mutex_unlock(&failure->mutex);
}

enum petal_status
failure_of(struct failure *failure, enum background_kind kind, petal_error *error)
{
    mutex_lock(&failure->mutex);
    *error = failure->background.errors[kind];
    mutex_unlock(&failure->mutex);
    return error->status;
}

enum petal_status
failure_latest(struct failure *failure, petal_error *error)
{
    const struct background_state *state = &failure->background;
    enum background_kind other;

    mutex_lock(&failure->mutex);
    other = state->latest == BACKGROUND_FLUSH ? BACKGROUND_COMPACTION : BACKGROUND_FLUSH;
    error->status = PETAL_OK;
    if (state->errors[state->latest].status != PETAL_OK)
        *error = state->errors[state->latest];
    else if (state->errors[other].status != PETAL_OK)
        *error = state->errors[other];
    else if (atomic_load_explicit(&failure->failed, memory_order_relaxed))
        *error = failure->cause;
    mutex_unlock(&failure->mutex);
    return error->status;
}
