/*
 * failure.h -- why the database takes no more writes, and how the latest flushes and compactions in
 * the background ended.
 *
 * Threads: all functions from any thread; they take the mutex.
 */
#ifndef PETAL_ENGINE_STATE_FAILURE_H
#define PETAL_ENGINE_STATE_FAILURE_H

#include "base/mutex.h"
#include "engine/petal.h"

enum background_kind { BACKGROUND_FLUSH, BACKGROUND_COMPACTION, BACKGROUND_KINDS };

struct background_state {
    petal_error errors[BACKGROUND_KINDS]; /* PETAL_OK: none, or made good */
    enum background_kind latest;
};

/* What went wrong. */
struct failure {
    struct mutex mutex; /* a leaf; guards what follows, but what is atomic is read without it */
    /* Once set, writes are refused with this cause until the database is opened again. */
    _Atomic(bool) failed;
    petal_error cause; /* does not change once `failed` is seen */
    struct background_state background;
};

/* Keep the cause until work of that kind succeeds. */
void failure_note(struct failure *failure, enum background_kind kind, const petal_error *cause);
void failure_made_good(struct failure *failure, enum background_kind kind);

/* The failure of this kind since its last success, or PETAL_OK. */
enum petal_status failure_of(struct failure *failure, enum background_kind kind,
                             petal_error *error);

/* The latest failure of any kind, or why the database has turned read-only; else PETAL_OK. */
enum petal_status failure_latest(struct failure *failure, petal_error *error);

#endif
